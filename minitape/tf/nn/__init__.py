"""``tf.nn``: activations, losses, normalisation, convolution, pooling. Here is which module holds which function."""

from ...engine.namespace import Namespace as _Namespace
from ...engine.namespace import lazy as _lazy

experimental = _Namespace("tf.nn.experimental", {"tf.nn.normalization": "general_dropout stateless_dropout"})

__getattr__, __dir__ = _lazy("tf.nn", {
    "tf.nn.activations": "crelu elu gelu leaky_relu log_softmax relu relu6 selu silu softmax swish",
    "tf.nn.crossentropy": "compute_average_loss l2_loss log_poisson_loss scale_regularization_loss sigmoid_cross_entropy_with_logits "
                       "softmax_cross_entropy_with_logits sparse_softmax_cross_entropy_with_logits "
                       "weighted_cross_entropy_with_logits",
    "tf.nn.embeddings": "embedding_lookup embedding_lookup_sparse safe_embedding_lookup_sparse",
    "tf.nn.normalization": "batch_normalization bias_add dropout moments normalize_moments sufficient_statistics weighted_moments",
    "tf.nn.channels": "local_response_normalization lrn=local_response_normalization max_pool_with_argmax",
    "tf.nn.isotonic": "isotonic_regression",
    "tf.nn.convolution": "atrous_conv2d avg_pool avg_pool1d avg_pool2d conv1d conv2d convolution depthwise_conv2d max_pool "
                      "max_pool1d max_pool2d pool separable_conv2d",
    "tf.nn.ctc": "collapse_repeated ctc_greedy_decoder ctc_loss ctc_unique_labels",
    "tf.nn.sampling": "nce_loss sampled_softmax_loss",
    "tf.nn.volumes": "avg_pool3d conv3d conv3d_transpose max_pool3d",
    "tf.nn.transposed": "conv1d_transpose conv2d_transpose conv_transpose",
    "tf.random.candidates": "all_candidate_sampler compute_accidental_hits",
    "ops.blocks": "depth_to_space space_to_batch space_to_depth",
    "ops.elementwise": "sigmoid softplus softsign tanh",
    "ops.reductions": "zero_fraction",
    "ops.sorting": "approx_max_k approx_min_k in_top_k top_k",
    "tf.linalg.products": "l2_normalize",
}, globals())  # fmt: skip
