"""A source can be connected and still get a gradient of zeros: which operation made it zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from .replay import operation, replay, shown
from .words import where

_WHY = {
    "sign": "sign is flat: its derivative is 0 everywhere",
    "relu": "relu passes nothing where its input is not positive (here {x})",
    "multiply": "a factor is 0",
    "pow": "the power's derivative is 0 there (base {x})",
    "square": "its input is 0",
    "maximum": "the other value was the larger one",
    "minimum": "the other value was the smaller one",
    "select": "tf.where took the other branch",
    "clip_by_value": "the value was clipped",
    "relu6": "relu6 is flat there (input {x})",
    "function": "the gradient of the tf.function that was called is 0",
    "tanh": "tanh is saturated (input {x})",
    "sigmoid": "sigmoid is saturated (input {x})",
}


def _ordinary(inquiry: Any) -> set[int]:
    """The rows of connected sources at which nothing but finite adjoints arrived, not all zero: one sweep for them all."""
    if inquiry.ordinary is None:
        sources = [s for s in inquiry.sources if inquiry.connected(s)]
        rows = {row for s in sources for row in inquiry.tape._rows_of(s)}
        finite: dict[int, bool] = {}
        some: set[int] = set()
        for step in replay(inquiry, sources) or ():
            for row, share in step.shares:
                if row in rows:
                    finite[row] = finite.get(row, True) and bool(np.all(np.isfinite(share)))
                    some.update([row] if np.any(share) else [])
        inquiry.ordinary = {row for row in some if finite[row]}
    return inquiry.ordinary  # type: ignore[no-any-return]


def structural_zero(inquiry: Any, source: Any) -> str:
    """A sentence that names the operation at which the gradient of a connected source became zero (or not finite)."""
    if len(inquiry.sources) > 1 and _ordinary(inquiry).issuperset(inquiry.tape._rows_of(source)):
        return ""
    steps = replay(inquiry, [source])
    if steps is None:
        return ""
    record = inquiry.record
    rows = inquiry.tape._rows_of(source)
    first = None
    arrived: list[Any] = []
    for step in steps:
        for row, share in step.shares:
            if row in rows:
                arrived.append(share)
            if first is None and np.any(step.adjoint) and not np.any(share):
                first = step.row, row
    if any(not np.all(np.isfinite(share)) for share in arrived):
        from .nonfinite import explain_nonfinite

        return "Its gradient is not finite, though: " + explain_nonfinite(inquiry.tape, inquiry.targets, source).message
    if not arrived or any(np.any(share) for share in arrived) or first is None:
        return ""
    name, inputs = operation(record, first[0])
    why = _WHY.get(name, f"the derivative of {name} is 0 there").format(x=shown(record.value(inputs[0])))
    place = inquiry.trace.place(inquiry.trace.of_row(record, first[0]))
    at = "" if place is None else f" ({where(place.filename, place.line)})"
    return f"Its gradient is zero, though: {why}{at}."
