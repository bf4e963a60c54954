"""Tensors and operations of a graph: names, dtypes and static shapes, but no values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.hooks import hooks
from ..engine.recording.logs import warn_not_watchable
from ..engine.recording.rows import Call
from ..engine.tensor.tensor import Tensor, assign_of
from ..engine.values.dtypes import DType
from ..engine.values.shape import TensorShape

if TYPE_CHECKING:
    from ..engine.types import DTypeLike, ShapeLike, Value

Graph = Any  # minitape.graphs.build.Graph


_RESOLVE = (
    "You can attempt the following resolutions to the problem: If you are running in Graph mode, use Eager "
    "execution mode or decorate this function with @tf.function. If you are using AutoGraph, you can try "
    "decorating this function with @tf.function. If that does not work, then you may be using an unsupported "
    "feature or your source code may not be visible to AutoGraph. See https://github.com/tensorflow/tensorflow/blob/"
    "master/tensorflow/python/autograph/g3doc/reference/limitations.md#access-to-source-code for more information."
)


_OF_NUMPY = {"T", "astype", "ravel", "transpose", "reshape", "clip", "size", "tolist", "data"}


class OperatorNotAllowedInGraphError(TypeError):
    """Python asked a symbolic tensor for its value."""




class NeedsValue(AttributeError):
    """minitape itself needed the value of a symbolic tensor that only a run of the graph knows."""


class SymbolicTensor(Tensor):
    """A tensor of a graph: it has a name, a dtype and a static shape, but no value."""

    __slots__ = ("graph", "_row", "_op", "value_index", "_shape", "_dtype", "__weakref__")
    __module__ = "tensorflow.python.framework.tensor"
    _value = _origin = None

    def __init__(self, graph: Graph, row: int, op: Operation, index: int, shape: TensorShape, dtype: DType) -> None:
        self.graph, self._row, self._op = graph, row, op
        self.value_index, self._shape, self._dtype = index, shape, dtype

    # -- what it is --------------------------------------------------------------------------------

    op = property(lambda self: self._op, doc="The operation that makes this tensor.")
    dtype = property(lambda self: self._dtype, doc="The type of the elements.")
    shape = property(lambda self: self._shape, doc="The static shape; sizes that only a run knows are None.")
    device = property(lambda self: "", doc="Where it will live: not decided.")
    _dims = property(lambda self: self._shape._dims)  # what the sweep of an eager tape asks for
    _id = property(lambda self: id(self))
    _record = property(lambda self: self.graph)

    @property
    def name(self) -> str:
        """The operation's name and which output this is."""
        return self._op.tensor_name(self.value_index)

    @property
    def ndim(self) -> int | None:  # type: ignore[override]
        """The number of axes; None when it is unknown."""
        return self._shape.rank


    def set_shape(self, shape: ShapeLike) -> None:
        """Adds to what is known about the static shape; ValueError when it contradicts."""
        self._shape = self._shape.merge_with(TensorShape(shape))
        self.graph.shape_dtypes[self._row] = (self._shape._dims, self.graph.shape_dtypes[self._row][1])


    def __getattr__(self, name: str) -> Any:
        if name == "array":  # its value where constants settle it: minitape's functions ask for shapes and axes
            found = self.graph.constant_value(self._row)
            if found is not None:
                return found
            raise NeedsValue(
                f"The value of {self!r} is needed while the graph is being built, but only a run of the graph knows it."
            )
        if name == "assign":
            found = assign_of(self)
            if found is not None:
                return found
        if name in _OF_NUMPY:
            raise AttributeError(
                f"SymbolicTensor object has no attribute '{name}'. \n        If you are looking for numpy-related "
                "methods, please run the following:\n        tf.experimental.numpy."
                "experimental_enable_numpy_behavior()\n      "
            )
        raise AttributeError(f"'SymbolicTensor' object has no attribute '{name}'")

    def __getitem__(self, key: Any) -> Any:
        return hooks.getitem(self, key)

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Its value in the default session (or the given one)."""
        return hooks.default_session(session, "evaluate tensor using `eval()`", self.graph).run(self, feed_dict)

    def _tape_rows(self, tape: Any) -> tuple[int, ...]:
        record = tape._record
        if record is self.graph:
            return (self._row,)
        row = None if record is None else record.find(self)
        return () if row is None else (row,)

    def _watch_on(self, tape: Any) -> None:
        if not self.dtype.differentiable:
            warn_not_watchable(self.dtype)
        elif tape._recording:
            tape._watch_row(tape._record.row_or_new_leaf(self))

    # -- what it refuses ---------------------------------------------------------------------------

    def __bool__(self) -> bool:
        raise OperatorNotAllowedInGraphError(
            f"Using a symbolic `tf.Tensor` as a Python `bool` is not allowed. {_RESOLVE}"
        )

    def __iter__(self) -> Iterator:
        raise OperatorNotAllowedInGraphError(f"Iterating over a symbolic `tf.Tensor` is not allowed. {_RESOLVE}")

    def __len__(self) -> int:
        raise TypeError(
            f"len is not well defined for a symbolic Tensor ({self.name}). Please call `x.shape` rather than "
            "`len(x)` for shape information."
        )

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> np.ndarray:
        raise NotImplementedError(
            f"Cannot convert a symbolic tf.Tensor ({self.name}) to a numpy array. This error may indicate that you're "
            "trying to pass a Tensor to a NumPy call, which is not supported."
        )



    def __hash__(self) -> int:  # in TensorFlow 1 graphs tensors are keys of feed_dict, and == is identity
        if self.graph.is_function():
            raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")
        return id(self)





    def __str__(self) -> str:
        shape = f", shape={self._shape}" if self._shape.rank is not None else ""
        return f'Tensor("{self.name}"{shape}, dtype={self._dtype.name})'




class Operation:
    """A node of a graph: one row, or one call with several outputs.

    ``name``, ``type``, ``inputs`` and ``outputs`` say what it is; operations are made by calling functions of ``tf``
    while a graph is built, never directly.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     x = tf.constant(2.0, name="x")
    ...     op = tf.multiply(x, x, name="square").op
    >>> op, op.type, [t.name for t in op.inputs], isinstance(op, tf.Operation)
    (<tf.Operation 'square' type=Mul>, 'Mul', ['x:0', 'x:0'], True)
    """

    __slots__ = ("graph", "name", "type", "row", "call", "count", "gradient", "_control", "__weakref__")

    def __init__(self, graph: Graph, name: str, kind: str, row: int, call: Call | None, count: int) -> None:
        self.graph, self.name, self.type, self.row, self.call, self.count = graph, name, kind, row, call, count
        self.gradient = graph.overrides.get(kind)  # the name of the gradient that replaces its rules
        self._control = tuple(graph.controls)

    @property
    def inputs(self) -> tuple[SymbolicTensor, ...]:
        """The tensors that it reads."""
        return () if self.call is None else tuple(self.graph.tensor_at(r) for r in self.call.inputs)

    @property
    def outputs(self) -> list[SymbolicTensor]:
        """The tensors that it makes."""
        return [self.graph.tensor_at(self.row + i) for i in range(self.count)]

    def tensor_name(self, index: int) -> str:
        """The name of an output: of a branch it is that of an identity behind it, a loop counts its steps first."""
        if self.type in ("If", "StatelessIf", "Case", "StatelessCase"):
            return f"{self.name}/Identity{f'_{index}' if index else ''}:0"
        return f"{self.name}:{index + 2 if self.type in ('While', 'StatelessWhile') else index}"

    control_inputs = property(lambda self: list(self._control), doc="Operations that run before it.")
    device = property(lambda self: "", doc="Where it will run: not decided.")

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Runs it in the default session (or the given one).

        >>> import minitape as tf
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        ...     v = tf.Variable(1.0)
        ...     session.run(tf.compat.v1.global_variables_initializer())
        ...     v.assign_add(2.0).op.run()
        ...     print(session.run(v))
        3.0
        """
        hooks.default_session(session, "execute operation using `run()`", self.graph).run(self, feed_dict)






def is_symbolic(value: Value) -> bool:
    """True for a tensor of a graph, which has no value yet."""
    return type(value) is SymbolicTensor
