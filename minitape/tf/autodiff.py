"""``tf.autodiff``: the tape and the forward accumulator under their other names."""

from ..engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.autodiff", {
    "engine.forward": "ForwardAccumulator",
    "engine.tape": "GradientTape",
}, globals())  # fmt: skip
