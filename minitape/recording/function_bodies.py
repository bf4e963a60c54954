"""Follow values into the bodies of functions, loops and branches that one call ran.

The body of a loop is visited once, not once per iteration. An iteration's input is either an input of the loop or a
result of an earlier iteration.
"""

from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from typing import NamedTuple

import numpy as np

from ..engine.record.interrupt_safe import suspend_recording
from ..engine.record.record import Record
from ..engine.record.row_parts import Call
from ..engine.tensor.tensor import Tensor, wrap_array_with_origin
from ..engine.tensor.variable import ResourceVariable
from ..engine.types import Object, OptionalNumber, RowByRow, RowSequence
from .graph_nodes import ValueNode

BODY_PRIMITIVES = ("function", "while", "cond")


class EnclosingCall(NamedTuple):
    """The call whose body contains a node.

    Attributes:
        node: The node of the call.
        outer_rows: For each input row of the body, the row outside the body that provides its value.
        next_turn_rows: For each input row of a loop body, the row of the body that provides its value in the next
            iteration.
    """

    node: ValueNode
    outer_rows: RowByRow
    next_turn_rows: RowByRow


class FunctionBody(NamedTuple):
    """The recorded body of a function, loop or branch that ran in a call.

    Attributes:
        record: The recording of the body.
        row: The row that computes the requested result, or -1 if no particular result is requested.
        outer_rows: For each input row of the body, the row outside the body that provides its value.
        next_turn_rows: For each input row of a loop body, the row of the body that provides its value in the next
            iteration.
    """

    record: Record
    row: int
    outer_rows: RowByRow
    next_turn_rows: RowByRow


def find_outermost_call_or_node_itself(node: ValueNode) -> ValueNode:
    """Return the call on the tape that contains a function's node, or the node itself if it is on the tape.

    Args:
        node: The node.
    """
    while node.enclosing_call is not None:
        node = node.enclosing_call.node
    return node


def iter_bodies_computing_output(call: Call, output_index: OptionalNumber) -> Iterator[FunctionBody]:
    """Yield the bodies in which a call computes one of its outputs.

    Args:
        call: The function call, loop or branch. Nothing is yielded for any other call, or if the tape has already
            released the recording of the function.
        output_index: The index of the output. If the index is None, all bodies are yielded, with -1 as the row.
    """
    concrete_function: Object = call.attrs.get("concrete_function")
    if concrete_function is not None:
        yield _build_function_body(concrete_function, call.inputs, output_index)
    elif call.primitive.name in BODY_PRIMITIVES[1:]:
        primitive: Object = call.primitive
        is_loop = primitive.name == "while"
        bodies = [*zip(primitive.bodies, primitive.first_inputs, strict=True)]
        if is_loop:
            del bodies[0]  # The first body of a loop is its condition, through which no gradient passes.
        for body, first_input in bodies:
            if output_index is None or output_index < len(body.result_rows):
                fed_rows = _list_rows_fed_to_body(call, body, first_input)
                yield _build_function_body(body, fed_rows, output_index, body.argument_count if is_loop else 0)


def _list_rows_fed_to_body(call: Call, body: Object, first_captured_input: int) -> RowSequence:
    """Return the rows outside a body that provide its inputs. A loop's first inputs feed its body's arguments."""
    argument_count = body.argument_count
    return [
        *call.inputs[:argument_count],
        *call.inputs[first_captured_input : first_captured_input + len(body.feeds) - argument_count],
    ]


def _build_function_body(
    concrete_function: Object, input_rows: RowSequence, output_index: OptionalNumber, carried_count: int = 0
) -> FunctionBody:
    """Return a recorded function's body. Its first `carried_count` inputs receive results of the previous iteration."""
    feed_rows = [feed.row for feed in concrete_function.feeds]
    next_turn_rows = dict(zip(feed_rows[:carried_count], concrete_function.result_rows, strict=False))
    outer_rows = dict(zip(feed_rows, input_rows, strict=False))
    return FunctionBody(
        concrete_function.traced_rows.record,
        -1 if output_index is None else concrete_function.result_rows[output_index],
        outer_rows,
        next_turn_rows,
    )


def find_loop_condition(call: Call) -> FunctionBody | None:
    """Return the function body that decides whether a loop runs another iteration.

    Args:
        call: The call. If the call is not a loop, the result is None.
    """
    if call.primitive.name != "while":
        return None
    primitive: Object = call.primitive
    return _build_function_body(
        primitive.bodies[0], _list_rows_fed_to_body(call, primitive.bodies[0], primitive.first_inputs[0]), 0
    )


def iter_assignments_and_outer_calls_before(
    record: Record, variable: object, end_row: int
) -> Iterator[tuple[Call, list[Call]]]:
    """Yield the calls in a function's first run that assign to a variable before a given row.

    Args:
        record: The recording of the first run.
        variable: The variable.
        end_row: The row before which the assignments were made.

    Yields:
        Each assigning call, with the surrounding loop and branch calls, outermost first.
    """
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
        if call.row >= end_row:
            continue
        for body in iter_bodies_computing_output(call, None):
            for assign_call, outer_calls in iter_assignments_and_outer_calls_before(
                body.record, variable, len(body.record)
            ):
                yield assign_call, [call, *outer_calls]


def find_variable_of_state_row(record: Record, row: int) -> ResourceVariable | None:
    """Return the variable whose state a row of a function's first run holds, or None if the row holds no state.

    Args:
        record: The recording of the first run.
        row: The row.
    """
    return next((variable for variable, state_rows in record.variables.values() if row in state_rows), None)


def list_whether_inputs_get_custom_share(record: Record, call: Call) -> list[bool]:
    """Return, for each input of a custom gradient, whether it receives a share.

    Args:
        record: The recording.
        call: The call of the custom gradient.
    """
    result_count = call.attrs.get("results", 0)  # Inside a function, the results are the first inputs of the call.
    shares = compute_custom_shares_for_unit_adjoints(record, call)
    if shares is None:
        return [False] * result_count + [True] * (len(call.inputs) - result_count)
    return [False] * result_count + [share is not None for share in shares]


def compute_custom_shares_for_unit_adjoints(record: Record, call: Call) -> list[Tensor | None] | None:
    """Call the user's gradient function with ones as adjoints while recording is suspended and output is hidden.

    Args:
        record: The recording.
        call: The call of the custom gradient.

    Returns:
        The share of each input, or None if the gradient function raised an error.
    """
    specs = [record.get_shape_and_dtype(row) for row in range(call.row, call.row + call.outputs)]
    unit_adjoints = [wrap_array_with_origin(np.ones(shape, dtype)) for shape, dtype in specs]
    try:
        with suspend_recording(), redirect_stdout(StringIO()):
            return list(call.attrs["call"].compute_shares(unit_adjoints))
    except Exception:
        return None
