"""Gradients inside a graph: the one reverse sweep, run on symbolic tensors, adds rows; gradients registered by name.

Where the shapes of a call are known, its rule is applied as it is. Where they are not, a rule cannot say to which
shape it must reduce or spread; then one row is added that applies the rule when the graph runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any


from ..engine.back.sweep import Sweep
from ..engine.back.values import unbroadcast
from ..engine.recording.state import state
from ..engine.table.primitives import TABLE
from ..engine.tensor.convert import convert_to_tensor, is_array
from ..engine.tensor.tensor import Tensor, new_tensor
from .primitive import GraphPrimitive, replay_row
from .symbolic import SymbolicTensor

if TYPE_CHECKING:
    from ..engine.recording.rows import Call
    from ..engine.table.primitives import Primitive
    from ..engine.types import Adjoint, Attributes, Function
    from .build import Graph
    from .symbolic import Operation
    from .types import Tensors


_SHAPELESS = {"identity", "stop_gradient", "zeros_like", "ones_like", "cast", "matmul", "select", "conj", "transpose"}


# an adjoint summed down, or spread, to the shape of another value: what the sweep does by itself where shapes are known
FIT = GraphPrimitive(
    "fit_like",
    "SumLike",
    lambda tensors, attrs: [(tensors[1].shape, tensors[0].dtype)],
    forward=lambda share, like: (share if share.shape == like.shape else unbroadcast(share, like.shape),),
    eager=lambda tensors, attrs: [unbroadcast(tensors[0], tuple(tensors[1].shape))],
    rules=[lambda g, z, share, like: fit_share(g, share), None],
)




# slices as the dense tensor that they stand for, where only a run knows its shape






class GraphSweep(Sweep):
    """A reverse sweep that adds rows to a graph: the values that its rules read are the graph's tensors."""

    record: Graph
    prefix = ""  # the name scope of ``tf.gradients``; nothing for a tape
    missing = "gradient registry has no entry for: {1}"  # what a tape says
    verifies = False  # no tape looks at the shapes that custom gradients return

    def __init__(self, graph: Graph, *args: Any, **kwargs: Any) -> None:
        super().__init__(graph, *args, **kwargs)
        # down to the first row, for that of a leaf may be a late one
        self.low, self.values = 0, graph.tensors

    def _call(self, call: Call) -> bool:
        arrived = [r for r in range(call.row, call.row + call.outputs) if r in self.adjoints]
        if not arrived:
            return False
        self.op = op = self.record.op_of[call.row]
        with state.graph.name_scope(self._scope(op.name)):
            for row in arrived if _registered_name(op) else ():
                self.adjoints[row] = self._dense(self.adjoints[row], row)
            return super()._call(call)

    def _scope(self, name: str) -> str:
        """The name scope of the operations that hand on the adjoint of operation ``name``."""
        if self.prefix:
            return f"{self.prefix}/{name}_grad/"
        return f"gradient_tape/{name.rpartition('/')[0]}".rstrip("/") + "/"

    def _shares(
        self,
        primitive: Primitive,
        wanted: Sequence[int],
        g: Adjoint,
        z: Adjoint,
        inputs: list,
        attrs: Attributes,
    ) -> list[tuple[int, Any]]:
        op, rules = self.op, primitive.rules
        gs = list(g) if type(g) is list else [g]
        if (name := _registered_name(op)) is not None:
            return self._registered(name, gs, inputs, wanted)
        if rules is None and primitive.missing == "unregistered" and wanted:
            raise LookupError(self.missing.format(op.name, op.type))
        if rules is None:
            return []
        replays = getattr(primitive, "replays", False)
        if not replays and self._shapes_known(primitive):
            found = list(super()._shares(primitive, wanted, g, z, inputs, attrs))
            return _check_shares(primitive, found, inputs) if self.verifies else found
        if getattr(primitive, "noted", False):
            gs[-1] = z[-1]
        wanted = [i for i in wanted if callable(rules) or rules[i] is not None]
        shares = replay_row(primitive, attrs, gs, inputs, wanted)
        return [(i, shares[i]) for i in wanted]

    def _shapes_known(self, primitive: Primitive) -> bool:
        """Whether the rule of the operation can be applied as it is."""
        if primitive.code or primitive.name in _SHAPELESS or getattr(primitive, "symbolic_rule", False):
            return True
        return all(t.shape.is_fully_defined() for t in (*self.op.inputs, *self.op.outputs))

    def _registered(self, name: str, gs: Tensors, inputs: Tensors, wanted: Sequence[int]) -> list[tuple[int, Any]]:
        """The result of the gradient function that was registered under a name, in place of the rules."""
        if name not in GRADIENTS:
            raise LookupError(self.missing.format(self.op.name, self.op.type))
        function = GRADIENTS[name]
        if function is None:
            return []
        shares = function(self.op, *gs)
        shares = list(shares) if isinstance(shares, (list, tuple)) else [shares]
        if len(shares) != len(inputs):
            raise ValueError(
                f"Num gradients {len(shares)} generated for op {self.op!r} do not match num inputs {len(inputs)}"
            )
        found = []
        for i in wanted:
            share = shares[i]
            if share is not None and (not isinstance(share, Tensor)):
                share = convert_to_tensor(share)
            if isinstance(share, SymbolicTensor) and share.shape.is_compatible_with(inputs[i].shape):
                share.set_shape(inputs[i].shape)  # TensorFlow believes the function, too
            found.append((i, share))
        return found

    # -- adding up ---------------------------------------------------------------------------------

    def _dense(self, g: Adjoint, row: int) -> Any:
        return TABLE["zeros_like"](self.values[row]) if g is None else super()._dense(g, row)

    def _add(self, row: int, share: Adjoint, as_given: bool = False) -> None:
        if is_array(share):
            share = new_tensor(share)
        if not as_given:
            share = fit_share(share, self.values[row])
        before = self.adjoints.get(row)
        if before is None:
            total = share
        else:
            scope = f"{self.prefix}/" if self.prefix else None
            with state.graph.name_scope(scope):
                total = state.graph.apply(TABLE["add"], (before, share), {}, "AddN")
        self.adjoints[row] = total



def _registered_name(op: Operation) -> str | None:
    """The name under which the gradient of an operation was registered."""
    return op.gradient or (op.type if op.type in GRADIENTS else None)




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


def fit_share(share: Adjoint, like: SymbolicTensor) -> Any:
    """A share of an adjoint in the shape of the value it belongs to."""
    have, want = share.shape, like.shape
    if want.is_fully_defined() and have.rank is not None:
        sizes = zip(have.as_list()[::-1], want.as_list()[::-1], strict=False)
        if all(m is not None or n == 1 for m, n in sizes):  # what is summed away may have any size
            return share if have == want else unbroadcast(share, tuple(want))
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




