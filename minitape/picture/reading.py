"""Reads a recording for pictures: rows as the snapshot has them (:mod:`.snapshots`), in order, each once.

A reader may run in another thread than the recording. It takes only rows that are completely written, and changes
nothing of the recording.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable
from itertools import count
from types import CodeType, FrameType
from typing import TYPE_CHECKING, TypeAlias

from ..engine.back.marks import differentiable
from ..engine.back.reach import on_tape
from ..engine.derivatives.custom import CUSTOM
from ..engine.derivatives.forward import ForwardTape
from ..engine.recording.array_spec import ArraySpec
from ..engine.recording.record import Record
from ..engine.recording.rows import CALL, LEAF, REALS
from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE
from ..engine.values.dtypes import as_dtype
from ..recording.held import held_bytes
from ..recording.names import named_values
from ..recording.nodes import operation_of
from ..recording.sites import lines_of, place_of
from .events import events_of
from .readable import of_arrays
from .replay import is_small, recomputed
from .rows import Around, PictureRow, fields_of, first_of, last_of, number_of
from .short import short_lines, short_name
from .values import pack_value, show_value

if TYPE_CHECKING:
    from ..engine.back.tape import GradientTape
    from ..engine.recording.rows import Leaf
    from ..engine.types import Array, Columns, Object, Structure
    from .fields import EventFields, Fields, Inside, Kind, Snapshot, TapeFields

ITEMS = 64  # of a list in which variables are looked for
EMPTY = "r0"  # the name of a recording that has not begun
_numbers = count(1)
_NAMELESS = re.compile(r"(.*/)?Variable(_\d+)?:0").fullmatch  # the name of a variable that was given none
_FAR = 1 << 62  # behind every row


class _Gone:
    """A tape that no longer exists, as far as its recording still knows it."""

    _recording, _used, _persistent, _watch_accessed_variables, _start, _record = False, True, False, True, 0, None

    def __init__(self, spans: list[tuple[int, int]], watched: dict[int, int]) -> None:
        self.spans, self.watched = spans, watched


_Tape: TypeAlias = "GradientTape | _Gone"


TURNED = ("transpose_a", "transpose_b", "perm")  # arguments that a row's label and formula say


def spaces(frame: FrameType | None = None) -> list[dict[str, object]]:
    """Where to look for the Python names of tensors: the caller's variables, and those of the notebook or script."""
    found = []
    if frame is not None:
        own = frame.f_locals
        # from Python 3.13 on, a function's variables are a view of its frame, which keeps those of all callers alive
        found = [own if isinstance(own, dict) else dict(own), frame.f_globals]
        if frame.f_code.co_name.endswith("comp>"):  # before Python 3.12 a function of its own
            found += spaces(frame.f_back)
    main = sys.modules.get("__main__")
    return found if main is None else [*found, vars(main)]


def followed(tape: Object) -> Object:
    """The tape of a ``ForwardAccumulator``; anything else as it is."""
    own = getattr(tape, "_tape", None)
    return own if hasattr(own, "owner") and hasattr(own, "spans") else tape


def reader_of(tape: Object, namespaces: Iterable[dict[str, object]], who: str) -> Reader:
    """The reader of a tape, or the one that the recording of another framework brings (:mod:`minitape.bridges`)."""
    if hasattr(tape, "picture_reader"):
        return tape.picture_reader(namespaces)
    if not hasattr(tape, "watched") or not hasattr(tape, "spans"):
        raise TypeError(f"{who} a tf.GradientTape, but received {tape!r} of type {type(tape).__name__!r}.")
    return Reader(tape, namespaces)


def replaced_rows(record: Record) -> list[int]:
    """The operations inside of functions with a gradient of their own, which takes the place of theirs; but for those
    that another row reads.
    """
    inside: set[int] = set()
    for call in record.calls:
        if call.primitive is CUSTOM and (scope := last_of(record.scopes, call.row, ())):
            others = [k for k, (row, one) in enumerate(record.scopes) if row <= call.row and one[: len(scope)] != scope]
            begin = record.scopes[others[-1] + 1 if others else 0][0]
            inside.update(row for row in range(begin, call.row) if record.cell(row)[0] != LEAF)
    for row in range(len(record) - 1 if inside else -1, -1, -1):
        if row not in inside:
            inside.difference_update(operation_of(record, row)[1])
    return sorted(inside)


class Reader:
    """Reads one tape's recording from row 0 on. ``namespaces`` are dictionaries to find Python names of tensors in."""

    def __init__(self, tape: Object, namespaces: Iterable[dict[str, object]] = ()) -> None:
        self.tape: GradientTape = tape
        self.namespaces = list(namespaces)
        self.record: Record | None = None
        self.held: dict[int, Array] = {}  # arrays by row that the recording released, and a caller has
        self.name = ""
        self.count = 0  # of the rows read
        self.on: list[int] = []  # of the rows read: bits of the tapes to which a row that reads it belongs
        self.tapes: list[_Tape] = []
        self.files: dict[str, None] = {}  # in the order of their first rows
        self._forms: dict[Hashable, dict[Hashable, Fields]] = {}
        self._versions: dict[int, int] = {}  # the one of each variable when the recording met it
        self._noted = 0  # events that were looked at
        self._watched_at: dict[int, int] = {}  # bits of the tapes that watch a row
        self._watches: list[tuple[int, int, int]] = []  # (from which row on, the watched row, bit of the tape)
        self._borders: list[int] = []
        self._shown: dict[int, Fields] = {}  # what may still change of leaves that were read

    # -- rows --------------------------------------------------------------------------------------

    def read(self, limit: int | None = None) -> list[PictureRow]:
        """The rows that were written since the last call, at most ``limit`` of them."""
        record = self._start()
        if record is None:
            return []
        cells = record.columns(self.count, None if limit is None else self.count + limit)
        self._look_around()  # after the rows were taken: what holds for them is known by then
        return self._read(record, cells)

    def _read(self, record: Record, cells: Columns) -> list[PictureRow]:
        rows: list[PictureRow] = []
        on, watched = self.on, self._watched_at
        around, end = None, self.count
        for row, op, a, b, _, site, value in zip(range(end, end + len(cells[0])), *cells, strict=True):
            if around is None or row >= end:
                around = self._around(row)
                end, forms, within = around.end, around.forms, around.within
            if op < FIRST_CODE or row in watched or type(value) not in REALS:
                if record.open and op == LEAF and row not in record.leaves:
                    break  # the recording has written the row, but not yet what belongs to it
                rows.append(self._row(row, (op, a, b, site), value, around))
            else:
                tapes = (on[a] | on[b]) & within
                on.append(tapes)
                form = forms.get((op, site, tapes, type(value)))
                if form is None:
                    form = forms[op, site, tapes, type(value)] = self._form(row, (op, a, b, site), around, tapes)
                rows.append(PictureRow(row, form, a, b if len(form["rule"]) > 1 else -1, pack_value(value)))
            self.count += 1
        return rows

    def read_ends(self, most: int) -> list[PictureRow]:
        """At most ``most`` rows: the first and the last ones of a longer recording. Only in the recording's thread."""
        record = self._start()
        if record is None:
            return []
        if len(record) <= most:
            return self.read()
        rows = self.read(most // 2)
        self.count = first = len(record) - most // 2
        self.on = [0] * first
        for bit, tape in enumerate(self.tapes):
            if tape._record is record:
                self.on = [o | (t << bit) for o, t in zip(self.on, on_tape(tape), strict=False)]
        return rows + self._read(record, record.columns(first))

    def recompute(self, asked: bool = False) -> None:
        """Computes the arrays again that the recording released, where they are small, or it was asked for. The rows
        that were read before are to be read again.
        """
        record = self.tape._record
        if record is None or record.open or not (asked or is_small(record)):
            return
        for row, value in recomputed(record).items():
            self.held.setdefault(row, value)

    def _start(self) -> Record | None:
        record = self.tape._record
        if record is None:
            return None
        if record is not self.record:
            self.record, self.count, self.on, self.tapes = record, 0, [], []
            self.name = f"r{next(_numbers)}"
            self._shown, self._forms, self._versions, self._noted = {}, {}, {}, 0
        return record

    @property
    def _known(self) -> Record:
        """The recording, once there is one."""
        assert self.record is not None
        return self.record

    def _row(self, row: int, cell: tuple[int, int, int, int], value: Array, around: Around) -> PictureRow:
        """A row that is no operation on numbers alone."""
        record = self._known
        primitive, inputs = operation_of(record, row)
        call = record.call_at(row)
        spread = 0
        for i in inputs:
            spread |= self.on[i] if i < row else 0
        tapes = (spread & around.within) | self._watched_at.get(row, 0)
        self.on.append(tapes if differentiable(record, row) else 0)
        if type(value) is ArraySpec:
            value = self.held.get(row, value)
        shown = None if type(value) is ArraySpec else pack_value(value)
        released: Fields = {"released": shown is None}
        if primitive is None:
            form = self._form(row, cell, around, tapes) | released
            self._shown[row] = self._leaf_state(row)
            return PictureRow(row, form, inputs, None, shown)
        own: Fields = {"call": call.row, "output": row - call.row} if call is not None and call.outputs > 1 else {}
        turned = [call.attrs.get(name) for name in TURNED] if call is not None else ()
        key = (primitive, *turned, cell[3], tapes, value.shape, value.dtype, shown is None, row in self._watched_at)
        found = around.forms.get(key)
        # the label is the function's name
        if found is None or primitive is CUSTOM or primitive.name == "function":
            found = around.forms[key] = self._form(row, cell, around, tapes) | released
        if inputs and tapes and found["cut"] is None and not any(differentiable(record, i) for i in inputs):
            own["cut"] = "integer"
        return PictureRow(row, found, inputs, None, shown, own or None)

    def _form(self, row: int, cell: tuple[int, int, int, int], around: Around, tapes: int) -> Fields:
        """What a row has in common with those of the same operation at the same place on the same tapes."""
        record = self._known
        op, _, _, site = cell
        file, line = self._place(around.place, site)
        shape, dtype = record.shape_dtype(row)
        form: Fields = {
            "line": line,
            "file": file,
            "site": max(site, 0),
            "dtype": as_dtype(dtype).name,
            "shape": list(shape),
            "output": 0,
        }
        if op == LEAF:
            form |= self._leaf(row)
        elif op == CALL:
            form |= self._call(row)
        else:
            form |= fields_of(BY_CODE[op - FIRST_CODE])
        operation = form["kind"] == "operation"
        ghost = operation and not tapes
        if ghost and around.outside and record.open:
            form["cut"] = "paused"
        return {
            **form,
            "released": False,
            "scope": [short_name(part) for part in around.scope] if operation else [],
            "by": around.by,
            "tapes": [k for k in range(len(self.tapes)) if tapes >> k & 1],
            "watched": self._why_watched(row, form["kind"]),
            "status": "ghost" if ghost else "recorded",
        }

    def _call(self, row: int) -> Fields:
        record = self._known
        call = record.call_at(row)
        result = fields_of(call.primitive)
        if result["cut"] is None and record.shape_dtype(row)[1].kind in "biu":
            result["cut"] = "integer"
        result["said"] = result["said"] or of_arrays(call.primitive.name, call.attrs, len(record.shape_dtype(row)[0]))
        if call.primitive is CUSTOM:
            result["label"] = short_name(call.attrs["call"].name)
        elif call.primitive.name == "function" and "recording" in call.attrs:
            result["label"] = short_name(call.attrs["recording"].name)
        elif call.primitive.name == "matmul":  # which factor it transposes
            left, right = ("ᵀ" * bool(call.attrs.get(f"transpose_{side}")) for side in "ab")
            result["label"] = f"{left}@{right}"
        return result

    def _leaf(self, row: int) -> Fields:
        leaf = self._known.leaves.get(row)
        result: Fields = {"op": "leaf", "formula": "", "rule": [], "cut": None, "version": 0, "name": None}
        if leaf is None:
            return {**result, "kind": "constant", "label": "const"}
        if leaf.variable is not None:
            label = short_name(leaf.variable.name)
            name = None if _NAMELESS(label) else label
            version = leaf.version - self._first_version(leaf)
            return {**result, "kind": "variable", "label": label, "name": name, "version": version}
        if leaf.number is not None:
            return {**result, "kind": "constant", "label": "const", "literal": True}
        watched = any(row in tape.watched for tape in self.tapes)
        return {**result, "kind": "source" if watched else "constant", "label": "x" if watched else "const"}

    def _first_version(self, leaf: Leaf) -> int:
        """The version of a variable when the recording first read or assigned it."""
        events = self._known.events
        for event in events[self._noted :]:
            if event.kind.startswith("assign"):
                self._versions.setdefault(id(event.subject[0]), event.subject[1])
        self._noted = len(events)
        return self._versions.setdefault(id(leaf.variable), leaf.version)

    # -- what holds around a row -------------------------------------------------------------------

    def _look_around(self) -> None:
        """All tapes of the recording in the order in which they were entered; of one that is gone, what is known.

        Also where something changes: a tape begins or ends, watches, or writes its gradient; a name scope opens.
        """
        record = self._known
        for ref, spans, watched in record.members[len(self.tapes) :]:
            self.tapes.append(ref() or _Gone(spans, watched))
        if not self.tapes:
            self.tapes = [self.tape]
        borders = {first_of(writer) for writer in record.writers} | {first for first, _ in record.scopes}
        self._watched_at, watches = {}, []
        for bit, tape in enumerate(self.tapes):
            borders.update(end for span in tape.spans for end in span)
            borders.add(tape._start)
            for row, since in list(tape.watched.items()):
                self._watched_at[row] = self._watched_at.get(row, 0) | (1 << bit)
                watches.append((since, row, 1 << bit))
        self._watches = sorted(watches, reverse=True)
        self._borders = sorted(borders.union(since for since, _, _ in watches))

    def _around(self, row: int) -> Around:
        """What holds at a row; and from now on the rows that are watched by then count as watched."""
        record = self._known
        segments = record.segments
        at = bisect_right(segments, row, key=first_of)
        next_segment = segments[at][0] if at < len(segments) else _FAR
        border = bisect_right(self._borders, row)
        end = min(next_segment, self._borders[border] if border < len(self._borders) else _FAR)
        within, begun = 0, False
        for bit, tape in enumerate(self.tapes):
            spans = [*tape.spans, (tape._start, _FAR)] if tape._recording else tape.spans
            within |= any(first <= row < last for first, last in spans) << bit
            begun |= any(first < row for first, _ in tape.spans)
        while self._watches and self._watches[-1][0] <= row:
            _, seen, bits = self._watches.pop()
            self.on[seen] |= bits
        place = segments[at - 1][1:] if at else None
        by, scope = last_of(record.writers, row, None), last_of(record.scopes, row, ())
        outside = begun and not within
        forms = self._forms.setdefault((place, by, scope, within, outside), {})
        return Around(end, place, by, scope, within, outside, forms)

    def _leaf_state(self, row: int) -> Fields:
        """What may still change of a leaf."""
        kind = self._leaf(row)["kind"]
        tapes = [k for k, tape in enumerate(self.tapes) if row in tape.watched]
        return {"row": row, "kind": kind, "tapes": tapes, "watched": self._why_watched(row, kind)}

    def _why_watched(self, row: int, kind: Kind) -> str | None:
        tapes = [tape for tape in self.tapes if row in tape.watched]
        automatic = kind == "variable" and any(tape._watch_accessed_variables for tape in tapes)
        return "automatic" if automatic else "explicit" if tapes else None

    def _place(self, place: tuple[CodeType, int | None] | None, site: int) -> tuple[str | None, int | None]:
        """(file, line) of the statement behind a row."""
        if place is None:
            return None, None
        code, fixed = place
        file, line = place_of(code, site if fixed is None else fixed)
        self.files[file] = None
        return file, line

    # -- what may change after a row was read ------------------------------------------------------

    def changes(self) -> list[Fields]:
        """Parts of rows read earlier that are different now: leaves that were watched late."""
        found = []
        for row, before in list(self._shown.items()):
            if (now := self._leaf_state(row)) != before:
                self._shown[row] = now
                found.append(now)
        return found

    def names(self) -> dict[int, str]:
        """Python names of rows, as far as the namespaces hold their tensors or variables."""
        record = self.record
        if record is None:
            return {}
        states = {key: rows for key, (_, rows) in list(record.variables.items())}
        known: list[tuple[str, Object]] = [*named_values(self.namespaces)]
        known += [
            (f"{name}[{k}]", item)
            for name, value in known
            if type(value) in (list, tuple) and len(value) <= ITEMS and name != "In"
            for k, item in enumerate(value)
            if id(item) in states
        ]
        found: dict[int, str] = {}
        for name, value in known:
            # a tensor, and not another object of the user's
            is_tensor = hasattr(type(value), "_row") and hasattr(value, "_record")
            row = record.find(value) if is_tensor else None
            for one in states.get(id(value), ()) if row is None else (row,):
                found.setdefault(one, name)
        return found

    def name_rows(self, rows: list[PictureRow]) -> list[Fields]:
        """Puts Python names into rows that have none, and into each what later rows say of it; returns these parts."""
        named: list[Fields] = [{"row": row, "name": name} for row, name in self.names().items()]
        return _change(rows, [*self.changes(), *named])

    def know_the_end(self, rows: list[PictureRow]) -> list[Fields]:
        """Puts into all rows what is known when nothing records any more, and returns these parts of rows: tangents,
        where a ForwardAccumulator followed, what a gradient of one's own replaced, and of rows that a gradient wrote
        where they are drawn, and their names.
        """
        from .storeys import written_rows
        from .tangents import tangents_of

        if self.record is None or self.record.open:
            return []
        parts: list[Fields] = [
            {"row": row, "tangent": show_value(value)} for row, value in tangents_of(self.record, self.tapes).items()
        ]
        if isinstance(self.record, Record):  # and not that of another framework
            parts += [{"row": row, "status": "ghost"} for row in replaced_rows(self.record)]
            parts += written_rows(self.record, rows)
        return _change(rows, parts)

    def insides(self, target: Structure = None, sources: Structure = None, row: int | None = None) -> list[Inside]:
        """The INSIDEs of the first calls of functions, or of the one at ``row``, with the last sweep through each."""
        from .inside import insides_of

        return insides_of(self, target, sources, row)

    # -- around the rows ---------------------------------------------------------------------------

    lines_of = staticmethod(lines_of)  # a recording that was kept has lines of its own

    def frame_of(self, rows: list[Object], first: int) -> Snapshot:
        """The snapshot around these rows, without a sweep."""
        return {
            "version": 1,
            "record": self.name or EMPTY,
            "first": first,
            "total": len(self.record or ()),
            "rows": rows,
            "events": self._events(),
            "tapes": [self._tape(k, tape) for k, tape in enumerate(self.tapes or [self.tape])],
            "sources_text": {file: text for file in self.files if (text := short_lines(self.lines_of(file)))},
            "sweep": None,
            "results": [],
        }

    def _tape(self, number: int, tape: _Tape) -> TapeFields:
        spans = [list(span) for span in tape.spans]
        if tape._recording:
            spans.append([tape._start, max(tape._start, len(self.record or ()))])
        state = "recording" if tape._recording else "used" if tape._used else "closed"
        held = 0 if self.record is None else held_bytes(self.record, spans)
        if type(tape) is _Gone or (state == "used" and not held):
            state, held = "released", 0
        return {
            "id": number,
            "name": self._tape_name(tape, number),
            "persistent": tape._persistent and not isinstance(tape, ForwardTape),
            "state": state,
            "spans": spans,
            "bytes": held,
        }

    def _tape_name(self, tape: _Tape, number: int) -> str:
        names = (name for name, value in named_values(self.namespaces) if followed(value) is tape)
        return next(names, "tape" if len(self.tapes) < 2 else f"tape {number + 1}")

    def _events(self) -> list[EventFields]:
        return [] if self.record is None else events_of(self.record)


def _change(rows: list[PictureRow], parts: Iterable[Fields]) -> list[Fields]:
    """Puts parts into their rows, but names into those that have none; returns those parts."""
    found = []
    for part in parts:
        k = bisect_left(rows, part["row"], key=number_of)
        here = k < len(rows) and rows[k].row == part["row"]
        if here and ("name" not in part or rows[k].get("name") is None):
            rows[k].change(part)
            found.append(part)
    return found
