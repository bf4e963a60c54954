"""A question about a recording, for every framework: what stands behind the target, the way there, and the words."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np

from ..engine.recording.frames import lines_of, own_file
from ..explain.asking import in_brackets
from ..explain.flow import Flow
from ..explain.source import statement_at
from ..explain.values import Values, numbers_of, text_of
from ..explain.words import Explanation, words_alone
from ..picture.reading import spaces
from .patches import Dialect, mend
from .recording import Sweep
from .site import NOWHERE, Site

_KEPT = re.compile(r"(\w+)\.append\(")
_SHOWN = re.compile(r"\bprint\(|plot\w*\(|\bf['\"]|^\s*#|return ")
_SAID = re.compile(r"\bprint\(|\b(logg\w+|log|writer|history|losses)\.|\.append\(|\bf['\"]")


LEFT_BY = {"": "a NumPy function", "__float__": "float()", "__int__": "int()", "__array__": "a NumPy function", "__index__": "an index",
           "__complex__": "complex()", "numpy_function": "tf.numpy_function"}  # how values leave, in words  # fmt: skip


class Inquiry(Values):
    """Why ``source`` gets no gradient from ``target``. A row's ``extra`` has ``why`` (why no gradient passes it, or "") and
    ``came`` (rows with whose values a leaf was made)."""

    texts: dict[str, tuple[str, str]]  # cause, and a kind of it -> what happened, what mends it
    dialect: Dialect  # how the framework writes what mends a line
    entries: list[Any]
    origin: Any  # of JAX: the texts behind the function

    def __init__(self, recording: Any, target: Any, source: Any, rows: list[int], known: str) -> None:
        self.recording, self.entries = recording, recording.entries
        self.target, self.source, self.rows = target, source, rows
        self.name = self._name(known)
        self.end = recording.row_of(target)
        self.ends = [] if self.end is None else [self.end]
        self.behind = self._behind(self.ends)

    def checks(self) -> Iterable[Callable[[], Explanation | None]]:
        """What may have happened, the likeliest first."""
        raise NotImplementedError

    def answer(self) -> Explanation:
        """The first of the checks that knows something says it."""
        for check in self.checks():
            found = check()
            if found is not None:
                self._add_further(found)
                with words_alone():
                    mend(self, found)
                return found
        return self.say("connected")

    def _add_further(self, found: Explanation) -> None:
        """What cuts the way a second time where it has no derivative but zeros, which only shows when the first is mended."""
        if found.kind in ("zero", "nonfinite", "error") or not self.used or not found._rows:
            return
        said = {(found.filename, found.line), *((other.filename, other.line) for other in found.others)}
        steps = [row for row in self._way(self.used[0])[1:] if self.entries[row].op in self.zeros.get("zero_derivative", ()) and row not in found._rows]
        for row in steps:
            if self.entries[row].site not in said or found._rows[0] not in (*steps, row):
                found.others.append(self.say("zero_derivative", row=row))
                file, line = self.entries[row].site
                found.fix += f" That alone is not enough: {self._called(row)}{in_brackets(file, line, str.format)} is constant in steps, and gives zeros then."
                break

    # -- words ----------------------------------------------------------------------------------------------------------

    def say(self, cause: str, site: Site = NOWHERE, row: int | None = None, what: str = "", other: str = "",
            kind: str = "") -> Explanation:  # fmt: skip
        """An explanation; of a row its function and place."""
        if row is not None:
            site = self.entries[row].site if site is NOWHERE else site
            what = what or self._called(row)
        message, fix = self.texts[f"{cause} {kind}".strip()]
        line = in_brackets(*site, say=str.format)  # a bridge speaks English
        fields = {"x": self.path or self.name, "line": line, "what": what, "other": other}
        mends = fix.format(**fields | {"x": self.path or ("x" if self.name == "the tensor" else self.name)})
        answer = Explanation(cause, message.format(**fields), mends, *site)
        answer._tape, answer._rows = self.recording, [] if row is None else [row]
        return answer

    def _called(self, row: int) -> str:
        entry = self.entries[row]
        return entry.label if entry.op == "function" else entry.op

    def _spaces(self) -> list[dict[str, object]]:
        """Where Python names of the program are."""
        frame = sys._getframe(1)
        while frame.f_back is not None and own_file(frame.f_code.co_filename):
            frame = frame.f_back
        return spaces(frame)

    def _name(self, known: str) -> str:
        """The Python name of the source, or the name that its framework has for it."""
        for space in self._spaces():
            for name, value in list(space.items()):
                if value is self.source and not name.startswith("_"):
                    return name
        return known

    @cached_property
    def path(self) -> str:
        """How the program reaches the source: by a name, or by one of what holds it, ``net[0].weight``; empty where nobody can tell."""
        if any(space.get(self.name) is self.source for space in self._spaces()):
            return self.name
        held = ((name, value) for space in self._spaces() for name, value in list(space.items()) if not name.startswith("_"))
        return next((f"{name}{part}" for name, value in held if (part := self._item(value) or self.part_of(value))), "")

    def _item(self, value: Any) -> str:
        """The same behind the name of a list or a dictionary."""
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
        return next((f"[{key!r}]" for key, part in items if part is self.source), "")

    def part_of(self, value: Any) -> str:
        """What to write behind the name of a layer for the source, if that is in it: ``[0].weight``."""
        return ""

    def recorded(self, value: Any) -> int | None:
        """The row of one of the framework's values, if it is one."""
        return self.recording.row_of(value) if hasattr(value, "shape") and hasattr(value, "dtype") else None

    # -- the graph of the rows --------------------------------------------------------------------------------------------

    def _inputs(self, row: int) -> list[int]:
        entry = self.entries[row]
        return [*entry.inputs, *entry.extra.came]

    def _price(self, row: int, following: int) -> int:
        return int(self._is_break(following))

    @property
    def sweep(self) -> Sweep | None:
        """The last backward pass from the target."""
        return next((s for s in reversed(self.recording.sweeps) if self.end in s.target), None)

    def passes_by(self, row: int) -> bool:
        """Whether the target was computed from the source on a way without this row, too."""
        return not self._behind(self.ends, past=row).isdisjoint(self.rows)

    def is_looked_at(self, exit: Any) -> bool:
        """Whether the statement that took a value out only shows or logs it.

        A leaf that has its elements is evidence that it came back. What Python did with a number in between leaves no trace in the
        rows: of that the text is the only witness.
        """
        return self.is_said(exit) and not self.comes_back(exit)

    def is_said(self, exit: Any) -> bool:
        """The same, as far as the text tells."""
        text, later = text_of(exit.site), self._later(exit)
        kept = _KEPT.search(text)
        rest = [line for line in lines_of(exit.site[0] or "")[exit.site[1] or 0 :] if not _SHOWN.search(line)]
        if kept and any(re.search(rf"(?<!\.)\b{kept[1]}\b(?!\.append)", line) for line in [*rest, *(text_of(entry.site) for entry in later)]):
            return False
        return bool(_SAID.search(text)) and not self.flows_back(exit)

    def _later(self, exit: Any) -> list[Any]:
        """What the target was computed from after a value had left, but for the source itself."""
        return [self.entries[row] for row in self.behind if row >= exit.before and row not in self.rows]

    def comes_back(self, exit: Any) -> bool:
        """Whether a leaf of the target has the elements that left, or one may have got them by the text."""
        taken = numbers_of(self.entries[exit.row].value)
        leaves = [numbers for entry in self._later(exit) if entry.kind != "operation" and (numbers := numbers_of(entry.value)) is not None]
        return (taken is not None and taken.size > 0 and any(np.isin(taken, leaf).all() for leaf in leaves)) or self.flows_back(exit)

    def flows_back(self, exit: Any) -> bool:
        """Whether a value that left may flow, by the text, into a constant of the target."""
        start = statement_at(exit.site)
        if start is None:
            return False
        if exit.site not in self._flows:
            self._flows[exit.site] = Flow(start, None, [start.source])
        flow = self._flows[exit.site]
        made = [statement_at(entry.site) for entry in self._later(exit) if entry.kind == "constant"]
        return any(at is start for at in made) or any(at is not None and at.source is start.source and flow.enters(at, None) for at in made)

    @cached_property
    def _flows(self) -> dict[Site, Flow]:
        return {}

    def _break(self) -> Explanation | None:
        """A row on the way through which no gradient passes."""
        ways = [way for row in self.used if (way := self._way(row))]
        breaks = [[row for row in way if self.entries[row].extra.why and row not in self.rows] for way in ways]
        if not breaks or not all(breaks):
            return None
        return self._broken_at(min(breaks, key=len))

    def _broken_at(self, rows: list[int]) -> Explanation:
        """What cuts the way at the first of some rows, with what does at the others, each line said once."""
        answer, *others = map(self._broken, rows)
        said = {(other.cause, other.filename, other.line): other for other in others}
        answer.others = [other for place, other in said.items() if place != (answer.cause, answer.filename, answer.line)]
        return answer

    def _broken(self, row: int) -> Explanation:
        """What cuts the way at a row."""
        return self.say(self.entries[row].extra.why, row=row)

    def _is_break(self, row: int) -> bool:
        """Whether no gradient passes a row."""
        return bool(self.entries[row].extra.why)
