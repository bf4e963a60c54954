"""Find wrong gradients in JAX, using the shared checks with the names of JAX operations."""

from math import inf

import numpy as np

from ...engine.types import OptionalNumber
from ...explain.operation_families import OperationNames
from ...explain.reasons.suspects import (
    EQUALITY_TOLERANCE,
    CheckedRun,
    Suspicion,
    Suspicions,
    build_row_suspicion,
    compute_max_abs_or_zero,
    find_row_and_its_tiny_adjoint_ancestors,
)
from ...recording.recorded_rows import RecordedRow
from ...recording.value_summary import to_float_array
from .adapter import JaxAdapter
from .custom_rules import check_custom_derivative_rules
from .optax_checks import check_labels_passed_as_logits
from .program_origin import JaxOrigin
from .recording import JaxRecording

OPERATION_NAMES = OperationNames(
    compare_ops={"sub"},
    loss_ops=(),
    sum_ops={"reduce_sum"},
    shape_ops=set("broadcast_in_dim reshape squeeze expand_dims transpose convert_element_type copy".split()),
    add_ops={"add", "sub", "add_any"},
    product_ops={"mul", "div"},
    activation_of_loss={"sub": "softmax", "neg": "sigmoid", "logaddexp": "sigmoid"},
    activation_names={"logistic": "sigmoid", "tanh": "tanh", "max": "relu", "erf": "gelu"},
    normalizing_ops=(),
    saturating_ops={"logistic", "tanh"},
)
# These jax.nn functions receive logits. The keys are the first operations inside the functions.
LOGIT_FUNCTIONS = {"sub": "log_softmax", "neg": "log_sigmoid", "logaddexp": "softplus"}


def build_checked_run(recording: JaxRecording) -> CheckedRun:
    """Return a recording's rows and backward pass for the checks."""
    return CheckedRun(
        recording.rows,
        recording.sweeps,
        recording.escapes,
        OPERATION_NAMES,
        has_placeholder_values=recording.has_placeholder_values,
        recording=recording,
        adapter=JaxAdapter(recording),
        checks=(
            check_updates_lost_to_rounding,
            check_gradients_that_change_no_parameter,
            check_shares_that_cancel_to_rounding_error,
            check_custom_derivative_rules,
            check_labels_passed_as_logits,
        ),
        find_source_rows=recording.list_rows,
        find_operand_row_before_implicit_broadcast=find_operand_row_before_implicit_broadcast,
        find_row_read_as_logits_by_loss=find_row_read_as_logits_by_loss,
    )


def find_operand_row_before_implicit_broadcast(run: CheckedRun, row: RecordedRow, operand: int) -> int:
    """Return the row that the program passed as an operand, before jax.numpy adapted the operand's shape."""
    while run.rows[operand].op in ("broadcast_in_dim", "reshape") and run.rows[operand].site == row.site:
        operand = run.rows[operand].inputs[0]
    return operand


def find_row_read_as_logits_by_loss(run: CheckedRun, row: RecordedRow) -> OptionalNumber:
    """Return the row of a jax.nn function's logits, or None if the given row is not the function's first operation."""
    input_row = row.inputs[0]
    name = LOGIT_FUNCTIONS[row.op]
    return input_row if name in row.scope and name not in run.rows[input_row].scope else None


def check_gradients_that_change_no_parameter(run: CheckedRun) -> Suspicions:
    """Find a program that computes gradients step after step without changing any parameter.

    If some parameters change, the unchanged parameters are considered frozen and are not reported.
    """
    recording: JaxRecording = run.recording
    unchanged_counts = {row: n for row, n in recording.unchanged_counts.items() if n > 2}
    if not unchanged_counts or not unchanged_counts.keys() >= set(recording.differentiated_rows):
        return
    updates = [recording.updates[row] for row in unchanged_counts if row in recording.updates]
    moves = [update for update in updates if update.is_moved]
    if updates and not moves and not any(map(recording.is_unchanged_at_end, recording.argument_leaves)):
        return
    if updates:
        variant = "dropped" if moves else "rate"
        site = (moves or updates)[0].site
    else:
        statements = [
            statement
            for leaf in recording.argument_leaves
            if leaf.row in unchanged_counts
            for statement in JaxOrigin(*recording.recorded_call).list_statements_updating_argument(leaf)
        ]
        if not statements:
            return
        variant = "unchanged"
        site = statements[-1].site
    fields = {"n": max(unchanged_counts.values())}
    yield Suspicion("not_applied", site, fields, min(unchanged_counts), only_rows=unchanged_counts, variant=variant)


def check_updates_lost_to_rounding(run: CheckedRun) -> Suspicions:
    """Find parameters in a 16-bit format that never change, because their updates are too small for the format."""
    recording: JaxRecording = run.recording
    for leaf in recording.argument_leaves:
        n = recording.unchanged_counts.get(leaf.row, 0)
        dtype = recording.rows[leaf.row].dtype
        update = recording.updates.get(leaf.row)
        # The format is float16 or bfloat16. In float32, such small updates are common.
        if n < 3 or not dtype.endswith("float16") or not update or not np.any(update.update):
            continue
        if recording.is_unchanged_at_end(leaf):
            spacing = np.median(np.abs(np.spacing(leaf.value)))
            fields = {"n": n, "dtype": dtype, "rate": np.median(np.abs(update.update)), "step": spacing}
            yield Suspicion("not_applied", update.site, fields, leaf.row, only_rows=[leaf.row], variant="rounded")


def check_shares_that_cancel_to_rounding_error(run: CheckedRun) -> Suspicions:
    """Find shares that arrive at a value on several paths and cancel, except for rounding errors.

    This happens in a softmax or a normalization, whose steps are separate rows in JAX.
    """
    for row, sweep in (
        (run.rows[index], sweep) for index, sweep in run.reached_operations.items() if run.rows[index].shape
    ):
        residual = compute_max_abs_or_zero(run.find_adjoint(row.index))
        senders = set(run.consumers.get(row.index, ()))
        edges = ((call, edge) for call in senders & sweep.edges.keys() for edge in sweep.edges[call])
        products = [(call, product) for call, (index, _, product, _) in edges if index == row.index]
        largest = max((compute_max_abs_or_zero(to_float_array(product)) for _, product in products), default=0.0)
        if products[1:] and 0 < residual <= EQUALITY_TOLERANCE / 10 * largest < inf:
            last_sender = run.rows[max(call for call, _ in products)]
            only_rows = find_row_and_its_tiny_adjoint_ancestors(run, row.index, largest)
            fields = {
                "what": run.find_activation_or_operation_name(last_sender),
                "from_": largest,
                "to": residual / largest,
            }
            yield build_row_suspicion(last_sender, "rounding_only", fields, only_rows=only_rows)
