"""A block around a training loop that records some of its steps, each n-th or the first ones: between them the
framework runs as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

from ..engine.recording.block import InterruptSafeExit
from ..engine.recording.frames import user_frame
from .changes import Block, Changes

if TYPE_CHECKING:
    from ..engine.types import Leaving
    from .checkup import FrameworkRecording

Place = list[tuple[int, int]]


def _place(frame: FrameType | None) -> Place:
    """The line of the program that runs, and the call that led there. Each step computes it, so it must be quick."""
    own = user_frame(frame)
    pair = (own, None if own is None else own.f_back)
    return [(id(one.f_code), one.f_lasti) for one in pair if one is not None]


class SampledSteps:
    """A block that records the steps that are due: of ``every=100`` the first and then each hundredth, of ``first=5``
    the first five, as one recording. ``latest`` is the recording of the last of them, and answers what is
    asked of the block, such as ``explain``; ``steps`` counts all.

    A step ends where one of the framework's functions in ``ends`` gave gradients, such as ``backward()``, as ``gives``
    says of its first argument; where a round of the program's loop asks for gradients in several places, as for the two
    nets of a GAN, at the last of them. The second round tells which that is: the first step is recorded until then.
    What ``torch.autograd.grad`` gives ends no step of a program that calls ``backward()``.
    """

    def __init__(
        self,
        every: int | None,
        first: int | None,
        block: Callable[[], Block],
        ends: Sequence[tuple[Any, str]],
        ready: Callable[[], bool] = lambda: True,
        gives: Callable[..., bool] = lambda *owner: True,
    ) -> None:
        self.every, self.first, self.steps = every, first, 0
        self.latest: FrameworkRecording | None = None
        self.recorded: Callable[[], object] | None = None  # is called when the recording of a step is complete
        self._block, self._ends, self._ready, self._gives = block, ends, ready, gives
        self._changes = Changes()
        self._open: Block | None = None
        self._former: FrameworkRecording | None = None  # what `latest` was before
        self._passing = self._entered = self._whole = False
        self._last: Place | None = None  # where steps end
        self._met: list[Place] = []  # where else gradients came since then

    def _due(self) -> bool:
        """Whether the step that begins is recorded."""
        return self.steps % self.every == 0 if self.every else self.steps < (self.first or 0)

    def __enter__(self) -> Any:
        self._entered = True
        self._changes.begin()
        for owner, name in self._ends:
            self._changes.wrap(owner, name, self._around)
        if self._due():
            self._begin()
        return self

    def _around(self, function: Callable, *args: Any, **kwargs: Any) -> Any:
        """A function that gives gradients; what it calls itself, or what runs to find an answer, ends no step."""
        if self._passing or not self._ready():
            return function(*args, **kwargs)
        self._passing = True
        try:
            return function(*args, **kwargs)
        finally:
            self._passing = False
            whole = function.__name__ != "grad"
            if whole > self._whole:  # what autograd.grad gave until now were no steps
                self.steps, self._last, self._met = 0, None, []
                if self._open is None:
                    self._begin()
            self._whole |= whole
            if whole == self._whole and self._gives(*args[:1]) and self._is_end(_place(sys._getframe(2))):
                if self._open is not None:
                    self._close()
                if self._due():
                    self._begin()

    def _is_end(self, place: Place) -> bool:
        """Whether what is recorded ends at a place; counts the step that does."""
        if place in self._met:  # a new round, and the last place of the one before is known
            self.steps += self._last is None
            self._last = self._met[-1]
            self._met.clear()
        if place != self._last:
            self._met.append(place)
            return False
        self._met.clear()
        self.steps += 1
        return self.first in (None, self.steps)  # several first steps are one recording

    def _begin(self) -> None:
        self._open, self._former = self._block(), self.latest
        self.latest = self._open.__enter__()

    def _close(self) -> None:
        assert self._open is not None
        self._open.__exit__(None, None, None)
        self._open = None
        self._passing = True
        try:
            if self.recorded is not None:
                self.recorded()
        finally:
            self._passing = False

    def _leave(self, *error: object) -> None:
        self.steps = self.steps or len(self._met[:1])
        if self._open is not None:
            self._close()
            # the block ends where a step begins
            if self.latest is not None and not self.latest.sweeps and error[:1] == (None,):
                self.latest = self._former or self.latest
        self._former = None
        self._changes.undo()
        self._entered = False

    __exit__: Leaving = InterruptSafeExit(_leave, lambda block: block._entered)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.steps} steps, {self.latest!r})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if self.latest is None:
            raise RuntimeError("No step was recorded yet.")
        return getattr(self.latest, name)


def count_of(number: Any, option: str, example: str) -> int:
    """A number of steps that an option was given."""
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise ValueError(f"{option}={number!r} is no number of steps: {example}.")
    return number


def some_steps(every: int | None, first: int | None, *of_framework: Any) -> SampledSteps | None:
    """The block that the options of ``record`` choose; None where there are none."""
    if every is not None and first is not None:
        raise ValueError("every= and first= each choose the steps: write only one of them.")
    if every is not None:
        return SampledSteps(count_of(every, "every", "every=100 records each hundredth"), None, *of_framework)
    if first is not None:
        return SampledSteps(None, count_of(first, "first", "first=5 records five"), *of_framework)
    return None
