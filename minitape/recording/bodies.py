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

from ..engine.recording.block import no_tapes
from ..engine.tensor.tensor import Tensor, new_tensor

if TYPE_CHECKING:
    from ..engine.recording.record import Record
    from ..engine.recording.rows import Call
    from ..engine.tensor.variable import ResourceVariable
    from ..engine.types import Object
    from .nodes import TapeNode

INTO = ("function", "while", "cond")


class Caller(NamedTuple):
    """The call of a function: its node, by row of the function the row outside, and of a loop by row what the next turn
    is given.
    """

    node: TapeNode
    outer: dict[int, int]
    again: dict[int, int]


class FunctionBody(NamedTuple):
    """The rows that a call runs, the one that computes a result, and how its inputs are called outside."""

    record: Record
    row: int
    outer: dict[int, int]
    again: dict[int, int]


def outermost(node: TapeNode) -> TapeNode:
    """The call on the tape in which a node of a function ran; a node of the tape itself."""
    while node.caller is not None:
        node = node.caller.node
    return node


def bodies_of(call: Call, output: int | None) -> Iterator[FunctionBody]:
    """The bodies in which a call computes one of its outputs (None: all, by no row); none where nothing is known of
    them.
    """
    recording: Object = call.attrs.get("recording")
    if recording is not None:  # else gone with all that a released tape held
        yield _body(recording, call.inputs, output)
    elif call.primitive.name in INTO[1:]:
        primitive: Object = call.primitive
        for body, first in [*zip(primitive.bodies, primitive.starts, strict=True)][primitive.name == "while" :]:
            if output is None or output < len(body.results):
                yield _body(body, _given(call, body, first), output, body.arguments * (primitive.name == "while"))


def _given(call: Call, body: Object, first: int) -> Sequence[int]:
    """The rows outside that the feeds of a body are: its arguments are the first inputs of a loop."""
    own = body.arguments
    return [*call.inputs[:own], *call.inputs[first : first + len(body.feeds) - own]]


def _body(recording: Object, given: Sequence[int], output: int | None, carried: int = 0) -> FunctionBody:
    rows = [feed.row for feed in recording.feeds]
    again = dict(zip(rows[:carried], recording.results, strict=False))
    outside = dict(zip(rows, given, strict=False))
    return FunctionBody(recording.table.record, -1 if output is None else recording.results[output], outside, again)


def test_of(call: Call) -> FunctionBody | None:
    """The condition of a loop, which decides how many turns it takes; None for other calls."""
    if call.primitive.name != "while":
        return None
    primitive: Object = call.primitive
    return _body(primitive.bodies[0], _given(call, primitive.bodies[0], primitive.starts[0]), 0)


def assigns(record: Record, variable: object, before: int) -> Iterator[tuple[Call, list[Call]]]:
    """The calls that assign to a variable before a row of a trace, each with the calls whose bodies contain it."""
    for event in record.events:
        if event.kind in ("assign", "assign_add", "assign_sub") and event.subject[0] is variable:
            made = record.call_at(event.subject[2])
            if made is not None and made.row < before and made.primitive.name not in INTO:
                yield made, []
    for call in record.calls:
        for body in bodies_of(call, None) if call.row < before and call.primitive.name in INTO else ():
            for made, around in assigns(body.record, variable, len(body.record)):
                yield made, [call, *around]


def read_by(record: Record, row: int) -> ResourceVariable | None:
    """The variable whose state is a row of a trace; None for other rows."""
    return next((v for v, rows in record.variables.values() if row in rows), None)


def passes_of_own(record: Record, call: Call) -> list[bool]:
    """For each input of a custom gradient whether it hands an adjoint on."""
    first = call.attrs.get("results", 0)  # in a function the results are inputs as well
    shares = own_shares(record, call)
    if shares is None:
        return [False] * first + [True] * (len(call.inputs) - first)
    return [False] * first + [s is not None for s in shares]


def own_shares(record: Record, call: Call) -> list[Tensor | None] | None:
    """The results of a user's own gradient for adjoints of one, out of sight of every tape; None where it fails."""
    kinds = [record.shape_dtype(row) for row in range(call.row, call.row + call.outputs)]
    ones = [new_tensor(np.ones(shape, dtype)) for shape, dtype in kinds]
    try:
        with no_tapes(), contextlib.redirect_stdout(io.StringIO()):
            return list(call.attrs["call"].shares(ones))
    except Exception:
        return None
