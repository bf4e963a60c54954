"""What was seen while a learner's function ran: which calls tapes recorded, which gradients were asked for, what was
assigned.

A number alone does not tell how it was found. `watching` notes it while `check` runs a function, so that a slope by
hand, a fit or a `None` that was typed in is told from what a tape gave.
"""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeAlias
from unittest.mock import patch

import numpy as np

from ..common.texts import say
from ..engine.back.reach import on_tape
from ..engine.back.tape import GradientTape
from ..engine.derivatives.forward import ForwardAccumulator
from ..engine.recording import evidence
from ..engine.recording.state import state
from ..engine.tensor.variable import ResourceVariable
from ..recording.nodes import operation_of
from .compare import as_array

if TYPE_CHECKING:
    from .exercise import Answer, Case, Program

MANY, SHORT, LINES = 10_000, 500, 200_000
QUESTIONS, CHANGES = ("gradient", "jacobian", "batch_jacobian"), ("assign", "assign_add", "assign_sub")


@dataclass(frozen=True)
class LoggedCall:
    """One call of an unknown function: of each input, on how many of the tapes it was, and whether it is a trainable
    variable; None where it is no variable.

    `in_function`: whether the call is in a traced function. `at`: what the inputs held, where it was computed at once.
    `rows`: how many rows the innermost tape had after it.
    """

    on: tuple[int, ...]
    in_function: bool
    trainable: tuple[bool | None, ...] = ()
    at: tuple[np.ndarray, ...] = ()
    rows: int = 0

    @property
    def recorded(self) -> bool:
        """Whether a tape can go back through this call."""
        return self.in_function or any(self.on)


@dataclass(frozen=True)
class LoggedQuestion:
    """One question to a tape, such as "gradient" or "jvp": of which order the derivative is, whether a number came out,
    and the tapes that recorded it in turn.

    `turned`: the source was computed from the target. `why`: of each source what `explain` says, or "" where it got a
    number; where other tapes are in the program, after the name of this one. `sweeps`: how many that took.
    `operations`: what a short tape had recorded.
    """

    order: int
    answered: bool
    tapes: Case = ()
    turned: bool = False
    why: tuple[str, ...] = ()
    sweeps: int = 1
    operations: tuple[str, ...] = ()


@dataclass
class Seen:
    """What was seen of one run of a learner's function: calls, questions, how often a variable was changed, what the
    calls gave, what the questions gave, the tapes that were asked, and whether one is `busy` with an answer.
    """

    calls: list[LoggedCall] = field(default_factory=list)
    questions: list[LoggedQuestion] = field(default_factory=list)
    assigned: int = 0
    results: list[Answer] = field(default_factory=list, repr=False)
    found: list[Answer] = field(default_factory=list, repr=False)
    tapes: list[Answer] = field(default_factory=list, repr=False)
    busy: bool = False

    @property
    def recorded(self) -> int:
        """How many calls a tape recorded."""
        return sum(call.recorded for call in self.calls)

    def gave(self, number: float) -> bool:
        """Whether a question was answered by this number, or by several of which it is one."""
        found = [np.ravel(as_array(one)) for one in self.found]
        return any(one.dtype != object and np.isclose(one, number, 1e-4).any() for one in found)

    @property
    def order(self) -> int:
        """Of which order the derivatives are that tapes gave: 2 where a tape had recorded the answer of another one."""
        return max((question.order for question in self.questions if question.answered), default=0)


Observed: TypeAlias = list[Seen]  # of each case
_runs: Observed = []


def note_call(inputs: Case, result: Answer) -> None:
    """Notes that an unknown function was called just now, where it is observed."""
    if _runs:
        seen = _runs[-1]
        on = tuple(sum(_tracks(tape, value) for tape in state.tapes) for value in inputs)
        trainable = tuple(getattr(value, "trainable", None) for value in inputs)
        in_function = result._record is not None and result._record.trace is not None
        at = () if in_function else tuple(np.array(value.numpy()) for value in inputs)
        rows = len(getattr(state.tapes[-1], "_record", None) or ()) if state.tapes else 0
        seen.calls.append(LoggedCall(on, in_function, trainable, at, rows))
        seen.results.append(result)


def _tracks(tape: GradientTape, value: Answer) -> bool:
    if isinstance(value, ResourceVariable):  # a slice of one has assign, too
        holder = getattr(value, "_base", value)  # what an assignment gave back reads another one
        return any(holder is variable for variable in tape.watched_variables())
    record = tape._record
    row = None if record is None else record.find(value)
    return row is not None and bool(on_tape(tape)[row])


@contextmanager
def watching() -> Iterator[Seen]:
    """Notes, while the block runs, how unknown functions are called and what tapes are asked."""
    seen = Seen()
    watched: list[tuple[Answer, str, Program]] = [(ForwardAccumulator, "jvp", _asking)]
    watched += [(GradientTape, name, _asking) for name in QUESTIONS]
    watched += [(ResourceVariable, name, _changing) for name in CHANGES]
    # what left to NumPy in the cells before is long, and no part of the function
    watched += [(state.memory, "exits", lambda *_: None), (evidence, "THREADS", lambda *_: deque())]
    with ExitStack() as stack:
        for owner, name, noting in watched:
            stack.enter_context(patch.object(owner, name, noting(seen, getattr(owner, name))))
        _runs.append(seen)
        stack.callback(_runs.pop)
        yield seen


@contextmanager
def ending(function: Answer) -> Iterator[None]:
    """A context in which each tf.while_loop ends, after MANY iterations at most, and each loop of a learner's function,
    or of those beside it: after LINES lines it raises.
    """
    import minitape

    names, left, tracing = getattr(function, "__globals__", None), iter(range(LINES)), sys.gettrace()

    def trace(frame: Answer, *_: Answer) -> Answer:
        if frame.f_globals is not names:
            return None
        if next(left, None) is None:
            raise RuntimeError(say("the function ran {n} lines: does a loop in it end?", n=LINES))
        return trace

    with patch.object(minitape, "while_loop", partial(minitape.while_loop, maximum_iterations=MANY)):
        sys.settrace(trace)
        try:
            yield
        finally:
            sys.settrace(tracing)


def _changing(seen: Seen, method: Answer) -> Answer:
    """A method of variables that is counted."""

    def change(variable: ResourceVariable, *given: Answer, **named: Answer) -> Answer:
        seen.assigned += 1
        return method(variable, *given, **named)

    return change


def _asking(seen: Seen, method: Answer) -> Answer:
    """A method of tapes that notes what it is asked, and what it answers."""

    def ask(tape: Answer, *given: Answer, **named: Answer) -> Answer:
        if seen.busy:  # a jacobian asks for gradients itself
            return method(tape, *given, **named)
        seen.busy = True
        own, around = getattr(tape, "_tape", tape), getattr(tape, "_outer", ())  # an accumulator has a tape
        order = 1 + max((one.order for one in seen.questions if own in one.tapes), default=0)
        recording = tuple(other for other in (*state.tapes, *around) if other is not own or own._persistent)
        operations, (target, source, *_) = _operations(tape), (*given, *named.values(), None, None)
        try:
            found = method(tape, *given, **named)
            seen.found.append(found)
            why = () if any(any(one.why) for one in seen.questions) else _why_none(tape, target, source, found)
            turned = any(why) and _is_connected(tape, source, target)
            names = [name for name, value in sys._getframe(1).f_locals.items() if value is tape]
            if names and (recording or seen.tapes):
                why = tuple(one and say("{place}: {told}", place=names[0], told=one) for one in why)
        finally:
            seen.busy = False
        seen.tapes += [own] if isinstance(own, GradientTape) and own not in seen.tapes else []
        # a Jacobian takes a sweep for each number of the target
        sweeps = int(np.size(as_array(target))) if "jacobian" in method.__name__ else 1
        answered = _holds_a_number(found)
        seen.questions.append(LoggedQuestion(order, answered, recording, turned, why, sweeps, operations))
        return found

    ask.__name__ = method.__name__  # as it is shown where it was handed in and not called
    return ask


def _why_none(tape: Answer, target: Answer, source: Answer, found: Answer) -> tuple[str, ...]:
    """What `explain` says of each source that got None; "" of one with a number."""
    several = isinstance(source, (list, tuple)) and isinstance(found, (list, tuple))
    said = []
    for one, gradient in zip(source, found, strict=False) if several else [(source, found)]:
        why = tape.explain(target, [one])[0] if gradient is None and hasattr(tape, "explain") else None
        # without how much of a long session explain no longer knows
        said.append("" if why is None or why.connected else re.sub(r" ?[(（]\d[^()（）]*[)）]$", "", str(why.message)))
    return tuple(said)


def _is_connected(tape: Answer, target: Answer, source: Answer) -> bool:
    """Whether a tape has a path from a source to a target that is none of the targets itself."""
    targets = target if isinstance(target, (list, tuple)) else [target]
    with suppress(Exception):  # the source is a list
        return not any(one is source for one in targets) and bool(tape.explain(target, [source])[0].connected)
    return False


def _operations(tape: Answer) -> tuple[str, ...]:
    """What wrote each row of a short tape; "" where that is no operation."""
    record = getattr(tape, "_record", None)
    if record is None or len(record) > SHORT:
        return ()
    return tuple(getattr(operation_of(record, row)[0], "name", "") for row in range(len(record)))


def _holds_a_number(found: Answer) -> bool:
    if isinstance(found, dict):
        found = list(found.values())
    return any(map(_holds_a_number, found)) if isinstance(found, (list, tuple)) else found is not None
