"""Reads a recording for pictures: rows as the snapshot has them (:mod:`minitape.snapshots`), in order, each once.

A reader may run in another thread than the recording. It takes only rows that are completely written, computes the
values of scalar rows for itself and changes nothing of the recording.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterable
from itertools import count
from types import CodeType, FrameType
from typing import Any

import numpy as np

from .custom import CUSTOM
from .dtypes import as_dtype
from .plan import on_tape
from .primitives.elementwise import BY_CODE, FIRST_CODE, scalar_table
from .record import CALL, LEAF, Record, place_of

MANY_ARRAYS = 2000
EMPTY = "r0"  # the name of a recording that has not begun
_numbers = count(1)
_MISSING = object()


class _Gone:
    """A tape that no longer exists, as far as its recording still knows it."""

    _recording, _used, _persistent, _watch_accessed_variables, _start, _record = False, True, False, True, 0, None

    def __init__(self, spans: list[tuple[int, int]]) -> None:
        self.spans, self.watched = spans, dict[int, int]()


def spaces(frame: FrameType | None = None) -> list[dict[str, Any]]:
    """Where to look for the Python names of tensors: the caller's variables, and those of the notebook or script."""
    found = [] if frame is None else [frame.f_locals, frame.f_globals]
    main = sys.modules.get("__main__")
    return found if main is None else [*found, vars(main)]


class Reader:
    """Reads one tape's recording from row 0 on. ``namespaces`` are dictionaries to find Python names of tensors in."""

    def __init__(self, tape: Any, namespaces: Iterable[dict[str, Any]] = ()) -> None:
        self.tape = tape
        self.namespaces = list(namespaces)
        self.record: Record | None = None
        self.name = ""
        self.values: list[Any] = []  # of the rows read, None where they are no scalars
        self.computed: dict[int, Any] = {}  # small arrays that the recording has not computed yet
        self.on: list[bytearray] = []  # for each tape, which rows are on it
        self.tapes: list[Any] = []
        self.files: set[str] = set()
        self._operations: dict[Any, dict[str, Any]] = {}
        self._places: dict[Any, tuple[str, int]] = {}
        self._shown: dict[int, tuple[Any, ...]] = {}  # what may still change of rows that were read

    # -- rows ---------------------------------------------------------------------------------------------------------

    def read(self, limit: int | None = None) -> list[dict[str, Any]]:
        """The rows that were written since the last call, at most ``limit`` of them."""
        if not self._start():
            return []
        record: Record = self.record  # type: ignore[assignment]
        self._find_tapes()
        rows: list[dict[str, Any]] = []
        first = len(self.values)
        cells = _cells(record, first, limit)
        with np.errstate(all="ignore"):
            for row, cell in enumerate(cells, first):
                value = self._value(row, cell)
                if value is _MISSING:
                    break
                self.values.append(value if row not in record.meta else None)
                rows.append(self._row(row, cell, value))
        return rows

    def read_ends(self, most: int) -> list[dict[str, Any]]:
        """At most ``most`` rows: the first and the last ones of a longer recording. Only in the recording's thread."""
        if not self._start():
            return []
        record: Record = self.record  # type: ignore[assignment]
        if len(record) <= most:
            return self.read()
        rows = self.read(most // 2)
        for tape, on in zip(self.tapes, self.on, strict=True):
            on[:] = on_tape(tape) if tape._record is record else bytearray(len(record))
        first = len(record) - most // 2
        tail = enumerate(_cells(record, first, None), first)
        return rows + [self._row(row, cell, record.value(row)) for row, cell in tail]

    def _start(self) -> bool:
        record = self.tape._record
        if record is None:
            return False
        if record is not self.record:
            self.record, self.values, self.on, self.tapes = record, [], [], []
            self.name = f"r{next(_numbers)}"
            self._shown, self.computed = {}, {}
        return True

    def _value(self, row: int, cell: tuple[int, int, int, int]) -> Any:
        """The value of a row; _MISSING while the row is still being written."""
        record: Record = self.record  # type: ignore[assignment]
        op, a, b, _ = cell
        if op >= FIRST_CODE:
            values = self.values
            if row in record.meta:  # small arrays
                return self._array(row, op, a, b)
            return scalar_table(record.real or np.float32)[op].forward(None, None, values[a], values[b])
        if op == CALL and a >= len(record.calls) and record.open:
            return _MISSING
        if op == LEAF and row not in record.leaves and record.open:
            return _MISSING
        if row in record.meta:
            return record.arrays.get(row)
        known = record.known.get(row)
        if known is not None:
            return known
        return record.values[row] if row < record.done else _MISSING if record.open else None

    def _array(self, row: int, op: int, a: int, b: int) -> Any:
        """The value of a row of small arrays; computed here where the recording has not needed it yet."""
        arrays = self.record.arrays  # type: ignore[union-attr]
        if row in arrays:
            return arrays[row]
        primitive = BY_CODE[op - FIRST_CODE]
        inputs = [arrays.get(r, self.computed.get(r, self.values[r])) for r in (a, b)[: len(primitive.rules)]]
        if any(i is None for i in inputs):
            return None
        self.computed[row] = primitive.forward(*inputs)
        return self.computed[row]

    def _row(self, row: int, cell: tuple[int, int, int, int], value: Any) -> dict[str, Any]:
        from .snapshots import show_value

        record: Record = self.record  # type: ignore[assignment]
        op, a, b, site = cell
        file, line = self._place(row, site)
        meta = record.meta.get(row)
        shown = show_value(value)
        result: dict[str, Any] = {"row": row, "value": shown, "line": line, "file": file}
        if meta is None:
            result["dtype"], result["shape"] = (record.real or np.float32).__name__, []
        else:
            result["dtype"], result["shape"] = as_dtype(meta[1]).name, list(meta[0])
        result["released"] = shown is None
        if op == LEAF:
            result |= self._leaf(row)
        elif op == CALL:
            result |= self._call(row, a, b)
        else:
            primitive = BY_CODE[op - FIRST_CODE]
            inputs = [a, b] if len(primitive.texts) > 2 else [a]
            result |= self._operation(primitive) | {"inputs": inputs, "output": 0, "call": row, "scope": []}
        self._mark(row, result)
        return result

    def _operation(self, primitive: Any) -> dict[str, Any]:
        """What the rows of a primitive have in common; the caller makes a new dictionary of it."""
        found = self._operations.get(primitive)
        if found is None:
            found = self._operations[primitive] = _operation(primitive)
        return found

    def _call(self, row: int, number: int, output: int) -> dict[str, Any]:
        record: Record = self.record  # type: ignore[assignment]
        if number >= len(record.calls):  # released with its tape
            return {"op": "call", "label": "released", "formula": "", "rule": [], "cut": None, "inputs": [],
                    "output": output, "call": row - output, "scope": [], "kind": "operation", "name": None,
                    "version": 0}  # fmt: skip
        call = record.calls[number]
        result = self._operation(call.primitive) | {"inputs": list(call.inputs), "output": output, "call": call.row}
        meta = record.meta.get(row)
        if result["cut"] is None and meta is not None and meta[1].kind in "biu":
            result["cut"] = "integer"
        if call.primitive is CUSTOM:
            result["label"] = call.attrs["call"].name
        return result | {"scope": list(call.scope)}

    def _leaf(self, row: int) -> dict[str, Any]:
        leaf = self.record.leaves.get(row)  # type: ignore[union-attr]
        result: dict[str, Any] = {"op": "leaf", "formula": "", "rule": [], "inputs": [], "output": 0, "call": row,
                                  "cut": None, "scope": [], "version": 0, "name": None}  # fmt: skip
        if leaf is None:
            return result | {"kind": "constant", "label": "const"}
        if leaf.variable is not None:
            name = leaf.variable.name
            return result | {"kind": "variable", "label": name, "name": name, "version": leaf.version}
        if leaf.number is not None:
            return result | {"kind": "constant", "label": "const"}
        return result | {
            "kind": "source" if self._watched(row) else "constant",
            "label": "x" if self._watched(row) else "const",
        }

    # -- tapes --------------------------------------------------------------------------------------------------------

    def _find_tapes(self) -> None:
        """All tapes of the recording in the order in which they were entered; of one that is gone, what is known."""
        record: Record = self.record  # type: ignore[assignment]
        for ref, spans in record.members[len(self.tapes) :]:
            self.tapes.append(ref() or _Gone(spans))
            self.on.append(bytearray(len(self.values)))
        if not self.tapes:
            self.tapes, self.on = [self.tape], [bytearray(len(self.values))]

    def _watched(self, row: int) -> bool:
        return any(row in tape.watched for tape in self.tapes)

    def _mark(self, row: int, result: dict[str, Any]) -> None:
        """Which tapes recorded this row, why it is watched, which sweep wrote it."""
        record: Record = self.record  # type: ignore[assignment]
        tapes, inside = [], False
        for number, (tape, on) in enumerate(zip(self.tapes, self.on, strict=True)):
            spans = [*tape.spans, (tape._start, row + 1)] if tape._recording else tape.spans
            within = any(first <= row < last for first, last in spans)
            inside |= within
            if row >= len(on):
                on.append(row in tape.watched or (within and self._follows(row, result, tape, on)))
            if on[row]:
                tapes.append(number)
        operation = result["kind"] == "operation"
        result["tapes"] = tapes
        result["watched"] = self._why_watched(row, result)
        ghost = operation and not tapes
        result["status"] = "ghost" if ghost else "recorded"
        if ghost and not inside and any(first < row for tape in self.tapes for first, _ in tape.spans) and record.open:
            result["cut"] = "paused"
        result["by"] = self._by(row)
        result["cell"] = None
        if not operation:
            self._shown[row] = (result["watched"], result["kind"], tuple(tapes), result["name"])

    def _follows(self, row: int, result: dict[str, Any], tape: Any, on: bytearray) -> bool:
        """True when an operation reads something that is on the tape by then."""
        record: Record = self.record  # type: ignore[assignment]
        return result["kind"] == "operation" and any(
            (on[i] or tape.watched.get(i, row + 1) <= row) and _carries(record, i) for i in result["inputs"] if i < row
        )

    def _why_watched(self, row: int, result: dict[str, Any]) -> str | None:
        tapes = [tape for tape in self.tapes if row in tape.watched]
        if not tapes:
            return None
        if result["kind"] == "variable" and any(tape._watch_accessed_variables for tape in tapes):
            return "automatic"
        return "explicit"

    def _by(self, row: int) -> int | None:
        found = None
        for first, member in self.record.by_marks:  # type: ignore[union-attr]
            if first > row:
                break
            found = member
        return found

    # -- what may change after a row was read -------------------------------------------------------------------------

    def changes(self) -> list[dict[str, Any]]:
        """Parts of rows read earlier that are different now: leaves that were watched late, names."""
        changed = []
        for row, before in list(self._shown.items()):
            watched = self._watched(row)
            kind = before[1]
            if kind in ("source", "constant") and self.record.leaves.get(row) is not None:  # type: ignore[union-attr]
                leaf = self.record.leaves[row]  # type: ignore[union-attr]
                kind = "source" if watched and leaf.number is None else "constant"
            tapes = tuple(k for k, tape in enumerate(self.tapes) if row in tape.watched)
            why = self._why_watched(row, {"kind": kind})
            now = (why, kind, tapes, before[3])
            if now != before:
                self._shown[row] = now
                changed.append({"row": row, "watched": why, "kind": kind, "tapes": list(tapes)})
        return changed

    def names(self) -> dict[int, str]:
        """Python names of rows, as far as the namespaces hold their tensors."""
        found: dict[int, str] = {}
        record = self.record
        if record is None:
            return found
        for space in self.namespaces:
            for name, value in list(space.items()):
                if isinstance(name, str) and not name.startswith("_") and hasattr(type(value), "_lane"):
                    row = record.find(value)
                    if row is not None:
                        found.setdefault(row, name)
        return found

    def name_rows(self, rows: list[dict[str, Any]]) -> None:
        """Puts Python names into rows that have none."""
        names = self.names()
        for row in rows if names else ():
            if row["name"] is None:
                row["name"] = names.get(row["row"])

    # -- around the rows ----------------------------------------------------------------------------------------------

    def frame_of(self, rows: list[dict[str, Any]], first: int) -> dict[str, Any]:
        """The snapshot around these rows, without a sweep."""
        return {
            "version": 1,
            "record": self.name or EMPTY,
            "first": first,
            "total": 0 if self.record is None else len(self.record),
            "rows": rows,
            "events": self._events(),
            "tapes": [self._tape(k, tape) for k, tape in enumerate(self.tapes or [self.tape])],
            "sources_text": {file: text for file in sorted(self.files) if (text := "".join(linecache.getlines(file)))},
            "sweep": None,
        }

    def _tape(self, number: int, tape: Any) -> dict[str, Any]:
        record = self.record
        spans = [list(span) for span in tape.spans]
        if tape._recording:
            spans.append([tape._start, max(tape._start, len(record) if record is not None else 0)])
        state = "recording" if tape._recording else "used" if tape._used else "closed"
        held = 0
        if record is not None:
            held = 20 * sum(b - a for a, b in spans)
            if not tape._recording or len(record.arrays) < MANY_ARRAYS:  # counting must not slow a recording down
                arrays = list(record.arrays.items())
                held += sum(a.nbytes for row, a in arrays if any(low <= row < high for low, high in spans))
        if type(tape) is _Gone or (state == "used" and held == 0):
            state, held = "released", 0
        return {"id": number, "name": self._tape_name(tape, number), "persistent": tape._persistent, "state": state,
                "spans": spans, "bytes": held}  # fmt: skip

    def _tape_name(self, tape: Any, number: int) -> str:
        for space in self.namespaces:
            for name, value in list(space.items()):
                if value is tape and not name.startswith("_"):
                    return name
        return "tape" if len(self.tapes) < 2 else f"tape {number + 1}"

    def _events(self) -> list[dict[str, Any]]:
        record = self.record
        if record is None:
            return []
        events: list[dict[str, Any]] = []
        for event in list(record.events):
            site = event.site
            line = place_of(*site)[1] if site is not None else None
            if event.kind.startswith("assign"):
                variable, version, _ = event.subject
                states = dict.get(record.variables, id(variable), (None, []))[1]
                rows = {record.leaves[r].version: r for r in list(states) if r in record.leaves}
                events.append({"kind": "assign", "name": variable.name, "line": line} | _known(
                    {"from": rows.get(version), "to": rows.get(version + 1)}))  # fmt: skip
            elif event.kind in ("numpy", "watch", "watch_ignored", "pause", "resume"):
                subject = event.subject[1] if event.kind == "watch" else None
                if event.kind == "numpy":
                    subject = event.subject
                events.append({"kind": event.kind, "line": line} | _known({"row": subject}))
        return events

    def _place(self, row: int, site: int) -> tuple[str | None, int | None]:
        """(file, line) of the statement behind a row; each place in the code is looked up once."""
        record: Record = self.record  # type: ignore[assignment]
        segments = record.segments
        low, high = 0, len(segments)
        if not high or row < segments[0][0]:
            return None, None
        while high - low > 1:
            middle = (low + high) >> 1
            low, high = (middle, high) if segments[middle][0] <= row else (low, middle)
        _, code, fixed = segments[low]
        key: tuple[CodeType, int] = (code, site if fixed is None else fixed)
        found = self._places.get(key)
        if found is None:
            found = self._places[key] = place_of(*key)[:2]
            self.files.add(found[0])
        return found


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _operation(primitive: Any) -> dict[str, Any]:
    """What a row of this primitive says about it."""
    texts = primitive.texts
    cut = None
    if primitive.name == "stop_gradient":
        cut = "stop_gradient"
    elif primitive.rules is None:
        cut = "no_gradient_registered" if primitive.missing == "unregistered" else "nondifferentiable"
    elif not callable(primitive.rules) and all(rule is None for rule in primitive.rules):
        cut = "nondifferentiable"
    return {
        "op": primitive.name, "label": primitive.label, "formula": texts[0] if texts else "",
        "rule": ["" if t == "-" else t for t in texts[1:]], "kind": "operation", "name": None, "version": 0, "cut": cut,
    }  # fmt: skip


def _carries(record: Record, row: int) -> bool:
    """True when gradients flow through values of this row's dtype."""
    meta = record.meta.get(row)
    return meta is None or meta[1].kind in "fcV"


def _cells(record: Record, start: int, limit: int | None) -> list[tuple[int, int, int, int]]:
    """(op, a, b, site) of the rows from ``start`` on; right also while another thread appends."""
    while True:
        base = record.base
        blocks = list(record.blocks)
        pending = record.pending[: (len(record.pending) >> 2) << 2]
        if record.base == base:
            break
    cells: list[tuple[int, int, int, int]] = []
    stop = base + (len(pending) >> 2)
    if limit is not None:
        stop = min(stop, start + limit)
    for first, block in blocks:
        low, high = max(first, start), min(first + len(block), stop, base)
        if low < high:
            cells.extend(map(tuple, block[low - first : high - first].tolist()))
    low = max(start, base)
    if low < stop:
        flat = pending[(low - base) << 2 : (stop - base) << 2]
        cells.extend(zip(flat[0::4], flat[1::4], flat[2::4], flat[3::4], strict=True))
    return cells
