"""Why a gradient of TensorFlow is None, zero or NaN: checks, each for one cause."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from ...explain.families import STEPS
from ...explain.owners import living
from ...explain.reasons import checks, text, words, zero_nan
from ...explain.reasons.names import path_to
from ...explain.reasons.question import Exit, Finding, Found, Question
from ...explain.reasons.zero_nan import at_row
from ...explain.sentences import fill
from ...explain.value_texts import TENSOR
from ...explain.words import Explanation
from ...recording.sites import NOWHERE, Site
from ..rows import dropped, first_nan
from .adapter import TIMES, read
from .calls import open_row, steps_of, sweeps_for
from .graphs import has_tapes
from .numpy_calls import numpy_call, predictions
from .operations import handle_of, is_custom, is_dataset, name_of, why_no_gradient
from .words import OF_KERAS, TEXT

MAPS = ("map", "interleave", "flat_map", "filter", "scan")  # of a dataset
PYTHON = {"EagerPyFunc": "tf.py_function", "PyFunc": "tf.numpy_function", "PyFuncStateless": "tf.numpy_function"}


# -- the source ------------------------------------------------------------------------------------


def plain_target(q: Question) -> Found:
    """The target is no tensor, or a gradient that a tape gave back."""
    if not isinstance(handle_of(q.target), tf.Tensor) and not isinstance(q.target, int):
        return Finding("target_not_tensor", what=type(q.target).__name__)
    made = q.adapter.log.tensors.made.get(q.target) if q.ends else None
    if made is None:
        return None
    site = made.way[-1] if made.way else NOWHERE
    return Finding("computed_after_tape", site, what="tape.gradient", kind="gradient")


def whole_numbers(q: Question) -> Found:
    """The source is no float."""
    dtype = tf.as_dtype(q.source.dtype) if q.source.dtype is not None else tf.float32
    if dtype.is_floating or dtype.is_complex:
        return None
    names = {q.name, f"self.{q.name.rpartition('.')[2]}", q.name.rpartition("[")[0]} - {"self.", ""}
    makes = lambda s: not names.isdisjoint(s.binds) and s.call_of("Variable", "constant", "add_weight")  # noqa: E731
    site = next(reversed(q.adapter.birth(q.source)[1]), None) or line_of(q, makes) or use_of(q)
    return Finding("integer_dtype", site, what=dtype.name)


def use_of(q: Question) -> Site:
    """The first line that used the source while the tape recorded, on the way to the target."""
    uses = q.first_uses()
    return next(
        (row.site for row in uses if q.adapter.state(row.row)[0] == "records"), uses[0].site if uses else NOWHERE
    )


def line_of(q: Question, fits: Callable[[text.Statement], Any]) -> Site | None:
    """The line that fits, among those that made the source; else the one of the text that does."""
    made = [at for site in reversed(q.adapter.birth(q.source)[1]) if (at := text.at(site))]
    found = [s for s in made if fits(s)] or [s for s in text.statements(use_of(q)[0]) if fits(s)]
    return found[0].site if found and (made or len(found) == 1) else None


def frozen_at(q: Question) -> Site:
    """Where the program says that the source is not to be trained; else where it is used."""
    return line_of(q, lambda s: "trainable" in _said(s)) or use_of(q)


def _said(s: text.Statement) -> list:
    return [*(k.arg for call in s.calls for k in call.keywords), *(name.rpartition(".")[2] for name in s.binds)]


def copied(q: Question) -> Found:
    """The source, or what one statement computed of it, went into a variable before the tape began: it was made of it,
    or given its value.
    """
    for row, one in q.way:
        early = one.why == "variable_assign" and (one.row in q.own or q.adapter.state(one.row)[0] == "before")
        if early and q.adapter.log.born_at(q.rows[row].thing())[1][-1:] == [one.site]:
            return at_row(q, "wrong_object", row, "copied", site=one.site)
        if early and text.at(one.site).covers(q.rows[q.way[0][0]].site):
            return at_row(q, "variable_assign", row, site=one.site)
    return None


def not_tracked(q: Question) -> Found:
    """The tape that was asked does not watch the source."""
    adapter, tape = q.adapter, q.adapter.tape
    arrived_ = q.sweep is not None and any(row in q.sweep.adjoints for row in q.used)
    if arrived_ or not q.used or tape is None:
        return _read_of(q)
    if any(one.why in ("variable_assign", "left_through_numpy") for _, one in q.way[:1]):
        return None
    late = next((row for row in q.used if q.rows[row].extra.late), None)
    if late is not None:
        first = next((row.row for row in q.first_uses()), late)
        early = adapter.state(first)[0] == "before"
        return _time(q, first) if early else at_row(q, "watched_late", late, site=use_of(q))
    leaf = next((q.rows[row] for row in q.used if q.rows[row].kind != "operation"), None)
    watchers, trainable = adapter.watchers(q.source), getattr(q.source, "trainable", True)
    for row in map(q.rows.__getitem__, q.used):
        by_itself = row.kind == "variable" and tape._watch_accessed_variables and trainable
        timely = row.kind == "operation" and adapter.state(row.row)[0] == "records"
        if row.tracked and (any(one is tape for one in watchers) or by_itself or timely):
            return None
    variable = leaf is not None and leaf.kind == "variable"
    uses = q.first_uses()
    if leaf is not None and variable and not trainable:
        found = at_row(q, "not_trainable", leaf.row, site=frozen_at(q))
        if q.sweep is not None and not any(there for _, there in q.sweep.gave):
            found.intended = False  # the program asks for nothing else
        return found
    if variable and uses and all(row.extra.why not in ("", "not_recorded") for row in uses):
        return None
    records = next((row.row for row in uses if adapter.state(row.row)[0] == "records"), uses[0].row if uses else None)
    if leaf is not None and (variable or watchers) and records is not None and (when := _time(q, records)) is not None:
        return when
    if watchers:
        return Finding("not_watched", adapter.block(), kind="other")
    if leaf is None:
        return checks.moved_name(q) or at_row(
            q, "not_watched", q.used[0], "made", site=checks.apart(q.rows[q.used[0]].way, adapter.block_way())
        )
    if not variable:
        use, block = text.at(use_of(q)), text.at(adapter.block())
        beside = use and block and block not in use.around and "." not in q.name
        way = next((row.extra.way for row in uses if row.row == records), ())
        span = adapter.block_way()
        return at_row(
            q, "not_watched", leaf.row, site=(checks.apart(way, span) if way else span[-1]) if beside else use_of(q)
        )
    if tape._watch_accessed_variables:
        return _time(q, leaf.row) or at_row(q, "recording_paused", leaf.row, site=use_of(q))
    return at_row(q, "not_accessed_watched", leaf.row, site=adapter.block())


def _read_of(q: Question) -> Found:
    """The source is one reading of a variable."""
    read_ = (
        q.sweep is not None and q.used and not q.adapter.is_variable(q.source) and q.rows[q.used[0]].kind == "variable"
    )
    gave = [given for tensor, given in q.sweep.gave if tensor() is q.source] if read_ else []
    return (
        Finding(
            "wrong_object", q.sweep.site, q.used[0], kind="read", other=q.rows[q.used[0]].name or fill("the variable")
        )
        if gave and not any(gave)
        else None
    )


def _time(q: Question, row: int) -> Found:
    """What the tape was doing when an operation ran."""
    state, site = q.adapter.time(q.rows[row])
    return None if state == "records" else at_row(q, TIMES[state], row, "reset" * (state == "dropped"), site=site)


# -- the way ---------------------------------------------------------------------------------------


def broken(q: Question) -> Found:
    """What breaks the way, in TensorFlow's words; inside of a function what does it there."""
    found = checks.broken(q) or no_rule(q)
    for one in [] if found is None else [found, *found.others]:
        _worded(q, one)
    if found is None or found.row is None or q.rows[found.row].extra.function is None:
        return found
    deeper = inside(q, found.row) if found.cause in ("", "nondifferentiable", "not_recorded") else None
    return found if deeper is None or deeper.cause == "connected" else deeper


def _worded(q: Question, one: Finding) -> None:
    """A break in TensorFlow's words."""
    assert one.row is not None
    row = q.rows[one.row]
    what = one.what
    one.what = ""
    if one.cause == "not_recorded":
        early = next((at for at in row.inputs if at in q.used), row.row)
        paused = any(q.rows[at].kind == "operation" and q.rows[at].tracked for at in row.inputs)
        one.cause = (
            "recording_paused"
            if paused
            else "not_watched"
            if early != row.row and q.rows[early].kind != "variable"
            else "computed_before_tape"
        )
    elif one.cause in TIMES.values():
        at = text.at(one.site)
        one.kind = (
            "reset"
            if what == "dropped"
            else "made"
            if at.function in ("__init__", "build")
            else "other"
            if row.tracked
            else ""
        )
        one.kind = one.kind if f"{one.cause} {one.kind}" in TEXT else ""
    elif is_dataset(row.op):
        use = text.at(row.site)
        keras = keras_call(use)  # which makes a dataset of what it is given
        one.cause, one.what = "left_through_numpy", keras and f"{keras}()"
        one.kind = OF_KERAS.get(keras, "dataset")
        made = [s for name in use.reads for s in text.bound_by(name, use) if s.call_of(*MAPS)]
        one.site = made[-1].site if made and not keras else one.site
    elif is_custom(row.extra.op or ""):
        one.cause, one.kind, one.site = "custom_rule", "none", zero_nan.rule_of(q, one.row)
    elif one.cause == "integer_dtype":
        one.kind = "inside"
    elif one.cause == "nondifferentiable" and row.kind == "operation":
        one.cause = one.cause if row.extra.why else why_no_gradient(row.extra.op) or one.cause
        one.kind = ("steps" if row.op in STEPS else "") if one.cause == "nondifferentiable" else ""


def no_rule(q: Question) -> Found:
    """Everything is on the tape, and an operation has no derivative for its input."""
    if not q.used:
        return None
    if q.sweep is None:
        row = next((row for row, _ in q.way if why_no_gradient(q.rows[row].extra.op or "Identity")), None)
        python = [row for row, _ in q.way if q.rows[row].op in PYTHON]  # TensorFlow may have raised an error
        exits = [e for at in python for e in q.exits if min(q.rows[at].inputs) < e.row < at]
        if row is None and exits:
            return left_by(q, exits[0])
    else:
        row = None if any(row in q.sweep.adjoints for row in q.used) else zero_nan.stopped(q)
    if row is None:
        return None
    watched = q.adapter.recording.entries[row].watched == "explicit" and _time(q, row)
    return watched or at_row(q, "nondifferentiable", row)


def compiled(q: Question) -> Found:
    """The tape is inside of a tf.function: so is what happened."""
    log = q.adapter.log
    calls = [row for row in sorted(q.behind) if q.rows[row].extra.function is not None and not q.rows[row].tracked]
    own = [row for row in calls if {*q.rows[row].inputs} & {*q.used} or _results(q, row)]
    if not own or not (has_tapes(q.rows[own[-1]].extra.function.graph) or not log.tapes.known):
        return None
    return inside(q, own[-1]) or at_row(q, "nondifferentiable", own[-1], "function")


def _results(q: Question, row: int) -> list[int]:
    entries = q.adapter.recording.entries
    return [entries[other].output for other in q.own if other != row and entries[other].call == entries[row].call]


def inside(q: Question, row: int) -> Found:
    """What a tf.function does inside to the way of the source."""
    recording, after = q.adapter.recording, {*q.after, *q.used}
    entries, entry = recording.entries, recording.entries[row]
    run = open_row(recording, row, q.sweep, ones=True)
    if run is None or entry.output >= len(run.results):
        return None
    inner, target = run.recording, run.results[entry.output]
    found: Found = None
    known = recording.log.tensors.variables
    asked = [entries[one].extra.asked for one in entry.inputs if one in after]
    things = [known.get(id(one), one) for one in asked]
    for thing in [*things, *(run.results[output] for output in _results(q, row))] or [q.source]:
        inner_q = question(inner, target, thing, q.name)
        found = first(inner_q)
        found.what = found.what or ("" if found.row is None else words.operation(inner_q, found.row))
        found.row = row
        if found.cause != "connected":
            break
    return found


# -- through Python --------------------------------------------------------------------------------


def left(q: Question) -> Found:
    """A value left, or NumPy read its memory, or Python chose by it."""
    if q.used or not q.ends:
        return None
    unseen = [
        Exit(row, "", site, row + 1) for row in sorted(q.after) if (site := numpy_call(q.rows[row].site)) is not None
    ]
    exits = [
        *[e for e in reversed(q.exits) if e.how != "__bool__"],
        *unseen,
        *[e for e in q.exits if e.how == "__bool__"],
    ]
    back = [e for e in exits if e.row in q.after and (e.how == "__bool__" or checks.flows_back(q, e) or to_keras(e))]
    return left_by(q, back[0]) if back else None


def to_keras(exit: Exit) -> bool:
    """Whether a loss that Keras was given returns what came of a value that left."""
    at = text.at(exit.site)
    if not at.functions or at.functions[0] not in predictions(text.program(at.file), at):
        return False
    return any(isinstance(s.node, ast.Return) and s.functions == at.functions for s in text.flow(at, []))


def left_by(q: Question, exit: Exit) -> Finding:
    """That a value left, in the words for the function that the line calls."""
    if exit.how == "__bool__":
        return Finding("python_branch", exit.site, exit.row)
    keras = keras_call(text.at(exit.site))
    what = f"{keras}()" if keras else words.left_by(exit.how)
    kind = OF_KERAS.get(keras, "") or "python" * (exit.how == "numpy_function")
    return Finding("left_through_numpy", exit.site, exit.row, what, kind)


def keras_call(at: text.Statement) -> str:
    """The function of Keras that a line calls, and that gives arrays of NumPy; empty where it calls none."""
    names = (text.last_name(call.func) for call in at.calls)
    return next((name for name in names if name in OF_KERAS), "")


# -- another object --------------------------------------------------------------------------------


def instead(q: Question) -> Found:
    """Another object was used: bound again, made anew, copied, equal."""
    if q.used:
        return None
    held, copied = q.adapter.log.copied.get(q.source, (None, NOWHERE))
    if held is not None and any(row.kind == "variable" and row.thing() is held for row in q.leaves()):
        return Finding("wrong_object", copied, kind="copied")
    again = checks.bound_again(q)
    if again is not None and again.row is not None:
        both = [q.rows[again.row].thing(), handle_of(q.source)]
        if not all(map(q.adapter.is_kept, both)) or text.at(again.site).call_of("Variable"):
            again.cause, again.other = "wrong_object", fill("a new one")
            return again
    made = checks.made_of_it(q)
    if made is not None:
        made.kind, made.other = "made", fill("what it was made of")
        return made
    found = checks.equal_values(q) or _twin(q)
    if found is not None:
        if not q.adapter.is_variable(q.source):
            own = q.adapter.numbers(q.source)
            found.site = next(
                (e.site for e in q.exits if np.array_equal(np.asarray(q.rows[e.row].array), own)), found.site
            )
            found.kind = found.kind or "equal"
        return found
    return None


def _twin(q: Question) -> Found:
    """A variable of the same name and shape, whose own is gone."""
    own, name = handle_of(q.source), name_of(q.source) or ""
    kept = not q.own and q.adapter.is_kept(own)
    for row in q.leaves() if not q.own else ():
        as_large = row.kind == "variable" and tuple(row.shape) == tuple(q.source.shape)
        if as_large and (row.name or "").rpartition("/")[2] == name.rpartition("/")[2]:
            copy = "/" in name and row.name == name
            if copy or not q.adapter.is_kept(row.thing() if kept else own):
                way, kind = q.adapter.birth_of(row)[1] or [row.site], "cloned" * copy
                return Finding("wrong_object", way[-1], row.row, other=row.name or fill("a variable"), kind=kind)
    return None


def unused(q: Question) -> Found:
    """What came of it was dropped, or its layer was not called."""
    if q.used:
        return None
    return dropped(q) or unused_layer(q) or Finding("independent")


def unused_layer(q: Question) -> Found:
    """The layer of a variable was not called."""
    handle, layers = handle_of(q.source), list(living(tf.keras.layers.Layer))
    owners = [one for one in layers if any(handle_of(v) is handle for v in one._trainable_variables)]
    others = [v for one in owners for v in one._trainable_variables]
    if any(q.behind.intersection(q.adapter.log.tensors.rows_of(v)) for v in others):
        return None
    held = (
        (holder, name)
        for holder in layers
        for name, value in vars(holder).items()
        if any(value is one for one in owners)
    )
    sites = (site for holder, name in held if (site := text.attribute_site(holder, name)) != NOWHERE)
    return next((Finding("unused_layer", site, what=owners[0].name) for site in sites), None)


# -- what arrived ----------------------------------------------------------------------------------


def zero(q: Question) -> Found:
    """What made zeros, with what TensorFlow knows of it; inside of a function what did there."""
    return _inner(q, zero_nan.zero(q))


def nan(q: Question) -> Found:
    """Where NaN came up, also inside of a function, or in an earlier pass."""
    return _inner(q, first_nan(q, read))


def _inner(q: Question, found: Found) -> Found:
    if found is None or found.row is None:
        return found
    row = q.rows[found.row]
    if row.op in PYTHON:
        return at_row(q, "left_through_numpy", row.row, "python", PYTHON[row.op])
    if row.extra.function is not None:
        deeper = inside(q, row.row)
        return found if deeper is None or deeper.cause == "connected" else deeper
    return found


def no_tape(q: Question) -> Found:
    """Nothing was recorded for the source: no tape was there."""
    log = q.adapter.log
    seen = (
        q.sweep is not None
        or log.tapes.known
        or steps_of(q.adapter.recording)
        or not q.ends
        or q.rows[q.ends[0]].tracked
    )
    return None if seen else Finding("no_backward", kind="tape")


def left_out(q: Question) -> Found:
    """Keras did not ask for the gradient of a variable that is not to be trained."""
    return Finding("not_trainable", frozen_at(q), kind="left out") if q.adapter.left_out else None


CHECKS = (
    plain_target,
    left_out,
    whole_numbers,
    compiled,
    copied,
    not_tracked,
    broken,
    left,
    instead,
    unused,
    nan,
    zero,
    no_tape,
)


def answer(q: Question) -> Finding:
    """What is to be said of a source."""
    if q.target is None:
        return whole_numbers(q) or Finding(
            "no_backward",
            kind="inside" if any(has_tapes(call.graph) for call in q.adapter.log.calls if call.graph) else "",
        )
    return first(q)


def first(q: Question) -> Finding:
    """What the first check says that finds something."""
    return next((found for check in CHECKS if (found := check(q)) is not None), Finding("connected"))


def question(recording: Any, target: Any, source: Any, name: str = "") -> Question:
    """The question with the name of its source."""
    if not isinstance(handle_of(source), tf.Tensor):
        raise TypeError(f"explain() takes a tensor or a variable as its source, but received {source!r}.")
    q = read(recording, target, source)
    q.name = name or name_in_program(q)
    return q


def name_in_program(q: Question) -> str:
    """What the program calls the source; no row is read for it."""
    return path_to(q, handle_of(q.source)) or name_of(q.source) or fill(TENSOR)


def explained(q: Question, found: Finding) -> Explanation:
    """The answer in words. A rule of the program's own that gives zeros gives a gradient."""
    said = words.explanation(q, found, TEXT)
    said.connected |= (found.cause, found.kind) == ("custom_rule", "")
    return said


def ask(recording: Any, target: Any, source: Any) -> Explanation:
    """Why a gradient of TensorFlow is None, or what is wrong with it."""
    q = question(recording, target, source)
    return explained(q, answer(q))


def ask_last(recording: Any, source: Any) -> Explanation:
    """The same of the last backward pass that was asked for the source, also in a function that was traced only, or of
    the one that was refused.
    """
    log, sweeps = recording.log, recording.sweeps
    asked, steps = sweeps_for(sweeps, source)[-1:], steps_of(recording)
    own = [step for step in steps if sweeps_for(step[1].sweeps, source)]
    eager = (asked or sweeps)[-1:]
    last = (own or steps)[-1:]
    if last and (not eager or sweeps.index(eager[0]) < last[0][0].before):
        inner = last[0][1]
        sweep = (sweeps_for(inner.sweeps, source) or inner.sweeps)[-1]
        q = question(inner, inner.entries[sweep.target[-1]].extra.asked, source)
    else:
        failed = log.failed is not None and log.failed[0] == len(sweeps)
        latest = log.failed[1] if failed else eager[0].target[-1] if eager else recording.last_target()
        q = question(recording, None if latest is None else recording.entries[latest].extra.asked, source)
    q.adapter.left_out = not asked and not own and not getattr(source, "trainable", True)
    return explained(q, answer(q))
