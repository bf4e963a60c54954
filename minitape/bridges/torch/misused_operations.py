"""Find operations that compute something other than what the program means, although all gradients are finite."""

from __future__ import annotations

import ast
import math

import numpy as np

from ...explain.reasons.program_text import find_statement
from ...explain.reasons.suspects import CheckedRun, Suspicions, build_row_suspicion
from ..run_watch.accounts import RunAccounts

RANGES = {"relu": (0, math.inf), "softplus": (0, math.inf), "sigmoid": (0, 1), "softmax": (0, 1), "tanh": (-1, 1)}
LEAST_UNREACHED = 0.1  # A few targets may lie outside the range because of noise.
COMPARISONS = {"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"}
RECURRENT_OPS = {"lstm", "gru", "rnn_tanh", "rnn_relu"}
MIN_ZERO_STEPS = 3


def check_targets_outside_activation_range(run: CheckedRun) -> Suspicions:
    """Find targets outside the range of the activation that computed the prediction.

    Args:
        run: The run to check.
    """
    for row in run.iter_reached_operations_named(COMPARISONS):
        if len(row.inputs) < 2:
            continue
        prediction, target = sorted(
            map(run.find_row_before_reshapes, row.inputs[:2]), key=lambda side: not side.tracked
        )
        values, limits = run.find_array(target.index), RANGES.get(prediction.op)
        if values is None or limits is None or target.tracked or not prediction.tracked:
            continue
        is_unreached = (values < limits[0]) | (values > limits[1])
        excess = values - values.clip(*limits)
        if (excess**2).mean() > LEAST_UNREACHED * values.var() > 0:
            fields = {"what": prediction.op, "n": int(is_unreached.sum()), "all": values.size}
            fields |= {"one": values.min(), "two": values.max()}
            yield build_row_suspicion(prediction, "loss_input", fields, "unreached")


def check_rows_indexed_with_all_labels(run: CheckedRun) -> Suspicions:
    """Find ``log_probs[:, labels]``, which pairs each sample with the labels of all samples.

    Args:
        run: The run to check.
    """
    for row in run.iter_reached_operations_named({"getitem"}):
        inputs = [run.rows[index] for index in row.inputs]
        if [len(each.shape) for each in inputs] != [2, 1] or inputs[0].op not in ("log_softmax", "softmax", "log"):
            continue
        count = inputs[1].shape[0]
        readers = [row]
        while len(readers) == 1 and readers[0].op in ("getitem", "neg", "mul", "log"):
            readers = [run.rows[reader] for reader in run.consumers.get(readers[0].index, ())]
        is_averaged = all(reader.op in run.op_names.sum_ops and not reader.shape for reader in readers)
        if row.shape == (count, inputs[0].shape[0]) == (count, count) and count > 1 and is_averaged:
            yield build_row_suspicion(row, "broadcast", {"n": count}, "labels")


def check_addition_at_repeated_indices(run: CheckedRun) -> Suspicions:
    """Find ``x[index] += y`` with repeated indices, where only one of the additions to an element takes effect.

    Args:
        run: The run to check.
    """
    for row in run.rows:
        if row.op != "setitem" or not row.tracked:
            continue
        statement = find_statement(row.site)
        indices = [run.find_array(index) for index in row.inputs if run.rows[index].dtype.startswith("int")]
        if isinstance(statement.node, ast.AugAssign) and len(indices) == 1 and indices[0] is not None:
            lost = indices[0].size - np.unique(indices[0]).size
            if lost:
                fields = {"n": lost, "all": indices[0].size}
                yield build_row_suspicion(row, "in_part", fields, "repeated")


def record_last_recurrent_layer_without_gradient(run: CheckedRun, accounts: RunAccounts) -> None:
    """Record a recurrent network whose last layer gets only zeros because the program uses another layer's state.

    Args:
        run: The run to check.
        accounts: The accounts of the run.
    """
    for row in run.iter_reached_operations_named(RECURRENT_OPS):
        keys = dict.fromkeys(id(run.rows[index].find_object()) for index in row.inputs)
        known = [accounts.accounts[key] for key in keys if key in accounts.accounts]
        zero = [account.key for account in known if account.norms and account.norms[1] == 0]
        if accounts.taken_step_count >= MIN_ZERO_STEPS and 0 < len(zero) < len(known) and known[-1].key in zero:
            accounts.record_finding("no_effect", "stacked", row.site, zero, what=row.op, n=len(zero), all=len(known))
