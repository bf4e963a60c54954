"""minitape's own tape, asked: its rows, and what it knows of values and blocks."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...common.texts import paragraph
from ...engine.back.tape import GradientTape
from ...engine.recording.array_spec import ArraySpec
from ...engine.recording.evidence import creation_of
from ...engine.tensor.tensor import Tensor
from ...engine.tensor.variable import UnreadVariable
from ...engine.values.dtypes import dtype_of_numpy
from ...recording.bodies import outermost
from ...recording.nodes import (
    Break,
    CodePlace,
    TapeNode,
    is_leaf,
    is_state,
    operation_of,
    place_of_origin,
    placed,
    way_of,
)
from ...recording.origins import Ref, origin_of
from ...recording.rows import BackwardPass
from ...recording.sites import NOWHERE, Site, last_return
from ...recording.tape import TapeRules, handle_of, name_given
from ...recording.trace import Trace
from ...recording.values import ValueSummary
from ..caller import asking_names
from ..causes import KINDS
from ..families import CLASSES, LAYERS, OPERATIONS, ZEROS
from ..fixes.dialects import TAPE
from ..owners import Owners, variables_of
from ..replay import MOST, open_call, starts_of, swept
from ..sentences import fill
from ..words import Explanation
from . import checks, suspects, tape_words, text, words, zero_nan
from .names import called
from .question import ADDS, Elements, Exit, Finding, Found, Given, Question, RecordedRow, breaks, met_with

if TYPE_CHECKING:
    from ...engine.types import End

FUNCTION = ("function", "PartitionedCall", "StatefulPartitionedCall")
DEEP = 3  # calls inside of calls that are looked into


def recorded(tape: GradientTape, targets: list[End], sources: list[End]) -> TapeAdapter:
    """The rows of all that led to the targets, to the sources, and to what left: where all sources have a gradient,
    under this tape only.
    """
    rules = TapeRules(tape, targets, sources)
    trace, left = rules.trace, rules.leaving
    if all(map(rules.connected, sources)):
        left = [note for note in left if note.record is not None and note.record() is rules.record]
    trace.look_for(*rules.sources)
    ends = [trace.of_ref(Ref(*note.known)) for note in left]
    trace.keep(node.row for node in ends if node.record is rules.record)
    found = walk(rules, [*rules.starts, *(node for source in rules.sources for node in trace.of(source)), *ends])
    number = {node.key: at for at, node in enumerate(found)}
    rows: list[RecordedRow] = [
        TapeRow(rules, at, node, [_given(number[one.key], b) for one, b in edges])
        for at, (node, edges) in enumerate(found.items())
    ]
    exits = [
        Exit(
            number[node.key],
            note.how,
            placed(CodePlace(note.stack) if note.stack else None),
            note.row if note.record is not None and note.record() is rules.record else -1,
            note.when,
        )
        for note, node in zip(left, ends, strict=True)
    ]
    return TapeAdapter(rules, rows, number, exits[::-1])


def walk(rules: TapeRules, roots: list[TapeNode]) -> dict[TapeNode, list[tuple[TapeNode, Break | None]]]:
    """All that some nodes were computed from, each with that, in the order of time."""
    found: dict[Hashable, list[tuple[TapeNode, Break | None]]] = {}
    times: dict[TapeNode, tuple[int, int]] = {}
    known: dict[Hashable, tuple[int, int]] = {}
    waiting = [(node, False) for node in roots[::-1]]
    while waiting:
        node, done = waiting.pop()
        if done:
            begin = outermost(node)
            own = begin.record is rules.record
            when = (begin.row, 0) if own else (-1, 0 if begin.origin is None else begin.origin.when)
            given = [known[one.key] for one, _ in found[node.key] if one.key in known]
            times[node] = known[node.key] = max([when, *given])
        elif node.key not in found:
            found[node.key] = rules.trace.edges(node)
            waiting += [(node, True), *((one, False) for one, _ in found[node.key] if one.key not in found)]
    return {node: found[node.key] for node in sorted(times, key=times.__getitem__)}


def question(asked: TapeAdapter, source: Any) -> Question:
    """The question about one source."""
    names = set(asked.rules.trace.names(handle_of(source)))
    own = sorted({row for name in names for row in asked.standing.get(name, ())})
    q = Question(asked, asked.rows, own, [asked.at[node.key] for node in asked.rules.starts], source, exits=asked.exits)
    q.name = called(q)
    q.since = min((note[2] for note in asked.rules.begins), default=0)
    return q


def _given(row: int, b: Break | None) -> Given:
    if b is None:
        return Given(row)
    return Given(row, b.cause.removesuffix("_op"), placed(b.place), b.what)


class TapeRow(RecordedRow):
    """A row of a tape, whose place and numbers are looked at when they are asked for."""

    def __init__(self, rules: TapeRules, at: int, node: TapeNode, given: list[Given]) -> None:
        self.row, self.given, self.extra, self.rules = at, given, node, rules
        made, origin, begin = self.operation, node.origin, outermost(node)
        self.op = "" if made is None else made.op or made.name
        computed = made is not None or (origin is not None and origin.kind == "gradient")
        on_tape = rules.is_on_tape(node)
        self.kind = "source" if on_tape else "constant"
        if node.variable is not None or is_state(origin):
            self.kind = "variable"
        if node.variable is None and computed:
            self.kind = "operation"
        self.number = begin.row if begin.record is rules.record else -1
        self.when = 0 if origin is None else origin.when
        if node.tensor is None and node.record is not None and node.caller is None:  # both at one look
            self.shape, kind = node.record.shape_dtype(node.row)
            dtype: Any = dtype_of_numpy(kind)
        else:
            self.shape, dtype = np.shape(rules.value(node)), node.dtype()
        self.dtype = "" if dtype is None else dtype.name
        counts = dtype is None or dtype.differentiable
        self.tracked = counts and (on_tape or (computed and node.caller is not None))

    @property
    def operation(self) -> Any:
        """The primitive that computed it; None of a leaf."""
        node = self.extra
        made = operation_of(node.record, node.row)[0] if node.record is not None else None
        return node.origin.detail if made is None and node.origin is not None and node.origin.kind == "op" else made

    @property
    def place(self) -> CodePlace | None:
        """The statement that computed it, or where a leaf was made."""
        node = self.extra
        return (is_leaf(node) and node.birth()) or node.place()

    @cached_property
    def site(self) -> Site:  # type: ignore[override]
        """File and line of that."""
        return placed(self.place)

    @cached_property
    def way(self) -> Sequence[Site]:  # type: ignore[override]
        """The same, with the calls that led there."""
        return way_of(self.place)

    @cached_property
    def value(self) -> ValueSummary | None:  # type: ignore[override]
        """Its elements, where they are kept."""
        return ValueSummary(self.rules.value(self.extra))

    @cached_property
    def name(self) -> str:  # type: ignore[override]
        """The name that a variable was given."""
        return name_given(self.extra.variable)

    def thing(self) -> Any:
        """The tensor or variable that it stands for, while that lives."""
        return self.extra.tensor if self.extra.variable is None else self.extra.variable


class TapeAdapter:
    """What else is known of values, and how a tape's programs say things."""

    module, zeros, classes, cancels = "tf", ZEROS, CLASSES, LAYERS
    dialect = TAPE
    unused, left = "independent", "left_through_numpy"

    def __init__(self, rules: TapeRules, rows: list[RecordedRow], at: dict[Hashable, int], exits: list[Exit]) -> None:
        self.rules, self.rows, self.at, self.exits, self.owners = rules, rows, at, exits, Owners()
        self.standing: dict[Hashable, list[int]] = {}  # the rows that stand for a tensor or variable
        for row in rows:
            for name in rules.trace.stands_for(row.extra):
                self.standing.setdefault(name, []).append(row.row)

    @cached_property
    def sweep(self) -> BackwardPass | None:
        """The sweep to all sources that have a gradient, run once more; None where it cannot be."""
        sources = [source for source in self.rules.sources if self.rules.connected(source)]
        return swept(self.rules, self.at, starts_of(self.rules), sources)

    @cached_property
    def suspects(self) -> list[suspects.Suspicion]:
        """What is wrong with gradients that are there."""
        if len(self.rules.record) > MOST:
            return []
        run = suspects.CheckedRun(
            self.rows,
            [] if self.sweep is None else [self.sweep],
            self.exits,
            OPERATIONS,
            lambda how: tape_words.EXITS.get(how, how),
        )
        return [
            one for check in (suspects.broadcast, suspects.activation_twice, suspects.in_part) for one in check(run)
        ]

    def names(self) -> Iterable[tuple[str, Any]]:
        """The names of the program, and what they hold."""
        return asking_names().items()

    def handle(self, value: Any) -> Any:
        """What a variable is known by."""
        return handle_of(value)

    def is_variable(self, thing: Any) -> bool:
        """Whether the program has a variable."""
        return hasattr(thing, "_tape_rows") and not isinstance(thing, Tensor)

    def numbers(self, thing: Any) -> Elements:
        """The elements of a tensor or variable."""
        value = getattr(getattr(thing, "_state", thing), "_value", None)
        return None if isinstance(value, ArraySpec) else ValueSummary(value).array()  # that is traced

    def birth(self, thing: Any) -> tuple[int, list[Site]]:
        """When and where it was made: of a layer's own weights where the layer was."""
        if thing is None:
            return 0, []
        origin = self.rules.origin(thing)
        if isinstance(thing, Tensor):
            node = self.rules.trace.of_tensor(thing)
            return 0 if origin is None else origin.when, way_of(node.birth() if is_leaf(node) else node.place())
        way = way_of(place_of_origin(origin))
        made = text.at(way[-1] if way else NOWHERE).call_of("Variable", "add_weight", "deepcopy", "copy")
        owner = self.owners.of(thing) if made is None else None
        frames = () if owner is None else creation_of(owner)
        return 0 if origin is None else origin.when, way_of(CodePlace(frames)) if frames else way

    def made_at(self, thing: Any) -> list[Site]:
        """Where a tensor or variable was made."""
        return self.birth(thing)[1]

    def birth_of(self, row: RecordedRow) -> tuple[int, list[Site]]:
        """When and where a leaf was made."""
        variable = row.extra.variable
        if variable is not None:
            return self.birth(variable)
        begin = max((note[2] for note in self.rules.begins), default=0)
        return row.when or (begin + 1 if row.number >= 0 else 0), list(row.way)

    def is_number(self, row: RecordedRow) -> bool:
        """Whether it is a number that the program wrote: one row stands for all of them."""
        return row.extra.is_number()

    def watched(self, row: RecordedRow) -> bool:
        """Whether a row was watched."""
        return self.rules.was_watched(row.extra)

    def block_way(self) -> list[Site]:
        """Where the tape began, with the calls that led there."""
        begins = self.rules.begins
        return way_of(CodePlace(begins[-1][3])) if begins and begins[-1][3] else [NOWHERE]

    def block(self) -> Site:
        """The line of that."""
        return self.block_way()[-1]

    def in_block(self, when: int) -> bool:
        """Whether something was made after the tape had begun."""
        return any(note[2] < when for note in self.rules.begins)

    def anew(self, q: Question, row: RecordedRow, at: text.Statement, when: int, other: int) -> bool:
        """Whether what a statement made again took the place of the source: in a loop, or in the block and before."""
        looped = any(isinstance(s.node, text.LOOPS) for s in at.around)
        return looped or self.in_block(when) != self.in_block(other)

    def details(self, q: Question, found: Finding) -> dict[str, str]:
        """The fields of a sentence that the text of the program fills."""
        return tape_words.details(q, found)

    def label(self, row: RecordedRow) -> str:
        """What minitape calls the operation of a row."""
        return row.extra.label()

    def rule(self, row: RecordedRow) -> Site:
        """Where the program's own gradient function of a call returns."""
        own = row.extra.record.call_at(row.extra.row) if self.label(row) == "custom_gradient" else None
        return NOWHERE if own is None else last_return(own.attrs["call"].grad_fn)

    def called(self, q: Question, row: int) -> str:
        """What the program knows an operation as: ``sqrt``, or ``sqrt in norm(...)``."""
        label = self.label(q.rows[row])
        if label == "function":
            return fill("the tf.function")
        written = text.named_call(q.rows[row].site)
        if not label or not written or written in (label, "__call__"):
            return label or q.rows[row].op
        if label == "custom_gradient":
            return written
        return fill("{operation} in {function}(...)", operation=label, function=written)

    def used_at(self, source: Any) -> list[Site]:
        """The lines of the operations that were computed from a source under the tape, in order."""
        own = set(self.rules.tape._rows_of(source))
        place = self.rules.last_use(source) if own else None
        return [] if place is None else [placed(place)]

    def layer_of(self, variable: Any) -> Any:
        """The layer or module that has a variable."""
        return self.owners.of(variable)


# -- checks of a tape alone ------------------------------------------------------------------------


def not_tracked(q: Question) -> Found:
    """The tape does not watch the source."""
    tape, rules = q.adapter.rules.tape, q.adapter.rules
    first = next((one for row, one in q.way if one.why or q.rows[row].extra.caller is None), None)
    if not q.used or (
        first is not None and first.why in ("outside_tape", "recording_paused", "state", "left_through_numpy")
    ):
        return None
    if any(rules.is_on_tape(q.rows[row].extra) and q.rows[row].tracked for row in q.used) and not _late(q):
        return None
    late = _late_watch(q)
    uses = q.first_uses()
    first_use = next((row for row in uses if row.number >= 0), uses[0] if uses else None)
    use, at_use = (NOWHERE, None) if first_use is None else (first_use.site, first_use.row)
    if late is not None:
        late.row = at_use
        return late
    if isinstance(q.source, UnreadVariable):
        made = place_of_origin(origin_of(q.source._state))
        return Finding("rebound", use if made is None else placed(made), what="of the variable")
    if not q.adapter.is_variable(q.source):
        return checks.moved_name(q) or Finding("not_watched", use, at_use)
    if not q.source.trainable:
        return Finding("not_trainable", (q.adapter.birth(q.source)[1] or [use])[-1])
    if not tape._watch_accessed_variables:
        return Finding("not_accessed_watched", q.adapter.block(), at_use)
    return None


def _late(q: Question) -> bool:
    """Whether all uses were before the watch."""
    watched = q.adapter.rules.tape.watched
    since = [watched[q.rows[row].extra.row] for row in q.used if q.adapter.watched(q.rows[row])]
    return bool(since) and all(0 <= row.number < min(since) for row in q.first_uses())


def _late_watch(q: Question) -> Found:
    rules = q.adapter.rules
    for what, row, subject, frames in rules.tape.notes:
        if what == "watch" and subject is not None and subject() is q.source and frames:
            site = placed(CodePlace(frames))
            paused = rules.trace.paused(row) is not None or _paused(site)
            return Finding("recording_paused" if paused else "watched_late", site, kind="watch" if paused else "")
    return None


def _paused(site: Site) -> bool:
    return text.at(site).within("stop_recording", "init_scope") is not None


def broken(q: Question) -> Found:
    """The first break on the way with the fewest, with what a tape calls it."""
    found = checks.broken(q)
    for row, _ in q.way:  # where nothing breaks it, a rule of the program's own gave None for what came
        if (found is None or row == found.row) and (rule := zero_nan.rule_of(q, row)) is not NOWHERE:
            return Finding("custom_rule", rule, row, kind="none", others=found.others if found else [])
    if found is None or found.row is None:
        return found
    given, node = next(one for row, one in q.way if row == found.row and one.why), q.rows[found.row].extra
    at = text.at(found.site)
    if given.what in ("OnesLike", "ZerosLike") and at.call_of("gradient"):
        return Finding("independent")
    if found.cause == "outside_tape" and q.is_unwatched:
        use = q.first_uses()
        found.others.append(Finding("not_watched", use[0].site if use else NOWHERE))
    if found.cause == "outside_tape" and given.what != "reset":
        if node.record is None and _paused(found.site):
            found.cause = "recording_paused"
        way, block = q.rows[found.row].way, text.at(q.adapter.block())
        functions = [at.functions if at else None for at in map(text.at, way)]
        begin = functions.index(block.functions) if block and block.functions in functions else 0
        # of the block the calls that led there are not known
        found.site = checks.apart(way[begin:], q.adapter.block_way()) or found.site
    return found


def unused_layer(q: Question) -> Found:
    """The layer of a variable was not called."""
    rules, owner = q.adapter.rules, q.adapter.layer_of(q.source) if q.adapter.is_variable(q.source) else None
    if owner is None or q.source._tape_rows(rules.tape):
        return None
    used = {id(row.thing()) for row in q.leaves() if row.kind == "variable"}
    if any(id(one) in used or one._tape_rows(rules.tape) for one in variables_of(owner)):
        return None
    frames = creation_of(owner)
    way = way_of(CodePlace(frames)) if frames else q.adapter.birth(q.source)[1]
    name = getattr(owner, "name", None)
    return Finding(
        "unused_layer",
        way[-1] if way else NOWHERE,
        what=f"{name} ({type(owner).__name__})" if isinstance(name, str) else type(owner).__name__,
    )


def equal_values(q: Question) -> Found:
    """Another object of the same kind with the same values was used; those of a layer are alike by chance."""
    variable = q.adapter.is_variable(q.source)
    found = None if variable and q.adapter.layer_of(q.source) is not None else checks.equal_values(q)
    row = None if found is None else found.row
    return found if row is not None and variable == (q.rows[row].kind == "variable") else None


CHECKS = (
    checks.whole_numbers,
    not_tracked,
    broken,
    checks.left,
    checks.bound_again,
    checks.made_of_it,
    equal_values,
    unused_layer,
    checks.independent,
)


def ask(q: Question) -> Explanation:
    """Why one source has no gradient."""
    return say(q, found_by(q))


def found_by(q: Question) -> Finding:
    """What the first check finds."""
    return next(finding for check in CHECKS if (finding := check(q)) is not None)


def say_inside(q: Question, found: Finding) -> Explanation:
    """What is zero or not finite, in words: of a call of a function what is to blame in it."""
    within, deeper = inside(q, found)
    answer = say(within, deeper)
    if within is not q:
        answer._rows = [q.rows[found.row].extra.row] if found.row is not None else []
    if answer.kind in ("zero", "nonfinite"):
        lost = not all(zero_nan.finite(q, end) for end in q.ends)
        spoilt = fill("The target is not finite.") if lost else fill("The gradient of {x} is not finite.", x=q.name)
        zero = fill("The gradient of {x} is zero.", x=q.name)
        answer.message = paragraph(zero if answer.kind == "zero" else spoilt, answer.message)
    return answer


def say(q: Question, found: Finding) -> Explanation:
    """A finding in a tape's words."""
    for one in (found, *found.others):
        one.cause = "nondifferentiable_op" if one.cause == "nondifferentiable" else one.cause
    answer = words.explanation(q, found, words.VALUES)
    for said in (answer, *answer.others):
        nodes = [q.rows[row].extra for row in said._rows]
        said._rows = [node.row for node in nodes if node.record is q.adapter.rules.record]
    return answer


# -- what arrived ----------------------------------------------------------------------------------


def value(q: Question) -> Explanation:
    """Why a gradient that is there is zero, not finite or wrong; what else blocks it where it is not."""
    q.sweep = q.adapter.sweep
    found = values(q)
    if found is not None:
        return say_inside(q, found)
    cuts = [one for one in checks.side_breaks(q, []) if one.row is None or is_missed(q, one)]
    open_after = q.forward(q.own, open_only=True)
    wrong = next((one for one in q.adapter.suspects if one.row in open_after), None)
    connected = say(q, Finding("connected", others=cuts))
    answer = connected if wrong is None else wrong.explanation(q.name, q)
    answer.name = q.name
    answer.others = [one for one in connected.others if one.line != answer.line]
    for other in answer.others:
        other.fix = fill("If that is meant, nothing is wrong.") if other.kind == "cut" else other.fix
    if wrong is None:
        answer.message = paragraph(answer.message, _sum_of(q.adapter.rules.targets))
    if answer.others:
        single = "Another path is blocked, and the gradient lacks what would come along it."
        several = "{n} other paths are blocked, and the gradient lacks what would come along them."
        lacks = fill(single) if len(answer.others) == 1 else fill(several, n=len(answer.others))
        answer.message = paragraph(answer.message, lacks)
    return answer


def is_missed(q: Question, one: Finding) -> bool:
    """Whether a path that is cut, beside one with a gradient, is one that the program may want: not a target or a
    factor, but what is added or joined to others.
    """
    if KINDS[one.cause] == "cut":
        return any(q.rows[at].op in {*ADDS, "ConcatV2"} for at in met_with(q.rows, one.row or 0))
    return one.cause != "state" or one.row not in q.own


def _sum_of(targets: list[End]) -> str:
    """The sentence about a target with several elements."""
    sizes = [t.shape.num_elements() for t in targets]
    if None in sizes or sum(sizes) < 2:
        return ""
    if len(sizes) > 1:
        return fill("There are {n} targets: this is the gradient of the sum of all their elements.", n=len(sizes))
    return fill(
        "The target has {n} elements: this is the gradient of their sum; tape.jacobian keeps them apart.", n=sizes[0]
    )


def lost(q: Question) -> Found:
    """Where the NaN or infinity of a target came up, of a sweep that cannot run again."""
    end = next((end for end in q.ends if not zero_nan.finite(q, end)), None)
    return None if end is None else zero_nan.origin(q, end)


def values(q: Question) -> Found:
    """What is zero or not finite of a gradient that is there, by its sweep or without one."""
    with np.errstate(all="ignore"):
        return lost(q) if q.sweep is None else zero_nan.nan(q) or zero_nan.zero(q)


def inside(q: Question, found: Finding, depth: int = 0) -> tuple[Question, Finding]:
    """A finding, and what it is of: of a call of a function that is to blame what is to blame in it."""
    node = None if found.row is None or q.rows[found.row].op not in FUNCTION else q.rows[found.row].extra
    adjoint = None if node is None or q.sweep is None else q.sweep.adjoints.get(found.row)
    if node is None or adjoint is None or depth == DEEP:
        return q, found
    again = open_call(q.adapter.rules, node.row)
    if again is None:
        return q, found
    asked = recorded(*again)
    rules, inputs = asked.rules, asked.rules.sources
    came = adjoint.given if isinstance(adjoint.given, (tuple, list)) else [adjoint.given]  # each result has its own
    pairs = ((result, one) for result, one in zip(rules.targets, came, strict=False) if result.dtype.differentiable)
    starts = {row: one for result, one in pairs for row in rules.tape._rows_of(result)[-1:]}
    sweep = swept(rules, asked.at, starts, inputs)
    for one, given in zip(inputs, node.record.call_at(node.row).inputs, strict=False):
        if one.dtype.differentiable and q.adapter.at.get((id(node.record), given)) in q.after:
            within = question(asked, one)
            within.sweep, within.name = sweep, q.name
            if not rules.connected(one):
                cut = found_by(within)
                unused = Finding("independent", found.site, kind="call")  # it is in another branch
                return (q, unused) if cut.cause == "independent" else (within, cut)
            deeper = values(within)
            if deeper is not None:
                return inside(within, deeper, depth + 1)
            if (cut_off := cut_to_zero(within)) is not None:
                return within, cut_off
    return q, found


def cut_to_zero(q: Question) -> Found:
    """A gradient is there, and zero because all ways are cut: in the bodies of loops and branches."""
    inside_of = any(row.extra.caller is not None for row in q.rows)
    return broken(q) if breaks(q.way) and (inside_of or q.adapter.sweep is None) else None


def answer(asked: TapeAdapter, source: Any) -> Explanation:
    """Why one source has no gradient, or what is to be said of one that is there."""
    q = question(asked, source)
    lost = asked.sweep and asked.sweep.adjoints.keys().isdisjoint(q.own) and broken(q)
    if lost and lost.cause == "custom_rule":
        found = say(q, lost)
    elif not asked.rules.connected(source):
        found = ask(q)
    else:
        cut = cut_to_zero(q)
        found = say(q, cut) if cut is not None else value(q)
        if found.kind not in ("connected", "zero", "nonfinite", "suspect"):
            found.message = paragraph(fill("The gradient of {x} is zero.", x=q.name), found.message)
        found.connected = True
    found._tape = asked.rules.tape
    return found


def inside_python(tape: GradientTape, target: End, source: End) -> Break | None:
    """What breaks the way to an input of a ``tf.py_function`` inside of it; None where nothing does."""
    asked = recorded(tape, [target], [source])
    if asked.rules.connected(source):
        return None
    found = found_by(question(asked, source))
    return Break(found.cause, getattr(found.site, "place", None), found.what)


Trace.inside_python = staticmethod(inside_python)
