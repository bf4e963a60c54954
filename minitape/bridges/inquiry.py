"""A question about a recording, for every framework: what is behind the target, the path there, and the words."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import compress
from operator import not_
from types import ModuleType
from typing import Any

from ..common.texts import paragraph
from ..engine.recording.frames import own_file
from ..explain.blocked import Cuts
from ..explain.caller import asking_frame
from ..explain.fixes.dialects import Dialect
from ..explain.fixes.table import offer_fix
from ..explain.sentences import fill
from ..explain.source import read_again, statement_at
from ..explain.statement import LOOPS, Statement, last_name, unparse
from ..explain.words import Explanation, not_all, words_alone
from ..picture.reading import spaces
from ..recording.rows import BackwardPass
from ..recording.sites import NOWHERE, Site
from .recording import Number

LEFT_BY = {
    "": "a NumPy function",
    "__float__": "float()",
    "__int__": "int()",
    "__array__": "a NumPy function",
    "__index__": "an index",
    "__complex__": "complex()",
    "numpy_function": "tf.numpy_function",
}  # how values leave, in words


def left_by(how: str) -> str:
    """How a value left, in words.

    >>> left_by("__array__"), left_by("item")
    ('a NumPy function', '.item()')
    """
    return fill(LEFT_BY[how]) if how in LEFT_BY else f".{how}()"


Reasons = Iterable[Callable[[], Explanation | None]]
DEEP, MANY = 8, 2000  # of what holds what is looked at to find a name


class Inquiry(Cuts):
    """Why ``source`` gets no gradient from ``target``: the checks of a framework in their order, and its words."""

    dialect: Dialect  # how the framework writes what fixes a line
    entries: list
    origin: Any  # of JAX: the texts behind the function

    def __init__(self, recording: Any, target: Any, source: Any, rows: list[int], known: str) -> None:
        read_again()
        self.recording, self.entries = recording, recording.entries
        self.target, self.source, self.rows = target, source, rows
        self.name = self._name(known)
        self.end = recording.row_of(target)
        self.ends = [] if self.end is None else [self.end]
        self.exits = recording.left
        self.behind = self._behind(self.ends)

    def checks(self) -> Reasons:
        """What may have happened, the likeliest first."""
        raise NotImplementedError

    def answer(self) -> Explanation:
        """The answer of the first check that finds something."""
        for check in self.checks():
            found = check()
            if found is not None:
                self._add_further(found)
                with words_alone():
                    offer_fix(self, found)
                found.fix = paragraph(found.fix, "" if found.connected else not_all(found))
                return found
        return self.say("connected")

    # -- words -------------------------------------------------------------------------------------

    def called_source(self) -> str:
        return self.path or fill(self.name)

    def _spaces(self) -> list[dict[str, object]]:
        """Where Python names of the program are."""
        return spaces(asking_frame())

    def _name(self, known: str) -> str:
        """The Python name of the source, or the name that its framework has for it."""
        return self._bare_name(self.source) or known

    def _names(self) -> Iterator[tuple[str, Any]]:
        """The program's names, and what they hold."""
        return (
            (name, value)
            for space in self._spaces()
            for name, value in list(space.items())
            if name.isidentifier() and not name.startswith("_")
        )

    def _bare_name(self, wanted: Any) -> str:
        """The name that holds an object; that of a loop holds it by chance, as ``p`` of ``for p in
        net.parameters()``.
        """
        return next(
            (name for name, value in self._names() if self.is_it(value, wanted) and name not in self._of_loops), ""
        )

    def _asking(self) -> Statement | None:
        """The statement that calls explain, as far as the text shows it."""
        frame = asking_frame()
        return None if frame is None else statement_at((frame.f_code.co_filename, frame.f_lineno))

    @cached_property
    def _of_loops(self) -> set[str]:
        """The names that loops bind where the question is asked."""
        at = self._asking()
        if at is None:
            return set()
        near = [s for s in at.source.statements if s.function is at.function]
        others = {name for s in near if not isinstance(s.node, LOOPS) for name in s.binds()}
        inner = {unparse(n.target) for s in near for n in s.walk() if isinstance(n, ast.comprehension)}
        return inner.union(*(s.binds() for s in near if isinstance(s.node, LOOPS))) - others

    @cached_property
    def path(self) -> str:
        """How the program reaches the source."""
        return self.path_to(self.source)

    def path_to(self, wanted: Any) -> str:
        """How the program reaches an object: by a name, or by one of what holds it, ``trainer.net[0].weight``; empty
        where that is unknown.
        """
        return self.path_and_holder(wanted)[0]

    def path_and_holder(self, wanted: Any) -> tuple[str, Any]:
        """Returns (path, holder): the program's name of an object, and the object that has it as a part, or None."""
        if name := self._bare_name(wanted):
            return name, None
        roots = [(name, value) for name, value in self._names() if name not in self._of_loops]
        # such as one of all parameters: they come last
        lists = [isinstance(value, (dict, list, tuple)) for _, value in roots]
        found = self._below(list(compress(roots, map(not_, lists))), wanted) or self._below(
            list(compress(roots, lists)), wanted
        )
        chance = next((name for name, value in self._names() if self.is_it(value, wanted)), "")
        return found or (chance or (self._asked_as() if wanted is self.source else ""), None)

    def _below(self, level: list[tuple[str, Any]], wanted: Any) -> tuple[str, Any] | None:
        """What leads from one of some names to an object, on the shortest way, and what holds it."""
        seen = set[int]()
        for _ in range(DEEP):
            inner: list[tuple[str, Any]] = []
            for text, holder in level:
                if id(holder) in seen:
                    continue
                seen.add(id(holder))
                parts = list(self.parts_of(holder))
                found = next((part for part, value in parts if self.is_it(value, wanted)), "") or self.part_of(
                    holder, wanted
                )
                if found:
                    return text + found, holder
                inner += [(text + part, value) for part, value in parts] if self._looks_into(holder) else []
            level = inner[:MANY]
        return None

    def _asked_as(self) -> str:
        """What the question calls the source, as of a property that computes it anew: the last argument of
        ``explain``.
        """
        at = self._asking()
        calls = (
            [n for n in at.walk() if isinstance(n, ast.Call) and last_name(n.func) == "explain" and n.args]
            if at is not None
            else []
        )
        return unparse(calls[0].args[-1]) if len(calls) == 1 and isinstance(calls[0].args[-1], ast.Attribute) else ""

    def parts_of(self, holder: Any) -> Iterable[tuple[str, Any]]:
        """What a list, a dictionary or an object holds, each with what to write behind its name."""
        if isinstance(holder, dict):
            return [(f"[{key!r}]", value) for key, value in list(holder.items())[:MANY]]
        if isinstance(holder, (list, tuple)):
            return [(f"[{at}]", value) for at, value in enumerate(holder[:MANY])]
        plain = isinstance(holder, (type, ModuleType)) or not isinstance(getattr(holder, "__dict__", None), dict)
        return (
            []
            if plain
            else [(f".{name}", value) for name, value in list(vars(holder).items()) if not name.startswith("_")]
        )

    def _looks_into(self, holder: Any) -> bool:
        """Whether an object may lead further: a list, or an object of the program's own class, and no optimizer."""
        file = getattr(sys.modules.get(type(holder).__module__), "__file__", None)
        return isinstance(holder, (dict, list, tuple)) or file is None or not own_file(file)

    def is_it(self, value: Any, wanted: Any) -> bool:
        """Whether a value of the program is the one that is wanted."""
        return value is wanted

    def part_of(self, value: Any, wanted: Any) -> str:
        """What to write behind the name of a layer for what is wanted, if that is in it, where its parts do not
        tell.
        """
        return ""

    def _leaf(self, row: int, site: Site = NOWHERE) -> Explanation:
        """A leaf that has a NaN or infinity: what began with it in an earlier backward pass, as of weights that took a
        step with one.
        """
        for sweep in self.recording.sweeps:
            if sweep is self.sweep:
                break
            asking: Any = type(self)  # which names the rows of the source itself
            found = asking(self.recording, Number(sweep.target[-1]), self.source)._nan() if sweep.target else None
            if found is not None:
                return found
        return super()._leaf(row, site)

    @property
    def sweep(self) -> BackwardPass | None:
        """The last backward pass from the target."""
        return next((s for s in reversed(self.recording.sweeps) if self.end in s.target), None)
