"""What all metrics are made of: variables that gather, a mean, a sum."""

from __future__ import annotations

from typing import Any, ClassVar

from .. import tf
from . import initializers, lossfunctions
from .annotated import Annotated
from .base import auto_name, convert, floatx, get_keras_mask, name_scope, standardize_dtype
from .loss import apply_mask, squeeze_or_expand
from .operations.sampling import sizes_of
from .serial import Configured
from .tracking import Store, might_track
from .variable import Variable


class Metric(Configured):
    """The base class: subclasses make variables with ``add_variable`` and define ``update_state`` and ``result``.

    ``dtype`` is the type of its variables and of the result, that of Keras by default. Calling a metric takes in a batch
    and gives the value so far. A metric is not differentiable: its variables break the way back.

    >>> import minitape as tf
    >>> class Largest(tf.keras.metrics.Metric):
    ...     def __init__(self, name="largest"):
    ...         super().__init__(name=name)
    ...         self.so_far = self.add_variable((), "zeros", name="so_far")
    ...     def update_state(self, values):
    ...         self.so_far.assign(tf.maximum(self.so_far.value, tf.reduce_max(values)))
    ...     def result(self):
    ...         return self.so_far.value * 1
    >>> largest = Largest()
    >>> largest.update_state(tf.constant([1.0, 3.0]))
    >>> float(largest(tf.constant([2.0])))
    3.0
    """

    _tracked_as = "metrics"

    def __init__(self, dtype: Any = None, name: str | None = None) -> None:
        object.__setattr__(self, "_store", Store())
        self.name = name or auto_name(type(self).__name__)
        self._dtype = standardize_dtype(dtype or floatx())

    _direction = 0  # 1 where more is better, -1 where less is, 0 where nobody knows

    dtype = property(lambda self: self._dtype, doc="The name of the type of the result.")

    def __setattr__(self, name: str, value: Any) -> None:
        store = self.__dict__.get("_store")
        object.__setattr__(self, name, store.track(value) if store is not None and might_track(value) else value)

    def _check_super_called(self) -> None:
        if "_store" not in self.__dict__:
            raise RuntimeError("You forgot to call `super().__init__()` in the `__init__()` method. Go add it!")

    def add_variable(
        self, shape: Any, initializer: Any, dtype: Any = None, aggregation: str = "sum", name: str | None = None
    ) -> Variable:
        """A variable that belongs to the metric; ``reset_state`` sets it to zeros.

        >>> import minitape as tf
        >>> metric = tf.keras.metrics.Metric(name="largest")
        >>> metric.add_variable((2,), "ones", name="so_far")
        <Variable path=largest/so_far, shape=(2,), dtype=float32, value=[1. 1.]>
        """
        self._check_super_called()
        with name_scope(self.name.replace("/", ">"), caller=self):
            made = Variable(
                initializers.get(initializer), shape, dtype, trainable=False, aggregation=aggregation, name=name
            )
        self._store.add(made)
        return made

    def add_weight(
        self, shape: Any = (), initializer: Any = None, dtype: Any = None, name: str | None = None
    ) -> Variable:
        """The same as ``add_variable``; zeros by default.

        >>> import minitape as tf
        >>> tf.keras.metrics.Metric(name="largest").add_weight(initializer="zeros", name="so_far").numpy()
        np.float32(0.0)
        """
        return self.add_variable(shape, "zeros" if initializer is None else initializer, dtype, name=name)

    @property
    def variables(self) -> list[Variable]:
        """The variables of the metric and of metrics inside it."""
        return [*self._store.not_trainable, *[v for m in self._store.metrics for v in m.variables]]

    def update_state(self, *args: Any, **kwargs: Any) -> None:
        """Takes in one batch.

        >>> import minitape as tf
        >>> mean = tf.keras.metrics.Mean()
        >>> mean.update_state([1.0, 3.0])
        >>> mean.update_state([8.0])
        >>> float(mean.result())
        4.0
        """
        raise NotImplementedError

    def result(self) -> Any:
        """The value so far.

        >>> import minitape as tf
        >>> hits = tf.keras.metrics.Accuracy()
        >>> hits.update_state([1, 2, 3], [1, 2, 0])
        >>> round(float(hits.result()), 3)
        0.667
        """
        raise NotImplementedError

    def reset_state(self) -> None:
        """Begins anew.

        >>> import minitape as tf
        >>> mean = tf.keras.metrics.Mean()
        >>> mean.update_state([1.0, 3.0])
        >>> before = float(mean.result())
        >>> mean.reset_state()
        >>> before, float(mean.result())
        (2.0, 0.0)
        """
        for v in self.variables:
            v.assign(tf.zeros(v.shape, v.dtype))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Takes in one batch and gives the value so far."""
        self._check_super_called()
        self.update_state(*args, **kwargs)
        return self.result()

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this.

        >>> import minitape as tf
        >>> tf.keras.metrics.Mean(name="loss").get_config()
        {'name': 'loss', 'dtype': 'float32'}
        """
        return {"name": self.name, "dtype": self.dtype}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}>"

    __str__ = __repr__


def _samplewise(values: Any, weight: Any, reduce: Any, dtype: str) -> tuple[Any, Any]:
    """One value (and weight) for each example."""
    mask = get_keras_mask(values)
    values = convert(values, dtype)
    if weight is not None:
        weight = apply_mask(convert(weight, dtype), mask, dtype, "sum")
        values, weight = squeeze_or_expand(values, weight)
        rank, inner = len(weight.shape), len(values.shape)
        if inner > rank:
            values = reduce(values, axis=list(range(rank, inner)))
        weight = tf.broadcast_to(weight, sizes_of(values))
        values = values * weight
        if rank > 1:
            weight = reduce(weight, axis=list(range(1, rank)))
    if len(values.shape) > 1:
        values = reduce(values, axis=list(range(1, len(values.shape))))
    return values, weight


class Sum(Metric):
    """The (weighted) sum of all values; NaN and infinity stay.

    >>> import minitape as tf
    >>> total = tf.keras.metrics.Sum()
    >>> total.update_state([1.0, 3.0])
    >>> float(total([5.0, 7.0], sample_weight=[1.0, 0.0]))
    9.0
    """

    def __init__(self, name: str = "sum", dtype: Any = None) -> None:
        super().__init__(dtype, name)
        self.total = self.add_variable((), "zeros", self.dtype, name="total")

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        """Adds a batch of values."""
        values, _ = _samplewise(values, sample_weight, tf.reduce_sum, self.dtype)
        self.total.assign_add(tf.reduce_sum(values))

    def result(self) -> Any:
        """The sum so far."""
        return convert(self.total, self.dtype)


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
        values, weight = _samplewise(values, sample_weight, tf.reduce_mean, self.dtype)
        self.total.assign_add(tf.reduce_sum(values))
        if weight is not None:
            self.count.assign_add(tf.reduce_sum(weight))
        else:
            size = values.shape[0] if len(values.shape) else 1
            self.count.assign_add(tf.cast(tf.shape(values)[0], self.dtype) if size is None else float(size))

    def result(self) -> Any:
        """The mean so far, 0 before anything came."""
        return tf.math.divide_no_nan(tf.convert_to_tensor(self.total), tf.convert_to_tensor(self.count))


class MeanMetricWrapper(Mean):
    """The mean of a function of (y_true, y_pred) over all examples; ``kwargs`` go to the function.

    >>> import minitape as tf
    >>> gap = tf.keras.metrics.MeanMetricWrapper(lambda y_true, y_pred: abs(y_true - y_pred), name="gap")
    >>> float(gap(tf.constant([1.0, 2.0]), tf.constant([1.0, 5.0])))
    1.5
    """

    def __init__(self, fn: Any, name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(name, dtype)
        self._fn, self._fn_kwargs = fn, kwargs
        if getattr(fn, "__module__", None) == lossfunctions.__name__:
            self._direction = -1

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Takes in a batch of labels and predictions."""
        mask = get_keras_mask(y_pred)
        values = self._fn(y_true, y_pred, **self._fn_kwargs)
        super().update_state(values, apply_mask(sample_weight, mask, self.dtype, "sum"))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this."""
        own = {"fn": self._fn} if type(self) is MeanMetricWrapper else {}
        return {**super().get_config(), **own, **self._fn_kwargs}


class FunctionMetric(Annotated, MeanMetricWrapper):
    """The mean of what ``function`` of (y_true, y_pred) gives, to which the arguments but ``name`` and ``dtype`` go."""

    _function: ClassVar[Any]
    _direction = 1

    def _take(self, name: Any, dtype: Any, **arguments: Any) -> None:
        MeanMetricWrapper.__init__(self, type(self)._function, name, dtype, **arguments)


class RootMeanSquaredError(Mean):
    """The root of the mean squared error over all elements.

    >>> import minitape as tf
    >>> metric = tf.keras.metrics.RootMeanSquaredError()
    >>> float(metric([[0.0], [0.0]], [[3.0], [4.0]], sample_weight=[1.0, 0.0]))
    3.0
    """

    _direction = -1

    def __init__(self, name: str = "root_mean_squared_error", dtype: Any = None) -> None:
        super().__init__(name, dtype)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Takes in a batch of labels and predictions."""
        y_true, y_pred = squeeze_or_expand(convert(y_true, self.dtype), convert(y_pred, self.dtype))
        super().update_state((y_pred - y_true) ** 2, sample_weight)

    def result(self) -> Any:
        """The root so far."""
        return tf.sqrt(super().result())
