"""Which edits fix which cause, and how a fix is offered: one table for a tape and for every framework.

An edit looks at one piece of the syntax of the statement to blame, and says what should be in its place, or None; a
plan looks at the whole program. They are taken in turn, and the first that knows something is offered: as a patch where
one line changes, and the program still parses with it.
"""

from __future__ import annotations

from ...common.texts import paragraph
from ..causes import KINDS, SHARED
from ..reasons.question import Finding, Question
from ..reasons.text import at
from ..words import Explanation
from . import blocks as block
from . import edits as edit
from . import numbers as number
from .dialects import TAPE
from .leaving import collected, line_in_framework
from .operations import words
from .site import Edit, Fix, Plan, Spot, edited, steps_text

_STEP: list[Edit] = [number.straight_through]

EDITS: dict[str, list[Edit]] = {  # by cause
    # not tracked
    "not_trainable": [edit.keyword("trainable", True), edit.unfrozen],
    "not_accessed_watched": [edit.keyword("watch_accessed_variables", True)],
    "requires_grad": [
        edit.unfrozen,
        edit.keyword("requires_grad", True, *edit.MAKERS),
        edit.on_source("{x}.requires_grad_()"),
    ],
    "non_leaf": [edit.behind("{x}.retain_grad()")],
    # whole numbers
    "integer_dtype": [edit.as_float, number.whole_numbers],
    "integer_cast": [number.whole_numbers],
    # cut, paused, outside, kept in a variable
    "stop_gradient": [edit.without("stop_gradient")],
    "detach": [edit.without("detach", "detach_")],
    "data": [edit.without("data"), edit.rebuilt],
    "copied": [edit.rebuilt],
    "no_grad": [edit.rebound, edit.sampled, edit.keyword("use_reentrant", False)],
    "variable_assign": [edit.tensor_kept],
    # left
    "left_torch": [edit.rebuilt],
    # no derivative, another object
    "nondifferentiable": _STEP,
    "no_derivative": _STEP,
    "zero_derivative": [*_STEP, edit.sampled],
    "wrong_object": [edit.itself, edit.rebound],
    "rebound": [edit.rebound],
    # not finite
    "nan_forward": [
        number.finite_mask,
        number.log_softmax,
        number.written_out,
        number.masked_before,
        number.at_zero(edit.on_operand("{x} + 1e-06", "log", "log2", "log10", "rsqrt", "reciprocal")),
        number.divided,
    ],
    "nan_backward": [
        number.written_out,
        number.masked_before,
        number.not_all_zero(edit.on_operand("{x} + 1e-12", "sqrt")),
        number.under_root,
        edit.on_operand("{x} + 1e-12", "norm", "vector_norm"),
        edit.on_operand("{x} * 0.999999", "acos", "asin", "arccos", "arcsin"),
        number.power,
    ],
    # errors
    "in_place": [edit.not_in_place],
    "not_scalar": [edit.on_operand("{x}.mean()", "backward")],
}
PLANS: dict[str, list[Plan]] = {
    "not_watched": [block.watch_added],
    "watched_late": [block.watch_added],
    "not_trainable": [block.watch_added],
    "not_accessed_watched": [block.watch_added],
    "no_grad": [block.without_block("no_grad", "inference_mode")],
    "inference_mode": [block.without_block("inference_mode")],
    "recording_paused": [block.without_block("stop_recording", "init_scope")],
    "create_graph": [
        block.with_like_lines(edit.keyword("create_graph", True, "grad")),
        block.with_like_lines(edit.keyword("create_graph", True, "backward")),
    ],
    "computed_before_tape": [block.into_block],
    "computed_after_tape": [block.into_block],
    "left_through_numpy": [line_in_framework],
    "left_torch": [collected, line_in_framework],
    "left_jax": [line_in_framework],
    "hook": [block.deleted("register_hook", "register_full_backward_hook", "register_post_accumulate_grad_hook")],
}
_SEVERAL = ("paused", "outside")  # kinds whose fix also helps what breaks the path in the same manner on other lines


def first_fix(spot: Spot) -> Fix | None:
    """The first fix that the tables have for a cause."""
    for one in EDITS.get(spot.cause, []):
        if (found := edited(spot, one)) is not None:
            return found
    plans = (plan(spot) for plan in PLANS.get(spot.cause, []))
    return next((found for found in plans if found is not None), None)


def patched(answer: Explanation, fix: Fix | None) -> None:
    """Gives an answer its patch, without the indentation of the line, where the fix is one line."""
    if fix is None or fix.words or len(fix.steps) > 1:
        return
    step = fix.steps[0]
    if step.text and step.first == step.last:
        indent = step.text[: len(step.text) - len(step.text.lstrip())]
        answer.patch = "\n".join(line.removeprefix(indent) for line in step.text.split("\n"))
        answer.patch_line = step.first


def offer(question: Question, found: Finding, answer: Explanation) -> None:
    """Adds to an answer what to write on which line; the patch, where that is one line, and enough."""
    breaks = [one for one in found.others if not one.beside]
    known = all(one.site == found.site and one.cause != "zero_derivative" for one in breaks)
    same = answer.kind in _SEVERAL and all(one.cause == found.cause for one in breaks)
    fixes = [
        _fix(question, one, said) for one, said in zip((found, *found.others), (answer, *answer.others), strict=False)
    ]
    fix = fixes[0] if (known or same) and not _outside(question, found) else None
    if fix is not None:
        answer._steps = fix.steps
        patched(answer, fix)
        if question.adapter.dialect is not TAPE:  # its sentences say it
            answer.fix = paragraph(answer.fix, fix.words or steps_text(fix.steps))


def _outside(question: Question, found: Finding) -> bool:
    """Whether a value left, or was stored, where the tape records nothing: another line there is not enough."""
    if question.adapter.dialect is not TAPE or found.cause not in ("left_through_numpy", "state"):
        return False
    block, statement = at(question.adapter.block()), at(found.site)
    if found.row is None or block is None or statement is None or block.covers(found.site):
        return False
    if statement.functions == block.functions:
        return True
    exits = [exit.number for exit in question.exits if (exit.row, exit.site) == (found.row, found.site)]
    stored = [question.rows[row].number for row in question.rows[found.row].inputs] if found.cause == "state" else []
    return max(exits or stored or [question.rows[found.row].number]) < 0


def _fix(question: Question, found: Finding, answer: Explanation) -> Fix | None:
    """What fixes one break; its sentence is in the answer then."""
    statement = at(found.site)
    if statement is None or (answer.connected and answer.kind == "connected"):
        return None
    place = getattr(found.site, "place", None)
    call = None if place is None else statement.expression(place.span)
    by_call = KINDS.get(found.cause) == "left" and call is not None  # the expression tells more than the row
    row = None if found.row is None or by_call else question.rows[found.row]
    spot = Spot(question, SHARED.get(found.cause, found.cause), statement, row, call, found.fields.get("instead", ""))
    answer.fix = words(spot) or answer.fix
    return first_fix(spot)
