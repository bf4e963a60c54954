"""``cond``, ``switch_case`` and ``case``: branches that the values of tensors decide.

In eager mode they are Python's own ``if``. In a graph each is one operation that holds its branches as
bodies; its derivative runs the taken way again under a tape (:mod:`minitape.graphs.primitive`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.recording.state import state
from ..engine.table.primitives import TABLE
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.tensor import Tensor, new_tensor
from ..engine.values import nest
from ..engine.values.errors import InvalidArgumentError
from ..engine.values.invalid import invalid, shape_text
from .body import GraphBody, share_captures, trace_body
from .primitive import GraphPrimitive, write_notes
from .program import branch
from .scopes import control_dependencies
from .symbolic import Operation, SymbolicTensor
from .values import boolean, current

if TYPE_CHECKING:
    from ..engine.types import Array, Attributes, Index, Value
    from .types import Tensors

# -- cond ------------------------------------------------------------------------------------------


def _branch(index: Index, bodies: Sequence[GraphBody]) -> GraphBody:
    if index.ndim:  # one number may have axes
        if np.size(index) != 1:
            raise invalid(f"The second input must be a scalar, but it has shape {shape_text(index.shape)}", "Switch")
        index = index.reshape(())
    at = int(index)
    return bodies[at] if 0 <= at < len(bodies) else bodies[-1]


def _case_forward(index: Index, *arrays: Array, bodies: Sequence[GraphBody]) -> tuple:
    return _branch(index, bodies).run(arrays)


def _case_noting(index: Index, *arrays: Array, bodies: Sequence[GraphBody]) -> tuple:
    found, notes = _branch(index, bodies).run_noting(arrays)
    return (*found, write_notes(notes))


def _case_eager(tensors: Tensors, attrs: Attributes) -> list:
    notes = attrs.get("notes")
    bodies = attrs["bodies"]
    taken = _branch(tensors[0].array, bodies)
    with branch(taken, bodies, tensors[0]):
        found = taken.replay(tensors[1:], notes)
    return found if notes is None else [*found, new_tensor(write_notes(notes))]


def _case_infer(tensors: Tensors, attrs: Attributes) -> list:
    columns = zip(*[b.specs() for b in attrs["bodies"]], strict=True)
    specs = []
    for column in columns:
        shape = column[0][0]
        for other, _ in column[1:]:
            shape = shape.most_specific_compatible_shape(other)
        specs.append((shape, column[0][1]))
    return specs


def _case_connects(attrs: Attributes, at: int) -> bool:
    return at > 0 and any(b.connects(at - 1) for b in attrs["bodies"])


CASE = {
    (noting is not None, name): GraphPrimitive(
        "case", op, _case_infer, forward=_case_forward, noting=noting, eager=_case_eager, connects=_case_connects
    )
    for op, name, noting in (
        ("If", "cond", _case_noting),
        ("StatelessIf", "cond", None),
        ("Case", "switch_case", _case_noting),
        ("StatelessCase", "switch_case", None),
    )
}


def build_case(index: Index, bodies: list[GraphBody], name: str) -> list:
    """Adds the operation that runs one of the bodies."""
    captured = share_captures(bodies)
    stateful = any(b.effects for b in bodies)
    found = list(state.graph.apply(CASE[stateful, name], (index, *captured), {"bodies": tuple(bodies)}))
    return found[:-1] if stateful else found


def cond(pred: Value, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
    """Calls ``true_fn`` if ``pred`` is true, else ``false_fn``, and returns what it returns.

    In a graph both are traced, must return the same structure of tensors of the same dtypes, and one of them runs.
    Gradients flow through the taken branch. TypeError when a function is missing or not callable, ValueError when the
    results do not match. See https://www.tensorflow.org/api_docs/python/tf/cond.

    >>> import minitape as tf
    >>> x = tf.constant(3.0)
    >>> print(tf.cond(x > 2.0, lambda: x * x, lambda: -x).numpy())
    9.0
    """
    for label, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if function is None:
            raise TypeError(f"cond(): '{label}' argument required")
        if not callable(function):
            raise TypeError(f"'{label}' must be callable.")
    pred = current(pred)
    if state.graph is not None and not isinstance(pred, Tensor):
        raise TypeError("pred must not be a Python bool", pred)
    if not isinstance(pred, SymbolicTensor):
        return true_fn() if bool(convert_to_tensor(pred)) else false_fn()
    return cond_graph(pred, true_fn, false_fn)


def cond_graph(pred: Value, true_fn: Callable[[], Any] | GraphBody, false_fn: Callable[[], Any] | GraphBody) -> Any:
    """``cond`` on a symbolic tensor, of functions or of what was traced of them."""
    then, orelse = _trace_branch(true_fn, pred), _trace_branch(false_fn, pred)
    counts = [len(then.flat), len(orelse.flat)]
    if counts[0] != counts[1]:
        raise AssertionError(counts)
    try:
        nest.assert_same_structure(_describe(then), _describe(orelse))
    except (TypeError, ValueError) as error:
        raise TypeError(f"true_fn and false_fn must return the same structure: {error}") from None
    orelse.result
    lengths = [len(body.outputs) for body in (then, orelse)]
    if lengths[0] != lengths[1]:
        raise ValueError(
            "Lengths of branch outputs of cond must match."
            f"\nlen(graphs[0].outputs): {lengths[0]}\nlen(graphs[1].outputs): {lengths[1]}"
        )
    found = build_case(branch_number(pred), [then, orelse], "cond")
    refuse_number(pred)
    return then.pack(found)


def _trace_branch(function: Callable[[], Any] | GraphBody, decides: Any) -> GraphBody:
    """The body of a branch; an operation that it returns becomes ``decides``."""
    if isinstance(function, GraphBody):
        return function

    def as_tensor(leaf: Value) -> Any:
        if not isinstance(leaf, Operation):
            return leaf
        with control_dependencies([leaf]):
            return TABLE["identity"](decides)

    results = []

    def tensors() -> list:
        results.append(nest.map_structure(as_tensor, function()))
        return nest.flatten(results[0])

    body = trace_body(tensors, ())
    (body.result,) = results
    return body


_SWITCH = (
    "cond/switch_pred/_2' using Op<name=Switch; signature=data:T, pred:bool -> output_false:T, output_true:T; "
    "attr=T:type>"
)


def refuse_number(pred: Value, argument: str = "pred", node: str = _SWITCH) -> None:
    """InvalidArgumentError for a predicate that is no bool, which TensorFlow finds when the graph runs."""
    if pred.dtype.kind != "b":
        raise InvalidArgumentError(
            None,
            None,
            f"Input '{argument}' passed {pred.dtype.kernel_name} expected bool while building NodeDef '{node}",
        )




def _describe(body: GraphBody) -> Any:
    """What a branch returns, as error messages show it."""
    return nest.pack_sequence_as(body.result, body.flat)


def branch_number(pred: Value) -> Any:
    """0 where true, 1 where false: the number of the branch."""
    return TABLE["logical_not"](new_tensor(np.bool_(False)) if pred.dtype.kind == "s" else boolean(pred))














