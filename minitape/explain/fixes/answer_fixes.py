"""Find the fix for a cause and add it to an answer, for minitape's tape and for every framework.

The record of a cause lists its edits and plans (``minitape.explain.causes``). An edit receives one syntax node of the
statement to blame, and returns replacement text or None. A plan examines the whole program. Edits and plans are tried
in order, and the first result is the fix. The fix is offered as a patch if only one line changes and the program can
still be parsed.
"""

from itertools import chain

from ...common.translation import join_sentences
from ..causes import CAUSES, get_cause_name_in_bridges, get_kind_name_or_error_kind
from ..explanation import Explanation
from ..reasons.program_text import find_expression_at_placed_site, find_statement
from ..reasons.question import Finding, Question
from ..translated_sentences import fill
from .dialects import TAPE
from .fault_site import FaultSite, Fix, apply_edit_to_only_fitting_node
from .operation_advice import find_advice_for_fault


def find_first_fix(fault: FaultSite) -> Fix | None:
    """Return the first fix that an edit or a plan produces for the cause of the fault, or None if there is no fix."""
    cause = CAUSES.get(fault.cause)
    if cause is None:
        return None
    edits = (apply_edit_to_only_fitting_node(fault, edit) for edit in cause.edits)
    plans = (plan(fault) for plan in cause.plans)
    return next(filter(None, chain(edits, plans)), None)


def add_fixes_to_explanation(question: Question, finding: Finding, explanation: Explanation) -> None:
    """Add fixes to an explanation and to the explanations of the other breaks.

    This function sets `Explanation.patch` if changing one line is enough, and extends `Explanation.fix`.

    Args:
        question: The question that the finding answers.
        finding: The finding, with the other breaks in `more`.
        explanation: The explanation of the finding, with the explanations of the other breaks in `others`.
    """
    breaks = [part for part in finding.more if not part.is_side_break]
    is_one_site = all(part.site == finding.site and part.cause != "outside_tape" for part in breaks)
    # Removing one block repairs all breaks that the same pause in the recording caused.
    is_one_block = explanation.kind == "paused" and all(part.cause == finding.cause for part in breaks)
    explanations = (explanation, *explanation.others)
    fixes = [
        _find_fix_and_add_advice(question, part, part_explanation)
        for part, part_explanation in zip((finding, *finding.more), explanations, strict=False)
    ]
    is_enough = (is_one_site or is_one_block) and not _did_value_escape_or_get_stored_outside_block(question, finding)
    for part, fix in zip(explanations, fixes, strict=False):
        if fix is None or not (is_enough if part is explanation else explanation.cause == "connected"):
            continue
        if fix.text:
            indent = fix.text[: len(fix.text) - len(fix.text.lstrip())]
            part.patch = "\n".join(line.removeprefix(indent) for line in fix.text.split("\n"))
            part.patch_line = fix.line
        if question.adapter.dialect is not TAPE:  # The sentences for minitape's own tape already contain the fix.
            part.fix = join_sentences(part.fix, fix.sentence or format_fix_sentence(fix))


def format_fix_sentence(fix: Fix) -> str:
    """Return a fix as a sentence, for a reader who edits the program by hand.

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


def _did_value_escape_or_get_stored_outside_block(question: Question, finding: Finding) -> bool:
    """Return whether editing one line is not enough because a value left TensorFlow or was stored outside the block."""
    if question.adapter.dialect is not TAPE or finding.cause not in ("left_through_numpy", "state"):
        return False
    block = find_statement(question.adapter.find_block_site())
    statement = find_statement(finding.site)
    is_near_block = (
        block
        and statement
        and not block.covers_site(finding.site)
        and statement.enclosing_functions == block.enclosing_functions
    )
    return bool(is_near_block) or any(part.cause == "outside_tape" for part in finding.more)


def _find_fix_and_add_advice(question: Question, finding: Finding, explanation: Explanation) -> Fix | None:
    """Return the fix for one break, and add any advice on the operation at the break to the answer."""
    statement = find_statement(finding.site)
    if not statement or (explanation.connected and explanation.kind == "connected"):
        return None
    call = find_expression_at_placed_site(finding.site)
    # If a value left the framework, the expression that ran identifies the operation more exactly than the row does.
    blames_call = get_kind_name_or_error_kind(finding.cause) == "left" and call is not None
    row = None if finding.row is None or blames_call else question.rows[finding.row]
    fault = FaultSite(
        question,
        get_cause_name_in_bridges(finding.cause),
        statement,
        row,
        call,
    )
    explanation.fix = find_advice_for_fault(fault) or explanation.fix
    return find_first_fix(fault)
