"""``tf.nn``: activations, losses, normalisation, convolution, pooling. Here is which module holds which function."""

from ..namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.nn",
    {
        "tf.nn.activations": "elu leaky_relu log_softmax relu relu6 selu softmax",
        "tf.nn.crossentropy": "sigmoid_cross_entropy_with_logits softmax_cross_entropy_with_logits "
        "sparse_softmax_cross_entropy_with_logits",
        "tf.nn.normalization": "embedding_lookup moments",
        "tf.nn.convolutions": "conv2d max_pool2d",
        "ops.elementwise": "sigmoid softplus softsign tanh",
        "ops.sorting": "top_k",
        "tf.linalg.products": "l2_normalize",
    },
    globals(),
)
