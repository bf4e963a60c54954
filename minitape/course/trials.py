"""Small programs that try out what a learner wrote: each is shown as it is, so that it can be run by hand, too."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..common.texts import say
from .compare import compare, is_blank, kind
from .shown import shown

if TYPE_CHECKING:
    from .exercise import Answer, Named

RTOL, ATOL = 1e-9, 1e-12  # arithmetic in float64 is exact to that; a difference of two nearby values is not
EMPTY = frozenset(
    [*vars(type("Empty", (), {})), "__firstlineno__", "__static_attributes__", "__annotations__", "__annotate_func__"]
)


@dataclass(frozen=True)
class AnswerTrial:
    """A program that uses what the learner wrote by its name; its last line is an expression, and `expect` is its
    value.

    The first of its `hints` is said where it is the first trial that fails, one more with each try; `slips` are wrong
    values, or words of an error, that say more. `before` is run first: what several trials have in common is shown
    once.
    """

    program: str
    expect: Answer
    hints: tuple[str, ...]
    slips: Sequence[tuple[Answer, str]] = ()
    before: str = ""

    def lines(self) -> list[str]:
        """The whole program."""
        return [*self.before.splitlines(), *self.program.splitlines()]


@dataclass(frozen=True)
class Outcome:
    """What a trial gave: a value, or the error that ended it."""

    trial: AnswerTrial
    value: Answer = None
    error: Exception | None = None
    passed: bool = False

    def hint(self, tries: int) -> str:
        """What to say of it where it failed: that of the slip that was made, or the trial's own after so many tries."""
        own = self.trial.hints
        inside = [*self.value.values()] if isinstance(self.value, dict) else [self.value]
        if self.error is None and self.value is None:
            return say(
                "The value in the row is None. Write what forward gives into it."
                if self.trial.program.endswith(".value")
                else "It gives nothing back. Is there a return?"
            )
        if compare(inside, self.trial.expect, RTOL, ATOL).right:
            return say("What it gives is right, and no list. Give a list, in the order of what was asked about.")
        return next((text for slip, text in self.trial.slips if self._is(slip)), own[min(tries, len(own) - 1)])

    def _is(self, slip: Answer) -> bool:
        if isinstance(slip, str):
            return self.error is not None and slip in f"{type(self.error).__name__}: {self.error}"
        return self.error is None and compare(self.value, slip, RTOL, ATOL).right

    def gave(self) -> str:
        """What it gave, in words."""
        return shown(self.value) if self.error is None else f"{type(self.error).__name__}: {self.error}"


def is_empty(answer: Answer) -> bool:
    """Whether nothing was written yet: a `...`, or a class without anything of its own.

    >>> class Tape:
    ...     ...
    >>> is_empty(Tape), is_empty(...), is_empty(3)
    (True, True, False)
    """
    return is_blank(answer) or (
        isinstance(answer, type) and answer.__bases__ == (object,) and not set(vars(answer)) - EMPTY
    )


def try_out(name: str, answer: Answer, trials: Sequence[AnswerTrial]) -> list[Outcome]:
    """The outcomes up to the first that failed; the answer has this name in the programs, and its table the name
    RULES.
    """
    outcomes: list[Outcome] = []
    rules = next((globals_of["RULES"] for globals_of in _globals_of(answer) if "RULES" in globals_of), None)
    for trial in trials:
        names = {name: answer, "math": math}
        before = dict(rules) if isinstance(rules, dict) else {}
        outcomes.append(_outcome(trial, names if rules is None else names | {"RULES": rules}))
        if isinstance(rules, dict):
            rules.clear()
            rules.update(before)  # what a trial puts in is for itself
        if not outcomes[-1].passed:
            break
    return outcomes


def _globals_of(answer: Answer) -> Iterator[Named]:
    """What the methods of a class find outside of it."""
    for owner in getattr(answer, "__mro__", ()):
        yield from (method.__globals__ for method in vars(owner).values() if hasattr(method, "__globals__"))


def _outcome(trial: AnswerTrial, names: Named) -> Outcome:
    *lines, last = trial.lines()
    try:
        exec("\n".join(lines), names)
        value = eval(last, names)
        # now: the value may change later
        return Outcome(trial, value, passed=compare(value, trial.expect, RTOL, ATOL).right)
    except Exception as error:
        return Outcome(trial, error=error)


def lines_of(outcomes: Sequence[Outcome], trials: Sequence[AnswerTrial]) -> list[str]:
    """The trials as a list with marks; of the one that failed the whole program, and what it gave beside what it
    should.
    """
    shared = dict.fromkeys(trial.before for trial in trials if trial.before)
    lines = [say("Each with {program}", program=_one_line(before)) for before in shared]
    for outcome in outcomes:
        if outcome.passed:
            lines.append(f"[x] {_one_line(outcome.trial.program)}")
            continue
        first, *rest = outcome.trial.lines()
        lines += [f"[ ] {first}", *(f"    {line}" for line in rest)]
        lines.append("      " + say("gives:    {value}", value=outcome.gave()))
        lines.append("      " + say("expected: {value}", value=shown(outcome.trial.expect)))
    left = trials[len(outcomes) :]
    return [*lines, *(f"[ ] {_one_line(trial.program)}  ->  {shown(trial.expect)}" for trial in left)]


def _one_line(program: str) -> str:
    return program.strip().replace("\n", "; ")


def wrong_kind(name: str, answer: Answer) -> str:
    """What to say of an answer that is no class."""
    return say(
        "expected the class {name} itself, without brackets after it; got {given}", name=name, given=kind(answer)
    )
