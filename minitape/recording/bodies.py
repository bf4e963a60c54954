"""Into bodies: the rows of a ``tf.function``, of a loop, of a branch, as one call of them ran.

Loops are walked as they are written, not turn by turn: what a turn is given was given to the loop, or is what a turn
made.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..engine.hooks import hooks
from ..engine.recording.block import no_tapes
from ..engine.tensor.tensor import Tensor, new_tensor

if TYPE_CHECKING:
    from ..engine.recording.record import Record
    from ..engine.recording.rows import Call
    from ..engine.tensor.variable import ResourceVariable
    from ..engine.types import Graph, Object
    from .nodes import TapeNode

INTO = ("function", "while", "case")


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
    attrs = call.attrs
    if call.primitive.name == "function":
        yield _of_function(attrs, call, output)
    # else: over a dataset, which no gradient passes
    elif call.primitive.name == "while" and call.primitive.rules is not None:
        body, count = attrs["body"], attrs["count"]
        if output is None or output < count:
            inputs, fetches = _given(call), body.fetches
            again = {row: fetches[at] for at, row in enumerate(body.feeds[:count])}
            yield FunctionBody(body.graph, _row(fetches, output), dict(zip(body.feeds, inputs, strict=True)), again)
    elif call.primitive.name == "case":
        for body in attrs["bodies"]:
            if output is None or output < len(body.fetches):
                yield FunctionBody(
                    body.graph, _row(body.fetches, output), dict(zip(body.feeds, call.inputs[1:], strict=True)), {}
                )


def _row(fetches: list[int], output: int | None) -> int:
    return -1 if output is None else fetches[output]


def test_of(call: Call) -> FunctionBody | None:
    """The condition of a loop, which decides how many turns it takes; None for other calls."""
    test = call.attrs.get("test")
    if test is None or call.primitive.name != "while":
        return None
    return FunctionBody(test.graph, test.fetches[0], dict(zip(test.feeds, _given(call), strict=True)), {})


def _given(call: Call) -> tuple[int, ...]:
    """The inputs of a loop that its bodies know: without the most turns, where a run alone knows that."""
    count = call.attrs["count"]
    return call.inputs[:count] + call.inputs[count + len(call.inputs) - len(call.attrs["body"].feeds) :]


def _of_function(attrs: dict[str, Object], call: Call, output: int | None) -> FunctionBody:
    concrete = attrs["concrete"] if "concrete" in attrs else attrs["taped"].concrete
    feeds = [[t._row] for t in concrete.body.inputs] + [rows for _, rows in concrete._reads.values()]
    if "taped" in attrs:
        feeds += [[row] for row in attrs["taped"].held]
    outer = {row: given for rows, given in zip(feeds, call.inputs, strict=False) for row in rows}
    return FunctionBody(concrete.graph, _row(concrete.body.fetches, output), outer, {})


def assigns(graph: Graph, variable: object, before: int) -> Iterator[tuple[Call, list[Call]]]:
    """The calls that assign to a variable before a row of a graph, each with the calls whose bodies contain it."""
    for call in graph.calls:
        if call.row >= before:
            continue
        if call.attrs.get("variable") is variable and call.primitive.name.startswith("assign"):
            yield call, []
        for body in bodies_of(call, None) if call.primitive.name in INTO else ():
            for made, around in assigns(body.graph, variable, len(body.graph)):
                yield made, [call, *around]


def read_by(graph: Graph, row: int) -> ResourceVariable | None:
    """The variable that a row of a graph reads; None for other rows."""
    call = graph.call_at(row)
    return None if call is None else call.attrs.get("variable")


def passes_of_own(record: Record, call: Call) -> list[bool]:
    """For each input of a custom gradient whether it hands an adjoint on."""
    first = call.attrs.get("results", 0)  # in a graph the results are inputs as well
    known = getattr(record, "replays", {}).get(("gradient", call.row))
    if known is not None:  # the gradient was asked for
        return [False] * first + [row is not None for row in known[1]]
    shares = own_shares(record, call)
    if shares is None:
        return [False] * first + [True] * (len(call.inputs) - first)
    return [False] * first + [s is not None for s in shares]


def own_shares(record: Record, call: Call) -> list[Tensor | None] | None:
    """What a gradient of the user's own gives for adjoints of one, out of sight of every tape; None where it fails.

    Of a graph it gives symbolic ones, in a graph of their own.
    """
    kinds = [record.shape_dtype(row) for row in range(call.row, call.row + call.outputs)]
    try:
        with no_tapes(), contextlib.redirect_stdout(io.StringIO()), _in_graph(record):
            return list(
                call.attrs["call"].shares(
                    [new_tensor(np.ones([n or 1 for n in shape], dtype)) for shape, dtype in kinds]
                )
            )
    except Exception:
        return None


def _in_graph(record: Record) -> contextlib.AbstractContextManager[object]:
    """A block in which operations on tensors of a graph go to a new graph inside it. No effect for other recordings."""
    tf: Object = hooks.minitape
    return tf.Graph(record).as_default() if hasattr(record, "reads") else contextlib.nullcontext()
