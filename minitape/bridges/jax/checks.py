"""Find why a gradient of JAX is zero or NaN, or why JAX refuses it. Each check looks for one cause."""

from __future__ import annotations

import ast
import re
import traceback
from typing import Any

import jax
import numpy as np

from ...engine.recording.frames import own_file
from ...explain.reasons import checks, text, words, zero_nan
from ...explain.reasons.question import Finding, Question, RecordedRow, find_cheapest_path
from ...explain.reasons.zero_nan import finding_at
from ...explain.sentences import fill
from ...explain.words import Explanation
from ...recording.sites import NOWHERE, Site
from ..checkup import Checkup
from ..rows import find_dropped_result, is_read_later
from ..texts import ARRAY
from .adapter import build_question
from .rows import STAIRS
from .words import BENT, TEXT

TRACER_WORDS = ("Tracer", "traced", "concrete")
PIECEWISE_LINEAR_OPS = {"relu", "leaky_relu", "relu6", "max", "abs", "select_n"}  # that consist of straight lines
GROWING_OPS = set("exp exp2 expm1 cosh sinh pow integer_pow".split())
find_asking_function = re.compile(r"problem arose with the `(\w+)` function")
CONVERSIONS = "int float round item tolist range".split()


# -- what JAX refuses ------------------------------------------------------------------------------


def find_trace_error(question: Question) -> Finding | None:
    """Find why the function could not be traced."""
    recording = question.adapter.recording
    error = recording.error
    if error is None or recording.ran:
        return None
    site, library_function = find_error_site(error)
    site = site if recording.stopped is NOWHERE else recording.stopped
    if isinstance(error, jax.errors.UnexpectedTracerError):
        return find_kept_tracer(site) or Finding("leaked_tracer", site)
    if isinstance(error, jax.errors.TracerBoolConversionError):
        return Finding("branch", site)
    if isinstance(error, jax.errors.NonConcreteBooleanIndexError):
        return Finding("boolean_index", site)
    message = str(error)
    if "size argument" in message:
        return Finding("boolean_index", site, variant="size", detail=describe_reader(error, library_function))
    if any(word in f"{error} {error.__cause__} {error.__context__}" for word in TRACER_WORDS):
        math_calls = [call for call in text.at(site).calls if text.root_name(call) == "math"]
        reader = f"{ast.unparse(math_calls[0].func)}()" if math_calls else describe_reader(error, library_function)
        return Finding("left_jax", site, detail=reader)
    if "while_loop" in message:
        return Finding("while_loop", site, detail="while_loop")
    if "callback" in message:
        return Finding("callback", site, detail="callback")
    if "scalar-output" in message:
        return Finding("not_scalar", site, detail=message.rpartition("shape: ")[2].rstrip("."))
    variants = {"item assignment": "in_place", "forward-mode": "forward", "got <class 'list'>": "list"}
    variant = next((variant for words_, variant in variants.items() if words_ in message), "")
    return Finding("refused", site, variant=variant, detail=message.partition("\n")[0])


def find_kept_tracer(used: Site) -> Finding | None:
    """Find the statement that keeps a tracer in an attribute, which the function reads when it is called again."""
    at = text.at(used)
    near = [at, *(s for name in at.reads for s in text.bound_by(name, at))]
    read = {ast.unparse(node) for s in near for node in s.nodes if isinstance(node, ast.Attribute)}
    for s in text.statements(used[0]):
        kept = read & {ast.unparse(target) for target in s.targets}
        if kept and s.functions == at.functions:
            return Finding("leaked_tracer", s.site, variant="kept", detail=kept.pop())
    return None


def describe_reader(error: Exception, called: str) -> str:
    """Return what asked for a number, as JAX's error says it, or the function of JAX that raised the error."""
    if isinstance(error, jax.errors.TracerArrayConversionError):
        return fill("A NumPy function")
    if isinstance(error, jax.errors.TracerIntegerConversionError):
        return fill("range() or an index")
    found = find_asking_function.search(str(error))
    return f"{found[1] if found else called}()" if found or called else fill("This line")


def find_invalid_result(question: Question) -> Finding | None:
    """Find a result that is not one number."""
    recording = question.adapter.recording
    if recording.error is None:
        return None
    value, said = recording.value, str(recording.error)
    if isinstance(recording.error, TypeError) and not recording.sweeps:
        site = question.adapter.origin.result(
            NOWHERE if not question.target_rows else question.rows[question.target_rows[0]].site
        )
        if not hasattr(value, "shape"):
            return Finding("not_scalar", site, variant="none") if value is None else Finding("has_aux", site)
        if "aux" in said:
            return Finding("has_aux", site, variant="none")
        if value.shape != ():
            return Finding("not_scalar", site, detail=str(value.shape))
        if np.iscomplexobj(value):
            return Finding("refused", site, variant="complex")
    return None


def find_backward_error(question: Question) -> Finding | None:
    """Find why JAX's backward pass ended in an error."""
    error = question.adapter.recording.error
    if error is None:
        return None
    for word, cause in (("while", "while_loop"), ("callback", "callback")):
        row = next(
            (row for row in sorted(question.ancestors) if word in question.rows[row].op and question.rows[row].tracked),
            None,
        )
        if row is not None:
            return finding_at(question, cause, row)
    said = str(error).partition("\n")[0]
    rules = [
        row for row in sorted(question.ancestors) if question.rows[row].extra.custom and question.rows[row].tracked
    ]
    return (
        finding_of_custom_rule(question, rules[0], "refused", said)
        if rules and "bwd rule" in said
        else Finding("refused", find_error_site(error)[0], detail=said)
    )


def find_error_site(error: Exception) -> tuple[Site, str]:
    """Return the user's innermost line on which an error was raised, and the library's function that raised it."""
    called = ""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not own_file(frame.filename):
            return (frame.filename, frame.lineno), called
        called = frame.name.strip("_") if frame.name not in ("meth", "op") else called
    return NOWHERE, ""


# -- the argument ----------------------------------------------------------------------------------


def find_integer_source(question: Question) -> Finding | None:
    """Find a differentiated argument that is not a float."""
    recording = question.adapter.recording
    for row in recording.chosen if recording.error is not None else question.source_rows:
        if row in recording.chosen and not question.rows[row].tracked:
            return Finding(
                "integer_dtype",
                question.adapter.find_argument_site(row),
                row,
                question.rows[row].dtype,
                other_name=question.rows[row].name or fill("An argument"),
            )
    return None


def find_undifferentiated_source(question: Question) -> Finding | None:
    """Find a source that is an argument without a gradient, or no argument at all."""
    recording, origin = question.adapter.recording, question.adapter.origin
    if question.source_rows and question.source_rows[0] not in recording.chosen:
        if question.rows[question.source_rows[0]].kind != "source":
            return None
        chosen = {leaf.argument for leaf in recording.given if leaf.row in recording.chosen}
        asked = next(leaf.argument for leaf in recording.given if leaf.row == question.source_rows[0])
        both = str((*sorted({asked, *chosen}),))
        return Finding(
            "argnums",
            origin.gradient_line,
            detail=str(asked),
            other_name=both,
            sentence_fields={"instead": both if chosen - {0} else str(asked)},
        )
    if question.source_rows:
        return None
    root, site = recording.log.outside.get(id(question.source), (None, NOWHERE))
    if root is None or root is not question.source:
        site, _ = origin.reads(lambda name, value: name == question.name and value is question.source)
    return None if site == NOWHERE else Finding("closure", site)


# -- the way ---------------------------------------------------------------------------------------


def find_step_function(question: Question, row: int) -> str:
    """Return the step function of jax.numpy that an operation is part of; "" if there is none."""
    return next((name for name in question.rows[row].scope if name in STAIRS), "")


def find_path_break(question: Question) -> Finding | None:
    """Find the break on the path; a step function is reported by its name."""
    found = checks.find_path_break(question)
    for one in [] if found is None else [found, *found.more]:
        if one.cause == "no_derivative" and one.row is not None and find_step_function(question, one.row):
            one.cause, one.detail = "zero_derivative", find_step_function(question, one.row)
    return found


def find_escape(question: Question) -> Finding | None:
    """Find a value that Python asked for while the function was traced."""
    exits = (
        [exit for exit in question.escapes if exit.row in question.descendants]
        if not question.used_source_rows and question.target_rows
        else []
    )
    for exit in sorted(exits, key=lambda exit: exit.method == "__bool__"):
        at = text.at(exit.site)
        if exit.method == "__bool__":
            tested = {name for name in at.reads if name.isidentifier()} - text.program(at.file).imported.keys()
            tested = tested & names_computed_from(question.name.partition("[")[0], at) or tested
            only = isinstance(at.node, ast.If) and not is_read_later(at, tested)
            return Finding("branch" if only else "other_branch", exit.site, variant="python")
        number = next((name for name in CONVERSIONS if at.call_of(name)), "")
        return Finding("left_jax", exit.site, detail=f"{number}()", variant="number" if number else "values")
    return None


def names_computed_from(name: str, at: text.Statement) -> set[str]:
    """Return a name, and the names that a function computes from it before a statement."""
    found = {name}
    for s in text.statements(at.file)[: at.order]:
        for target, part in zip(s.targets, text.parts_of(s), strict=True) if s.functions == at.functions else ():
            if found & text.names_in(ast.walk(part or s.node)):
                found.add(ast.unparse(target))
    return found


def find_unused_source(question: Question) -> Finding | None:
    """Find the reason why the source was not used: another branch ran, or another value was used."""
    recording, origin = question.adapter.recording, question.adapter.origin
    if question.used_source_rows:
        return None
    for fork in recording.log.forks:
        if question.descendants.intersection(fork.rows):
            return Finding("other_branch", fork.site, detail=str(fork.taken))
    leaf = next((leaf for leaf in recording.given if leaf.row in question.source_rows), None)
    if leaf is not None and (finding := _find_captured_twin(question, leaf)) is not None:
        return finding
    bent = [row for row in sorted(question.descendants) if question.rows[row].op in PIECEWISE_LINEAR_OPS]
    scopes = (scope for row in question.descendants for scope in question.rows[row].scope)
    if bent and any("transpose(" in scope for scope in scopes):
        return finding_at(question, "zero_derivative", bent[0], "second")
    return find_dropped_result(question) or Finding("unused", origin.head)


def _find_captured_twin(question: Question, leaf: Any) -> Finding | None:
    """Find a value that the function captured from outside although it is also an argument.

    Args:
        question: The question about the argument.
        leaf: The leaf of the argument.
    """
    origin = question.adapter.origin
    captured, used_at = question.adapter.recording.log.outside.get(id(leaf.value), (None, NOWHERE))
    if captured is not leaf.value or not hasattr(captured, "dtype"):
        return None
    tree = origin.args[leaf.argument]
    site, name = origin.reads(lambda name, value: value is captured or value is tree)
    if not name or name in ast.unparse(text.at(used_at).node):
        site = used_at
    argument = question.name.partition("[")[0]
    return Finding("closure", site, variant="beside", detail=name or fill(ARRAY), other_name=argument)


# -- what arrived ----------------------------------------------------------------------------------


def find_silent_rule(question: Question) -> Finding | None:
    """Find the program's own rule, or a loop, that passed nothing on."""
    if (
        question.sweep is None
        or not question.used_source_rows
        or question.used_source_rows[0] not in question.adapter.recording.unreached
    ):
        return None
    for row, _ in question.path:
        if question.rows[row].extra.custom:
            return finding_of_custom_rule(question, row)
        if "while" in question.rows[row].op:
            return finding_at(question, "while_loop", row)
    return None


def finding_of_custom_rule(question: Question, row: int, cause: str = "custom_rule", what: str = "") -> Finding:
    """Return the finding for the program's own rule, on the line on which it returns."""
    return Finding(cause, zero_nan.find_custom_rule_return(question, row), row, what)


def find_nonfinite_cause(question: Question) -> Finding | None:
    """Find where a NaN arose, even if a division has hidden an infinity since."""
    found = zero_nan.find_nonfinite_cause(question)
    if found is None or found.row is None:
        return found
    row, grows = (
        question.rows[found.row],
        (
            at
            for at in sorted(question.ancestors_of(question.rows[found.row].inputs))
            if question.rows[at].op in GROWING_OPS
        ),
    )
    large = [
        at
        for at in grows
        if not zero_nan.is_finite(question, at)
        and all(zero_nan.is_finite(question, n) for n in question.rows[at].inputs)
    ]
    if large and found.cause == "nan_forward":
        return finding_at(question, "nan_forward", large[0])
    new = np.isnan if row.array is not None and np.isnan(row.array).any() else np.isinf
    if found.cause == "nan_input" and row.extra.roots and not any(new(root).any() for root in row.extra.roots):
        return finding_at(question, "nan_forward", found.row, detail=fill("An operation"))  # of what has none itself
    if found.cause == "nan_input":
        found.site = question.adapter.find_argument_site(found.row) if row.kind == "source" else found.site
    return found


def find_zero_cause(question: Question) -> Finding | None:
    """Find what made zeros, with what JAX calls it."""
    finding = zero_nan.find_zero_cause(question)
    if finding is None or finding.row is None:
        return finding
    row = question.rows[finding.row]
    if (step := _find_step_to_blame(question, row)) is not None:
        return finding_at(question, "zero_derivative", step, detail=find_step_function(question, step))
    label = question.adapter.recording.entries[row.index].label
    if finding.cause == "not_selected" and label in ("max 0.0", "0.0 max"):
        return finding_at(question, "dead_relu", row.index)
    if finding.cause == "zero_cancels" and _has_one_class(question, row, finding.detail):
        finding.variant = "one"
    if row.op == "select_n":
        return _explain_selection(question, row) or finding
    return finding


def _find_step_to_blame(question: Question, row: RecordedRow) -> int | None:
    """Return a row of a step function that is to blame for the zeros of another row, or the row itself."""
    if row.op in zero_nan.MIN_MAX_OPS:
        for index in sorted(question.descendants & question.ancestors):
            if is_only_broken_by_step(question, index):
                return index
    return row.index if find_step_function(question, row.index) else None


def _has_one_class(question: Question, row: RecordedRow, scope: str) -> bool:
    """Return whether a normalization of JAX sums over a single element."""
    sums = [
        other
        for other in question.rows
        if other.op.startswith("reduce_") and scope in other.scope and other.site == row.site
    ]
    sizes = [(np.prod(question.rows[sum_.inputs[0]].shape), np.prod(sum_.shape)) for sum_ in sums]
    return bool(sizes) and all(before == after for before, after in sizes)


def _explain_selection(question: Question, row: RecordedRow) -> Finding | None:
    """Explain the zeros of ``where`` within an activation, or of a relu that the program wrote with it."""
    curve = next((name for name in row.scope if name in BENT), "")
    if curve:
        return finding_at(question, "saturated", row.index, detail=curve)
    comparisons = [question.rows[index] for index in row.inputs if question.rows[index].op in ("gt", "ge", "lt", "le")]
    is_relu = bool(comparisons) and not set(comparisons[0].inputs).isdisjoint(row.inputs)
    if is_relu and zero_nan.is_inactive(question, row.index):
        return finding_at(question, "dead_relu", row.index, detail="where")
    return None


def begins_at_zero(question: Question, found: Finding) -> bool:
    """Return whether the zero factor is an argument whose own gradient is not zero.

    Such a gate is zero only at first, as in ReZero.
    """
    if found.cause != "zero_factor" or found.row is None:
        return False
    gates = (
        question.ancestors_of([at for at in question.rows[found.row].inputs if at not in question.descendants])
        & question.sweep.adjoints.keys()
    )
    return any(
        zero_nan.is_all_zero(question, at) and not question.sweep.adjoints[at].is_all_zero
        for at in gates.intersection(question.adapter.recording.chosen)
    )


def is_only_broken_by_step(question: Question, row: int) -> bool:
    """Return whether a step function is the only break on this row's path to the target.

    Its gradient would then be zero for any value.
    """
    steps = find_step_function(question, row) or any(one.cause == "zero_derivative" for one in question.rows[row].edges)
    return bool(steps) and not any(one.cause for _, one in find_cheapest_path(question, {row}))


CHECKS = (
    find_trace_error,
    find_integer_source,
    find_invalid_result,
    find_undifferentiated_source,
    find_path_break,
    find_escape,
    find_unused_source,
    find_backward_error,
    find_silent_rule,
    find_nonfinite_cause,
    find_zero_cause,
)


def explain_gradient(recording: Any, target: Any, source: Any) -> Explanation:
    """Return the explanation of one gradient; see ``Recording.explain``.

    If the source is a tree, returns the explanation of its worst leaf.

    Raises:
        ValueError: If the source is a name, and no argument has it.
        TypeError: If the source is neither an array nor a name.
    """
    own = recording.rows_of(source)
    if own[1:]:
        page = Checkup(recording, target).page(recording.named(own))
        return next(iter(page.problems or page.values()))
    question = build_question(recording, target, source, own)
    question.name = (
        next((question.rows[row].name for row in own), "") or words.find_access_path(question, source) or fill(ARRAY)
    )
    if isinstance(source, str) and not own and recording.ran:
        names = ", ".join(row.name for row in question.rows if row.name and row.kind == "source")
        raise ValueError(f"explain() knows no argument {source!r}. There are: {names}.")
    known = bool(own) or isinstance(source, str) or hasattr(source, "shape")
    if (
        not known
        and not question.adapter.origin.reads(lambda name, value: name == question.name and value is source)[1]
    ):
        raise TypeError(f"explain() takes an array or the name of an argument as its source, but received {source!r}.")
    found = next((finding for check in CHECKS if (finding := check(question)) is not None), Finding("connected"))
    answer = words.to_explanation(question, found, TEXT)
    answer.intended |= begins_at_zero(question, found)
    return answer
