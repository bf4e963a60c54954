"""A graph under construction: operations on symbolic tensors append rows to it.

A :class:`Graph` is a recording (:class:`minitape.engine.recording.record.Record`) whose rows have a shape and a dtype
but no value. Every row is a leaf (placeholder, constant, captured tensor) or a call. Because it is a recording, tapes
inside a graph and ``tf.gradients`` find their rows and sweep them as they do everywhere else.
"""

from __future__ import annotations

import re
import threading
import weakref
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.recording.block import During, Elsewhere
from ..engine.recording.record import Record
from ..engine.recording.rows import CALL, LEAF, Call, Leaf
from ..engine.recording.state import appended, state
from ..engine.table.primitives import TABLE, Primitive
from ..engine.tensor.tensor import EagerTensor, new_tensor
from ..engine.values import dtypes
from ..engine.values.dtypes import DType
from ..engine.values.shape import TensorShape
from . import infer
from .naming import Named, caller, default_name, name_within
from .symbolic import Operation, SymbolicTensor

if TYPE_CHECKING:
    from ..engine.types import Attributes, DTypeLike, ShapeLike, Value
    from .types import Tapes, Variable

_UNKNOWN = ((), np.dtype(np.float32))  # of a row that stands for a state of a variable


class Graph(Named, Record):
    """A graph: operations inside ``with graph.as_default():`` become its rows, and a Session runs them.

    See https://www.tensorflow.org/api_docs/python/tf/Graph.

    >>> import minitape as tf
    >>> graph = tf.Graph()
    >>> with graph.as_default():
    ...     x = tf.compat.v1.placeholder(tf.float32, shape=[None], name="x")
    ...     y = x * 2.0
    >>> print(y)
    Tensor("mul:0", shape=(None,), dtype=float32)
    >>> tf.compat.v1.Session(graph=graph).run(y, {x: [1.0, 2.0]})
    array([2., 4.], dtype=float32)
    >>> [op.name for op in graph.get_operations()], graph.get_operation_by_name("mul").type
    (['x', 'mul/y', 'mul'], 'Mul')
    >>> graph.get_tensor_by_name("mul:0") is y, graph.as_graph_element("x") is x.op, graph.unique_name("x")
    (True, True, 'x_1')
    >>> graph.add_to_collection("ends", y)
    >>> graph.get_collection("ends") == [y]
    True
    >>> with graph.as_default(), graph.name_scope("layer"):
    ...     print((y + 1.0).name)
    layer/add:0
    """

    building_function = False
    eager = False

    def __init__(self, outer: Graph | None = None) -> None:
        super().__init__()
        self.listed: list[Call] = []  # its calls in order
        self.outer = outer  # the graph in which this one is a function's body
        self.tensors: dict[int, SymbolicTensor] = {}
        self.shape_dtypes: dict[int, tuple] = {}  # shape and NumPy dtype of each row
        self.alive: list = []  # the tensors of constants, which leaves do not keep alive
        self.op_of: dict[int, Operation] = {}  # first row -> operation
        self.replays: dict = {}  # (fetched rows, known rows) -> what is needed, see minitape.graphs.program
        self.by_name: dict[str, Operation] = {}
        self.names: dict[str, int] = {}  # how often each name was requested
        self.scope = ""
        self.overrides: dict[str, str] = {}
        self.controls: list[Operation] = []
        self.folded: dict[int, Any] = {}  # values that constants alone determine
        # constants -> the tensor or variable (weak) of which they have the shape, by which operation
        self.shaped: dict[int, tuple[Any, str]] = {}
        self.gradients: dict[int, list] = {}  # rows -> the sources (weak) whose gradients a tape found them to be
        self.captures: dict[int, tuple[Any, SymbolicTensor]] = {}  # id of an outer tensor -> it and its place here
        self.collections: dict[str, list] = {} if outer is None else outer.collections
        self.reads: dict[int, SymbolicTensor] = {}  # what each variable holds now, until the next effect
        self.tapes_around: list = []  # those that record the graph around it while this one is built

        self.drawn = 0  # random operations that took their number from it
        self.lock = threading.RLock()  # of whoever adds rows to a graph that is complete: those of its gradients
        self.tuples: set[int] = set()  # first rows of calls whose primitive returns a tuple

    def __bool__(self) -> bool:
        return True

    @property
    def around(self) -> list[Graph]:
        """This graph and those around it, the outermost last."""
        return [self] if self.outer is None else [self, *self.outer.around]

    def is_function(self) -> bool:
        """True for the graph of a tf.function, and for those of its branches and loops."""
        return any(graph.building_function for graph in self.around)

    # -- as the current graph ----------------------------------------------------------------------

    def as_default(self) -> AbstractContextManager[Graph]:
        """Operations in the block are added to this graph."""
        return _Building(self)

    def close(self) -> Graph:
        """The last tape inside was left: the graph goes on taking rows."""
        return self

    def free(self) -> None:
        """Nothing to release: there are no values."""

    def note_gradients(self, gradients: list, sources: list) -> None:
        """Notes whose gradients these tensors are."""
        for g, source in zip(gradients, sources, strict=True):
            if getattr(g, "graph", None) is self and hasattr(g, "_row"):  # slices have none
                self.gradients.setdefault(g._row, []).append(weakref.ref(source))

    def notify(self) -> None:
        """Live pictures follow eager recordings only."""

    @property
    def calls(self) -> list[Call]:
        """The calls, in order."""
        return self.listed

    def shape_dtype(self, row: int) -> tuple[tuple[int, ...], Any]:
        """The shape and the NumPy dtype of a row, as far as the graph knows them."""
        return self.shape_dtypes.get(row, _UNKNOWN)

    def sweeper(self, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        """The reverse sweep that writes rows into this graph."""
        from .sweep import GraphSweep

        return GraphSweep(*args, **kwargs)

    # -- names -------------------------------------------------------------------------------------

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """``name`` within the current scope, with a number behind it when it is taken."""
        if name.endswith("/"):
            return name[:-1]
        full = f"{self.scope}/{name}" if self.scope else name
        key = full.lower()
        count = self.names.get(key, 0)
        if mark_as_used:
            self.names[key] = count + 1
        if not count:
            return full
        while True:
            candidate = f"{full}_{count}"
            if candidate.lower() not in self.names:
                break
            count += 1
        if mark_as_used:
            self.names[key] = count + 1
            self.names[candidate.lower()] = 1
        return candidate

    def name_scope(self, name: str | None) -> AbstractContextManager[str]:
        """Operations in the block are called ``name/...``; None or an empty name goes back to the top."""
        scope = self.unique_name(name) if name else ""  # which takes a slash at its end away
        return During(self, scope + "/" if scope else "", scope=scope)

    # -- rows --------------------------------------------------------------------------------------

    def leaf(self, kind: str, name: str, shape: TensorShape, dtype: DType, tensor: Value = None) -> SymbolicTensor:
        """Appends a leaf: a placeholder, a constant, a captured tensor."""
        row = self.append(LEAF, 0, 0, None, self.current_site())
        self.leaves[row] = Leaf() if tensor is None else Leaf(weakref.ref(tensor))
        self.alive.append(tensor)
        self.untracked.add(row)
        self._node(kind, name, row, None, [(shape, dtype)])
        return self.tensors[row]

    def placeholder(self, dtype: DTypeLike, shape: ShapeLike = None, name: str | None = None) -> SymbolicTensor:
        """A tensor whose value is given when the graph runs."""
        return self.leaf("Placeholder", name or "Placeholder", TensorShape(shape), dtypes.as_dtype(dtype))

    def input(self, dtype: DTypeLike, shape: ShapeLike = None, name: str | None = None) -> SymbolicTensor:
        """A placeholder through which gradients may flow: an argument of a function, branch or loop."""
        made = self.placeholder(dtype, shape, name)
        self.untracked.discard(made._row)
        return made

    def constant(self, tensor: EagerTensor, name: str | None = None) -> SymbolicTensor:
        """An eager tensor as a constant of the graph."""
        made = self.leaf("Const", name or "Const", tensor.shape, tensor.dtype, tensor)
        self.folded[made._row] = tensor.array
        return made

    def call_row(
        self,
        primitive: Primitive,
        rows: tuple[int, ...],
        attrs: Attributes,
        outputs: list[tuple[TensorShape, DType]],
        name: str | None = None,
    ) -> list[SymbolicTensor]:
        """Appends a call and returns its symbolic outputs (an operation without outputs still has one row)."""
        site = self.current_site()
        first = len(self)
        call = Call(first, primitive, rows, attrs, max(len(outputs), 1))
        untracked = self.untracked.issuperset(rows)
        for _ in range(max(len(outputs), 1)):
            row = self.append(CALL, 0, 0, call, site)
            if untracked:
                self.untracked.add(row)
        self.called = True
        self.listed.append(call)
        if primitive.mandatory:
            self.mandatory = appended(self.mandatory, call)
        op = self._node(primitive.op, name or default_name(primitive.op), first, call, outputs)
        if primitive.stateful and primitive.op != "ReadVariableOp":
            self.forget_reads()
        infer.fold(self, call)
        if not outputs:
            self.shape_dtypes[first] = ((), np.dtype(bool))
            op.count = 0
        return [self.tensors[first + i] for i in range(len(outputs))]

    def _node(
        self, kind: str, name: str, row: int, call: Call | None, outputs: list[tuple[TensorShape, DType]]
    ) -> Operation:
        op = Operation(self, self.unique_name(name), kind, row, call, len(outputs))
        self.op_of[row] = self.by_name[op.name] = op
        for index, (shape, dtype) in enumerate(outputs):
            real = np.dtype(dtype.as_numpy_dtype)
            self.shape_dtypes[row + index] = shape._dims, real
            self.tensors[row + index] = SymbolicTensor(self, row + index, op, index, shape, dtype)
        return op

    def tensor_at(self, row: int) -> SymbolicTensor:
        """The symbolic tensor of a row."""
        return self.tensors[row]

    def row_or_new_leaf(
        self, tensor: Value, variable: Variable = None, site: int | None = None, tapes: Tapes = ()
    ) -> int:
        """The row of a tensor here: its own, that of a constant, or that of a captured tensor of an outer graph.

        ``variable``, ``site`` and ``tapes`` are for recordings.
        """
        if type(tensor) is SymbolicTensor:
            return tensor._row if tensor.graph is self else self.capture(tensor)._row
        known = self.leaf_of.get(id(tensor))
        if known is not None and self.leaves[known].tensor is tensor:
            return known
        watched = self._watched_outside(tensor)
        if watched is not None:
            return self.capture(watched)._row
        made = self.constant(tensor)
        self.leaf_of[id(tensor)] = made._row
        return made._row

    def _watched_outside(self, tensor: Value) -> SymbolicTensor | None:
        """An eager tensor as the graphs around know it, if a tape there watches it; only bodies look there."""
        return None

    def enter_number(self, tensor: Value, number: float, site: int) -> None:
        """A Python number that was used as an operand: the graph meets it as the same tensor again. ``site`` is for
        recordings.
        """
        if number != 0:  # 0.0 and -0.0 are one key
            self.numbers[number, type(tensor._value)] = tensor

    def find(self, tensor: Value) -> int | None:
        """The row of a tensor, or None when this graph never met it."""
        if type(tensor) is SymbolicTensor:
            if tensor.graph is self:
                return tensor._row
            place = self.captures.get(id(tensor))
            return None if place is None or place[0] is not tensor else place[1]._row
        known = self.leaf_of.get(id(tensor))
        return known if known is not None and self.leaves[known].tensor is tensor else None

    def capture(self, tensor: SymbolicTensor) -> SymbolicTensor:
        """The place of an outer graph's tensor in this graph, which becomes a further input of its function."""
        known = self.captures.get(id(tensor))
        if known is not None and known[0] is tensor:
            return known[1]
        outer: Any = self.outer
        value = tensor.graph.constant_value(tensor._row) if tensor.op.type == "Const" else None
        if value is not None and not tensor.dtype.differentiable:  # else a gradient may be wanted
            return self.constant(new_tensor(value), tensor.op.name)
        if tensor.graph is not outer:  # what the graph around it has in its place
            inner = self.capture(outer.capture(tensor))
        else:
            with self.name_scope(None):
                inner = self.input(tensor.dtype, tensor.shape, tensor.op.name.rsplit("/", 1)[-1])
        self.captures[id(tensor)] = (tensor, inner)
        return inner

    # -- operations --------------------------------------------------------------------------------

    def apply(self, primitive: Primitive, inputs: tuple, attrs: Attributes, usual: str | None = None) -> Any:
        """Adds an operation; returns its symbolic output, or a tuple of them where there are several.

        ``usual`` is its name where the user gives none.
        """
        if primitive.op == "AddV2" and inputs[0].dtype.kind == "s":
            primitive = TABLE["string_add"]
        called, public, name = caller()
        if name is None:
            name = usual or name_within(called, public, primitive.op)
        infer.check_dtypes(primitive, inputs)
        rows = tuple(self._operand(t, name, i) for i, t in enumerate(inputs))
        tensors = [self.tensors[r] for r in rows]
        try:
            outputs, several = infer.outputs(primitive, tensors, attrs)
        except infer.Mismatch as error:
            raise ValueError(error.text(self.unique_name(name, False), primitive, tensors, attrs)) from None
        made = self.call_row(primitive, rows, attrs, outputs, name)
        if several:
            self.tuples.add(self.listed[-1].row)
        return tuple(made) if several else made[0]

    def _operand(self, tensor: Value, name: str, index: int) -> int:
        if type(tensor) is EagerTensor and self.find(tensor) is None and self._watched_outside(tensor) is None:
            made = self.constant(tensor, f"{name}/{'xy'[index] if index < 2 else index}")
            self.leaf_of[id(tensor)] = made._row
            return made._row
        return self.row_or_new_leaf(tensor)

    def constant_value(self, row: int) -> Any:
        """The value of a row that does not depend on any placeholder or effect; None for others."""
        return self.folded.get(row)

    # -- variables ---------------------------------------------------------------------------------

    def read(self, variable: Variable, accessed: bool = True, tapes: Tapes | None = None) -> Any:
        """A variable's value at this point of the graph.

        ``tapes`` (those that are open, if None) watch it when they watch the variable; when it is ``accessed`` they
        begin to watch a trainable one.
        """
        from .effects import read

        return read(self, variable, state.tapes if tapes is None else tapes, accessed)


    def look_at(self, variable: Variable) -> Any:
        """The value of ``variable`` for Python to look at, which is not there: NotImplementedError."""
        raise NotImplementedError("numpy() is only available when eager execution is enabled.")

    def watch_variable(self, variable: Variable, tape: Any) -> None:
        """A tape watches a variable: what is read here is watched."""
        self.read(variable, tapes=[tape])


    def assign(self, variable: Variable, tensor: Value, how: str, read_value: bool = True) -> Any:
        """An assignment at this point of the graph: the variable as it is then, or the operation alone."""
        from .effects import AssignedVariable, assign, watch_accessed

        made = assign(self, variable, tensor, how)
        if not read_value:
            return made.op
        watch_accessed(self, variable, state.tapes)
        return AssignedVariable(variable, made)

    def forget_reads(self) -> None:
        """Something may have changed the variables: they are read again."""
        self.reads.clear()

    # -- TensorFlow's interface --------------------------------------------------------------------

    def gradient_override_map(self, op_type_map: dict[str, str]) -> AbstractContextManager[None]:
        """Operations in the block whose type is in the map get the gradient registered under the mapped name.

        >>> import minitape as tf
        >>> @tf.RegisterGradient("PassTenfold")
        ... def pass_tenfold(op, gradient):
        ...     return gradient * 10.0
        >>> with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
        ...     x = tf.constant(3.0)
        ...     with graph.gradient_override_map({"Square": "PassTenfold"}):
        ...         y = tf.square(x)
        ...     print(session.run(tf.gradients(y, x)))
        [np.float32(10.0)]
        """
        return During(self, overrides={**self.overrides, **op_type_map})

    def control_dependencies(self, control_inputs: Any) -> AbstractContextManager[None]:
        """Operations in the block run after the given operations and tensors.

        >>> import minitape as tf
        >>> with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
        ...     v = tf.Variable(1.0)
        ...     session.run(tf.compat.v1.global_variables_initializer())
        ...     with graph.control_dependencies([v.assign(5.0)]):
        ...         after = v.read_value() + 1.0
        ...     print(session.run(after))
        6.0
        """
        if control_inputs is None:
            return During(self, controls=[])
        ops = [getattr(i, "op", i) for i in control_inputs]
        return During(self, controls=[*self.controls, *(o for o in ops if isinstance(o, Operation))])

    def get_collection(self, name: str, scope: str | None = None) -> list:
        """The members of a collection, such as "variables"; of those that have a name, where it matches ``scope``."""
        found = list(self.collections.get(str(name), []))
        return found if scope is None else [m for m in found if hasattr(m, "name") and re.match(scope, m.name)]




class _Building(Elsewhere):
    """The block in which operations are added to a graph. A recording around it takes no rows for its time."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph, record=graph, graph=graph, by=None)
        self._closed = During(None)

    def __enter__(self) -> Graph:
        outer: Any = state.record
        graph: Any = self._given
        if state.graph is not graph:
            graph.tapes_around, self._values["tapes"] = state.tapes, []
        if outer is not None and outer.open and not isinstance(outer, Graph):
            outer.frame = None
            self._closed = During(outer, open=False)
            self._closed.__enter__()
        return super().__enter__()

    def _restore(self) -> None:
        self._closed._restore()
        super()._restore()


def apply(primitive: Primitive, inputs: tuple, attrs: Attributes) -> Any:
    """Adds an operation to the graph that is being built: here the core hands over what it cannot compute."""
    graph = state.graph
    return graph.apply(primitive, inputs, attrs)
