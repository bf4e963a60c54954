"""The names of `tf.tf.autodiff`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.engine.forward import (
    ForwardAccumulator as ForwardAccumulator,
)
from minitape.engine.tape import (
    GradientTape as GradientTape,
)
