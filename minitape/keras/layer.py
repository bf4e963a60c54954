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
from ..engine.recording.evidence import note_creation
from ..engine.tensor.tensor import EagerTensor
from ..engine.values import nest
from . import base, regularizers
from .base import current, is_keras_tensor, name_scope, now, standardize_dtype
from .calls import all_tensors, check_inputs, is_tensor, with_arguments, wrapped_build
from .state import Stateful


class Layer(Stateful):
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
    >>> layer.built, layer(tf.constant([[2.0, 3.0]])).numpy(), [w.path for w in layer.weights], layer.count_params()
    (False, array([[2., 3.]], dtype=float32), ['scale/factor'], 2)
    """

    _tracked_as = "layers"
    _inbound_nodes: list

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "build" in vars(cls):
            cls.build = wrapped_build(vars(cls)["build"])  # type: ignore[method-assign]

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
        name = base.auto_name(type(self).__name__) if name is None else name
        if not isinstance(name, str) or "/" in name:
            raise ValueError(
                "Argument `name` must be a string and cannot contain character `/`. Received: "
                f"name={name} (of type {type(name)})"
            )
        self.name, self._made_at = name, now()
        note_creation(self)
        # the calls on symbolic tensors, and what `add_loss` was given: neither holds parts of the layer
        vars(self).update(_inbound_nodes=[], _added_losses=[])
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
        self.path: str | None = None  # the names of the layers around it and its own, once it is built
        self._build_shape: Any = None
        self._other_build_shapes: tuple = ()
        self.input_spec: Any = None
        self._call_signature = inspect.signature(self.call)
        training = self._call_signature.parameters.get("training")
        self._takes_training = training is not None
        self._training_default = None if training is None or training.default is training.empty else training.default
        by_place = [p.name for p in self._call_signature.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        self._training_place = by_place.index("training") if "training" in by_place else len(by_place)

    def _take_rest(self, kwargs: dict[str, Any]) -> None:
        """Takes the old names of the shape of the inputs; ValueError for what is not known."""
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
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments passed to {type(self).__name__}: {kwargs}")

    _keeps_dtype = False  # whether the output has the type of the input, which need not be a float

    # -- what subclasses define --------------------------------------------------------------------

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
        self.built = self._locked = True

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Computes the output."""
        raise NotImplementedError(f"Layer {type(self).__name__} does not have a `call` method implemented.")

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for an input of this shape.

        >>> import minitape as tf
        >>> tf.keras.layers.Dense(3).compute_output_shape((None, 2))
        (None, 3)
        """
        from .symbolic import KerasTensor, trial_outputs

        given = KerasTensor(input_shape, self._dtype, name="given")
        return nest.map_structure(lambda t: t.shape, trial_outputs(self, (given,), {}))

    # -- calling -----------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._check_super_called()
        given = kwargs
        args = tuple([self._converted(a) for a in args])
        kwargs = {name: self._converted(value) for name, value in kwargs.items()}
        symbolic = bool(given) and any(map(is_keras_tensor, nest.flatten(given)))
        for arg in nest.flatten(args):
            if type(arg) is EagerTensor:
                continue
            if arg is not None and not is_tensor(arg) and not hasattr(arg, "__array__"):
                raise ValueError(
                    "Only input tensors may be passed as positional arguments. The following argument value should be "
                    f"passed as a keyword argument: {arg} (of type {type(arg)})"
                )
            symbolic = symbolic or is_keras_tensor(arg)
        if args or kwargs:
            self._check_input(self._first(args, kwargs))
        outer = current.call
        if outer is None:
            self._clear_losses()
        with name_scope(self.name, caller=self):  # which also sets back the call
            current.call = (self._hand_down(args, kwargs, None if outer is None else outer[0]),)
            if not self.built:
                self._build_for(args, kwargs)
            if symbolic:
                from .symbolic import note_call

                outputs = note_call(self, given, args, kwargs)
            else:
                outputs = self._run(args, kwargs)
                if self.activity_regularizer is not None:
                    self._add_activity_loss(outputs)
        self.built = True
        return outputs

    def _first(self, args: Any, kwargs: Any) -> Any:
        return args[0] if args else next(iter(kwargs.values()), None)

    def _converted(self, value: Any) -> Any:
        if type(value) is EagerTensor and value.dtype.name == self._dtype:  # the usual case
            return value
        return nest.map_structure(self._converted_leaf, value) if nest.is_nested(value) else self._converted_leaf(value)

    def _converted_leaf(self, x: Any) -> Any:
        """Arrays become tensors, floats of another type are cast; anything else stays."""
        if hasattr(x, "_composite"):
            return x
        if not is_tensor(x):
            if not hasattr(x, "__array__"):
                return x
            x = base.convert(x)
        kind = standardize_dtype(x.dtype)
        if self.autocast and "float" in kind and kind != self._dtype and "float" in self._dtype:
            x = x.cast(self._dtype) if hasattr(x, "_keras_history") else base.convert(x, self._dtype)
        return x

    def _check_input(self, first: Any) -> None:
        if self.input_spec is not None:
            check_inputs(self.input_spec, first, self.name)

    def _hand_down(self, args: Any, kwargs: dict[str, Any], around: Any) -> Any:
        """Returns ``training``, and fills it in: given, else that of the layer ``around``, else the default."""
        if not self._takes_training:
            training = kwargs.pop("training", None)
            return around if training is None else training
        if self._training_place < len(args):
            training = args[self._training_place]
            return around if training is None else training
        training = kwargs.get("training")
        if training is None:
            training = self._training_default if around is None else around
        if training is not None:
            kwargs["training"] = training
        return training

    def _build_for(self, args: Any, kwargs: Any) -> None:
        """Builds the layer for these inputs; without a ``build`` of its own, ``call`` builds what is inside."""
        if type(self).build is Layer.build:
            return
        bound = self._call_signature.bind(*args, **kwargs).arguments
        shapes = {
            f"{name}_shape": nest.map_structure(lambda x: base.standardize_shape(x.shape), value)
            for name, value in bound.items()
            if name not in ("mask", "training") and all_tensors(value)
        }
        wanted = list(inspect.signature(self.build).parameters.values())
        named = [p.name for p in wanted if p.kind in (p.POSITIONAL_OR_KEYWORD, p.POSITIONAL_ONLY, p.KEYWORD_ONLY)]
        if len(named) == 1:
            self.build(next(iter(shapes.values()), None))
        else:
            self.build(**{name: shapes[name] for name in named if name in shapes})
        self._check_input(self._first(args, kwargs))

    def _run(self, args: Any, kwargs: Any) -> Any:
        """Runs ``call``, and names the layer in its errors."""
        try:
            return self.call(*args, **kwargs)
        except Exception as error:
            again = with_arguments(error, type(self).__name__, self._call_signature, args, kwargs)
            if again is error:
                raise
            raise again.with_traceback(error.__traceback__) from None

    def _add_activity_loss(self, outputs: Any) -> None:
        for output in nest.flatten(outputs):
            loss = self.activity_regularizer(output)
            self.add_loss(loss / base.convert(_batch_of(output), loss.dtype.name) if output.ndim else loss)

    # -- what it is --------------------------------------------------------------------------------

    @property
    def dtype(self) -> str:
        """The name of the type of the weights."""
        return self._dtype

    compute_dtype = dtype

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
    """The size of a batch by which a penalty is divided, at least 1; a tensor where only a run of the graph knows
    it.
    """
    size = output.shape[0]
    return tf.maximum(tf.shape(output)[0], 1) if size is None else max(size, 1)
