"""What the graph of a ``tf.function`` says without a run: whether tapes compute gradients in it, what it changes, and
whether it asks anybody for values.
"""

from __future__ import annotations

from typing import Any

from .operations import changes_variable

TAPES, CHANGES = "_minitape_tapes", "_minitape_changes"  # what is known of a graph, as attributes of it
READS = ("ReadVariableOp", "ResourceGather", "ResourceGatherNd")
FLOW = ("While", "If", "Case", "Call")  # how the names of operations end that run other graphs


def graphs_within(graph: Any) -> list:
    """A graph, and those that its operations run."""
    return [graph, *(inner.graph for inner in graph._functions.values())]


def has_tapes(graph: Any) -> bool:
    """Whether a tape computes a gradient in a graph."""
    known: bool | None = getattr(graph, TAPES, None)
    if known is None:
        within = graphs_within(graph)
        known = any(getattr(inner, TAPES, False) for inner in within)
        known |= any("gradient_tape" in op.name for inner in within for op in inner.get_operations())
        setattr(graph, TAPES, known)
    return known


def changes_in(graph: Any) -> set[int]:
    """Which inputs of a graph are variables that it changes, by their places."""
    known: set[int] | None = getattr(graph, CHANGES, None)
    if known is None:
        own, *inner = graphs_within(graph)
        outside = {id(inside): value for one in inner for value, inside in one.captures}
        places = {id(tensor): number for number, tensor in enumerate(own.inputs)}
        places |= {id(value): places[id(inside)] for value, inside in own.captures}
        known = set()
        for op in (op for one in (own, *inner) for op in one.get_operations() if changes_variable(op.type)):
            handle = op.inputs[0]
            while id(handle) in outside:  # the graph around it gave it
                handle = outside[id(handle)]
            known |= {places[id(handle)]} if id(handle) in places else set()
        setattr(graph, CHANGES, known)
    return known


def is_repeatable(graph: Any) -> bool:
    """Whether a graph may run again without a word of the program's: it asks nothing outside for values, and changes
    variables only.
    """
    return all(
        not op.op_def.is_stateful or changes_variable(op.type) or op.type in READS or op.type.endswith(FLOW)
        for one in graphs_within(graph)
        for op in one.get_operations()
    )
