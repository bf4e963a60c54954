"""``tf.keras``, as much as the documents and the lessons show: layers, two optimizers, two losses.

>>> import minitape as tf
>>> dense = tf.keras.layers.Dense(2)
>>> dense.built, dense.variables
(False, [])
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..common.api_suggestions import build_attribute_error
from ..engine.backward.targets_and_sources import unwrap_keras_variable
from ..engine.hooks import hooks
from ..engine.record.interrupt_safe import TemporaryAttributes
from ..engine.record.provenance import note_creation_stack
from ..engine.record.thread_state import state
from ..engine.tensor.conversion import convert_to_tensor
from ..engine.tensor.tensor import Tensor
from ..engine.tensor.variable import ResourceVariable
from ..engine.types import TensorOperators
from ..engine.values import dtypes, nest
from ..functions.settings import init_scope
from ..functions.traced_calls import wrap_for_traces
from . import nn
from .api import describe_missing_name
from .arguments import to_sizes, to_tensor
from .array_functions import expand_dims
from .creation import ones, zeros
from .elementwise import abs as absolute
from .elementwise import cast, pow, sigmoid, softplus, sqrt, square, subtract, tanh
from .module import convert_to_snake_case
from .random import uniform
from .reductions import reduce_mean

if TYPE_CHECKING:
    from ..engine.types import DTypeLike, Function, Index, Object, ShapeLike, Value
    from ..engine.values.shape import TensorShape

_NAME_COUNTS: Counter[str] = Counter()


def _create_unique_name(named_object: Object) -> str:
    """``dense``, then ``dense_1``, ``dense_2``, ..."""
    name = convert_to_snake_case(type(named_object).__name__)
    number, _NAME_COUNTS[name] = _NAME_COUNTS[name], _NAME_COUNTS[name] + 1
    return f"{name}_{number}" if number else name


class KerasVariable(TensorOperators):
    """A weight of a layer. It wraps a ``tf.Variable`` (``value``), which ``tape.watch`` wants to be given.

    >>> import minitape as tf
    >>> v = tf.keras.layers.Dense(1, kernel_initializer="ones", name="d")
    >>> v.build([None, 2])
    >>> v.kernel
    <Variable path=d/kernel, shape=(2, 1), dtype=float32, value=[[1.]
     [1.]]>
    """

    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]  # it compares element by element

    def __init__(self, value: Value, trainable: bool = True, name: str = "variable") -> None:
        self.value = ResourceVariable(value, trainable=trainable, name=name)
        self.name, self.path, self.trainable = name, "/".join((*state.scope, name)), trainable
        self.dtype: str = self.value.dtype.name

    @property
    def shape(self) -> TensorShape:
        """The sizes of the axes."""
        return self.value.shape

    def numpy(self) -> np.ndarray:
        """The value as a NumPy array or scalar."""
        return self.value.numpy()

    def assign(self, value: Value) -> Tensor:
        """Sets a new value, in the dtype of the weight, and returns it. ValueError for another shape."""
        value = cast(to_tensor(value), self.dtype)
        self.value.assign(value)
        return value

    def _read_state(self) -> Tensor:
        return self.value._read_state()

    def _to_tensor(self, dtype: dtypes.DType | None = None) -> Tensor:
        return self.value._to_tensor(dtype)

    def _gradient_end(self) -> ResourceVariable:
        return self.value

    def _like_gradient(self, gradient: Tensor) -> Tensor:
        return gradient

    def __repr__(self) -> str:
        return f"<Variable path={self.path}, shape={self.shape}, dtype={self.dtype}, value={np.array(self.numpy())}>"

    def __array__(self, dtype: Object = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.numpy(), dtype)

    def __float__(self) -> float:
        return float(self.numpy())

    def __int__(self) -> int:
        return int(self.numpy())

    def __getitem__(self, key: Index) -> Tensor:
        return self.value[key]


def _create_variable_operator(name: str) -> Function:
    return lambda variable, *other: getattr(variable._read_state(), name)(*other)


_operator_names = "add sub mul truediv floordiv mod pow matmul".split()
for _operator_name in [
    *_operator_names,
    *(f"r{name}" for name in _operator_names),
    *"neg abs eq ne lt le gt ge".split(),
]:
    setattr(KerasVariable, f"__{_operator_name}__", _create_variable_operator(f"__{_operator_name}__"))


# -- layers ----------------------------------------------------------------------------------------


_draw_uniform = wrap_for_traces("uniform", uniform)  # while a function is traced, a row


def create_initial_value(initializer: str | Callable | None, shape: ShapeLike, dtype: DTypeLike) -> Value:
    """The first value of a weight, by the name of an initializer or by a function of shape and dtype."""
    if callable(initializer):
        return initializer(shape, dtype=dtype)
    if initializer in ("zeros", "ones"):
        return (zeros if initializer == "zeros" else ones)(shape, dtype)
    if initializer not in (None, "glorot_uniform"):
        raise ValueError(f"An initializer is 'glorot_uniform', 'ones', 'zeros' or a function, got {initializer!r}")
    sizes = to_sizes(shape)
    limit = np.sqrt(6.0 / max(1, sizes[0] + sizes[-1])) if sizes else 1.0
    return _draw_uniform(sizes, -limit, limit, dtype)


class Layer:
    """The base class of layers: subclasses make weights in ``build`` and compute in ``call``.

    Weights are made when the layer first sees an input. ``variables`` (or ``weights``) are those of the layer and of
    the layers among its attributes, ``trainable_variables`` those that training may change.

    >>> import minitape as tf
    >>> class Scale(tf.keras.layers.Layer):
    ...     def build(self, input_shape):
    ...         self.factor = self.add_weight(shape=(input_shape[-1],), initializer="ones", name="factor")
    ...     def call(self, x):
    ...         return x * self.factor
    >>> layer = Scale(name="scale")
    >>> layer(tf.constant([[2.0, 3.0]])).numpy(), [w.path for w in layer.weights]
    (array([[2., 3.]], dtype=float32), ['scale/factor'])
    """

    def __init__(self, *, trainable: bool = True, dtype: DTypeLike = None, name: str | None = None) -> None:
        self.name, self.trainable, self.built = name or _create_unique_name(self), trainable, False
        self.dtype: str = dtypes.as_dtype(dtype or "float32").name
        note_creation_stack(self)

    def _open_name_scope(self) -> TemporaryAttributes:
        """Return a block in which the layer's name is part of the names of variables."""
        outer_scope = state.scope
        return TemporaryAttributes(
            state, scope=outer_scope if outer_scope[-1:] == (self.name,) else (*outer_scope, self.name)
        )

    def add_weight(
        self,
        shape: ShapeLike = (),
        initializer: str | Callable | None = None,
        dtype: DTypeLike = None,
        trainable: bool = True,
        name: str = "variable",
    ) -> KerasVariable:
        """Makes a weight; ``initializer`` is "ones", "zeros", "glorot_uniform" (default), or a function of shape and
        dtype.
        """
        with self._open_name_scope(), init_scope():
            return KerasVariable(create_initial_value(initializer, shape, dtype or self.dtype), trainable, name)

    def build(self, input_shape: TensorShape) -> None:
        """Makes the weights for inputs of this shape. Here there are none."""

    def call(self, inputs: Tensor) -> Tensor:
        """The output of the layer."""
        raise NotImplementedError(f"Layer {type(self).__name__} does not have a `call` method implemented.")

    def __call__(self, inputs: Value, *args: Object, **kwargs: Object) -> Tensor:
        input_tensor = to_tensor(inputs)
        if input_tensor.dtype.is_floating:
            input_tensor = cast(input_tensor, self.dtype)
        with self._open_name_scope():
            if not self.built:
                with init_scope():
                    self.build(input_tensor.shape)
                self.built = True
            return self.call(input_tensor, *args, **kwargs)

    @property
    def variables(self) -> list[KerasVariable]:
        """The weights of the layer and of the layers in it, in the order in which they became attributes."""
        return [*{id(v): v for v in self._iter_weights(False)}.values()]

    @property
    def trainable_variables(self) -> list[KerasVariable]:
        """The weights that training may change."""
        return [*{id(v): v for v in self._iter_weights(True)}.values()]

    weights, trainable_weights = variables, trainable_variables

    def _iter_weights(self, trainable: bool) -> Iterator[KerasVariable]:
        if trainable and not self.trainable:
            return
        for member in nest.flatten([*vars(self).values()]):
            if isinstance(member, Layer):
                yield from member._iter_weights(trainable)
            elif isinstance(member, KerasVariable) and (member.trainable or not trainable):
                yield member

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"


_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "linear": lambda x: x,
    "relu": nn.relu,
    "leaky_relu": nn.leaky_relu,
    "sigmoid": sigmoid,
    "softmax": nn.softmax,
    "softplus": softplus,
    "tanh": tanh,
}


class Dense(Layer):
    """``activation(inputs @ kernel + bias)``, for inputs whose last axis is multiplied by the kernel.

    ``activation`` is a function or a name: "relu", "leaky_relu", "sigmoid", "softmax", "softplus", "tanh". Raises
    ValueError for an unknown name, for ``units`` that are no positive number, and for inputs of another last size than
    the first ones.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.Dense(2, kernel_initializer="ones")
    >>> layer(tf.constant([[1.0, 2.0]])).numpy()
    array([[3., 3.]], dtype=float32)
    """

    def __init__(
        self,
        units: int,
        activation: str | Callable | None = None,
        use_bias: bool = True,
        kernel_initializer: str | Callable | None = "glorot_uniform",
        bias_initializer: str | Callable | None = "zeros",
        *,
        trainable: bool = True,
        dtype: DTypeLike = None,
        name: str | None = None,
    ) -> None:
        super().__init__(trainable=trainable, dtype=dtype, name=name)
        if not isinstance(units, (int, np.integer)) or units < 1:
            raise ValueError(f"units must be a positive integer, got {units!r}")
        if isinstance(activation, str) and activation not in _ACTIVATIONS:
            raise ValueError(f"activation must be a function or one of {', '.join(_ACTIVATIONS)}, got {activation!r}")
        self.units, self.use_bias = int(units), use_bias
        self.activation = _ACTIVATIONS[activation] if isinstance(activation, str) else activation
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer

    def build(self, input_shape: TensorShape | Sequence[int | None]) -> None:
        """Makes ``kernel`` and ``bias``."""
        if len(input_shape) < 2:
            raise ValueError(f"Layer {self.name} takes inputs of two axes or more, got the shape {input_shape}")
        self.kernel = self.add_weight((input_shape[-1], self.units), self.kernel_initializer, name="kernel")
        self.bias = self.add_weight((self.units,), self.bias_initializer, name="bias") if self.use_bias else None
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        """The product, the bias and the activation."""
        if inputs.shape[-1:] != self.kernel.shape[:1]:
            raise ValueError(
                f"Layer {self.name} takes inputs whose last size is {self.kernel.shape[0]}, got the shape "
                f"{inputs.shape}"
            )
        outputs = cast(inputs, self.dtype) @ self.kernel
        outputs = outputs if self.bias is None else outputs + self.bias
        return outputs if self.activation is None else self.activation(outputs)


class Sequential(Layer):
    """Layers one after the other.

    >>> import minitape as tf
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
    >>> model(tf.constant([[1.0, 2.0]])).numpy()
    array([[3.]], dtype=float32)
    """

    def __init__(self, layers: Iterable[Layer] = (), trainable: bool = True, name: str | None = None) -> None:
        super().__init__(trainable=trainable, name=name)
        self.layers = list(layers)

    def add(self, layer: Layer) -> None:
        """Puts a layer on top."""
        self.layers.append(layer)

    def call(self, inputs: Tensor) -> Tensor:
        """The output of the last layer."""
        for layer in self.layers:
            inputs = layer(inputs)
        return inputs

    if not TYPE_CHECKING:  # for a checker of types these names are not there

        def __getattr__(self, name: str) -> Object:  # compile, fit, summary
            raise build_attribute_error(describe_missing_name(f"keras.Sequential.{name}"), name, self)


# -- losses ----------------------------------------------------------------------------------------


def _compute_signed_error(y_true: Value, y_pred: Value) -> Tensor:
    """Return the prediction less the truth, in its dtype; one more axis of size 1 is inserted or dropped."""
    y = to_tensor(y_pred)
    y = y if y.dtype.is_floating else cast(y, dtypes.float32)
    x = cast(to_tensor(y_true), y.dtype)
    if {x.ndim, y.ndim} == {1, 2}:
        x, y = (t if t.ndim == 2 else expand_dims(t, -1) for t in (x, y))
    elif abs(x.ndim - y.ndim) == 1:
        x, y = (t if t.ndim == min(x.ndim, y.ndim) or t.shape[-1] != 1 else t[..., 0] for t in (x, y))
    return subtract(x, y)


def mean_squared_error(y_true: Value, y_pred: Value) -> Tensor:
    """The mean of the squared errors over the last axis. Differentiable in both.

    >>> import minitape as tf
    >>> tf.keras.losses.MSE([[1.0, 2.0]], [[3.0, 5.0]]).numpy()
    array([6.5], dtype=float32)
    """
    return reduce_mean(square(_compute_signed_error(y_true, y_pred)), axis=-1)


def mean_absolute_error(y_true: Value, y_pred: Value) -> Tensor:
    """The mean of the absolute errors over the last axis. Differentiable in both.

    >>> import minitape as tf
    >>> tf.keras.losses.MAE([[1.0, 2.0]], [[3.0, 5.0]]).numpy()
    array([2.5], dtype=float32)
    """
    return reduce_mean(absolute(_compute_signed_error(y_true, y_pred)), axis=-1)


class MeanSquaredError:
    """The mean of the squared errors of a whole batch, a scalar.

    >>> import minitape as tf
    >>> tf.keras.losses.MeanSquaredError()([[1.0], [2.0]], [[3.0], [5.0]]).numpy()
    np.float32(6.5)
    """

    _loss_function = staticmethod(mean_squared_error)

    def __call__(self, y_true: Value, y_pred: Value) -> Tensor:
        return reduce_mean(self._loss_function(y_true, y_pred))


class MeanAbsoluteError(MeanSquaredError):
    """The mean of the absolute errors of a whole batch, a scalar.

    >>> import minitape as tf
    >>> tf.keras.losses.MeanAbsoluteError()([[1.0], [2.0]], [[3.0], [5.0]]).numpy()
    np.float32(2.5)
    """

    _loss_function = staticmethod(mean_absolute_error)


# -- optimizers ------------------------------------------------------------------------------------


class Optimizer:
    """The base class of optimizers: a step takes pairs of a gradient and a variable."""

    def __init__(self, learning_rate: float, name: str | None = None) -> None:
        self.name, self.learning_rate = name or _create_unique_name(self), learning_rate
        with TemporaryAttributes(state, scope=(self.name,)):
            self.iterations = KerasVariable(np.int64(0), False, "iteration")
        self._slots: dict[int, tuple[Object, list[ResourceVariable]]] = {}

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Tensor | None, Object]]) -> KerasVariable:
        """One step; variables without a gradient are left alone, with a warning. Returns the number of steps.

        ValueError when no variable has a gradient.
        """
        pairs = list(grads_and_vars)
        unreached = [v for g, v in pairs if g is None]
        if len(unreached) == len(pairs):
            raise hooks.add_none_reasons(ValueError("No gradients provided for any variable."), unreached)
        if unreached:
            names = [getattr(v, "path", v.name) for v in unreached]
            warnings.warn(
                f"Gradients do not exist for variables {names} when minimizing the loss.\n"
                f"{hooks.describe_none_reasons(unreached)}",
                stacklevel=2,
            )
        self.iterations.value.assign_add(1)
        self._rate_by_dtype: dict = {}  # of this step, by dtype
        for gradient, variable in pairs:
            if gradient is not None:
                resource = unwrap_keras_variable(variable)
                resource.assign_sub(self._compute_change(convert_to_tensor(gradient), resource))
        return self.iterations

    def _find_or_create_slots(self, variable: ResourceVariable, count: int) -> list[ResourceVariable]:
        """Return what the rule remembers of a variable from step to step: so many variables, zeros at first."""
        if id(variable) not in self._slots:
            with init_scope():
                slots = [ResourceVariable(zeros(variable.shape, variable.dtype), trainable=False) for _ in range(count)]
            self._slots[id(variable)] = variable, slots
        return self._slots[id(variable)][1]

    def _compute_change(self, gradient: Tensor, variable: ResourceVariable) -> Tensor:
        """Return the change that is subtracted from the variable."""
        raise NotImplementedError


class SGD(Optimizer):
    """Plain gradient descent, ``w -= learning_rate * gradient``; with ``momentum`` the earlier steps go on.

    >>> import minitape as tf
    >>> v = tf.Variable(1.0)
    >>> int(tf.keras.optimizers.SGD(0.5).apply_gradients([(tf.constant(1.0), v)]))
    1
    >>> v.numpy()
    np.float32(0.5)
    """

    def __init__(
        self, learning_rate: float = 0.01, momentum: float = 0.0, nesterov: bool = False, *, name: str | None = None
    ) -> None:
        if not 0 <= momentum <= 1:
            raise ValueError(f"momentum must be a number from 0 to 1, got {momentum!r}")
        super().__init__(learning_rate, name)
        self.momentum, self.nesterov = momentum, nesterov

    def _compute_change(self, gradient: Tensor, variable: ResourceVariable) -> Tensor:
        step: Tensor = gradient * self.learning_rate
        if not self.momentum:
            return step
        (velocity,) = self._find_or_create_slots(variable, 1)
        velocity.assign(velocity * self.momentum + step)
        return velocity * self.momentum + step if self.nesterov else velocity.value()


class Adam(Optimizer):
    """Steps scaled by running means of the gradient and of its square.

    >>> import minitape as tf
    >>> v = tf.Variable(1.0)
    >>> int(tf.keras.optimizers.Adam(0.1).apply_gradients([(tf.constant(3.0), v)]))
    1
    >>> v.numpy().round(3)
    np.float32(0.9)
    """

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        *,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, name)
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon

    def _compute_change(self, gradient: Tensor, variable: ResourceVariable) -> Tensor:
        (mean, squares), dtype = self._find_or_create_slots(variable, 2), variable.dtype
        if dtype not in self._rate_by_dtype:  # one for all variables of a dtype
            steps = cast(self.iterations, dtype)
            correction_1, correction_2 = (1.0 - pow(cast(beta, dtype), steps) for beta in (self.beta_1, self.beta_2))
            self._rate_by_dtype[dtype] = self.learning_rate * sqrt(correction_2) / correction_1
        mean.assign_add((gradient - mean) * (1 - self.beta_1))
        squares.assign_add((square(gradient) - squares) * (1 - self.beta_2))
        return mean * self._rate_by_dtype[dtype] / (sqrt(squares) + self.epsilon)
