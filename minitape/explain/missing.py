"""What a cut way would have added to a gradient that is there, where that can be computed.

It can where the value went on as it was: through a stop, a variable, an array and back, or a step that is taken for the
identity. The adjoint that arrives behind the cut is then handed on before it. Through NumPy it can where the line names one
function of one number, such as ``np.exp``, and a constant came in that is just what this gives: then its derivative is known.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, cast

import numpy as np

from ..engine.recording.evidence import Exit
from ..engine.table.primitives import TABLE
from ..recording.values import facts_of
from .parts import VALUED
from .replay import MOST, seeds_of, shown, sweep_of
from .sentences import fill
from .statement import Statement, last_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType

    from ..engine.typed import Array, End, Function
    from .nodes import Break, Node
    from .reasons import Inquiry

_AS_IT_WAS = ("stop_gradient", "state", "left_through_numpy")


def added(inquiry: Inquiry, source: End, b: Break) -> str:
    """What a way from a source would add to its gradient if it were not cut; empty where nobody can tell."""
    record = inquiry.record
    if record is None or len(record) > MOST or not (b.cause in _AS_IT_WAS or b.what in VALUED):
        return ""
    if isinstance(b.subject, Exit) and not b.ways:
        found = [_through_numpy(inquiry, source, b, b.subject)]
    else:
        found = [_along(inquiry, source, b, *way) for way in b.ways]
    shares = [share for share in found if share is not None]
    if not found or len(shares) < len(found):
        return fill("What it would add cannot be told: no tape follows what NumPy and Python compute.") if isinstance(b.subject, Exit) else ""
    total = np.asarray(sum(shares[1:], start=shares[0]))
    if not facts_of(total)[1]:
        return ""
    if not np.any(total):
        return fill("It would add nothing here.")
    if b.cause == "nondifferentiable_op":
        return fill("Taken for the identity, it would add {value} to the gradient.", value=shown(total))
    return fill("It would add {value} to the gradient.", value=shown(total))


# the functions of NumPy and of Python's math whose derivative is in the table of primitives, and their names there
_FUNCTIONS = {name: name for name in "exp expm1 log log1p sqrt square sin cos tan asin acos atan sinh cosh tanh abs".split()}
_FUNCTIONS |= {"arcsin": "asin", "arccos": "acos", "arctan": "atan"}


def _along(inquiry: Inquiry, source: End, b: Break, child: Node, parent: Node) -> Array | None:
    """The share of one cut way; None where the value behind the cut is not the one before it."""
    record = inquiry.record
    if record is None or child.record is not record or child.caller is not None or not _goes_on(inquiry, b, child, parent):
        return None
    behind = _arrives(inquiry, seeds_of(inquiry), {child.row})
    if behind is None:
        return np.zeros(tuple(source.shape))
    return _from(inquiry, source, parent, behind)


def _from(inquiry: Inquiry, source: End, node: Node, adjoint: Array) -> Array | None:
    """The share of a source in the adjoint of a value that was computed from it, or is its own."""
    if node.record is not inquiry.record:
        return adjoint if node in inquiry.trace.of(source) else None
    return _arrives(inquiry, {node.row: adjoint}, set(inquiry.tape._rows_of(source)))


def _through_numpy(inquiry: Inquiry, source: End, b: Break, exit: Exit) -> Array | None:
    """The share through a function that the line names, where just one constant is what it gives; else None."""
    record, left = inquiry.record, inquiry.trace.of_ref(exit.value)
    before, found = inquiry.value(left), next(inquiry.statements(b.place), None)
    if record is None or before is None or found is None:
        return None
    named = {_FUNCTIONS.get(last_name(n.func)) for n in found[0].walk() if isinstance(n, ast.Call)}
    computed = [(primitive, primitive.forward(np.float64(before))) for primitive in (TABLE[name] for name in named if name)]
    constants = [row for row, leaf in record.leaves.items() if leaf.number is None and _came_from(found[0], record.place(row))]
    ways = [(row, primitive, z) for primitive, z in computed for row in constants if _is_near(record.value(row), z)]
    if len(ways) != 1:
        return None
    row, primitive, z = ways[0]
    behind = _arrives(inquiry, seeds_of(inquiry), {row})
    if behind is None:
        return np.zeros(tuple(source.shape))
    (rule,) = cast("Sequence[Function]", primitive.rules)
    share = rule(np.float64(behind), z, np.float64(before))
    return _from(inquiry, source, left, share.astype(before.dtype))


def _came_from(left: Statement, place: tuple[str, int, CodeType] | None) -> bool:
    """Whether a constant was first used in the statement in which a value left, or in one that reads what that binds."""
    if place is None:
        return False
    if left.covers(*place[:2]):
        return True
    used = left.source.at(*place[:2])
    return used is not None and not used.mentions().isdisjoint(left.binds())


def _is_near(value: Array | None, computed: Array) -> bool:
    """Whether a constant is what was computed, but for the rounding of its type."""
    return value is not None and np.shape(value) == np.shape(computed) and bool(np.allclose(value, computed, 1e-6, 0))


def _goes_on(inquiry: Inquiry, b: Break, child: Node, parent: Node) -> bool:
    """Whether the value behind a cut is the one before it, or near it."""
    behind, before = inquiry.value(child), inquiry.value(parent)
    if behind is None or before is None or np.shape(behind) != np.shape(before):
        return False
    return b.cause == "nondifferentiable_op" or bool(np.array_equal(behind, before))


def _arrives(inquiry: Inquiry, seeds: dict[int, Array], wanted: set[int]) -> Array | None:
    """The adjoint that a sweep brings to these rows together; None where none arrives."""
    found = [seed for row, seed in seeds.items() if row in wanted]
    for step in sweep_of(inquiry, seeds, wanted) or ():
        found += [share for row, share, _ in step.shares if row in wanted]
    return sum(found[1:], start=found[0]) if found else None
