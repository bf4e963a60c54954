"""What the graph of a ``tf.function`` says without a run: whether tapes compute gradients in it, what it changes, and
whether it asks anybody for values.
"""

from __future__ import annotations

from typing import Any

from .operation_log import changes_variable

TAPES_ATTRIBUTE, CHANGES_ATTRIBUTE = (
    "_minitape_tapes",
    "_minitape_changes",
)  # what is known of a graph, as attributes of it
READ_OPS = ("ReadVariableOp", "ResourceGather", "ResourceGatherNd")
CONTROL_FLOW_SUFFIXES = ("While", "If", "Case", "Call")  # how the names of operations end that run other graphs


def list_graph_and_inner_graphs(graph: Any) -> list:
    """Return a graph, and those that its operations run."""
    return [graph, *(function.graph for function in graph._functions.values())]


def has_gradient_tape(graph: Any) -> bool:
    """Return whether a tape computes a gradient in a graph, and remember it in the graph."""
    result: bool | None = getattr(graph, TAPES_ATTRIBUTE, None)
    if result is None:
        graphs = list_graph_and_inner_graphs(graph)
        result = any(getattr(inner_graph, TAPES_ATTRIBUTE, False) for inner_graph in graphs)
        result |= any("gradient_tape" in op.name for inner_graph in graphs for op in inner_graph.get_operations())
        setattr(graph, TAPES_ATTRIBUTE, result)
    return result


def find_changed_input_places(graph: Any) -> set[int]:
    """Return the places of the inputs that are variables which a graph changes."""
    changed_places: set[int] | None = getattr(graph, CHANGES_ATTRIBUTE, None)
    if changed_places is None:
        outer_graph, *inner_graphs = list_graph_and_inner_graphs(graph)
        outer_tensors = {
            id(inner_tensor): value for current_graph in inner_graphs for value, inner_tensor in current_graph.captures
        }
        places = {id(tensor): place for place, tensor in enumerate(outer_graph.inputs)}
        places |= {id(value): places[id(inner_tensor)] for value, inner_tensor in outer_graph.captures}
        changed_places = set()
        for op in (
            op
            for current_graph in (outer_graph, *inner_graphs)
            for op in current_graph.get_operations()
            if changes_variable(op.type)
        ):
            handle = op.inputs[0]
            while id(handle) in outer_tensors:  # the graph around it gave it
                handle = outer_tensors[id(handle)]
            changed_places |= {places[id(handle)]} if id(handle) in places else set()
        setattr(graph, CHANGES_ATTRIBUTE, changed_places)
    return changed_places


def is_replayable(graph: Any) -> bool:
    """Return whether a graph may run again unnoticed: it asks nothing outside, and changes only variables."""
    return all(
        not op.op_def.is_stateful
        or changes_variable(op.type)
        or op.type in READ_OPS
        or op.type.endswith(CONTROL_FLOW_SUFFIXES)
        for inner_graph in list_graph_and_inner_graphs(graph)
        for op in inner_graph.get_operations()
    )
