"""Which edits fix which cause, and how a fix is offered: one table for a tape and for every framework.

An edit looks at one piece of the syntax of the statement to blame, and says what should be in its place, or None; a
plan looks at the whole program. They are taken in turn, and the first that knows something is offered: as a patch where
one line changes, and the program still parses with it.
"""

from __future__ import annotations

from itertools import chain

from ...common.texts import paragraph
from ..causes import BRIDGE_CAUSES, KIND_NAMES
from ..reasons.question import Finding, Question
from ..reasons.text import at
from ..sentences import fill
from ..words import Explanation
from . import blocks as block
from . import edits as edit
from . import numbers as number
from .dialects import TAPE
from .leaving import line_in_framework
from .operations import words
from .site import Edit, Fix, Plan, Spot, edited

_STEP: list[Edit] = [number.straight_through]
_REENTRANT = edit.keyword("use_reentrant", False, "checkpoint")

EDITS: dict[str, list[Edit]] = {  # by cause
    # not tracked
    "not_trainable": [edit.keyword("trainable", True), edit.unfrozen],
    "not_accessed_watched": [edit.keyword("watch_accessed_variables", True)],
    "requires_grad": [
        edit.unfrozen,
        edit.keyword("requires_grad", True, *edit.MAKERS),
        edit.before("{x}.requires_grad_()"),
    ],
    "non_leaf": [edit.leaf],
    # whole numbers
    "integer_dtype": [edit.as_float, *_STEP],
    "integer_cast": _STEP,
    # cut, paused, outside, kept in a variable
    "stop_gradient": [edit.without("stop_gradient")],
    "detach": [edit.without("detach", "detach_")],
    "data": [edit.without("data")],
    "copied": [edit.rebuilt],
    "no_grad": [edit.rebound, edit.sampled, _REENTRANT],
    "unknown": [_REENTRANT],
    "variable_assign": [edit.without("Variable")],
    # left
    "left_torch": [edit.rebuilt],
    # another argument, a mask
    "argnums": [edit.differentiated],
    "boolean_index": [edit.masked],
    # no derivative, another object
    "nondifferentiable": _STEP,
    "no_derivative": _STEP,
    "zero_derivative": [*_STEP, edit.sampled],
    "wrong_object": [edit.without("identity", "value", "read_value"), edit.rebound],
    "rebound": [edit.rebound],
    # not finite
    "nan_forward": [
        edit.masked_before("log", "log2", "log10", "sqrt", "rsqrt", "div", "pow"),
        number.at_zero(edit.on_operand("{x} + 1e-06", "log", "log2", "log10", "rsqrt", "reciprocal")),
        number.at_zero(edit.on_operand("{x} + 1e-06", "div"), -1),
    ],
    "nan_backward": [
        edit.masked_before("sqrt", "pow", "norm", "log", "div"),
        number.not_all_zero(edit.on_operand("{x} + 1e-12", "sqrt")),
        number.not_in_tensorflow(edit.on_operand("{x} + 1e-12", "norm", "vector_norm")),
        number.at_zero(edit.on_operand("{x} + 1e-06", "pow")),
    ],
    # a gradient that is used further, errors
    "create_graph": [edit.alone(edit.keyword("create_graph", True, "grad", "backward"))],
    "in_place": [edit.not_in_place],
    # there, and wrong
    "broadcast": [edit.squeezed],
    "in_part": [edit.without("item", "detach", "stop_gradient"), edit.keyword("create_graph", True, "grad")],
    "not_applied": [edit.rebound],
    "sampled": [edit.sampled],
    "accumulated": [edit.cleared],
    "not_scalar": [edit.on_operand("{x}.mean()", "backward"), edit.reduced],
}
PLANS: dict[str, list[Plan]] = {
    "not_watched": [block.watch_added],
    "watched_late": [block.watch_added],
    "not_trainable": [block.watch_added],
    "not_accessed_watched": [block.watch_added],
    "no_grad": [block.without_block("no_grad", "inference_mode")],
    "inference_mode": [block.without_block("inference_mode")],
    "recording_paused": [block.without_block("stop_recording", "init_scope")],
    "left_through_numpy": [line_in_framework],
    "left_torch": [line_in_framework],
    "left_jax": [line_in_framework],
}


def first_fix(spot: Spot) -> Fix | None:
    """The first fix that the tables have for a cause."""
    edits = (edited(spot, edit) for edit in EDITS.get(spot.cause, []))
    plans = (plan(spot) for plan in PLANS.get(spot.cause, []))
    return next(filter(None, chain(edits, plans)), None)


def offer(question: Question, found: Finding, answer: Explanation) -> None:
    """Adds to an answer what to write on which line, and the patch, where that is enough."""
    breaks = [one for one in found.more if not one.is_side_break]
    known = all(one.site == found.site and one.cause != "outside_tape" for one in breaks)
    same = answer.kind == "paused" and all(one.cause == found.cause for one in breaks)  # one block goes
    answers = (answer, *answer.others)
    fixes = [_fix(question, one, said) for one, said in zip((found, *found.more), answers, strict=False)]
    enough = (known or same) and not _outside(question, found)
    for one, fix in zip(answers, fixes, strict=False):
        if fix is None or not (enough if one is answer else answer.cause == "connected"):
            continue
        if fix.text:
            indent = fix.text[: len(fix.text) - len(fix.text.lstrip())]
            one.patch = "\n".join(line.removeprefix(indent) for line in fix.text.split("\n"))
            one.patch_line = fix.line
        if question.adapter.dialect is not TAPE:  # its sentences say it
            one.fix = paragraph(one.fix, fix.words or said(fix))


def said(fix: Fix) -> str:
    """A fix in a sentence, for a reader who edits by hand.

    >>> said(Fix(3, "    y = x")), said(Fix(5, ""))
    ('Line 3 should be `y = x`.', 'Delete line 5.')
    """
    line = fill("line {line}", line=fix.line)
    code = fill("` and then `").join(line.strip() for line in fix.text.split("\n"))
    return (
        fill("{lines} should be `{code}`.", lines=line.capitalize(), code=code)
        if code
        else fill("Delete {lines}.", lines=line)
    )


def _outside(question: Question, found: Finding) -> bool:
    """Whether a value left, or was stored, where the tape records nothing: another line there is not enough."""
    if question.adapter.dialect is not TAPE or found.cause not in ("left_through_numpy", "state"):
        return False
    block, statement = at(question.adapter.find_block()), at(found.site)
    around = block and statement and not block.covers(found.site) and statement.functions == block.functions
    return bool(around) or any(one.cause == "outside_tape" for one in found.more)


def _fix(question: Question, found: Finding, answer: Explanation) -> Fix | None:
    """What fixes one break; its sentence is in the answer then."""
    statement = at(found.site)
    if not statement or (answer.connected and answer.kind == "connected"):
        return None
    place = getattr(found.site, "place", None)
    call = None if place is None else statement.expression(place.span)
    by_call = KIND_NAMES.get(found.cause) == "left" and call is not None  # the expression tells more than the row
    row = None if found.row is None or by_call else question.rows[found.row]
    spot = Spot(
        question,
        BRIDGE_CAUSES.get(found.cause, found.cause),
        statement,
        row,
        call,
        found.sentence_fields.get("instead", ""),
    )
    answer.fix = words(spot) or answer.fix
    return first_fix(spot)
