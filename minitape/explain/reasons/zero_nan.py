"""What arrived, and is zero, NaN or infinite: which operation made it so. The same for a tape and for every framework.

A sweep knows for each call what came to it and what it sent on, product by product. So the first call, from the target,
that sends on zeros (or NaN) and was not given any is to blame; why it does so is seen in its numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from ...recording.sites import NOWHERE, Site, text_of
from ...recording.values import numbers_of
from ..families import MOVES, POINTS
from ..sentences import fill
from . import text
from .names import path_to
from .question import Elements, Finding, Found, Question

CLIP = re.compile(r"\bclip\w*")  # a maximum and a minimum, of which the text or the scope tells
CLIPS = {"max", "min", "Maximum", "Minimum"}  # of which a function clips
# what a rule gives that gives zeros, or nothing
NOTHING = re.compile(r"return(.*\bzeros|.*\* 0\b(?!\.\d*[1-9])|.*(?<![.\w])0(\.0)? \*|( |\(|,|None|0(\.0)?|\))*$)")
OPAQUE = ("resource", "variant", "string")  # types of what has no numbers itself: a dataset, a list, a text
ROUNDED = 1e-5  # of a sum of float32 numbers that is zero: as much as another order of the summands may leave
SUBTRACTS = {"sub", "Sub", "subtract", "__sub__"}


def at_row(q: Question, cause: str, row: int, kind: str = "", what: str = "", site: Site = NOWHERE) -> Finding:
    """A cause at a row, on its line or another."""
    return Finding(cause, q.rows[row].site if site is NOWHERE else site, row, what, kind)


def numbers(q: Question, rows: Iterable[int]) -> list[np.ndarray]:
    """The elements of those of these rows that are kept."""
    return [array for row in rows if (array := q.rows[row].array) is not None]


def is_zero(q: Question, row: int) -> bool:
    """Whether a row holds zeros alone."""
    value = q.rows[row].value
    return value is not None and value.facts()[0]


def finite(q: Question, row: int) -> bool:
    """Whether a row holds finite numbers alone, as far as it is known."""
    value = q.rows[row].value
    return value is None or value.facts()[1]


def received(q: Question, row: int) -> Elements:
    """The adjoint that arrived at a row, where its elements are kept."""
    return numbers_of(q.sweep.adjoints.get(row))


def rule_of(q: Question, row: int) -> Site:
    """Where the derivative rule of a function of the program's own returns: of several places the one whose text gives
    zeros or nothing; nowhere for other operations.
    """
    site = q.adapter.rule(q.rows[row])
    own = (s for s in text.statements(site[0]) if s.functions == text.at(site).functions)
    return next((s.site for s in own if NOTHING.match(text.unparse(s.node))), site)


def stopped(q: Question) -> int | None:
    """The last operation on the way to which an adjoint came, and that sent nothing on; of a list none is known."""
    rows = [*q.used[:1], *(row for row, _ in q.way)]
    for row, before in zip(reversed(rows), reversed(rows[:-1]), strict=False):
        sent = q.sweep.edges.get(q.rows[row].call)
        known = row in q.sweep.adjoints and q.rows[before].dtype != "variant"
        if known and (sent is None or (q.rows[before].tracked and before not in [edge[0] for edge in sent])):
            return row
    return None


# -- NaN and infinities ----------------------------------------------------------------------------


def nan(q: Question) -> Found:
    """Where a NaN or infinity came up that arrived, or that the target has: in the data, a value, a derivative."""
    adjoints = [q.sweep.adjoints[row] for row in q.used if row in q.sweep.adjoints] if q.sweep is not None else []
    lost = next((end for end in q.ends if not finite(q, end)), None)
    if not adjoints or (lost is None and all(one.facts()[1] for one in adjoints)):
        return None
    if lost is not None:
        return origin(q, lost)
    for call, edges in q.sweep.edges.items():
        given, toward = q.sweep.adjoints.get(call), [edge for edge in edges if edge[0] in q.after]
        if (given is None or given.facts()[1]) and not all(edge[2].facts()[1] for edge in toward):
            grown = "grown" * has_grown(q, call, [] if given is None else [given.array()])
            by = q.adapter.rule(q.rows[call])
            return at_row(q, "nan_backward", call, grown, site=by) if finite(q, call) else origin(q, call, "hidden")
    return at_row(q, "nan_backward", q.used[-1])


def origin(q: Question, row: int, kind: str = "") -> Finding:
    """The first row of those that handed a NaN or infinity on to this one, without a finite row between."""
    seen, stack = set[int](), [row]
    while stack:
        at = stack.pop()
        if at not in seen:
            seen.add(at)
            stack += [one for one in q.rows[at].inputs if not finite(q, one)]
    first = q.rows[min(seen)]
    cause = "nan_backward" if kind else "nan_forward"
    fills = first.op in q.adapter.zeros["not_selected"]  # with a number of Python's
    reads = bool(first.inputs) and all(q.rows[one].dtype in OPAQUE for one in first.inputs)
    if first.kind == "operation" and not fills and not reads:
        return at_row(q, cause, first.row, kind or "grown" * has_grown(q, first.row, numbers(q, first.inputs)))
    reader = first.row if fills else min((at for at in seen if first.row in q.rows[at].inputs), default=first.row)
    put = not first.shape or q.rows[reader].op in q.adapter.zeros["not_selected"]
    if (fills or first.kind == "constant") and put and first.array is not None and not np.isnan(first.array).any():
        # an infinity that is put in on purpose: a mask, which leaves something over, or hides everything
        lost = [at for at in seen if any(np.isnan(array).any() for array in numbers(q, [at]))]
        hides = not any(np.isfinite(array).any() for array in numbers(q, [reader]))
        return at_row(q, cause, reader if hides else min(lost, default=reader), kind)
    if fills:
        return at_row(q, cause, first.row, kind)
    name = first.name or path_to(q, first.thing()) or fill("A tensor")
    return Finding("nan_input", first.site, first.row, other=name, kind="trained" * first.tracked)


def has_grown(q: Question, row: int, arrays: Iterable[Elements]) -> bool:
    """Whether what a row was computed from, or got, is so large that a product has no place in its type."""
    dtype = q.rows[row].dtype.replace("bfloat16", "float32")
    if dtype not in ("float32", "float64"):
        return False
    return any(np.abs(array).max(initial=0) > np.finfo(dtype).max ** 0.45 for array in arrays if array is not None)


# -- zeros -----------------------------------------------------------------------------------------


def zero(q: Question) -> Found:
    """The operation that made zeros of what came to it, where zeros arrived."""
    sweep = q.sweep
    adjoints = [sweep.adjoints[row] for row in q.used if row in sweep.adjoints] if sweep is not None else []
    if not adjoints or not all(one.facts()[0] for one in adjoints):
        return None
    seeds = [sweep.adjoints[row] for row in sweep.target if row in sweep.adjoints]
    if seeds and all(seed.facts()[0] for seed in seeds):
        return Finding("zero_seed", sweep.site, q.ends[0])
    empty = next((row for row, _ in q.way if 0 in q.rows[row].shape), None)
    if empty is not None:
        return at_row(q, "not_selected", empty, "empty")
    # what made zeros, and of what was sent and cancels the row; on another way something may come nearer to the source
    last: tuple[int, ...] = ()
    alive = set[int]()  # rows to which something was sent that is not zero
    for call, edges in sweep.edges.items():
        adjoint = sweep.adjoints.get(call)
        toward = [edge for edge in edges if edge[0] in q.after and q.rows[edge[0]].tracked]
        if adjoint is None or not toward:
            continue
        if adjoint.facts()[0]:
            if call in alive:
                return at_row(q, "hook", call)
        elif all(edge[2].facts()[0] for edge in toward):
            last = (call,)
        else:
            for row, _, product, total in toward:
                (alive.discard if total.facts()[0] else alive.add)(row)
                if total.facts()[0] and not product.facts()[0]:  # what it sent is not zero, and the sum is
                    last = (call, row)
    if last:
        return cancelled(q, *last) if last[1:] else zero_of(q, *last)
    first = next(row for row in q.used if row in sweep.adjoints)
    return at_row(q, "hook" if first in alive else "zero_sum", first)


def cancelled(q: Question, call: int, row: int) -> Finding:
    """Contributions to a row that cancel: in a function of shares, or in the program itself."""
    if q.rows[call].op in q.adapter.zeros["zero_cancels"] - SUBTRACTS:
        return at_row(q, "zero_cancels", call)
    senders = [one for one, edges in q.sweep.edges.items() for edge in edges if edge[0] == row]
    scopes = [q.rows[one].scope for one in senders]
    for depth, name in enumerate(scopes[0] if scopes else (), 1):
        own = scopes[0][:depth]
        if re.sub(r"_\d+$", "", name) in q.adapter.cancels and all(scope[:depth] == own for scope in scopes):
            exps = [one.row for one in q.rows if one.op == "exp" and one.scope[:depth] == own]
            return at_row(q, "saturated" if any(is_one_hot(q, at) for at in exps) else "zero_cancels", call, what=name)
    return at_row(q, "zero_sum", call, "elements" if len(senders) == 1 else "")


def family(q: Question, row: int) -> str:
    """In which way an operation makes zeros; empty where it is known for none."""
    return next((cause for cause, ops in q.adapter.zeros.items() if q.rows[row].op in ops), "")


def zero_of(q: Question, row: int) -> Finding:
    """In which way an operation made zeros of what came to it."""
    one, cause = q.rows[row], family(q, row)
    if one.op in POINTS:  # of a second derivative the line of the relu itself
        return Finding("zero_derivative", q.rows[one.inputs[-1]].site, row, kind=POINTS[one.op])
    if one.op in CLIPS:
        said = CLIP.search(" ".join([*one.scope, text_of(one.site)]))
        if said:
            return at_row(q, "saturated", row, what=said[0])
        if any(q.rows[at].kind == "constant" and is_zero(q, at) for at in one.inputs):
            return at_row(q, "dead_relu", row)
    if one.op in q.adapter.classes:
        logits = q.rows[one.inputs[0]].shape
        alone = not logits or logits[1 if len(logits) > 1 else 0] == 1
        return at_row(q, "zero_cancels", row, "one") if alone else at_row(q, "saturated", row)
    if (cause == "dead_relu" and not is_off(q, row)) or (cause == "zero_cancels" and is_one_hot(q, row)):
        return at_row(q, "saturated", row)
    if cause == "zero_factor":
        others = numbers(q, [at for at in one.inputs if at not in q.after])
        if underflows(q, row, others):
            return at_row(q, cause, row, "underflow")
        if has_no_zeros(q, row):
            return at_row(q, "zero_sum", row, "elements")
        return zero_before(q, row) or at_row(q, cause, row)
    if cause:
        alone = cause == "zero_cancels" and one.op.lower() == "softmax"
        ones = alone and one.array is not None and bool(np.all(one.array == 1))
        return at_row(q, cause, row, "one" * ones)
    return handed_on(q, row)


def handed_on(q: Question, row: int) -> Finding:
    """Why zeros came out of an operation that is known for none: it handed on what cancels, or was zero before."""
    one = q.rows[row]
    if (rule := rule_of(q, row)) is not NOWHERE:
        return Finding("custom_rule", rule, row)
    senders = [call for call, edges in q.sweep.edges.items() if any(edge[0] == row for edge in edges)]
    if senders and sums_to_zero(q, row):
        return cancelled(q, senders[-1], row)
    for later, _ in q.way:  # who took another part of it, or a mask?
        cause = family(q, later) if later > row else ""
        if cause == "not_selected" or (cause == "zero_factor" and not has_no_zeros(q, later)):
            return at_row(q, cause, later)
    if one.op in MOVES:
        return at_row(q, "not_selected", row, "part")
    if any(is_zero(q, at) for at in one.inputs):
        return zero_before(q, row) or at_row(q, "zero_factor", row)
    others = numbers(q, [at for at in one.inputs if at not in q.after])
    took = one.array is not None and any(np.isin(one.array, other).all() for other in others)
    return at_row(q, "not_selected" if took else "saturated", row)


def has_no_zeros(q: Question, row: int) -> bool:
    """Whether no other factor has a zero: then a product is zero as a sum, over what was spread out."""
    given = [at for at in q.rows[row].inputs if at not in q.after]
    others = numbers(q, given)
    return bool(others) and len(others) == len(given) and all(np.all(other != 0) for other in others)


def underflows(q: Question, row: int, others: Iterable[np.ndarray]) -> bool:
    """Whether a product is zero because it is smaller than any number of its type, though no factor is zero."""
    array, known = received(q, row), q.rows[row].dtype.replace("bfloat16", "float32")
    factors = [np.abs(other).max(initial=0.0) for other in others]
    most = 0.0 if array is None or not known.startswith("float") else np.abs(array).max(initial=0.0)
    return any(0 < most * factor < np.finfo(known).smallest_subnormal for factor in factors)


def zero_before(q: Question, row: int) -> Found:
    """The relu or the step that gave the zeros which are a factor: ``relu(x) ** 2``."""
    first = row
    while zeros := [at for at in q.rows[first].inputs if is_zero(q, at)]:
        first = zeros[0]
    return zero_of(q, first) if first != row and family(q, first) in ("dead_relu", "zero_derivative") else None


def sums_to_zero(q: Question, row: int) -> bool:
    """Whether an input was spread out over a larger result, and what came to its copies cancels."""
    array = received(q, row)
    if array is None:
        return False
    for given in [edge[0] for edge in q.sweep.edges.get(row, ()) if edge[0] in q.after]:
        shape = tuple(q.rows[given].shape)
        wide = (1,) * (array.ndim - len(shape)) + shape
        axes = tuple(k for k, sizes in enumerate(zip(wide, array.shape, strict=False)) if sizes[0] == 1 < sizes[1])
        most = np.abs(array).sum(axes)
        if not axes or not most.any() or (np.abs(array.sum(axes)) > ROUNDED * most).any():
            return False
    return True


def is_off(q: Question, row: int) -> bool:
    """Whether a relu gives zeros where an adjoint came; a relu6, elu or hard sigmoid can be at its other limit."""
    value, array = q.rows[row].array, received(q, row)
    if value is None or array is None or value.shape != array.shape:
        return True
    return not value[array != 0].any()


def is_one_hot(q: Question, row: int) -> bool:
    """Whether a softmax over several classes gives one of them everything."""
    value = q.rows[row].array
    return value is not None and bool((value == 1).any() and (value == 0).any())
