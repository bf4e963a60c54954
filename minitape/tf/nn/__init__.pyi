"""The names of `tf.tf.nn`, for editors: see `python tests/repository/make_stubs.py`."""

from typing import Any as _Any
from minitape.engine.tensor.tensor import (
    Tensor as _Tensor,
)
from minitape.ops.reductions import (
    zero_fraction as zero_fraction,
)
from minitape.ops.sorting import (
    in_top_k as in_top_k,
    top_k as top_k,
)
from minitape.tf.linalg.products import (
    l2_normalize as l2_normalize,
)
from minitape.tf.nn.activations import (
    crelu as crelu,
    gelu as gelu,
    leaky_relu as leaky_relu,
    log_softmax as log_softmax,
    silu as silu,
    softmax as softmax,
)
from minitape.tf.nn.convolutions import (
    avg_pool2d as avg_pool2d,
    conv2d as conv2d,
    max_pool2d as max_pool2d,
)
from minitape.tf.nn.crossentropy import (
    l2_loss as l2_loss,
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
)
from minitape.tf.nn.normalization import (
    batch_normalization as batch_normalization,
    bias_add as bias_add,
    dropout as dropout,
    embedding_lookup as embedding_lookup,
    moments as moments,
)
def elu(features: _Any, name: _Any = None) -> _Tensor:
    """x where it is positive, else exp(x) - 1, elementwise."""

def relu(features: _Any, name: _Any = None) -> _Tensor:
    """max(x, 0); the gradient at 0 is 0, elementwise."""

def relu6(features: _Any, name: _Any = None) -> _Tensor:
    """min(max(x, 0), 6); the gradient at 0 and at 6 is 0, elementwise."""

def selu(features: _Any, name: _Any = None) -> _Tensor:
    """1.0507 * (x where it is positive, else 1.6733 * (exp(x) - 1)), elementwise."""

def sigmoid(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: 1 / (1 + exp(-x))."""

def softplus(features: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: log(1 + exp(x)), without overflow."""

def softsign(features: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: x / (1 + abs(x)); has no second derivative (LookupError)."""

def swish(features: _Any, beta: _Any = 1.0) -> _Tensor:
    """x * sigmoid(beta * x), also called swish. Differentiable in both."""

def tanh(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: hyperbolic tangent."""

