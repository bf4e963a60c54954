"""The functions of ``tf.keras.backend`` as Keras 2 had them; Keras 3 still offers them there.

They are loaded when one of them is asked for (:mod:`minitape.keras.backend`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import activations, losses, ops
from .base import convert, epsilon, floatx

SAME = """abs all any arange cast cos elu equal greater greater_equal less less_equal log max maximum mean min minimum
not_equal ones_like prod reshape round sigmoid sign sin softplus softsign square std stop_gradient sum tanh tile var
zeros_like"""
for _name in SAME.split():
    globals()[_name] = getattr(ops, _name)
pow = ops.power  # type: ignore[attr-defined]


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Any:
    """A constant tensor, of floats by default."""
    import minitape as tf

    return tf.constant(value, dtype or floatx(), shape, name)


def variable(value: Any, dtype: Any = None, name: str | None = None, constraint: Any = None) -> Any:
    """A ``tf.Variable``, of floats by default."""
    import minitape as tf

    return tf.Variable(convert(value, dtype or floatx()), name=name, constraint=constraint)


def gradients(loss: Any, variables: Any) -> Any:
    """The gradients of a graph; RuntimeError in eager execution, as in TensorFlow: use ``tf.GradientTape``."""
    import minitape as tf

    return tf.compat.v1.gradients(loss, variables)


def eval(x: Any) -> Any:
    """The value as an array."""
    return convert(x).numpy()


def get_value(x: Any) -> Any:
    """The value of a variable as an array."""
    return x if not hasattr(x, "numpy") else x.numpy()


def set_value(x: Any, value: Any) -> None:
    """Gives a variable another value."""
    x.assign(np.asarray(value, dtype=getattr(x.dtype, "as_numpy_dtype", x.dtype)))


def update(x: Any, new_x: Any) -> Any:
    """Gives a variable another value."""
    return x.assign(new_x)


def update_add(x: Any, increment: Any) -> Any:
    """Adds to a variable."""
    return x.assign_add(increment)


def update_sub(x: Any, decrement: Any) -> Any:
    """Subtracts from a variable."""
    return x.assign_sub(decrement)


def int_shape(x: Any) -> Any:
    """The sizes as a tuple."""
    return tuple(x.shape)


def ndim(x: Any) -> int:
    """The number of axes."""
    return len(x.shape)


def shape(x: Any) -> Any:
    """The sizes as a tensor."""
    import minitape as tf

    return tf.shape(x)


def dtype(x: Any) -> str:
    """The name of the type."""
    return getattr(x.dtype, "name", x.dtype)


def zeros(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A variable of zeros."""
    return variable(np.zeros(shape), dtype, name)


def ones(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A variable of ones."""
    return variable(np.ones(shape), dtype, name)


def sqrt(x: Any) -> Any:
    """The root; 0 for negative numbers."""
    import minitape as tf

    return tf.sqrt(tf.maximum(convert(x), tf.zeros((), convert(x).dtype)))


def clip(x: Any, min_value: Any, max_value: Any) -> Any:
    """``x`` within the bounds."""
    import minitape as tf

    if isinstance(min_value, (int, float)) and isinstance(max_value, (int, float)) and max_value < min_value:
        max_value = min_value
    return tf.clip_by_value(convert(x), -np.inf if min_value is None else min_value,
                            np.inf if max_value is None else max_value)  # fmt: skip


def exp(x: Any) -> Any:
    """The exponential; of floats only."""
    import minitape as tf

    return tf.exp(x)


def hard_sigmoid(x: Any) -> Any:
    """``0.2 * x + 0.5`` within 0 and 1: Keras 2's; ``tf.keras.activations`` has another slope."""
    import minitape as tf

    return tf.clip_by_value(0.2 * convert(x) + 0.5, 0.0, 1.0)


def concatenate(tensors: Any, axis: int = -1) -> Any:
    """Tensors joined along an axis."""
    return ops.concatenate(tensors, axis)


def eye(size: int, dtype: Any = None, name: str | None = None) -> Any:
    """A variable with ones on its diagonal."""
    return variable(np.eye(size), dtype, name)


def argmax(x: Any, axis: int = -1) -> Any:
    """Where the largest element along an axis is."""
    import minitape as tf

    return tf.argmax(x, axis)


def argmin(x: Any, axis: int = -1) -> Any:
    """Where the smallest element along an axis is."""
    import minitape as tf

    return tf.argmin(x, axis)


def cumsum(x: Any, axis: int = 0) -> Any:
    """Sums of all elements up to each."""
    import minitape as tf

    return tf.cumsum(convert(x), axis)


def cumprod(x: Any, axis: int = 0) -> Any:
    """Products of all elements up to each."""
    import minitape as tf

    return tf.math.cumprod(convert(x), axis)


def dot(x: Any, y: Any) -> Any:
    """The product of matrices, or the sum over the last axis of ``x`` and the last but one of ``y``."""
    return ops.dot(x, y)


def transpose(x: Any) -> Any:
    """The axes in the reverse order."""
    return ops.transpose(x)


def permute_dimensions(x: Any, pattern: Any) -> Any:
    """The axes in another order."""
    return ops.transpose(x, pattern)


def expand_dims(x: Any, axis: int = -1) -> Any:
    """A new axis of size 1."""
    return ops.expand_dims(x, axis)


def squeeze(x: Any, axis: int) -> Any:
    """Without an axis of size 1."""
    return ops.squeeze(x, axis)


def flatten(x: Any) -> Any:
    """All elements along one axis."""
    return ops.ravel(x)


def batch_flatten(x: Any) -> Any:
    """The elements of each row along one axis."""
    x = convert(x)
    return ops.reshape(x, [-1, int(np.prod(x.shape[1:]))])


def stack(x: Any, axis: int = 0) -> Any:
    """Tensors along a new axis."""
    return ops.stack(x, axis)


def gather(reference: Any, indices: Any) -> Any:
    """The rows at these places."""
    return ops.take(reference, indices, 0)


def one_hot(indices: Any, num_classes: int) -> Any:
    """A 1 at each index, 0 elsewhere."""
    import minitape as tf

    return tf.one_hot(indices, num_classes, axis=-1)


def repeat_elements(x: Any, rep: int, axis: int) -> Any:
    """Each element of an axis several times."""
    return ops.repeat(x, rep, axis)


def reverse(x: Any, axes: Any) -> Any:
    """The order of axes turned around."""
    return ops.flip(x, axes)


def switch(condition: Any, then_expression: Any, else_expression: Any) -> Any:
    """One of two, which may be functions: for a scalar condition as a whole, else element by element."""
    import minitape as tf

    condition = convert(condition, "bool")
    first, second = then_expression, else_expression
    if not condition.shape.rank:
        return tf.cond(condition, first if callable(first) else lambda: first,
                       second if callable(second) else lambda: second)  # fmt: skip
    first, second = (v() if callable(v) else v for v in (first, second))
    while condition.shape.rank < len(first.shape):
        condition = condition[..., None]
    return tf.where(condition, first, second)


def relu(x: Any, alpha: float = 0.0, max_value: Any = None, threshold: float = 0.0) -> Any:
    """``x`` where above the threshold, else ``alpha`` times what is missing; up to ``max_value``."""
    return activations.relu(x, alpha, max_value, threshold)


def softmax(x: Any, axis: int = -1) -> Any:
    """Exponentials divided by their sum."""
    return activations.softmax(x, axis)


def l2_normalize(x: Any, axis: Any = None) -> Any:
    """Vectors of length 1 along an axis."""
    import minitape as tf

    return tf.math.l2_normalize(convert(x), axis)


def bias_add(x: Any, bias: Any, data_format: Any = None) -> Any:
    """A bias added along the last axis."""
    import minitape as tf

    return tf.nn.bias_add(x, bias)


def dropout(x: Any, level: float, noise_shape: Any = None, seed: Any = None) -> Any:
    """Elements set to 0 at random, the others scaled up."""
    import minitape as tf

    return tf.nn.dropout(x, rate=level, noise_shape=noise_shape, seed=seed)


def random_normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None) -> Any:
    """Numbers drawn from the normal distribution."""
    import minitape as tf

    return tf.random.normal(shape, mean, stddev, dtype or floatx(), seed)


def random_uniform(shape: Any, minval: float = 0.0, maxval: float = 1.0, dtype: Any = None, seed: Any = None) -> Any:
    """Numbers drawn evenly."""
    import minitape as tf

    return tf.random.uniform(shape, minval, maxval, dtype or floatx(), seed)


def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Any:
    """The crossentropy of each element."""
    import minitape as tf

    target, output = convert(target), convert(output)
    if from_logits:
        return tf.nn.sigmoid_cross_entropy_with_logits(target, output)
    output = tf.clip_by_value(output, epsilon(), 1.0 - epsilon())
    return -(target * tf.math.log(output + epsilon()) + (1 - target) * tf.math.log(1 - output + epsilon()))


def categorical_crossentropy(target: Any, output: Any, from_logits: bool = False, axis: int = -1) -> Any:
    """The crossentropy of each row of probabilities."""
    return losses.categorical_crossentropy(target, output, from_logits, axis=axis)


def sparse_categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1, ignore_class: Any = None
) -> Any:
    """The crossentropy of each row, for classes given by number."""
    return losses.sparse_categorical_crossentropy(target, output, from_logits, ignore_class, axis)


def map_fn(fn: Callable[..., Any], elems: Any, name: str | None = None, dtype: Any = None) -> Any:
    """``fn`` of each row."""
    import minitape as tf

    return tf.map_fn(fn, elems, dtype=dtype, name=name)


def foldl(fn: Callable[..., Any], elems: Any, initializer: Any = None, name: str | None = None) -> Any:
    """``fn`` of what is gathered so far and each row."""
    import minitape as tf

    return tf.foldl(fn, elems, initializer=initializer, name=name)


def count_params(x: Any) -> int:
    """The number of elements."""
    return int(np.prod(tuple(x.shape)))
