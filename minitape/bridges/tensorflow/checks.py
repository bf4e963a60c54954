"""Find why a gradient of TensorFlow is None, zero or NaN. Each check looks for one cause."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from ...explain.families import STEPS
from ...explain.owners import living
from ...explain.reasons import checks, text, words, zero_nan
from ...explain.reasons.names import find_access_path
from ...explain.reasons.question import Escape, Finding, Question, RecordedRow
from ...explain.reasons.zero_nan import finding_at
from ...explain.sentences import fill
from ...explain.value_texts import TENSOR
from ...explain.words import Explanation
from ...recording.sites import NOWHERE, Site
from ..rows import find_dropped_result, find_first_nonfinite_cause
from .adapter import CAUSE_BY_STATE, build_question
from .calls import open_row, steps_of, sweeps_for
from .graphs import has_tapes
from .numpy_calls import numpy_call, predictions
from .operations import handle_of, is_custom, is_dataset, name_of, why_no_gradient
from .words import OF_KERAS, TEXT

DATASET_METHODS = ("map", "interleave", "flat_map", "filter", "scan")  # of a dataset
PYTHON_OPS = {"EagerPyFunc": "tf.py_function", "PyFunc": "tf.numpy_function", "PyFuncStateless": "tf.numpy_function"}


# -- the source ------------------------------------------------------------------------------------


def find_invalid_target(question: Question) -> Finding | None:
    """Find a target that is not a tensor, or that is itself a gradient of a tape."""
    if not isinstance(handle_of(question.target), tf.Tensor) and not isinstance(question.target, int):
        return Finding("target_not_tensor", detail=type(question.target).__name__)
    made = question.adapter.log.tensors.made.get(question.target) if question.target_rows else None
    if made is None:
        return None
    site = made.way[-1] if made.way else NOWHERE
    return Finding("computed_after_tape", site, detail="tape.gradient", variant="gradient")


def find_integer_source(question: Question) -> Finding | None:
    """Find a source that is not a float."""
    dtype = tf.as_dtype(question.source.dtype) if question.source.dtype is not None else tf.float32
    if dtype.is_floating or dtype.is_complex:
        return None
    name = question.name
    names = {name, f"self.{name.rpartition('.')[2]}", name.rpartition("[")[0]} - {"self.", ""}

    def creates_source(statement: text.Statement) -> bool:
        call = statement.call_of("Variable", "constant", "add_weight")
        return call is not None and not names.isdisjoint(statement.binds)

    call_stack = question.adapter.find_creation(question.source).call_stack
    created_at = call_stack[-1] if call_stack else find_matching_line(question, creates_source)
    return Finding("integer_dtype", created_at or find_first_use(question), detail=dtype.name)


def find_first_use(question: Question) -> Site:
    """Return the first line that used the source while the tape recorded, on the way to the target."""
    uses = question.find_first_uses()
    recorded = (use for use in uses if question.adapter.find_tape_state(use.index)[0] == "records")
    first = next(recorded, uses[0] if uses else None)
    return NOWHERE if first is None else first.site


def find_matching_line(question: Question, fits: Callable[[text.Statement], Any]) -> Site | None:
    """Return the line that fits, among those that created the source, or the only one in the text that does."""
    call_stack = question.adapter.find_creation(question.source).call_stack
    creating = [statement for site in reversed(call_stack) if (statement := text.at(site))]
    for statement in creating:
        if fits(statement):
            return statement.site
    matching = [statement for statement in text.statements(find_first_use(question)[0]) if fits(statement)]
    if not matching or (not creating and len(matching) > 1):
        return None
    return matching[0].site


def find_freezing_line(question: Question) -> Site:
    """Return the line that says not to train the source, or the line that uses it."""
    return find_matching_line(question, _sets_trainable) or find_first_use(question)


def _sets_trainable(statement: text.Statement) -> bool:
    """Return whether a statement passes ``trainable=`` to a call, or assigns an attribute ``trainable``."""
    keywords = (keyword.arg for call in statement.calls for keyword in call.keywords)
    attributes = (name.rpartition(".")[2] for name in statement.binds)
    return "trainable" in (*keywords, *attributes)


def find_copied_source(question: Question) -> Finding | None:
    """Find a variable that was created from the source, or given its value, before the tape began."""
    adapter = question.adapter
    for row, edge in question.path:
        if edge.cause != "variable_assign":
            continue
        if edge.input_row not in question.source_rows and adapter.find_tape_state(edge.input_row)[0] != "before":
            continue
        created_at = adapter.log.born_at(question.rows[row].get_object())[1][-1:]
        if created_at == [edge.site]:
            return finding_at(question, "wrong_object", row, "copied", site=edge.site)
        if text.at(edge.site).covers(question.rows[question.path[0].row].site):
            return finding_at(question, "variable_assign", row, site=edge.site)
    return None


def find_unwatched_source(question: Question) -> Finding | None:
    """Find a source that the tape that was asked does not watch."""
    adapter, tape = question.adapter, question.adapter.tape
    has_arrived = question.sweep is not None and any(
        row in question.sweep.adjoints for row in question.used_source_rows
    )
    if has_arrived or not question.used_source_rows or tape is None:
        return _find_reading_of_variable(question)
    if question.path and question.path[0].edge.cause in ("variable_assign", "left_through_numpy"):
        return None
    used_rows = [question.rows[row] for row in question.used_source_rows]
    uses = question.find_first_uses()
    late = next((row.index for row in used_rows if row.extra.late), None)
    if late is not None:
        first_use = uses[0].index if uses else late
        if adapter.find_tape_state(first_use)[0] == "before":
            return _find_untimely_row(question, first_use)
        return finding_at(question, "watched_late", late, site=find_first_use(question))
    watchers = adapter.find_watchers(question.source)
    if any(_is_recorded(question, row, watchers) for row in used_rows):
        return None
    leaf = next((row for row in used_rows if row.kind != "operation"), None)
    is_variable = leaf is not None and leaf.kind == "variable"
    if leaf is not None and is_variable and not getattr(question.source, "trainable", True):
        finding = finding_at(question, "not_trainable", leaf.index, site=find_freezing_line(question))
        if question.sweep is not None and not any(is_given for _, is_given in question.sweep.gave):
            finding.is_intended = False  # The program asks for no other gradient.
        return finding
    if is_variable and uses and all(use.extra.why not in ("", "not_recorded") for use in uses):
        return None
    recorded = (use for use in uses if adapter.find_tape_state(use.index)[0] == "records")
    first_recorded = next(recorded, uses[0] if uses else None)
    if leaf is not None and (is_variable or watchers) and first_recorded is not None:
        untimely = _find_untimely_row(question, first_recorded.index)
        if untimely is not None:
            return untimely
    if watchers:
        return Finding("not_watched", adapter.find_block(), variant="other")
    if leaf is None:
        return checks.find_rebound_name(question) or finding_at(
            question,
            "not_watched",
            used_rows[0].index,
            "made",
            site=checks.find_divergence(used_rows[0].call_stack, adapter.find_block_stack()),
        )
    if not is_variable:
        return finding_at(question, "not_watched", leaf.index, site=_find_unwatched_use(question, first_recorded))
    if tape._watch_accessed_variables:
        return _find_untimely_row(question, leaf.index) or finding_at(
            question, "recording_paused", leaf.index, site=find_first_use(question)
        )
    return finding_at(question, "not_accessed_watched", leaf.index, site=adapter.find_block())


def _is_recorded(question: Question, row: RecordedRow, watchers: Sequence[Any]) -> bool:
    """Return whether the tape that was asked recorded a row of the source."""
    tape = question.adapter.tape
    if not row.tracked:
        return False
    if any(watcher is tape for watcher in watchers):
        return True
    if row.kind == "variable":
        return bool(tape._watch_accessed_variables and getattr(question.source, "trainable", True))
    return row.kind == "operation" and question.adapter.find_tape_state(row.index)[0] == "records"


def _find_unwatched_use(question: Question, first_recorded: RecordedRow | None) -> Site:
    """Return the line that uses a tensor; if that is outside of the block, the line that leads from the block to it."""
    first_use, block = text.at(find_first_use(question)), text.at(question.adapter.find_block())
    is_outside = first_use and block and block not in first_use.around and "." not in question.name
    if not is_outside:
        return find_first_use(question)
    block_stack = question.adapter.find_block_stack()
    call_stack = () if first_recorded is None else first_recorded.extra.way
    return checks.find_divergence(call_stack, block_stack) if call_stack else block_stack[-1]


def _find_reading_of_variable(question: Question) -> Finding | None:
    """Find a source that is the result of reading a variable once."""
    if question.sweep is None or not question.used_source_rows or question.adapter.is_variable(question.source):
        return None
    row = question.rows[question.used_source_rows[0]]
    if row.kind != "variable":
        return None
    given = [is_given for tensor, is_given in question.sweep.gave if tensor() is question.source]
    if not given or any(given):
        return None
    name = row.name or fill("the variable")
    return Finding("wrong_object", question.sweep.site, row.index, variant="read", other_name=name)


def _find_untimely_row(question: Question, row: int) -> Finding | None:
    """Find what the tape was doing when an operation ran, if it did not record."""
    state, site = question.adapter.find_state_change(question.rows[row])
    if state == "records":
        return None
    return finding_at(question, CAUSE_BY_STATE[state], row, "reset" if state == "dropped" else "", site=site)


# -- the way ---------------------------------------------------------------------------------------


def find_path_break(question: Question) -> Finding | None:
    """Find the break on the path, in TensorFlow's words; if a function breaks it, the break within."""
    found = checks.find_path_break(question) or find_missing_derivative(question)
    for one in [] if found is None else [found, *found.more]:
        _specialize_break(question, one)
    if found is None or found.row is None or question.rows[found.row].extra.function is None:
        return found
    deeper = (
        find_cause_in_function(question, found.row)
        if found.cause in ("", "nondifferentiable", "not_recorded")
        else None
    )
    return found if deeper is None or deeper.cause == "connected" else deeper


def _specialize_break(question: Question, finding: Finding) -> None:
    """Change a finding to what TensorFlow calls it."""
    assert finding.row is not None
    row = question.rows[finding.row]
    state, finding.detail = finding.detail, ""
    if finding.cause == "not_recorded":
        finding.cause = _find_cause_of_unrecorded_row(question, row)
    elif finding.cause in CAUSE_BY_STATE.values():
        variant = _find_variant_of_state(row, finding, state)
        finding.variant = variant if f"{finding.cause} {variant}" in TEXT else ""
    elif is_dataset(row.op):
        _blame_dataset(row, finding)
    elif is_custom(row.extra.op or ""):
        finding.cause, finding.variant = "custom_rule", "none"
        finding.site = zero_nan.find_custom_rule_return(question, finding.row)
    elif finding.cause == "integer_dtype":
        finding.variant = "inside"
    elif finding.cause == "nondifferentiable" and row.kind == "operation":
        if not row.extra.why:
            finding.cause = why_no_gradient(row.extra.op) or finding.cause
        is_step = finding.cause == "nondifferentiable" and row.op in STEPS
        finding.variant = "steps" if is_step else ""


def _find_cause_of_unrecorded_row(question: Question, row: RecordedRow) -> str:
    """Return why no tape recorded a row: recording was paused, its input was not watched, or the tape came later."""
    inputs = [question.rows[index] for index in row.inputs]
    if any(input_row.kind == "operation" and input_row.tracked for input_row in inputs):
        return "recording_paused"
    source_input = next((input_row for input_row in inputs if input_row.index in question.used_source_rows), None)
    if source_input is not None and source_input.index != row.index and source_input.kind != "variable":
        return "not_watched"
    return "computed_before_tape"


def _find_variant_of_state(row: RecordedRow, finding: Finding, state: str) -> str:
    """Return which sentence fits an operation that ran while the tape did not record."""
    if state == "dropped":
        return "reset"
    if text.at(finding.site).function in ("__init__", "build"):
        return "made"
    return "other" if row.tracked else ""


def _blame_dataset(row: RecordedRow, finding: Finding) -> None:
    """Change a finding to a value that left into a dataset, at the line that maps the dataset or calls Keras."""
    use = text.at(row.site)
    keras = find_keras_call(use)  # Keras creates a dataset of the arrays that it is given.
    finding.cause, finding.detail = "left_through_numpy", f"{keras}()" if keras else ""
    finding.variant = OF_KERAS.get(keras, "dataset")
    if not keras:
        bindings = (statement for name in use.reads for statement in text.bound_by(name, use))
        mapping = [statement for statement in bindings if statement.call_of(*DATASET_METHODS)]
        finding.site = mapping[-1].site if mapping else finding.site


def find_missing_derivative(question: Question) -> Finding | None:
    """Find an operation on the tape without a derivative for its input."""
    if not question.used_source_rows:
        return None
    if question.sweep is None:
        row = next(
            (row for row, _ in question.path if why_no_gradient(question.rows[row].extra.op or "Identity")), None
        )
        python = [
            row for row, _ in question.path if question.rows[row].op in PYTHON_OPS
        ]  # TensorFlow may have raised an error
        exits = [e for at in python for e in question.escapes if min(question.rows[at].inputs) < e.row < at]
        if row is None and exits:
            return finding_of_escape(question, exits[0])
    else:
        row = (
            None
            if any(row in question.sweep.adjoints for row in question.used_source_rows)
            else zero_nan.find_last_reached_row(question)
        )
    if row is None:
        return None
    watched = question.adapter.recording.entries[row].watched == "explicit" and _find_untimely_row(question, row)
    return watched or finding_at(question, "nondifferentiable", row)


def find_cause_in_compiled_step(question: Question) -> Finding | None:
    """Find the cause within a tf.function that contains the tape."""
    log = question.adapter.log
    calls = [
        row
        for row in sorted(question.ancestors)
        if question.rows[row].extra.function is not None and not question.rows[row].tracked
    ]
    own = [
        row
        for row in calls
        if {*question.rows[row].inputs} & {*question.used_source_rows} or _list_sibling_outputs(question, row)
    ]
    if not own or not (has_tapes(question.rows[own[-1]].extra.function.graph) or not log.tapes.known):
        return None
    return find_cause_in_function(question, own[-1]) or finding_at(question, "nondifferentiable", own[-1], "function")


def _list_sibling_outputs(question: Question, row: int) -> list[int]:
    entries = question.adapter.recording.entries
    return [
        entries[other].output
        for other in question.source_rows
        if other != row and entries[other].call == entries[row].call
    ]


def find_cause_in_function(question: Question, row: int) -> Finding | None:
    """Find what breaks the path of the source within a call of a tf.function.

    Args:
        question: The question about the source.
        row: The row of the call.
    """
    recording, after = question.adapter.recording, {*question.descendants, *question.used_source_rows}
    entries, entry = recording.entries, recording.entries[row]
    run = open_row(recording, row, question.sweep, ones=True)
    if run is None or entry.output >= len(run.results):
        return None
    inner, target = run.recording, run.results[entry.output]
    found: Finding | None = None
    known = recording.log.tensors.variables
    asked = [entries[one].extra.asked for one in entry.inputs if one in after]
    things = [known.get(id(one), one) for one in asked]
    for thing in [*things, *(run.results[output] for output in _list_sibling_outputs(question, row))] or [
        question.source
    ]:
        inner_q = build_named_question(inner, target, thing, question.name)
        found = run_checks(inner_q)
        found.detail = found.detail or ("" if found.row is None else words.describe_operation(inner_q, found.row))
        found.row = row
        if found.cause != "connected":
            break
    return found


# -- through Python --------------------------------------------------------------------------------


def find_escape(question: Question) -> Finding | None:
    """Find a value that left, an array whose memory NumPy read, or a branch that Python chose by a value."""
    if question.used_source_rows or not question.target_rows:
        return None
    unseen = [
        Escape(row, "", site, row + 1)
        for row in sorted(question.descendants)
        if (site := numpy_call(question.rows[row].site)) is not None
    ]
    exits = [
        *[e for e in reversed(question.escapes) if e.method != "__bool__"],
        *unseen,
        *[e for e in question.escapes if e.method == "__bool__"],
    ]
    back = [
        e
        for e in exits
        if e.row in question.descendants
        and (e.method == "__bool__" or checks.flows_back_to_target(question, e) or returns_to_keras(e))
    ]
    return finding_of_escape(question, back[0]) if back else None


def returns_to_keras(exit: Escape) -> bool:
    """Return whether a loss function that was given to Keras returns what came of a value that left."""
    at = text.at(exit.site)
    if not at.functions or at.functions[0] not in predictions(text.program(at.file), at):
        return False
    return any(isinstance(s.node, ast.Return) and s.functions == at.functions for s in text.flow(at, []))


def finding_of_escape(question: Question, exit: Escape) -> Finding:
    """Return the finding for a value that left, in the words for the function that its line calls."""
    if exit.method == "__bool__":
        return Finding("python_branch", exit.site, exit.row)
    keras = find_keras_call(text.at(exit.site))
    what = f"{keras}()" if keras else words.describe_escape(exit.method)
    kind = OF_KERAS.get(keras, "") or "python" * (exit.method == "numpy_function")
    return Finding("left_through_numpy", exit.site, exit.row, what, kind)


def find_keras_call(at: text.Statement) -> str:
    """Return the function of Keras on a line that returns NumPy arrays; "" if there is none."""
    names = (text.last_name(call.func) for call in at.calls)
    return next((name for name in names if name in OF_KERAS), "")


# -- another object --------------------------------------------------------------------------------


def find_replaced_source(question: Question) -> Finding | None:
    """Find another object that was used: rebound, created again, copied, or equal."""
    if question.used_source_rows:
        return None
    held, copied = question.adapter.log.copied.get(question.source, (None, NOWHERE))
    if held is not None and any(row.kind == "variable" and row.get_object() is held for row in question.other_leaves()):
        return Finding("wrong_object", copied, variant="copied")
    again = checks.find_replaced_source(question)
    if again is not None and again.row is not None:
        both = [question.rows[again.row].get_object(), handle_of(question.source)]
        if not all(map(question.adapter.is_kept, both)) or text.at(again.site).call_of("Variable"):
            again.cause, again.other_name = "wrong_object", fill("a new one")
            return again
    made = checks.find_derived_source(question)
    if made is not None:
        made.variant, made.other_name = "made", fill("what it was made of")
        return made
    found = checks.find_equal_leaf(question) or _find_namesake(question)
    if found is not None:
        if not question.adapter.is_variable(question.source):
            own = question.adapter.array_of(question.source)
            found.site = next(
                (e.site for e in question.escapes if np.array_equal(np.asarray(question.rows[e.row].array), own)),
                found.site,
            )
            found.variant = found.variant or "equal"
        return found
    return None


def _find_namesake(question: Question) -> Finding | None:
    """Find a variable of the same name and shape, if the program no longer holds one of the two."""
    own, name = handle_of(question.source), name_of(question.source) or ""
    kept = not question.source_rows and question.adapter.is_kept(own)
    for row in question.other_leaves() if not question.source_rows else ():
        as_large = row.kind == "variable" and tuple(row.shape) == tuple(question.source.shape)
        if as_large and (row.name or "").rpartition("/")[2] == name.rpartition("/")[2]:
            copy = "/" in name and row.name == name
            if copy or not question.adapter.is_kept(row.get_object() if kept else own):
                way, kind = question.adapter.find_leaf_creation(row).call_stack or [row.site], "cloned" * copy
                return Finding(
                    "wrong_object", way[-1], row.index, other_name=row.name or fill("a variable"), variant=kind
                )
    return None


def find_unused_source(question: Question) -> Finding | None:
    """Find why the source was not used: its result was dropped, or its layer was not called."""
    if question.used_source_rows:
        return None
    return find_dropped_result(question) or find_unused_layer(question) or Finding("independent")


def find_unused_layer(question: Question) -> Finding | None:
    """Find a layer that was not called, if the source is one of its variables."""
    handle, layers = handle_of(question.source), list(living(tf.keras.layers.Layer))
    owners = [one for one in layers if any(handle_of(v) is handle for v in one._trainable_variables)]
    others = [v for one in owners for v in one._trainable_variables]
    if any(question.ancestors.intersection(question.adapter.log.tensors.rows_of(v)) for v in others):
        return None
    held = (
        (holder, name)
        for holder in layers
        for name, value in vars(holder).items()
        if any(value is one for one in owners)
    )
    sites = (site for holder, name in held if (site := text.attribute_site(holder, name)) != NOWHERE)
    return next((Finding("unused_layer", site, detail=owners[0].name) for site in sites), None)


# -- what arrived ----------------------------------------------------------------------------------


def find_zero_cause(question: Question) -> Finding | None:
    """Find what made zeros, even within a function."""
    return _specialize_value_cause(question, zero_nan.find_zero_cause(question))


def find_nonfinite_cause(question: Question) -> Finding | None:
    """Find where a NaN arose, even within a function or in an earlier backward pass."""
    return _specialize_value_cause(question, find_first_nonfinite_cause(question, build_question))


def _specialize_value_cause(question: Question, found: Finding | None) -> Finding | None:
    if found is None or found.row is None:
        return found
    row = question.rows[found.row]
    if row.op in PYTHON_OPS:
        return finding_at(question, "left_through_numpy", row.index, "python", PYTHON_OPS[row.op])
    if row.extra.function is not None:
        deeper = find_cause_in_function(question, row.index)
        return found if deeper is None or deeper.cause == "connected" else deeper
    return found


def find_missing_tape(question: Question) -> Finding | None:
    """Find a recording without any tape for the source."""
    log = question.adapter.log
    seen = (
        question.sweep is not None
        or log.tapes.known
        or steps_of(question.adapter.recording)
        or not question.target_rows
        or question.rows[question.target_rows[0]].tracked
    )
    return None if seen else Finding("no_backward", variant="tape")


def find_source_left_out_by_keras(question: Question) -> Finding | None:
    """Find a variable that is not trainable, so that Keras did not ask for its gradient."""
    return (
        Finding("not_trainable", find_freezing_line(question), variant="left out")
        if question.adapter.is_left_out_by_keras
        else None
    )


CHECKS = (
    find_invalid_target,
    find_source_left_out_by_keras,
    find_integer_source,
    find_cause_in_compiled_step,
    find_copied_source,
    find_unwatched_source,
    find_path_break,
    find_escape,
    find_replaced_source,
    find_unused_source,
    find_nonfinite_cause,
    find_zero_cause,
    find_missing_tape,
)


def find_cause(question: Question) -> Finding:
    """Return what there is to say about a source."""
    if question.target is None:
        return find_integer_source(question) or Finding(
            "no_backward",
            variant="inside" if any(has_tapes(call.graph) for call in question.adapter.log.calls if call.graph) else "",
        )
    return run_checks(question)


def run_checks(question: Question) -> Finding:
    """Return what the first check finds that finds anything."""
    return next((found for check in CHECKS if (found := check(question)) is not None), Finding("connected"))


def build_named_question(recording: Any, target: Any, source: Any, name: str = "") -> Question:
    """Return a question with the name of its source.

    Raises:
        TypeError: If the source is neither a tensor nor a variable.
    """
    if not isinstance(handle_of(source), tf.Tensor):
        raise TypeError(f"explain() takes a tensor or a variable as its source, but received {source!r}.")
    question = build_question(recording, target, source)
    question.name = name or find_source_name(question)
    return question


def find_source_name(question: Question) -> str:
    """Return what the program calls the source. Reads no rows."""
    return find_access_path(question, handle_of(question.source)) or name_of(question.source) or fill(TENSOR)


def to_explanation(question: Question, found: Finding) -> Explanation:
    """Return the answer in words. The program's own rule that gives zeros does give a gradient."""
    said = words.to_explanation(question, found, TEXT)
    said.connected |= (found.cause, found.variant) == ("custom_rule", "")
    return said


def explain_gradient(recording: Any, target: Any, source: Any) -> Explanation:
    """Return why a gradient of TensorFlow is None, or what is wrong with it."""
    question = build_named_question(recording, target, source)
    return to_explanation(question, find_cause(question))


def explain_last_gradient(recording: Any, source: Any) -> Explanation:
    """Return the same for the last backward pass that was asked for the source.

    That pass may be in a function that was only traced, or one that TensorFlow refused.
    """
    log, sweeps = recording.log, recording.sweeps
    asked, steps = sweeps_for(sweeps, source)[-1:], steps_of(recording)
    own = [step for step in steps if sweeps_for(step[1].sweeps, source)]
    eager = (asked or sweeps)[-1:]
    last = (own or steps)[-1:]
    if last and (not eager or sweeps.index(eager[0]) < last[0][0].before):
        inner = last[0][1]
        sweep = (sweeps_for(inner.sweeps, source) or inner.sweeps)[-1]
        question = build_named_question(inner, inner.entries[sweep.target[-1]].extra.asked, source)
    else:
        failed = log.failed is not None and log.failed[0] == len(sweeps)
        latest = log.failed[1] if failed else eager[0].target[-1] if eager else recording.last_target()
        question = build_named_question(
            recording, None if latest is None else recording.entries[latest].extra.asked, source
        )
    question.adapter.is_left_out_by_keras = not asked and not own and not getattr(source, "trainable", True)
    return to_explanation(question, find_cause(question))
