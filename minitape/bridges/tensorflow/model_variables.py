"""Find a TensorFlow program's variables by their paths in the program, such as ``gen.out.kernel``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from ...engine.types import LIST_OR_TUPLE
from ...explain.translated_sentences import UNNAMED_TENSOR, fill
from ...recording.access_paths import list_parts_with_suffixes
from ...recording.recorded_rows import OptionalArray, collect_rows_and_ancestors, collect_rows_and_connected_ancestors
from ...recording.sites import NOWHERE, Site
from ...recording.value_summary import to_float_array
from ..framework_adapter import list_all_named_program_objects
from ..model_page import store_under_unused_name
from ..recording import SourcesByName
from .function_calls import iter_targets_with_recordings, list_recording_and_reruns
from .operation_log import find_given_variable_name, find_handle_id

if TYPE_CHECKING:
    from .recording import TensorFlowRecording

MODULE_TYPES = (tf.Module, tf.keras.layers.Layer)
DEPTH_LIMIT = 12  # Containers that are nested more deeply than this are not searched.


def find_trainable_or_requested_model_variables(recording: TensorFlowRecording, model: Any) -> SourcesByName | None:
    """Return the trainable variables of a layer, model or module, keyed by their paths in the program.

    Other variables are included if the program requested a gradient for them.

    Args:
        recording: The program's recording.
        model: The layer, model or module.

    Returns:
        The variables, keyed by path, or None if `model` is any other object.
    """
    if not isinstance(model, MODULE_TYPES):
        return None
    name = next(
        (name for name, value in list_all_named_program_objects() if value is model and not name.startswith("_")),
        type(model).__name__,
    )
    requested_handle_ids = collect_requested_handle_ids(recording)
    return {
        path: variable
        for path, variable in iter_variables_with_paths(model, name)
        if is_float_variable(variable) or find_handle_id(variable) in requested_handle_ids
    }


def collect_requested_handle_ids(recording: TensorFlowRecording) -> set[int]:
    """Return the handle identities of the variables for which the program requested a gradient.

    Gradients in compiled steps are included.
    """
    return {
        id(handle)
        for item in list_recording_and_reruns(recording)
        for sweep in item.sweeps
        for reference, _ in sweep.source_results
        if (handle := reference()) is not None
    }


def iter_variables_with_paths(
    container: Any, path: str, depth: int = 0, visited_ids: set[int] | None = None
) -> Iterator[tuple[str, Any]]:
    """Yield a (path, variable) pair for each variable in a layer, a list or a dictionary.

    Args:
        container: A layer, module, list, tuple, dictionary or variable. For other objects, nothing is yielded.
        path: The container's path in the program.
        depth: The number of containers that enclose this container.
        visited_ids: The identities of the visited objects.
    """
    visited_ids = set() if visited_ids is None else visited_ids
    if id(container) in visited_ids or depth > DEPTH_LIMIT:
        return
    # Lists are not marked as visited, because a new list may have the same identity as an earlier list.
    if not isinstance(container, LIST_OR_TUPLE):
        visited_ids.add(id(container))
    if is_variable_except_moving_average_or_seed(container):
        yield path, container
        return
    for suffix, part in _list_suffixes_and_parts(container):
        yield from iter_variables_with_paths(part, path + suffix, depth + 1, visited_ids)


def _list_suffixes_and_parts(container: Any) -> list[tuple[str, Any]]:
    """Return the parts of a container, each with the suffix that its path adds to the container's path.

    Args:
        container: A layer, module, list, tuple or dictionary. Other objects have no parts.
    """
    if isinstance(container, (list, tuple, dict)):
        return list_parts_with_suffixes(container, 1000)
    if not isinstance(container, MODULE_TYPES):
        return []
    # Sorting is stable, so the attributes stay in the program's order.
    attributes = sorted(vars(container).items(), key=lambda item: item[0].startswith("_"))
    parts = [
        (f".{name.lstrip('_')}", part)
        for name, part in attributes
        if name != "optimizer" and (not name.startswith("_") or is_variable_except_moving_average_or_seed(part))
    ]
    if isinstance(container, tf.keras.layers.Layer):
        parts.append((".layers", list(getattr(container, "layers", ()))))
        # Some layers, such as attention layers, hold their inner layers only in private attributes.
        parts += [(f".{layer.name}", layer) for layer in getattr(container, "_layers", ())]
    return parts


def is_variable_except_moving_average_or_seed(value: Any) -> bool:
    """Return whether a value is a variable, excluding variables that are internal to a layer, such as moving averages.

    >>> is_variable_except_moving_average_or_seed(tf.Variable(1)), is_variable_except_moving_average_or_seed(1.0)
    (True, False)
    """
    if not isinstance(value, (tf.Variable, tf.keras.Variable)):
        return False
    return not getattr(value, "path", "").rpartition("/")[2].startswith(("moving_", "seed_generator"))


def is_float_variable(variable: Any) -> bool:
    """Return whether a variable contains floats."""
    return bool(tf.as_dtype(variable.dtype).is_floating)


def collect_sources_meant_to_be_trained(recording: TensorFlowRecording) -> SourcesByName:
    """Return the trainable variables that were read or changed in the block, keyed by name.

    Sources whose gradient is None are also included, even if they are tensors.
    """
    log = recording.log
    requested_handle_ids = collect_requested_handle_ids(recording)
    # A program may apply the gradients of a copy to the original variables, as in meta-learning.
    applied_handle_ids = set[int]().union(*(step.handle_ids for step in log.optimizer_steps))
    read_variables = {
        key: candidate
        for key, candidate in log.tensor_rows.variables_by_handle.items()
        if is_variable_except_moving_average_or_seed(candidate)
        and log.tensor_rows.list_rows_of_tensor_or_variable(candidate)
        and (
            key in requested_handle_ids
            or (
                key not in applied_handle_ids
                and is_float_variable(candidate)
                and (candidate.trainable or not requested_handle_ids)
            )
        )
    }
    unconnected_by_id = {
        id(source): source
        for sweep in recording.sweeps
        for reference, has_gradient in sweep.source_results
        if not has_gradient and hasattr(source := reference(), "dtype")
    }
    sources = dict[str, Any]()
    named_handle_ids = set[int]()
    # Lists and tuples come last, because positions in a list make poor names.
    for name, value in sorted(list_all_named_program_objects(), key=lambda item: isinstance(item[1], LIST_OR_TUPLE)):
        if name.startswith("_") or isinstance(value, type):
            continue
        for path, variable in iter_variables_with_paths(value, name):
            key = find_handle_id(variable)
            if key in read_variables | unconnected_by_id and key not in named_handle_ids:
                named_handle_ids.add(key)
                sources[path] = variable
    for key, variable in read_variables.items():
        if key not in named_handle_ids and variable.trainable:
            store_under_unused_name(sources, find_given_variable_name(variable) or "variable", variable)
    names = {id(value): name for name, value in list_all_named_program_objects()}
    return sources | {
        names.get(key, fill(UNNAMED_TENSOR)): source
        for key, source in unconnected_by_id.items()
        if source.dtype.is_floating
    }


def read_weights_around_last_step(recording: TensorFlowRecording, source: Any) -> tuple[OptionalArray, OptionalArray]:
    """Return a variable's elements before and after its last optimizer step.

    Args:
        recording: The recording that contains the step.
        source: The variable.

    Returns:
        Two arrays, or (None, None) if no optimizer step changed the variable.
    """
    key = find_handle_id(source)
    if not any(key in step.handle_ids for step in recording.log.optimizer_steps):
        return None, None
    rows = recording.log.tensor_rows.list_rows_of_tensor_or_variable(source)
    arrays = [array for row in rows if (array := to_float_array(recording.rows[row].value)) is not None]
    with tf.init_scope(), recording.pause_watching():
        current = np.asarray(source.value() if isinstance(source, tf.Variable) else source.value, np.float64)
    if not arrays or not np.array_equal(arrays[-1], current):
        arrays.append(current)
    return (arrays[-2] if len(arrays) > 1 else None), arrays[-1]


def find_first_use_site_on_target_path(recording: TensorFlowRecording, variable: Any) -> Site:
    """Return the line of the first operation that reads a variable on a path to a target, or NOWHERE if none does.

    Args:
        recording: The recording to search, including its compiled steps.
        variable: The variable.
    """
    # No gradient flows to a variable that is not trainable.
    collect = collect_rows_and_connected_ancestors if variable.trainable else collect_rows_and_ancestors
    for item, target in iter_targets_with_recordings(recording):
        source_rows = item.list_rows(variable)
        reached = collect(item.rows, [target.index])
        for row in item.rows if reached.intersection(source_rows) else ():
            if row.index in reached and not set(source_rows).isdisjoint(row.inputs):
                return row.site
    return NOWHERE
