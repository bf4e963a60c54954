"""``tf.nn``: activations, losses, normalisation, convolution, pooling. Here is which module holds which function."""

from ..namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.nn",
    {
        "tf.nn.activations": "leaky_relu log_softmax relu softmax",
        "tf.nn.crossentropy": "sigmoid_cross_entropy_with_logits softmax_cross_entropy_with_logits "
        "sparse_softmax_cross_entropy_with_logits",
        "tf.nn.normalization": "embedding_lookup moments",
        "ops.elementwise": "sigmoid softplus tanh",
        "ops.sorting": "top_k",
        "tf.linalg.products": "l2_normalize",
    },
    globals(),
)
