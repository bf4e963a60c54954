"""What another framework computed, as pictures read it. No framework is known here: a bridge writes, a picture reads.

A bridge adds a row for each leaf and each operation, and for each backward pass a :class:`BackwardPass`: the
adjoint that arrived at a row, and what the row's operation sent to its inputs. ``docs/bridges.md`` writes one by hand.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, cast

from ..picture.diagnosis import wrong_with
from ..picture.fields import Kind, ResultFields, SweepFields
from ..picture.reading import Reader, spaces
from ..recording.rows import BackwardPass, RowExit
from ..recording.sites import NOWHERE, Site, lines_of
from .pictures import RecordingReader, RecordingSteps, results_of, slim
from .rows import RowNumber as RowNumber

MOST = 20_000  # rows


@dataclass(slots=True, eq=False)
class RecordingEntry:
    """One row: a leaf or a result of an operation. A bridge may keep more about it in ``extra``."""

    row: int
    op: str
    label: str
    kind: Kind
    value: Any
    site: Site = NOWHERE
    differentiable: bool = True  # on the way of a gradient
    name: str | None = None
    version: int = 0
    inputs: list[int] = field(default_factory=list)
    call: int = 0  # of several results of one call the first row
    output: int = 0
    dtype: str = ""
    shape: Sequence[int] = ()
    scope: Sequence[str] = ()
    cut: str | None = None  # why no gradient passes
    watched: str | None = None
    tangent: Any = None  # a value, too, where the framework went forward
    extra: Any = None

    @property
    def why(self) -> str:
        """Why no gradient passes; empty where one does."""
        return self.extra.why

    @property
    def came(self) -> Sequence[int]:
        """The rows with whose values a leaf was made."""
        return self.extra.came


WATCHED = {"torch": "requires_grad", "jax": "argument"}  # why a gradient goes to a leaf, in the framework's words


class Recording:
    """What a program in another framework computed. ``TapeView``, ``tf.draw`` and ``tf.snapshot`` take it for a tape.

    >>> recording = Recording("by hand")
    >>> x = recording.leaf(3.0, name="x")
    >>> y = recording.operation("square", [x], 9.0, label="x²")
    >>> sweep = recording.sweep([y])
    >>> sweep.arrive(y, 1.0)
    >>> sweep.send(y, x, 0, 6.0, 6.0)
    >>> sweep.arrive(x, 6.0)
    >>> recording.close()
    >>> recording.snapshot()["sweep"]["gradients"]
    [{'text': '6.0', 'data': 6.0}]
    """

    def __init__(self, framework: str) -> None:
        self.framework = framework
        self.failure: Exception | None = None  # the mistake of the bridge's own that ended it early
        self.entries: list[RecordingEntry] = []
        self.sweeps: list[BackwardPass] = []
        self.events: list[dict] = []
        self.left: list[RowExit] = []
        self.failed: list[int] = []  # from which rows the last backward pass began, if it failed
        self.left_out = 0  # operations after the first MOST rows
        self.is_rerun = False  # of a compiled step, up to its gradient: no optimizer takes a step
        self.made_up = False  # it ran with stand-ins: its shapes say something, its numbers nothing
        self.watched: dict[int, int] = {}
        self.listeners: list[Callable[[], None]] = []
        self.rules: dict[int, Any] = {}  # those of minitape's own table for rows that pictures showed
        self.names_of_sources: dict | None = None
        self.rows_read: list[Any] | None = None  # as explain reads them, once it is closed
        # what a picture asks of a tape (minitape/picture): a recording shows its rows when it is complete
        self._persistent = self.large = self.open = self._used = False
        self._recording = True
        self._record: Recording | None = None
        self.spans: list[tuple[int, int]] = []
        self.last: Any = None

    # -- writing -----------------------------------------------------------------------------------

    def leaf(self, value: Any, *, name: str | None = None, kind: Kind = "source", **more: Any) -> int:
        """A row for a value that no recorded operation made; returns its number. ``kind`` is source, variable or
        constant; ``more`` are fields of :class:`RecordingEntry`.
        """
        row, label = len(self.entries), "const" if kind == "constant" else (name or "x")
        entry = RecordingEntry(row, "leaf", label, kind, value, name=name, call=row, **more)
        if entry.differentiable:
            own = "automatic" if kind == "variable" else "explicit"
            entry.watched = WATCHED.get(self.framework, own)
        self.entries.append(entry)
        return row

    def operation(
        self, op: str, inputs: Sequence[int], value: Any, *, label: str = "", call: int | None = None, **more: Any
    ) -> int:
        """A row for a result of an operation on earlier rows; returns its number.

        Several results of one call have its first row as ``call``. ``cut`` says why no gradient passes; it and other
        fields of :class:`RecordingEntry` are ``more``.
        """
        row = len(self.entries)
        own = row if call is None else call
        entry = RecordingEntry(row, op, label or op, "operation", value, inputs=list(inputs), call=own, **more)
        self.entries.append(entry)
        return row

    def leave(self, row: int, how: str, site: Site) -> None:
        """A value leaves the framework."""
        self.left.append(RowExit(row, how, site, len(self.entries)))
        self.events.append({"kind": "numpy", "row": row, "line": site[1]})

    def sweep(self, target: Sequence[int] = ()) -> BackwardPass:
        """A new backward pass."""
        self.sweeps.append(BackwardPass(target))
        return self.sweeps[-1]

    def fail(self, error: Exception) -> None:
        """Ends the recording: the program goes on."""
        if self.failure is None:
            self.failure = error
            warnings.warn(f"The recording ended early: {type(error).__name__}: {error}", RuntimeWarning, stacklevel=2)

    def close(self) -> None:
        """The recording is complete: pictures may read it."""
        self._recording, self._used, self._record = False, True, self
        self.spans = [(0, len(self.entries))]
        if self.sweeps:
            self.last = self.sweeps[-1].target, self.sources(self.sweeps[-1]), None
        for listener in self.listeners:
            listener()

    # -- reading -----------------------------------------------------------------------------------

    def lines_of(self, file: str) -> list[str]:
        """The lines of a file that rows come from."""
        return lines_of(file)

    def snapshot(self, target: Any = None, sources: Any = None) -> dict:
        """What pictures show, as :mod:`minitape.picture.snapshots` documents it; see ``tf.snapshot``."""
        return self.snapshot_in(spaces(sys._getframe(1)), target, sources)

    def snapshot_in(self, namespaces: Iterable[dict], target: Any = None, sources: Any = None) -> dict:
        """The same, with the Python names of these dictionaries."""
        reader = RecordingReader(self, namespaces)
        rows = reader.read()
        reader.name_rows(rows)
        steps = self.picture_steps(target, sources)
        result = reader.frame_of([row.full() for row in rows], 0)
        sweep = None if steps is None else steps.whole()
        results = self.picture_results(target, sources, namespaces)
        found = result | {"sweep": cast("SweepFields | None", sweep), "results": results}
        found |= wrong_with(self, found)
        large = {part: found[part] for part in ("rows", "sweep", "results")}
        return dict(found | slim(large, count(1)) | {"insides": self.insides(target)})

    def insides(self, target: Any = None, row: int | None = None) -> list:
        """The INSIDEs of calls that a bridge can open, or of the one at ``row``, with the sweep from ``target`` through
        each.
        """
        return []

    def row_of(self, value: Any) -> int | None:
        """The last row that stands for one of the framework's tensors; a number is a row itself."""
        return value if isinstance(value, int) and 0 <= value < len(self.entries) else None

    def rows_of(self, source: Any) -> list[int]:
        """All rows that stood for a source, in order."""
        row = self.row_of(source)
        return [] if row is None else [row]

    def trained(self) -> dict:
        """The sources that the block trained, by the name that the program has for them."""
        return {}

    def result_names(self) -> Mapping[int, str]:
        """How results without a name are called, by row."""
        return {}

    def sources(self, sweep: BackwardPass) -> list[int]:
        """What a sweep was asked for, or the leaves at which it arrived."""
        return sweep.sources or [row for row in sorted(sweep.adjoints) if self.entries[row].kind != "operation"]

    def sweep_of(self, target: Any = None) -> BackwardPass | None:
        """The last sweep, or the last one that began at ``target``."""
        if target is None:
            return self.sweeps[-1] if self.sweeps else None
        return self.sweep_from(self.row_of(target))

    def sweeps_from(self, row: int | None) -> list[BackwardPass]:
        """The sweeps that began at a row, the last one first; where none did, those that went through it, as through a
        loss that is scaled.
        """
        passes = self.sweeps[::-1]
        return [s for s in passes if row in s.target] or [s for s in passes if row in s.edges]

    def sweep_from(self, row: int | None) -> BackwardPass | None:
        """The last one of :meth:`sweeps_from`."""
        return next(iter(self.sweeps_from(row)), None)

    def __repr__(self) -> str:
        count, sweeps = len(self.entries), len(self.sweeps)
        return (
            f"Recording({self.framework}, {count} row{'' if count == 1 else 's'}, "
            f"{sweeps} backward pass{'' if sweeps == 1 else 'es'})"
        )

    @property
    def leaves(self) -> Mapping[int, Any]:
        """The tensors of rows, where the bridge still has them: a picture passes them to ``explain``."""
        return {}

    def __len__(self) -> int:
        return len(self.entries)

    def __bool__(self) -> bool:
        return True

    def add_listeners(self, *listeners: Callable[[], None]) -> None:
        """Adds nothing: a recording that is complete gets no more rows."""

    def picture_reader(self, namespaces: Iterable[dict]) -> Reader:
        """What reads the rows for a picture."""
        return RecordingReader(self, namespaces)

    def picture_steps(self, target: Any, sources: Any) -> RecordingSteps | None:
        """The sweep for a picture; None where there is none from ``target``."""
        found = None if self._recording else self.sweep_of(target)
        return None if found is None else RecordingSteps(self, found, sources)

    def picture_results(self, target: Any, sources: Any, namespaces: Iterable[dict]) -> list[ResultFields]:
        """What each backward pass left at its sources, the last ones; with ``target`` that of its pass alone."""
        return [] if self._recording else results_of(self, target, sources, namespaces)
