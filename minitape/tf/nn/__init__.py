"""``tf.nn``: activations, losses, normalisation, convolution, pooling. Here is which module holds which function."""

from ..namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.nn",
    {
        "tf.nn.activations": "crelu elu gelu leaky_relu log_softmax relu relu6 selu silu softmax swish",
        "tf.nn.crossentropy": "l2_loss sigmoid_cross_entropy_with_logits softmax_cross_entropy_with_logits "
        "sparse_softmax_cross_entropy_with_logits",
        "tf.nn.normalization": "batch_normalization bias_add dropout embedding_lookup moments",
        "tf.nn.convolutions": "avg_pool2d conv2d max_pool2d",
        "ops.elementwise": "sigmoid softplus softsign tanh",
        "ops.reductions": "zero_fraction",
        "ops.sorting": "in_top_k top_k",
        "tf.linalg.products": "l2_normalize",
    },
    globals(),
)
