"""A question about a tape: :mod:`why` asked of its recording, with what the tape knows better, and in its words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from ..engine.recording.evidence import ValueOrigin
from ..engine.tensor.tensor import Tensor
from ..engine.tensor.variable import UnreadVariable
from ..recording.nodes import Break, CodePlace, PlacedSite, TapeNode, is_leaf, placed, way_of
from ..recording.rows import RowExit
from ..recording.sites import NOWHERE, Site
from ..recording.tape import TapeRecording, TapeRow, handle_of, name_given
from ..recording.trace import COPIES, Trace
from .caller import asking_names
from .causes import SHARED
from .families import CLASSES, MOVES, POINTS, ZEROS
from .fixes.tape import AskedOfTape
from .inquiry import GradientInquiry, merge, with_flat_ones
from .owners import variables_of
from .source import statement_at
from .statement import Statement
from .why import Why, binds_own
from .words import AT_SOURCE, Explanation, in_words

if TYPE_CHECKING:
    from ..engine.back.tape import GradientTape
    from ..engine.types import Array, End, Object
    from ..recording.nodes import Subject

TAPES = {shared: own for own, shared in SHARED.items()} | {"computed_after_tape": "outside_tape"}  # a tape's names
COMPARED = 20  # exits that are put into words, the last to leave first
_BEFORE_WATCHING = ("outside_tape", "recording_paused", "state", "left_through_numpy")
_TIMES = ("outside_tape", "recording_paused")
_BEFORE_EXITS = (
    "stop_gradient",
    "nondifferentiable_op",
    "integer_dtype",
    "no_gradient_registered",
    "left_through_numpy",
)


class TapeQuestion(AskedOfTape, Why):
    """Why one source of a tape gets no gradient."""

    zeros, classes, moves, points = ZEROS, CLASSES, MOVES, POINTS
    makes = ("operation", "variable", "source", "constant")
    entries: Sequence[TapeRow]
    recording: TapeRecording
    inquiry: GradientInquiry

    def __init__(
        self, inquiry: GradientInquiry, source: End, name: str, end: int | None = None, left: bool = False
    ) -> None:
        self.inquiry, self.source, self.name = inquiry, source, name
        self.path_to = lambda wanted: ""
        self.recording = self.log = inquiry.recording(left)
        self.entries, self.exits = self.recording.entries, self.recording.left
        self.rows = self.recording.rows_of(source)
        self.ends = [self.recording.by_key[node.key] for node in inquiry.starts] if end is None else [end]
        self.end = self.ends[0] if self.ends else None
        self.behind = self._behind(self.ends)

    def answer(self) -> Explanation:
        """What the first of the checks says that knows something; of the source itself with what breaks its path."""
        found = self._dtype() or self._own()
        if found is None:
            found = self._break()
            if found is None and not self.used:
                with_exits = TapeQuestion(self.inquiry, self.source, self.name, left=True)
                found = with_exits._outside() or self._not_used()
            return found or self.say("independent")
        cut = self._cut() if self.used else None
        further = [] if cut is None else [cut, *cut.others]
        said = (found.cause, "independent", "not_watched")
        found.others += [other for other in further if other.cause not in said]
        return found

    # -- what the questions of :mod:`why` ask -------------------------------------------------------

    def handle(self, value: Object) -> Object:
        return handle_of(value)

    def is_variable(self, value: Object) -> bool:
        return not isinstance(value, Tensor) and hasattr(value, "_tape_rows")

    def is_tensor(self, value: Object) -> bool:
        return isinstance(value, Tensor)

    def known_name(self, value: Object) -> str:
        return name_given(value)

    def parts(self, value: Object) -> Iterable[Object]:
        return value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else [value]

    def names(self) -> Iterable[tuple[str, Object]]:
        return asking_names().items()

    def numbers_now(self) -> Array | None:
        array = getattr(getattr(self.source, "_state", self.source), "array", None)
        return None if array is None or array.dtype.kind not in "biuf" else np.asarray(array, np.float64)

    def toward(self, row: int) -> TapeQuestion:
        return TapeQuestion(self.inquiry, self.source, self.name, row, left=True)

    sweep = None  # the rules alone are asked

    @property
    def tape(self) -> GradientTape:
        """The tape that is asked."""
        return self.inquiry.tape

    def at(self, site: Site, line: int) -> Site:
        return placed(site.place.at(line)) if isinstance(site, PlacedSite) else (site[0], line)

    def names_at(self, statement: Statement, site: Site) -> list[str]:
        place, binds = site.place if isinstance(site, PlacedSite) else None, statement.binds()
        part = statement.name_at(place.line, place.column) if place is not None and binds else ""
        return list(dict.fromkeys([part, *binds] if part else binds))

    def born_at(self, handle: Object) -> tuple[int, list[Site]]:
        if handle is None:
            return 0, []
        asked, origin = self.inquiry, self.inquiry.origin(handle)
        place = asked.origin_place(handle, False) if isinstance(handle, Tensor) else asked.creation_place(handle)
        return (0 if origin is None else origin.when), way_of(place)

    def _birth_of(self, row: int) -> tuple[int, list[Site]]:
        node = self.entries[row].node
        if node.variable is not None:
            return self.born_at(node.variable)
        return (0 if node.origin is None else node.origin.when), self.entries[row].way

    def _births(self, row: int) -> list[list[Site]]:
        variable = self.entries[row].node.variable
        ways = [self._birth_of(row)[1]]
        return ways if variable is None else [*ways, way_of(self.inquiry.origin_place(variable))]

    # -- words -------------------------------------------------------------------------------------

    def say(
        self,
        cause: str,
        site: Site = NOWHERE,
        row: int | None = None,
        what: str = "",
        other: str = "",
        kind: str = "",
        subject: Subject = None,
        broken: Break | None = None,
    ) -> Explanation:
        if broken is None and row is not None:
            broken = next(
                (b for _, b in self.recording.edges(row) if b is not None and SHARED.get(b.cause, b.cause) == cause),
                None,
            )
        place = site.place if isinstance(site, PlacedSite) else None
        if site is NOWHERE and row is not None:
            place = self.entries[row].place if broken is None else broken.place
        if subject is None:
            anew = row is None and cause in ("rebound", "wrong_object")
            subject = broken.subject if broken is not None else None if anew else self.source
        found = Break(TAPES.get(cause, cause), place, what or (broken.what if broken is not None else ""), subject)
        if broken is not None:
            found.until, row = broken.until, broken.row
        answer = in_words(found, self.name, self.source, self.inquiry)
        if broken is None and found.cause in AT_SOURCE and self.used:
            row = self._first_use()
        shown = [] if row is None or row < 0 else [row, *self.entries[row].inputs]
        nodes = (self.entries[one].node for one in shown)
        answer._rows = [node.row for node in nodes if node.record is self.inquiry.record][:1]
        return answer

    # -- edges -------------------------------------------------------------------------------------

    def _edges(self, row: int) -> list[tuple[int, Break | None]]:
        own = row in self.rows
        return [(given, None if own else broken) for given, broken in self.recording.edges(row)]

    def _break(self) -> Explanation | None:
        return self._cut()

    def _cut(self) -> Explanation | None:
        steps = self._search().path(self.used) or ()
        met = merge(with_flat_ones([self._in_a_pause(broken) for _, _, broken in steps if broken is not None]))
        if met and self._is_seed(met[0]):
            return self.say("independent")
        answers = list(map(self._blamed, met))
        if met and self._is_not_watched_either():
            answers.insert(1, self.say("not_watched", placed(met[0].place), subject=self.source))
        if met and self._is_copied(steps, met[0]):
            answers[0] = self.say("wrong_object", placed(met[0].place), subject=met[0].subject)
        for answer in answers[:1]:
            said = [(answer.cause, answer.filename, answer.line)]
            for other in answers[1:]:
                if (other.cause, other.filename, other.line) not in said:
                    said.append((other.cause, other.filename, other.line))
                    answer.others.append(other)
        return next(iter(answers), None)

    def _in_a_pause(self, broken: Break) -> Break:
        """An operation that no tape recorded, as paused where the text says so: a gradient leaves no rows in a
        pause.
        """
        if broken.cause == "outside_tape" and broken.place is not None and isinstance(broken.subject, ValueOrigin):
            paused = self.inquiry.in_pause(broken.place)
            return Break("recording_paused", broken.place, broken.what, broken.subject) if paused else broken
        return broken

    def _is_not_watched_either(self) -> bool:
        """Whether a tensor whose way breaks right at its first use is not watched either: then it wants both fixed."""
        first, node = self._first_break(), self.entries[self.used[0]].node
        outside = first is not None and first.cause in _TIMES and self.is_tensor(self.source)
        return outside and is_leaf(node) and not self.inquiry.is_on_tape(node) and not self.inquiry.was_watched(node)

    def _is_copied(self, steps: Iterable[tuple[int, int, Break | None]], first: Break) -> bool:
        """Whether a variable was created, before the block, as a copy of the source: another object was used."""
        made = first.subject
        if first.cause != "state" or not self.is_variable(self.source) or getattr(made, "kind", "") != "variable":
            return False
        before = takewhile(lambda step: step[2] is not first, steps)
        return not self.inquiry.after_tape(made) and all(self.entries[row].label in COPIES for row, _, _ in before)

    def _blamed(self, broken: Break) -> Explanation:
        """What is to be said of a break."""
        if broken.cause == "recording_paused" and isinstance(broken.subject, TapeNode) and broken.place is not None:
            broken = self.inquiry.called_in_pause(broken, broken.place, broken.subject)
        elif broken.cause == "outside_tape" and broken.what != "reset":
            moved = self._moved_by_name(broken.row)
            if moved is not None:
                return moved
            broken = self.inquiry.called_outside(broken)
        return self.say(SHARED.get(broken.cause, broken.cause), placed(broken.place), broken=broken)

    def _is_seed(self, broken: Break) -> bool:
        """Whether a break is the ones that a gradient inside a tf.function begins with: they are no part of a way."""
        if broken.cause != "nondifferentiable_op" or broken.what not in ("OnesLike", "ZerosLike"):
            return False
        return any(s.calls("gradient") for s, _ in [*self.inquiry.statements(broken.place)][:1])

    def _state(self, row: int, tape: Object) -> tuple[str, None]:
        outside = any(b is not None and b.cause in _TIMES for _, b in self.recording.edges(row))
        return "before" if outside else "records", None

    def _block_start(self) -> list[Site]:
        begins = self.inquiry.begins
        return way_of(CodePlace(begins[0][3])) if begins and begins[0][3] else [NOWHERE]

    def _after(self) -> set[int]:
        return self._computed_from(self.rows)

    def _time(self, row: int) -> Explanation | None:
        outside = (b for _, b in self.recording.edges(row) if b is not None and b.cause in _TIMES)
        broken = next(outside, None)
        return None if broken is None else self._blamed(broken)

    def _moved_by_name(self, row: int) -> Explanation | None:
        """What ran outside of the tape, and bound a name that had held a variable."""
        statement = statement_at(self.entries[row].site) if row >= 0 else None
        if (
            statement is None
            or not statement.reads_itself()
            or self._behind(self.entries[row].inputs).isdisjoint(self.used)
        ):
            return None  # it was not computed from the source
        ways = self.born_at(self.source)[1] if self.is_variable(self.source) else []
        made = {text for site in ways if (at := statement_at(site)) is not None for text in at.binds()}
        if self._was_variable(statement) or made.intersection(statement.binds()):
            return self.say(
                "rebound",
                self.at(self.entries[row].site, statement.line),
                what=statement.binds()[0],
                subject=self.source,
            )
        return None

    # -- at the source -----------------------------------------------------------------------------

    def _dtype(self) -> Explanation | None:
        if self.source.dtype.differentiable:
            return None
        place = self.inquiry.origin_place(self.source)
        return self.say("integer_dtype", self._use() if place is None else placed(place), what=self.source.dtype.name)

    def _own(self) -> Explanation | None:
        first = self._first_break()
        if first is not None and first.cause in _BEFORE_WATCHING:
            return None
        if self.used and not any(map(self._is_watched, self.used)):
            lost = self.inquiry.watched_too_late(self.source)
            if lost is not None:
                return self.say(lost.cause, placed(lost.place), what="watch")
            if isinstance(self.source, UnreadVariable):
                place = self.inquiry.origin_place(self.source)
                site = self._use() if place is None else placed(place)
                return self.say("rebound", site, what="of the variable", subject=self.source)
        return super()._own()

    def _first_break(self) -> Break | None:
        """The break of the first step; where it is inside a tf.function that of the call, for nothing in there was
        recorded.
        """
        for row, _, broken in self._search().path(self.used) or ():
            if broken is not None or self.entries[row].node.caller is None:
                return broken
        return None

    def _unwatched(self, leaf: int) -> Explanation:
        return self._rebound() or super()._unwatched(leaf)

    def _made_unwatched(self, made: Sequence[Site]) -> Explanation:
        return self._unwatched(self.used[0])

    def _made_with(self, word: str) -> Site:
        place = self.inquiry.creation_place(self.source)
        return self._use() if place is None else placed(place)

    def watched_late(self, row: int) -> Explanation:
        found = self.inquiry.watched_too_late(self.source)
        return super().watched_late(row) if found is None else self.say(found.cause, placed(found.place))

    def _not_accessed_at(self) -> Site:
        use, begin = self._use(), self._block_start()[-1]
        at, block = statement_at(use), statement_at(begin)
        return use if at is None or block is None or block in at.around else begin

    # -- what left ---------------------------------------------------------------------------------

    def _note_of(self, exit: RowExit) -> Object:
        return next(note for one, note in zip(self.recording.left, self.recording.notes, strict=True) if one is exit)

    def may_return(self, exit: RowExit) -> bool:
        """Whether the text lets a value that left reach an expression that one came in with."""
        return self.inquiry.arrived(self._note_of(exit))

    def _outside(self) -> Explanation | None:
        after = self._after() if not self.used and self.end is not None else set()
        found = [exit for exit in self.exits[::-1] if exit.row in after and self.may_return(exit)] if after else []
        reached = self._reached() if found[1:] else set()
        answers = map(self._left_at, sorted(found, key=lambda exit: exit.row not in reached)[:COMPARED])
        answer = next(answers, None)
        return None if answer is None else answer.with_beside(answers)

    def _left_at(self, exit: RowExit) -> Explanation:
        """What breaks the way to an exit, or the exit itself."""
        note = self._note_of(exit)
        left = self.say("left_through_numpy", exit.site, what=note.how, subject=note)
        cut = None if exit.row in self.rows else self.toward(exit.row)._cut()
        met = [left] if cut is None else [cut, *cut.others, left]
        blamed = next(one for one in met if one.cause in _BEFORE_EXITS)
        blamed.others = [one for one in met if one is not blamed]
        return blamed

    # -- another object ----------------------------------------------------------------------------

    def _is_in_a_layer(self, variable: Object) -> bool:
        return self.is_variable(variable) and self.inquiry.owners.of(variable) is not None

    def _same_values(self, row: int) -> bool:
        kind = self.entries[row].kind == "variable"
        if self.inquiry.trace.is_number(self.entries[row].node):
            return False  # one row for all of a recording
        return (
            kind == self.is_variable(self.source) and not self._is_in_a_layer(self.source) and super()._same_values(row)
        )

    def states(self, row: int) -> list[int]:
        return [row]

    def _tells(self, row: int, values: Array) -> bool:
        watched = any(self.inquiry.was_watched(self.entries[one].node) for one in (row, *self.rows[:1]))
        given = self.is_tensor(self.source) and self.inquiry.origin(self.source) is not None
        return super()._tells(row, values) or (watched and given)

    def _relatives(self) -> set[int]:
        tensor, record = self.is_tensor(self.source), self.inquiry.record
        mine = (self._behind(self.rows) - {*self.rows}) & self.behind
        nodes = [(row, self.entries[row].node) for row in mine]
        return {row for row, n in nodes if n.variable is not None or (tensor and n.record is record)}

    def _made_of_it(self) -> Explanation | None:
        """The same; another result of the same computation is simply not used, unless it is a copy or was watched."""
        entry = self.entries[self.rows[0]] if self.rows else None
        if entry is None or not (entry.label and entry.label not in COPIES) or self.inquiry.was_watched(entry.node):
            return super()._made_of_it()
        return super()._made_of_it() if any(map(self._same_values, self.behind)) else None

    def _mixed_up(self, row: int, otherwise: Site) -> Site:
        _, later = max(self.born_at(self.source), self._birth_of(row), key=itemgetter(0))
        return later[-1] if later else otherwise

    def _made_at(self, named: set[int]) -> Site:
        """Where the source was made; where what it was made of was used once it was watched."""
        node, record = self.entries[self.rows[0]].node, self.inquiry.record
        if self.is_variable(self.source):
            return next(reversed(self.born_at(self.handle(self.source))[1]), NOWHERE)
        since = self.tape.watched[node.row] if self.inquiry.was_watched(node) else len(record)
        for row in sorted(self.behind):
            user = self.entries[row]
            if user.node.record is record and user.node.row >= since and not named.isdisjoint(user.inputs):
                return user.site
        return placed(self.inquiry.origin_place(self.source))

    def anew(self, site: Site, name: str, row: int | None = None, made: bool = False) -> Explanation:
        return self.say(
            "rebound", site, what=name, subject=self.entries[row].node if made and row is not None else None
        )

    def _is_anew(self, row: int, when: int, other: int) -> bool:
        """Whether one was made in the block, and one before; in a loop; or the layer of the source is gone."""
        block, owners = min((note[2] for note in self.inquiry.begins), default=0), self.inquiry.owners
        ways = self.born_at(self.handle(self.source))[1]
        again = (other > block) != (when > block) or any(s.loops() for one in ways if (s := statement_at(one)))
        return bool(when) and (again or (owners.in_layer(self.source) and owners.of(self.source) is None))

    def _in_vain(self) -> Explanation | None:
        """A variable of a layer or module that was never called on the path to the target."""
        inquiry = self.inquiry
        untouched = self.is_variable(self.source) and not self.source._tape_rows(inquiry.tape)
        owner = inquiry.owners.of(self.source) if untouched else None
        if owner is None:
            return None
        used = {id(self.entries[row].asked) for row in self.behind if self.entries[row].node.variable is not None}
        if any(id(v) in used or v._tape_rows(inquiry.tape) for v in variables_of(owner)):
            return None  # it was called; it just does not use this variable for the target
        name, kind, place = getattr(owner, "name", None), type(owner).__name__, inquiry.construction(owner, self.source)
        bound = (at.at(s.line) for s, at in inquiry.statements(place) if binds_own(s))
        what = f"{name} ({kind})" if isinstance(name, str) else kind
        return self.say("unused_layer", placed(next(bound, place)), what=what)


def inside_python(tape: GradientTape, target: End, source: End) -> Break | None:
    """What breaks the way to an input of a ``tf.py_function`` inside of it; None where nothing does."""
    inquiry = GradientInquiry(tape, [target], [source])
    if inquiry.connected(source):
        return None
    found = TapeQuestion(inquiry, source, "").answer()
    advice = found._asked
    return Break(found.cause, None) if advice is None else Break(found.cause, advice.place, advice.what, advice.subject)


Trace.inside_python = staticmethod(inside_python)
