"""A block around a training loop that records a step only after a bad gradient: one that was missing, all zeros, NaN or infinite."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from ..explain.asking import warn_user
from .every import Steps
from .kept import Noted

if TYPE_CHECKING:
    from ..explain.words import Explanation

MOST = 10  # steps that are recorded: gradients that come and go cost nothing after them
EACH = 10  # the first step and then each tenth is looked at: to read numbers means to wait for some devices

MISSING, ZERO, NOT_FINITE = "no gradient", "a gradient of zeros only", "a gradient with NaN or infinity"


class Found(NamedTuple):
    """A bad gradient: in which step it was seen, what it was, and why, as the recording of the next step has it."""

    step: int
    what: str
    why: Explanation

    def __str__(self) -> str:
        return f"Step {self.step} gave {self.why.name} {self.what}.\n{self.why}"


class AfterBadGradient(Steps):
    """What ``record(after_bad_gradient=True)`` gives: ``found`` has what was bad and why, and each is a warning when it is found.

    A source is told about once for each way of being bad, and again where the step that was recorded had nothing bad to show.
    """

    def __init__(self, watch: Callable[[AfterBadGradient], None], *of_framework: Any) -> None:
        super().__init__(*of_framework)
        self.found: list[Found] = []
        self._watch = watch  # lets the framework call `look`
        self._known: Noted[set[str]] = Noted()
        self._asked: list[tuple[int, str, Any]] = []  # what the next recording is to explain
        self._left = MOST
        self._began, self._looked = perf_counter(), 0.0

    def __enter__(self) -> Any:
        super().__enter__()
        self._watch(self)
        return self

    @property
    def looks(self) -> bool:
        """Whether the gradients of this step are looked at."""
        return (self.steps - 1) % EACH == 0 and self._left > 0 and not self._passing and self._changes.here

    def look(self, sources: list[Any], gradients: list[Any], judge: Callable[[list[Any]], list[str]]) -> None:
        """The gradients of a step; ``judge`` says what is bad about each that is there, with an empty text for a good one."""
        began = perf_counter()
        there = iter(judge([gradient for gradient in gradients if gradient is not None]))
        for source, gradient in zip(sources, gradients, strict=True):
            what = MISSING if gradient is None else next(there)
            known = self._known.setdefault(source, set()) if what else set()
            if what and what not in known:
                known.add(what)
                self._asked.append((self.steps, what, source))
        self._looked += perf_counter() - began

    @property
    def cost(self) -> str:
        """What it costs to look at gradients, in words."""
        share, count = self._looked / (perf_counter() - self._began), MOST - self._left
        return f"To look at the gradients took {share:.1%} of the time; {count} step{' was' if count == 1 else 's were'} recorded."

    def _due(self) -> bool:
        due = bool(self._asked) and self._left > 0
        self._left -= due
        return due

    def _recorded(self) -> None:
        asked, self._asked, told = self._asked, [], len(self.found)
        for step, what, source in asked:
            why = self.latest.explain(source) if self.latest is not None else None
            if why is not None and why.cause != "connected":
                self.found.append(Found(step, what, why))
            else:  # it was so for a moment
                self._known[source] = set()
        new = self.found[told:]
        if new:
            more = f"\nThe same step has {len(new) - 1} more: see found." if new[1:] else ""
            warn_user(f"{new[0]}{more}")

    def _none_recorded(self) -> str:
        if self._asked:
            step, what, _ = self._asked[0]
            return f"Step {step} gave {what}, and no step came after it that could be recorded."
        return f"No gradient was missing, zero, NaN or infinite in {self.steps} steps, each tenth of which was looked at: none was recorded."

    def __repr__(self) -> str:
        said = ", ".join(f"{why.name}: {what} in step {step}" for step, what, why in self.found) or "nothing bad"
        return f"AfterBadGradient({self.steps} step{'' if self.steps == 1 else 's'}, {said})"
