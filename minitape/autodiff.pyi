"""The names of `tf.autodiff`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.engine.derivatives.forward_mode import (
    ForwardAccumulator as ForwardAccumulator,
)
