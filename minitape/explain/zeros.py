"""A source can be connected and still get a gradient of zeros: which operation made it zero."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from .again import several, swept
from .bodies import own_shares
from .replay import EAGERLY, Step, dense, finite, operation, replay, shown
from .words import say, where

if TYPE_CHECKING:
    from ..engine.typed import Array, End, Made
    from .reasons import Inquiry

_SATURATED = (
    "Make its input smaller: scale the data, begin with smaller weights, or take a loss of the logits themselves, such as "
    "tf.nn.softmax_cross_entropy_with_logits or sigmoid_cross_entropy_with_logits."
)
_TAKEN = "The value that is not chosen gets no gradient. If it should get one, use tf.nn.leaky_relu(x) for tf.maximum(x, 0.0), or {}."
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
    "maximum": ("the other value was the larger one", _TAKEN.format("tf.reduce_logsumexp([a, b], axis=0)")),
    "minimum": ("the other value was the smaller one", _TAKEN.format("-tf.reduce_logsumexp([-a, -b], axis=0)")),
    "select": ("tf.where took the other branch", "See whether the condition holds where you expect it to."),
    "clip_by_value": ("the value was clipped", "Keep the value between the bounds, or leave the bounds out while training."),
    "relu6": ("relu6 is flat there (input {x})", "Use tf.nn.leaky_relu, or begin with smaller weights."),
    "function": ("the gradient of the tf.function that was called is 0", EAGERLY),
    "exp": ("exp({x}) is too small for a float, and 0 in its place",
            "Keep the argument above -80, or compute with logarithms: the logarithm of a sum of exp is tf.reduce_logsumexp."),
    "tanh": ("tanh is saturated (input {x})", _SATURATED),
    "sigmoid": ("sigmoid is saturated (input {x})", _SATURATED),
    "softmax": ("softmax is saturated: one of the probabilities is 1 (input {x})", _SATURATED),
    "dropout": ("dropout dropped it", "Take a smaller rate, or leave dropout out, as training=False does."),
    "softmax of one": ("softmax of a single value is always 1", "Use tf.sigmoid for one unit, or a unit for each class."),
    "sum of softmax": ("the probabilities of softmax add up to 1, so that their sum has no slope",
                       "Take the probability of one class, or a cross-entropy, in place of the sum."),
}  # fmt: skip

_CANCELS = "what arrives along several paths cancels out"
_EVENS_OUT = "it is used by several elements, and what they contribute cancels out"
_SMALL = "the product of {x} and the adjoint {g} is too small for {dtype}"
_WIDER = "Compute in float64, or scale the loss: multiply it by a large number, and divide the gradients by it."
_SCALE = "Keep weights and gradients in float32, or scale the loss: multiply it by a large number, and divide the gradients by it."


class Sweep:
    """One sweep to all connected sources: what arrived there, and where it became zero or not finite."""

    def __init__(self, inquiry: Inquiry, steps: Iterator[Step], rows: set[int]) -> None:
        self.inquiry = inquiry
        self.sums: dict[int, Array] = {}  # of the sources' rows
        self.several: set[int] = set()  # rows at which something arrived that was not zero
        self.zero: dict[int, tuple[Step, int | None]] = {}  # row -> the step, and its input, at which it became zero
        self.bad: dict[int, tuple[Step, Array]] = {}  # row -> the step, and its share, that was the first not to be finite
        self._said: dict[Hashable, tuple[str, str]] = {}
        for step in steps:
            for row, share in step.shares:
                self._note(step, row, share)
                if row in rows:
                    self.sums[row] = self.sums[row] + share if row in self.sums else share

    def _note(self, step: Step, row: int, share: Array) -> None:
        if not finite(share):
            begun = (step, share) if finite(step.adjoint) else self.bad.get(step.row)
            if begun is not None:
                self.bad.setdefault(row, begun)
        if np.any(share):
            self.several.add(row)
        elif row not in self.zero:
            if _any(step.adjoint):
                self.zero[row] = step, row
            elif step.row in self.several:
                self.zero[row] = step, None
            elif step.row in self.zero:
                self.zero[row] = self.zero[step.row]

    def say(self, rows: set[int]) -> tuple[str, str]:
        """What is to be said of a source with these rows, and what mends it."""
        arrived = rows.intersection(self.sums)
        bad = next((row for row in arrived if not finite(self.sums[row])), None)
        if bad is not None:
            return self._once(("bad", self.bad[bad][0].row) if bad in self.bad else "bad", self._not_finite, bad)
        if not arrived or any(np.any(self.sums[row]) for row in arrived):
            return "", ""
        if rows & self.several:
            return f"Its gradient is zero, though: {_CANCELS}.", ""
        flat = next((self.zero[row] for row in arrived if row in self.zero), None)
        return ("", "") if flat is None else self._once((flat[0].row, flat[1]), self._became_zero, flat)

    def _once(self, key: Hashable, make: Callable[[Made], tuple[str, str]], given: Made) -> tuple[str, str]:
        """The same sentences for all sources of which the same is to be said."""
        if key not in self._said:
            self._said[key] = make(given)
        return self._said[key]

    def _not_finite(self, row: int) -> tuple[str, str]:
        from .nonfinite import bad_step, bad_value

        why = bad_value(self.inquiry)
        if why is None and row in self.bad:
            why = bad_step(self.inquiry, *self.bad[row])
        return ("", "") if why is None else ("Its gradient is not finite, though: " + why.message, why.fix)

    def _became_zero(self, flat: tuple[Step, int | None]) -> tuple[str, str]:
        step, row = flat
        inside = None if row is None else _inside(self.inquiry, step, row)
        if inside is not None:
            return inside
        why, mend = (_CANCELS, "") if row is None else _flat(self.inquiry, step, row)
        record = self.inquiry.record
        assert record is not None
        place = self.inquiry.trace.place(self.inquiry.trace.of_row(record, step.row))
        at = "" if place is None else f" ({where(place.filename, place.line)})"
        return f"Its gradient is zero, though: {why}{at}.", mend


def _inside(inquiry: Inquiry, step: Step, row: int) -> tuple[str, str] | None:
    """What made the gradient of one of its inputs zero inside of a ``tf.function``; None where that cannot be told."""
    opened = swept(inquiry, step)
    record = inquiry.record
    if opened is None or record is None:
        return None
    inner, inputs, steps = opened
    given = operation(record, step.row)[1]
    mine = [one for one, i in zip(inputs, given, strict=False) if i == row]
    rows = {r for one in mine for r in inner.tape._rows_of(one)}
    said = Sweep(inner, steps, rows).say(rows)
    used = [out for out, g in zip(inner.targets, several(step.adjoint), strict=False) if np.any(dense(g))]
    ways = inner.trace.ancestors([node for out in used for node in inner.trace.of(out)[:1]])
    if len(used) < len(inner.targets) and not any(node.key in ways for one in mine for node in inner.trace.of(one)):
        at = inquiry.trace.place(inquiry.trace.of_row(record, step.row))
        where_called = "" if at is None else f" ({where(at.filename, at.line)})"
        return (f"Its gradient is zero, though: of several results of the tf.function{where_called} the target uses none that was computed from it.",
                "Use that result in the target, or leave it out of the sources.")  # fmt: skip
    return said if said[0] else next((found for one in mine if (found := _by_user(inner, one))[0]), None)


def structural_zero(inquiry: Inquiry, source: End) -> tuple[str, str]:
    """Says at which operation the gradient of a connected source became zero (or not finite), and what mends it."""
    if inquiry.sweep is None:
        sources = [s for s in inquiry.sources if inquiry.connected(s)]
        steps = replay(inquiry, sources)
        rows = {row for s in sources for row in inquiry.tape._rows_of(s)}
        inquiry.sweep = False if steps is None else Sweep(inquiry, steps, rows)
    if not inquiry.sweep:
        return _promised(inquiry, source)
    said: tuple[str, str] = inquiry.sweep.say(set(inquiry.tape._rows_of(source)))
    return said


def _any(value: Array) -> bool:
    """Whether an adjoint, or one of those of several results, is not zero somewhere."""
    return any(map(_any, value)) if isinstance(value, (tuple, list)) else bool(np.any(value))


def _flat(inquiry: Inquiry, step: Step, row: int) -> tuple[str, str]:
    """Why an operation handed nothing on to one of its inputs, and what mends that."""
    record = inquiry.record
    assert record is not None
    name, inputs = operation(record, step.row)
    written = inquiry.called_at(inquiry.trace.place(inquiry.trace.of_row(record, step.row)))
    if name in ("multiply", "matmul", "add", "subtract") and len(inputs) == 2:
        why, mend = _of_factors(name, record.value(inputs[inputs[0] == row]), record.value(row), np.asarray(step.adjoint))
        if why:
            return why, mend
    if name == "softmax" and np.ptp(step.adjoint) == 0:
        name = "sum of softmax"
    if "softmax" in name and np.all(record.value(step.row) == 1):
        name = "softmax of one"
    why, mend = _WHY.get(written if written in ("dropout", "clip_by_value") else name, (f"the derivative of {name} is 0 there", ""))
    return why.format(x=shown(record.value(inputs[0]))), mend


def _of_factors(name: str, other: Array, mine: Array, g: Array) -> tuple[str, str]:
    """Why the adjoint times the other factor is 0 although neither is; empty where one of them is."""
    if name in ("add", "subtract"):
        return _EVENS_OUT, ""
    if other is None or mine is None:
        return "", ""
    if name == "multiply" and np.shape(mine) == g.shape:
        small = bool(np.any((other != 0) & (g != 0)))
    else:
        small = bool(np.any(other) and np.any(g) and not np.max(np.abs(other)) * np.max(np.abs(g)))
    if small:
        return _SMALL.format(x=shown(other), g=shown(g), dtype=g.dtype), _SCALE if g.dtype.itemsize < 4 else _WIDER
    summed = name == "matmul" or np.shape(mine) != g.shape
    return (_EVENS_OUT, "") if summed and np.all(other) else ("", "")


def _promised(inquiry: Inquiry, source: End) -> tuple[str, str]:
    """A gradient that comes in any case, as that of tf.py_function does, though the way is broken inside."""
    path = inquiry.trace.path(inquiry.starts, source)
    broken = next((b for _, _, b in path or () if b is not None), None)
    if broken is None:
        return _by_user(inquiry, source)
    answer = say(broken, source, inquiry)
    return f"Its gradient is zero, though: {answer.message}", answer.fix


def _by_user(inquiry: Inquiry, source: End) -> tuple[str, str]:
    """Of a zero on a way through a gradient of the user's own, which returns zeros for some input: that it does."""
    record = inquiry.record
    for child, parent, _ in inquiry.trace.path(inquiry.starts, source) or ():
        if record is None or child.record is not record or inquiry.trace.label(child) != "custom_gradient":
            continue
        call = record.calls[record.cell(child.row)[1]]
        shares = own_shares(record, call)
        if shares is None or any(s is not None and np.any(dense(s.array)) for s, i in zip(shares, call.inputs, strict=False) if i == parent.row):
            continue
        place = inquiry.trace.place(child)
        at = "" if place is None else f" ({where(place.filename, place.line)})"
        return f"Its gradient is zero, though: the gradient function of {inquiry.called_at(place) or 'a custom gradient'}{at} returns 0 for it.", (
            "Let it return a gradient for each input."
        )
    return "", ""
