"""Map each cause to its edits, and add fixes to an answer. The table serves minitape's tape and every framework.

An edit receives one syntax node of the statement to blame, and returns the text that should replace it, or None. A plan
looks at the whole program. They are tried in order, and the first result is the fix. It is offered as a patch if only
one line changes and the program can still be parsed.
"""

from __future__ import annotations

from itertools import chain

from ...common.translation import join_sentences
from ..causes import BRIDGE_CAUSES, KIND_NAMES
from ..explanation import Explanation
from ..reasons.program_text import find_statement
from ..reasons.question import Finding, Question
from ..translated_sentences import fill
from . import block_fixes as block
from . import edits as edit
from . import numeric_fixes as number
from .dialects import TAPE
from .fault_site import Edit, FaultSite, Fix, Plan, apply_edit_to_statement
from .host_conversion_fixes import convert_line_to_framework
from .operation_advice import find_advice_for_fault

_STEP_EDITS: list[Edit] = [number.pass_straight_through]
_REENTRANT_EDIT = edit.set_keyword("use_reentrant", False, "checkpoint")

EDITS: dict[str, list[Edit]] = {  # The keys are causes.
    # The source is not tracked.
    "not_trainable": [edit.set_keyword("trainable", True), edit.set_trainable],
    "not_accessed_watched": [edit.set_keyword("watch_accessed_variables", True)],
    "requires_grad": [
        edit.set_trainable,
        edit.set_keyword("requires_grad", True, *edit.TENSOR_MAKERS),
        edit.insert_line_before_use("{x}.requires_grad_()"),
    ],
    "non_leaf": [edit.make_source_leaf],
    # Integers have no gradient.
    "integer_dtype": [edit.convert_source_to_float, *_STEP_EDITS],
    "integer_cast": _STEP_EDITS,
    # The path is cut, paused, outside of the block, or stored in a variable.
    "stop_gradient": [edit.unwrap_call("stop_gradient")],
    "detach": [edit.unwrap_call("detach", "detach_")],
    "data": [edit.unwrap_call("data")],
    "copied": [edit.reuse_tensor_for_copy],
    "no_grad": [edit.update_instead_of_rebinding, edit.sample_with_gradient, _REENTRANT_EDIT],
    "unknown": [_REENTRANT_EDIT],
    "variable_assign": [edit.unwrap_call("Variable")],
    # The value left the framework.
    "left_torch": [edit.reuse_tensor_for_copy],
    # The gradient is by another argument, or a mask selects elements.
    "argnums": [edit.set_argnums],
    "boolean_index": [edit.replace_mask_by_where],
    # The operation has no derivative, or the source is another object.
    "nondifferentiable": _STEP_EDITS,
    "no_derivative": _STEP_EDITS,
    "zero_derivative": [*_STEP_EDITS, edit.sample_with_gradient],
    "wrong_object": [edit.unwrap_call("identity", "value", "read_value"), edit.update_instead_of_rebinding],
    "rebound": [edit.update_instead_of_rebinding],
    # A value or a derivative is not finite.
    "nan_forward": [
        edit.repeat_where_around_operand("log", "log2", "log10", "sqrt", "rsqrt", "div", "pow"),
        number.require_zero_input(edit.replace_operand("{x} + 1e-06", "log", "log2", "log10", "rsqrt", "reciprocal")),
        number.require_zero_input(edit.replace_operand("{x} + 1e-06", "div"), -1),
    ],
    "nan_backward": [
        edit.repeat_where_around_operand("sqrt", "pow", "norm", "log", "div"),
        number.require_nonzero_result(edit.replace_operand("{x} + 1e-12", "sqrt")),
        number.exclude_tensorflow(edit.replace_operand("{x} + 1e-12", "norm", "vector_norm")),
        number.require_zero_input(edit.replace_operand("{x} + 1e-06", "pow")),
    ],
    # A gradient is used further without its graph, or an operation changes a value in place.
    "create_graph": [edit.limit_to_only_candidate(edit.set_keyword("create_graph", True, "grad", "backward"))],
    "in_place": [edit.rebind_instead_of_updating],
    # The gradient exists and is wrong.
    "broadcast": [edit.squeeze_column],
    "in_part": [edit.unwrap_call("item", "detach", "stop_gradient"), edit.set_keyword("create_graph", True, "grad")],
    "not_applied": [edit.update_instead_of_rebinding],
    "sampled": [edit.sample_with_gradient],
    "accumulated": [edit.clear_gradients_after_step],
    "not_scalar": [edit.replace_operand("{x}.mean()", "backward"), edit.take_mean_of_return],
}
PLANS: dict[str, list[Plan]] = {
    "not_watched": [block.add_watch],
    "watched_late": [block.add_watch],
    "not_trainable": [block.add_watch],
    "not_accessed_watched": [block.add_watch],
    "no_grad": [block.remove_block_naming("no_grad", "inference_mode")],
    "inference_mode": [block.remove_block_naming("inference_mode")],
    "recording_paused": [block.remove_block_naming("stop_recording", "init_scope")],
    "left_through_numpy": [convert_line_to_framework],
    "left_torch": [convert_line_to_framework],
    "left_jax": [convert_line_to_framework],
}


def find_first_fix(fault: FaultSite) -> Fix | None:
    """Return the first fix that an edit or a plan for the cause of a fault finds, or None."""
    edits = (apply_edit_to_statement(fault, edit) for edit in EDITS.get(fault.cause, []))
    plans = (plan(fault) for plan in PLANS.get(fault.cause, []))
    return next(filter(None, chain(edits, plans)), None)


def add_fixes_to_answer(question: Question, finding: Finding, answer: Explanation) -> None:
    """Add fixes to an answer and to its further breaks.

    Sets `Explanation.patch` if changing one line is enough, and extends `Explanation.fix`.

    Args:
        question: The question that the finding answers.
        finding: The finding, with the further breaks in `more`.
        answer: The explanation of the finding, with the explanations of the further breaks in `others`.
    """
    breaks = [part for part in finding.more if not part.is_side_break]
    is_one_site = all(part.site == finding.site and part.cause != "outside_tape" for part in breaks)
    # Removing one block mends all breaks of the same pause.
    is_one_block = answer.kind == "paused" and all(part.cause == finding.cause for part in breaks)
    answers = (answer, *answer.others)
    fixes = [
        _find_fix_and_set_sentence(question, part, explanation)
        for part, explanation in zip((finding, *finding.more), answers, strict=False)
    ]
    is_enough = (is_one_site or is_one_block) and not _is_blamed_outside_block(question, finding)
    for part, fix in zip(answers, fixes, strict=False):
        if fix is None or not (is_enough if part is answer else answer.cause == "connected"):
            continue
        if fix.text:
            indent = fix.text[: len(fix.text) - len(fix.text.lstrip())]
            part.patch = "\n".join(line.removeprefix(indent) for line in fix.text.split("\n"))
            part.patch_line = fix.line
        if question.adapter.dialect is not TAPE:  # The sentences of a tape contain the fix already.
            part.fix = join_sentences(part.fix, fix.sentence or format_fix_sentence(fix))


def format_fix_sentence(fix: Fix) -> str:
    """Return a fix as a sentence, for a reader who edits by hand.

    Args:
        fix: The fix.

    >>> format_fix_sentence(Fix(3, "    y = x")), format_fix_sentence(Fix(5, ""))
    ('Line 3 should be `y = x`.', 'Delete line 5.')
    """
    line = fill("line {line}", line=fix.line)
    code = fill("` and then `").join(line.strip() for line in fix.text.split("\n"))
    if not code:
        return fill("Delete {lines}.", lines=line)
    return fill("{lines} should be `{code}`.", lines=line.capitalize(), code=code)


def _is_blamed_outside_block(question: Question, finding: Finding) -> bool:
    """Return whether a value left or was stored outside the tape's block, so that changing that line is not enough."""
    if question.adapter.dialect is not TAPE or finding.cause not in ("left_through_numpy", "state"):
        return False
    block, statement = find_statement(question.adapter.find_block_site()), find_statement(finding.site)
    is_near_block = (
        block
        and statement
        and not block.covers_site(finding.site)
        and statement.enclosing_functions == block.enclosing_functions
    )
    return bool(is_near_block) or any(part.cause == "outside_tape" for part in finding.more)


def _find_fix_and_set_sentence(question: Question, finding: Finding, answer: Explanation) -> Fix | None:
    """Return the fix for one break, and set the answer's sentence about its operation if there is advice on it."""
    statement = find_statement(finding.site)
    if not statement or (answer.connected and answer.kind == "connected"):
        return None
    place = getattr(finding.site, "place", None)
    call = None if place is None else statement.find_expression(place.span)
    # If a value left, the expression that ran is more exact than the row.
    blames_call = KIND_NAMES.get(finding.cause) == "left" and call is not None
    row = None if finding.row is None or blames_call else question.rows[finding.row]
    fault = FaultSite(
        question,
        BRIDGE_CAUSES.get(finding.cause, finding.cause),
        statement,
        row,
        call,
        finding.sentence_fields.get("instead", ""),
    )
    answer.fix = find_advice_for_fault(fault) or answer.fix
    return find_first_fix(fault)
