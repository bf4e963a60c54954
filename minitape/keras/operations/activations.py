"""``tf.keras.activations``: elementwise functions between layers (and softmax), and how they are found by name.

Those that are one formula are three lines of a table: ``name(arguments) = formula``, what it computes, and the arguments of
an example ``->`` what that gives. The docstring is made of these and of what all functions of the table have in common.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

from ... import tf
from ...engine.tensor import Tensor
from ..base import as_float
from ..logits import with_logits
from ..serial import lookup
from .common import convert, document, written

TABLE = """
relu6(x) = tf.nn.relu6(x)
    ``min(max(x, 0), 6)``.
    [-1.0, 2.0, 9.0] -> array([0., 2., 6.], dtype=float32)
selu(x) = tf.nn.selu(x)
    The scaled ``elu``, which keeps mean 0 and variance 1 through many layers.
    [-1.0, 0.0, 1.0] -> array([-1.1113,  0.    ,  1.0507], dtype=float32)
softplus(x) = tf.nn.softplus(x)
    ``log(1 + exp(x))``: a smooth ``relu``.
    [-1.0, 0.0, 1.0] -> array([0.3133, 0.6931, 1.3133], dtype=float32)
softsign(x) = tf.nn.softsign(x)
    ``x / (1 + abs(x))``, between -1 and 1.
    [-1.0, 0.0, 3.0] -> array([-0.5 ,  0.  ,  0.75], dtype=float32)
log_sigmoid(x) = tf.math.log_sigmoid(x)
    ``log(sigmoid(x))``, without overflow.
    [-1.0, 0.0, 1.0] -> array([-1.3133, -0.6931, -0.3133], dtype=float32)
leaky_relu(x, negative_slope: float = 0.2) = tf.nn.leaky_relu(x, alpha=negative_slope)
    ``x``, times ``negative_slope`` where it is negative.
    [-1.0, 2.0] -> array([-0.2,  2. ], dtype=float32)
sigmoid(x) = with_logits(tf.math.sigmoid(x), x)
    ``1 / (1 + exp(-x))``, between 0 and 1.
    [-1.0, 0.0, 1.0] -> array([0.2689, 0.5   , 0.7311], dtype=float32)
celu(x, alpha: float = 1.0) = tf.maximum(x, 0.0) + alpha * tf.math.expm1(tf.minimum(x, 0.0) / alpha)
    ``x`` where positive, ``alpha * (exp(x / alpha) - 1)`` elsewhere: an ``elu`` whose slope at 0 is 1.
    [-1.0, 2.0], alpha=0.5 -> array([-0.4323,  2.    ], dtype=float32)
gelu(x, approximate: bool = False) = tf.nn.gelu(x, approximate=approximate)
    ``x`` times the normal distribution function of ``x``, or its approximation with ``tanh``.
    [-1.0, 0.0, 1.0] -> array([-0.1587,  0.    ,  0.8413], dtype=float32)
silu(x) = tf.nn.silu(x)
    ``x * sigmoid(x)``; also called ``swish``.
    [-1.0, 0.0, 1.0] -> array([-0.2689,  0.    ,  0.7311], dtype=float32)
hard_sigmoid(x) = tf.nn.relu6(x + 3.0) / 6.0
    ``relu6(x + 3) / 6``: a ``sigmoid`` of three straight lines.
    [-4.0, 0.0, 1.5] -> array([0.  , 0.5 , 0.75], dtype=float32)
hard_silu(x) = x * hard_sigmoid(x)
    ``x * hard_sigmoid(x)``; also called ``hard_swish``.
    [-4.0, 0.0, 1.5] -> array([-0.   ,  0.   ,  1.125], dtype=float32)
hard_tanh(x) = tf.clip_by_value(x, -1.0, 1.0)
    ``x`` within -1 and 1.
    [-2.0, 0.5, 2.0] -> array([-1. ,  0.5,  1. ], dtype=float32)
mish(x) = x * tf.tanh(tf.nn.softplus(x))
    ``x * tanh(softplus(x))``.
    [-1.0, 0.0, 1.0] -> array([-0.3034,  0.    ,  0.8651], dtype=float32)
threshold(x, threshold: float, default_value: float) = tf.where(x > threshold, x, convert(default_value, x.dtype.name))
    ``x`` above the threshold, ``default_value`` elsewhere.
    tf.constant([-1.0, 0.5, 2.0]), 1.0, 0.0 -> array([0., 0., 2.], dtype=float32)
tanh_shrink(x) = x - tf.tanh(x)
    ``x - tanh(x)``.
    [-1.0, 0.0, 1.0] -> array([-0.2384,  0.    ,  0.2384], dtype=float32)
squareplus(x, b: float = 4) = (x + tf.sqrt(x * x + b)) / 2
    ``(x + sqrt(x ** 2 + b)) / 2``: a smooth ``relu``.
    [-1.0, 0.0, 1.0] -> array([0.618, 1.   , 1.618], dtype=float32)
"""
PROMOTED = """
tanh(x) = tf.math.tanh(x)
    The hyperbolic tangent, between -1 and 1.
    [-1.0, 0.0, 1.0] -> array([-0.7616,  0.    ,  0.7616], dtype=float32)
exponential(x) = tf.math.exp(x)
    ``exp(x)``.
    [-1.0, 0.0, 1.0] -> array([0.3679, 1.    , 2.7183], dtype=float32)
"""
FLOATS = """``x`` is a tensor of floats of any shape, or what can become one; the result has its shape and dtype.
    Differentiable. Raises InvalidArgumentError for other dtypes."""
NUMBERS = """``x`` is a tensor of numbers of any shape, or what can become one; whole numbers become floats first. The result
    has its shape and dtype. Differentiable. Raises ValueError for other dtypes."""


def _install(take: str, common: str, table: str) -> None:
    """Makes the functions of a table, each of which begins with the statement ``take``."""
    rows = re.findall(r"^(\w+)\(x(.*)\) = (.*)\n    (.*)\n    (.*) -> (.*)", table, re.MULTILINE)
    for name, arguments, formula, summary, given, result in rows:
        made = written(f"{name}(x: Any{arguments}) -> Tensor", take, formula, globals())
        document(made, summary, common, f"activations.{name}({given})", result)


_install("x = convert(x)", FLOATS, TABLE)
_install("x = as_float(x)", NUMBERS, PROMOTED)


def linear(x: Any) -> Any:
    """``x`` itself.

    ``x`` is anything and is given back as it is. Differentiable.

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
            f"You are using a softmax over axis {axis} of a tensor of shape {tuple(x.shape)}. This axis has size 1. The "
            "softmax operation will always return the value 1, which is likely not what you intended. Did you mean to "
            "use a sigmoid instead?",
            stacklevel=2,
        )
    return with_logits(tf.nn.softmax(x, axis=axis), x)


def log_softmax(x: Any, axis: int = -1) -> Tensor:
    """The logarithm of ``softmax``, without overflow.

    ``x`` is a tensor of floats of any shape but (); the result has its shape and dtype. Differentiable. Raises
    InvalidArgumentError for other dtypes.

    >>> import minitape as tf
    >>> tf.keras.activations.log_softmax([0.0, 2.0]).numpy().round(4)
    array([-2.1269, -0.1269], dtype=float32)
    """
    return tf.nn.log_softmax(convert(x), axis=axis)


def elu(x: Any, alpha: float = 1.0) -> Tensor:
    """``x`` where positive, ``alpha * (exp(x) - 1)`` elsewhere.

    ``x`` is a tensor of floats of any shape, or what can become one; the result has its shape and dtype.
    Differentiable. Raises InvalidArgumentError for other dtypes.

    >>> import minitape as tf
    >>> tf.keras.activations.elu(tf.constant([-1.0, 2.0]), alpha=0.5).numpy().round(4)
    array([-0.3161,  2.    ], dtype=float32)
    """
    x = convert(x)
    out = tf.nn.elu(x)
    return out if alpha == 1 else tf.where(x > 0, out, alpha * out)


swish, hard_swish = globals()["silu"], globals()["hard_silu"]
BY_NAME = {name: f for name, f in globals().items() if getattr(f, "__module__", "") == __name__ and name[0] != "_"}


def get(identifier: Any) -> Any:
    """The activation of a name; a function is given back, and None is ``linear``.

    ``identifier`` is a name, a function, what ``serialize`` gave, or None. Raises ValueError for an unknown name.

    >>> import minitape as tf
    >>> tf.keras.activations.get("tanh") is tf.keras.activations.tanh
    True
    """
    if identifier is None:
        return linear
    return lookup("activation function", identifier, BY_NAME, instance=False)


def serialize(activation: Any) -> str:
    """The name of an activation, as the configuration of a layer holds it.

    ``activation`` is one of these functions. Raises AttributeError for what has no name.

    >>> import minitape as tf
    >>> tf.keras.activations.serialize(tf.keras.activations.swish)
    'silu'
    """
    return activation.__name__


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The activation that ``serialize`` wrote down.

    ``config`` is a name, ``custom_objects`` a dict of functions of one's own by name. Raises ValueError for an unknown
    name.

    >>> import minitape as tf
    >>> tf.keras.activations.deserialize("relu")([-1.0, 2.0]).numpy()
    array([0., 2.], dtype=float32)
    """
    if custom_objects and config in custom_objects:
        return custom_objects[config]
    return get(config)
