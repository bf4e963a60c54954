"""A block around a training loop that records some of its steps, each n-th or the one after a bad gradient (missing,
all zeros, NaN or infinite): between them the framework runs as it is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..engine.recording.block import InterruptSafeExit
from ..engine.recording.frames import user_frame
from ..explain.caller import warn_user
from ..explain.sentences import fill
from .changes import Block, Changes
from .kept_values import Noted
from .texts import MISSING

if TYPE_CHECKING:
    from ..engine.types import Leaving
    from ..explain.words import Explanation
    from .checkup import FrameworkRecording

MOST = 10  # steps that are recorded: gradients that come and go cost nothing after them
EACH = 10  # the first step and then each tenth is looked at: to read numbers means to wait for some devices


Place = tuple[int, int, int, int]


def _place(frame: FrameType | None) -> Place:
    """The line of the program that runs, and the call that led there. Each step computes it, so it must be quick."""
    frame = user_frame(frame)
    if frame is None:
        return 0, 0, 0, 0
    caller = frame.f_back
    return (
        (id(frame.f_code), frame.f_lasti, 0, 0)
        if caller is None
        else (id(frame.f_code), frame.f_lasti, id(caller.f_code), caller.f_lasti)
    )


class SampledSteps:
    """A block that records the steps that are due. ``latest`` is the recording of the last of them, and answers what is
    asked of the block, such as ``explain``; ``steps`` counts all.

    A step ends where one of the framework's functions in ``ends`` gave gradients, such as ``backward()``, as ``gives``
    says of its first argument; where a round of the program's loop asks for gradients in several places, as for the two
    nets of a GAN, at the last of them. The second round tells which that is: the first step is recorded until then.
    """

    def __init__(
        self,
        block: Callable[[], Block[Any]],
        ends: Sequence[tuple[Any, str]],
        ready: Callable[[], bool] = lambda: True,
        gives: Callable[..., bool] = lambda *owner: True,
    ) -> None:
        self.steps = self._said = 0
        self.latest: FrameworkRecording | None = None
        self.recorded: Callable[[], object] | None = None  # is called when the recording of a step is complete
        self._block, self._ends, self._ready, self._gives = block, ends, ready, gives
        self._changes = Changes()
        self._open: Block[Any] | None = None
        self._former: FrameworkRecording | None = None  # what `latest` was before
        self._passing = self._entered = False
        self._last: Place | None = None  # where steps end
        self._met: list[Place] = []  # where else gradients came since then

    def _due(self) -> bool:
        """Whether the step that begins is recorded: each, where no option chooses."""
        return True

    def _recorded(self) -> None:
        """The recording of a step is complete."""
        if self.recorded is not None:
            self.recorded()

    def _none_recorded(self) -> str:
        """Why there is no recording to answer."""
        return "No step was recorded yet."

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
            if self._gives(*args[:1]) and self._is_end(_place(sys._getframe(2))):
                if self._open is not None:
                    self._close()
                if self._due():
                    self._begin()

    def _is_end(self, place: Place) -> bool:
        """Whether a step ends at a place, and counts it."""
        if place in self._met:  # a new round, and the last place of the one before is known
            self.steps += self._last is None
            self._last = self._met[-1]
            self._met.clear()
        if place != self._last:
            self._met.append(place)
            return False
        self._met.clear()
        self.steps += 1
        return True

    def _begin(self) -> None:
        self._open, self._former = self._block(), self.latest
        self.latest = self._open.__enter__()

    def _close(self) -> None:
        assert self._open is not None
        self._open.__exit__(None, None, None)
        self._open = None
        self._passing = True
        try:
            self._recorded()
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
        steps = f"{self.steps} step{'' if self.steps == 1 else 's'}"
        return f"{type(self).__name__}({self._said}, {steps}, {self.latest!r})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if self.latest is None:
            raise RuntimeError(self._none_recorded())
        return getattr(self.latest, name)


class Every(SampledSteps):
    """What ``record(every=100)`` gives: the first step and then each hundredth is recorded."""

    def __init__(self, every: int, *of_framework: Any) -> None:
        super().__init__(*of_framework)
        self.every = self._said = count_of(every, "every", "every=100 records each hundredth")

    def _due(self) -> bool:
        return self.steps % self.every == 0


class First(SampledSteps):
    """What ``record(first=5)`` gives: one recording of the first five steps; the others run as they are."""

    def __init__(self, first: int, *of_framework: Any) -> None:
        super().__init__(*of_framework)
        self.first = self._said = count_of(first, "first", "first=5 records five")

    def _is_end(self, place: Place) -> bool:
        """Whether the last step that is recorded ends here."""
        return super()._is_end(place) and self.steps == self.first

    def _due(self) -> bool:
        return self.steps < self.first


class Found(NamedTuple):
    """A bad gradient: in which step it was seen, what it was, and why, as the recording of the next step has it."""

    step: int
    what: str
    why: Explanation

    def __str__(self) -> str:
        said = fill("Step {step} gave {x} {what}.", step=self.step, x=self.why.name, what=fill(self.what))
        return f"{said}\n{self.why}"


class AfterBadGradient(SampledSteps):
    """What ``record(after_bad_gradient=True)`` gives: ``found`` has what was bad and why, and each is a warning when it
    is found.

    A source is told about once for each way of being bad, and again where the step that was recorded had nothing bad to
    show.
    """

    def __init__(self, watch: Callable[[AfterBadGradient], None], *of_framework: Any) -> None:
        super().__init__(*of_framework)
        self.found: list[Found] = []
        self._watch = watch  # lets the framework call `look`
        self._known: Noted[set[str]] = Noted()
        self._asked: list[tuple] = []  # what the next recording is to explain
        self._left = MOST

    def __enter__(self) -> Any:
        super().__enter__()
        self._watch(self)
        return self

    @property
    def _step(self) -> int:
        """Of which step the gradients are; in the first round of the program's loop none is counted yet."""
        return self.steps or 1

    @property
    def looks(self) -> bool:
        """Whether the gradients of this step are looked at."""
        return self._step % EACH == 1 and self._left > 0 and not self._passing and self._changes.here

    def look(self, sources: list, gradients: list, judge: Callable[[list], list[str]]) -> None:
        """The gradients of a step; ``judge`` says what is bad about each that is there, with an empty text for a good
        one.
        """
        there = iter(judge([gradient for gradient in gradients if gradient is not None]))
        for source, gradient in zip(sources, gradients, strict=True):
            what = MISSING if gradient is None else next(there)
            known = self._known.setdefault(source, set()) if what else set()
            if what and what not in known:
                known.add(what)
                self._asked.append((self._step, what, source))

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
            more = "\n" + fill("The same step has {n} more: see found.", n=len(new) - 1) if new[1:] else ""
            warn_user(f"{new[0]}{more}")

    def _none_recorded(self) -> str:
        if self._asked:
            step, what, _ = self._asked[0]
            return f"Step {step} gave {what}, and no step came after it that could be recorded."
        return (
            f"No gradient was missing, zero, NaN or infinite in {self.steps} steps, each tenth of which was looked "
            "at: none was recorded."
        )

    def __repr__(self) -> str:
        said = ", ".join(f"{why.name}: {what} in step {step}" for step, what, why in self.found) or "nothing bad"
        return f"AfterBadGradient({self.steps} step{'' if self.steps == 1 else 's'}, {said})"


def count_of(number: Any, option: str, example: str) -> int:
    """A number of steps that an option was given."""
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise ValueError(f"{option}={number!r} is no number of steps: {example}.")
    return number


def some_steps(every: int | None, first: int | None, watch: Any, *of_framework: Any) -> SampledSteps | None:
    """The block that the options of ``record`` choose; ``watch`` is that of :class:`AfterBadGradient`, or False."""
    if (every is not None) + (first is not None) + bool(watch) > 1:
        raise ValueError("every=, first= and after_bad_gradient= each choose the steps: write only one of them.")
    if every is not None:
        return Every(every, *of_framework)
    if first is not None:
        return First(first, *of_framework)
    return AfterBadGradient(watch, *of_framework) if watch else None
