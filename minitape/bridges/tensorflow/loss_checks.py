"""Find mistakes in a training step of the program's own: losses that it forgets, and optimizers that it replaces."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import tensorflow as tf

from ...explain.explanation import Explanation, explain_cause
from ...explain.layer_lookup import iter_living_instances
from ...explain.reasons import program_text
from ...recording.sites import NOWHERE
from .function_calls import replay_compiled_steps
from .model_variables import collect_requested_handle_ids
from .operation_log import to_handle_or_value
from .traced_values import find_program_name

if TYPE_CHECKING:
    from .recording import TensorFlowRecording

# A program that does one of these adds the losses of layers itself, or lets Keras add them.
find_use_of_losses = re.compile(r"\.losses\b|\bcompute_loss\(|\bcompiled_loss\(").search


def explain_unscaled_loss(recording: TensorFlowRecording) -> Explanation | None:
    """Explain that a ``LossScaleOptimizer`` took a step with gradients of a loss that was not scaled.

    Args:
        recording: The recording of the program.

    Returns:
        The explanation, or None if there was no such step.
    """
    step = recording.log.unscaled_step_site
    if step == NOWHERE:
        return None
    # While TensorFlow traces a function, the decorator may be the running line.
    lines = [statement.line for statement in program_text.list_statements(step[0]) if statement.find_call("gradient")]
    step_line = step[1] or 0
    earlier = [line for line in lines if line <= step_line]
    later = [line for line in lines if line > step_line]
    site = step[0], max(earlier, default=min(later, default=step[1]))
    return explain_cause("tensorflow", "scaler", site, "unscaled_loss")


def explain_remade_optimizer(recording: TensorFlowRecording) -> Explanation | None:
    """Explain that each step creates a new optimizer.

    Args:
        recording: The recording of the program.

    Returns:
        The explanation, or None if an optimizer took two of the last three steps.
    """
    steps = recording.log.optimizer_steps[-3:]
    if len(steps) < 3 or not all(step.new_class and step.site == steps[0].site for step in steps):
        return None
    creations = [
        statement.site
        for statement in program_text.list_statements(steps[0].site[0])
        if statement.find_call(steps[0].new_class)
    ]
    site = (creations or [steps[0].site])[-1]
    return explain_cause("tensorflow", "optimizer_remade", site, fields={"n": len(recording.log.optimizer_steps)})


def explain_forgotten_losses(recording: TensorFlowRecording) -> Explanation | None:
    """Explain that the target of a tape lacks the losses of layers, from ``add_loss`` or a regularizer.

    Args:
        recording: The recording of the program.

    Returns:
        The explanation, or None if no layer has such losses, or if the program reads them.
    """
    recordings = [recording, *(rerun.recording for rerun in replay_compiled_steps(recording))]
    sites = [item.rows[row].site for item in recordings for sweep in item.sweeps for row in sweep.target]
    site = sites[-1] if sites else NOWHERE
    source = "\n".join(program_text.unparse(statement.node) for statement in program_text.list_statements(site[0]))
    if "GradientTape" not in source or find_use_of_losses(source):
        return None
    requested = collect_requested_handle_ids(recording)
    for layer in list(iter_living_instances(tf.keras.layers.Layer)):
        is_trained = any(id(to_handle_or_value(variable)) in requested for variable in layer.trainable_variables)
        if is_trained and layer.losses:
            fields = {"what": find_program_name(layer) or layer.name}
            return explain_cause("tensorflow", "in_part", site, "losses", fields)
    return None
