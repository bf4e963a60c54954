"""A question about a recording, for every framework: what stands behind the target, the way there, and the words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

from ..explain.asking import asking_frame, in_brackets
from ..explain.cuts import Cuts
from ..explain.mend.dialects import Dialect
from ..explain.mend.table import mend
from ..explain.words import Explanation, words_alone
from ..picture.reading import spaces
from ..recording.rows import Sweep
from ..recording.sites import NOWHERE, Site
from ..recording.values import numbers_of
from .recording import Number

LEFT_BY = {"": "a NumPy function", "__float__": "float()", "__int__": "int()", "__array__": "a NumPy function", "__index__": "an index",
           "__complex__": "complex()", "numpy_function": "tf.numpy_function"}  # how values leave, in words  # fmt: skip


class Inquiry(Cuts):
    """Why ``source`` gets no gradient from ``target``: the checks of a framework in their order, and its words."""

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
        self.exits = recording.left
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

    # -- words ----------------------------------------------------------------------------------------------------------

    def say(self, cause: str, site: Site = NOWHERE, row: int | None = None, what: str = "", other: str = "",
            kind: str = "") -> Explanation:  # fmt: skip
        """An explanation; of a row its function and place."""
        if row is not None:
            site = self.entries[row].site if site is NOWHERE else site
            what = what or self._called(row)
        message, fix = self.texts[f"{cause} {kind}".strip()]
        line = in_brackets(*site, say=str.format)  # a bridge speaks English
        values = self._values(cause, row) if "{values}" in message else ""
        fields = {"x": self.path or self.name, "line": line, "what": what, "other": other, "values": values}
        mends = fix.format(**fields | {"x": self.path or ("x" if self.name == "the tensor" else self.name)})
        answer = Explanation(cause, message.format(**fields), mends, *site)
        answer._tape, answer._rows, answer.name = self.recording, [] if row is None else [row], fields["x"]
        return answer

    def _values(self, cause: str, row: int | None) -> str:
        """The numbers at which an operation goes wrong, as the sentence of a cause has them."""
        arrays = [] if row is None else [numbers for given in self.entries[row].inputs if (numbers := numbers_of(self.entries[given].value)) is not None]
        if cause == "nan_forward":
            result = None if row is None else numbers_of(self.entries[row].value)
            if result is None or np.isfinite(result).all():
                return "NaN or an infinity"
            lost = np.argmin(np.isfinite(result).reshape(-1))
            at = [array.reshape(-1)[lost if array.shape == result.shape else 0] for array in arrays if array.shape in (result.shape, ())]
            return f"{result.reshape(-1)[lost]:.4g}".replace("nan", "NaN") + (" at " + " and ".join(f"{number:.4g}" for number in at) if at and len(at) == len(arrays) else "")
        if len(arrays) != 1 or not arrays[0].size:
            return ""
        low, high = arrays[0].min(), arrays[0].max()
        return f" ({low:.4g})" if low == high else f" ({low:.4g} to {high:.4g})"

    def _spaces(self) -> list[dict[str, object]]:
        """Where Python names of the program are."""
        return spaces(asking_frame())

    def _name(self, known: str) -> str:
        """The Python name of the source, or the name that its framework has for it."""
        return next((name for name, value in self._names() if value is self.source), known)

    def _names(self) -> Iterator[tuple[str, Any]]:
        """The program's names, and what they hold."""
        return ((name, value) for space in self._spaces() for name, value in list(space.items()) if not name.startswith("_"))

    @cached_property
    def path(self) -> str:
        """How the program reaches the source: by a name, or by one of what holds it, ``net[0].weight``; empty where nobody can tell."""
        if any(name == self.name and value is self.source for name, value in self._names()):
            return self.name
        return next((f"{name}{part}" for name, value in self._names() if (part := self._item(value) or self.part_of(value))), "")

    def _item(self, value: Any) -> str:
        """The same behind the name of a list, a dictionary or an object of the program's own."""
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
        plain = isinstance(value, (type, ModuleType)) or not isinstance(getattr(value, "__dict__", None), dict)
        own = [] if plain else [name for name, part in vars(value).items() if part is self.source and not name.startswith("_")]
        return next((f"[{key!r}]" for key, part in items if part is self.source), next((f".{name}" for name in own), ""))

    def part_of(self, value: Any) -> str:
        """What to write behind the name of a layer for the source, if that is in it: ``[0].weight``."""
        return ""

    def _leaf(self, row: int) -> Explanation:
        """A leaf that has a NaN or infinity: what began with it in an earlier backward pass, as of weights that took a step with one."""
        for sweep in self.recording.sweeps:
            if sweep is self.sweep:
                break
            asking: Any = type(self)  # which names the rows of the source itself
            found = asking(self.recording, Number(sweep.target[-1]), self.source)._nan() if sweep.target else None
            if found is not None:
                return found
        return super()._leaf(row)

    def recorded(self, value: Any) -> int | None:
        """The row of one of the framework's values, if it is one."""
        return self.recording.row_of(value) if hasattr(value, "shape") and hasattr(value, "dtype") else None

    @property
    def sweep(self) -> Sweep | None:
        """The last backward pass from the target."""
        return next((s for s in reversed(self.recording.sweeps) if self.end in s.target), None)
