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
    from ..engine.types import Graph, Object
    from .nodes import TapeNode

INTO = ("function", "while", "cond", "switch_case")


class Caller(NamedTuple):
    """The call of a graph: its node, by row of the graph the row outside, and of a loop by row what the next turn is
    given.
    """

    node: TapeNode
    outer: dict[int, int]
    again: dict[int, int]


class FunctionBody(NamedTuple):
    """A graph that a call runs, the row that it computes a result with, and how its inputs are called outside."""

    graph: Graph
    row: int
    outer: dict[int, int]
    again: dict[int, int]


def outermost(node: TapeNode) -> TapeNode:
    """The call on the tape in which a node of a graph ran; a node of the tape itself."""
    while node.caller is not None:
        node = node.caller.node
    return node


def bodies_of(call: Call, output: int | None) -> Iterator[FunctionBody]:
    """The bodies in which a call computes one of its outputs (None: all, by no row); none where nothing is known of
    them.
    """
    primitive = call.primitive
    if primitive.name == "function":
        recording: Object = call.attrs["recording"]
        trace = recording.trace
        outer = dict(zip([*recording.feeds, *recording.captured], call.inputs, strict=False))
        yield FunctionBody(trace, _row(recording.results, output), outer, {})
    elif primitive.name == "while":
        body: Object = primitive.bodies[1]
        if output is None or output < len(body.own.results):
            again = dict(zip(body.own.arguments, body.own.results, strict=True))
            yield FunctionBody(body.own.trace, _row(body.own.results, output), _outer(body, call.inputs), again)
    elif primitive.name in INTO:
        for body in primitive.bodies:
            if output is None or output < len(body.own.results):
                outer = _outer(body, call.inputs)
                yield FunctionBody(body.own.trace, _row(body.own.results, output), outer, {})


def _outer(body: Object, inputs: Sequence[int]) -> dict[int, int]:
    """What the rows of a body are outside: its arguments, then what it takes from there."""
    return dict(zip(body.own.arguments, inputs, strict=False)) | dict(
        zip(body.places, inputs[body.offset :], strict=False)
    )


def _row(results: list[int], output: int | None) -> int:
    return -1 if output is None else results[output]


def test_of(call: Call) -> FunctionBody | None:
    """The condition of a loop, which decides how many turns it takes; None for other calls."""
    if call.primitive.name != "while":
        return None
    test: Object = call.primitive.bodies[0]
    return FunctionBody(test.own.trace, test.own.results[0], _outer(test, call.inputs), {})


def assigns(graph: Graph, variable: object, before: int) -> Iterator[tuple[Call, list[Call]]]:
    """The calls that assign to a variable before a row of a trace, each with the calls whose bodies contain it."""
    for event in graph.events:
        if event.kind in ("assign", "assign_add", "assign_sub") and event.subject[0] is variable:
            made = graph.call_at(event.subject[2])
            if made is not None and made.row < before and made.primitive.name not in INTO:
                yield made, []
    for call in graph.calls:
        for body in bodies_of(call, None) if call.row < before and call.primitive.name in INTO else ():
            for made, around in assigns(body.graph, variable, len(body.graph)):
                yield made, [call, *around]


def read_by(graph: Graph, row: int) -> ResourceVariable | None:
    """The variable whose state is a row of a trace; None for other rows."""
    return next((v for v, rows in graph.variables.values() if row in rows), None)


def passes_of_own(record: Record, call: Call) -> list[bool]:
    """For each input of a custom gradient whether it hands an adjoint on."""
    first = call.attrs.get("results", 0)  # in a graph the results are inputs as well
    shares = own_shares(record, call)
    if shares is None:
        return [False] * first + [True] * (len(call.inputs) - first)
    return [False] * first + [s is not None for s in shares]


def own_shares(record: Record, call: Call) -> list[Tensor | None] | None:
    """What a gradient of the user's own gives for adjoints of one, out of sight of every tape; None where it fails.

    Of a graph it gives symbolic ones, in a graph of their own.
    """
    kinds = [record.shape_dtype(row) for row in range(call.row, call.row + call.outputs)]
    ones = [new_tensor(np.ones([n or 1 for n in shape], dtype)) for shape, dtype in kinds]
    try:
        with no_tapes(), contextlib.redirect_stdout(io.StringIO()):
            return list(call.attrs["call"].shares(ones))
    except Exception:
        return None
