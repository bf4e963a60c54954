"""``tf.keras.activations``: elementwise functions between layers (and softmax), and how they are found by name.

Most are lines of the table ``ACTIVATIONS``, with a formula of the tensor ``x``; those with rules of their own follow
below.

>>> import minitape as tf
>>> tf.keras.activations.get("relu")([-1.0, 2.0]).numpy()
array([0., 2.], dtype=float32)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from .. import tf
from ..engine.tensor.tensor import Tensor
from ..tf.namespace import public
from .base import as_float, convert, define_from_table, lookup
from .logits import with_logits

ACTIVATIONS = """
name | arguments | sentence | formula | given | result
elu | alpha=1.0 | ``x`` where positive, ``alpha * (exp(x) - 1)`` elsewhere | _elu(x, alpha) | [-1.0, 2.0] | [-0.6321  \
2.    ]
exponential | | ``exp(x)``; whole numbers become floats first | tf.math.exp(as_float(x)) | [0.0, 1.0] | [1.     2.7183]
gelu | approximate=False | ``x`` times the normal distribution function of ``x``, or its approximation with ``tanh`` \
| tf.nn.gelu(x, approximate) | [-1.0, 0.0, 1.0] | [-0.1587  0.      0.8413]
hard_sigmoid | | ``relu6(x + 3) / 6``: a ``sigmoid`` of three straight lines | tf.nn.relu6(x + 3.0) / 6.0 \
| [-4.0, 0.0, 1.5] | [0.   0.5  0.75]
leaky_relu | negative_slope=0.2 | ``x``, times ``negative_slope`` where it is negative \
| tf.nn.leaky_relu(x, negative_slope) | [-1.0, 2.0] | [-0.2  2. ]
log_softmax | axis=-1 | the logarithm of ``softmax``, without overflow | tf.nn.log_softmax(x, axis) | [0.0, 2.0] | \
[-2.1269 -0.1269]
mish | | ``x * tanh(softplus(x))`` | x * tf.tanh(tf.nn.softplus(x)) | [-1.0, 0.0, 1.0] | [-0.3034  0.      0.8651]
relu6 | | ``min(max(x, 0), 6)`` | tf.nn.relu6(x) | [-1.0, 2.0, 9.0] | [0. 2. 6.]
selu | | the scaled ``elu``, which keeps mean 0 and variance 1 through many layers | tf.nn.selu(x) | [-1.0, 1.0] | \
[-1.1113  1.0507]
sigmoid | | ``1 / (1 + exp(-x))``, between 0 and 1 | with_logits(tf.math.sigmoid(x), x) | [-1.0, 0.0, 1.0] | [0.2689 \
0.5    0.7311]
silu | | ``x * sigmoid(x)``; also called ``swish`` | tf.nn.silu(x) | [-1.0, 0.0, 1.0] | [-0.2689  0.      0.7311]
softplus | | ``log(1 + exp(x))``: a smooth ``relu`` | tf.nn.softplus(x) | [0.0, 1.0] | [0.6931 1.3133]
softsign | | ``x / (1 + abs(x))``, between -1 and 1 | tf.nn.softsign(x) | [-1.0, 0.0, 3.0] | [-0.5   0.    0.75]
tanh | | the hyperbolic tangent, between -1 and 1; whole numbers become floats first | tf.math.tanh(as_float(x)) \
| [0.0, 1.0] | [0.     0.7616]
"""

_TEXT = '''
def {name}(x: Any{more}) -> Tensor:
    """Computes {sentence}.

    ``x`` is a tensor of floats of any shape, or what can become one; the result has its shape and dtype.
    Differentiable. Raises InvalidArgumentError for other dtypes.

    >>> import minitape as tf
    >>> print(tf.keras.activations.{name}({given}).numpy().round(4))
    {result}
    """
    x = convert(x)
    return {formula}
'''

_MADE = define_from_table(ACTIVATIONS, _TEXT, globals())
swish: Callable[[Any], Tensor] = _MADE["silu"]


def _elu(x: Any, alpha: float) -> Any:
    out = tf.nn.elu(x)
    return out if alpha == 1 else tf.where(x > 0, out, alpha * out)


def linear(x: Any) -> Any:
    """``x`` itself, whatever it is.

    >>> import minitape as tf
    >>> tf.keras.activations.linear(tf.constant([-1.0, 2.0])).numpy()
    array([-1.,  2.], dtype=float32)
    """
    return x


def relu(x: Any, negative_slope: float = 0.0, max_value: float | None = None, threshold: float = 0.0) -> Tensor:
    """``max(x, 0)``; or ``negative_slope * (x - threshold)`` below ``threshold``, cut at ``max_value``.

    ``x`` is a tensor of numbers of any shape, or what can become one; the result has its shape and dtype.
    With ``negative_slope`` whole numbers become floats. Differentiable. Raises InvalidArgumentError for other dtypes.

    >>> import minitape as tf
    >>> tf.keras.activations.relu([-1.0, 2.0]).numpy()
    array([0., 2.], dtype=float32)
    >>> tf.keras.activations.relu([-1.0, 2.0, 9.0], negative_slope=0.5, max_value=6.0).numpy()
    array([-0.5,  2. ,  6. ], dtype=float32)
    """
    x = convert(x)
    x = as_float(x) if negative_slope else x
    if max_value is None and not threshold:
        return tf.nn.leaky_relu(x, negative_slope) if negative_slope else tf.nn.relu(x)
    limit, six = convert(threshold, x.dtype.name), max_value == 6 and not threshold
    below = negative_slope * tf.nn.relu(limit - x) if negative_slope else None
    if threshold:
        x = tf.where(x > limit, x, tf.zeros_like(x))
    else:
        x = tf.nn.relu6(x) if six else tf.nn.relu(x)
    if max_value is not None and not six:
        x = tf.clip_by_value(x, convert(0, x.dtype.name), convert(max_value, x.dtype.name))
    return x if below is None else x - below


def softmax(x: Any, axis: int = -1) -> Tensor:
    """Exponentials divided by their sum over ``axis``: numbers between 0 and 1 that sum to 1.

    ``x`` is a tensor of floats of any shape but (); the result has its shape and dtype. Differentiable. Raises
    InvalidArgumentError for other dtypes, and warns when the axis has size 1, where the result is always 1.

    >>> import minitape as tf
    >>> tf.keras.activations.softmax(tf.constant([[0.0, 0.0], [0.0, 2.0]])).numpy().round(4)
    array([[0.5   , 0.5   ],
           [0.1192, 0.8808]], dtype=float32)
    """
    x = convert(x)
    if isinstance(axis, int) and -len(x.shape) <= axis < len(x.shape) and x.shape[axis] == 1:
        warnings.warn(
            f"You are using a softmax over axis {axis} of a tensor of shape {tuple(x.shape)}. This axis has size 1. "
            "The "
            "softmax operation will always return the value 1, which is likely not what you intended. Did you mean to "
            "use a sigmoid instead?",
            stacklevel=2,
        )
    return with_logits(tf.nn.softmax(x, axis=axis), x)


BY_NAME: dict[str, Callable] = {**_MADE, "linear": linear, "relu": relu, "softmax": softmax, "swish": swish}


def get(identifier: Any) -> Any:
    """The activation of a name; a function is given back, and None is ``linear``. Raises ValueError for an unknown
    name.

    >>> import minitape as tf
    >>> tf.keras.activations.get("tanh") is tf.keras.activations.tanh
    True
    """
    if identifier is None:
        return linear
    return lookup("activation function", identifier, BY_NAME, instance=False)


__all__ = [*BY_NAME, "get"]
__getattr__, __dir__ = public("tf.keras.activations", __all__)
