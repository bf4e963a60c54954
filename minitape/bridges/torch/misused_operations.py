"""Find operations that do not compute what the program intends, although all gradients are finite."""

import ast
from math import inf

import numpy as np
import torch

from ...explain.reasons.program_text import find_statement, list_call_sites, unparse
from ...explain.reasons.suspects import CheckedRun, Suspicion, Suspicions, build_row_suspicion
from ...recording.recorded_rows import collect_rows_and_ancestors
from ..run_watch.accounts import RunAccounts
from .distributed_tensors import get_local_part
from .layer_creation import find_layer_creation_or_row_site

RANGES = {"relu": (0, inf), "softplus": (0, inf), "sigmoid": (0, 1), "softmax": (0, 1), "tanh": (-1, 1)}
# `LOGISTIC_LOSS` applies a sigmoid to its input.
PROBABILITY_RANGES = {"relu": (0.5, 1)}
LOGISTIC_LOSS = "binary_cross_entropy_with_logits"
LEAST_UNREACHED = 0.1  # A few targets may lie outside the range because of noise.
COMPARISONS = {"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", LOGISTIC_LOSS}
RECURRENT_OPS = {"lstm", "gru", "rnn_tanh", "rnn_relu"}
MIN_STEPS = 3
EQUAL = 1e-6  # Equal rows may differ by rounding, relative to their values.
PIECEWISE_LINEAR_OPS = set("relu leaky_relu rrelu prelu relu6 hardtanh threshold hardsigmoid clamp abs maximum".split())
FUNCTIONAL_DROPOUTS = {"F.dropout", "nn.functional.dropout", "torch.nn.functional.dropout"}


def check_targets_outside_activation_range(run: CheckedRun) -> Suspicions:
    """Find targets outside the range of the activation that computed the prediction.

    Args:
        run: The run to check.
    """
    for row in run.iter_reached_operations_named_last_first(COMPARISONS):
        if len(row.inputs) < 2:
            continue
        prediction, target = sorted(
            map(run.find_row_before_reshapes, row.inputs[:2]), key=lambda side: not side.tracked
        )
        ranges = PROBABILITY_RANGES if row.op == LOGISTIC_LOSS else RANGES
        values, limits = run.find_array(target.index), ranges.get(prediction.op)
        if values is None or limits is None or target.tracked or not prediction.tracked:
            continue
        is_unreached = (values < limits[0]) | (values > limits[1])
        excess = values - values.clip(*limits)
        if (excess**2).mean() > LEAST_UNREACHED * values.var() > 0:
            fields = {"what": prediction.op, "n": int(is_unreached.sum()), "all": values.size}
            fields |= {"one": values.min(), "two": values.max()}
            suspicion = build_row_suspicion(prediction, "loss_input", fields, "unreached")
            history = run.recording.log.history
            yield suspicion._replace(site=find_layer_creation_or_row_site(history, prediction))


def check_log_probs_indexed_with_all_labels(run: CheckedRun) -> Suspicions:
    """Find ``log_probs[:, labels]``, which pairs each sample with the labels of all samples.

    Args:
        run: The run to check.
    """
    for row in run.iter_reached_operations_named_last_first({"getitem"}):
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


def check_units_that_stay_equal(run: CheckedRun) -> Suspicions:
    """Find a weight whose rows began with the same values and are still equal after several steps.

    Args:
        run: The run to check.
    """
    for key, weight in run.sources_with_gradient.items():
        values, steps = get_local_part(weight), run.find_optimizer_steps(weight)
        if values.dim() > 1 < len(values) and len(steps) >= MIN_STEPS and torch.allclose(values, values[:1], EQUAL, 0):
            filled_at = run.recording.log.history.constant_fill_sites.get(weight)
            calls = list_call_sites(steps[-1].site[0], "constant_", "fill_", "ones_")
            for site in [filled_at] if filled_at else calls[:1]:
                fields = {"n": len(values), "all": len(steps)}
                yield Suspicion("equal_units", site, fields, source_keys=[key])


def check_zero_second_derivatives(run: CheckedRun) -> Suspicions:
    """Find a derivative of a derivative that is zero because an activation is piecewise linear.

    Args:
        run: The run to check.
    """
    for sweep in run.sweeps:
        # The first result of a call to autograd.grad is the next row after the pass.
        result = next(iter(run.rows[sweep.row_count :]), None)
        if sweep.function_name != "grad" or result is None or not (result.value and result.value.is_all_zero):
            continue
        piecewise = [row for row in run.rows[: result.index] if row.tracked and row.op in PIECEWISE_LINEAR_OPS]
        ancestors = collect_rows_and_ancestors(run.rows, sweep.target)
        if piecewise and any(run.rows[row].op == "grad" for row in ancestors):
            site = find_layer_creation_or_row_site(run.recording.log.history, piecewise[0])
            fields = {"what": piecewise[0].op}
            yield Suspicion("in_part", site, fields, source_keys=run.sources_with_gradient, variant="second")
            return


def record_last_recurrent_layer_without_gradient(run: CheckedRun, accounts: RunAccounts) -> None:
    """Record a recurrent network whose last layer gets zero gradients because another layer's state is used.

    Args:
        run: The run to check.
        accounts: The accounts of the run.
    """
    for row in run.iter_reached_operations_named_last_first(RECURRENT_OPS):
        keys = dict.fromkeys(id(run.rows[index].find_object()) for index in row.inputs)
        known = [accounts.accounts[key] for key in keys if key in accounts.accounts]
        zero = [account.key for account in known if account.norms and account.norms[1] == 0]
        if accounts.taken_step_count >= MIN_STEPS and 0 < len(zero) < len(known) and known[-1].key in zero:
            accounts.record_finding("no_effect", "stacked", row.site, zero, what=row.op, n=len(zero), all=len(known))


def record_first_batch_used_in_every_step(run: CheckedRun, accounts: RunAccounts) -> None:
    """Record a line that fetches the same first batch of a data loader again for each training step.

    Args:
        run: The run to check.
        accounts: The accounts of the run.
    """
    trained = collect_rows_and_ancestors(run.rows, [row for sweep in run.sweeps for row in sweep.target])
    for site, batches in run.recording.log.first_batches.items():
        contents = {
            tuple(array.tobytes() for row in batch if row in trained and (array := run.find_array(row)) is not None)
            for batch in batches
        }
        if len(batches) >= MIN_STEPS and len(contents) == 1 and any(contents):
            accounts.record_finding("same_batch", "", site, n=len(batches))


def record_dropout_that_ignores_eval(run: CheckedRun, accounts: RunAccounts) -> None:
    """Record a dropout call that stays active after ``eval()`` because the call ignores its module's mode.

    Args:
        run: The run to check.
        accounts: The accounts of the run.
    """
    for row in run.iter_reached_operations_named_last_first({"dropout"}):
        statement = find_statement(row.site)
        # A dropout call outside any module, or one that reads ``self.training``, may be part of the training step.
        reads_mode = any("training" in unparse(function) for function in statement.enclosing_functions)
        if not row.scope or reads_mode or not list_call_sites(row.site[0], "eval"):
            continue
        for call in statement.calls:
            name, _, layer_arguments = unparse(call.func).partition("(")
            # A layer that is created for one call is in training mode.
            is_always_on = name.endswith("Dropout") if layer_arguments else name in FUNCTIONAL_DROPOUTS
            if is_always_on and len(call.args) < 3:
                accounts.record_finding("layer_mode", "always", row.site, is_remark=True, what=name)


def record_manual_updates_never_applied(run: CheckedRun, accounts: RunAccounts) -> None:
    """Record a manual update of a parameter, such as ``p = p - rate * p.grad``, whose result is never used.

    Args:
        run: The run to check.
        accounts: The accounts of the run.
    """
    for row in run.rows:
        if row.op not in run.op_names.add_ops or row.cause != "no_grad" or run.consumers.get(row.index):
            continue
        account = accounts.accounts.get(id(run.rows[row.inputs[0]].find_object()))
        sources = collect_rows_and_ancestors(run.rows, row.inputs[1:])
        uses_gradient = any(run.rows[index].cause == "create_graph" for index in sources)
        if (
            account
            and uses_gradient
            and accounts.passes >= MIN_STEPS
            and not account.optimizer_numbers
            and account.is_unchanged_since_first_gradient()
        ):
            accounts.record_finding("not_applied", "lost", row.site, [account.key], n=accounts.passes)
