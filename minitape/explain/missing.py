"""What a cut way would have added to a gradient that is there, where that can be computed.

It can where the value went on as it was: through a stop, a variable, an array and back, or a step that is taken for the
identity. The adjoint that arrives behind the cut is then handed on before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .parts import VALUED
from .replay import MOST, finite, seeds_of, shown, sweep_of

if TYPE_CHECKING:
    from ..engine.typed import Array, End
    from .nodes import Break, Node
    from .reasons import Inquiry

_AS_IT_WAS = ("stop_gradient", "state", "left_through_numpy")


def added(inquiry: Inquiry, source: End, b: Break) -> str:
    """What a way from a source would add to its gradient if it were not cut; empty where nobody can tell."""
    record = inquiry.record
    if record is None or len(record) > MOST or not (b.cause in _AS_IT_WAS or b.what in VALUED) or not b.ways:
        return ""
    shares = [share for way in b.ways if (share := _along(inquiry, source, b, *way)) is not None]
    if len(shares) < len(b.ways):
        return ""
    total = np.asarray(sum(shares[1:], start=shares[0]))
    if not finite(total):
        return ""
    if not np.any(total):
        return "It would add nothing here."
    given = "Taken for the identity, it" if b.cause == "nondifferentiable_op" else "It"
    return f"{given} would add {shown(total)} to the gradient."


def _along(inquiry: Inquiry, source: End, b: Break, child: Node, parent: Node) -> Array | None:
    """The share of one cut way; None where the value behind the cut is not the one before it."""
    record = inquiry.record
    if record is None or child.record is not record or child.caller is not None or not _goes_on(b, child, parent):
        return None
    behind = _arrives(inquiry, seeds_of(inquiry), {child.row})
    if behind is None:
        return np.zeros(tuple(source.shape))
    if parent.record is not record:
        return behind if parent in inquiry.trace.of(source) else None
    return _arrives(inquiry, {parent.row: behind}, set(inquiry.tape._rows_of(source)))


def _goes_on(b: Break, child: Node, parent: Node) -> bool:
    """Whether the value behind a cut is the one before it, or near it."""
    behind, before = _value(child), _value(parent)
    if behind is None or before is None or np.shape(behind) != np.shape(before):
        return False
    return b.cause == "nondifferentiable_op" or bool(np.array_equal(behind, before))


def _value(node: Node) -> Array | None:
    if node.tensor is not None:
        return node.tensor.array
    return None if node.record is None else node.record.value(node.row)


def _arrives(inquiry: Inquiry, seeds: dict[int, Array], wanted: set[int]) -> Array | None:
    """The adjoint that a sweep brings to these rows together; None where none arrives."""
    found = [seed for row, seed in seeds.items() if row in wanted]
    for step in sweep_of(inquiry, seeds, wanted) or ():
        found += [share for row, share in step.shares if row in wanted]
    return sum(found[1:], start=found[0]) if found else None
