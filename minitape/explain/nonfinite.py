"""NaN and infinity in a gradient: the first row that made one, with the values there."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ..engine.back.endpoints import leaf_of
from ..engine.values import nest
from .again import opened, swept
from .arrivals import MAKES
from .asking import asking_frame
from .connection import is_leaf
from .replay import EAGERLY, Step, finite, operation, replay, shown
from .statement import last_name
from .words import Explanation, name_of, where

if TYPE_CHECKING:
    from ..engine.back.tape import GradientTape
    from ..engine.typed import Array, End, Structure
    from .nodes import Node, Place
    from .reasons import Inquiry

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
_EDGE = "The derivative is infinite at 1 and -1: keep the argument between, x * (1 - 1e-6)."
_CURES |= {
    "acos": _EDGE, "asin": _EDGE, "atanh": _EDGE, "acosh": "The derivative is infinite at 1: keep the argument above it.",
    "reduce_std": "The deviation has no derivative where all values are equal: use tf.sqrt(tf.math.reduce_variance(x) + 1e-12).",
    "norm": _CURES["reduce_euclidean_norm"],
    "softmax": "Use tf.nn.log_softmax(x) in place of the logarithm of tf.nn.softmax(x), or a loss of the logits.",
    "sigmoid": "Use tf.math.log_sigmoid(x) in place of the logarithm of tf.sigmoid(x), or a loss of the logits.",
    "negative pow": "A negative number has no such power: use tf.abs(x), or keep the base positive.",
    "negative log": "A negative number has no logarithm: keep the argument positive, tf.math.log(tf.maximum(x, 1e-7)).",
    "negative sqrt": "A negative number has no root: keep the argument positive, tf.sqrt(tf.maximum(x, 1e-12)).",
    "data": "Clean the data first: tf.debugging.check_numerics(x, 'x') stops where they are not finite, "
            "tf.where(tf.math.is_finite(x), x, 0.0) replaces them.",
    "variable": "What was stored there was not finite: ask for that step's gradient first. A smaller learning rate, or "
                "tf.clip_by_norm of the gradients, keeps weights from growing without end.",
    "function": EAGERLY,
}  # fmt: skip
_NAMES = {"function": "the tf.function"}
_RELEASED = (
    "The values of this tape were released, or it is too long, or no target depends on a source: "
    "the sweep cannot be run again."
)
_WHERE = (
    "tf.where does not help here: the unused branch is differentiated, too, and 0 times infinity is NaN. "
    "Make its argument safe first: tf.where(ok, f(tf.where(ok, x, 1.0)), 0.0)."
)


def explain_nonfinite(tape: GradientTape, target: Structure, sources: Structure) -> Explanation:
    """See ``GradientTape.explain_nonfinite``."""
    try:
        return _find(tape, [leaf_of(t) for t in nest.flatten(target)], [leaf_of(s) for s in nest.flatten(sources)])
    except Exception as error:
        return Explanation("nonfinite_released", f"The sweep cannot be run again: {type(error).__name__}: {error}", "")


def _find(tape: GradientTape, targets: list[End], sources: list[End]) -> Explanation:
    from .reasons import Inquiry

    inquiry = Inquiry(tape, targets)
    value = bad_value(inquiry)
    if value is not None:
        return value
    steps = replay(inquiry, sources)
    if steps is None:
        return Explanation("nonfinite_released", _RELEASED, "Use a persistent tape, or ask before `gradient`.")
    for step in steps:
        for _, share in step.shares:
            if finite(step.adjoint) and not finite(share):
                return bad_step(inquiry, step, share)
    return Explanation("finite", "Every adjoint of this sweep is finite.", "")


def bad_value(inquiry: Inquiry) -> Explanation | None:
    """What made the target's value not finite; None where it is finite, or nobody knows."""
    if inquiry.record is None or all(np.all(np.isfinite(_floats(t))) for t in inquiry.targets):
        return None
    made = _made(inquiry, inquiry.ancestors().values())
    if made is None:
        return None
    inside = opened(inquiry, made[0].row) if made[0].record is inquiry.record else None
    return (bad_value(inside[0]) if inside is not None else None) or _said(inquiry, "nonfinite_value", made[0], *made[1:])


def _made(inquiry: Inquiry, nodes: Iterable[Node]) -> tuple[Node, str, str] | None:
    """The first of these values that is not finite although what it was computed from is, how it was made, and the cure."""
    bad = [node for node in nodes if not _is_finite(inquiry.value(node))]
    for node in sorted(bad, key=lambda n: (n.record is not None, n.row, n.origin.when if n.origin is not None else 0)):
        parents = [parent for parent, _ in inquiry.trace.edges(node)]
        if not all(_is_finite(inquiry.value(parent)) for parent in parents):
            continue
        name, value = _name(inquiry, node), shown(inquiry.value(node))
        if not name or not parents:
            kind = "data" if node.variable is None else "variable"
            return node, f"{_begins(inquiry, node)} {value}{{line}}.", _CURES[kind]
        text = f"{_called(inquiry, node, name)} made {value} of {', '.join(_shown(inquiry, p) for p in parents)}{{line}}."
        return node, text, _cure(inquiry, node, name, parents) or "Mend the value before you differentiate."
    return None


def _cure(inquiry: Inquiry, node: Node, name: str, parents: list[Node]) -> str:
    """What helps against an operation that makes NaN or infinity."""
    inner = _name(inquiry, parents[0]) if parents else ""
    if name == "log" and inner in ("softmax", "sigmoid"):
        return _CURES[inner]
    given = inquiry.value(parents[0]) if parents else None
    if given is not None and f"negative {name}" in _CURES and np.any(np.asarray(given) < 0):
        return _CURES[f"negative {name}"]
    return _CURES.get(inquiry.called_at(_place(inquiry, node))) or _CURES.get(name, "")


def bad_step(inquiry: Inquiry, step: Step, share: Array) -> Explanation:
    """Which derivative, or which value that it reads, made of a finite adjoint a share that is not."""
    record = inquiry.record
    assert record is not None
    inside = _step_inside(inquiry, step)
    if inside is not None:
        return inside
    node = inquiry.trace.of_row(record, step.row)
    name, inputs = operation(record, step.row)
    bad = np.asarray(share)
    unused = any(_unused(step.adjoint, value) for value in (bad, *(record.value(r) for r in inputs)))
    trap = unused and _below_where(inquiry, step.row)
    if not all(_is_finite(record.value(r)) for r in inputs):
        made = _made(inquiry, inquiry.trace.ancestors([inquiry.trace.of_row(record, r) for r in inputs]).values())
        if made is not None:
            return _said(inquiry, "nonfinite_gradient", made[0], made[1], _WHERE if trap else made[2])
    values = ", ".join(shown(record.value(r)) for r in inputs)
    turned = "NaN" if np.isnan(bad).any() else "infinity"
    what = _called(inquiry, node, name)
    text = f"The derivative of {what} at {values} turned the adjoint {shown(step.adjoint)} into {turned}{{line}}."
    parents = [inquiry.trace.of_row(record, r) for r in inputs]
    cure = _cure(inquiry, node, name, parents) or "Keep the argument where the operation is smooth."
    if trap and name != "divide":  # for a quotient there is a function that is safe itself
        cure = _WHERE
    return _said(inquiry, "nonfinite_gradient", node, text, cure)


def _step_inside(inquiry: Inquiry, step: Step) -> Explanation | None:
    """The same of a row inside of a ``tf.function`` that was called; None where it cannot be run again."""
    inside = swept(inquiry, step)
    for made in () if inside is None else inside[2]:
        for _, share in made.shares:
            if inside is not None and finite(made.adjoint) and not finite(share):
                return bad_step(inside[0], made, share)
    return None


def _unused(adjoint: Array, value: Array) -> bool:
    """Whether a value is not finite where no adjoint arrives."""
    adjoint, value = np.asarray(adjoint), _plain(value if value is not None else 0.0)
    if value.shape != adjoint.shape:
        return False
    return bool(((adjoint == 0) & ~np.isfinite(value)).any())


def _below_where(inquiry: Inquiry, row: int) -> bool:
    """Whether something above this row chose between branches."""
    record = inquiry.record
    assert record is not None
    return any(operation(record, r)[0] == "select" for r in range(row + 1, len(record)))


def _said(inquiry: Inquiry, cause: str, node: Node, text: str, fix: str) -> Explanation:
    place = _place(inquiry, node)
    at = "" if place is None else f" ({where(place.filename, place.line)})"
    filename, line = (None, None) if place is None else (place.filename, place.line)
    return Explanation(cause, text.format(line=at), fix, filename, line)


def _name(inquiry: Inquiry, node: Node) -> str:
    """The operation that made a value, on a tape or outside; empty for anything else."""
    if node.origin is not None and node.origin.kind == "op":
        return str(node.origin.detail.name)
    return "" if node.record is None else inquiry.trace.label(node)


def _begins(inquiry: Inquiry, node: Node) -> str:
    """What a value is called that nothing was computed from."""
    if node.variable is not None:
        return f"The variable {name_of(node.variable, inquiry)} holds"
    found = next(inquiry.statements(inquiry.trace.birth(node)), None)
    name = "" if found is None else found[0].name_at(found[1].line, found[1].column)
    made = None if found is None else found[0].expression(found[1].span)
    if made is not None and not (isinstance(made, ast.Call) and last_name(made.func) in MAKES):  # an array that came in here
        name = _array_like(made, inquiry.value(node))
    return f"{name} is" if name else "A value that the computation begins with is"


def _array_like(made: ast.AST, value: Array) -> str:
    """Which of the names in an expression holds an array of these values, for the code that asks."""
    frame = asking_frame()
    space = {} if frame is None else {**frame.f_globals, **frame.f_locals}
    names = [n.id for n in ast.walk(made) if isinstance(n, ast.Name)]
    arrays = ((name, space[name]) for name in names if isinstance(space.get(name), np.ndarray))
    return next((name for name, array in arrays if np.array_equal(_plain(array), _plain(value), equal_nan=True)), "")


def _place(inquiry: Inquiry, node: Node) -> Place | None:
    trace = inquiry.trace
    return trace.birth(node) if is_leaf(node) and node.origin is not None else trace.place(node)


def _called(inquiry: Inquiry, node: Node, name: str) -> str:
    """What the user knows an operation as: ``sqrt``, or ``sqrt in norm(...)``."""
    written = inquiry.called_at(_place(inquiry, node))
    known = _NAMES.get(name, name)
    return known if name in _NAMES or not written or written in (name, "__call__") else f"{known} in {written}(...)"


def _shown(inquiry: Inquiry, node: Node) -> str:
    return shown(inquiry.value(node))


def _is_finite(value: Array) -> bool:
    """Whether a value is finite, as far as anybody knows."""
    return value is None or bool(np.all(np.isfinite(_plain(value))))


def _plain(value: Array) -> np.ndarray:
    array = np.asarray(value)
    return array if array.dtype.kind in "fc" else np.zeros(())


def _floats(tensor: End) -> np.ndarray:
    return _plain(tensor.array if hasattr(tensor, "array") else tensor._state.array)
