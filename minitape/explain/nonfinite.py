"""NaN and infinity in a gradient: the first row that made one, with the values there."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import nest
from ..ends import leaf_of
from .replay import finite, operation, replay, shown
from .words import Explanation, where

_CURES = {
    "log": "Keep the argument away from 0: tf.math.log(x + 1e-7), or tf.maximum(x, 1e-7).",
    "log1p": "Keep the argument above -1.",
    "sqrt": "The derivative of sqrt is infinite at 0: add a small number inside, tf.sqrt(x + 1e-12).",
    "rsqrt": "Add a small number inside: tf.math.rsqrt(x + 1e-12).",
    "divide": "Divide by something that is never 0: x / (y + 1e-7), or use tf.math.divide_no_nan.",
    "reciprocal": "Keep the argument away from 0.",
    "pow": "Keep the base away from 0, or use another power.",
    "exp": "exp overflows for large arguments: subtract the maximum first, or use tf.nn.softmax, tf.reduce_logsumexp.",
    "reduce_euclidean_norm": "The norm has no derivative at 0: use tf.sqrt(tf.reduce_sum(x * x) + 1e-12).",
}
_NAMES = {"function": "the tf.function"}
_RELEASED = (
    "The values of this tape were released, or it is too long, or no target depends on a source: "
    "the sweep can not be run again."
)
_WHERE = (
    "tf.where does not help here: the unused branch is differentiated, too, and 0 times infinity is NaN. "
    "Make its argument safe first: tf.where(ok, f(tf.where(ok, x, 1.0)), 0.0)."
)


def explain_nonfinite(tape: Any, target: Any, sources: Any) -> Explanation:
    """See ``GradientTape.explain_nonfinite``."""
    try:
        return _find(tape, [leaf_of(t) for t in nest.flatten(target)], [leaf_of(s) for s in nest.flatten(sources)])
    except Exception as error:
        return Explanation("nonfinite_released", f"The sweep can not be run again: {type(error).__name__}: {error}", "")


def _find(tape: Any, targets: list[Any], sources: list[Any]) -> Explanation:
    from .reasons import Inquiry

    inquiry = Inquiry(tape, targets)
    value = _bad_value(inquiry)
    if value is not None:
        return value
    steps = replay(inquiry, sources)
    if steps is None:
        return Explanation("nonfinite_released", _RELEASED, "Use a persistent tape, or ask before `gradient`.")
    for step in steps:
        for _, share in step.shares:
            if finite(step.adjoint) and not finite(share):
                return _bad_step(inquiry, step, share)
    return Explanation("finite", "Every adjoint of this sweep is finite.", "")


def _bad_value(inquiry: Any) -> Explanation | None:
    """The first row among the targets' ancestors whose value is not finite although its inputs' are."""
    record = inquiry.record
    if record is None or all(np.all(np.isfinite(_floats(t))) for t in inquiry.targets):
        return None
    rows = sorted(n.row for n in inquiry.ancestors().values() if n.record is record)
    for row in rows:
        name, inputs = operation(record, row)
        value = record.value(row)
        if not name or value is None or np.all(np.isfinite(_plain(value))):
            continue
        given = [record.value(r) for r in inputs]
        if all(v is None or np.all(np.isfinite(_plain(v))) for v in given):
            text = f"{_NAMES.get(name, name)} made {shown(value)} of {', '.join(map(shown, given))}{{line}}."
            cure = _CURES.get(name, "Mend the value before you differentiate.")
            return _said(inquiry, "nonfinite_value", row, text, cure)
    return None


def _bad_step(inquiry: Any, step: Any, share: Any) -> Explanation:
    record = inquiry.record
    name, inputs = operation(record, step.row)
    values = ", ".join(shown(record.value(r)) for r in inputs)
    bad = np.asarray(share)
    made = "NaN" if np.isnan(bad).any() else "infinity"
    zero = np.broadcast_to(np.asarray(step.adjoint) == 0, bad.shape) if np.shape(step.adjoint) == bad.shape else None
    trap = zero is not None and bool((zero & ~np.isfinite(bad)).any()) and _below_where(inquiry, step.row)
    what = _NAMES.get(name, name)
    text = f"The derivative of {what} at {values} turned the adjoint {shown(step.adjoint)} into {made}{{line}}."
    cure = _WHERE if trap else _CURES.get(name, "Keep the argument where the operation is smooth.")
    return _said(inquiry, "nonfinite_gradient", step.row, text, cure)


def _below_where(inquiry: Any, row: int) -> bool:
    """Whether something above this row chose between branches."""
    record = inquiry.record
    return any(operation(record, r)[0] == "select" for r in range(row + 1, len(record)))


def _said(inquiry: Any, cause: str, row: int, text: str, fix: str) -> Explanation:
    place = inquiry.trace.place(inquiry.trace.of_row(inquiry.record, row))
    at = "" if place is None else f" ({where(place.filename, place.line)})"
    return Explanation(cause, text.format(line=at), fix, place and place.filename, place and place.line)


def _plain(value: Any) -> Any:
    array = np.asarray(value)
    return array if array.dtype.kind in "fc" else np.zeros(())


def _floats(tensor: Any) -> Any:
    return _plain(tensor.array if hasattr(tensor, "array") else tensor._state.array)
