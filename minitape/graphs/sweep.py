"""Gradients inside a graph: the one reverse sweep, run on symbolic tensors, adds rows; gradients registered by name.

Where the shapes of a call are known, its rule is applied as it stands. Where they are not, a rule cannot say to which
shape it must reduce or spread; then one row is added that applies the rule when the graph runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.back.sweep import Sweep
from ..engine.back.values import unbroadcast
from ..engine.recording.state import state
from ..engine.table.primitives import TABLE
from ..engine.tensor.slices import IndexedSlices, check_places, concat_slices
from ..engine.tensor.tensor import EagerTensor, Tensor, new_tensor
from ..engine.values.dtypes import int32
from ..engine.values.shape import TensorShape
from ..ops.convert import convert_to_tensor
from .primitive import GraphPrimitive, replay_row
from .symbolic import SymbolicTensor

if TYPE_CHECKING:
    from ..engine.recording.rows import Call
    from ..engine.table.primitives import Primitive
    from ..engine.types import Adjoint, Attributes, Function, ShapeLike
    from .build import Graph
    from .symbolic import Operation
    from .types import Tensors


_SHAPELESS = {"identity", "stop_gradient", "zeros_like", "ones_like", "cast", "matmul", "select", "conj", "transpose"}


# an adjoint summed down, or spread, to the shape of another value: what the sweep does by itself where shapes are known
FIT = GraphPrimitive(
    "fit_like",
    "SumLike",
    lambda tensors, attrs: [(tensors[1].shape, tensors[0].dtype)],
    forward=lambda share, like: (unbroadcast(share, np.shape(like)),),
    eager=lambda tensors, attrs: [unbroadcast(tensors[0], tuple(tensors[1].shape))],
    rules=[lambda g, z, share, like: fit_share(g, share), None],
)


def _sum(values: Any, indices: Any, shape: ShapeLike) -> tuple[Any, ...]:
    out = np.zeros(tuple(int(n) for n in shape), values.dtype)
    check_places(indices, int(shape[0]))
    np.add.at(out, indices, values)
    return (out,)


# slices as the dense tensor that they stand for, where only a run knows its shape
DENSE = GraphPrimitive(
    "dense_slices",
    "UnsortedSegmentSum",
    lambda tensors, attrs: [(_dense_shape(tensors), tensors[0].dtype)],
    forward=_sum,
    eager=lambda t, attrs: [IndexedSlices(*t).dense()],
    rules=[lambda g, z, values, indices, shape: TABLE["gather"](g, indices, axis=0), None, None],
)


def _dense_shape(tensors: Any) -> TensorShape:
    values = tensors[0].shape
    return TensorShape(None) if values.rank is None else TensorShape([None, *values.as_list()[1:]])


def dense(values: Any, indices: Any, shape: ShapeLike) -> Any:
    """Slices as a dense tensor of a graph; ``shape`` is a tensor of it."""
    return shape.graph.apply(DENSE, (values, indices, shape), {})[0]


class _Symbolic:
    """The values of a graph's rows: its tensors."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def __getitem__(self, row: int) -> Any:
        return self.graph.tensor_at(row)


class GraphSweep(Sweep):
    """A reverse sweep over a graph's rows; ``stops`` are rows that hand nothing on."""

    record: Any  # a graph
    stops: Any = ()
    prefix = ""  # the name scope of ``tf.gradients``; nothing for a tape
    missing = "gradient registry has no entry for: {1}"  # what a tape says
    verifies = False  # no tape looks at the shapes that custom gradients return

    def tensor(self, row: int) -> Any:
        """The tensor of a row."""
        return self.record.tensor_at(row)

    def steps(self) -> Iterator[int]:
        """Yields each row after its adjoint was handed on; down to the first, for the row of a leaf may be a late
        one.
        """
        self.low, self.values = 0, _Symbolic(self.record)
        return super().steps()

    def _cells(self) -> Iterable[Any]:
        return [cells for cells in super()._cells() if cells[0] not in self.stops]

    def _dense(self, g: Adjoint, row: int) -> Any:
        if g is None:
            return TABLE["zeros_like"](self.tensor(row))
        return g.dense() if type(g) is IndexedSlices else g  # of a graph, too: see DENSE

    def _add(self, row: int, share: Any, as_given: bool = False) -> None:
        if isinstance(share, (np.ndarray, np.generic)):
            share = new_tensor(share)
        if type(share) is not IndexedSlices and not as_given:
            share = fit_share(share, self.tensor(row))
        before = self.adjoints.get(row)
        if before is None:
            total = share
        elif type(before) is IndexedSlices or type(share) is IndexedSlices:
            both = type(before) is type(share)
            total = concat_slices([before, share]) if both else self._dense(before, row) + self._dense(share, row)
        else:
            scope = f"{self.prefix}/" if self.prefix else None
            with state.graph.name_scope(scope):
                total = state.graph.apply(TABLE["add"], (before, share), {}, "AddN")
        self.adjoints[row] = total

    def _call(self, call: Call) -> bool:
        graph = self.record
        if not any(r in self.adjoints for r in range(call.row, call.row + call.outputs)):
            return False
        op = graph.op_of[call.row]
        with state.graph.name_scope(self._scope(op.name)):
            self._apply_rule(call, op)
        return True

    def _shares(
        self, primitive: Any, wanted: Sequence[int], g: Adjoint, z: Adjoint, inputs: list[Any], attrs: Attributes
    ) -> Any:
        if not getattr(primitive, "replays", False):
            found = list(super()._shares(primitive, wanted, g, z, inputs, attrs))
            return _check_shares(primitive, found, inputs) if self.verifies else found
        notes = [z[-1]] if primitive.noted else []
        gs = [g] if type(g) is not list else g[:-1] if notes else g
        shares = replay_row(primitive, attrs, [*gs, *notes], inputs, wanted)
        return [(i, shares[i]) for i in wanted]

    def _scope(self, name: str) -> str:
        """The name scope of the operations that hand on the adjoint of operation ``name``."""
        if self.prefix:
            return f"{self.prefix}/{name}_grad/"
        return f"gradient_tape/{name.rpartition('/')[0]}".rstrip("/") + "/"

    def _apply_rule(self, call: Call, op: Operation) -> None:
        name = op.gradient or (op.type if op.type in GRADIENTS else None)
        if name is not None:
            self._registered(call, op, name)
        elif call.primitive.rules is None and call.primitive.missing == "unregistered":
            if self.reachable is None or any(self.reachable[r] for r in call.inputs):
                raise LookupError(self.missing.format(op.name, op.type))
        elif self._shapes_known(call):
            super()._call(call)
        elif self._slices(call):
            pass
        else:
            self._when_run(call)

    def _shapes_known(self, call: Call) -> bool:
        if call.primitive.code or call.primitive.name in _SHAPELESS or getattr(call.primitive, "symbolic_rule", False):
            return True
        rows = [*call.inputs, *range(call.row, call.row + call.outputs)]
        return all(self.tensor(r).shape.is_fully_defined() for r in rows if r in self.record.tensors)

    def _slices(self, call: Call) -> bool:
        """Hands the adjoint of whole rows that were picked on as slices; False for other calls and unknown shapes."""
        if (
            call.primitive.name not in ("gather", "gather_nd")
            or call.attrs.get("axis", 0)
            or call.attrs.get("batch_dims")
        ):
            return False
        x, indices = (self.tensor(r) for r in call.inputs)
        inner = [] if x.shape.rank is None else x.shape.as_list()[1:]
        in_column = call.primitive.name == "gather_nd"
        if in_column and (indices.shape.rank != 2 or indices.shape[1] != 1):
            return False
        if not in_column and (x.shape.rank is None or (indices.shape.rank != 1 and inner.count(None))):
            return False
        values = self._dense(self.adjoints.get(call.row), call.row)
        if indices.shape.rank != 1:
            values = values if in_column else TABLE["reshape"](values, shape=(-1, *inner))
            indices = TABLE["reshape"](indices, shape=(-1,))
        self._add(
            call.inputs[0],
            IndexedSlices(values, indices, TABLE["shape"](x, dtype=indices.dtype if in_column else int32)),
        )
        return True

    def _registered(self, call: Call, op: Operation, name: str) -> None:
        """The gradient function that was registered under a name takes the place of the rules."""
        if name not in GRADIENTS:
            raise LookupError(self.missing.format(op.name, op.type))
        function = GRADIENTS[name]
        if function is None:
            return
        gs = [self._dense(self.adjoints.get(r), r) for r in range(call.row, call.row + call.outputs)]
        shares = function(op, *gs)
        shares = list(shares) if isinstance(shares, (list, tuple)) else [shares]
        if len(shares) != len(call.inputs):
            raise ValueError(
                f"Num gradients {len(shares)} generated for op {op!r} do not match num inputs {len(call.inputs)}"
            )
        for row, share in zip(call.inputs, shares, strict=True):
            if share is not None and (self.reachable is None or self.reachable[row]):
                share = share if isinstance(share, (Tensor, IndexedSlices)) else convert_to_tensor(share)
                if isinstance(share, SymbolicTensor) and share.shape.is_compatible_with(self.tensor(row).shape):
                    share.set_shape(self.tensor(row).shape)  # TensorFlow believes the function, too
                self._add(row, share)

    def _when_run(self, call: Call) -> None:
        """Adds the row that applies the rule on arrays, when the shapes are known."""
        rules = call.primitive.rules
        adjoints = [self.adjoints.get(r) for r in range(call.row, call.row + call.outputs)]
        if rules is None or all(g is None for g in adjoints):
            return
        gs = [self._dense(g, r) for g, r in zip(adjoints, range(call.row, call.row + call.outputs), strict=True)]
        inputs = [self.tensor(r) for r in call.inputs]
        wanted = [
            i
            for i, r in enumerate(call.inputs)
            if (self.reachable is None or self.reachable[r])
            and inputs[i].dtype.differentiable
            and (callable(rules) or rules[i] is not None)
        ]
        shares = replay_row(call.primitive, call.attrs, gs, inputs, wanted)
        for i in wanted:
            self._add(call.inputs[i], shares[i])


def _check_shares(primitive: Primitive, shares: list[tuple[int, Any]], inputs: Tensors) -> list[tuple[int, Any]]:
    """The shares of a custom gradient; ValueError for one that has not the shape of its input."""
    for at, share in shares if primitive.name == "custom_gradient" else ():
        if isinstance(share, Tensor) and not share.shape.is_compatible_with(inputs[at].shape):
            raise ValueError(
                "Incompatible shapes between op input and calculated input gradient. Forward operation: "
                f"{primitive.op}. Input index: {at}. Original input shape: {inputs[at].shape}. Calculated input "
                "gradient "
                f"shape: {share.shape}"
            )
    return shares


def fit_share(share: Any, like: SymbolicTensor) -> Any:
    """A share of an adjoint in the shape of the value it belongs to."""
    if type(share) is EagerTensor and type(like) is EagerTensor:
        return share if share.shape == like.shape else unbroadcast(share, tuple(like.shape))
    have, want = share.shape, like.shape
    if have.is_fully_defined() and want.is_fully_defined():
        return share if have == want else unbroadcast(share, tuple(want))
    if isinstance(share, SymbolicTensor) and share.op.type in ("OnesLike", "ZerosLike") and share.op.inputs[0] is like:
        return share
    return state.graph.apply(FIT, (share, like), {})[0]


# gradient functions (op, *upstream) by the type that they were registered for
GRADIENTS: dict[str, Function | None] = {}


class RegisterGradient:
    """Decorator that registers ``grad(op, *upstream)`` under the name of an operation type.

    ``Graph.gradient_override_map`` says which operations use it. Raises KeyError when the name is taken, TypeError when
    it is no string. See https://www.tensorflow.org/api_docs/python/tf/RegisterGradient.

    >>> import minitape as tf
    >>> @tf.RegisterGradient("DoctestTimes7")
    ... def times7(op, grad):
    ...     return grad * 7.0
    >>> with tf.Graph().as_default() as g:
    ...     x = tf.constant(2.0)
    ...     with g.gradient_override_map({"Identity": "DoctestTimes7"}):
    ...         y = tf.identity(x)
    ...     with tf.compat.v1.Session() as session:
    ...         print(session.run(tf.gradients(y, x)))
    [np.float32(7.0)]
    """

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: Function | None) -> Function | None:
        op_type = self._op_type
        if op_type in GRADIENTS or any(p.op == op_type and p.rules is not None for p in TABLE.values()):
            raise KeyError(f"Registering two gradient with name '{op_type}'! (Previous registration was in register)")
        GRADIENTS[op_type] = f
        return f


def no_gradient(op_type: str) -> None:
    """Says that operations of a type have no gradient: None passes through them.

    Raises TypeError when ``op_type`` is no string. See https://www.tensorflow.org/api_docs/python/tf/no_gradient.

    >>> import minitape as tf
    >>> tf.no_gradient("DoctestSteps")
    """
    RegisterGradient(op_type)(None)


NotDifferentiable = no_gradient
