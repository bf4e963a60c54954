"""What a layer holds: weights, inner layers, metrics and losses, its own and those of the layers inside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..engine import nest
from ..engine.shown import methods_of
from ..engine.tensor import Tensor
from ..tf.awaited import AWAITED, resume
from . import constraints
from .base import name_scope, standardize_dtype
from .calls import once
from .tracking import Store, might_track
from .variable import Variable


@methods_of("Layer")
class Stateful:
    """The part of a layer that keeps state: what is assigned to its attributes is filed in a ``Store``."""

    _checkpointed: frozenset[str] = frozenset({"_init_arguments"})

    def __setattr__(self, name: str, value: Any) -> None:
        if might_track(value):
            store = self.__dict__.get("_store")
            if store is None:
                store = Store()
                object.__setattr__(self, "_store", store)
            value = store.track(value)
        object.__setattr__(self, name, value)
        if AWAITED in self.__dict__:
            resume(self)

    def __delattr__(self, name: str) -> None:
        value = self.__dict__.get(name)
        object.__delattr__(self, name)
        self._store.drop(value)

    def _check_super_called(self) -> None:
        if "_call_signature" not in self.__dict__:
            raise RuntimeError(
                f"In layer '{type(self).__name__}', you forgot to call `super().__init__()` as the first "
                "statement in the `__init__()` method. Go add it!"
            )

    def add_metric(self, *args: Any, **kwargs: Any) -> None:
        """Refused, as by Keras 3; metrics are given to ``compile``.

        >>> import minitape as tf
        >>> tf.keras.layers.Dense(1).add_metric(tf.constant(1.0))
        Traceback (most recent call last):
            ...
        NotImplementedError: Layer `add_metric()` method is deprecated. Add your metric in ...
        """
        raise NotImplementedError(
            "Layer `add_metric()` method is deprecated. Add your metric in `Model.compile(metrics=[...])`, or create metric "
            "trackers in init() or build() when subclassing the layer or model, then call `metric.update_state()` whenever "
            "necessary."
        )

    def add_weight(
        self,
        *args: Any,
        shape: Any = None,
        initializer: Any = None,
        dtype: Any = None,
        trainable: bool = True,
        autocast: bool = True,
        regularizer: Any = None,
        constraint: Any = None,
        aggregation: str = "none",
        name: str | None = None,
    ) -> Variable:
        """Creates a weight: of scalar shape by default, ``glorot_uniform`` for floats and zeros for other types.

        ``shape``, ``initializer`` and ``dtype`` may come in this order without their names.

        >>> import minitape as tf
        >>> layer = tf.keras.layers.Layer(name="scale")
        >>> layer.add_weight(shape=(2,), initializer="ones", name="factor")
        <Variable path=scale/factor, shape=(2,), dtype=float32, value=[1. 1.]>
        """
        from . import initializers, regularizers

        self._check_super_called()
        shape, initializer, dtype = _by_place(args, {"shape": shape, "initializer": initializer, "dtype": dtype})
        kind = self._dtype if dtype is None else standardize_dtype(dtype)
        if initializer is None:
            initializer = "glorot_uniform" if "float" in kind else "zeros"
        with name_scope(self.name, caller=self):
            made = Variable(
                initializers.get(initializer),
                () if shape is None else shape,
                kind,
                trainable,
                autocast,
                aggregation,
                name=name,
            )
        made.regularizer = regularizers.get(regularizer)
        made.constraint = constraints.get(constraint)
        self._store.add(made)
        if not self.trainable:
            made.trainable = False
        return made

    def add_variable(
        self,
        shape: Any,
        initializer: Any = None,
        dtype: Any = None,
        trainable: bool = True,
        autocast: bool = True,
        regularizer: Any = None,
        constraint: Any = None,
        name: str | None = None,
    ) -> Variable:
        """The same as ``add_weight``.

        >>> import minitape as tf
        >>> tf.keras.layers.Layer().add_variable((), initializer="ones", name="scale").numpy()
        np.float32(1.0)
        """
        return self.add_weight(
            shape=shape,
            initializer=initializer,
            dtype=dtype,
            trainable=trainable,
            autocast=autocast,
            regularizer=regularizer,
            constraint=constraint,
            name=name,
        )

    @property
    def trainable(self) -> bool:
        """Whether training changes the weights; setting it sets it for all inner layers."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: Any) -> None:
        self._trainable = bool(value)
        for variable in self._store.was_trainable:
            variable.trainable = bool(value)
        for layer in self._store.layers:
            layer.trainable = bool(value)

    @property
    def _layers(self) -> list[Any]:
        return self._store.layers

    def _flatten_layers(self, include_self: bool = True) -> Iterator[Any]:
        """This layer and those inside it, each once."""
        seen: set[int] = set()
        waiting: list[Any] = [self] if include_self else list(self._layers)
        while waiting:
            layer = waiting.pop(0)
            if id(layer) not in seen:
                seen.add(id(layer))
                yield layer
                waiting[:0] = layer._layers

    def _own(self, seeds: bool) -> Iterator[Variable]:
        store = self._store
        yield from store.was_trainable
        yield from store.not_trainable
        if seeds:
            yield from (generator.state for generator in store.seeds)
        for layer in self._layers:
            yield from layer._own(seeds)

    @property
    def variables(self) -> list[Variable]:
        """All weights, those of inner layers and the states of random generators included."""
        return once(self._own(True))

    @property
    def weights(self) -> list[Variable]:
        """All weights, those of inner layers included."""
        return once(self._own(False))

    @property
    def trainable_variables(self) -> list[Variable]:
        """The weights that training changes."""
        return [v for v in self.variables if v.trainable] if self.trainable else []

    @property
    def non_trainable_variables(self) -> list[Variable]:
        """The others among ``variables``."""
        return [v for v in self.variables if not v.trainable] if self.trainable else self.variables

    @property
    def trainable_weights(self) -> list[Variable]:
        """The weights that training changes."""
        return [v for v in self.weights if v.trainable] if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Variable]:
        """The others among ``weights``."""
        return [v for v in self.weights if not v.trainable] if self.trainable else self.weights

    @property
    def metrics(self) -> list[Any]:
        """The metrics that are attributes, those of inner layers included."""
        return [*self._store.metrics, *[m for layer in self._layers for m in layer.metrics]]

    @property
    def metrics_variables(self) -> list[Variable]:
        """The variables of ``metrics``."""
        return [v for metric in self.metrics for v in metric.variables]

    def get_weights(self) -> list[Any]:
        """The weights as NumPy arrays.

        >>> import minitape as tf
        >>> layer = tf.keras.layers.Dense(1, kernel_initializer="ones")
        >>> layer.build((None, 2))
        >>> layer.get_weights()
        [array([[1.],
               [1.]], dtype=float32), array([0.], dtype=float32)]
        """
        return [v.numpy() for v in self.weights]

    def set_weights(self, weights: Any) -> None:
        """Sets the weights from arrays; ValueError when their number or a shape differs.

        >>> import minitape as tf
        >>> layer = tf.keras.layers.Dense(1)
        >>> layer.build((None, 2))
        >>> layer.set_weights([tf.constant([[1.0], [2.0]]), tf.constant([3.0])])
        >>> layer(tf.constant([[10.0, 10.0]])).numpy()
        array([[33.]], dtype=float32)
        """
        mine = self.weights
        if len(mine) != len(weights):
            raise ValueError(
                f"You called `set_weights(weights)` on layer '{self.name}' with a weight list of length "
                f"{len(weights)}, but the layer was expecting {len(mine)} weights."
            )
        for variable, value in zip(mine, weights, strict=True):
            if tuple(variable.shape) != tuple(value.shape):
                raise ValueError(
                    f"Layer {self.name} weight shape {variable.shape} is not compatible with provided "
                    f"weight shape {value.shape}."
                )
            variable.assign(value)

    def count_params(self) -> int:
        """The number of numbers in the weights; ValueError before the layer is built.

        >>> import minitape as tf
        >>> layer = tf.keras.layers.Dense(3)
        >>> layer.build((None, 2))
        >>> layer.count_params()
        9
        """
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on layer '{self.name}', but the layer isn't built. You "
                "can build it manually via: `layer.build(input_shape)`."
            )
        return sum(v.shape.num_elements() for v in self.weights)

    path = property(
        lambda self: self._path, doc="The names of the layers around it and its own; None before it is built."
    )
    dtype = property(lambda self: self._dtype, doc="The name of the type of the weights.")
    variable_dtype = compute_dtype = input_dtype = dtype

    # -- losses -------------------------------------------------------------------------------------------------------

    def add_loss(self, loss: Any) -> None:
        """Adds a scalar tensor to ``losses``, until the next call of the outermost layer.

        >>> import minitape as tf
        >>> class Small(tf.keras.layers.Layer):
        ...     def call(self, x):
        ...         self.add_loss(0.5 * tf.reduce_sum(x * x))
        ...         return x
        >>> layer = Small()
        >>> _ = layer(tf.constant([3.0]))
        >>> [float(loss) for loss in layer.losses]
        [4.5]
        """
        for value in nest.flatten(loss):
            if not isinstance(value, Tensor):
                raise ValueError(
                    "`add_loss()` can only be called from inside `build()` or `call()`, on a tensor input. Received "
                    f"invalid value: {value}"
                )
            self._added_losses.append(value)

    @property
    def losses(self) -> list[Any]:
        """The scalars given to ``add_loss`` in the last call, and the penalties of regularizers."""
        added = [loss for layer in self._flatten_layers() for loss in layer._added_losses]
        return added + [v.regularizer(v) for v in self.trainable_weights if v.regularizer is not None]

    def _clear_losses(self) -> None:
        for layer in self._flatten_layers():
            layer._added_losses.clear()


def _by_place(args: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
    """The first arguments of ``add_weight``, given by place or by name; ValueError for both, and for a name as the shape."""
    if args and isinstance(args[0], str):
        raise ValueError(
            f"`name` must be passed as a keyword argument. Received: add_weight('{args[0]}', ...). Use: "
            f"add_weight(shape=..., name='{args[0]}')."
        )
    if len(args) > 3:
        raise TypeError(f"add_weight() takes at most 3 positional arguments but {len(args)} were given.")
    for name, _ in zip(named, args, strict=False):
        if named[name] is not None:
            raise ValueError(f"`{name}` was passed both positionally and as a keyword argument.")
    return [*args, *list(named.values())[len(args) :]]
