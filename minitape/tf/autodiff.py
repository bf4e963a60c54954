"""``tf.autodiff``: the tape and the forward accumulator under their other names."""

from .namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.autodiff",
    {
        "engine.derivatives.forward": "ForwardAccumulator",
        "engine.back.tape": "GradientTape",
    },
    globals(),
)
