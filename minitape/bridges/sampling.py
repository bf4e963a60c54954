"""Record only some steps of a training loop.

A block records either every n-th step or only the first few steps. Between recorded steps, the framework runs
unobserved.
"""

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from math import isfinite
from typing import Any

from ..engine.record.interrupt_safe import InterruptSafeExit
from ..engine.record.user_frames import find_user_frame
from ..engine.types import Action, Attributes, ExitProperty, NumberPair, OptionalFloat, OptionalFrame, OptionalNumber
from .checkup import FrameworkRecording
from .framework_patches import FrameworkPatches

Place = list[tuple[int, int]]


def _build_key_of_running_expression_and_caller(frame: OptionalFrame) -> Place:
    """Identify the program expression that is running, and the call that led to it.

    This function runs in every step, so it must be fast.
    """
    innermost = find_user_frame(frame)
    frames = (innermost, None if innermost is None else innermost.f_back)
    return [(id(used_frame.f_code), used_frame.f_lasti) for used_frame in frames if used_frame is not None]


def require_positive_step_count(step_count: Any, option_name: str, example: str) -> int:
    """Check that an option's value is a positive number of steps, and return it.

    Args:
        step_count: The value of the option.
        option_name: The name of the option, for use in the error message.
        example: A sentence that shows a correct use of the option, for use in the error message.

    Raises:
        ValueError: If the value is not a positive int.
    """
    if not isinstance(step_count, int) or isinstance(step_count, bool) or step_count < 1:
        raise ValueError(f"{option_name}={step_count!r} is not a number of steps: {example}.")
    return step_count


class SampledSteps:
    """A block that records only some steps of a training loop.

    A step ends when a function in ``step_ends``, such as ``backward()``, has computed gradients. If one iteration of
    the loop computes gradients in several places, as in a GAN, the step ends at the last of these places. Only the
    second iteration shows which place is the last, so the first recording continues until then. In a program that calls
    ``backward()``, calls to ``torch.autograd.grad`` do not end a step.

    Other attributes, such as ``explain``, are read from the latest recording.

    Attributes:
        every: The number of steps from one recorded step to the next, starting with the first step, or None if
            ``first`` is used.
        first: The number of initial steps to record together, or None if ``every`` is used.
        steps: The total number of steps so far.
        latest: The latest recording, or None if no step has been recorded.
        watched_count: The number of unrecorded steps whose loss was measured.
        bad_step: The number of the first unrecorded step with a non-finite loss or gradient, or None.
        failed_call: The arguments and the error of the last call that raised an error instead of returning gradients.
        on_recorded: A function that is called without arguments when the recording of a step is complete.
    """

    def __init__(
        self,
        every: OptionalNumber,
        first: OptionalNumber,
        build_block: Callable[[], AbstractContextManager],
        step_ends: Sequence[tuple[Any, str]],
        is_ready: Callable[[], bool] = lambda: True,
        gives_gradients: Callable[..., bool] = lambda *owner: True,
        measure_step: Callable[[Any, tuple, Any], OptionalFloat] = lambda *call: None,
    ):
        """Prepare the block.

        Args:
            every: Record the first step and then every n-th step, where n is this number.
            first: Record this many initial steps together, in a single recording. Exactly one of ``every`` and
                ``first`` must be given.
            build_block: A function that creates a block for one recorded step.
            step_ends: The (owner, name) pair of each framework function that computes gradients and may therefore end
                a step.
            is_ready: Returns whether the block should observe calls. Calls run unobserved until this function returns
                True.
            gives_gradients: Returns whether a call computes gradients, given the call's first argument.
            measure_step: Returns the loss of a step that is not recorded, given the latest recording and the arguments
                and results of the call that computed its gradients. The loss is None if it is unknown, and NaN if a
                gradient is not finite.

        Raises:
            ValueError: If both options are given, or if an option is not a positive int.
        """
        if every is not None and first is not None:
            raise ValueError("every= and first= both choose the steps. Pass only one of them.")
        if first is None:
            require_positive_step_count(every, "every", "every=100 records each hundredth")
        else:
            require_positive_step_count(first, "first", "first=5 records five")
        self.every = every
        self.first = first
        self.steps = 0
        self.latest: FrameworkRecording | None = None
        self.on_recorded: Action | None = None
        self.watched_count = 0
        self.bad_step: OptionalNumber = None
        self.failed_call: tuple[tuple, Attributes, Exception] | None = None
        self._build_block = build_block
        self._step_ends = step_ends
        self._is_ready = is_ready
        self._gives_gradients = gives_gradients
        self._measure_step = measure_step
        self._patches = FrameworkPatches()
        self._open_block: AbstractContextManager | None = None
        self._previous_recording: FrameworkRecording | None = None
        self._is_passing_through = self._entered = self._has_backward_calls = False
        self._step_end_place: Place | None = None
        self._places_since_end: list[Place] = []

    def _is_step_due(self) -> bool:
        """Return whether the step that is about to begin should be recorded."""
        return self.steps % self.every == 0 if self.every else self.steps < (self.first or 0)

    def __enter__(self) -> Any:
        """Watch for the ends of steps, and record the first step if it is due."""
        self._entered = True
        self._patches.activate_in_this_thread()
        for owner, name in self._step_ends:
            self._patches.wrap_function(owner, name, self._run_gradient_function_and_maybe_end_step)
        if self._is_step_due():
            self._begin_recording()
        return self

    def _run_gradient_function_and_maybe_end_step(self, original: Callable, /, *args: Any, **kwargs: Any) -> Any:
        """Run a function that may compute gradients, and end the step if it computed any.

        Calls inside such a function, and calls made by ``explain``, do not end a step.
        """
        if self._is_passing_through or not self._is_ready():
            return original(*args, **kwargs)
        self._is_passing_through = True
        try:
            results = original(*args, **kwargs)
            if not self.is_recording and self._gives_gradients(*args[:1]):
                loss = self._measure_step(self.latest, args, results)
                self.watched_count += loss is not None
                if self.bad_step is None and loss is not None and not isfinite(loss):
                    self.bad_step = self.steps + 1
            return results
        except Exception as error:
            self.failed_call = args, kwargs, error
            raise
        finally:
            self._is_passing_through = False
            is_backward_call = original.__name__ != "grad"
            if is_backward_call and not self._has_backward_calls:
                # The program calls backward(), so its earlier calls to autograd.grad did not end a step.
                self.steps = 0
                self._step_end_place = None
                self._places_since_end = []
                if not self.is_recording:
                    self._begin_recording()
            self._has_backward_calls |= is_backward_call
            if (
                is_backward_call == self._has_backward_calls
                and self._gives_gradients(*args[:1])
                and self._count_step_and_check_recording_end(
                    _build_key_of_running_expression_and_caller(sys._getframe(2))
                )
            ):
                if self.is_recording:
                    self._end_recording()
                if self._is_step_due():
                    self._begin_recording()

    def _count_step_and_check_recording_end(self, place: Place) -> bool:
        """Count the current step if it ends at the given place, where gradients were computed.

        Returns:
            Whether the current recording ends with this step.
        """
        if place in self._places_since_end:
            # A new iteration begins, so the last place in the list is where the previous iteration ended.
            if self._step_end_place is None:
                self.steps += 1
            self._step_end_place = self._places_since_end[-1]
            self._places_since_end.clear()
        if place != self._step_end_place:
            self._places_since_end.append(place)
            return False
        self._places_since_end.clear()
        self.steps += 1
        return self.steps >= (self.first or 0)  # The first steps share one recording.

    def count_recorded_and_checked_steps(self) -> NumberPair:
        """Return the number of recorded steps, and the number of later steps whose losses were checked."""
        recorded = -(-self.steps // self.every) if self.every else min(self.steps, self.first or 0)
        return recorded, self.watched_count

    @property
    def is_recording(self) -> bool:
        """Whether the current step is being recorded."""
        return self._open_block is not None

    def record_next_steps_unless_recording(self, count: int) -> None:
        """Record the next steps in a new recording, unless steps are being recorded already.

        Args:
            count: The number of steps.
        """
        if not self.is_recording:
            self.first = self.steps + count
            self._begin_recording()

    def _begin_recording(self) -> None:
        """Open a new recording block and make its recording the latest one."""
        self._open_block = self._build_block()
        self._previous_recording = self.latest
        self.latest = self._open_block.__enter__()

    def _end_recording(self) -> None:
        """Close the recording block, and call ``on_recorded``."""
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
        if not self.steps and self._places_since_end:
            self.steps = 1
        if self.is_recording:
            self._end_recording()
            # The block ended right after a step began, so the recording of that step is empty.
            if self.latest is not None and not self.latest.sweeps and error[:1] == (None,):
                self.latest = self._previous_recording or self.latest
        self._previous_recording = None
        self._patches.undo_all()
        self._entered = False

    __exit__: ExitProperty = InterruptSafeExit(_exit_block, lambda block: block._entered)

    def __repr__(self) -> str:
        """Describe the block by its number of steps and its latest recording."""
        return f"{type(self).__name__}({self.steps} steps, {self.latest!r})"

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the latest recording, or raise RuntimeError if no step has been recorded."""
        if name.startswith("_"):
            raise AttributeError(name)
        if self.latest is None:
            raise RuntimeError("No step has been recorded yet.")
        return getattr(self.latest, name)
