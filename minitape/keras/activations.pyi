"""The names of `tf.keras.activations`, for editors and type checkers: see `python tests/core/make_stubs.py`."""

from typing import Any as _Any
from minitape.engine.tensor import (
    Tensor as _Tensor,
)
from minitape.keras.operations.activations import (
    celu as celu,
    deserialize as deserialize,
    elu as elu,
    gelu as gelu,
    get as get,
    hard_sigmoid as hard_sigmoid,
    hard_silu as hard_silu,
    hard_tanh as hard_tanh,
    leaky_relu as leaky_relu,
    linear as linear,
    log_softmax as log_softmax,
    mish as mish,
    relu as relu,
    serialize as serialize,
    sigmoid as sigmoid,
    silu as silu,
    softmax as softmax,
    squareplus as squareplus,
    tanh_shrink as tanh_shrink,
    threshold as threshold,
)
def exponential(x: _Any) -> _Tensor:
    """``exp(x)``."""

def hard_swish(x: _Any) -> _Tensor:
    """``x * hard_sigmoid(x)``; also called ``hard_swish``."""

def log_sigmoid(x: _Any) -> _Tensor:
    """``log(sigmoid(x))``, without overflow."""

def relu6(x: _Any) -> _Tensor:
    """``min(max(x, 0), 6)``."""

def selu(x: _Any) -> _Tensor:
    """The scaled ``elu``, which keeps mean 0 and variance 1 through many layers."""

def softplus(x: _Any) -> _Tensor:
    """``log(1 + exp(x))``: a smooth ``relu``."""

def softsign(x: _Any) -> _Tensor:
    """``x / (1 + abs(x))``, between -1 and 1."""

def swish(x: _Any) -> _Tensor:
    """``x * sigmoid(x)``; also called ``swish``."""

def tanh(x: _Any) -> _Tensor:
    """The hyperbolic tangent, between -1 and 1."""

