"""The names of `tf.autodiff`, for editors and type checkers: see `python tests/core/make_stubs.py`."""

from minitape.forward import (
    ForwardAccumulator as ForwardAccumulator,
)
from minitape.tape import (
    GradientTape as GradientTape,
)
