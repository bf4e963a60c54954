"""The names of `tf.keras.activations`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from typing import Any as _Any
from minitape.engine.tensor import (
    Tensor as _Tensor,
)
from minitape.keras.operations.activations import (
    deserialize as deserialize,
    elu as elu,
    get as get,
    linear as linear,
    log_softmax as log_softmax,
    relu as relu,
    serialize as serialize,
    softmax as softmax,
)
def celu(x: _Any, alpha: _Any = 1.0) -> _Tensor:
    """``x`` where positive, ``alpha * (exp(x / alpha) - 1)`` elsewhere: an ``elu`` whose slope at 0 is 1."""

def exponential(x: _Any) -> _Tensor:
    """``exp(x)``."""

def gelu(x: _Any, approximate: _Any = False) -> _Tensor:
    """``x`` times the normal distribution function of ``x``, or its approximation with ``tanh``."""

def hard_sigmoid(x: _Any) -> _Tensor:
    """``relu6(x + 3) / 6``: a ``sigmoid`` of three straight lines."""

def hard_silu(x: _Any) -> _Tensor:
    """``x * hard_sigmoid(x)``; also called ``hard_swish``."""

def hard_swish(x: _Any) -> _Tensor:
    """``x * hard_sigmoid(x)``; also called ``hard_swish``."""

def hard_tanh(x: _Any) -> _Tensor:
    """``x`` within -1 and 1."""

def leaky_relu(x: _Any, negative_slope: _Any = 0.2) -> _Tensor:
    """``x``, times ``negative_slope`` where it is negative."""

def log_sigmoid(x: _Any) -> _Tensor:
    """``log(sigmoid(x))``, without overflow."""

def mish(x: _Any) -> _Tensor:
    """``x * tanh(softplus(x))``."""

def relu6(x: _Any) -> _Tensor:
    """``min(max(x, 0), 6)``."""

def selu(x: _Any) -> _Tensor:
    """The scaled ``elu``, which keeps mean 0 and variance 1 through many layers."""

def sigmoid(x: _Any) -> _Tensor:
    """``1 / (1 + exp(-x))``, between 0 and 1."""

def silu(x: _Any) -> _Tensor:
    """``x * sigmoid(x)``; also called ``swish``."""

def softplus(x: _Any) -> _Tensor:
    """``log(1 + exp(x))``: a smooth ``relu``."""

def softsign(x: _Any) -> _Tensor:
    """``x / (1 + abs(x))``, between -1 and 1."""

def squareplus(x: _Any, b: _Any = 4) -> _Tensor:
    """``(x + sqrt(x ** 2 + b)) / 2``: a smooth ``relu``."""

def swish(x: _Any) -> _Tensor:
    """``x * sigmoid(x)``; also called ``swish``."""

def tanh(x: _Any) -> _Tensor:
    """The hyperbolic tangent, between -1 and 1."""

def tanh_shrink(x: _Any) -> _Tensor:
    """``x - tanh(x)``."""

def threshold(x: _Any, threshold: _Any, default_value: _Any) -> _Tensor:
    """``x`` above the threshold, ``default_value`` elsewhere."""

