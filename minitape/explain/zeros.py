"""A source can be connected and still get a gradient of zeros: which operation made it zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from .replay import finite, operation, replay, shown
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

_CANCELS = "what comes along several ways cancels out"


def _ordinary(inquiry: Any) -> set[int]:
    """The rows of connected sources at which finite adjoints arrived that do not add up to zero, from one sweep."""
    if inquiry.ordinary is None:
        sources = [s for s in inquiry.sources if inquiry.connected(s)]
        rows = {row for s in sources for row in inquiry.tape._rows_of(s)}
        sums: dict[int, Any] = {}
        for step in replay(inquiry, sources) or ():
            for row, share in step.shares:
                if row in rows:
                    sums[row] = sums[row] + share if row in sums else share
        inquiry.ordinary = {row for row, total in sums.items() if finite(total) and np.any(total)}
    return inquiry.ordinary


def structural_zero(inquiry: Any, source: Any) -> tuple[str, str]:
    """Says at which operation the gradient of a connected source became zero (or not finite), and what mends it."""
    rows = set(inquiry.tape._rows_of(source))
    if len(inquiry.sources) > 1 and _ordinary(inquiry).issuperset(rows):
        return "", ""
    steps = replay(inquiry, [source])
    if steps is None:
        return "", ""
    flat: tuple[str, int] | None = None  # the first sentence on a share that was zero, and its row
    sums: dict[int, Any] = {}
    several: set[int] = set()  # rows at which something arrived that was not zero
    for step in steps:
        if flat is None and step.row in several and not np.any(step.adjoint):
            flat = _CANCELS, step.row
        for row, share in step.shares:
            sums[row] = sums[row] + share if row in sums else share
            several.update([row] if np.any(share) else [])
            if flat is None and np.any(step.adjoint) and not np.any(share):
                flat = _flat(inquiry.record, step.row), step.row
    if any(not finite(sums[row]) for row in rows.intersection(sums)):
        from .nonfinite import explain_nonfinite

        why = explain_nonfinite(inquiry.tape, inquiry.targets, source)
        return "Its gradient is not finite, though: " + why.message, why.fix
    if not rows.intersection(sums) or any(np.any(sums[row]) for row in rows.intersection(sums)):
        return "", ""
    if rows & several:
        return f"Its gradient is zero, though: {_CANCELS}.", ""
    if flat is None:
        return "", ""
    place = inquiry.trace.place(inquiry.trace.of_row(inquiry.record, flat[1]))
    at = "" if place is None else f" ({where(place.filename, place.line)})"
    return f"Its gradient is zero, though: {flat[0]}{at}.", ""


def _flat(record: Any, row: int) -> str:
    """Why an operation handed nothing on."""
    name, inputs = operation(record, row)
    return _WHY.get(name, f"the derivative of {name} is 0 there").format(x=shown(record.value(inputs[0])))
