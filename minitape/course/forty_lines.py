"""Define the program of lesson 8 without `explain`. It has forty lines, and one of them cuts the path.

The tape answers six questions.
"""

from numbers import Real

from ..common.translation import say
from ..engine.backward.tape import GradientTape
from .exercise import Answer, Answers

LINE_COUNT, CUT_LINE, MAX_QUESTIONS = 40, 27, 6


class QuietTape(GradientTape):
    """A tape that answers only six calls to `gradient`, and has no `explain`."""

    answer_count = 0

    def gradient(self, target: Answer, sources: Answer, *arguments: Answer, **options: Answer) -> Answer:
        """Return the gradient. The seventh call raises RuntimeError."""
        if self.answer_count == MAX_QUESTIONS:
            raise RuntimeError(
                say("The tape has answered six questions. To start over, run the cell with forty_lines again.")
            )
        self.answer_count += 1
        return super().gradient(target, sources, *arguments, **options)

    def explain(self, *arguments: Answer) -> Answer:
        """Raise RuntimeError."""
        raise RuntimeError(
            say("You cannot use explain here. Call tape.gradient with one of the values in between as its target.")
        )


def forty_lines() -> tuple[QuietTape, Answers]:
    """Return the tape and a list: a variable, and the value that each of the forty lines computed from the last one.

    >>> tape, values = forty_lines()
    >>> len(values), tape.gradient(values[40], values[0]) is None
    (41, True)
    """
    from .. import Variable, stop_gradient

    values: Answers = [Variable(1.0, name="w")]
    tape = QuietTape(persistent=True)
    with tape:
        for line in range(1, LINE_COUNT + 1):
            value = 0.9 * values[-1] + 0.1
            values.append(stop_gradient(value) if line == CUT_LINE else value)
    return tape, values


def describe_cut_before_or_after_line(line: Answer) -> str:
    """Say whether the cut is before or after a line that a learner wrongly named."""
    if not isinstance(line, Real):
        return say("Only one line cuts the path, so the answer is a single number.")
    if line not in range(1, LINE_COUNT + 1):
        return say("The lines are numbered from 1 to {last}.", last=LINE_COUNT)
    line = int(float(line))
    if line < CUT_LINE:
        return say("The gradient of values[{line}] is a number, so the path is cut in a later line.", line=line)
    return say(
        "The gradient of values[{line}] is already None, so the path is cut in line {line} or earlier.", line=line - 1
    )
