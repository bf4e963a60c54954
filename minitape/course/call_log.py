"""What was seen while a learner's function ran: which calls tapes recorded, which gradients were asked for, what was
assigned.

A number alone does not tell how it was found. `watching` notes it while `check` runs a function, so that a slope by
hand, a fit or a `None` that was typed in is told from what a tape gave.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..common.texts import say
from ..engine.back.reach import on_tape
from ..engine.back.tape import GradientTape
from ..engine.derivatives.forward import ForwardAccumulator
from ..engine.recording.state import state
from ..engine.tensor.variable import ResourceVariable
from ..recording.nodes import operation_of
from .compare import as_array

if TYPE_CHECKING:
    from .exercise import Answer

MANY, SHORT = 10_000, 500
QUESTIONS, CHANGES = ("gradient", "jacobian", "batch_jacobian"), ("assign", "assign_add", "assign_sub")


@dataclass(frozen=True)
class LoggedCall:
    """One call of an unknown function: of each input, on how many of the tapes it was, and whether it is a trainable
    variable; None where it is no variable.

    `in_function`: whether the call is in a traced function. `tapes`: how many tapes were on. `at`: what the inputs
    held, where it was computed at once. `chained`: whether an input is what an earlier call gave. `rows`: how many
    rows the innermost tape had after it.
    """

    on: tuple[int, ...]
    in_function: bool
    trainable: tuple[bool | None, ...] = ()
    tapes: int = 0
    at: tuple[np.ndarray, ...] = ()
    chained: bool = False
    rows: int = 0

    @property
    def recorded(self) -> bool:
        """Whether a tape can go back through this call."""
        return self.in_function or any(self.on)


@dataclass(frozen=True)
class LoggedQuestion:
    """One question to a tape, such as "gradient" or "jvp": of which order the derivative is, whether a number came out,
    and the tapes that recorded it in turn.

    `turned`: no number came out, and the target had been there before its source was computed. `itself`: the target is
    its own source. `why`: of each source what `explain` says, or "" where it got a number. `sweeps`: how many sweeps
    that took. `operations`: what a short tape had recorded.
    """

    name: str
    order: int
    answered: bool
    tapes: tuple[Answer, ...] = ()
    turned: bool = False
    itself: bool = False
    why: tuple[str, ...] = ()
    sweeps: int = 1
    operations: tuple[str, ...] = ()


@dataclass
class Seen:
    """What was seen of one run of a learner's function: calls, questions, how often a variable was changed, what the
    calls gave, what the last question did, the tapes that were asked, and whether one is `busy` with an answer.
    """

    calls: list[LoggedCall] = field(default_factory=list)
    questions: list[LoggedQuestion] = field(default_factory=list)
    assigned: int = 0
    results: list[Answer] = field(default_factory=list, repr=False)
    found: Answer = None
    tapes: list[Answer] = field(default_factory=list, repr=False)
    busy: bool = False

    @property
    def recorded(self) -> int:
        """How many calls a tape recorded."""
        return sum(call.recorded for call in self.calls)

    @property
    def order(self) -> int:
        """Of which order the derivatives are that tapes gave: 2 where a tape had recorded the answer of another one."""
        return max((question.order for question in self.questions if question.answered), default=0)

    def summary(self) -> str:
        """One sentence about the recorded calls and gradients; "" if no gradient was computed."""
        if not self.recorded or not self.questions:
            return ""
        once = (say("once"), say("{n} times"))
        called, asked = (once[n > 1].format(n=n) for n in (self.recorded, len(self.questions)))
        return say(
            "Seen: a tape recorded the function {called}, and a gradient was asked for {asked}.",
            called=called,
            asked=asked,
        )


_runs: list[Seen] = []


def note_call(inputs: tuple[Answer, ...], result: Answer) -> None:
    """Notes that an unknown function was called just now, where it is observed."""
    if _runs:
        seen = _runs[-1]
        if len(seen.calls) >= MANY:
            raise RuntimeError(say("the function was called {n} times: does the loop around it end?", n=MANY))
        on = tuple(sum(_tracks(tape, value) for tape in state.tapes) for value in inputs)
        trainable = tuple(getattr(value, "trainable", None) for value in inputs)
        in_function = result._record is not None and result._record.trace is not None
        at = () if in_function else tuple(np.array(value.numpy()) for value in inputs)
        chained = any(value is given for value in inputs for given in seen.results[-SHORT:])
        rows = len(getattr(state.tapes[-1], "_record", None) or ()) if state.tapes else 0
        seen.calls.append(LoggedCall(on, in_function, trainable, len(state.tapes), at, chained, rows))
        seen.results.append(result)


def _tracks(tape: GradientTape, value: Answer) -> bool:
    if isinstance(value, ResourceVariable):  # a slice of one has assign, too
        return any(value is variable for variable in tape.watched_variables())
    record = tape._record
    row = None if record is None else record.find(value)
    return row is not None and bool(on_tape(tape)[row])


@contextmanager
def watching() -> Iterator[Seen]:
    """Notes, while the block runs, how unknown functions are called and what tapes are asked."""
    seen = Seen()
    watched: list[tuple[Answer, str]] = [*((GradientTape, name) for name in QUESTIONS), (ForwardAccumulator, "jvp")]
    watched += [(ResourceVariable, name) for name in CHANGES]
    before = {(owner, name): getattr(owner, name) for owner, name in watched}
    _runs.append(seen)
    for (owner, name), method in before.items():
        setattr(owner, name, (_changing if owner is ResourceVariable else _asking)(seen, name, method))
    try:
        yield seen
    finally:
        for (owner, name), method in before.items():
            setattr(owner, name, method)
        _runs.pop()


def _changing(seen: Seen, name: str, method: Answer) -> Answer:
    """A method of variables that is counted."""

    def change(variable: ResourceVariable, *given: Answer, **named: Answer) -> Answer:
        seen.assigned += 1
        return method(variable, *given, **named)

    return change


def _asking(seen: Seen, name: str, method: Answer) -> Answer:
    """A method of tapes that notes what it is asked, and what it answers."""

    def ask(tape: Answer, *given: Answer, **named: Answer) -> Answer:
        if seen.busy:  # a jacobian asks for gradients itself
            return method(tape, *given, **named)
        seen.busy = True
        own, around = getattr(tape, "_tape", tape), getattr(tape, "_outer", ())  # an accumulator has a tape
        order = 1 + max((one.order for one in seen.questions if own in one.tapes), default=0)
        recording = tuple(other for other in (*state.tapes, *around) if other is not own or own._persistent)
        rows, operations = _rows(tape, given[:2]), _operations(tape)
        try:
            seen.found = found = method(tape, *given, **named)
            answered = _holds_a_number(found)
            turned = not answered and bool(rows) and rows[0] < rows[-1]
            known = turned or any(any(question.why) for question in seen.questions)
            why = () if known else _why_none(tape, [*given, *named.values()], found)
        finally:
            seen.busy = False
        seen.tapes += [own] if isinstance(own, GradientTape) and own not in seen.tapes else []
        itself, sweeps = len(given) > 1 and given[0] is given[1], _sweeps(name, given)
        seen.questions.append(LoggedQuestion(name, order, answered, recording, turned, itself, why, sweeps, operations))
        return found

    ask.__name__ = name  # as it is shown where it was handed in and not called
    return ask


def _why_none(tape: Answer, given: list[Answer], found: Answer) -> tuple[str, ...]:
    """What `explain` says of each source that got None; nothing where each has a number, or the question was none."""
    gradients = found if isinstance(found, (list, tuple)) else [found]
    if len(given) < 2 or isinstance(found, dict) or all(gradient is not None for gradient in gradients):
        return ()
    sources = given[1] if isinstance(given[1], (list, tuple)) else [given[1]]
    if not hasattr(tape, "explain"):
        return ()
    answers = [
        None if gradient is not None else tape.explain(given[0], [source])[0]
        for source, gradient in zip(sources, gradients, strict=False)
    ]
    said = ["" if why is None or why.connected else str(why.message) for why in answers]
    # without how much of a long session explain no longer knows
    return tuple(re.sub(r" ?[(（]\d[^()（）]*[)）]$", "", one) for one in said)


def _sweeps(name: str, given: tuple[Answer, ...]) -> int:
    """How many sweeps an answer takes: one, or one for each number of the target."""
    return 1 if "jacobian" not in name or not given else int(np.size(as_array(given[0])))


def _operations(tape: Answer) -> tuple[str, ...]:
    """What wrote each row of a short tape; "" where that is no operation."""
    record = getattr(tape, "_record", None)
    if record is None or len(record) > SHORT:
        return ()
    return tuple(getattr(operation_of(record, row)[0], "name", "") for row in range(len(record)))


def _rows(tape: Answer, given: tuple[Answer, ...]) -> tuple[int, ...]:
    """The rows of a target and a source; none where one of them is several, or on no tape. A variable that was read
    comes before all rows.
    """
    record = getattr(tape, "_record", None)
    if record is None or not all(hasattr(value, "numpy") for value in given):
        return ()
    watched = {id(variable) for variable in tape.watched_variables()}
    rows = [
        (-1 if id(value) in watched else None) if isinstance(value, ResourceVariable) else record.find(value)
        for value in given
    ]
    found = tuple(int(row) for row in rows if row is not None)
    return found if len(found) == 2 else ()


def _holds_a_number(found: Answer) -> bool:
    if isinstance(found, dict):
        found = list(found.values())
    return any(map(_holds_a_number, found)) if isinstance(found, (list, tuple)) else found is not None
