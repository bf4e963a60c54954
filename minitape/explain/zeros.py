"""A source can be connected and still get a gradient of zeros: which operation made it zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from .replay import EAGERLY, finite, operation, replay, shown
from .words import say, where

_SATURATED = (
    "Make its input smaller: scale the data, begin with smaller weights, or take a loss of the logits themselves, such as "
    "tf.nn.softmax_cross_entropy_with_logits or sigmoid_cross_entropy_with_logits."
)
_TAKEN = "What is not taken gets nothing. If it should get something, choose smoothly: tf.reduce_logsumexp, tf.nn.softplus."
_START = "The slope is 0 at this very point: begin elsewhere, unless this is the minimum."
_SECOND = "Use a smooth activation, such as tanh, softplus or swish: second derivatives of this one are 0."

_WHY = {  # operation: (why it is flat, what mends that)
    "sign": ("sign is flat: its derivative is 0 everywhere", "Use tf.tanh(k * x), which has a slope."),
    "relu": ("relu passes nothing where its input is not positive (here {x})",
             "Begin with other weights or biases, take a smaller learning rate, or use tf.nn.leaky_relu."),
    "relu_gate": ("relu consists of straight lines, whose second derivative is 0", _SECOND),
    "leaky_gate": ("leaky_relu consists of straight lines, whose second derivative is 0", _SECOND),
    "multiply": ("a factor is 0", "See where that 0 comes from: a mask, a weight that begins with 0, an empty product."),
    "matmul": ("a factor is 0", "See where that 0 comes from: data, or weights that all begin with 0."),
    "pow": ("the power's derivative is 0 there (base {x})", _START),
    "square": ("its input is 0", _START),
    "maximum": ("the other value was the larger one", _TAKEN),
    "minimum": ("the other value was the smaller one", _TAKEN),
    "select": ("tf.where took the other branch", "See whether the condition holds where you expect it to."),
    "clip_by_value": ("the value was clipped", "Keep the value between the bounds, or leave the bounds out while training."),
    "relu6": ("relu6 is flat there (input {x})", "Use tf.nn.leaky_relu, or begin with smaller weights."),
    "function": ("the gradient of the tf.function that was called is 0", EAGERLY),
    "tanh": ("tanh is saturated (input {x})", _SATURATED),
    "sigmoid": ("sigmoid is saturated (input {x})", _SATURATED),
    "softmax": ("softmax is saturated: one of the probabilities is 1 (input {x})", _SATURATED),
    "dropout": ("dropout dropped it", "Take a smaller rate, or leave dropout out, as training=False does."),
    "sum of softmax": ("the probabilities of softmax add up to 1, so that their sum has no slope",
                       "Take the probability of one class, or a cross-entropy, in place of the sum."),
}  # fmt: skip

_CANCELS = "what comes along several ways cancels out"
_SMALL = "the product of {x} and the adjoint {g} is too small for {dtype}"
_SCALE = "Keep weights and gradients in float32, or scale the loss: tf.keras.mixed_precision.LossScaleOptimizer."


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
        return _promised(inquiry, source)
    flat: tuple[str, str, int] | None = None  # of the first share that was zero: why, what mends it, its row
    sums: dict[int, Any] = {}
    several: set[int] = set()  # rows at which something arrived that was not zero
    for step in steps:
        if flat is None and step.row in several and not np.any(step.adjoint):
            flat = _CANCELS, "", step.row
        for row, share in step.shares:
            sums[row] = sums[row] + share if row in sums else share
            several.update([row] if np.any(share) else [])
            if flat is None and np.any(step.adjoint) and not np.any(share):
                flat = *_flat(inquiry, step, row), step.row
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
    place = inquiry.trace.place(inquiry.trace.of_row(inquiry.record, flat[2]))
    at = "" if place is None else f" ({where(place.filename, place.line)})"
    return f"Its gradient is zero, though: {flat[0]}{at}.", flat[1]


def _flat(inquiry: Any, step: Any, row: int) -> tuple[str, str]:
    """Why an operation handed nothing on to one of its inputs, and what mends that."""
    record = inquiry.record
    name, inputs = operation(record, step.row)
    written = inquiry.called_at(inquiry.trace.place(inquiry.trace.of_row(record, step.row)))
    if name in ("multiply", "matmul") and len(inputs) == 2:
        other, g = record.value(inputs[inputs[0] == row]), np.asarray(step.adjoint)
        if other is not None and np.shape(other) in ((), g.shape) and np.any((other != 0) & (g != 0)):
            return _SMALL.format(x=shown(other), g=shown(g), dtype=g.dtype), _SCALE
    if name == "softmax" and np.ptp(step.adjoint) == 0:
        name = "sum of softmax"
    why, mend = _WHY.get(written if written == "dropout" else name, (f"the derivative of {name} is 0 there", ""))
    return why.format(x=shown(record.value(inputs[0]))), mend


def _promised(inquiry: Any, source: Any) -> tuple[str, str]:
    """A gradient that comes in any case, as that of tf.py_function does, though the way is broken inside."""
    path = inquiry.trace.path(inquiry.starts, source)
    broken = next((b for _, _, b in path or () if b is not None), None)
    if broken is None:
        return "", ""
    answer = say(broken, source, inquiry)
    return f"Its gradient is zero, though: {answer.message}", answer.fix
