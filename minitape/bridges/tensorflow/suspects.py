"""Find wrong gradients in TensorFlow with the shared checks and with additional checks of optimizers."""

from __future__ import annotations

import gc
import inspect
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from ...common.grouping import group_values_by_key
from ...engine.types import RowSet
from ...explain.layer_lookup import iter_living_instances
from ...explain.operation_families import TENSORFLOW_OPERATIONS
from ...explain.reasons.program_text import (
    StatementList,
    find_statement,
    list_binding_sites,
    list_statements,
    unparse,
)
from ...explain.reasons.suspects import CheckedRun, Suspicion, Suspicions, format_step_count
from ...explain.translated_sentences import fill
from ...recording.recorded_rows import BackwardPass, RecordedRow, collect_rows_and_connected_ancestors
from ...recording.sites import NOWHERE, Site
from ..framework_adapter import is_any_name_read_later
from .adapter import TensorFlowAdapter
from .function_calls import iter_targets_with_recordings
from .model_variables import collect_requested_handle_ids, find_first_use_site_on_target_path
from .operation_log import find_handle_id, to_handle_or_value
from .traced_values import find_name_in_program

if TYPE_CHECKING:
    from .recording import TensorFlowRecording


def build_checked_run(recording: TensorFlowRecording) -> CheckedRun:
    """Return a recording's rows, sweeps and optimizer steps for the checks."""
    log = recording.log
    sweeps = [sweep for sweep in recording.sweeps if sweep.adjoints]
    handle_ids_with_gradient = collect_handle_ids_with_gradient(sweeps)
    sources_with_gradient = {
        handle_id: variable
        for handle_id, variable in log.tensor_rows.variables_by_handle.items()
        if handle_id in handle_ids_with_gradient
    }
    return CheckedRun(
        recording.rows,
        sweeps,
        recording.escapes,
        TENSORFLOW_OPERATIONS,
        has_placeholder_values=recording.has_placeholder_values,
        recording=recording,
        adapter=TensorFlowAdapter(recording, None, None),
        checks=(
            check_gradients_that_change_no_parameter,
            check_unoptimized_sources,
            check_trainable_variables_left_untrained,
        ),
        find_source_key=find_handle_id,
        find_source_rows=recording.list_rows,
        find_optimizer_steps=lambda source: [
            step for step in log.optimizer_steps if find_handle_id(source) in step.handle_ids
        ],
        sources_with_gradient=sources_with_gradient,
        trained_keys=collect_requested_handle_ids(recording).union(*(step.handle_ids for step in log.optimizer_steps)),
        has_named_sources=True,
    )


def collect_handle_ids_with_gradient(sweeps: Iterable[BackwardPass]) -> set[int]:
    """Return the handle identities of the variables for which the sweeps returned a gradient."""
    return {
        id(handle)
        for sweep in sweeps
        for reference, has_gradient in sweep.source_results
        if has_gradient and (handle := reference()) is not None
    }


def check_gradients_that_change_no_parameter(run: CheckedRun) -> Suspicions:
    """Find variables that never changed although their gradients were computed several times.

    Either the program took no step, or the learning rate is 0, or the program computed new values and discarded them.
    """
    recording: TensorFlowRecording = run.recording
    steps = recording.log.optimizer_steps
    n = len(run.sweeps)
    unchanged_keys = {
        key
        for key, variable in run.sources_with_gradient.items()
        if _did_last_of_several_steps_change_nothing(run, variable)
    }
    if unchanged_keys and not any(
        step.handle_ids & (run.sources_with_gradient.keys() - unchanged_keys) for step in steps
    ):
        yield Suspicion("not_applied", steps[-1].site, {"n": len(steps)}, source_keys=unchanged_keys, variant="rate")
    if n > 1 and not recording.is_rerun and not recording.log.misused_call[1]:
        unchanged_keys = _collect_ids_with_gradient_and_no_new_value(run)
        lost_steps = _map_handle_ids_to_unapplied_update_rows(run)
        for key in unchanged_keys & lost_steps.keys():
            yield Suspicion("not_applied", lost_steps[key].site, {"n": n}, lost_steps[key].index, {key}, variant="lost")
        unchanged_keys -= lost_steps.keys()
        if unchanged_keys and not steps and not _are_gradients_summed_or_stored(run):
            gc.collect()  # Collect garbage first, so that optimizers of earlier programs or cells do not count.
            if any(iter_living_instances(tf.keras.optimizers.Optimizer)):
                yield Suspicion("not_applied", run.sweeps[-1].site, {"n": n}, source_keys=unchanged_keys)


def collect_rows_computed_from_gradients(run: CheckedRun) -> RowSet:
    """Return the rows of the gradients returned by sweeps, and all rows that were computed from these gradients."""
    gradient_rows = RowSet()
    for row in run.rows:
        if row.extra.row_count is not None or not gradient_rows.isdisjoint(row.inputs):
            gradient_rows.add(row.index)
    return gradient_rows


def _map_handle_ids_to_unapplied_update_rows(run: CheckedRun) -> dict[int, RecordedRow]:
    """Return lost steps, keyed by the identity of the variable's handle.

    A lost step is a row that was computed from the variable and its gradient but bound to a name that nothing reads.
    """
    lost_steps = dict[int, RecordedRow]()
    for row in (run.rows[index] for index in sorted(collect_rows_computed_from_gradients(run))):
        statement = find_statement(row.site)
        if (
            statement.bound_names
            and row.index not in run.consumers
            and not is_any_name_read_later(statement, statement.bound_names)
        ):
            lost_steps |= {
                id(run.rows[input_row].find_object()): row
                for input_row in row.inputs
                if run.rows[input_row].kind == "variable"
            }
    return lost_steps


def _are_gradients_summed_or_stored(run: CheckedRun) -> bool:
    """Return whether the program stores gradients or sums them over several sweeps, and thus may apply them later."""
    gradient_rows, sums = collect_rows_computed_from_gradients(run), RowSet()
    for row in run.rows:
        if row.op in ("AddV2", "AddN") and not gradient_rows.isdisjoint(row.inputs):
            if not sums.isdisjoint(row.inputs):
                return True
            sums.add(row.index)
    log = run.recording.log
    stores = {handle_id for handle_id, stored_row, *_ in log.assignments if stored_row in gradient_rows}
    return bool((stores | log.handles_with_stored_gradients) - run.sources_with_gradient.keys())


def check_unoptimized_sources(run: CheckedRun) -> Suspicions:
    """Find variables with a gradient that no optimizer manages, although optimizers took steps."""
    recording: TensorFlowRecording = run.recording
    steps = recording.log.optimizer_steps
    optimized_handle_ids = {
        find_handle_id(variable)
        for optimizer in iter_living_instances(tf.keras.optimizers.Optimizer)
        for variable in getattr(optimizer, "_trainable_variables", [])
    }
    handle_ids_before_last_step = collect_handle_ids_with_gradient(
        sweep for sweep in run.sweeps if steps and sweep.row_count <= steps[-1].row_count
    )
    # Some optimizers may no longer exist, but their steps are known.
    optimized_handle_ids = optimized_handle_ids.union(*(step.handle_ids for step in steps))
    missing_handle_ids = (
        handle_ids_before_last_step & _collect_ids_with_gradient_and_no_new_value(run)
    ) - optimized_handle_ids
    if missing_handle_ids:
        yield Suspicion(
            "not_optimized",
            steps[-1].site,
            {"what": fill("an optimizer"), "steps": format_step_count(len(steps))},
            source_keys=missing_handle_ids,
        )


def check_trainable_variables_left_untrained(run: CheckedRun) -> Suspicions:
    """Find trainable variables for which the program never requested a gradient.

    These are variables that a target depends on, variables that are created again for each target, and variables that a
    Keras layer holds but does not track. A variable to which the program itself assigns values, such as a weight that
    grows from epoch to epoch, is not meant to be trained.
    """
    recording: TensorFlowRecording = run.recording
    candidates = {
        id(variable): (key, variable)
        for key, variable in recording.log.tensor_rows.variables_by_handle.items()
        if key not in run.trained_keys and variable.trainable and variable.dtype.is_floating
    }
    if not candidates or not run.trained_keys:
        return
    keys_and_variables = list(candidates.values())
    yield from _check_untrained_variables_of_target(run, keys_and_variables)
    yield from _check_variables_remade_for_each_target(run, keys_and_variables)
    for layer in iter_living_instances(tf.keras.layers.Layer):
        attributes = vars(layer).items()
        parts = [(name, part) for name, value in attributes for part in (value if isinstance(value, list) else [value])]
        for name, value in parts:
            if id(value) not in candidates or any(value is listed for listed in layer.variables):
                continue
            key, variable = candidates.pop(id(value))
            file = inspect.getsourcefile(type(layer)) or ""
            if re.search(rf"\b{re.escape(name)}\.assign", "".join(recording.read_source_lines(file))):
                continue
            call_stack = recording.log.find_variable_creation(to_handle_or_value(variable)).call_stack
            site = next(iter([*call_stack[-1:], *list_binding_sites(file, f"self.{name}")]), NOWHERE)
            fields = {"what": f"{type(layer).__name__}.{name}"}
            yield Suspicion("not_optimized", site, fields, source_keys={key}, variant="untracked")


def _check_untrained_variables_of_target(run: CheckedRun, candidates: list[tuple[int, Any]]) -> Suspicions:
    """Yield a suspicion for each variable that was created with ``trainable=True`` and that a target depends on.

    Args:
        run: The run to check.
        candidates: The variables without a requested gradient, as (key, variable) pairs.
    """
    recording: TensorFlowRecording = run.recording
    files = {row.site[0] for _, row in iter_targets_with_recordings(recording)}
    statements = [statement for file in files for statement in list_statements(file)]
    for key, variable in candidates:
        name = find_name_in_program(variable)
        if name and find_first_use_site_on_target_path(recording, variable) != NOWHERE:
            site = _find_trainable_true_site_unless_assigned(statements, name)
            if site != NOWHERE:
                yield Suspicion("not_optimized", site, {"what": name}, source_keys={key}, variant="loss")


def _check_variables_remade_for_each_target(run: CheckedRun, candidates: list[tuple[int, Any]]) -> Suspicions:
    """Yield a suspicion for each line that created separate variables for three or more targets.

    Args:
        run: The run to check.
        candidates: The variables without a requested gradient, as (key, variable) pairs.
    """
    targets = dict.fromkeys(row for sweep in run.sweeps for row in sweep.target)
    ancestors_by_target = [collect_rows_and_connected_ancestors(run.rows, [row]) for row in targets]
    variables_by_site = group_values_by_key(
        (site, (key, variable))
        for key, variable in candidates
        for site in run.recording.log.find_variable_creation(to_handle_or_value(variable)).call_stack[-1:]
    )
    for site, variables in variables_by_site.items():
        groups = [
            group
            for ancestors in ancestors_by_target
            if (group := {key for key, variable in variables if ancestors.intersection(run.find_source_rows(variable))})
        ]
        if len(groups) > 2 and len(set().union(*groups)) == sum(map(len, groups)):
            yield Suspicion("not_optimized", site, {"n": len(groups)}, source_keys=groups[-1], variant="remade")


def _find_trainable_true_site_unless_assigned(statements: StatementList, name: str) -> Site:
    """Return the line that creates a variable with ``trainable=True``, or NOWHERE if the program also assigns to it."""
    if any(f"{name}.assign" in unparse(statement.node) for statement in statements):
        return NOWHERE
    creations = [
        statement.site
        for statement in statements
        if name in statement.bound_names and "trainable=True" in unparse(statement.node)
    ]
    return creations[0] if creations else NOWHERE


def _collect_ids_with_gradient_and_no_new_value(run: CheckedRun) -> set[int]:
    """Return the handle identities of variables that have a gradient but never changed."""
    # Each value that a variable takes has its own row.
    return {key for key, variable in run.sources_with_gradient.items() if len(run.find_source_rows(variable)) < 2}


def _did_last_of_several_steps_change_nothing(run: CheckedRun, variable: Any) -> bool:
    """Return whether more than two optimizer steps were applied to a variable and the last one did not change it."""
    recording: TensorFlowRecording = run.recording
    value_before, value_after = recording.read_weights_around_last_step(variable)
    if value_before is None or value_after is None:
        return False
    return len(run.find_optimizer_steps(variable)) > 2 and np.array_equal(value_before, value_after)
