"""The names of `tf.tf.autodiff`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.engine.back.tape import (
    GradientTape as GradientTape,
)
from minitape.engine.derivatives.forward import (
    ForwardAccumulator as ForwardAccumulator,
)
