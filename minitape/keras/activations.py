"""``tf.keras.activations``: elementwise functions between layers (and softmax), and how they are found by name.

Here is who holds which name.

>>> import minitape as tf
>>> tf.keras.activations.get("relu")([-1.0, 2.0]).numpy()
array([0., 2.], dtype=float32)
"""

from ..engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.activations", {
    "keras.operations.activations":
        "celu deserialize elu exponential gelu get hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu linear "
        "log_sigmoid log_softmax mish relu relu6 selu serialize sigmoid silu softmax softplus softsign squareplus "
        "swish tanh tanh_shrink threshold",
}, globals())  # fmt: skip
