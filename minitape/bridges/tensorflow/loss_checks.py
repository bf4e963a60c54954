"""Find mistakes in a training program, such as wrong or forgotten losses, unused results, and recreated optimizers."""

import ast
import gc
import re
from collections.abc import Iterator

import numpy as np
import tensorflow as tf

from ...engine.types import OptionalText
from ...explain.explanation import OptionalExplanation, explain_cause
from ...explain.layer_lookup import iter_living_instances
from ...explain.reasons.program_text import (
    Statement,
    collect_own_names_and_attributes_of_nodes,
    collect_statements_using_value,
    find_last_name_of_dotted_path,
    find_statement,
    list_binding_sites,
    list_call_sites,
    list_statements,
    unparse,
)
from ...recording.sites import NOWHERE
from ..framework_adapter import is_any_name_read_later
from ..run_watch.schedules import explain_schedule_decayed_too_early
from .function_calls import (
    iter_targets_with_recordings,
    list_recording_and_reruns,
    replay_one_call_per_compiled_step,
)
from .model_variables import collect_requested_handle_ids, find_first_use_site_on_target_path
from .operation_log import find_handle_id, iter_dataset_and_inputs
from .recording import TensorFlowRecording
from .suspects import collect_rows_computed_from_gradients
from .traced_values import find_name_in_program

# A program that matches this pattern adds its layers' losses itself or lets Keras add them. A name after `.losses` is
# a loss of the module `keras.losses`.
find_use_of_losses = re.compile(r"\.losses\b(?!\.)|\bcompute_loss\(|\bcompiled_loss\(").search


def explain_optimizer_remade_each_step(recording: TensorFlowRecording) -> OptionalExplanation:
    """Explain that each step creates a new optimizer.

    Args:
        recording: The recording of the program.

    Returns:
        The explanation, or None unless the last three steps were the first steps of three new optimizers on one line.
    """
    steps = recording.log.optimizer_steps[-3:]
    if len(steps) < 3 or not all(step.new_class and step.site == steps[0].site for step in steps):
        return None
    creations = list_call_sites(steps[0].site[0], steps[0].new_class)
    site = (creations or [steps[0].site])[-1]
    return explain_cause("tensorflow", "optimizer_remade", site, fields={"n": len(recording.log.optimizer_steps)})


def explain_first_batch_in_each_step(recording: TensorFlowRecording) -> OptionalExplanation:
    """Explain that each step uses the first batch of a dataset, because it creates a new iterator.

    Args:
        recording: The recording of the program.

    Returns:
        The explanation, or None if no target uses such a batch, or if the dataset begins with other elements each time.
    """
    iterated = recording.log.iterated_datasets
    targets = {find_statement(row.site) for _, row in iter_targets_with_recordings(recording)}
    for site, dataset in iterated:
        statement, n = find_statement(site), iterated.count((site, dataset))
        is_repeated = n > 2 and statement.find_call("next") and statement.find_call("iter")
        is_varied = re.search("Shuffle|FlatMap|Generator", repr([*iter_dataset_and_inputs(dataset)]))
        if not is_repeated or is_varied or dataset.cardinality() == 1:
            continue
        if not targets.isdisjoint(collect_statements_using_value(statement, [])):
            return explain_cause("tensorflow", "same_batch", site, fields={"n": n})
    return None


def explain_layer_losses_missing_from_target(recording: TensorFlowRecording) -> OptionalExplanation:
    """Explain that the target of a tape lacks losses that layers add through ``add_loss`` or a regularizer.

    Args:
        recording: The recording of the program.

    Returns:
        The explanation, or None if no layer has such losses, or if the program reads them.
    """
    sites = [row.site for _, row in iter_targets_with_recordings(recording)]
    site = sites[-1] if sites else NOWHERE
    source = "\n".join(unparse(statement.node) for statement in list_statements(site[0]))
    if "GradientTape" not in source or find_use_of_losses(source):
        return None
    requested = collect_requested_handle_ids(recording)
    for layer in iter_living_instances(tf.keras.layers.Layer):
        is_trained = any(find_handle_id(variable) in requested for variable in layer.trainable_variables)
        if is_trained and layer.losses:
            fields = {"what": find_name_in_program(layer) or layer.name}
            return explain_cause("tensorflow", "in_part", site, "losses", fields)
    return None


def explain_wrong_loss_or_optimizer_arguments(recording: TensorFlowRecording) -> OptionalExplanation:
    """Explain that a Keras loss or an optimizer received the wrong arguments, or arguments in the wrong order.

    Args:
        recording: The recording of the program.
    """
    for site, cause, variant in (item.log.misused_call for item in list_recording_and_reruns(recording)):
        if site != NOWHERE:
            blamed_function = {"unscaled_loss": "gradient", "scaled_twice": "scale_loss"}.get(variant, "compile")
            if cause == "scaler" or find_statement(site).find_call("fit", "train_on_batch"):
                sites = list_call_sites(site[0], blamed_function)
                # While TensorFlow traces a function, the line that is running may be the function's decorator.
                site = ([item for item in sites if item <= site] or sites[:1] or [site])[-1]
            return explain_cause("tensorflow", cause, site, variant)
    return None


def explain_unused_gradients_of_compiled_steps(recording: TensorFlowRecording) -> OptionalExplanation:
    """Explain that calls to a ``tf.function`` computed gradients without ever changing a variable.

    Args:
        recording: The recording of the program.

    Returns:
        The explanation, or None if a variable changed, or if the function stores or returns its gradients.
    """
    log = recording.log
    for call, rerun in replay_one_call_per_compiled_step(recording):
        n = sum(other.function is call.function for other in log.function_calls)
        run, replay = rerun.build_checked_run(), log.replayed_calls[call]
        uses = [
            *log.optimizer_steps,
            *rerun.log.optimizer_steps,
            *rerun.log.handles_with_stored_gradients,
            *collect_rows_computed_from_gradients(run),
            *filter(None, map(rerun.log.tensor_rows.returned_gradients.get, replay.results if replay else ())),
        ]
        states = map(recording.list_rows, run.sources_with_gradient.values())
        if n > 2 and not uses and all(len(rows) < 2 for rows in states):
            return explain_cause("tensorflow", "not_applied", rerun.sweeps[-1].site, fields={"n": n})
    return None


def explain_use_of_initial_batchnorm_statistics(recording: TensorFlowRecording) -> OptionalExplanation:
    """Explain that a trained ``BatchNormalization`` layer used the initial values of its moving statistics.

    Args:
        recording: The recording of the program.
    """
    for layer in iter_living_instances(tf.keras.layers.BatchNormalization):
        is_initial = layer.built and not np.any(layer.moving_mean) and np.all(np.equal(layer.moving_variance, 1))
        site = (
            find_first_use_site_on_target_path(recording, layer.moving_variance)
            if is_initial and layer.trainable
            else NOWHERE
        )
        if site != NOWHERE:
            return explain_cause("tensorflow", "layer_mode", site, fields={"what": layer.name})
    return None


def explain_unread_clipping_result(file: OptionalText) -> OptionalExplanation:
    """Explain that nothing reads the result of clipping the gradients, or return None if something does.

    Args:
        file: The program's file.
    """
    for statement in list_statements(file):
        names = statement.bound_names[:1]
        is_clipping = statement.find_call("clip_by_global_norm", "clip_by_norm", "clip_by_value")
        if is_clipping and names and names[0][0] != "_" and not is_any_name_read_later(statement, names):
            return explain_cause("tensorflow", "not_clipped", statement.site, "unused", {"name": names[0]})
    return None


def explain_sums_of_gradients_without_reset(file: OptionalText) -> OptionalExplanation:
    """Explain that a step applies gradients summed up in variables that the program never resets to zero.

    Args:
        file: The program's file.
    """
    has_stepped = any(
        int(optimizer.iterations) > 1 for optimizer in iter_living_instances(tf.keras.optimizers.Optimizer)
    )
    if not has_stepped:
        return None
    statements = list_statements(file)
    for step in statements:
        call = (step.find_call("apply_gradients") and step.find_call("zip")) or step.find_call("apply")
        sums = next(iter(call.args), None) if call else None
        if not isinstance(sums, (ast.Name, ast.Attribute)):
            continue
        name = find_last_name_of_dotted_path(sums)
        users = [item for item in statements if name in collect_own_names_and_attributes_of_nodes(item.nodes)]
        creations = [item for item in users if unparse(sums) in item.bound_names and item.find_call("Variable")]
        changes = [item for item in users if item not in (step, *creations)]
        are_added = [
            all(part.find_call("assign_add") for part in statements if change in part.enclosing)
            if isinstance(change.node, ast.For)
            else bool(change.find_call("assign_add"))
            for change in changes
        ]
        if len(creations) == 1 and changes and all(are_added) and _is_created_once(creations[0], step):
            return explain_cause("tensorflow", "accumulated", step.site, fields={"name": unparse(sums)})
    return None


def _is_created_once(creation: Statement, step: Statement) -> bool:
    """Return whether a statement creates its values once, before a step that runs many times."""
    functions = creation.enclosing_functions
    if functions == step.enclosing_functions:
        return bool(step.enclosing_loops) and not creation.enclosing_loops
    return not creation.enclosing_loops and (not functions or functions[0].name == "__init__")


def explain_lr_attribute_without_effect(file: OptionalText) -> OptionalExplanation:
    """Explain that the program sets an attribute ``lr``, which Keras optimizers do not have.

    Args:
        file: The program's file.
    """
    for optimizer in iter_living_instances(tf.keras.optimizers.Optimizer):
        for site in list_binding_sites(file, ".lr") if "lr" in vars(optimizer) else ():
            return explain_cause("tensorflow", "schedule", site, "attribute", {"rate": float(optimizer.learning_rate)})
    return None


def explain_early_decay_of_each_schedule() -> Iterator[OptionalExplanation]:
    """Yield an explanation for each optimizer whose schedule ended too early, and None for each of the others."""
    gc.collect()  # Collect garbage first, so that optimizers of earlier programs or cells do not count.
    for optimizer in iter_living_instances(tf.keras.optimizers.Optimizer):
        schedule = optimizer._learning_rate
        if callable(schedule):
            makers = [type(schedule).__name__]
            yield explain_schedule_decayed_too_early("tensorflow", schedule, int(optimizer._iterations), makers)


# Each check returns an explanation, or None if the problem is absent. The checks run in this order.
RECORDING_CHECKS = (
    explain_wrong_loss_or_optimizer_arguments,
    explain_unused_gradients_of_compiled_steps,
    explain_use_of_initial_batchnorm_statistics,
    explain_layer_losses_missing_from_target,
    explain_optimizer_remade_each_step,
    explain_first_batch_in_each_step,
)
FILE_CHECKS = (
    explain_unread_clipping_result,
    explain_sums_of_gradients_without_reset,
    explain_lr_attribute_without_effect,
)
