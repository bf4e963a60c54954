"""Find the first operation that made a value NaN or infinite."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...explain.caller import format_bracketed_place
from ...explain.causes import CAUSES
from ...explain.explanation import Explanation
from ...explain.translated_sentences import fill
from ...recording.recorded_rows import RecordedRow
from ...recording.value_summary import ValueSummary

if TYPE_CHECKING:
    from .recording import TorchRecording

# For these operations, the cause "nonfinite_value" has a variant with advice.
VARIANTS = {
    "log": "log log2 log10 log1p",
    "division": "div truediv true_divide rdiv rtruediv reciprocal",
    "root": "sqrt rsqrt pow rpow",
    "exponential": "exp expm1 exp2 sinh cosh",
    "no_target": "cross_entropy nll_loss nll_loss_nd nll_loss2d",
    "ctc": "ctc_loss",
    "empty": "mean nanmean std var",
    "masked": "softmax log_softmax scaled_dot_product_attention",
    "inverse": "acos arccos asin arcsin atanh",
    "length": "norm normalize cosine_similarity",
}


def explain_first_nonfinite_value(recording: TorchRecording) -> Explanation | None:
    """Explain the first non-finite result computed from finite values.

    Args:
        recording: The recording of the step.

    Returns:
        The explanation, or None if all results are finite or the program's inputs are not.
    """
    rows = recording.rows
    for row in rows:
        if row.kind != "operation" or _is_finite(row) or not all(_is_finite(rows[index]) for index in row.inputs):
            continue
        variant = next((name for name, ops in VARIANTS.items() if row.op in ops.split()), "")
        text = CAUSES["nonfinite_value"].find_text("torch", variant)
        message = fill(text.message, what=row.op, line=format_bracketed_place(*row.site))
        return Explanation("nonfinite_value", message, fill(text.fix), *row.site)
    return None


def _is_finite(row: RecordedRow) -> bool:
    value = row.value
    return bool(value.is_all_finite) if isinstance(value, ValueSummary) else True
