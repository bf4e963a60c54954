"""Analyze the graph of a ``tf.function`` without running it.

The functions in this module determine whether tapes compute gradients in the graph, which variables the graph changes,
and whether the graph depends on outside values.
"""

from typing import Any

import tensorflow as tf

from ...engine.types import OptionalFlag
from .operation_log import changes_variable

# Results of the analysis are cached in these attributes of the graph.
TAPES_ATTRIBUTE = "_minitape_tapes"
CHANGES_ATTRIBUTE = "_minitape_changes"
READ_OPS = ("ReadVariableOp", "ResourceGather", "ResourceGatherNd")
# The names of operations that run other graphs end with these words.
CONTROL_FLOW_SUFFIXES = ("While", "If", "Case", "Call")


def list_graph_and_inner_graphs(graph: Any) -> list:
    """Return a graph together with the graphs that its operations run."""
    return [graph, *(function.graph for function in graph._functions.values())]


def has_gradient_tape(graph: Any) -> bool:
    """Return whether a tape computes a gradient in a graph. The result is stored in the graph."""
    result: OptionalFlag = getattr(graph, TAPES_ATTRIBUTE, None)
    if result is None:
        graphs = list_graph_and_inner_graphs(graph)
        result = any(getattr(inner_graph, TAPES_ATTRIBUTE, False) for inner_graph in graphs)
        result |= any("gradient_tape" in op.name for inner_graph in graphs for op in inner_graph.get_operations())
        setattr(graph, TAPES_ATTRIBUTE, result)
    return result


def is_tape_or_function_with_tape(owner: Any) -> bool:
    """Return whether an object is a tape, or a ``tf.function`` in whose traces a tape computes gradients."""
    return isinstance(owner, tf.GradientTape) or any(
        has_gradient_tape(concrete_function.graph) for concrete_function in owner._function_cache.values()
    )


def find_indices_of_changed_handles(graph: Any) -> set[int]:
    """Return the positions of a graph's inputs that are handles of variables changed by the graph.

    The result is stored in the graph.
    """
    changed_places: set[int] | None = getattr(graph, CHANGES_ATTRIBUTE, None)
    if changed_places is None:
        outer_graph, *inner_graphs = list_graph_and_inner_graphs(graph)
        outer_tensors = {
            id(inner_tensor): value for current_graph in inner_graphs for value, inner_tensor in current_graph.captures
        }
        places = {id(tensor): place for place, tensor in enumerate(outer_graph.inputs)}
        places |= {id(value): places[id(inner_tensor)] for value, inner_tensor in outer_graph.captures}
        changed_places = set()
        operations = [op for each_graph in (outer_graph, *inner_graphs) for op in each_graph.get_operations()]
        for op in operations:
            if not changes_variable(op.type):
                continue
            handle = op.inputs[0]
            while id(handle) in outer_tensors:  # An inner graph captures the handle from the surrounding graph.
                handle = outer_tensors[id(handle)]
            if id(handle) in places:
                changed_places.add(places[id(handle)])
        setattr(graph, CHANGES_ATTRIBUTE, changed_places)
    return changed_places


def is_replayable(graph: Any) -> bool:
    """Return whether a graph is safe to repeat because it reads nothing from outside and changes only variables."""
    return all(
        not op.op_def.is_stateful
        or changes_variable(op.type)
        or op.type in READ_OPS
        or op.type.endswith(CONTROL_FLOW_SUFFIXES)
        for inner_graph in list_graph_and_inner_graphs(graph)
        for op in inner_graph.get_operations()
    )
