"""What a layer holds: weights, inner layers, metrics and losses, its own and those of the layers inside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..engine.tensor.tensor import Tensor
from ..engine.values import nest
from ..engine.values.class_names import methods_of
from . import initializers, regularizers
from .base import Tracking, name_scope, standardize_dtype
from .variable import Variable


@methods_of("Layer")
class Stateful(Tracking):
    """The part of a layer that keeps state."""

    name: str
    built: bool
    _dtype: str
    _trainable: bool
    _added_losses: list

    def _check_super_called(self) -> None:
        if "_call_signature" not in self.__dict__:
            raise RuntimeError(
                f"In layer '{type(self).__name__}', you forgot to call `super().__init__()` as the first "
                "statement in the `__init__()` method. Go add it!"
            )

    def add_weight(
        self,
        *args: Any,
        shape: Any = None,
        initializer: Any = None,
        dtype: Any = None,
        trainable: bool = True,
        regularizer: Any = None,
        name: str | None = None,
    ) -> Variable:
        """Creates a weight: of scalar shape by default, ``glorot_uniform`` for floats and zeros for other types.

        ``shape``, ``initializer`` and ``dtype`` may come in this order without their names. ``regularizer`` is a
        function of the weight that adds a penalty to ``losses``, or the name of one.

        >>> import minitape as tf
        >>> layer = tf.keras.layers.Layer(name="scale")
        >>> layer.add_weight(shape=(2,), initializer="ones", name="factor")
        <Variable path=scale/factor, shape=(2,), dtype=float32, value=[1. 1.]>
        """
        self._check_super_called()
        shape, initializer, dtype = _by_place(args, {"shape": shape, "initializer": initializer, "dtype": dtype})
        kind = self._dtype if dtype is None else standardize_dtype(dtype)
        if initializer is None:
            initializer = "glorot_uniform" if "float" in kind else "zeros"
        with name_scope(self.name, caller=self):
            made = Variable(initializers.get(initializer), () if shape is None else shape, kind, trainable, name)
        made.regularizer = regularizers.get(regularizer)
        self._note("", made)
        if not self.trainable:
            made.trainable = False
        return made

    @property
    def trainable(self) -> bool:
        """Whether training changes the weights; setting it sets it for all inner layers."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: Any) -> None:
        self._trainable = bool(value)
        for variable in self._parts("variables"):
            if variable._made_trainable:
                variable.trainable = self._trainable
        for layer in self._layers:
            layer.trainable = self._trainable

    @property
    def _layers(self) -> list:
        return self._parts("layers")

    def _flatten_layers(self) -> Iterator:
        """This layer and those inside it, each once."""
        seen: set[int] = set()
        waiting: list = [self]
        while waiting:
            layer = waiting.pop(0)
            if id(layer) not in seen:
                seen.add(id(layer))
                yield layer
                waiting[:0] = layer._layers

    def _collected(self, seeds: bool) -> list[Variable]:
        """The variables of this layer and of those inside it, each once: of each layer first those made trainable."""
        parts = self._all_parts()
        found = [part for part in parts if part._tracked_as == "variables"]
        found.sort(key=lambda variable: not variable._made_trainable)
        if seeds:
            found += [part.state for part in parts if part._tracked_as == "seeds"]
        for part in parts:
            if part._tracked_as == "layers":
                found += part._collected(seeds)
        return list({id(variable): variable for variable in found}.values())

    @property
    def variables(self) -> list[Variable]:
        """All weights, those of inner layers and the states of random generators included."""
        return self._collected(True)

    @property
    def weights(self) -> list[Variable]:
        """All weights, those of inner layers included."""
        return self._collected(False)

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
    def metrics(self) -> list:
        """The metrics that are attributes, those of inner layers included."""
        return [*self._parts("metrics"), *[m for layer in self._layers for m in layer.metrics]]

    def get_weights(self) -> list:
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
        """The number of numbers in the weights; ValueError before the layer is built."""
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on layer '{self.name}', but the layer isn't built. You "
                "can build it manually via: `layer.build(input_shape)`."
            )
        return sum(v.shape.num_elements() or 0 for v in self.weights)

    # -- losses ------------------------------------------------------------------------------------

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
    def losses(self) -> list:
        """The scalars given to ``add_loss`` in the last call, and the penalties of regularizers."""
        added = [loss for layer in self._flatten_layers() for loss in layer._added_losses]
        return added + [v.regularizer(v) for v in self.trainable_weights if v.regularizer is not None]

    def _clear_losses(self) -> None:
        for layer in self._flatten_layers():
            layer._added_losses.clear()


def _by_place(args: tuple, named: dict[str, Any]) -> list:
    """The first arguments of ``add_weight``, given by place or by name; ValueError for both, and for a name as the
    shape.
    """
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
