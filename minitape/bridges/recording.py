"""What another framework computed, as pictures read it. No framework is known here: a bridge writes, a picture reads.

A bridge adds a row for each leaf and each operation, and for each backward pass a :class:`BackwardPass`: the
adjoint that arrived at a row, and what the row's operation sent to its inputs. ``docs/bridges.md`` writes one by hand.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import count, takewhile
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..engine.recording.frames import lines_of
from ..explain.page import page
from ..picture.diagnosis import wrong_with
from ..picture.fields import EventFields, Fields, Kind, ResultFields, SourceFields, SweepFields, TapeFields
from ..picture.known_rules import KnownRule, rule_of
from ..picture.reading import Reader, spaces
from ..picture.results import ASKED, CALLS, SOURCES, STEPS, said_by
from ..picture.rows import PictureRow
from ..picture.short import short_name
from ..picture.torn import is_zero
from ..picture.values import show_value
from ..recording.rows import BackwardPass, RowExit
from ..recording.sites import NOWHERE, Site
from ..recording.values import numbers_of
from .checkup import Checkup, several
from .kept_values import as_size, bytes_kept
from .model_page import names_in

if TYPE_CHECKING:
    from ..why.suspects import Run

MOST = 20_000  # rows
THUMBS = 400  # large values that a snapshot shows as pictures, too


def shown(value: Any) -> Any:
    """The VALUE of a number or an array, or of an object that makes its own when it is asked (``shown()``).

    >>> shown(2.0)
    {'text': '2.0', 'data': 2.0}
    """
    return value.shown() if hasattr(value, "shown") else show_value(value)


def _numbers(value: Any) -> np.ndarray | None:
    """The real numbers of a value; None where they are gone, or are none."""
    if value is None or hasattr(value, "array"):
        return numbers_of(value)
    array = np.asarray(value)
    return array.astype(np.float64) if array.dtype.kind in "biuf" else None


def _merged(models: Sequence[Mapping[str, Any]]) -> dict:
    """Merges the sources of several models, by name. A name that is taken gets the number of its model in front.

    >>> _merged([{"Net.w": 1}, {"Net.w": 2, "Net.b": 3}])
    {'Net.w': 1, '[1].Net.w': 2, 'Net.b': 3}
    """
    found: dict = {}
    for number, parts in enumerate(models):
        for name, one in parts.items():
            found[name if found.get(name, one) is one else f"[{number}].{name}"] = one
    return found


def slim(part: Any, thumbs: Iterator[int]) -> Any:
    """A part of a snapshot, in which only the first large values have pictures: a page of many steps stays small.

    >>> slim([{"thumb": [[1.0]]}, {"thumb": [[2.0]]}], count(THUMBS))
    [{'thumb': [[1.0]]}, {}]
    """
    if isinstance(part, list):
        for k, value in enumerate(part):
            part[k] = slim(value, thumbs)
    elif isinstance(part, dict):
        if "thumb" in part:  # the value itself keeps its own
            return part if next(thumbs) <= THUMBS else {key: value for key, value in part.items() if key != "thumb"}
        for key, value in part.items():
            if isinstance(value, (dict, list)) and key != "data":
                part[key] = slim(value, thumbs)
    return part


class RecordingEntry:
    """One row: a leaf or a result of an operation. A bridge may keep more about it in ``extra``."""

    __slots__ = (
        "row op label kind name version inputs call output dtype "
        "shape value site scope cut differentiable watched tangent extra"
    ).split()

    def __init__(self, row: int, op: str, label: str, kind: Kind, value: Any, site: Site, differentiable: bool) -> None:
        self.row, self.op, self.label, self.kind, self.value, self.site = row, op, label, kind, value, site
        self.differentiable = differentiable  # on the way of a gradient
        self.name: str | None = None
        self.version = 0
        self.inputs: list[int] = []
        self.call, self.output = row, 0
        self.dtype = ""
        self.shape: tuple[int, ...] = ()
        self.scope: tuple[str, ...] = ()
        self.cut: str | None = None
        self.watched: str | None = None
        self.tangent: Any = None  # a value, too, where the framework went forward
        self.extra: Any = None

    @property
    def why(self) -> str:
        """Why no gradient passes; empty where one does."""
        return self.extra.why

    @property
    def came(self) -> Sequence[int]:
        """The rows with whose values a leaf was made."""
        return self.extra.came

    def picture_row(self) -> PictureRow:
        """The row of a snapshot."""
        value = shown(self.value)
        operation = self.kind == "operation"
        form: Fields = {
            "op": short_name(self.op),
            "label": SHORT.get(self.label, short_name(self.label)),
            "formula": "",
            "rule": [],
            "said": [],
            "kind": self.kind,
            "name": None if self.name is None else short_name(self.name),
            "version": self.version,
            "output": self.output,
            "call": self.call,
            "dtype": self.dtype,
            "shape": list(self.shape),
            "released": value is None,
            "site": 0,
            "line": self.site[1],
            "file": self.site[0],
            "cell": None,
            "status": "ghost" if operation and not self.differentiable else "recorded",
            "watched": self.watched,
            "cut": self.cut,
            "tapes": [0] if self.differentiable else [],
            "by": None,
            "scope": [short_name(part) for part in self.scope],
        }
        own: Fields | None = None if self.tangent is None else {"tangent": shown(self.tangent)}
        return PictureRow(self.row, form, tuple(self.inputs), None, value, own)


SHORT = {  # what has room in a node
    "broadcast_in_dim": "broadcast",
    "cross_entropy": "cross-ent.",
    "SparseSoftmaxCrossEntropyWithLogits": "cross-ent.",
    "sparse_softmax_cross_entropy_with_logits": "cross-ent.",
    "SoftmaxCrossEntropyWithLogits": "cross-ent.",
    "scaled_dot_product_attention": "attention",
}
WATCHED = {"torch": "requires_grad", "jax": "argument"}  # why a gradient goes to a leaf, in the framework's words


class Number(int):
    """The number of a row that is asked about: an int of the program's is none."""


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

    # What a picture asks of a tape (minitape/picture): a recording shows its rows when it is complete.
    _persistent = False
    last: Any = None
    large = False  # no array is released later

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
        self.watchers: list[Callable[[], None]] = []
        self._rules: dict[int, KnownRule | None] = {}
        self.rows_read: list[Any] | None = None  # as explain reads them, once it is closed
        self._began, self._took = perf_counter(), 0.0
        self._open = True

    # -- writing -----------------------------------------------------------------------------------

    def leaf(
        self,
        value: Any,
        *,
        name: str | None = None,
        kind: Kind = "source",
        version: int = 0,
        site: Site = NOWHERE,
        dtype: str = "",
        shape: Sequence[int] = (),
        differentiable: bool = True,
        extra: Any = None,
    ) -> int:
        """A row for a value that no recorded operation made; returns its number. ``kind`` is source, variable or
        constant.
        """
        label = "const" if kind == "constant" else (name or "x")
        entry = self._entry("leaf", label, kind, value, site, differentiable, dtype, shape, extra)
        entry.name, entry.version = name, version
        if differentiable:
            own = "automatic" if kind == "variable" else "explicit"
            entry.watched = WATCHED.get(self.framework, own)
        self.entries.append(entry)
        return entry.row

    def operation(
        self,
        op: str,
        inputs: Sequence[int],
        value: Any,
        *,
        label: str = "",
        call: int | None = None,
        output: int = 0,
        site: Site = NOWHERE,
        dtype: str = "",
        shape: Sequence[int] = (),
        scope: Sequence[str] = (),
        cut: str | None = None,
        differentiable: bool = True,
        extra: Any = None,
    ) -> int:
        """A row for a result of an operation on earlier rows; returns its number.

        Several results of one call have its first row as ``call``. ``cut`` says why no gradient passes.
        """
        entry = self._entry(op, label or op, "operation", value, site, differentiable, dtype, shape, extra)
        entry.inputs, entry.output, entry.scope, entry.cut = list(inputs), output, tuple(scope), cut
        entry.call = entry.row if call is None else call
        self.entries.append(entry)
        return entry.row

    def _entry(
        self,
        op: str,
        label: str,
        kind: Kind,
        value: Any,
        site: Site,
        differentiable: bool,
        dtype: str,
        shape: Sequence[int],
        extra: Any,
    ) -> RecordingEntry:
        """A new row, which is added when it is whole: Ctrl-C may come before."""
        entry = RecordingEntry(len(self.entries), op, label, kind, value, site, differentiable)
        entry.dtype, entry.shape, entry.extra = dtype, tuple(shape), extra
        return entry

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
        self._open = False
        self._took = perf_counter() - self._began
        if self.sweeps:
            self.last = self.sweeps[-1].target, self.sources(self.sweeps[-1]), None
        for told in self.watchers:
            told()

    # -- reading -----------------------------------------------------------------------------------

    def lines_of(self, file: str) -> list[str]:
        """The lines of a file that rows come from."""
        return lines_of(file)

    def snapshot(self, target: Any = None, sources: Any = None) -> dict:
        """What pictures show, as :mod:`minitape.picture.snapshots` documents it; see ``tf.snapshot``."""
        return self.snapshot_in(spaces(sys._getframe(1)), target, sources)

    def snapshot_in(self, namespaces: Iterable[dict], target: Any = None, sources: Any = None) -> dict:
        """The same, with the Python names of these dictionaries."""
        reader = self.picture_reader(namespaces)
        rows = reader.read()
        reader.name_rows(rows)
        steps = self.picture_steps(target, sources)
        result = reader.frame_of([row.full() for row in rows], 0)
        sweep = None if steps is None else steps.whole()
        results = self.picture_results(target, sources, namespaces)
        found = result | {"sweep": cast("SweepFields | None", sweep), "results": results}
        found |= wrong_with(self, found)
        slim([result["rows"], sweep, results], count(1))
        return dict(found | {"insides": self.insides(target)})

    def insides(self, target: Any = None, row: int | None = None) -> list:
        """The INSIDEs of calls that a bridge can open, or of the one at ``row``, with the sweep from ``target`` through
        each.
        """
        return []

    def explain(self, *asked: Any, target: Any = None, source: Any = None) -> Any:
        """Why the gradient of ``target`` by ``source`` is None, zero or NaN, on which line, and what fixes it.

        ``explain(source)`` asks about the last backward pass, or the one that failed. Returns an
        :class:`minitape.explain.Explanation`, as ``tape.explain`` does; a list of them for a list of sources.
        ``explain(model)``, ``explain(model.parameters())``, a dictionary or a name answer with a page
        (:class:`minitape.bridges.model_page.ModelPage`), and ``explain()`` with one of all that the block trained.
        """
        if len(asked) > 2 - (target is not None) - (source is not None):
            raise TypeError("explain() takes a target and a source, or a source alone: explain(loss, w), explain(w).")
        if source is None and asked:
            *asked, source = asked  # type: ignore[assignment]
        target = asked[0] if asked else target
        if isinstance(source, (list, tuple)):
            models = [self.model_parts(part) for part in source]
            if not any(models):
                return page([self._answer(target, s) for s in source])
            known: Mapping[str, Any] | None = _merged(
                [
                    self._parts_of(iter([part])) or {} if one is None else one
                    for part, one in zip(source, models, strict=True)
                ]
            )
        else:
            known = self._parts_of(source)
        return self._answer(target, source) if known is None else Checkup(self, target).page(known)

    def _answer(self, target: Any, source: Any) -> Any:
        """Why no gradient arrives at one source, or what is wrong with one that is there."""
        return Checkup(self, target).examined(self.why(target, source), source)

    def why(self, target: Any, source: Any) -> Any:
        """Why no gradient arrives at one source; of several targets, whose gradients are added, at none or from one."""
        found = [self._why(one, source) for one in several(target)]
        answer = min(found, key=lambda one: (not one.connected, one.kind == "unused"))
        blocked = [one for one in found if one.line is not None and not one.connected]
        return answer.with_beside(blocked if found[1:] else ())

    def asked_for(self, source: Any, sweeps: list[BackwardPass]) -> list[BackwardPass]:
        """Those of some backward passes that the program asked for the gradient of a source; all where none was."""
        return sweeps

    def _parts_of(self, asked: Any) -> Mapping[str, Any] | None:
        """The sources that a question is about, by name: of None all that the block trained, of a model, a
        dictionary, a generator or a name what is in it. None where the question is about one source.
        """
        if asked is None:
            return self.trained()
        if isinstance(asked, str):
            return None if self.row_of(asked) is not None else names_in(self.trained(), asked)
        parts = self.model_parts(asked)
        if parts is not None or isinstance(asked, Mapping):
            return asked if parts is None else parts
        if isinstance(asked, Iterator):
            names = {id(source): name for name, source in self.trained().items()}
            return {names.get(id(source), f"[{k}]"): source for k, source in enumerate(asked)}
        return None

    def trained(self) -> dict:
        """The sources that the block trained, by the name that the program has for them."""
        raise NotImplementedError(f"explain() is not there for recordings of {self.framework!r}.")

    def model_parts(self, model: Any) -> dict | None:
        """The sources of a model by name; None for what is no model."""
        return None

    def rows_of(self, source: Any) -> list[int]:
        """All rows that stood for a source, in order."""
        row = self.row_of(source)
        return [] if row is None else [row]

    def weights_of(self, source: Any) -> tuple:
        """The elements of a source before and after its last step; None where there was none."""
        return None, None

    def target_number(self, sweep: BackwardPass) -> Number | None:
        """The target of a backward pass, as a question takes it."""
        return Number(sweep.target[-1])

    def inside_of(self, source: Any) -> tuple[Recording, Any] | None:
        """The recording of a compiled step that gave a source its gradient, and what stands for the source there."""
        return None

    def suspect_run(self) -> Run:
        """What the checks of gradients that are there and wrong read."""
        raise NotImplementedError(f"explain() is not there for recordings of {self.framework!r}.")

    @property
    def problems(self) -> list:
        """What is missing, not finite, suspect, zero or unknown of what the block trained, the worst first: in a test,
        ``assert not recording.problems``.
        """
        found: list = self.explain().problems
        return found

    def _why(self, target: Any, source: Any) -> Any:
        """Why no gradient arrives, where the bridge can tell."""
        raise NotImplementedError(f"explain() is not there for recordings of {self.framework!r}.")

    @property
    def cost(self) -> str:
        """What the recording costs, in words.

        >>> Recording("by hand").cost
        '0 rows hold values of 0 bytes. The block still runs.'
        """
        n = len(self.entries)
        time = "still runs" if self._open else f"took {self._took:.2g} s"
        return f"{n:,} row{' holds' if n == 1 else 's hold'} values of {as_size(bytes_kept(self))}. The block {time}."

    def last_target(self) -> Number | None:
        """From where the last backward pass went; None where none ran."""
        return Number(self.sweeps[-1].target[-1]) if self.sweeps and self.sweeps[-1].target else None

    def row_of(self, value: Any) -> int | None:
        """The last row that stands for one of the framework's tensors; a number is a row itself."""
        return value if isinstance(value, int) and 0 <= value < len(self.entries) else None

    def sources(self, sweep: BackwardPass) -> list[int]:
        """What a sweep was asked for, or the leaves at which it arrived."""
        return sweep.sources or [row for row in sorted(sweep.adjoints) if self.entries[row].kind != "operation"]

    def sweep_of(self, target: Any = None) -> BackwardPass | None:
        """The last sweep, or the last one that began at ``target``."""
        if target is None:
            return self.sweeps[-1] if self.sweeps else None
        row = self.row_of(target)
        return next((s for s in reversed(self.sweeps) if row in s.target), None)

    def __repr__(self) -> str:
        count, sweeps = len(self.entries), len(self.sweeps)
        return (
            f"Recording({self.framework}, {count} row{'' if count == 1 else 's'}, "
            f"{sweeps} backward pass{'' if sweeps == 1 else 'es'})"
        )

    # -- what a picture asks of a tape -------------------------------------------------------------

    def known_rule(self, row: int) -> KnownRule | None:
        """The rule of minitape's own table for an operation, where its numbers are those of the program."""
        if row not in self._rules:
            entry = self.entries[row]
            inputs = [_numbers(self.entries[i].value) for i in entry.inputs]
            known = entry.kind == "operation" and entry.cut is None and self.entries[entry.call].row == row
            self._rules[row] = (
                rule_of(entry.op, inputs, _numbers(entry.value), entry.dtype, entry.label) if known else None
            )
        return self._rules[row]

    @property
    def _recording(self) -> bool:
        return self._open

    @property
    def _used(self) -> bool:
        return not self._open

    @property
    def _record(self) -> Recording | None:
        return None if self._open else self

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The rows of the block."""
        return [(0, len(self.entries))]

    open = False  # once there is a _record, it grows no more

    @property
    def leaves(self) -> Mapping[int, Any]:
        """The tensors of rows, where the bridge still has them: a picture passes them to ``explain``."""
        return {}

    def __len__(self) -> int:
        return len(self.entries)

    def __bool__(self) -> bool:
        return True

    def tell(self, told: Callable[[], None]) -> None:
        """Nothing more will come."""

    def picture_reader(self, namespaces: Iterable[dict]) -> Reader:
        """What reads the rows for a picture."""
        return _Reader(self, namespaces)

    def picture_steps(self, target: Any, sources: Any) -> RecordingSteps | None:
        """The sweep for a picture; None where there is none from ``target``."""
        found = None if self._open else self.sweep_of(target)
        return None if found is None else RecordingSteps(self, found, sources)

    def picture_results(self, target: Any, sources: Any, namespaces: Iterable[dict]) -> list[ResultFields]:
        """What each backward pass left at its sources, the last ones; with ``target`` that of its pass alone."""
        wanted = self.sweeps[-CALLS:] if target is None else [s for s in [self.sweep_of(target)] if s is not None]
        names = self.picture_reader(namespaces).names() if wanted and not self._open else {}
        found, room = [], STEPS
        for sweep in reversed([] if self._open else wanted):
            steps, last = RecordingSteps(self, sweep, sources if target is not None else None), sweep is wanted[-1]
            arrived = dict(zip(steps.head["sources"], steps.gradients(), strict=True))
            if last and not sweep.sources and sources is None:
                arrived = {**dict.fromkeys(self._not_arrived(sweep)), **arrived}
            result: ResultFields = {
                "target": [{"name": self._name(row, names), "row": row} for row in sorted(sweep.target)],
                "sources": [
                    self._arrived(row, arrived[row], names, self.stepped(row) if last and row >= 0 else None)
                    for row in sorted(arrived)[:SOURCES]
                ],
                "more": max(0, len(arrived) - SOURCES),
                "known": True,
                "shown": last,
                "call": sweep.asked or "backward",
            }
            if last:
                self._explain_results(result, sweep)
            room -= len(sweep.edges)
            if not last and room >= 0:
                result["sweep"] = cast("SweepFields", steps.whole())
            found.append(result)
        return found[::-1]

    def stepped(self, row: int) -> np.ndarray | None:
        """What an optimizer's step left in a parameter; None where there was none, or the bridge does not know."""
        return None

    @cached_property
    def sources_by_row(self) -> dict[int, tuple[str, Any]]:
        """What the block trained by each of its rows: its name, and the object. Where two have one name, as the weights
        of two layers, it is the longer one that the program has for it.
        """
        found: dict[int, tuple[str, Any]] = {}
        owners: dict[str, set[int]] = {}
        with suppress(NotImplementedError):
            for name, one in self.trained().items():
                for row in self.rows_of(one):
                    found[row] = name, one
                    owners.setdefault(self.entries[row].name or "", set()).add(id(one))
        for row, (name, one) in found.items():
            own = self.entries[row].name or ""
            name = own if own and len(owners[own]) < 2 else name
            found[row] = self.last_parts.get(name, name), one
        return found

    @cached_property
    def last_parts(self) -> dict[str, str]:
        """Of sources that are elements of trees, as `params['w']`, the last parts that tell them apart: `w`."""
        paths = {one.name: re.findall(r"\w+", one.name) for one in self.entries if one.name and "[" in one.name}
        found: dict[str, str] = {}
        for name, parts in paths.items():
            tails = (".".join(parts[-k:]) for k in range(1, len(parts) + 1))
            others = [other for other in paths.values() if other != parts]
            found[name] = next(
                (tail for tail in tails if not any((".".join(other)).endswith(tail) for other in others)), name
            )
        return {name: tail for name, tail in found.items() if not tail.isdigit()}

    def result_names(self) -> Mapping[int, str]:
        """What results without a name are called, by row: a function's result by the function."""
        return {}

    def _not_arrived(self, sweep: BackwardPass) -> Iterator[int]:
        """The last rows of what the block trained and no adjoint of this sweep arrived at."""
        rows: dict[int, list[int]] = {}
        for row, (_, one) in self.sources_by_row.items():
            rows.setdefault(id(one), []).append(row)
        return (max(own) for own in rows.values() if not any(row in sweep.adjoints for row in own))

    def _explain_results(self, result: ResultFields, sweep: BackwardPass) -> None:
        """Says why gradients are None or zero, in the words of ``explain``; of many only of the first ones."""
        bare = [one for one in result["sources"] if one["gradient"] is None or is_zero(one["gradient"])]
        for one in bare[:ASKED] if sweep.target else ():
            source = self.sources_by_row.get(one["at"], ("", Number(one["at"])))[1]
            with suppress(Exception):  # the picture goes on without words
                one["reason"], one["why"] = said_by(self.why(self.target_number(sweep), source))

    def _name(self, row: int, names: Mapping[int, str]) -> str | None:
        known = self.sources_by_row.get(row, ("",))[0]
        known = known or self.result_names().get(row, "")
        name = known or self.entries[row].name or names.get(row) if 0 <= row < len(self.entries) else None
        return None if name is None else short_name(name)

    def _arrived(self, row: int, gradient: Any, names: Mapping[int, str], after: np.ndarray | None) -> SourceFields:
        kind = np.float64 if row >= 0 and self.entries[row].dtype == "float64" else np.float32
        return {
            "name": self._name(row, names),
            "rows": [row] if row >= 0 else [],
            "parts": [],
            "gradient": gradient,
            "at": row,
            "reason": None,
            "why": None,
            "blame": None,
            "now": None if after is None else show_value(after.astype(kind)[()]),
            "assigned": int(after is not None),
            "slices": 0,
        }


class RecordingSteps:
    """A sweep that was recorded, as a picture takes it: all steps are there at once."""

    def __init__(self, recording: Recording, sweep: BackwardPass, sources: Any = None) -> None:
        self._recording, self._sweep, self.rest = recording, sweep, 0
        wanted = sources if isinstance(sources, (list, tuple)) else [] if sources is None else [sources]
        found = [recording.row_of(s) for s in wanted]
        self._sources = [-1 if row is None else row for row in found] if wanted else recording.sources(sweep)
        self.high = max(sweep.adjoints, default=-1)

    @property
    def head(self) -> dict:
        """The SWEEP but for its steps and gradients."""
        return {"target": sorted(self._sweep.target), "sources": self._sources, "rest": 0}

    def take(self, most: int | None = None) -> list[dict]:
        """Its steps, in the order in which the framework went."""
        return [self._step(call, edges) for call, edges in self._sweep.edges.items()]

    def _step(self, call: int, edges: list[tuple]) -> dict:
        rule, arrived = self._recording.known_rule(call), _numbers(self._sweep.adjoints.get(call))
        parts = [
            {
                "input": row,
                "port": port,
                **(rule.share(port, arrived, _numbers(product)) if rule else {"local": None}),
                "product": shown(product),
                "sum": shown(total),
            }
            for row, port, product, total in edges
        ]
        step = {"row": call, "adjoint": self._adjoint(call), "edges": parts}
        entries = self._recording.entries
        others = [*takewhile(lambda row: entries[row].call == call, range(call + 1, len(entries)))]
        return step | {"others": [{"row": row, "adjoint": self._adjoint(row)} for row in others]} if others else step

    def _adjoint(self, row: int) -> Any:
        """What arrived; zeros for a result of several to which nothing came."""
        adjoint = self._sweep.adjoints.get(row)
        return show_value(np.zeros(self._recording.entries[row].shape)[()]) if adjoint is None else shown(adjoint)

    def gradients(self) -> list:
        """What arrived at the sources."""
        found = [self._sweep.adjoints.get(row) for row in self._sources]
        return [None if adjoint is None else shown(adjoint) for adjoint in found]

    def whole(self) -> dict:
        """The SWEEP."""
        return self.head | {"steps": self.take(), "gradients": self.gradients()}


class _Reader(Reader):
    """Reads a recording that is complete."""

    tape: Any  # a Recording
    record: Any  # the same, or None

    def read(self, limit: int | None = None) -> list[PictureRow]:
        if not self._start():
            return []
        first = self.count
        last = len(self.record) if limit is None else min(len(self.record), first + limit)
        self.count = last
        return [self._row_at(row) for row in range(first, last)]

    def read_ends(self, most: int) -> list[PictureRow]:
        if not self._start() or len(self.record) <= most:
            return self.read()
        ends = [*range(most // 2), *range(len(self.record) - most // 2, len(self.record))]
        return [self._row_at(row) for row in ends]

    def lines_of(self, file: str) -> list[str]:
        return self.tape.lines_of(file)

    def insides(self, target: Any = None, sources: Any = None, row: int | None = None) -> list:
        return self.tape.insides(target, row)

    def _row_at(self, row: int) -> PictureRow:
        entry = self.tape.entries[row]
        if entry.site[0]:
            self.files[entry.site[0]] = None
        found, rule = entry.picture_row(), self.tape.known_rule(row)
        if entry.name and row in self.tape.sources_by_row:
            found.form["name"] = short_name(self.tape.sources_by_row[row][0])
        elif not entry.name and row in self.tape.result_names():
            found.form["name"] = short_name(self.tape.result_names()[row])
        if (call := [*dict.fromkeys(entry.inputs)]) and len(call) == 1 < len(entry.inputs) and self._is_split(entry):
            found.a = tuple(call)  # autograd hands one gradient on for each result
        if rule is not None:
            found.form |= rule.fields
        return found

    def _is_split(self, entry: RecordingEntry) -> bool:
        """Whether a call has a result for each time that it reads its one input."""
        last = self.tape.entries[entry.call + len(entry.inputs) - 1 :][:1]
        return bool(last) and last[0].call == entry.call and entry.call != last[0].row

    def changes(self) -> list[Fields]:
        return []

    def tangents(self) -> list[Fields]:
        return []

    def recompute(self, asked: bool = False) -> bool:
        return False

    def _missing(self) -> int:
        return 0

    def names(self) -> dict[int, str]:
        found: dict[int, str] = {}
        for space in self.namespaces if self.record is not None else ():
            for name, value in list(space.items()):
                if isinstance(name, str) and not name.startswith("_") and not isinstance(value, (int, bool)):
                    row = self.tape.row_of(value)
                    if row is not None:
                        found.setdefault(row, name)
        return found

    def _events(self) -> list[EventFields]:
        return list(self.tape.events)

    def _tape(self, number: int, tape: Any) -> TapeFields:
        state = "recording" if tape._recording else "closed"
        return {
            "id": number,
            "name": self._tape_name(tape, number),
            "persistent": False,
            "state": state,
            "spans": [list(span) for span in tape.spans],
            "bytes": 0,
        }
