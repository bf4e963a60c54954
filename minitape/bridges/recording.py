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
from typing import TYPE_CHECKING, Any, Protocol, cast

from ..picture.alarms import build_alarms_and_breaks
from ..picture.reader import Reader, collect_namespaces
from ..picture.snapshot_types import Kind, ResultFields
from ..picture.source import PictureSource
from ..recording.recorded_rows import BackwardPass, RowEscape
from ..recording.sites import NOWHERE, Site, read_source_lines
from .framework_adapter import RowNumber as RowNumber
from .picture_reader import (
    RecordingReader,
    RecordingSteps,
    build_results_of_shown_sweep,
    drop_excess_thumbnails,
    to_snapshot_value,
)

if TYPE_CHECKING:
    from ..explain.reasons.question import RecordedRow
    from ..picture.known_rules import KnownRule
    from .checkup import FrameworkRecording
    from .picture_reader import NamedSource

ROW_LIMIT = 20_000  # rows


class RowExtra(Protocol):
    """What each bridge keeps about a row for explain."""

    @property
    def cause(self) -> str:
        """Why no gradient passes; empty where one does."""

    @property
    def origin_rows(self) -> Sequence[int]:
        """The rows with whose values a leaf was made."""


@dataclass(slots=True, eq=False)
class RecordingEntry:
    """One row: a leaf or a result of an operation. A bridge may keep more about it in ``extra``."""

    row: int
    op: str
    label: str
    kind: Kind
    value: Any
    site: Site = NOWHERE
    tracked: bool = True  # whether a gradient can continue from it
    name: str | None = None
    version: int = 0
    inputs: list[int] = field(default_factory=list)
    call_id: int = 0  # of several results of one call the first row
    output: int = 0
    dtype: str = ""
    shape: Sequence[int] = ()
    scope: Sequence[str] = ()
    cut: str | None = None  # why no gradient passes
    watched: str | None = None
    tangent: Any = None  # a value, too, where the framework went forward
    extra: Any = None

    @property
    def cause(self) -> str:
        """Why no gradient passes; empty where one does."""
        extra: RowExtra = self.extra
        return extra.cause

    @property
    def origin_rows(self) -> Sequence[int]:
        """The rows with whose values a leaf was made."""
        extra: RowExtra = self.extra
        return extra.origin_rows


WATCH_REASONS = {"torch": "requires_grad", "jax": "argument"}  # why a gradient goes to a leaf, in the framework's words


class Recording(PictureSource):
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
        self.internal_error: Exception | None = None  # the mistake of the bridge's own that ended it early
        self.entries: list[RecordingEntry] = []
        self.sweeps: list[BackwardPass] = []
        self.events: list[dict] = []
        self.escapes: list[RowEscape] = []
        self.failed_target_rows: list[int] = []  # from which rows the last backward pass began, if it failed
        self.left_out = 0  # operations after the first ROW_LIMIT rows
        self.is_rerun = False  # of a compiled step, up to its gradient: no optimizer takes a step
        self.has_placeholder_values = False  # it ran with stand-ins: its shapes say something, its numbers nothing
        self.watched: dict[int, int] = {}
        self.listeners: list[Callable[[], None]] = []
        # those of minitape's own table for rows that pictures showed
        self.known_rules: dict[int, KnownRule | None] = {}
        self.sources_by_row: dict[int, NamedSource] | None = None
        self.cached_rows: list[RecordedRow] | None = None  # as explain reads them, once it is closed
        self._recording = True  # until it is complete: pictures show its rows from then on
        self._last_gradient: Sequence[Any] | None = None

    # -- writing -----------------------------------------------------------------------------------

    def leaf(
        self,
        value: Any,
        *,
        name: str | None = None,
        kind: Kind = "source",
        site: Site = NOWHERE,
        tracked: bool = True,
        version: int = 0,
        dtype: str = "",
        shape: Sequence[int] = (),
        scope: Sequence[str] = (),
        cut: str | None = None,
        tangent: Any = None,
        extra: Any = None,
    ) -> int:
        """Add a row for a value that no recorded operation made; return its number. ``kind`` is source, variable or
        constant; the others are fields of :class:`RecordingEntry`.
        """
        row, label = len(self.entries), "const" if kind == "constant" else (name or "x")
        entry = RecordingEntry(
            row,
            "leaf",
            label,
            kind,
            value,
            site,
            tracked,
            name,
            version,
            call_id=row,
            dtype=dtype,
            shape=shape,
            scope=scope,
            cut=cut,
            tangent=tangent,
            extra=extra,
        )
        if entry.tracked:
            watch_reason = "automatic" if kind == "variable" else "explicit"
            entry.watched = WATCH_REASONS.get(self.framework, watch_reason)
        self.entries.append(entry)
        return row

    def operation(
        self,
        op: str,
        inputs: Sequence[int],
        value: Any,
        *,
        label: str = "",
        call_id: int | None = None,
        site: Site = NOWHERE,
        tracked: bool = True,
        name: str | None = None,
        version: int = 0,
        output: int = 0,
        dtype: str = "",
        shape: Sequence[int] = (),
        scope: Sequence[str] = (),
        cut: str | None = None,
        watched: str | None = None,
        tangent: Any = None,
        extra: Any = None,
    ) -> int:
        """Add a row for a result of an operation on earlier rows; return its number.

        Several results of one call have its first row as ``call_id``. ``cut`` says why no gradient passes; it and the
        others are fields of :class:`RecordingEntry`.
        """
        row = len(self.entries)
        first_row = row if call_id is None else call_id
        entry = RecordingEntry(
            row,
            op,
            label or op,
            "operation",
            value,
            site,
            tracked,
            name,
            version,
            list(inputs),
            first_row,
            output,
            dtype,
            shape,
            scope,
            cut,
            watched,
            tangent,
            extra,
        )
        self.entries.append(entry)
        return row

    def record_escape(self, row: int, method: str, site: Site) -> None:
        """Note that a value leaves the framework."""
        self.escapes.append(RowEscape(row, method, site, len(self.entries)))
        self.events.append({"kind": "numpy", "row": row, "line": site[1]})

    def sweep(self, target: Sequence[int] = ()) -> BackwardPass:
        """Add a backward pass, and return it."""
        self.sweeps.append(BackwardPass(target))
        return self.sweeps[-1]

    def end_with_error(self, error: Exception) -> None:
        """End the recording early, with a warning, because of a mistake of the bridge's own: the program goes on."""
        if self.internal_error is None:
            self.internal_error = error
            warnings.warn(f"The recording ended early: {type(error).__name__}: {error}", RuntimeWarning, stacklevel=2)

    def close(self) -> None:
        """Note that the recording is complete: pictures may read it."""
        self._recording = False
        if self.sweeps:
            self._last_gradient = self.sweeps[-1].target, self.list_source_rows_of_sweep(self.sweeps[-1]), None
        for listener in self.listeners:
            listener()

    # -- reading -----------------------------------------------------------------------------------

    def read_source_lines(self, file: str) -> list[str]:
        """Return the lines of a file that rows come from."""
        return read_source_lines(file)

    def snapshot(self, target: Any = None, sources: Any = None) -> dict:
        """Return what pictures show, as :mod:`minitape.picture.snapshots` documents it; see ``tf.snapshot``."""
        return self.build_snapshot(collect_namespaces(sys._getframe(1)), target, sources)

    def build_snapshot(self, namespaces: Iterable[dict], target: Any = None, sources: Any = None) -> dict:
        """Return what :meth:`snapshot` does, with the Python names of these dictionaries."""
        reader = RecordingReader(self, namespaces)
        rows = reader.read_new_rows()
        reader.update_names_and_leaf_states(rows)
        steps = self.build_stepper(target, sources)
        snapshot_frame = reader.build_snapshot_without_sweep([row.to_row_fields() for row in rows], 0)
        snapshot_frame["sweep"] = None if steps is None else steps.build_sweep_fields()
        snapshot_frame["results"] = self.list_gradient_results(target, sources, None, namespaces)
        picture = snapshot_frame | build_alarms_and_breaks(self, snapshot_frame)
        large_parts = {"rows": picture["rows"], "sweep": picture["sweep"], "results": picture["results"]}
        return dict(picture | drop_excess_thumbnails(large_parts, count(1)) | {"insides": self.list_insides(target)})

    def list_insides(self, target: Any = None, row: int | None = None) -> list:
        """Return the INSIDEs of calls that a bridge can open, or of the one at ``row``, with the sweep from ``target``
        through each.
        """
        return []

    def find_row(self, value: Any) -> int | None:
        """Return the last row that stands for one of the framework's tensors; a number is a row itself."""
        return value if isinstance(value, int) and 0 <= value < len(self.entries) else None

    def list_rows(self, source: Any) -> list[int]:
        """Return all rows that stood for a source, in order."""
        row = self.find_row(source)
        return [] if row is None else [row]

    def collect_trained_sources(self) -> dict[str, Any]:
        """Return the sources that the block trained, by the name that the program has for them."""
        return {}

    def map_rows_to_result_names(self) -> Mapping[int, str]:
        """Return names for results that have none of their own, by row."""
        return {}

    def list_source_rows_of_sweep(self, sweep: BackwardPass) -> list[int]:
        """Return the rows of the sources that a sweep was asked for, or of the leaves at which it arrived."""
        return sweep.sources or [row for row in sorted(sweep.adjoints) if self.entries[row].kind != "operation"]

    def find_last_sweep(self, target: Any = None) -> BackwardPass | None:
        """Return the last sweep, or the last one that began at ``target``."""
        if target is None:
            return self.sweeps[-1] if self.sweeps else None
        return self.find_last_sweep_from_or_through(self.find_row(target))

    def list_sweeps_from_or_through(self, row: int | None) -> list[BackwardPass]:
        """Return the sweeps that began at a row, the last one first; where none did, those that went through it, as
        through a loss that is scaled.
        """
        passes = self.sweeps[::-1]
        return [sweep for sweep in passes if row in sweep.target] or [sweep for sweep in passes if row in sweep.edges]

    def find_last_sweep_from_or_through(self, row: int | None) -> BackwardPass | None:
        """Return the last sweep that began at a row; where none did, the last that went through it."""
        return next(iter(self.list_sweeps_from_or_through(row)), None)

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

    # -- what a picture needs, see PictureSource ---------------------------------------------------

    @property
    def record(self) -> Recording | None:
        """Itself, once it is complete."""
        return None if self._recording else self

    @property
    def is_recording(self) -> bool:
        """Whether it is not yet complete."""
        return self._recording

    @property
    def is_used(self) -> bool:
        """Whether it is complete: no gradient is computed from it."""
        return not self._recording

    @property
    def last_gradient(self) -> Sequence[Any] | None:
        """The target rows and the source rows of the last backward pass."""
        return self._last_gradient

    def list_last_gradients(self) -> list:
        """Return nothing: no other recording shares its rows."""
        return []

    def add_listener(self, listener: Callable[[], None]) -> None:
        """Add what is called when the recording is complete."""
        self.listeners = [*self.listeners, listener]

    def list_large_arrays(self) -> list:
        """Return nothing: what was recorded is kept."""
        return []

    def find_object_of_row(self, row: int, candidates: Iterable[Any]) -> Any:
        """Return what stands for a row where ``explain`` is asked about it."""
        leaf = None if self._recording else self.leaves.get(row)
        if leaf is None:
            return None
        return leaf.variable if leaf.variable is not None else leaf.tensor

    def build_reader(self, namespaces: Iterable[dict]) -> Reader:
        """Return what reads the rows for a picture."""
        return RecordingReader(self, namespaces)

    def build_stepper(
        self, target: Any, sources: Any, kept_arrays: Any = None, show: Callable[[Any], Any] = to_snapshot_value
    ) -> RecordingSteps | None:
        """Return the sweep for a picture; None if there is none from ``target``. Its values are shown by themselves."""
        sweep = None if self._recording else self.find_last_sweep(target)
        return None if sweep is None else RecordingSteps(self, sweep, sources)

    def list_gradient_results(
        self, target: Any, sources: Any, kept_arrays: Any, namespaces: Iterable[dict]
    ) -> list[ResultFields]:
        """Return what each backward pass left at its sources, the last ones; with ``target`` that of its pass alone."""
        return [] if self._recording else build_results_of_shown_sweep(self, target, sources, namespaces)

    def explain_gradient(self, target: Any, source: Any) -> Any:
        """Return what ``explain`` answers; AttributeError for a recording that knows no framework."""
        return cast("FrameworkRecording", self).explain(target, source)

    def explain_shown_gradient(self, result: ResultFields | None, ends: Any) -> Any:
        """Return what ``explain`` answers for the rows of a backward pass that is shown."""
        return result and self.explain_gradient(result["target"][0]["row"], result["sources"][0]["rows"][-1])
