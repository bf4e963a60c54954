"""Why a gradient of JAX is zero or NaN, or refused: from the rows of a recording, and from what JAX sent back."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterable
from typing import Any

import jax

from ..engine.frames import own_file
from ..explain.words import Explanation
from .inquiry import Inquiry
from .jax_log import SHARES, STAIRS, inexact
from .jax_texts import BENT, CHOICES, PATCHES, TEXT, ZEROS
from .site import NOWHERE, Site

_ASKED = re.compile(r"problem arose with the `(\w+)` function")


def why(recording: Any, target: Any, source: Any) -> Explanation:
    """The explanation of one gradient; see ``Recording.explain``."""
    return JaxInquiry(recording, target, source).answer()


class JaxInquiry(Inquiry):
    """One question."""

    dialect = PATCHES
    texts, zeros, choices, cancels = TEXT, ZEROS, CHOICES, SHARES

    def __init__(self, recording: Any, target: Any, source: Any) -> None:
        row = recording.row_of(source)
        known = None if row is None else recording.entries[row].name
        end = recording.target if target is None or target is recording.value else target
        super().__init__(recording, end, source, [] if row is None else [row], known or "the array")

    def _name(self, known: str) -> str:
        return known if known != "the array" else super()._name(known)

    def checks(self) -> Iterable[Callable[[], Explanation | None]]:
        """What may have happened in JAX."""
        if isinstance(self.source, str) and not self.rows:
            names = ", ".join(entry.name for entry in self.entries if entry.name and entry.kind == "source")
            raise ValueError(f"explain() knows no argument {self.source!r}. There are: {names}.")
        if not isinstance(self.source, (str, int)) and not hasattr(self.source, "shape"):
            raise TypeError(f"explain() takes an array or the name of an argument as its source, but received {self.source!r}.")
        return (self._traced, self._dtype, self._result, self._own, self._break, self._not_used, self._refused, self._lost, self._nan,
                self._zero)  # fmt: skip

    # -- what JAX refuses -------------------------------------------------------------------------------------------------

    def _traced(self) -> Explanation | None:
        """The function could not be traced."""
        error = self.recording.error
        if error is None or self.recording.ran:
            return None
        site, called = site_of_error(error)
        site = site if self.recording.stopped is NOWHERE else self.recording.stopped
        if isinstance(error, jax.errors.UnexpectedTracerError):
            return self.say("leaked_tracer", site)
        if isinstance(error, jax.errors.TracerBoolConversionError):
            return self.say("branch", site)
        if isinstance(error, jax.errors.NonConcreteBooleanIndexError):
            return self.say("boolean_index", site)
        return self.say("left_jax", site, what=self._asked(error, called))

    def _asked(self, error: Exception, called: str) -> str:
        """What wanted a number: JAX says it, or the error came up in a function of its own."""
        if isinstance(error, jax.errors.TracerArrayConversionError):
            return "A NumPy function"
        if isinstance(error, jax.errors.TracerIntegerConversionError):
            return "range() or an index"
        found = _ASKED.search(str(error))
        return f"{found[1] if found else called}()" if found or called else "This line"

    def _dtype(self) -> Explanation | None:
        """An argument that is differentiated is no float."""
        asked = self.recording.chosen if self.recording.error is not None else self.rows
        for row in asked:
            entry = self.entries[row]
            if entry.kind == "source" and not inexact(entry.value.tensor) and row in self.recording.chosen:
                return self.say("integer_dtype", what=entry.dtype, other=entry.name or "An argument")
        return None

    def _result(self) -> Explanation | None:
        """The result is not one number."""
        if self.recording.error is None or self.recording.sweeps:
            return None
        value = self.recording.value
        if isinstance(self.recording.error, TypeError) and not hasattr(value, "shape"):
            return self.say("not_scalar", kind="none") if value is None else self.say("has_aux")
        if isinstance(self.recording.error, TypeError) and value.shape != ():
            return self.say("not_scalar", what=str(value.shape))
        return None

    def _refused(self) -> Explanation | None:
        """JAX's way back ended in an error."""
        error = self.recording.error
        if error is None:
            return None
        for word, cause in (("while", "while_loop"), ("callback", "callback")):
            row = next((row for row in sorted(self.behind) if word in self.entries[row].op and self.entries[row].differentiable), None)
            if row is not None:
                return self.say(cause, row=row)
        return self.say("refused", site_of_error(error)[0], what=str(error).partition("\n")[0])

    # -- why nothing arrives ----------------------------------------------------------------------------------------------

    def _own(self) -> Explanation | None:
        if not self.rows or self.rows[0] in self.recording.chosen:
            return self._closure()
        if self.entries[self.rows[0]].kind == "source":
            return self.say("argnums")
        return None

    def _closure(self) -> Explanation | None:
        """The array was used from outside of the function."""
        if self.rows:
            return None
        for row in sorted(self.behind):
            if any(root is self.source for root in self.entries[row].extra.roots):
                reader = next(after for after in sorted(self.behind) if row in self.entries[after].inputs)
                return self.say("closure", self.entries[reader].site, row=row)
        return None

    def _break(self) -> Explanation | None:
        """A row on the way through which no gradient passes."""
        ways = [self._way(row) for row in self.used]
        breaks = [[row for row in way if self.entries[row].extra.why] for way in ways if way]
        if not breaks or min(map(len, breaks)) == 0:
            return None
        first, *others = min(breaks, key=len)
        answer = self._broken(first)
        answer.others = [self._broken(row) for row in others]
        return answer

    def _broken(self, row: int) -> Explanation:
        why = self.entries[row].extra.why
        return self._stairs(row) if why == "no_derivative" and self._in_stairs(row) else self.say(why, row=row)

    def _in_stairs(self, row: int) -> str:
        """The function of jax.numpy that is constant in steps, and that an operation is a part of."""
        return next((name for name in self.entries[row].scope if name in STAIRS), "")

    def _stairs(self, row: int) -> Explanation:
        return self.say("zero_derivative", row=row, what=self._in_stairs(row))

    def _not_used(self) -> Explanation | None:
        if self.used:
            return None
        after = self._after()
        for fork in self.recording.log.forks:
            if after.intersection(fork.rows):
                return self.say("other_branch", fork.site, what=str(fork.taken))
        return self.say("unused")

    def _lost(self) -> Explanation | None:
        """A rule of the program's own through which nothing came: JAX gives zeros without a word."""
        sweep = self.sweep
        if sweep is None or not self.used or self.used[0] not in self.recording.unreached:
            return None
        way = self._way(self.used[0])[1:]
        for row in way:
            if self.entries[row].extra.custom:
                return self.say("custom_rule", row=row)
        return None

    def _zero_of(self, row: int) -> Explanation:
        entry = self.entries[row]
        if self._in_stairs(row):
            return self._stairs(row)
        curve = next((name for name in entry.scope if name in BENT), "")
        if curve and entry.op == "select_n":
            return self.say("saturated", row=row, what=curve)
        if entry.label in ("max 0.0", "0.0 max"):
            return self.say("dead_relu", row=row, what="maximum")
        if entry.extra.custom and not any(entry.op in ops for ops in self.zeros.values()):
            return self.say("custom_rule", row=row)
        return super()._zero_of(row)


def site_of_error(error: Exception) -> tuple[Site, str]:
    """The user's innermost line on which an error was raised, and the function of a library in which."""
    called = ""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not own_file(frame.filename):
            return (frame.filename, frame.lineno), called
        called = frame.name.strip("_") if frame.name not in ("meth", "op") else called
    return NOWHERE, ""
