"""The program of lesson 8 without `explain`: forty lines, one of which cuts the path, and a tape that answers six
questions.
"""

from __future__ import annotations

from ..common.texts import say
from ..engine.back.tape import GradientTape
from .exercise import Answer

LINES, CUT, QUESTIONS = 40, 27, 6


class QuietTape(GradientTape):
    """A tape that answers six calls of `gradient`, and does not explain."""

    answered = 0

    def gradient(self, target: Answer, sources: Answer, *rest: Answer, **options: Answer) -> Answer:
        """The gradient, six times. Raises RuntimeError at the seventh call."""
        if self.answered == QUESTIONS:
            raise RuntimeError(say("Six questions are answered. To begin anew, run the cell with forty_lines again."))
        self.answered += 1
        return super().gradient(target, sources, *rest, **options)

    def explain(self, *asked: Answer) -> Answer:
        """Raises RuntimeError, always."""
        raise RuntimeError(say("Here explain refuses. Ask tape.gradient about a value in the middle."))


def forty_lines() -> tuple[QuietTape, list[Answer]]:
    """The tape, and a variable with what each of forty lines computed of the value before.

    >>> tape, values = forty_lines()
    >>> len(values), tape.gradient(values[40], values[0]) is None
    (41, True)
    """
    from .. import Variable, stop_gradient

    values: list[Answer] = [Variable(1.0, name="w")]
    tape = QuietTape(persistent=True)
    with tape:
        for line in range(1, LINES + 1):
            value = 0.9 * values[-1] + 0.1
            values.append(stop_gradient(value) if line == CUT else value)
    return tape, values


def before_or_after(line: Answer) -> str:
    """What the tape says of a line that is not the one."""
    if isinstance(line, list):
        return ""
    if type(line) is not int or line not in range(1, LINES + 1):
        return say("The lines have the numbers 1 to {last}.", last=LINES)
    if line < CUT:
        return say("The gradient of values[{line}] is a number. So the path is cut in a later line.", line=line)
    return say("The gradient of values[{line}] is None already: it is cut in line {line} or before.", line=line - 1)
