"""Symbolic tensors: what ``tf.keras.Input`` gives, and the graph of layers that a functional model replays.

Calling a layer on one computes nothing: a node is written down, with outputs whose shapes were found by running the
layer on zeros of two sizes; what differs between the two runs is an unknown size.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from .. import tf
from ..engine.recording.block import block, no_tapes
from ..engine.recording.state import state
from ..engine.types import Operators
from ..engine.values import nest
from ..ops.seeds import keep_state
from .base import FLOAT, auto_name, convert, current, standardize_dtype, standardize_shape
from .layer import Layer


class KerasTensor(Operators):
    """A tensor without a value: ``shape`` (unknown sizes are None), ``dtype`` (a name), ``name``.

    >>> import minitape as tf
    >>> tf.keras.Input(shape=(3,), name="x")
    <KerasTensor shape=(None, 3), dtype=float32, sparse=False, ragged=False, name=x>
    """

    _is_keras_tensor = True

    __array_priority__ = 200

    def __init__(self, shape: Any, dtype: Any = "float32", name: str | None = None) -> None:
        self.shape, self.dtype = standardize_shape(shape), standardize_dtype(dtype)
        self.name = name or auto_name("KerasTensor")
        self._keras_history: Any = None

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def __repr__(self) -> str:
        return f"<KerasTensor shape={self.shape}, dtype={self.dtype}, sparse=False, ragged=False, name={self.name}>"

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise ValueError(
            "A KerasTensor is symbolic: it's a placeholder for a shape an a dtype. It doesn't have any "
            "actual numerical value. You cannot convert it to a NumPy array."
        )

    def __bool__(self) -> bool:
        raise TypeError("A symbolic KerasTensor cannot be used as a boolean.")

    def __iter__(self) -> Any:
        raise NotImplementedError("Iterating over a symbolic KerasTensor is not supported.")

    def _to_tensor(self, dtype: Any = None) -> Any:
        raise ValueError(
            "A KerasTensor cannot be used as input to a TensorFlow function. A KerasTensor is a symbolic "
            "placeholder for a shape and dtype, used when constructing Keras Functional models or Keras Functions. "
            "You can only use it as input to a Keras layer or a Keras operation (from the namespaces "
            "`keras.layers` and `keras.ops`). You are likely doing something like:\n\n"
            "```\nx = Input(...)\n...\ntf_fn(x)  # Invalid.\n```\n\n"
            "What you should do instead is wrap `tf_fn` in a layer:\n\n"
            "```\nclass MyLayer(Layer):\n    def call(self, x):\n        return tf_fn(x)\n\nx = MyLayer()(x)\n```\n"
        )

    def cast(self, dtype: str) -> Any:
        """The symbolic tensor with its elements in another type."""
        return KerasStep(lambda x: convert(x, dtype), "cast")(self)


class KerasStep(Layer):
    """A plain function of tensors as a node of the graph: what operators on symbolic tensors become."""

    def __init__(self, function: Callable, name: str) -> None:
        super().__init__(name=auto_name(name), autocast=False)
        self._function = function
        self.built = True

    @property
    def _kind(self) -> str:
        """What Keras calls the class of such an operation: GetItem for get_item_1."""
        return "".join(word.capitalize() for word in self.name.split("_") if not word.isdecimal())

    def call(self, *inputs: Any) -> Any:
        """Applies the function."""
        return self._function(*inputs)


_BINARY = {
    "and": "logical_and",
    "or": "logical_or",
    "xor": "logical_xor",
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "true_divide",
    "pow": "power",
    "floordiv": "floor_divide",
    "mod": "mod",
    "matmul": "matmul",
}
# the operators of symbolic tensors, and what Keras calls them
_OPERATORS = {
    "__neg__": "negative",
    "__abs__": "absolute",
    "__invert__": "logical_not",
    "__getitem__": "get_item",
    "__lt__": "less",
    "__le__": "less_equal",
    "__gt__": "greater",
    "__ge__": "greater_equal",
    "__ne__": "not_equal",
    **{f"__{side}{short}__": name for short, name in _BINARY.items() for side in ("", "r")},
}


def _operator(method: str, name: str) -> Callable:
    """The operator of symbolic tensors that a replay calls as this method of tensors."""

    def applied(*operands: Any) -> Any:
        def function(*tensors: Any) -> Any:
            given = iter(tensors)
            first, *rest = (next(given) if isinstance(x, KerasTensor) else x for x in operands)
            return getattr(first, method)(*rest)

        return KerasStep(function, name)(*[x for x in operands if isinstance(x, KerasTensor)])

    return applied


for _method, _name in _OPERATORS.items():
    setattr(KerasTensor, _method, _operator(_method, _name))


class KerasNode:
    """One call of a layer on symbolic tensors."""

    def __init__(self, layer: Layer, args: Any, kwargs: Any, outputs: Any) -> None:
        self.layer, self.args, self.kwargs, self.outputs = layer, args, kwargs, outputs
        self.tensors = [x for x in nest.flatten((args, kwargs)) if isinstance(x, KerasTensor)]
        self.inputs = self.tensors[0] if len(self.tensors) == 1 else self.tensors
        self._plain = not any(map(nest.is_nested, (*args, *kwargs.values())))
        layer._inbound_nodes.append(self)
        for output in nest.flatten(outputs):
            output._keras_history = self

    def arguments_for(self, known: dict[int, Any]) -> tuple[Any, dict[str, Any]]:
        """The call's (args, kwargs), with the values of ``known`` (by id) in place of symbolic tensors."""
        if self._plain:
            look_up, kwargs = known.get, self.kwargs
            return [look_up(id(x), x) for x in self.args], {
                k: look_up(id(x), x) for k, x in kwargs.items()
            } if kwargs else {}
        return nest.map_structure(lambda x: known.get(id(x), x), (self.args, self.kwargs))

    def gave(self, result: Any, known: dict[int, Any]) -> None:
        """Notes what the call gave in the place of its symbolic outputs."""
        if type(self.outputs) is KerasTensor and not nest.is_nested(result):
            known[id(self.outputs)] = result
            return
        for symbol, value in zip(nest.flatten(self.outputs), nest.flatten(result), strict=True):
            known[id(symbol)] = value


class InputLayer(Layer):
    """The beginning of a functional model: holds one symbolic tensor, ``output``. Arguments as of ``Input``.

    >>> import minitape as tf
    >>> start = tf.keras.layers.InputLayer((3,), name="x")
    >>> start.output, start.batch_shape
    (<KerasTensor shape=(None, 3), dtype=float32, sparse=False, ragged=False, name=x>, (None, 3))
    """

    def __init__(
        self,
        shape: Any = None,
        batch_size: int | None = None,
        dtype: Any = None,
        batch_shape: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name=name)
        if shape is not None and batch_shape is not None:
            raise ValueError("You cannot pass both `shape` and `batch_shape` at the same time.")
        if batch_size is not None and batch_shape is not None:
            raise ValueError("You cannot pass both `batch_size` and `batch_shape` at the same time.")
        if shape is None and batch_shape is None:
            raise ValueError("You must pass a `shape` argument.")
        if shape is not None:
            batch_shape = (batch_size, *standardize_shape(shape))
        tensor = KerasTensor(batch_shape, dtype or FLOAT, name)
        self.batch_shape, self._dtype = tensor.shape, tensor.dtype
        self.built = True
        KerasNode(self, (), {}, tensor)

    def call(self, *inputs: Any) -> Any:
        """An input layer is not called by a user."""
        raise NotImplementedError("An InputLayer only holds a symbolic tensor; call the model instead.")


def Input(
    shape: Any = None,
    batch_size: int | None = None,
    dtype: Any = None,
    batch_shape: Any = None,
    name: str | None = None,
) -> KerasTensor:
    """A symbolic tensor to build a model from; ``shape`` is without the batch, ``batch_shape`` with it.

    Raises ValueError when neither ``shape`` nor ``batch_shape`` is given, or both.

    >>> import minitape as tf
    >>> x = tf.keras.Input((2,))
    >>> model = tf.keras.Model(x, tf.keras.layers.Dense(1, kernel_initializer="ones")(x))
    >>> model(tf.constant([[1.0, 2.0]])).numpy()
    array([[3.]], dtype=float32)
    """
    made: KerasTensor = InputLayer(shape, batch_size, dtype, batch_shape, name).output
    return made


def note_call(layer: Layer, given_kwargs: Any, args: Any, kwargs: Any) -> Any:
    """Writes down a call on symbolic tensors and returns its symbolic outputs.

    ``training`` is written down where the caller gave it, not where it was filled in.
    """
    outputs = nest.map_structure(lambda t: KerasTensor(t.shape, t.dtype), infer(layer, args, kwargs))
    noted = {k: v for k, v in kwargs.items() if k in given_kwargs or k != "training"}
    KerasNode(layer, args, noted, outputs)
    return outputs


def infer(layer: Layer, args: Any, kwargs: Any) -> Any:
    """The shapes and types of a layer's outputs, as symbolic tensors."""
    if (
        type(layer).compute_output_shape is not Layer.compute_output_shape
        and len(args) == 1
        and isinstance(args[0], KerasTensor)
    ):
        shape = layer.compute_output_shape(args[0].shape)
        if isinstance(shape, (tuple, list)) and all(n is None or isinstance(n, int) for n in shape):
            kind = args[0].dtype if layer._keeps_dtype or "float" not in layer.compute_dtype else layer.compute_dtype
            return KerasTensor(tuple(shape), kind, name="inferred")
    return trial_outputs(layer, args, kwargs)


def trial_outputs(layer: Layer, args: Any, kwargs: Any) -> Any:
    """The outputs of a layer as symbolic tensors, found by running it on zeros of two sizes."""
    runs = []
    with _scratch(layer):
        for batch, other in ((3, 32), (2, 64)):  # which can be halved some times, and divided into groups
            filled = nest.map_structure(lambda x, b=batch, o=other: _zeros(x, b, o), (args, kwargs))
            runs.append(layer._run(*filled))
    return nest.map_structure(_combined, *runs)


@block
def _scratch(layer: Layer) -> Iterator[None]:
    """A trial leaves no trace: no rows on a tape, no losses, no changed state, no random numbers taken.

    The weights that it builds stay.
    """
    losses = {id(inner): list(inner._added_losses) for inner in layer._flatten_layers()}
    before = current.call, state.scratch
    current.call, state.scratch = (False,), True
    try:
        with keep_state(), contextlib.nullcontext() if state.graph is not None else no_tapes():
            yield
    finally:
        current.call, state.scratch = before
        for inner in layer._flatten_layers():
            inner._added_losses[:] = losses.get(id(inner), [])


def _zeros(x: Any, batch: int, other: int) -> Any:
    if not isinstance(x, KerasTensor):
        return x
    sizes = [(batch if i == 0 else other) if n is None else n for i, n in enumerate(x.shape)]
    return tf.zeros(sizes, x.dtype)


def _combined(a: Any, b: Any) -> Any:
    shape = tuple(m if m == n else None for m, n in zip(a.shape, b.shape, strict=True))
    return KerasTensor(shape, a.dtype, name="inferred")


def nodes_between(inputs: list[KerasTensor], outputs: Any) -> list[KerasNode]:
    """The calls that lead from the inputs to a structure of outputs, each after those that it needs.

    Raises ValueError when an output does not depend on the inputs alone.
    """
    done = {id(x) for x in inputs}
    order: list[KerasNode] = []
    for path, output in _with_paths(outputs):
        if not _nodes_before(output, done, order):
            raise ValueError(f"Output with path `{'.'.join(path)}` is not connected to `inputs`")
    return order


def _nodes_before(output: KerasTensor, done: set[int], order: list[KerasNode]) -> bool:
    """Adds the calls that an output needs to ``order``, and their outputs to ``done``; False when one cannot be
    made.
    """
    waiting = [] if id(output) in done else [output._keras_history]
    placed = set(map(id, order))
    while waiting:
        node = waiting[-1]
        if node is None or (not node.tensors and not all(id(t) in done for t in nest.flatten(node.outputs))):
            return False
        missing = [t._keras_history for t in node.tensors if id(t) not in done]
        if missing and id(node) not in placed:
            waiting += reversed(missing)
            continue
        waiting.pop()
        if id(node) not in placed:
            placed.add(id(node))
            order.append(node)
            done.update(id(t) for t in nest.flatten(node.outputs))
    return True


def _with_paths(structure: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], KerasTensor]]:
    """The leaves of a structure in the order of ``nest.flatten``, each with the keys that lead to it."""
    if isinstance(structure, dict):
        inner: Any = ((key, structure[key]) for key in sorted(structure))
    elif isinstance(structure, (list, tuple)):
        inner = enumerate(structure)
    else:
        yield path, structure
        return
    for key, value in inner:
        yield from _with_paths(value, (*path, str(key)))


def replay(nodes: list[KerasNode], inputs: list[KerasTensor], outputs: Any, values: list, run: Callable) -> Any:
    """Runs the noted calls on other values, tensors or symbols: ``run(layer, args, kwargs)`` gives the result of
    one.
    """
    known: dict[int, Any] = {id(symbol): value for symbol, value in zip(inputs, values, strict=True)}
    for node in nodes:
        node.gave(run(node.layer, *node.arguments_for(known)), known)
    return known[id(outputs)] if type(outputs) is KerasTensor else nest.map_structure(lambda x: known[id(x)], outputs)


def by_depth(nodes: list[KerasNode], inputs: list[KerasTensor], outputs: Any) -> list:
    """The layers of a model in Keras's order: those with most calls between them and the outputs first.

    Of two that are as far away the one comes first that is met first on the backward sweep from the outputs.
    """
    starts = {id(x._keras_history): x._keras_history for x in inputs}
    met: dict[int, int] = {}
    stack, seen = [x._keras_history for x in reversed(nest.flatten(outputs))], set()
    while stack:
        node = stack.pop()
        if id(node) not in seen:
            seen.add(id(node))
            met.setdefault(id(node.layer), len(met))
            stack += [] if id(node) in starts else [x._keras_history for x in reversed(node.tensors)]
    depths: dict[int, int] = {}
    layers: dict[int, tuple[int, Any]] = {}
    for node in reversed([*starts.values(), *[n for n in nodes if id(n) not in starts]]):
        depth = max(depths.get(id(node), 0), layers.get(id(node.layer), (0,))[0])
        layers[id(node.layer)] = depth, node.layer
        for x in [] if id(node) in starts else node.tensors:
            depths[id(x._keras_history)] = max(depth + 1, depths.get(id(x._keras_history), 0))
    places = sorted(layers, key=lambda key: (-layers[key][0], met.get(key, -1)))
    return [layers[key][1] for key in places]
