"""A block around a training loop that records some of its steps, each n-th or the first ones: between them the
framework runs as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from types import FrameType
from typing import TYPE_CHECKING, Any

from ..engine.record.interrupt_safe import InterruptSafeExit
from ..engine.record.user_frames import find_user_frame
from .framework_patches import FrameworkPatches

if TYPE_CHECKING:
    from ..engine.types import ExitProperty
    from .checkup import FrameworkRecording

Place = list[tuple[int, int]]


def _find_calling_place(frame: FrameType | None) -> Place:
    """Identify the expression of the program that runs, and the call that led there. It is computed in each step, so it
    must be quick.
    """
    innermost = find_user_frame(frame)
    frames = (innermost, None if innermost is None else innermost.f_back)
    return [(id(used_frame.f_code), used_frame.f_lasti) for used_frame in frames if used_frame is not None]


class SampledSteps:
    """A block that records the steps that are due: of ``every=100`` the first and then each hundredth, of ``first=5``
    the first five, as one recording. ``latest`` is the recording of the last of them, and answers what is
    asked of the block, such as ``explain``; ``steps`` counts all.

    A step ends where one of the framework's functions in ``step_ends`` gave gradients, such as ``backward()``, as
    ``gives_gradients`` says of its first argument; where a round of the program's loop asks for gradients in several
    places, as for the two nets of a GAN, at the last of them. The second round tells which that is: the first step is
    recorded until then. What ``torch.autograd.grad`` gives ends no step of a program that calls ``backward()``.
    """

    def __init__(
        self,
        every: int | None,
        first: int | None,
        build_block: Callable[[], AbstractContextManager],
        step_ends: Sequence[tuple[Any, str]],
        is_ready: Callable[[], bool] = lambda: True,
        gives_gradients: Callable[..., bool] = lambda *owner: True,
    ) -> None:
        self.every, self.first, self.steps = every, first, 0
        self.latest: FrameworkRecording | None = None
        self.on_recorded: Callable[[], object] | None = None  # is called when the recording of a step is complete
        self._build_block, self._step_ends, self._is_ready, self._gives_gradients = (
            build_block,
            step_ends,
            is_ready,
            gives_gradients,
        )
        self._patches = FrameworkPatches()
        self._open_block: AbstractContextManager | None = None
        self._previous_recording: FrameworkRecording | None = None  # what `latest` was before
        self._is_passing_through = self._entered = self._has_backward_calls = False
        self._step_end_place: Place | None = None  # where steps end
        self._places_since_end: list[Place] = []  # where else gradients came since then

    def _is_step_due(self) -> bool:
        """Return whether the step that begins is recorded."""
        return self.steps % self.every == 0 if self.every else self.steps < (self.first or 0)

    def __enter__(self) -> Any:
        self._entered = True
        self._patches.activate_in_this_thread()
        for owner, name in self._step_ends:
            self._patches.wrap_function(owner, name, self._on_gradient_function)
        if self._is_step_due():
            self._begin_recording()
        return self

    def _on_gradient_function(self, original: Callable, /, *args: Any, **kwargs: Any) -> Any:
        """Run a function that gives gradients, and end the step if it does; what it calls itself, or what explain runs,
        ends none.
        """
        if self._is_passing_through or not self._is_ready():
            return original(*args, **kwargs)
        self._is_passing_through = True
        try:
            return original(*args, **kwargs)
        finally:
            self._is_passing_through = False
            is_backward_call = original.__name__ != "grad"
            if is_backward_call > self._has_backward_calls:  # what autograd.grad gave until now were no steps
                self.steps, self._step_end_place, self._places_since_end = 0, None, []
                if self._open_block is None:
                    self._begin_recording()
            self._has_backward_calls |= is_backward_call
            if (
                is_backward_call == self._has_backward_calls
                and self._gives_gradients(*args[:1])
                and self._count_step_if_it_ends_at(_find_calling_place(sys._getframe(2)))
            ):
                if self._open_block is not None:
                    self._end_recording()
                if self._is_step_due():
                    self._begin_recording()

    def _count_step_if_it_ends_at(self, place: Place) -> bool:
        """Count the step, if it ends at a place that gave gradients; return whether the recording ends with it."""
        if place in self._places_since_end:  # a new round, and the last place of the one before is known
            self.steps += self._step_end_place is None
            self._step_end_place = self._places_since_end[-1]
            self._places_since_end.clear()
        if place != self._step_end_place:
            self._places_since_end.append(place)
            return False
        self._places_since_end.clear()
        self.steps += 1
        return self.first in (None, self.steps)  # several first steps are one recording

    def _begin_recording(self) -> None:
        self._open_block, self._previous_recording = self._build_block(), self.latest
        self.latest = self._open_block.__enter__()

    def _end_recording(self) -> None:
        assert self._open_block is not None
        self._open_block.__exit__(None, None, None)
        self._open_block = None
        self._is_passing_through = True
        try:
            if self.on_recorded is not None:
                self.on_recorded()
        finally:
            self._is_passing_through = False

    def _exit_block(self, *error: object) -> None:
        self.steps = self.steps or len(self._places_since_end[:1])
        if self._open_block is not None:
            self._end_recording()
            # the block ends where a step begins
            if self.latest is not None and not self.latest.sweeps and error[:1] == (None,):
                self.latest = self._previous_recording or self.latest
        self._previous_recording = None
        self._patches.undo_all()
        self._entered = False

    __exit__: ExitProperty = InterruptSafeExit(_exit_block, lambda block: block._entered)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.steps} steps, {self.latest!r})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if self.latest is None:
            raise RuntimeError("No step was recorded yet.")
        return getattr(self.latest, name)


def check_step_count(step_count: Any, option_name: str, example: str) -> int:
    """Return the number of steps that an option was given; ValueError for what is none."""
    if not isinstance(step_count, int) or isinstance(step_count, bool) or step_count < 1:
        raise ValueError(f"{option_name}={step_count!r} is no number of steps: {example}.")
    return step_count


def build_sampled_steps(
    every: int | None,
    first: int | None,
    build_block: Callable[[], AbstractContextManager],
    step_ends: Sequence[tuple[Any, str]],
    is_ready: Callable[[], bool] = lambda: True,
    gives_gradients: Callable[..., bool] = lambda *owner: True,
) -> SampledSteps | None:
    """Return the block that the options of ``record`` choose; None where there are none."""
    if every is not None and first is not None:
        raise ValueError("every= and first= each choose the steps: write only one of them.")
    if every is not None:
        step_count = check_step_count(every, "every", "every=100 records each hundredth")
        return SampledSteps(step_count, None, build_block, step_ends, is_ready, gives_gradients)
    if first is not None:
        step_count = check_step_count(first, "first", "first=5 records five")
        return SampledSteps(None, step_count, build_block, step_ends, is_ready, gives_gradients)
    return None
