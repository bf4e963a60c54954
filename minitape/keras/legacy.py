"""The functions of ``tf.keras.backend`` as Keras 2 had them; Keras 3 still offers them there for old programs.

Most are a function of ``tf`` under another name or with other arguments. Two lines of ``TABLE`` are one of these:
``signature = what it computes with | what that is``, and an example with what it gives (``K`` is the namespace). The
functions with rules of their own follow below.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .. import tf
from ..engine.code import define
from ..engine.tensor import Tensor
from ..graphs.gradients import gradients as _gradients
from . import activations, losses, ops
from .base import convert, epsilon, floatx, standardize_data_format
from .logits import logits_of

TABLE = """
abs(x) = tf.abs(x) | The distance from 0.
    K.abs([-1.0, 2.0]).numpy() -> array([1., 2.], dtype=float32)
all(x, axis=None, keepdims=False) = tf.reduce_all(tf.cast(x, "bool"), axis, keepdims) | Whether all elements are True.
    K.all([True, False]).numpy() -> np.False_
any(x, axis=None, keepdims=False) = tf.reduce_any(tf.cast(x, "bool"), axis, keepdims) | Whether one of the elements is True.
    K.any([True, False]).numpy() -> np.True_
arange(start, stop=None, step=1, dtype="int32") = tf.cast(tf.range(*_span(start, stop), step), dtype) | Numbers up to ``stop``, or from 0 to ``start`` alone.
    K.arange(3).numpy() -> array([0, 1, 2], dtype=int32)
argmax(x, axis=-1) = tf.argmax(x, axis) | Where the largest element along an axis is.
    K.argmax([1, 3, 2]).numpy() -> np.int64(1)
argmin(x, axis=-1) = tf.argmin(x, axis) | Where the smallest element along an axis is.
    K.argmin([2, 3, 1]).numpy() -> np.int64(2)
batch_flatten(x) = tf.reshape(x, [-1, int(np.prod(x.shape[1:]))]) | The elements of each row along one axis.
    K.batch_flatten(tf.ones((2, 3, 4))).shape -> TensorShape([2, 12])
cast(x, dtype) = tf.cast(x, dtype) | Elements of another type.
    K.cast([1.7, -1.7], "int32").numpy() -> array([ 1, -1], dtype=int32)
concatenate(tensors, axis=-1) = tf.concat(tensors, axis) | Tensors joined along an axis.
    K.concatenate([tf.constant([1, 2]), tf.constant([3])]).numpy() -> array([1, 2, 3], dtype=int32)
constant(value, dtype=None, shape=None, name=None) = tf.constant(value, dtype or floatx(), shape, name) | A tensor, of floats by default.
    K.constant([1, 2]).numpy() -> array([1., 2.], dtype=float32)
cos(x) = tf.cos(x) | The cosine of an angle in radians.
    K.cos([0.0, 1.0]).numpy().round(4) -> array([1.    , 0.5403], dtype=float32)
count_params(x) = int(np.prod(tuple(x.shape))) | The number of elements, as an int.
    K.count_params(tf.ones((2, 3))) -> 6
cumprod(x, axis=0) = tf.math.cumprod(x, axis) | The product of all elements up to each.
    K.cumprod([1, 2, 3]).numpy() -> array([1, 2, 6], dtype=int32)
cumsum(x, axis=0) = tf.cumsum(x, axis) | The sum of all elements up to each.
    K.cumsum([1, 2, 3]).numpy() -> array([1, 3, 6], dtype=int32)
dropout(x, level, noise_shape=None, seed=None) = tf.nn.dropout(x, level, noise_shape=noise_shape, seed=seed) | A fraction of the elements set to 0 at random, the others scaled up.
    K.dropout(tf.ones((2, 3)), level=0.5).shape -> TensorShape([2, 3])
dtype(x) = tf.as_dtype(x.dtype).name | The name of the dtype, as a string.
    K.dtype(tf.constant([1.0])) -> 'float32'
equal(x, y) = tf.equal(x, y) | Where ``x == y``.
    K.equal([1, 2], [1, 3]).numpy() -> array([ True, False])
exp(x) = tf.exp(x) | e to the power ``x``.
    K.exp([0.0, 1.0]).numpy().round(4) -> array([1.    , 2.7183], dtype=float32)
expand_dims(x, axis=-1) = tf.expand_dims(x, axis) | A new axis of size 1.
    K.expand_dims([1, 2]).shape -> TensorShape([2, 1])
eye(size, dtype=None, name=None) = variable(tf.eye(size, dtype=dtype or floatx()), dtype, name) | A variable with ones on its diagonal and zeros elsewhere.
    K.eye(2).numpy().tolist() -> [[1.0, 0.0], [0.0, 1.0]]
flatten(x) = tf.reshape(x, [-1]) | All elements along one axis.
    K.flatten([[1, 2], [3, 4]]).numpy() -> array([1, 2, 3, 4], dtype=int32)
foldl(fn, elems, initializer=None, name=None) = tf.foldl(fn, elems, initializer=initializer, name=name) | ``fn`` of what is gathered so far and each row, from the first on.
    K.foldl(lambda total, row: total + row, tf.constant([1, 2, 3])).numpy() -> np.int32(6)
gather(reference, indices) = tf.gather(reference, indices) | The rows at these places.
    K.gather([10, 20, 30], [2, 0]).numpy() -> array([30, 10], dtype=int32)
greater(x, y) = tf.greater(x, y) | Where ``x > y``.
    K.greater([1, 2, 3], 2).numpy() -> array([False, False,  True])
greater_equal(x, y) = tf.greater_equal(x, y) | Where ``x >= y``.
    K.greater_equal([1, 2, 3], 2).numpy() -> array([False,  True,  True])
int_shape(x) = tuple(x.shape) | The sizes as a tuple.
    K.int_shape(tf.ones((2, 3))) -> (2, 3)
l2_normalize(x, axis=None) = tf.math.l2_normalize(x, axis) | Vectors of length 1 along an axis.
    K.l2_normalize([3.0, 4.0]).numpy().round(4) -> array([0.6, 0.8], dtype=float32)
less(x, y) = tf.less(x, y) | Where ``x < y``.
    K.less([1, 2, 3], 2).numpy() -> array([ True, False, False])
less_equal(x, y) = tf.less_equal(x, y) | Where ``x <= y``.
    K.less_equal([1, 2, 3], 2).numpy() -> array([ True,  True, False])
log(x) = tf.math.log(x) | The natural logarithm.
    K.log([1.0, 10.0]).numpy().round(4) -> array([0.    , 2.3026], dtype=float32)
map_fn(fn, elems, name=None, dtype=None) = tf.map_fn(fn, elems, dtype=dtype, name=name) | ``fn`` of each row.
    K.map_fn(lambda row: row * 2, tf.constant([1, 2])).numpy() -> array([2, 4], dtype=int32)
max(x, axis=None, keepdims=False) = tf.reduce_max(x, axis, keepdims) | The largest element.
    K.max([1, 3, 2]).numpy() -> np.int32(3)
maximum(x, y) = tf.maximum(x, y) | The larger one.
    K.maximum([1, 5], 3).numpy() -> array([3, 5], dtype=int32)
mean(x, axis=None, keepdims=False) = tf.reduce_mean(_numbers(x), axis, keepdims) | The mean; of bools the fraction that is True.
    K.mean(tf.constant([1.0, 2.0, 6.0])).numpy() -> np.float32(3.0)
min(x, axis=None, keepdims=False) = tf.reduce_min(x, axis, keepdims) | The smallest element.
    K.min([2, 3, 1]).numpy() -> np.int32(1)
minimum(x, y) = tf.minimum(x, y) | The smaller one.
    K.minimum([1, 5], 3).numpy() -> array([1, 3], dtype=int32)
ndim(x) = len(x.shape) | The number of axes, as an int.
    K.ndim(tf.ones((2, 3))) -> 2
not_equal(x, y) = tf.not_equal(x, y) | Where ``x != y``.
    K.not_equal([1, 2], [1, 3]).numpy() -> array([False,  True])
one_hot(indices, num_classes) = tf.one_hot(indices, num_classes, axis=-1) | A 1 at each index, 0 elsewhere.
    K.one_hot(2, num_classes=3).numpy() -> array([0., 0., 1.], dtype=float32)
ones(shape, dtype=None, name=None) = variable(tf.ones(shape, dtype or floatx()), dtype, name) | A variable of ones.
    K.ones((2,)).numpy() -> array([1., 1.], dtype=float32)
ones_like(x, dtype=None, name=None) = tf.ones_like(x, dtype, name) | Ones in the shape of ``x``.
    K.ones_like([1.5, 2.5]).numpy() -> array([1., 1.], dtype=float32)
permute_dimensions(x, pattern) = tf.transpose(x, pattern) | The axes in another order.
    K.permute_dimensions(tf.ones((2, 3, 4)), (2, 0, 1)).shape -> TensorShape([4, 2, 3])
pow(x, a) = tf.pow(x, a) | ``x`` to the power ``a``.
    K.pow([2.0, 3.0], 2).numpy() -> array([4., 9.], dtype=float32)
prod(x, axis=None, keepdims=False) = tf.reduce_prod(x, axis, keepdims) | The product.
    K.prod([2, 3, 4]).numpy() -> np.int32(24)
random_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None) = tf.random.normal(shape, mean, stddev, dtype or floatx(), seed) | Normally distributed numbers.
    K.random_normal((2, 3)).shape -> TensorShape([2, 3])
random_uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None) = tf.random.uniform(shape, minval, maxval, dtype or floatx(), seed) | Numbers spread evenly over [minval, maxval).
    K.random_uniform((2, 3)).shape -> TensorShape([2, 3])
repeat_elements(x, rep, axis) = tf.repeat(x, rep, axis) | Each element of an axis several times.
    K.repeat_elements(tf.constant([1, 2]), rep=2, axis=0).numpy() -> array([1, 1, 2, 2], dtype=int32)
reshape(x, shape) = tf.reshape(x, shape) | The elements in another shape.
    K.reshape([1, 2, 3, 4], (2, 2)).numpy().tolist() -> [[1, 2], [3, 4]]
reverse(x, axes) = tf.reverse(x, [axes] if isinstance(axes, int) else axes) | The order of axes turned around.
    K.reverse([1, 2, 3], 0).numpy() -> array([3, 2, 1], dtype=int32)
round(x) = tf.round(x) | The nearest whole number, halves to the even one.
    K.round([0.5, 1.5, 2.6]).numpy() -> array([0., 2., 3.], dtype=float32)
shape(x) = tf.shape(x) | The sizes as a tensor of int32.
    K.shape([[1, 2, 3]]).numpy() -> array([1, 3], dtype=int32)
sigmoid(x) = tf.math.sigmoid(x) | ``1 / (1 + exp(-x))``.
    K.sigmoid([-1.0, 0.0, 1.0]).numpy().round(4) -> array([0.2689, 0.5   , 0.7311], dtype=float32)
sign(x) = tf.sign(x) | -1, 0 or 1 as ``x`` is below, at or above 0.
    K.sign([-2.5, 0.0, 7.0]).numpy() -> array([-1.,  0.,  1.], dtype=float32)
sin(x) = tf.sin(x) | The sine of an angle in radians.
    K.sin([0.0, 1.0]).numpy().round(4) -> array([0.    , 0.8415], dtype=float32)
softplus(x) = tf.math.softplus(x) | ``log(1 + exp(x))``.
    K.softplus([0.0, 1.0]).numpy().round(4) -> array([0.6931, 1.3133], dtype=float32)
softsign(x) = tf.math.softsign(x) | ``x / (1 + abs(x))``.
    K.softsign([-1.0, 3.0]).numpy() -> array([-0.5 ,  0.75], dtype=float32)
square(x) = tf.square(x) | ``x * x``.
    K.square([3.0, -4.0]).numpy() -> array([ 9., 16.], dtype=float32)
squeeze(x, axis) = tf.squeeze(x, [axis]) | Without an axis of size 1.
    K.squeeze([[1, 2]], 0).numpy() -> array([1, 2], dtype=int32)
stack(x, axis=0) = tf.stack(x, axis) | Tensors of one shape along a new axis.
    K.stack([[1, 2], [3, 4]], axis=1).numpy().tolist() -> [[1, 3], [2, 4]]
std(x, axis=None, keepdims=False) = tf.math.reduce_std(_numbers(x), axis, keepdims) | The standard deviation.
    K.std(tf.constant([1.0, 3.0])).numpy() -> np.float32(1.0)
sum(x, axis=None, keepdims=False) = tf.reduce_sum(x, axis, keepdims) | The sum.
    K.sum([1, 2, 3]).numpy() -> np.int32(6)
tanh(x) = tf.tanh(x) | The hyperbolic tangent.
    K.tanh([0.0, 1.0]).numpy().round(4) -> array([0.    , 0.7616], dtype=float32)
tile(x, n) = tf.tile(x, [n] if isinstance(n, int) else n) | Copies side by side.
    K.tile([1, 2], 2).numpy() -> array([1, 2, 1, 2], dtype=int32)
transpose(x) = tf.transpose(x) | The axes in the reverse order.
    K.transpose([[1, 2], [3, 4]]).numpy().tolist() -> [[1, 3], [2, 4]]
update(x, new_x) = x.assign(new_x) | Gives the variable ``x`` another value.
    K.update(K.variable([1, 2]), [3.0, 4.0]).numpy() -> array([3., 4.], dtype=float32)
update_add(x, increment) = x.assign_add(increment) | Adds to the variable ``x``.
    K.update_add(K.variable([1, 2]), [3.0, 4.0]).numpy() -> array([4., 6.], dtype=float32)
update_sub(x, decrement) = x.assign_sub(decrement) | Subtracts from the variable ``x``.
    K.update_sub(K.variable([1, 2]), [3.0, 4.0]).numpy() -> array([-2., -2.], dtype=float32)
var(x, axis=None, keepdims=False) = tf.math.reduce_variance(_numbers(x), axis, keepdims) | The variance.
    K.var(tf.constant([1.0, 3.0, 5.0, 7.0])).numpy() -> np.float32(5.0)
zeros(shape, dtype=None, name=None) = variable(tf.zeros(shape, dtype or floatx()), dtype, name) | A variable of zeros.
    K.zeros((2,)).numpy() -> array([0., 0.], dtype=float32)
zeros_like(x, dtype=None, name=None) = tf.zeros_like(x, dtype, name) | Zeros in the shape of ``x``.
    K.zeros_like([1.5, 2.5]).numpy() -> array([0., 0.], dtype=float32)
"""


def _install() -> None:
    """Makes the functions of the table."""
    pattern = r"((\w+)\(.*?\)) = (.*) \| (.*)\n    (.*) -> (.*)"
    for signature, name, expression, summary, example, result in re.findall(pattern, TABLE):
        define(f"def {signature}:\n    return {expression}", "<tf.keras.backend>", globals())
        globals()[name].__doc__ = f"""{summary}

    ``{expression}``: shapes, dtypes, the gradient and errors are those of what is called there.

    >>> import minitape as tf
    >>> K = tf.keras.backend
    >>> {example}
    {result}
    """


def _span(start: Any, stop: Any) -> tuple[Any, Any]:
    if stop is None:
        return 0, start if start > 0 else 0
    return start, stop


def _numbers(x: Any) -> Any:
    """``x`` with bools as floats."""
    x = convert(x)
    return tf.cast(x, floatx()) if x.dtype == tf.bool else x


_install()


def variable(value: Any, dtype: Any = None, name: str | None = None, constraint: Any = None) -> Any:
    """A ``tf.Variable``, of floats by default.

    ``value`` is a tensor or what can become one, of any shape; ``constraint`` is applied after each step of an optimizer.
    Raises ValueError for an unknown dtype.

    >>> import minitape as tf
    >>> tf.keras.backend.variable([1, 2]).numpy()
    array([1., 2.], dtype=float32)
    """
    return tf.Variable(convert(value, dtype or floatx()), name=name, constraint=constraint)


def gradients(loss: Any, variables: Any) -> Any:
    """The gradients of a graph, one for each variable; in eager execution ``tf.GradientTape`` gives them.

    ``loss`` is a tensor of a graph, ``variables`` a list of tensors of it. Raises RuntimeError in eager execution.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     x = tf.compat.v1.placeholder(tf.float32, ())
    ...     [slope] = tf.keras.backend.gradients(x * x, [x])
    ...     with tf.compat.v1.Session() as session:
    ...         print(session.run(slope, {x: 3.0}))
    6.0
    """
    return _gradients(loss, variables)


def eval(x: Any) -> Any:
    """The value of a tensor or a variable as an array.

    >>> import minitape as tf
    >>> tf.keras.backend.eval(tf.constant([1.0, 2.0]))
    array([1., 2.], dtype=float32)
    """
    return convert(x).numpy()


def get_value(x: Any) -> Any:
    """The value of a tensor or a variable as an array; anything else is given back.

    >>> import minitape as tf
    >>> tf.keras.backend.get_value(tf.keras.backend.variable([1, 2]))
    array([1., 2.], dtype=float32)
    """
    return x if not hasattr(x, "numpy") else x.numpy()


def set_value(x: Any, value: Any) -> None:
    """Gives a variable another value, which takes its dtype.

    Raises ValueError for a value of another shape.

    >>> import minitape as tf
    >>> x = tf.keras.backend.variable([1, 2])
    >>> tf.keras.backend.set_value(x, [3, 4])
    >>> x.numpy()
    array([3., 4.], dtype=float32)
    """
    x.assign(np.asarray(value, dtype=getattr(x.dtype, "as_numpy_dtype", x.dtype)))


def sqrt(x: Any) -> Tensor:
    """The square root; 0 for negative numbers.

    ``x`` is a tensor of floats of any shape; the result has its shape and dtype. Differentiable.

    >>> import minitape as tf
    >>> tf.keras.backend.sqrt(tf.constant([4.0, -1.0])).numpy()
    array([2., 0.], dtype=float32)
    """
    x = convert(x)
    return tf.sqrt(tf.clip_by_value(x, tf.zeros((), x.dtype), np.inf))


def clip(x: Any, min_value: Any, max_value: Any) -> Tensor:
    """``x`` within the bounds; None is no bound.

    ``x`` is a tensor of numbers of any shape; the result has its shape and dtype. Differentiable, with gradient 0 where a
    bound was taken.

    >>> import minitape as tf
    >>> tf.keras.backend.clip(tf.constant([-1.0, 0.5, 3.0]), 0.0, 1.0).numpy()
    array([0. , 0.5, 1. ], dtype=float32)
    """
    if isinstance(min_value, (int, float)) and isinstance(max_value, (int, float)) and max_value < min_value:
        max_value = min_value
    low, high = -np.inf if min_value is None else min_value, np.inf if max_value is None else max_value
    return tf.clip_by_value(convert(x), low, high)


def elu(x: Any, alpha: float = 1.0) -> Tensor:
    """``x`` where positive, ``alpha * (exp(x) - 1)`` elsewhere.

    ``x`` is a tensor of floats of any shape; the result has its shape and dtype. Differentiable.

    >>> import minitape as tf
    >>> tf.keras.backend.elu(tf.constant([-1.0, 2.0]), alpha=0.5).numpy().round(4)
    array([-0.3161,  2.    ], dtype=float32)
    """
    return activations.elu(x, alpha)


def relu(x: Any, alpha: float = 0.0, max_value: Any = None, threshold: float = 0.0) -> Tensor:
    """``x`` from the threshold on, else ``alpha * (x - threshold)``; up to ``max_value``.

    ``x`` is a tensor of numbers of any shape; the result has its shape and dtype. Differentiable.

    >>> import minitape as tf
    >>> tf.keras.backend.relu(tf.constant([-2.0, 1.0, 9.0]), alpha=0.5, max_value=6.0).numpy()
    array([-1.,  1.,  6.], dtype=float32)
    """
    return activations.relu(x, alpha, max_value, threshold)


def hard_sigmoid(x: Any) -> Tensor:
    """``0.2 * x + 0.5`` within 0 and 1: Keras 2's; that of ``tf.keras.activations`` has another slope.

    ``x`` is a tensor of floats of any shape; the result has its shape and dtype. Differentiable.

    >>> import minitape as tf
    >>> tf.keras.backend.hard_sigmoid(tf.constant([-4.0, 0.0, 1.0])).numpy()
    array([0. , 0.5, 0.7], dtype=float32)
    """
    return tf.clip_by_value(0.2 * convert(x) + 0.5, 0.0, 1.0)


def softmax(x: Any, axis: int = -1) -> Tensor:
    """Exponentials divided by their sum along an axis.

    ``x`` is a tensor of floats of two axes or more; the result has its shape and dtype. Differentiable. Raises ValueError
    for a vector.

    >>> import minitape as tf
    >>> tf.keras.backend.softmax(tf.constant([[0.0, 2.0]])).numpy().round(4)
    array([[0.1192, 0.8808]], dtype=float32)
    """
    x = convert(x)
    if len(x.shape) <= 1:
        raise ValueError(f"Cannot apply softmax to a tensor that is 1D. Received input: {x}")
    return tf.nn.softmax(x, axis=axis)


def dot(x: Any, y: Any) -> Tensor:
    """The product of matrices, or the sum over the last axis of ``x`` and the last but one of ``y``.

    ``x`` and ``y`` are tensors of one dtype of numbers. Differentiable in both. Raises InvalidArgumentError for sizes that
    differ.

    >>> import minitape as tf
    >>> tf.keras.backend.dot(tf.constant([[1, 2]]), tf.constant([[3], [4]])).numpy()
    array([[11]], dtype=int32)
    """
    return ops.dot(x, y)


def stop_gradient(variables: Any) -> Any:
    """The same values, through which no gradient flows.

    ``variables`` is a tensor of any shape and dtype, or a sequence of them (the result is an iterator then).

    >>> import minitape as tf
    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x * tf.keras.backend.stop_gradient(x)
    >>> tape.gradient(y, x).numpy()
    np.float32(3.0)
    """
    if isinstance(variables, (list, tuple)):
        return map(tf.stop_gradient, variables)
    return tf.stop_gradient(variables)


def switch(condition: Any, then_expression: Any, else_expression: Any) -> Any:
    """One of two: for a scalar condition as a whole, else element by element.

    ``condition`` is a tensor of bools or numbers; the expressions are tensors, or functions that give one, with as many
    axes as the condition or more: of one axis it broadcasts, else it stands for the first axes. Differentiable in what was taken. Raises ValueError for a condition of more axes
    than the expressions.

    >>> import minitape as tf
    >>> x = tf.constant([-1.0, 2.0])
    >>> tf.keras.backend.switch(x > 0, x, lambda: x * 10).numpy()
    array([-10.,   2.], dtype=float32)
    """
    condition = convert(condition, "bool")
    first, second = then_expression, else_expression
    if not condition.shape.rank:
        return tf.cond(condition, *(v if callable(v) else lambda v=v: v for v in (first, second)))
    first, second = (v() if callable(v) else v for v in (first, second))
    if condition.shape.rank > len(first.shape):
        raise ValueError(
            "Rank of `condition` should be less than or equal to rank of `then_expression` and `else_expression`. "
            f"ndim(condition)={condition.shape.rank}, ndim(then_expression)={len(first.shape)}"
        )
    while 1 < condition.shape.rank < len(first.shape):
        condition = condition[..., None]
    return tf.where(condition, first, second)


def bias_add(x: Any, bias: Any, data_format: Any = None) -> Tensor:
    """A bias for each channel added.

    ``x`` is a tensor of numbers of two axes or more, ``bias`` a vector of its dtype; the channels are the last axis, or the
    second one with ``data_format`` "channels_first". Differentiable in both. Raises InvalidArgumentError for another
    number of channels.

    >>> import minitape as tf
    >>> tf.keras.backend.bias_add(tf.zeros((2, 2)), tf.constant([1.0, 2.0])).numpy()
    array([[1., 2.],
           [1., 2.]], dtype=float32)
    """
    first = standardize_data_format(data_format) == "channels_first"
    return tf.nn.bias_add(x, bias, data_format="NCHW" if first else "NHWC")


def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Tensor:
    """The crossentropy of each element.

    ``target`` and ``output`` are tensors of floats of one shape; the result has it too. With ``from_logits``, ``output``
    holds logits instead of probabilities. Differentiable in both.

    >>> import minitape as tf
    >>> tf.keras.backend.binary_crossentropy(tf.constant([0.0, 1.0]), tf.constant([0.1, 0.5])).numpy().round(4)
    array([0.1054, 0.6931], dtype=float32)
    """
    target, output = convert(target), convert(output)
    output, from_logits = logits_of(output, from_logits, "Sigmoid", "binary_crossentropy")
    if from_logits:
        return tf.nn.sigmoid_cross_entropy_with_logits(target, output)
    output = tf.clip_by_value(output, epsilon(), 1.0 - epsilon())
    return -(target * tf.math.log(output + epsilon()) + (1 - target) * tf.math.log(1 - output + epsilon()))


def categorical_crossentropy(target: Any, output: Any, from_logits: bool = False, axis: int = -1) -> Tensor:
    """The crossentropy of each row of probabilities.

    ``target`` and ``output`` are tensors of floats of one shape, with the classes along ``axis``. Differentiable in both.
    Raises ValueError for shapes that differ.

    >>> import minitape as tf
    >>> tf.keras.backend.categorical_crossentropy(tf.constant([[0.0, 1.0]]), tf.constant([[0.1, 0.9]])).numpy().round(4)
    array([0.1054], dtype=float32)
    """
    return losses.categorical_crossentropy(target, output, from_logits, axis=axis)


def sparse_categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1, ignore_class: Any = None
) -> Tensor:
    """The crossentropy of each row of probabilities, for classes given by number.

    ``output`` is a tensor of floats with the classes along ``axis``, ``target`` one of integers without that axis; rows of
    the class ``ignore_class`` count 0. Differentiable in ``output``. Raises ValueError for shapes that do not fit.

    >>> import minitape as tf
    >>> tf.keras.backend.sparse_categorical_crossentropy(tf.constant([1]), tf.constant([[0.1, 0.9]])).numpy().round(4)
    array([0.1054], dtype=float32)
    """
    return losses.sparse_categorical_crossentropy(target, output, from_logits, ignore_class, axis)
