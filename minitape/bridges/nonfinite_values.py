"""Find the first operation that made a value NaN or infinite."""

from collections.abc import Sequence

from ..explain.explanation import OptionalExplanation, explain_cause
from ..recording.recorded_rows import RecordedRow, collect_rows_and_ancestors
from ..recording.value_summary import ValueSummary
from .recording import Recording

# The variants of the "nonfinite_value" sentences that give advice about specific operations.
VARIANTS = {
    "log": "log log2 log10 log1p",
    "division": "div truediv true_divide rdiv rtruediv realdiv divnonan reciprocal",
    "root": "sqrt rsqrt pow rpow",
    "exponential": "exp expm1 exp2 sinh cosh",
    "no_target": "cross_entropy nll_loss nll_loss_nd nll_loss2d",
    "ctc": "ctc_loss",
    "empty": "mean nanmean std var",
    "masked": "softmax log_softmax logsoftmax scaled_dot_product_attention",
    "inverse": "acos arccos asin arcsin atanh",
    "length": "norm normalize cosine_similarity",
}


def explain_origin_of_nonfinite_values(recording: Recording) -> OptionalExplanation:
    """Explain the first non-finite result computed from finite values.

    Args:
        recording: The recording of the step.

    Returns:
        The explanation, or None if all results are finite or the program's inputs are already non-finite.
    """
    return _explain_first_origin(recording, recording.rows)


def explain_nonfinite_target(recording: Recording, target: int) -> OptionalExplanation:
    """Explain why a target, such as a loss, is NaN or infinite.

    Args:
        recording: The recording of the step.
        target: The row of the target.

    Returns:
        The explanation of the first operation on the target's path that made a value NaN or infinite, or None if the
        target is finite or the program's inputs are already non-finite.
    """
    rows = recording.rows
    if _is_finite(rows[target]):
        return None
    nonfinite = collect_rows_and_ancestors(rows, [target], lambda row, edge: not _is_finite(rows[edge.input_row]))
    return _explain_first_origin(recording, [rows[index] for index in sorted(nonfinite)])


def _explain_first_origin(recording: Recording, rows: Sequence[RecordedRow]) -> OptionalExplanation:
    """Explain the first operation that computed a non-finite value from finite values, or return None if none did."""
    for row in rows:
        has_finite_inputs = all(_is_finite(recording.rows[index]) for index in row.inputs)
        if row.kind == "operation" and has_finite_inputs and not _is_finite(row):
            variant = next((name for name, ops in VARIANTS.items() if row.op.lower() in ops.split()), "")
            return explain_cause(recording.framework, "nonfinite_value", row.site, variant, {"what": row.op})
    return None


def _is_finite(row: RecordedRow) -> bool:
    """Return whether all elements of a row are finite. A row whose elements are unknown counts as finite."""
    value = row.value
    return bool(value.is_all_finite) if isinstance(value, ValueSummary) else True
