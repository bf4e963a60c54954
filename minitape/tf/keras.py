"""The part of ``tf.keras`` that the documents and lessons use: layers, two optimizers and two losses.

The classes and their arguments follow TensorFlow (https://www.tensorflow.org/api_docs/python/tf/keras).

>>> import minitape as tf
>>> dense = tf.keras.layers.Dense(2)
>>> dense.built, dense.variables
(False, [])
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from inspect import getattr_static, signature
from typing import TYPE_CHECKING
from warnings import warn

import numpy as np
from numpy import ndarray

from ..common.api_suggestions import build_attribute_error
from ..engine.backward.targets_and_sources import unwrap_keras_variable
from ..engine.hooks import hooks
from ..engine.record.interrupt_safe import TemporaryAttributes
from ..engine.record.provenance import store_creation_stack
from ..engine.record.thread_state import state
from ..engine.table.accelerator import fast
from ..engine.tensor.conversion import convert_to_tensor
from ..engine.tensor.tensor import Tensor
from ..engine.tensor.variable import ResourceVariable
from ..engine.types import (
    DTypeLike,
    Function,
    Index,
    Object,
    OptionalFlag,
    OptionalNumber,
    OptionalText,
    ShapeLike,
    TensorOperators,
    Value,
)
from ..engine.values import dtypes, nest
from ..engine.values.dtypes import as_dtype
from ..engine.values.shape import TensorShape
from ..functions.settings import init_scope
from ..functions.traced_calls import wrap_for_first_runs
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

_NAME_COUNTS: Counter[str] = Counter()


def _create_unique_name(named_object: Object) -> str:
    """Return a unique name derived from an object's class: ``dense``, then ``dense_1``, ``dense_2`` and so on."""
    name = convert_to_snake_case(type(named_object).__name__)
    number = _NAME_COUNTS[name]
    _NAME_COUNTS[name] += 1
    return f"{name}_{number}" if number else name


class KerasVariable(TensorOperators):
    """A layer's weight, which wraps a ``tf.Variable``.

    As with a ``tf.Variable``, operators and subscripts apply to the current value.

    Attributes:
        value: The wrapped ``tf.Variable``. Pass this attribute to ``tape.watch``.
        name: The name within the layer, such as "kernel".
        path: The name preceded by the names of the enclosing layers, such as "dense/kernel".
        trainable: Whether training may change the weight.
        dtype: The dtype's name, such as "float32".

    >>> import minitape as tf
    >>> v = tf.keras.layers.Dense(1, kernel_initializer="ones", name="d")
    >>> v.build([None, 2])
    >>> v.kernel
    <Variable path=d/kernel, shape=(2, 1), dtype=float32, value=[[1.]
     [1.]]>
    """

    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]  # Comparison is elementwise.

    def __init__(self, value: Value, trainable: bool, name: str):
        """Create the wrapped variable from its initial value."""
        self.value = ResourceVariable(value, trainable=trainable, name=name)
        self.name = name
        self.path = "/".join((*state.scope, name))
        self.trainable = trainable
        self.dtype = self.value.dtype.name

    @property
    def shape(self) -> TensorShape:
        """The sizes of the axes."""
        return self.value.shape

    def numpy(self) -> ndarray:
        """Return the value as a NumPy array or scalar."""
        return self.value.numpy()

    def assign(self, value: Value) -> Tensor:
        """Set the value.

        Args:
            value: A tensor-like value with the weight's shape. The value is cast to the weight's dtype.

        Returns:
            The new value as a tensor.

        Raises:
            ValueError: If the shapes differ.
        """
        value = cast(to_tensor(value), self.dtype)
        self.value.assign(value)
        return value

    def assign_add(self, value: Value) -> Tensor:
        """Add a value to the weight.

        Args:
            value: The value, which is cast to the weight's dtype and broadcast to its shape.

        Returns:
            The new value of the weight.
        """
        return self.assign(self._read_and_watch() + cast(to_tensor(value), self.dtype))

    def assign_sub(self, value: Value) -> Tensor:
        """Subtract a value from the weight.

        Args:
            value: The value, which is cast to the weight's dtype and broadcast to its shape.

        Returns:
            The new value of the weight.
        """
        return self.assign(self._read_and_watch() - cast(to_tensor(value), self.dtype))

    def _read_and_watch(self) -> Tensor:
        return to_tensor(self.value)

    def _to_tensor_requiring_dtype(self, dtype: dtypes.DType | None = None) -> Tensor:
        """Return the value of the wrapped variable (see ``ResourceVariable._to_tensor_requiring_dtype``).

        Args:
            dtype: The dtype that the variable must have. None allows any dtype.
        """
        return self.value._to_tensor_requiring_dtype(dtype)

    def _get_gradient_carrier(self) -> ResourceVariable:
        return self.value

    def __repr__(self) -> str:
        """Return the path, shape, dtype and value in Keras's format."""
        return f"<Variable path={self.path}, shape={self.shape}, dtype={self.dtype}, value={np.array(self.numpy())}>"

    def __array__(self, dtype: Object = None, copy: OptionalFlag = None) -> ndarray:
        """Return the value as a NumPy array."""
        return np.asarray(self.numpy(), dtype)

    def __float__(self) -> float:
        """Return the value of a scalar weight as a float."""
        return float(self.numpy())

    def __int__(self) -> int:
        """Return the value of a scalar weight as an int."""
        return int(self.numpy())

    def __getitem__(self, key: Index) -> Tensor:
        """Return the part of the current value that an index selects."""
        return self.value[key]


def _create_variable_operator(name: str) -> Function:
    return lambda variable, *other: getattr(to_tensor(variable), name)(*other)


_OPERATOR_NAMES = (
    "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow matmul rmatmul "
    "neg abs eq ne lt le gt ge"
)
for _operator_name in _OPERATOR_NAMES.split():
    setattr(KerasVariable, f"__{_operator_name}__", _create_variable_operator(f"__{_operator_name}__"))


# -- layers ----------------------------------------------------------------------------------------


_draw_uniform = wrap_for_first_runs("uniform", uniform)  # A traced function records each draw as a row.


def create_initial_value(initializer: str | Callable | None, shape: ShapeLike, dtype: DTypeLike) -> Value:
    """Create the initial value of a weight.

    The values of "glorot_uniform" lie between -limit and limit, with ``limit = sqrt(6 / (first dimension + last
    dimension))``, as defined by Glorot and Bengio in "Understanding the difficulty of training deep feedforward neural
    networks" (2010).

    Args:
        initializer: "zeros", "ones", "glorot_uniform", or a function that receives a shape and a ``dtype``. None means
            "glorot_uniform".
        shape: The shape of the weight.
        dtype: The dtype of the weight.

    Returns:
        A tensor, or whatever the initializer function returns.

    Raises:
        ValueError: If ``initializer`` is any other name.
    """
    if callable(initializer):
        return initializer(shape, dtype=dtype)
    if initializer == "zeros":
        return zeros(shape, dtype)
    if initializer == "ones":
        return ones(shape, dtype)
    if initializer not in (None, "glorot_uniform"):
        raise ValueError(f"An initializer must be 'glorot_uniform', 'ones', 'zeros' or a function, got {initializer!r}")
    sizes = to_sizes(shape)
    limit = np.sqrt(6.0 / max(1, sizes[0] + sizes[-1])) if sizes else 1.0
    return _draw_uniform(sizes, -limit, limit, dtype)


class _CallContext(threading.local):
    """The ``training`` argument of the layer call that is running in this thread."""

    training: Object = None


_call_context = _CallContext()


@lru_cache(256)
def _has_unfilled_training_parameter(call: Function, positional_count: int) -> bool:
    """Return whether a ``call`` method has a ``training`` parameter that the positional arguments do not fill."""
    return "training" in tuple(signature(call).parameters)[positional_count:]


class Layer:
    """The base class of layers. Subclasses create weights in ``build`` and compute outputs in ``call``.

    Weights are created when the layer receives its first input. ``weights`` is an alias of ``variables``, and
    ``trainable_weights`` is an alias of ``trainable_variables``. The ``training`` argument of a layer is passed to its
    ``call`` method if the method accepts this argument, and to all layers that ``call`` calls without this argument.

    See https://www.tensorflow.org/api_docs/python/tf/keras/layers/Layer.

    Args:
        trainable: Whether training may change the weights.
        dtype: The dtype of the weights and the computation. The default is float32.
        name: The layer's name. By default, the name is derived from the class.

    Attributes:
        name: The layer's name.
        trainable: Whether training may change the weights.
        built: Whether the weights have been created.
        dtype: The dtype's name, such as "float32".

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

    def __init__(self, *, trainable: bool = True, dtype: DTypeLike = None, name: OptionalText = None):
        """Store the arguments without creating weights.

        Args:
            trainable: Whether the weights are trainable.
            dtype: The dtype of the weights. None means float32.
            name: The name. None means a unique name that is derived from the class.
        """
        self.name = name or _create_unique_name(self)
        self.trainable = trainable
        self.built = False
        self.dtype = as_dtype(dtype or "float32").name
        store_creation_stack(self)

    def _open_name_scope(self) -> TemporaryAttributes:
        """Return a context manager that adds the layer's name to the names of new variables."""
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
        """Create a weight of the layer.

        Args:
            shape: The shape of the weight.
            initializer: "ones", "zeros", "glorot_uniform" (the default), or a function that receives a shape and a
                ``dtype``.
            dtype: The weight's dtype. By default, the weight has the layer's dtype.
            trainable: Whether training may change the weight.
            name: The weight's name.

        Returns:
            The weight. Assign it to an attribute of the layer so that ``variables`` includes it.

        Raises:
            ValueError: If ``initializer`` is any other name.
        """
        with self._open_name_scope(), init_scope():
            return KerasVariable(create_initial_value(initializer, shape, dtype or self.dtype), trainable, name)

    def build(self, input_shape: TensorShape) -> None:
        """Create the weights for a given input shape. The base class creates none.

        Args:
            input_shape: The shape of the inputs.
        """

    def call(self, inputs: Tensor) -> Tensor:
        """Compute the layer's output. Subclasses must implement this method.

        Args:
            inputs: A tensor. Float tensors have been cast to the layer's dtype.

        Returns:
            The output tensor.

        Raises:
            NotImplementedError: If the subclass does not implement the method.
        """
        raise NotImplementedError(f"Layer {type(self).__name__} does not have a `call` method implemented.")

    def __call__(self, inputs: Value, *args: Object, **kwargs: Object) -> Tensor:
        """Build the layer if this is its first input, and return the output of ``call``.

        Args:
            inputs: A tensor-like value. Floats are cast to the layer's dtype.
            *args: Further positional arguments for ``call``.
            **kwargs: Further keyword arguments for ``call``.

        Returns:
            The output tensor.
        """
        input_tensor = to_tensor(inputs)
        if input_tensor.dtype.is_floating:
            input_tensor = cast(input_tensor, self.dtype)
        training = kwargs.get("training")
        if training is None:
            training = _call_context.training
        if training is not None:
            kwargs["training"] = training
        if "training" in kwargs and not _has_unfilled_training_parameter(getattr_static(self, "call"), 2 + len(args)):
            del kwargs["training"]
        with self._open_name_scope():
            if not self.built:
                with init_scope():
                    self.build(input_tensor.shape)
                self.built = True
            with TemporaryAttributes(_call_context, training=training):
                return self.call(input_tensor, *args, **kwargs)

    @property
    def variables(self) -> list[KerasVariable]:
        """The weights of the layer and its inner layers, in the order of their assignment to attributes."""
        return [*{id(v): v for v in _iter_layer_weights(self, False)}.values()]

    @property
    def trainable_variables(self) -> list[KerasVariable]:
        """The weights that training may change."""
        return [*{id(v): v for v in _iter_layer_weights(self, True)}.values()]

    weights = variables
    trainable_weights = trainable_variables

    def __repr__(self) -> str:
        """Return the class, the name and the built state as a string."""
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"


def _iter_layer_weights(layer: Layer, only_trainable: bool) -> Iterator[KerasVariable]:
    """Yield the weights of a layer and its inner layers, possibly more than once."""
    if only_trainable and not layer.trainable:
        return
    for member in nest.flatten([*vars(layer).values()]):
        if isinstance(member, Layer):
            yield from _iter_layer_weights(member, only_trainable)
        elif isinstance(member, KerasVariable) and (member.trainable or not only_trainable):
            yield member


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
    """A fully connected layer, which computes ``activation(inputs @ kernel + bias)``.

    The kernel multiplies the last axis of the inputs. The constructor raises ValueError if the activation is unknown or
    ``units`` is not a positive integer. A call raises ValueError if the last dimension of the inputs does not match the
    kernel.

    See https://www.tensorflow.org/api_docs/python/tf/keras/layers/Dense.

    Args:
        units: The last dimension of the outputs.
        activation: A function or one of the names "linear", "relu", "leaky_relu", "sigmoid", "softmax", "softplus" and
            "tanh". By default, no activation is applied.
        use_bias: Whether the layer has a bias.
        kernel_initializer: The kernel's initializer, in any form that ``add_weight`` accepts.
        bias_initializer: The bias's initializer, in any form that ``add_weight`` accepts.
        trainable: Whether training may change the weights.
        dtype: The dtype of the weights and the computation. The default is float32.
        name: The layer's name. By default, the name is derived from the class.

    Attributes:
        units: The last dimension of the outputs.
        use_bias: Whether the layer has a bias.
        activation: The activation function, or None.
        kernel_initializer: The kernel's initializer.
        bias_initializer: The bias's initializer.
        kernel: The weight of shape (last dimension of the inputs, units), once the layer is built.
        bias: The weight of shape (units,), or None, once the layer is built.

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
        name: OptionalText = None,
    ):
        """Check and store the arguments."""
        super().__init__(trainable=trainable, dtype=dtype, name=name)
        if not isinstance(units, (int, np.integer)) or units < 1:
            raise ValueError(f"units must be a positive integer, got {units!r}")
        if isinstance(activation, str) and activation not in _ACTIVATIONS:
            raise ValueError(f"activation must be a function or one of {', '.join(_ACTIVATIONS)}, got {activation!r}")
        self.units = int(units)
        self.use_bias = use_bias
        self.activation = _ACTIVATIONS[activation] if isinstance(activation, str) else activation
        self.kernel_initializer = kernel_initializer
        self.bias_initializer = bias_initializer

    def build(self, input_shape: TensorShape | Sequence[OptionalNumber]) -> None:
        """Create ``kernel`` and ``bias``.

        Args:
            input_shape: The shape of the inputs, with at least two axes.

        Raises:
            ValueError: If there are fewer than two axes.
        """
        if len(input_shape) < 2:
            raise ValueError(f"Layer {self.name} takes inputs with at least two axes, got the shape {input_shape}")
        self.kernel = self.add_weight((input_shape[-1], self.units), self.kernel_initializer, name="kernel")
        self.bias = self.add_weight((self.units,), self.bias_initializer, name="bias") if self.use_bias else None
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        """Multiply the inputs by the kernel, add the bias and apply the activation.

        Args:
            inputs: A tensor of shape (..., first dimension of the kernel).

        Returns:
            A tensor of shape (..., units).

        Raises:
            ValueError: If the last dimension of the inputs does not match the kernel.
        """
        if inputs.shape[-1:] != self.kernel.shape[:1]:
            raise ValueError(
                f"Layer {self.name} takes inputs whose last size is {self.kernel.shape[0]}, got the shape "
                f"{inputs.shape}"
            )
        outputs = cast(inputs, self.dtype) @ self.kernel
        if self.bias is not None:
            outputs = outputs + self.bias
        return outputs if self.activation is None else self.activation(outputs)


class Sequential(Layer):
    """A model that passes the output of each layer to the next one.

    The inputs may have any shape and dtype that the first layer accepts. An unknown method raises AttributeError.

    See https://www.tensorflow.org/api_docs/python/tf/keras/Sequential.

    Args:
        layers: The layers, in the order of the computation.
        trainable: Whether training may change the weights.
        name: The model's name. By default, the name is derived from the class.

    Attributes:
        layers: The list of layers.

    >>> import minitape as tf
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
    >>> model(tf.constant([[1.0, 2.0]])).numpy()
    array([[3.]], dtype=float32)
    """

    def __init__(self, layers: Iterable[Layer] = (), trainable: bool = True, name: OptionalText = None):
        """Store the layers in a list.

        Args:
            layers: The layers, in the order in which they run.
            trainable: Whether the weights are trainable.
            name: The name. None means a unique name.
        """
        super().__init__(trainable=trainable, name=name)
        self.layers = list(layers)

    def add(self, layer: Layer) -> None:
        """Append a layer to the model.

        Args:
            layer: The layer to append.
        """
        self.layers.append(layer)

    def call(self, inputs: Tensor) -> Tensor:
        """Apply all layers in turn and return the output of the last one.

        Args:
            inputs: The input of the first layer, a tensor.

        Returns:
            The output tensor, or ``inputs`` if the model has no layers.
        """
        for layer in self.layers:
            inputs = layer(inputs)
        return inputs

    if not TYPE_CHECKING:  # If type checkers saw this method, they would accept any name.

        def __getattr__(self, name: str) -> Object:
            """Raise AttributeError with a suggestion for a missing method such as ``fit`` or ``compile``."""
            raise build_attribute_error(describe_missing_name(f"keras.Sequential.{name}"), name, self)


# -- losses ----------------------------------------------------------------------------------------


def _compute_signed_error(y_true: Value, y_pred: Value) -> Tensor:
    """Return the true values minus the predictions, in the dtype of the predictions.

    If the ranks are 1 and 2, an axis of size 1 is appended to the vector. If the ranks differ by one in any other way,
    a last axis of size 1 is removed from the larger tensor.
    """
    y = to_tensor(y_pred)
    y = y if y.dtype.is_floating else cast(y, dtypes.float32)
    x = cast(to_tensor(y_true), y.dtype)
    if {x.ndim, y.ndim} == {1, 2}:
        x, y = (t if t.ndim == 2 else expand_dims(t, -1) for t in (x, y))
    elif abs(x.ndim - y.ndim) == 1:
        x, y = (t if t.ndim == min(x.ndim, y.ndim) or t.shape[-1] != 1 else t[..., 0] for t in (x, y))
    return subtract(x, y)


def mean_squared_error(y_true: Value, y_pred: Value) -> Tensor:
    """Return the mean squared error along the last axis.

    This function is differentiable with respect to both arguments.

    See https://www.tensorflow.org/api_docs/python/tf/keras/losses/MSE.

    Args:
        y_true: The true values, a tensor-like value.
        y_pred: The predictions, a tensor-like value with the same shape. Integers are converted to float32.

    Returns:
        A tensor with the dtype of the predictions and their shape without the last axis.

    Raises:
        InvalidArgumentError: If the shapes do not broadcast.

    >>> import minitape as tf
    >>> tf.keras.losses.MSE([[1.0, 2.0]], [[3.0, 5.0]]).numpy()
    array([6.5], dtype=float32)
    """
    return reduce_mean(square(_compute_signed_error(y_true, y_pred)), axis=-1)


def mean_absolute_error(y_true: Value, y_pred: Value) -> Tensor:
    """Return the mean absolute error along the last axis.

    This function is differentiable with respect to both arguments.

    See https://www.tensorflow.org/api_docs/python/tf/keras/losses/MAE.

    Args:
        y_true: The true values, a tensor-like value.
        y_pred: The predictions, a tensor-like value with the same shape. Integers are converted to float32.

    Returns:
        A tensor with the dtype of the predictions and their shape without the last axis.

    Raises:
        InvalidArgumentError: If the shapes do not broadcast.

    >>> import minitape as tf
    >>> tf.keras.losses.MAE([[1.0, 2.0]], [[3.0, 5.0]]).numpy()
    array([2.5], dtype=float32)
    """
    return reduce_mean(absolute(_compute_signed_error(y_true, y_pred)), axis=-1)


class MeanSquaredError:
    """A loss that returns the mean squared error of a whole batch as a scalar.

    Call the loss with the true values and the predictions, two tensor-like values whose shapes broadcast. A call raises
    InvalidArgumentError if the shapes do not broadcast. See
    https://www.tensorflow.org/api_docs/python/tf/keras/losses/MeanSquaredError.

    >>> import minitape as tf
    >>> tf.keras.losses.MeanSquaredError()([[1.0], [2.0]], [[3.0], [5.0]]).numpy()
    np.float32(6.5)
    """

    _loss_function = staticmethod(mean_squared_error)

    def __call__(self, y_true: Value, y_pred: Value) -> Tensor:
        """Return the loss of a batch. As in TensorFlow, the result is computed in float32.

        Args:
            y_true: The true values, a tensor-like value.
            y_pred: The predictions, a tensor-like value with the same shape.

        Returns:
            A float32 scalar.
        """
        truth, prediction = (cast(to_tensor(value), dtypes.float32) for value in (y_true, y_pred))
        return reduce_mean(self._loss_function(truth, prediction))


class MeanAbsoluteError(MeanSquaredError):
    """A loss that returns the mean absolute error of a whole batch as a scalar.

    Call the loss with the true values and the predictions, two tensor-like values whose shapes broadcast. A call raises
    InvalidArgumentError if the shapes do not broadcast. See
    https://www.tensorflow.org/api_docs/python/tf/keras/losses/MeanAbsoluteError.

    >>> import minitape as tf
    >>> tf.keras.losses.MeanAbsoluteError()([[1.0], [2.0]], [[3.0], [5.0]]).numpy()
    np.float32(2.5)
    """

    _loss_function = staticmethod(mean_absolute_error)


# -- optimizers ------------------------------------------------------------------------------------


class Optimizer:
    """The base class of optimizers, which update variables with their gradients.

    Args:
        learning_rate: The factor by which gradients are multiplied.
        name: The optimizer's name. By default, the name is derived from the class.

    Attributes:
        name: The optimizer's name.
        learning_rate: The factor by which gradients are multiplied.
        iterations: The number of steps so far, an int64 weight.
        slot_count: The number of variables that hold the optimizer's state for each trained variable.
    """

    slot_count = 0

    def __init__(self, learning_rate: float, name: OptionalText = None):
        """Store the arguments and create the step counter.

        Args:
            learning_rate: The factor by which gradients are multiplied.
            name: The name. None means a unique name that is derived from the class.
        """
        self.name = name or _create_unique_name(self)
        self.learning_rate = learning_rate
        with TemporaryAttributes(state, scope=(self.name,)):
            self.iterations = KerasVariable(np.int64(0), False, "iteration")
        self._slots: dict[int, tuple[Object, list[ResourceVariable]]] = {}

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Tensor | None, Object]]) -> KerasVariable:
        """Perform one optimization step by updating each variable with its gradient.

        Variables without a gradient are left unchanged. A warning lists these variables and the reasons.

        Args:
            grads_and_vars: Pairs of a gradient (or None) and a variable with the same shape and dtype.

        Returns:
            The step counter ``iterations``.

        Raises:
            ValueError: If all gradients are None, or a variable was not in the first call.
        """
        pairs = list(grads_and_vars)
        is_built = bool(self._slots)
        for _, v in pairs:
            variable = unwrap_keras_variable(v)
            if is_built and id(variable) not in self._slots:
                raise ValueError(
                    f"Unknown variable: {v!r}. This optimizer can only be called for the variables it was originally "
                    "built with. Create a new optimizer for a new set of variables."
                )
            self.find_or_create_slots(variable)
        unreached = [v for g, v in pairs if g is None]
        if len(unreached) == len(pairs):
            raise hooks.add_notes_why_gradients_are_none(
                ValueError("No gradients provided for any variable."), unreached
            )
        if unreached:
            names = [getattr(v, "path", v.name) for v in unreached]
            warn(
                f"Gradients do not exist for variables {names} when minimizing the loss.\n"
                f"{hooks.format_reasons_of_none_or_how_to_ask(unreached)}",
                stacklevel=2,
            )
        self.iterations.value.assign_add(1)
        self._rate_by_dtype: dict = {}  # The cache is emptied, because the rates change with every step.
        resources = [(convert_to_tensor(g), unwrap_keras_variable(v)) for g, v in pairs if g is not None]
        update_variables(self, resources)
        return self.iterations

    def find_or_create_slots(self, variable: ResourceVariable) -> list[ResourceVariable]:
        """Return the variables that hold an optimizer's state for a trained variable, such as running means.

        Args:
            variable: The trained variable.

        Returns:
            A list of `slot_count` variables with the same shape and dtype, all initialized to zero.
        """
        if id(variable) not in self._slots:
            with init_scope():
                slots = [
                    ResourceVariable(zeros(variable.shape, variable.dtype), trainable=False)
                    for _ in range(self.slot_count)
                ]
            self._slots[id(variable)] = variable, slots
        return self._slots[id(variable)][1]

    def compute_decrement_and_new_slots(self, gradient: Object, slots: Sequence) -> tuple[Object, Sequence]:
        """Compute the amount to subtract from a variable and the new values of its slots.

        Args:
            gradient: The gradient, a tensor or an array. The results are of the same kind.
            slots: The `slot_count` values that the previous step returned. They start at zero.

        Returns:
            The amount and the new values of the slots.

        Raises:
            NotImplementedError: Always. Each optimizer overrides this method.
        """
        raise NotImplementedError


@fast.replace_by_fast_form
def update_variables(optimizer: Optimizer, gradients_and_variables: Sequence[tuple[Tensor, ResourceVariable]]) -> None:
    """Update variables one after another. The version in ``speed/`` updates small variables together.

    Args:
        optimizer: The optimizer.
        gradients_and_variables: Pairs of a gradient and a variable.
    """
    for gradient, variable in gradients_and_variables:
        slots = optimizer.find_or_create_slots(variable)
        decrement, new_slots = optimizer.compute_decrement_and_new_slots(gradient, [slot.value() for slot in slots])
        for slot, value in zip(slots, new_slots, strict=True):
            slot.assign(value)
        variable.assign_sub(decrement)


class SGD(Optimizer):
    """The gradient descent optimizer, ``w -= learning_rate * gradient``.

    With ``momentum``, each step also includes a decayed sum of the earlier steps. The update rule follows Keras
    (https://keras.io/api/optimizers/sgd). Variables may have any shape and float dtype.

    Args:
        learning_rate: The factor by which gradients are multiplied.
        momentum: The decay factor of earlier steps, from 0 to 1. Other values raise ValueError.
        nesterov: Whether to use Nesterov momentum.
        name: The optimizer's name. By default, the name is derived from the class.

    Attributes:
        momentum: The decay factor of earlier steps.
        nesterov: Whether Nesterov momentum is used.

    >>> import minitape as tf
    >>> v = tf.Variable(1.0)
    >>> int(tf.keras.optimizers.SGD(0.5).apply_gradients([(tf.constant(1.0), v)]))
    1
    >>> v.numpy()
    np.float32(0.5)
    """

    def __init__(
        self, learning_rate: float = 0.01, momentum: float = 0.0, nesterov: bool = False, *, name: OptionalText = None
    ):
        """Check and store the arguments.

        Args:
            learning_rate: The factor by which gradients are multiplied.
            momentum: The factor by which each step continues the previous one, from 0 to 1.
            nesterov: Whether to use Nesterov's momentum.
            name: The name. None means a unique name.

        Raises:
            ValueError: If ``momentum`` is not a number from 0 to 1.
        """
        if not 0 <= momentum <= 1:
            raise ValueError(f"momentum must be a number from 0 to 1, got {momentum!r}")
        super().__init__(learning_rate, name)
        self.momentum = momentum
        self.nesterov = nesterov
        self.slot_count = 1 if momentum else 0

    def compute_decrement_and_new_slots(self, gradient: Object, slots: Sequence) -> tuple[Object, Sequence]:
        """Return the amount to subtract from a variable and, if there is momentum, the variable's new velocity.

        Args:
            gradient: The gradient, a tensor or an array.
            slots: The velocity, or an empty sequence if momentum is not used.
        """
        step = gradient * self.learning_rate
        if not self.momentum:
            return step, ()
        velocity = slots[0] * self.momentum + step
        return (velocity * self.momentum + step if self.nesterov else velocity), (velocity,)


class Adam(Optimizer):
    """The Adam optimizer, which scales its steps by running means of the gradient and the squared gradient.

    The algorithm is described by Kingma and Ba in "Adam: A Method for Stochastic Optimization"
    (https://arxiv.org/abs/1412.6980). Variables may have any shape and float dtype.

    Args:
        learning_rate: The factor by which gradients are multiplied.
        beta_1: The decay rate of the gradient's running mean.
        beta_2: The decay rate of the squared gradient's running mean.
        epsilon: A small number added to the divisor to avoid division by zero.
        name: The optimizer's name. By default, the name is derived from the class.

    Attributes:
        beta_1: The decay rate of the gradient's running mean.
        beta_2: The decay rate of the squared gradient's running mean.
        epsilon: A small number added to the divisor to avoid division by zero.

    >>> import minitape as tf
    >>> v = tf.Variable(1.0)
    >>> int(tf.keras.optimizers.Adam(0.1).apply_gradients([(tf.constant(3.0), v)]))
    1
    >>> v.numpy().round(3)
    np.float32(0.9)
    """

    slot_count = 2

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        *,
        name: OptionalText = None,
    ):
        """Store the arguments."""
        super().__init__(learning_rate, name)
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon

    def compute_decrement_and_new_slots(self, gradient: Object, slots: Sequence) -> tuple[Object, Sequence]:
        """Return the amount to subtract from a variable and the new running means.

        Args:
            gradient: The gradient, a tensor or an array.
            slots: The running means of the gradient and of the squared gradient.
        """
        is_array = isinstance(gradient, ndarray)
        root = np.sqrt if is_array else sqrt
        rate: Tensor | np.floating
        if is_array and isinstance(self.learning_rate, float):
            rate = self._compute_learning_rate_for_arrays(gradient.dtype.type)
        else:
            rate = self._find_or_compute_learning_rate(as_dtype(gradient.dtype))
            rate = rate.numpy() if is_array else rate
        mean, squares = slots
        mean = mean + (gradient - mean) * (1 - self.beta_1)
        squares = squares + ((gradient * gradient if is_array else square(gradient)) - squares) * (1 - self.beta_2)
        return mean * rate / (root(squares) + self.epsilon), (mean, squares)

    def _compute_learning_rate_for_arrays(self, float_type: type[np.floating]) -> np.floating:
        """Return a step's learning rate for arrays. It is bit-for-bit identical to the rate for tensors."""
        steps = float(self.iterations.numpy())
        # Like `pow`, compute each power in double precision and round once.
        correction_1, correction_2 = (
            1 - float_type(float(float_type(np.float32(beta))) ** steps) for beta in (self.beta_1, self.beta_2)
        )
        return self.learning_rate * np.sqrt(correction_2) / correction_1

    def _find_or_compute_learning_rate(self, dtype: dtypes.DType) -> Tensor:
        """Return a step's learning rate. All variables with the same dtype share this rate."""
        if dtype not in self._rate_by_dtype:
            steps = cast(self.iterations, dtype)
            correction_1, correction_2 = (1.0 - pow(cast(beta, dtype), steps) for beta in (self.beta_1, self.beta_2))
            self._rate_by_dtype[dtype] = self.learning_rate * sqrt(correction_2) / correction_1
        return self._rate_by_dtype[dtype]
