"""The names of `tf.nn`, for editors: see `python tests/repository/make_stubs.py`."""

from builtins import (
    bool as _bool,
)
from minitape.engine.tensor.tensor import (
    Tensor as _Tensor,
)
from minitape.tf.elementwise import (
    softplus as softplus,
)
from minitape.tf.nn import (
    leaky_relu as leaky_relu,
    log_softmax as log_softmax,
    moments as moments,
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
    softmax as softmax,
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
)
from minitape.tf.products import (
    l2_normalize as l2_normalize,
)
from typing import (
    Any as _Any,
)
def relu(features: _Any, name: str | None = None) -> _Tensor:
    """Return max(x, 0), elementwise."""
def sigmoid(x: _Any, name: str | None = None) -> _Tensor:
    """Return 1 / (1 + exp(-x)), elementwise."""
def tanh(x: _Any, name: str | None = None) -> _Tensor:
    """Return the hyperbolic tangent, elementwise."""
