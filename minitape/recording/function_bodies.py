"""Into bodies: the rows of a ``tf.function``, of a loop, of a branch, as one call of them ran.

Loops are walked as they are written, not turn by turn: what a turn is given was given to the loop, or is what a turn
made.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..engine.record.interrupt_safe import suspend_recording
from ..engine.tensor.tensor import Tensor, create_tensor

if TYPE_CHECKING:
    from ..engine.record.record import Record
    from ..engine.record.row_parts import Call
    from ..engine.tensor.variable import ResourceVariable
    from ..engine.types import Object
    from .graph_nodes import ValueNode

BODY_PRIMITIVES = ("function", "while", "cond")


class EnclosingCall(NamedTuple):
    """The call in whose body a node ran: its node, by row of the body the row outside, and of a loop by row the row
    that is fed to the next turn.
    """

    node: ValueNode
    outer_rows: dict[int, int]
    next_turn_rows: dict[int, int]


class FunctionBody(NamedTuple):
    """The rows that a call runs, the one that computes a result, and how its inputs are called outside."""

    record: Record
    row: int
    outer_rows: dict[int, int]
    next_turn_rows: dict[int, int]


def find_call_on_tape(node: ValueNode) -> ValueNode:
    """Find the call on the tape in which a node of a function ran; of a node of the tape return the node itself."""
    while node.enclosing_call is not None:
        node = node.enclosing_call.node
    return node


def iter_bodies_of_call(call: Call, output_index: int | None) -> Iterator[FunctionBody]:
    """Yield the bodies in which a call computes one of its outputs (None: all, by no row); none where nothing is known
    of them.
    """
    recording: Object = call.attrs.get("recording")
    if recording is not None:  # else gone with all that a released tape held
        yield _build_function_body(recording, call.inputs, output_index)
    elif call.primitive.name in BODY_PRIMITIVES[1:]:
        primitive: Object = call.primitive
        for body, first_input in [*zip(primitive.bodies, primitive.first_inputs, strict=True)][
            primitive.name == "while" :
        ]:
            if output_index is None or output_index < len(body.results):
                yield _build_function_body(
                    body,
                    _list_rows_fed_to_body(call, body, first_input),
                    output_index,
                    body.argument_count * (primitive.name == "while"),
                )


def _list_rows_fed_to_body(call: Call, body: Object, first_feed_input: int) -> Sequence[int]:
    """List the rows outside that are fed to a body: its arguments are the first inputs of a loop."""
    argument_count = body.argument_count
    return [
        *call.inputs[:argument_count],
        *call.inputs[first_feed_input : first_feed_input + len(body.feeds) - argument_count],
    ]


def _build_function_body(
    recording: Object, input_rows: Sequence[int], output_index: int | None, carried_count: int = 0
) -> FunctionBody:
    feed_rows = [feed.row for feed in recording.feeds]
    next_turn_rows = dict(zip(feed_rows[:carried_count], recording.results, strict=False))
    outer_rows = dict(zip(feed_rows, input_rows, strict=False))
    return FunctionBody(
        recording.table.record,
        -1 if output_index is None else recording.results[output_index],
        outer_rows,
        next_turn_rows,
    )


def find_loop_condition(call: Call) -> FunctionBody | None:
    """The condition of a loop, which decides how many turns it takes; None for other calls."""
    if call.primitive.name != "while":
        return None
    primitive: Object = call.primitive
    return _build_function_body(
        primitive.bodies[0], _list_rows_fed_to_body(call, primitive.bodies[0], primitive.first_inputs[0]), 0
    )


def iter_assignments_before(record: Record, variable: object, end_row: int) -> Iterator[tuple[Call, list[Call]]]:
    """Yield the calls that assign to a variable before a row of a trace, each with the calls around it."""
    for event in record.events:
        if event.kind in ("assign", "assign_add", "assign_sub") and event.subject[0] is variable:
            assign_call = record.get_call(event.subject[2])
            if (
                assign_call is not None
                and assign_call.row < end_row
                and assign_call.primitive.name not in BODY_PRIMITIVES
            ):
                yield assign_call, []
    for call in record.calls:
        for body in (
            iter_bodies_of_call(call, None) if call.row < end_row and call.primitive.name in BODY_PRIMITIVES else ()
        ):
            for assign_call, outer_calls in iter_assignments_before(body.record, variable, len(body.record)):
                yield assign_call, [call, *outer_calls]


def find_variable_of_state_row(record: Record, row: int) -> ResourceVariable | None:
    """Find the variable whose state is a row of a trace; None for other rows."""
    return next((variable for variable, state_rows in record.variables.values() if row in state_rows), None)


def list_custom_gradient_passes(record: Record, call: Call) -> list[bool]:
    """Return for each input of a custom gradient whether an adjoint passes to it."""
    result_count = call.attrs.get("results", 0)  # in a function the results are inputs as well
    shares = compute_custom_gradient_shares(record, call)
    if shares is None:
        return [False] * result_count + [True] * (len(call.inputs) - result_count)
    return [False] * result_count + [share is not None for share in shares]


def compute_custom_gradient_shares(record: Record, call: Call) -> list[Tensor | None] | None:
    """Call a user's own gradient with adjoints of one, out of sight of every tape; return None where it fails."""
    specs = [record.get_shape_and_dtype(row) for row in range(call.row, call.row + call.outputs)]
    unit_adjoints = [create_tensor(np.ones(shape, dtype)) for shape, dtype in specs]
    try:
        with suspend_recording(), contextlib.redirect_stdout(io.StringIO()):
            return list(call.attrs["call"].shares(unit_adjoints))
    except Exception:
        return None
