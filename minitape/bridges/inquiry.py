"""A question about a recording, for every framework: what stands behind the target, the way there, and the words."""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from ..engine.frames import lines_of, own_file
from ..explain.words import Explanation, where
from ..picture.reading import spaces
from .recording import Sweep
from .site import NOWHERE, Site

_CLIP = re.compile(r"\bclip\w*")
_KEPT = re.compile(r"(\w+)\.append\(")
CLIPS = {"max", "min", "Maximum", "Minimum"}  # of which a function clips
_SAID = re.compile(r"\bprint\(|\b(logg\w+|log|writer|history|losses)\.|\.append\(|\bf['\"]")  # an exit that is only looked at


class Inquiry:
    """Why ``source`` gets no gradient from ``target``. A row's ``extra`` has ``why`` (why no gradient passes it, or "") and
    ``came`` (rows with whose values a leaf was made)."""

    texts: dict[str, tuple[str, str]]  # cause, and a kind of it -> what happened, what mends it
    zeros: dict[str, set[str]]  # cause -> operations that make zeros of adjoints in this way; the first that has it counts
    choices: set[str]  # operations that take some elements and leave others

    def __init__(self, recording: Any, target: Any, source: Any, rows: list[int], known: str) -> None:
        self.recording, self.entries = recording, recording.entries
        self.target, self.source, self.rows = target, source, rows
        self.name = self._name(known)
        self.end = recording.row_of(target)
        self.behind = self._behind()

    def checks(self) -> Iterable[Callable[[], Explanation | None]]:
        """What may have happened, the likeliest first."""
        raise NotImplementedError

    def answer(self) -> Explanation:
        """The first of the checks that knows something says it."""
        for check in self.checks():
            found = check()
            if found is not None:
                return found
        return self.say("connected")

    # -- words ----------------------------------------------------------------------------------------------------------

    def say(self, cause: str, site: Site = NOWHERE, row: int | None = None, what: str = "", other: str = "",
            kind: str = "") -> Explanation:  # fmt: skip
        """An explanation; of a row its function and place."""
        if row is not None:
            site = self.entries[row].site if site is NOWHERE else site
            what = what or self._called(row)
        message, fix = self.texts[f"{cause} {kind}".strip()]
        line = "" if site[1] is None else f" ({where(*site)})"
        fields = {"x": self.name, "line": line, "what": what, "other": other}
        mends = fix.format(**fields | {"x": "x" if self.name == "the tensor" else self.name})
        answer = Explanation(cause, message.format(**fields), mends, *site)
        answer._tape, answer._rows = self.recording, [] if row is None else [row]
        return answer

    def _called(self, row: int) -> str:
        return self.entries[row].op

    def _name(self, known: str) -> str:
        """The Python name of the source, or the name that its framework has for it."""
        frame = sys._getframe(1)
        while frame.f_back is not None and own_file(frame.f_code.co_filename):
            frame = frame.f_back
        for space in spaces(frame):
            for name, value in list(space.items()):
                if value is self.source and not name.startswith("_"):
                    return name
        return known

    # -- the graph of the rows --------------------------------------------------------------------------------------------

    def _inputs(self, row: int) -> list[int]:
        """The rows with whose values a row was computed, or a leaf was made."""
        entry = self.entries[row]
        return [*entry.inputs, *entry.extra.came]

    def _behind(self) -> set[int]:
        """The rows from which the target was computed, whether a gradient passes or not."""
        seen, stack = set(), [] if self.end is None else [self.end]
        while stack:
            row = stack.pop()
            if row not in seen:
                seen.add(row)
                stack += self._inputs(row)
        return seen

    def _after(self) -> set[int]:
        """The rows that were computed from the source."""
        found = set(self.rows)
        for entry in self.entries[min(found, default=0) :]:
            if any(row in found for row in self._inputs(entry.row)):
                found.add(entry.row)
        return found

    def _way(self, begin: int) -> list[int]:
        """The rows from ``begin`` to the target, with the fewest breaks."""
        readers: dict[int, list[int]] = {}
        for row in self.behind:
            for given in self._inputs(row):
                readers.setdefault(given, []).append(row)
        cost, came = {begin: 0}, {begin: -1}
        queue = deque([begin])
        while queue:
            row = queue.popleft()
            for following in readers.get(row, ()):
                price = cost[row] + bool(self.entries[following].extra.why)
                if price < cost.get(following, 1 << 30):
                    cost[following], came[following] = price, row
                    (queue.append if price > cost[row] else queue.appendleft)(following)
        way, row = [], -1 if self.end not in came else self.end
        while row != -1:
            way.append(row)
            row = came[row]
        return way[::-1]

    def is_looked_at(self, site: Site) -> bool:
        """Whether the statement that took a value out only shows or logs it: a list that it is kept in is not used again."""
        text = text_of(site)
        kept = _KEPT.search(text)
        makers = [text_of(self.entries[row].site) for row in self.behind if self.entries[row].kind == "constant"]
        if kept and any(re.search(rf"\b{kept[1]}\b", maker) for maker in makers):
            return False
        return bool(_SAID.search(text))

    # -- what arrived -----------------------------------------------------------------------------------------------------

    @property
    def sweep(self) -> Sweep | None:
        """The last backward pass from the target."""
        return next((s for s in reversed(self.recording.sweeps) if self.end in s.target), None)

    def _arrived(self) -> list[Any]:
        sweep = self.sweep
        return [] if sweep is None else [sweep.adjoints[row] for row in self.used if row in sweep.adjoints]

    def _nan(self) -> Explanation | None:
        """The first NaN or infinity, where one arrived, or is the target: in the data, in a value, in a derivative."""
        arrived = self._arrived()
        ends = [self.entries[self.end].value] if arrived and self.end is not None else []
        if all(value.facts()[1] for value in [*arrived, *ends] if value is not None):
            return None
        for row in sorted(self.behind):
            entry = self.entries[row]
            if entry.value is not None and not entry.value.facts()[1]:
                if entry.kind == "operation":
                    return self.say("nan_forward", row=row)
                return self.say("nan_input", row=row, other=entry.name or "A tensor")
        for call, edges in self.sweep.edges.items():
            came = self.sweep.adjoints.get(call)
            if (came is None or came.facts()[1]) and not all(edge[2].facts()[1] for edge in edges):
                return self.say("nan_backward", row=call)
        return None

    def _zero(self) -> Explanation | None:
        """The operation that made zeros of what came to it, where zeros arrived."""
        arrived, sweep = self._arrived(), self.sweep
        if not arrived or not all(value.facts()[0] for value in arrived):
            return None
        seeds = [sweep.adjoints[row] for row in sweep.target if row in sweep.adjoints]
        if seeds and all(seed.facts()[0] for seed in seeds):
            return self.say("zero_seed", row=self.end)
        after = self._after()
        for call, edges in sweep.edges.items():
            came = sweep.adjoints.get(call)
            toward = [edge for edge in edges if edge[0] in after]
            if came is None or came.facts()[0] or not toward:
                continue
            if all(edge[2].facts()[0] for edge in toward):
                return self._zero_of(call)
            if toward[-1][3].facts()[0]:  # what it sent is not zero, and the sum is
                return self.say("zero_sum", row=call)
        return self.say("zero_sum", row=next(row for row in self.used if row in sweep.adjoints))

    def _zero_of(self, row: int) -> Explanation:
        entry = self.entries[row]
        clip = _CLIP.search(" ".join([*entry.scope, text_of(entry.site)])) if entry.op in CLIPS else None
        if clip:
            return self.say("saturated", row=row, what=clip[0])
        for cause, ops in self.zeros.items():
            if self.entries[row].op in ops:
                return self.say(cause, row=row)
        later = [r for r in self._way(row)[1:] if self.entries[r].op in self.choices]
        # it hands on a part that was zero before: who took another part?
        return self.say("not_selected", row=later[0]) if later else self.say("zero_factor", row=row)

    @property
    def used(self) -> list[int]:
        """Those rows of the source from which the target was computed."""
        return [row for row in self.rows if row in self.behind]


def text_of(site: Site) -> str:
    """The line of a place."""
    lines = lines_of(site[0] or "")
    return lines[site[1] - 1] if site[1] and site[1] <= len(lines) else ""
