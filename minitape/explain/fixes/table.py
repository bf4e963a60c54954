"""What fixes which cause: the table, and how a fix is tried and offered. One for a tape and for every framework.

An edit looks at one piece of the syntax of the statement to blame, and says what should be in its place, or None; or
it looks at the whole program, see :class:`Whole`. They are tried in turn. A patch is given where one line changes, and
the program still parses with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...common.texts import paragraph
from ..source import Source, source_of
from . import blocks as block
from . import edits as edit
from . import leaving
from . import plans as plan
from . import values as value
from .edit_site import Edit, Fix, Spot, Whole, quoted, steps_text
from .operations import words
from .plans import to_try
from .trial import passes_gradient, stays_finite

if TYPE_CHECKING:
    from ..words import Explanation

_WATCH = edit.before_use("{tape}.watch({x})")
_WATCHED = Whole(block.watch_call)
_TRAINABLE = edit.keyword("trainable", True)
_ACCESSED = edit.keyword("watch_accessed_variables", True)

TABLE: dict[str, list[Edit | Whole]] = {  # by cause; behind one the name of the only dialect whose programs it fixes
    # not tracked
    "not_watched": [edit.rebound, _WATCH, _WATCHED],
    "watched_late": [_WATCH, _WATCHED],
    "not_trainable": [_TRAINABLE, edit.frozen, plan.anywhere(_TRAINABLE), _WATCH, _WATCHED],
    "not_accessed_watched": [_WATCHED, _WATCH, _ACCESSED, plan.anywhere(_ACCESSED)],
    "requires_grad": [
        edit.keyword("requires_grad", True),
        edit.frozen,
        edit.with_requires_grad,
        edit.before_use("{x}.requires_grad_()"),
    ],
    "non_leaf": [edit.retained_gradient],
    "argnums": [edit.with_argnums],
    # whole numbers
    "integer_dtype torch": [edit.with_requires_grad],
    "integer_dtype tf": [edit.float_maker, value.whole_numbers, plan.anywhere(edit.float_maker)],
    "integer_dtype jax": [edit.one_float],
    "integer_cast": [value.whole_numbers],
    # cut, paused, outside, kept in a variable
    "stop_gradient": [edit.without("stop_gradient")],
    "detach": [edit.wrapped_again, edit.without("detach", "detach_")],
    "data": [edit.wrapped_again, edit.attribute("data")],
    "copied": [edit.wrapped_again, edit.stacked],
    "no_grad": [
        plan.edit_alike_lines(edit.rebound),
        edit.sampled,
        edit.keyword("use_reentrant", False),
        block.without_block("no_grad", "inference_mode"),
    ],
    "inference_mode": [block.without_block("inference_mode")],
    "recording_paused": [block.without_block("stop_recording", "init_scope")],
    "computed_before_tape": [Whole(block.into_block)],
    "computed_after_tape": [Whole(block.into_block)],
    "create_graph": [
        plan.edit_alike_lines(edit.keyword("create_graph", True, "grad")),
        edit.keyword("create_graph", True, "backward"),
    ],
    "variable_assign": [edit.variable_kept, Whole(block.value_kept)],
    # left
    "left_through_numpy": [
        Whole(leaving.line_in_framework),
        Whole(leaving.lines_in_framework),
        Whole(leaving.called_inside),
    ],
    "left_torch": [
        edit.wrapped_again,
        plan.listed(plan.element),
        Whole(leaving.line_in_framework),
        Whole(leaving.lines_in_framework),
    ],
    "left_jax": [
        Whole(plan.elements_set),
        Whole(plan.static_count),
        Whole(leaving.line_in_framework),
        Whole(leaving.lines_in_framework),
    ],
    "branch": [edit.larger_of_two, Whole(edit.chosen)],
    "boolean_index": [edit.masked],
    "callback": [Whole(leaving.called_inside)],
    # no derivative, another object, nothing at all
    "nondifferentiable": [value.straight_through],
    "no_derivative": [value.straight_through],
    "while_loop": [Whole(plan.static_count), to_try(edit.scanned, "With at most 100 steps, for example:")],
    "wrong_object": [edit.itself, edit.rebound],
    "rebound": [edit.rebound],
    # zero
    "zero_derivative": [value.straight_through, edit.sampled],
    "dead_relu": [to_try(value.leaky, "A change to try; it also changes the values:")],
    "saturated": [to_try(value.scaled, "For example:")],
    "zero_cancels": [to_try(value.one_unit, "For yes or no, which also changes the values:")],
    "hook": [Whole(block.hook_gone)],
    # not finite
    "nan_input": [Whole(plan.finite_data)],
    "nan_forward": [
        value.finite_mask,
        value.log_softmax,
        value.sum_of_logs,
        value.written_out,
        value.masked_before,
        value.at_zero(edit.on_operand("{x} + 1e-06", "log", "log2", "log10", "rsqrt", "reciprocal")),
        value.length_of_zeros,
        value.divided,
        value.not_below,
        value.overflow,
        plan.anywhere(value.finite_mask),
    ],
    "nan_backward": [
        value.written_out,
        value.masked_before,
        value.unless_all_zero(edit.on_operand("{x} + 1e-12", "sqrt")),
        edit.on_operand("{x} + 1e-12", "norm", "vector_norm"),
        value.unless_all_zero(value.deviation),
        edit.on_operand("{x} * 0.999999", "acos", "asin", "arccos", "arcsin"),
        edit.on_operand("{x} + 1e-06", "acosh", "arccosh"),
        value.power,
        value.nonzero_angle,
    ],
    # errors
    "in_place": [edit.not_in_place],
    "backward_twice": [Whole(block.kept_graph), Whole(block.state_detached)],
    "not_scalar torch": [edit.on_operand("{x}.mean()", "backward")],
    "not_scalar jax": [edit.reduced],
    "has_aux": [Whole(plan.with_aux)],
    "refused": [Whole(plan.elements_set)],
}

_SCALES: set = {value.overflow}  # what their statement computes has another scale, and is divided by its sum


def offer_fix(inquiry: Any, answer: Explanation) -> None:
    """Adds to an answer the patch, or to its words what to write on which line; nothing where that is unknown."""
    if answer.cause == "connected" or answer._steps is not None:  # it was answered inside of a function
        return
    answer._steps = []
    filename = answer.filename or (
        inquiry.entries[-1 if inquiry.end is None else inquiry.end].site[0] if inquiry.entries else None
    )
    if filename is None:
        return
    if any(other.kind == "zero" and other.line == answer.line for other in answer.others):
        return  # a step on the same line would stop the gradient again
    further = [other for other in answer.others if not other.beside]
    alone = all((other.filename, other.line) == (answer.filename, answer.line) for other in further)
    alike = all(other.cause == answer.cause for other in further)
    source: Source | None = source_of(filename)
    if source is None:
        return
    spot = Spot(
        inquiry, answer, source, filename, source.at(filename, answer.line) if answer.line is not None else None
    )
    if spot.blamed or answer.line is None:
        answer.fix = words(spot) or answer.fix
    found = first_fix(spot, lambda way: alone or (alike and isinstance(way, Whole) and way.several))
    if found is not None:
        answer._steps = found[0].steps
        patched(answer, found)
        answer.fix = paragraph(answer.fix, found[0].words or steps_text(found[0].steps))


def first_fix(spot: Spot, may: Callable[[Edit | Whole], bool] = lambda way: True) -> tuple[Fix, bool] | None:
    """The first fix that the table has for a cause, and whether it may be a patch: it is carried out where that can be
    done.
    """
    for way in TABLE.get(f"{spot.cause} {spot.dialect.name}") or TABLE.get(spot.cause) or []:
        if not may(way) or not spot.blamed:
            continue
        found = way.plan(spot) if isinstance(way, Whole) else spot.edit_one(way)
        if found is None or not passes_gradient(spot, found.steps):
            continue
        step, number = found.steps[0], spot.answer.kind == "nonfinite"
        one = len(found.steps) == 1 and step.first == step.last and bool(step.text) and not found.words
        tried = way in _SCALES or (stays_finite(spot, found.steps) if one and spot.answer.kind != "error" else None)
        if tried is not False or not number:  # else it would change other numbers, or leave the derivative infinite
            found = found._replace(steps=[quoted(spot.lines, step) for step in found.steps])
            return found, one and tried is not False and (bool(tried) or not number)
    return None


def patched(answer: Explanation, found: tuple[Fix, bool] | None) -> None:
    """Gives an answer its patch, without the indentation of the line."""
    if found is not None and found[1]:
        step = found[0].steps[0]
        indent = step.text[: len(step.text) - len(step.text.lstrip())]
        answer.patch = "\n".join(line.removeprefix(indent) for line in step.text.split("\n"))
        answer.patch_line = step.first
