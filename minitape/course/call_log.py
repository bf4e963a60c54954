"""Observe a learner's function while it runs, including its calls, its questions to tapes, and its assignments.

A number alone does not show how it was found. While `check` runs a function, `observe_run` records what the function
does, so that a gradient from a tape can be told from a slope computed by hand, a fit, or a `None` that was typed in.
"""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np

from ..common.translation import say
from ..engine.backward.reachability import mark_rows_on_tape
from ..engine.backward.tape import GradientTape
from ..engine.derivatives.forward_mode import ForwardAccumulator
from ..engine.record import provenance
from ..engine.record.thread_state import state
from ..engine.tensor.variable import ResourceVariable
from ..engine.types import LIST_OR_TUPLE
from ..engine.values.nest import flatten
from ..recording.graph_nodes import find_operation_and_inputs
from .answer_comparison import to_numpy_value

if TYPE_CHECKING:
    from ..engine.tensor.tensor import EagerTensor
    from ..engine.types import Names, OptionalFlag, OptionalNumber
    from .exercise import Answer, Answers, Case, Program

MAX_ITERATIONS, MAX_ROWS, MAX_LINES = 1000, 500, 200_000
MAX_TAPES = 30
"""The number of asked tapes that are compared."""
QUESTION_METHODS = ("gradient", "jacobian", "batch_jacobian")
ASSIGN_METHODS = ("assign", "assign_add", "assign_sub")


@dataclass(frozen=True)
class LoggedCall:
    """One call to an unknown function.

    Attributes:
        tape_counts: For each input, the number of tapes that track it.
        is_in_function: Whether the call is in a traced function.
        trainable_inputs: For each input, whether it is a trainable variable, or None if it is not a variable.
        input_values: The values of the inputs, if the call was computed immediately.
        row_count: The number of rows in the open recording after the call, or -1 if no tape is open, not even a paused
            one.
    """

    tape_counts: tuple[int, ...]
    is_in_function: bool
    trainable_inputs: tuple[OptionalFlag, ...]
    input_values: tuple[np.ndarray, ...]
    row_count: int

    @property
    def is_recorded(self) -> bool:
        """Whether a tape can go back through this call."""
        return self.is_in_function or any(self.tape_counts)


@dataclass(frozen=True)
class LoggedQuestion:
    """One question to a tape, such as "gradient" or "jvp".

    Attributes:
        order: The order of the derivative.
        is_answered: Whether the tape returned a number.
        recording_tapes: The tapes that recorded how the question was answered.
        is_reversed: Whether the source was computed from the target.
        explanations: For each source, what `explain` says, preceded by the name of the tape if there are several. "" if
            the source got a number.
        sweep_count: The number of sweeps.
        operations: The operations that the tape had recorded, if there are only a few.
    """

    order: int
    is_answered: bool
    recording_tapes: tuple[GradientTape, ...]
    is_reversed: bool
    explanations: Names
    sweep_count: int
    operations: Names


@dataclass
class ObservedRun:
    """What was observed during one run of a learner's function.

    Attributes:
        calls: The calls to unknown functions.
        questions: The questions to tapes.
        assign_count: The number of times that a variable was changed.
        call_results: The results of the calls.
        answers: The results of the questions.
        asked_tapes: The tapes that were asked.
        asked_names: For each of these tapes, the names that the program had when it asked the tape.
        is_answering: Whether a tape is currently answering.
        max_tapes: The number of asked tapes after which the run ends with an error, or None for no limit.
    """

    calls: list[LoggedCall] = field(default_factory=list)
    questions: list[LoggedQuestion] = field(default_factory=list)
    assign_count: int = 0
    call_results: Answers = field(default_factory=list, repr=False)
    answers: Answers = field(default_factory=list, repr=False)
    asked_tapes: list[GradientTape] = field(default_factory=list, repr=False)
    asked_names: list[dict[str, Answer]] = field(default_factory=list, repr=False)
    is_answering: bool = False
    max_tapes: OptionalNumber = None

    @property
    def sweep_count(self) -> int:
        """The number of sweeps of all questions."""
        return sum(question.sweep_count for question in self.questions)

    def has_answer(self, number: float) -> bool:
        """Return whether this number, or several numbers that include it, answered a question."""
        try:
            flat_answers = [np.ravel(to_numpy_value(answer)) for answer in self.answers]
        except TypeError:  # While a function is traced, an answer has no value yet, so it may be the right one.
            return True
        return any(answer.dtype != object and np.isclose(answer, number, 1e-4).any() for answer in flat_answers)

    @property
    def max_order(self) -> int:
        """The highest order of the derivatives from tapes, which is 2 if a tape recorded another tape's answer."""
        return max((question.order for question in self.questions if question.is_answered), default=0)


ObservedRuns = list[ObservedRun]  # One run for each case.
_active_runs: ObservedRuns = []


def note_unknown_function_call(inputs: Case, result: EagerTensor) -> None:
    """Note that an unknown function has just been called, if its calls are being observed."""
    if _active_runs:
        observed = _active_runs[-1]
        tape_counts = tuple(sum(_is_tracked(tape, value) for tape in state.tapes) for value in inputs)
        trainable_inputs = tuple(getattr(value, "trainable", None) for value in inputs)
        is_in_function = result._record is not None and result._record.first_run is not None
        # `numpy` would log that the program took the value out of TensorFlow.
        arrays = (np.array(provenance.get_state_tensor(value)._value) for value in inputs)
        input_values = () if is_in_function else tuple(arrays)
        row_count = -1 if state.record is None else len(state.record)
        observed.calls.append(LoggedCall(tape_counts, is_in_function, trainable_inputs, input_values, row_count))
        observed.call_results.append(result)


def _is_tracked(tape: GradientTape, value: Answer) -> bool:
    if isinstance(value, ResourceVariable):  # Slices of variables also have `assign`, but another class.
        holder = getattr(value, "_base", value)  # The result of an assignment reads the variable in `_base`.
        return any(holder is variable for variable in tape.watched_variables())
    record = tape._record
    row = None if record is None else record.find_row(value)
    return row is not None and bool(mark_rows_on_tape(tape)[row])


@contextmanager
def observe_run(max_tapes: OptionalNumber = None) -> Iterator[ObservedRun]:
    """Note how unknown functions are called and which questions tapes receive while the block runs.

    Args:
        max_tapes: The number of asked tapes after which a further tape raises RuntimeError, or None for no limit.

    Yields:
        The observations.
    """
    observed = ObservedRun(max_tapes=max_tapes)
    patches: list[tuple[Answer, str, Program]] = [(ForwardAccumulator, "jvp", _wrap_question_method)]
    patches += [(GradientTape, name, _wrap_question_method) for name in QUESTION_METHODS]
    patches += [(ResourceVariable, name, _wrap_assign_method) for name in ASSIGN_METHODS]
    # The log of values that earlier cells passed to NumPy may be long, and does not concern the learner's function.
    patches += [(state.memory, "escapes", lambda *_: None), (provenance, "THREAD_ESCAPE_LOGS", lambda *_: deque())]
    with ExitStack() as stack:
        for owner, name, wrap_method in patches:
            stack.enter_context(patch.object(owner, name, wrap_method(observed, getattr(owner, name))))
        _active_runs.append(observed)
        stack.callback(_active_runs.pop)
        yield observed


@contextmanager
def limit_iterations(function: Answer) -> Iterator[None]:
    """Limit loops while the block runs.

    Each tf.while_loop ends after MAX_ITERATIONS iterations. A learner's function, with its neighbors, raises
    RuntimeError after MAX_LINES lines.

    Args:
        function: The learner's function.
    """
    import minitape

    user_globals = getattr(function, "__globals__", None)
    lines_left = iter(range(MAX_LINES))
    outer_run = sys.gettrace()

    def on_line(frame: Answer, *_: Answer) -> Answer:
        if frame.f_globals is not user_globals:
            return None
        if next(lines_left, None) is None:
            raise RuntimeError(say("the function was stopped after {n} lines; does its loop ever end?", n=MAX_LINES))
        return on_line

    with patch.object(minitape, "while_loop", partial(minitape.while_loop, maximum_iterations=MAX_ITERATIONS)):
        sys.settrace(on_line)
        try:
            yield
        finally:
            sys.settrace(outer_run)


def _wrap_assign_method(observed: ObservedRun, method: Answer) -> Answer:
    """Wrap a method of variables so that its calls are counted."""

    def count_assign(variable: ResourceVariable, *args: Answer, **kwargs: Answer) -> Answer:
        observed.assign_count += 1
        return method(variable, *args, **kwargs)

    return count_assign


def _wrap_question_method(observed: ObservedRun, method: Answer) -> Answer:
    """Wrap a tape method so that each call and its result are noted."""

    def note_question(tape: GradientTape | ForwardAccumulator, *args: Answer, **kwargs: Answer) -> Answer:
        if observed.is_answering:  # A jacobian itself calls `gradient`.
            return method(tape, *args, **kwargs)
        observed.is_answering = True
        asked_tape, outer_tapes = (
            (tape._tape, tape._outer_tapes) if isinstance(tape, ForwardAccumulator) else (tape, [])
        )
        order = 1 + max((entry.order for entry in observed.questions if asked_tape in entry.recording_tapes), default=0)
        recording_tapes = tuple(
            other_tape
            for other_tape in (*state.tapes, *outer_tapes)
            if other_tape is not asked_tape or asked_tape.is_persistent
        )
        operations = _list_operations_of_short_tape(tape)
        target, source, *_ = (*args, *kwargs.values(), None, None)
        try:
            answer = method(tape, *args, **kwargs)
            observed.answers.append(answer)
            explanations = (
                ()
                if any(any(entry.explanations) for entry in observed.questions)
                else _explain_none_of_each_source(tape, target, source, answer)
            )
            is_reversed = any(explanations) and _is_connected(tape, source, target)
            tape_names = [name for name, value in sys._getframe(1).f_locals.items() if value is tape]
            if tape_names and (recording_tapes or observed.asked_tapes):
                explanations = tuple(
                    entry and say("{place}: {told}", place=tape_names[0], told=entry) for entry in explanations
                )
        finally:
            observed.is_answering = False
        if isinstance(asked_tape, GradientTape) and asked_tape not in observed.asked_tapes:
            observed.asked_tapes.append(asked_tape)
            observed.asked_names.append(dict(sys._getframe(1).f_locals))
        # A Jacobian needs a sweep for each number of the target.
        sweep_count = int(np.size(to_numpy_value(target))) if "jacobian" in method.__name__ else 1
        is_answered = any(gradient is not None for gradient in flatten(answer))
        observed.questions.append(
            LoggedQuestion(order, is_answered, recording_tapes, is_reversed, explanations, sweep_count, operations)
        )
        if observed.max_tapes is not None and len(observed.asked_tapes) > observed.max_tapes:
            raise RuntimeError("enough tapes were asked")
        return answer

    note_question.__name__ = method.__name__  # The name is shown if a learner hands in the method itself.
    return note_question


def _explain_none_of_each_source(tape: Answer, target: Answer, source: Answer, gradients: Answer) -> Names:
    """Return the explanation of each source that got None, or "" for a source with a number."""
    is_list = isinstance(source, LIST_OR_TUPLE) and isinstance(gradients, LIST_OR_TUPLE)
    explanations = []
    for single_source, gradient in zip(source, gradients, strict=False) if is_list else [(source, gradients)]:
        explanation = (
            tape.explain(target, [single_source])[0] if gradient is None and hasattr(tape, "explain") else None
        )
        # The last brackets say how much of a long session explain has dropped. They do not help here.
        explanations.append(
            ""
            if explanation is None or explanation.connected
            else re.sub(r" ?[(（]\d[^()（）]*[)）]$", "", str(explanation.message))
        )
    return tuple(explanations)


def _is_connected(tape: Answer, target: Answer, source: Answer) -> bool:
    """Return whether a tape has a path from a source to a target, for a source that is not itself a target."""
    targets = target if isinstance(target, LIST_OR_TUPLE) else [target]
    with suppress(Exception):  # This fails if the source is a list.
        return not any(single_target is source for single_target in targets) and bool(
            tape.explain(target, [source])[0].connected
        )
    return False


def _list_operations_of_short_tape(tape: Answer) -> Names:
    """Return the operation that wrote each row of a short tape, or "" for rows that no operation wrote."""
    record = getattr(tape, "_record", None)
    if record is None or len(record) > MAX_ROWS:
        return ()
    return tuple(getattr(find_operation_and_inputs(record, row)[0], "name", "") for row in range(len(record)))
