"""What metrics are made of: variables that gather, a mean, and which predictions are right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import tf
from ..engine.tensor.tensor import Tensor
from . import initializers
from .base import FLOAT, Tracking, auto_name, convert, name_scope, now, standardize_dtype
from .lossfunctions import squeeze_or_expand
from .variable import Variable


class Metric(Tracking):
    """The base class: subclasses make variables with ``add_variable`` and define ``update_state`` and ``result``.

    ``dtype`` is the type of its variables and of the result, that of Keras by default. Calling a metric takes in a
    batch and gives the value so far. A metric is not differentiable: its variables break the backward sweep.

    >>> import minitape as tf
    >>> class Largest(tf.keras.metrics.Metric):
    ...     def __init__(self, name="largest"):
    ...         super().__init__(name=name)
    ...         self.so_far = self.add_weight(name="so_far")
    ...     def update_state(self, values):
    ...         self.so_far.assign(tf.maximum(self.so_far.value, tf.reduce_max(values)))
    ...     def result(self):
    ...         return self.so_far.value * 1
    >>> largest = Largest()
    >>> largest.update_state(tf.constant([1.0, 3.0]))
    >>> float(largest(tf.constant([2.0])))
    3.0
    >>> largest.reset_state()
    >>> float(largest.result())
    0.0
    """

    _tracked_as = "metrics"

    def __init__(self, dtype: Any = None, name: str | None = None) -> None:
        self.name, self._made_at = name or auto_name(type(self).__name__), now()
        self.dtype = standardize_dtype(dtype)

    def add_weight(
        self, shape: Any = (), initializer: Any = "zeros", dtype: Any = None, name: str | None = None
    ) -> Variable:
        """A variable that belongs to the metric; ``reset_state`` sets it to zeros.

        >>> import minitape as tf
        >>> metric = tf.keras.metrics.Metric(name="largest")
        >>> metric.add_weight((2,), "ones", name="so_far")
        <Variable path=largest/so_far, shape=(2,), dtype=float32, value=[1. 1.]>
        """
        self._check_super_called()
        with name_scope(self.name.replace("/", ">"), caller=self):
            made = Variable(initializers.get(initializer), shape, dtype, trainable=False, name=name)
        self._note("", made)
        return made

    add_variable = add_weight

    def _check_super_called(self) -> None:
        if "name" not in self.__dict__:
            raise RuntimeError("You forgot to call `super().__init__()` in the `__init__()` method. Go add it!")

    @property
    def variables(self) -> list[Variable]:
        """The variables of the metric and of metrics inside it."""
        return [*self._parts("variables"), *[v for m in self._parts("metrics") for v in m.variables]]

    def update_state(self, *args: Any, **kwargs: Any) -> None:
        """Takes in one batch."""
        raise NotImplementedError

    def result(self) -> Any:
        """The value so far."""
        raise NotImplementedError

    def reset_state(self) -> None:
        """Begins anew."""
        for v in self.variables:
            v.assign(tf.zeros(v.shape, v.dtype))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Takes in one batch and gives the value so far."""
        self._check_super_called()
        self.update_state(*args, **kwargs)
        return self.result()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}>"

    __str__ = __repr__


def _samplewise(values: Any, weight: Any, dtype: str) -> tuple:
    """One value (and weight) for each example."""
    values = convert(values, dtype)
    if weight is not None:
        values, weight = squeeze_or_expand(values, convert(weight, dtype))
        rank, inner = len(weight.shape), len(values.shape)
        if inner > rank:
            values = tf.reduce_mean(values, axis=list(range(rank, inner)))
        if None in tuple(values.shape) or tuple(weight.shape) != tuple(values.shape):
            weight = tf.broadcast_to(weight, tf.shape(values))
        values = values * weight
        if rank > 1:
            weight = tf.reduce_mean(weight, axis=list(range(1, rank)))
    if len(values.shape) > 1:
        values = tf.reduce_mean(values, axis=list(range(1, len(values.shape))))
    return values, weight


class Mean(Metric):
    """The (weighted) mean of all values, 0 before anything came.

    >>> import minitape as tf
    >>> mean = tf.keras.metrics.Mean()
    >>> mean.update_state([1.0, 3.0])
    >>> mean.update_state([5.0])
    >>> float(mean.result())
    3.0
    >>> mean.reset_state()
    >>> float(mean.result())
    0.0
    """

    def __init__(self, name: str | None = "mean", dtype: Any = None) -> None:
        super().__init__(dtype, name)
        self.total = self.add_variable((), "zeros", self.dtype, name="total")
        self.count = self.add_variable((), "zeros", self.dtype, name="count")

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        """Takes in a batch of values."""
        values, weight = _samplewise(values, sample_weight, self.dtype)
        self.total.value.assign_add(tf.reduce_sum(values))
        if weight is None:
            size = values.shape[0] if len(values.shape) else 1
            count = tf.cast(tf.shape(values)[0], self.dtype) if size is None else float(size)
        else:
            count = tf.reduce_sum(weight)
        self.count.value.assign_add(count)

    def result(self) -> Any:
        """The mean so far, 0 before anything came."""
        return tf.math.divide_no_nan(self.total._read(), self.count._read())


class MeanMetricWrapper(Mean):
    """The mean of a function of (y_true, y_pred) over all examples; ``kwargs`` go to the function.

    >>> import minitape as tf
    >>> gap = tf.keras.metrics.MeanMetricWrapper(lambda y_true, y_pred: abs(y_true - y_pred), name="gap")
    >>> float(gap(tf.constant([1.0, 2.0]), tf.constant([1.0, 5.0])))
    1.5
    """

    def __init__(self, fn: Callable, name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(name, dtype)
        self._fn, self._fn_kwargs = fn, kwargs

    def update_state(  # type: ignore[override]  # of labels and predictions, not of values
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> None:
        """Takes in a batch of labels and predictions."""
        super().update_state(self._fn(y_true, y_pred, **self._fn_kwargs), sample_weight)


def _same(y_true: Any, y_pred: Any) -> Any:
    """1.0 where both are equal, else 0.0; InvalidArgumentError for shapes that do not broadcast, unlike ``==``."""
    return convert(tf.equal(y_true, y_pred), FLOAT)


def accuracy(y_true: Any, y_pred: Any) -> Any:
    """1.0 where the label is the prediction, else 0.0."""
    y_pred = convert(y_pred)
    y_true, y_pred = squeeze_or_expand(convert(y_true, y_pred.dtype.name), y_pred)
    return _same(y_true, y_pred)


def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Tensor:
    """1.0 where the prediction lies on the label's side of ``threshold``, else 0.0; in the shape of the predictions.

    >>> import minitape as tf
    >>> tf.keras.metrics.binary_accuracy([[1], [0]], [[0.9], [0.8]]).numpy()
    array([[1.],
           [0.]], dtype=float32)
    """
    y_true, y_pred = squeeze_or_expand(convert(y_true), convert(y_pred))
    return _same(y_true, convert(y_pred > convert(threshold, y_pred.dtype.name), y_true.dtype.name))


def categorical_accuracy(y_true: Any, y_pred: Any) -> Tensor:
    """1.0 where the largest prediction is that of the label (one-hot), else 0.0: (..., classes) become (...).

    >>> import minitape as tf
    >>> tf.keras.metrics.categorical_accuracy([[0, 1], [1, 0]], [[0.1, 0.9], [0.3, 0.7]]).numpy()
    array([1., 0.], dtype=float32)
    """
    return _same(tf.argmax(convert(y_true), axis=-1), tf.argmax(convert(y_pred), axis=-1))


def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> Tensor:
    """1.0 where the largest prediction is that of the label (a number), else 0.0: (..., classes) become (...).

    >>> import minitape as tf
    >>> tf.keras.metrics.sparse_categorical_accuracy([1, 0], [[0.1, 0.9], [0.3, 0.7]]).numpy()
    array([1., 0.], dtype=float32)
    """
    y_pred = convert(y_pred)
    y_true = convert(y_true, y_pred.dtype.name)
    if len(y_true.shape) == len(y_pred.shape) and y_true.shape[-1] == 1:
        y_true = tf.squeeze(y_true, -1)
    return _same(y_true, convert(tf.argmax(y_pred, axis=-1), y_true.dtype.name))
