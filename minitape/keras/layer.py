"""``tf.keras.Layer``: an object with weights, built when it first sees an input.

What happens when a layer is called: its inputs become tensors of its float type, ``build(input_shape)`` runs if it has
not yet, ``training`` is handed down from the layer around it, and ``call`` computes. On a symbolic input
(``tf.keras.Input``) nothing is computed: the call is noted, for a model to replay (:mod:`minitape.keras.symbolic`).
"""

from __future__ import annotations

import inspect
import warnings
from typing import Any

from .. import tf
from ..engine import nest
from ..engine.evidence import birth
from . import base
from .base import current, name_scope, standardize_dtype
from .calls import (
    InputSpec,  # noqa: F401 - layers take it from here
    all_tensors,
    check_inputs,
    is_tensor,
    remembered_init,
    shapes_of,
    with_arguments,
    wrapped_build,
)
from .state import Stateful
from .tracking import Store


class Operation:
    """What can stand in a symbolic graph: it has a name and a ``call``."""

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = base.auto_name(type(self).__name__)
        if not isinstance(name, str) or "/" in name:
            raise ValueError(
                "Argument `name` must be a string and cannot contain character `/`. Received: "
                f"name={name} (of type {type(name)})"
            )
        self.name = name
        birth(self)
        self._inbound_nodes: list[Any] = []


class Layer(Stateful, Operation):
    """The base class of layers.

    Subclasses create weights in ``build(input_shape)`` with ``add_weight`` and compute in ``call(inputs)``. Layers that
    are attributes are part of it. ``call`` may take ``training``. Inputs of another float type are cast to ``dtype``
    first, unless ``autocast`` is False; an ``activity_regularizer`` adds a penalty on the outputs to ``losses``. Raises
    ValueError for arguments that are not known, for inputs that ``input_spec`` does not allow, and for positional
    arguments that are no tensors. See https://keras.io/api/layers/base_layer/.

    >>> import minitape as tf
    >>> class Scale(tf.keras.Layer):
    ...     def build(self, input_shape):
    ...         self.factor = self.add_weight(shape=(input_shape[-1],), initializer="ones", name="factor")
    ...     def call(self, x):
    ...         return x * self.factor
    >>> layer = Scale(name="scale")
    >>> layer.built, layer(tf.constant([[2.0, 3.0]])).numpy(), [w.path for w in layer.weights]
    (False, array([[2., 3.]], dtype=float32), ['scale/factor'])
    """

    _tracked_as = "layers"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "build" in vars(cls):
            cls.build = wrapped_build(vars(cls)["build"])
        if "__init__" in vars(cls):
            cls.__init__ = remembered_init(vars(cls)["__init__"])

    def __init__(
        self,
        *,
        activity_regularizer: Any = None,
        trainable: bool = True,
        dtype: Any = None,
        autocast: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        from . import regularizers

        object.__setattr__(self, "_store", Store())
        super().__init__(name)
        self._dtype = standardize_dtype(dtype)
        self.autocast = autocast
        self.activity_regularizer = regularizers.get(activity_regularizer)
        self._take_rest(kwargs)
        if not isinstance(trainable, bool):
            raise ValueError(
                f"Expected `trainable` to be a boolean. Received: trainable={trainable} (of type {type(trainable)})"
            )
        self._trainable = trainable
        self.built = False
        self._path: str | None = None
        self._build_shape: Any = None
        self._other_build_shapes: tuple[Any, ...] = ()
        self.input_spec: Any = None
        self.supports_masking = type(self).compute_mask is not Layer.compute_mask
        self._added_losses: list[Any] = []
        self._call_signature = inspect.signature(self.call)
        self._takes_training = "training" in self._call_signature.parameters
        self._training_place = _position(self._call_signature, "training")
        self._takes_mask = "mask" in self._call_signature.parameters
        self._takes_masks = self._takes_mask or any(n.endswith("_mask") for n in self._call_signature.parameters)

    def _take_rest(self, kwargs: dict[str, Any]) -> None:
        """Takes the old names of the shape of the inputs; ValueError for what is not there and for what is not known."""
        shape = kwargs.pop("input_shape", None)
        if "input_dim" in kwargs:
            shape = (kwargs.pop("input_dim"),)
        if shape is not None:
            warnings.warn(
                "Do not pass an `input_shape`/`input_dim` argument to a layer. When using Sequential models, "
                "prefer using an `Input(shape)` object as the first layer in the model instead.",
                stacklevel=3,
            )
            self._input_shape_arg = tuple(shape)
        for name, default in self._declined.items():
            value = kwargs.pop(name, default)
            if value != default:
                raise ValueError(f"minitape's {type(self).__name__} has no `{name}`. Received: {name}={value}")
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments passed to {type(self).__name__}: {kwargs}")

    _keeps_dtype = False  # whether the output has the type of the input, which need not be a float
    _declined: dict[str, Any] = {}  # noqa: RUF012 - arguments of Keras that only their default is accepted for

    # -- what subclasses define ---------------------------------------------------------------------------------------

    def build(self, input_shape: Any) -> None:
        """Creates the weights; called with the shape of the first input."""
        self._check_super_called()
        if type(self).build is Layer.build and any(not layer.built for layer in self._layers):
            warnings.warn(
                f"`build()` was called on layer '{self.name}', however the layer does not have a `build()` method "
                "implemented and it looks like it has unbuilt state. This will cause the layer to be marked as built, "
                "despite not being actually built, which may cause failures down the line. Make sure to implement a "
                "proper `build()` method.",
                stacklevel=2,
            )
        self._built_with(input_shape)

    def _built_with(self, shape: Any, *others: Any) -> None:
        self._build_shape, self._other_build_shapes = shape, others
        self.built = True
        self._store.lock()

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Computes the output."""
        raise NotImplementedError(f"Layer {type(self).__name__} does not have a `call` method implemented.")

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """The mask of the output, given that of the input.

        >>> import minitape as tf
        >>> embedding = tf.keras.layers.Embedding(10, 2, mask_zero=True)
        >>> embedding.compute_mask(tf.constant([[3, 4, 0]])).numpy()
        array([[ True,  True, False]])
        """
        return previous_mask

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for an input of this shape.

        >>> import minitape as tf
        >>> tf.keras.layers.Dense(3).compute_output_shape((None, 2))
        (None, 3)
        """
        from .symbolic import KerasTensor, tried

        given = KerasTensor(input_shape, self._dtype, name="given")
        return nest.map_structure(lambda t: t.shape, tried(self, (given,), {}))

    # -- calling ------------------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from .symbolic import any_symbolic, note_call

        self._check_super_called()
        given = kwargs
        if self._converts_inputs:
            args = tuple([self._converted(a) for a in args])
            kwargs = {name: self._converted(value) for name, value in kwargs.items()}
        tensors = nest.flatten(args)
        for arg in tensors:
            if arg is not None and not is_tensor(arg) and not hasattr(arg, "__array__"):
                raise ValueError(
                    "Only input tensors may be passed as positional arguments. The following argument value should be "
                    f"passed as a keyword argument: {arg} (of type {type(arg)})"
                )
        first = self._first(args, kwargs)
        if args or kwargs:
            self._check_input(first)
        outermost = current.call is None
        if outermost:
            current.call = {}
            self._clear_losses()
        around = current.call.get("training")
        try:
            with name_scope(self.name, caller=self):
                self._hand_down(args, kwargs)
                if not self.built:
                    self._build_for(args, kwargs)
                mask = kwargs.get("mask")
                before = base.get_keras_masks(first) if mask is None else mask
                if any_symbolic(tensors) or (given and any_symbolic(given)):
                    outputs = note_call(self, given, args, kwargs)
                else:
                    outputs = self._run(args, kwargs)
                    self._add_activity_loss(outputs)
            self.built = True
            self._mask_outputs(first, before, outputs)
            return outputs
        finally:
            if outermost:
                current.call = None
            else:
                current.call["training"] = around

    _converts_inputs = True

    def _first(self, args: Any, kwargs: Any) -> Any:
        return args[0] if args else next(iter(kwargs.values()), None)

    def _converted(self, value: Any) -> Any:
        return nest.map_structure(self._converted_leaf, value) if nest.is_nested(value) else self._converted_leaf(value)

    def _converted_leaf(self, x: Any) -> Any:
        """Arrays become tensors, floats of another type are cast; anything else stays."""
        if hasattr(x, "_composite"):
            return x
        mask = None
        if not is_tensor(x):
            if not hasattr(x, "__array__"):
                return x
            x = base.convert(x)
        else:
            mask = base.get_keras_mask(x)
        kind = standardize_dtype(x.dtype)
        if self.autocast and "float" in kind and kind != self._dtype and "float" in self._dtype:
            x = x.cast(self._dtype) if hasattr(x, "_keras_history") else base.convert(x, self._dtype)
            if mask is not None:
                base.set_keras_mask(x, mask)
        return x

    def _check_input(self, first: Any) -> None:
        if self.input_spec is not None:
            check_inputs(self.input_spec, first, self.name)

    def _hand_down(self, args: Any, kwargs: dict[str, Any]) -> None:
        """Fills in ``training`` (given, else that of the layer around it, else the default) and masks."""
        place = self._training_place
        positional = place is not None and place < len(args)
        if "training" in kwargs:
            training = kwargs["training"] if self._takes_training else kwargs.pop("training")
        else:
            training = args[place] if positional else None
        if training is None:
            training = current.call.get("training")
        if training is None and self._takes_training:
            default = self._call_signature.parameters["training"].default
            training = None if default is inspect.Parameter.empty else default
        current.call["training"] = training
        if self._takes_training and training is not None and not positional:
            kwargs["training"] = training
        if current.masks and self._takes_masks:
            self._hand_down_masks(args, kwargs)

    def _hand_down_masks(self, args: Any, kwargs: dict[str, Any]) -> None:
        """Fills in ``mask`` where one argument holds tensors; where several do, ``x_mask`` for the argument ``x``."""
        parameters = list(self._call_signature.parameters)
        given = self._call_signature.bind_partial(*args, **kwargs).arguments
        tensors = {name: value for name, value in given.items() if all_tensors(value)}
        for name, value in tensors.items():
            wanted = "mask" if len(tensors) == 1 else f"{name}_mask"
            if wanted in parameters[len(args) :] and given.get(wanted) is None:
                mask = base.get_keras_masks(value)
                if mask is not None:
                    kwargs[wanted] = mask

    def _build_for(self, args: Any, kwargs: Any) -> None:
        """Builds the layer for these inputs; without a ``build`` of its own, ``call`` builds what is inside."""
        if type(self).build is Layer.build:
            return
        bound = self._call_signature.bind(*args, **kwargs).arguments
        shapes = {
            f"{name}_shape": shapes_of(value)
            for name, value in bound.items()
            if name not in ("mask", "training") and all_tensors(value)
        }
        wanted = list(inspect.signature(self.build).parameters.values())
        named = [p.name for p in wanted if p.kind in (p.POSITIONAL_OR_KEYWORD, p.POSITIONAL_ONLY, p.KEYWORD_ONLY)]
        if len(named) == 1:
            self.build(next(iter(shapes.values()), None))
        else:
            self._check_build_names(named)
            self.build(**{name: shapes[name] for name in named if name in shapes})
        self._check_input(self._first(args, kwargs))

    def _check_build_names(self, named: list[str]) -> None:
        start = (
            "For a `build()` method with more than one argument, all arguments should have a `_shape` suffix and "
            "match an argument from `call()`. E.g. `build(self, foo_shape, bar_shape)`  For layer "
            f"'{type(self).__name__}', "
        )
        for name in named:
            if not name.endswith("_shape"):
                raise ValueError(f"{start}Received `build()` argument `{name}`, which does not end in `_shape`.")
            if name.removesuffix("_shape") not in self._call_signature.parameters:
                raise ValueError(
                    f"{start}received `build()` argument `{name}`, but `call()` does not have argument "
                    f"`{name.removesuffix('_shape')}`."
                )

    def _run(self, args: Any, kwargs: Any) -> Any:
        """``call``, whose errors are told which layer they come from."""
        try:
            return self.call(*args, **kwargs)
        except Exception as error:
            if isinstance(error, TypeError):
                self._call_signature.bind(*args, **kwargs)  # which says what is wrong with the call in Keras's words
            told = with_arguments(error, type(self).__name__, self._call_signature, args, kwargs)
            if told is error:
                raise
            raise told.with_traceback(error.__traceback__) from None

    def _add_activity_loss(self, outputs: Any) -> None:
        if self.activity_regularizer is not None:
            for output in nest.flatten(outputs):
                loss = self.activity_regularizer(output)
                self.add_loss(loss / base.convert(_batch_of(output), loss.dtype.name) if output.ndim else loss)

    def _mask_outputs(self, first: Any, before: Any, outputs: Any) -> None:
        """Notes the masks of the outputs, given those that the first argument had."""
        if self.supports_masking:
            masks = self.compute_mask(first, before)
            if masks is not None:
                for output, mask in zip(nest.flatten(outputs), nest.flatten(masks), strict=False):
                    if mask is not None and base.get_keras_mask(output) is None:
                        base.set_keras_mask(output, mask)
        elif before is not None:
            warnings.warn(
                f"Layer '{self.name}' (of type {type(self).__name__}) was passed an input with a mask attached to it. "
                "However, this layer does not support masking and will therefore destroy the mask information. "
                "Downstream layers will not see the mask.",
                stacklevel=3,
            )

    # -- configuration ------------------------------------------------------------------------------------------------

    _config: str = ""  # the arguments of built-in layers, in the order in which Keras writes them

    def get_config(self) -> dict[str, Any]:
        """The arguments with which another layer like this can be made.

        >>> import minitape as tf
        >>> config = tf.keras.layers.Dense(3, activation="relu").get_config()
        >>> config["units"], config["activation"]
        (3, 'relu')
        """
        from .serial import plain, policy

        common = {"trainable": self.trainable, "dtype": policy(self.dtype)}
        if self.activity_regularizer is not None:
            common["activity_regularizer"] = plain(self.activity_regularizer)
        if (
            self._config
            or type(self).get_config is not Layer.get_config
            or type(self).__module__.startswith("minitape.")
        ):
            own = {n: plain(getattr(self, n, self._declined.get(n))) for n in self._config.split()}
            return {"name": self.name, **common, **own}
        own = {n: plain(v) for n, v in self._init_arguments.items() if n not in ("name", "trainable", "dtype")}
        return {**own, **common}

    _init_arguments: dict[str, Any] = {}  # noqa: RUF012 - replaced by each instance

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Layer:
        """The layer with these arguments.

        >>> import minitape as tf
        >>> layer = tf.keras.layers.Dense(3, activation="relu")
        >>> tf.keras.layers.Dense.from_config(layer.get_config()).units
        3
        """
        if isinstance(config.get("dtype"), dict):
            config = {**config, "dtype": config["dtype"]["config"]["name"]}
        return cls(**config)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"

    __str__ = __repr__

    @property
    def input(self) -> Any:
        """The symbolic input of the first call; AttributeError before one."""
        return self._node("input").inputs

    @property
    def output(self) -> Any:
        """The symbolic output of the first call; AttributeError before one."""
        return self._node("output").outputs

    def _node(self, what: str) -> Any:
        if not self._inbound_nodes:
            raise AttributeError(f"The layer {self.name} has never been called and thus has no defined {what}.")
        return self._inbound_nodes[0]


def _batch_of(output: Any) -> Any:
    """The size of a batch by which a penalty is divided, at least 1; a tensor where only a run of the graph knows it."""
    size = output.shape[0]
    return tf.maximum(tf.shape(output)[0], 1) if size is None else max(size, 1)


def _position(signature: inspect.Signature, name: str) -> int | None:
    """Which positional argument a parameter takes; None for one that is given by name only, or not there."""
    for position, parameter in enumerate(signature.parameters.values()):
        if parameter.kind is parameter.VAR_POSITIONAL:
            return None
        if parameter.name == name:
            return None if parameter.kind is parameter.KEYWORD_ONLY else position
    return None
