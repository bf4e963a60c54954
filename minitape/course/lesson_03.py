"""The answers of lesson 03, variables."""

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from itertools import accumulate

from ..common.translation import say
from ..engine.types import FloatList
from .answer_comparison import LabeledValue, append_colon_zero_to_names, to_numpy_value
from .call_log import ObservedRuns
from .exercise import Answer, Exercise, Mistake, Program
from .unknown_functions import Polynomial, run_gradient_descent

BOWL = Polynomial(1, -2, 1)
DENT = Polynomial(2, 1, 0.5, 0, 0.1)
VALLEYS = Polynomial(0, 0.3, -1, 0, 0.25)  # From -2, steps lead over a hill into the lower valley.


def _label_variable_or_tensor(value: Answer) -> Answer:
    """Label an answer as a variable or a tensor, together with its value. Return anything else unchanged."""
    if not hasattr(value, "numpy"):
        return value
    return LabeledValue({say("a variable") if hasattr(value, "assign") else say("a tensor"): to_numpy_value(value)})


def _label_results_of_solution(solution: Program, label: str = "a variable") -> Callable[..., LabeledValue]:
    return wraps(solution)(
        lambda *arguments, **keywords: LabeledValue({say(label): float(solution(*arguments, **keywords))})
    )


def _find_best_start(f: Polynomial, start: float, steps: int, rate: float) -> float:
    """Return where the lowest of the values lies at which steps down the slope of `f` start."""
    starts = [run_gradient_descent(f, start, step, rate) for step in range(steps)]
    return min(starts, key=f._compute)


def _return_start(f: Polynomial, start: float, *others: float) -> float:
    return start


def _run_careful_descent(f: Polynomial, start: float, steps: int, rate: float) -> float:
    """Return where steps down the slope of `f` lead if each bad one is taken back, and halves the rate."""
    for _ in range(steps):
        end = run_gradient_descent(f, start, 1, rate)
        if f._compute(end) < f._compute(start):
            start = end
        else:
            rate /= 2
    return start


def _find_unchanged_variable_hint(answer: Program, observed_runs: ObservedRuns) -> str:
    return "" if all(run.assign_count for run in observed_runs) else "no variable changed"


def _find_variable_use_hint(answer: Program, observed_runs: ObservedRuns) -> str:
    """Say that no variable was changed, or that one changes in 0 steps, or return "" if neither is true."""
    with suppress(Exception):  # The function may not work for 0 steps.
        if float(answer(BOWL, 3.0, 0)) != 3.0:
            return "changed by zero steps"
    return "" if all(run.assign_count for run in observed_runs) else "no variable changed"


def _compute_running_average(numbers: FloatList, rate: float) -> FloatList:
    """Compute the running average after each number."""
    return [*accumulate(numbers, lambda average, number: average + rate * (number - average))]


EXERCISES = (
    Exercise("03.1", expect={"after one step": 2.5, "after two steps": 3.25}),
    Exercise(
        "03.2",
        expect=_label_results_of_solution(run_gradient_descent),
        cases=[(BOWL, 3.0, 1), (BOWL, -2.0, 5), (DENT, -0.5, 6)],
        view=_label_variable_or_tensor,
        also=_find_variable_use_hint,
        mistakes=[
            Mistake(_label_results_of_solution(run_gradient_descent, "a tensor"), named="tensor returned"),
            Mistake(run_gradient_descent, named="plain number returned"),
            Mistake(
                _label_results_of_solution(lambda f, start, steps: run_gradient_descent(f, start, 1)),
                named="variable made again",
                where=r"for [^#]*tf\.Variable\(start\)",
            ),
        ],
    ),
    Exercise(
        "03.3",
        expect=_find_best_start,
        cases=[
            (DENT, 0.5, 6, 1.25),
            (DENT, 1.5, 5, 0.9),
            (BOWL, 3.0, 3, 1.25),
            (BOWL, -2.0, 4, 0.25),
            (VALLEYS, -2.0, 6, 0.5),
        ],
        mistakes=[
            Mistake(_return_start, named="start kept", where=r"best\b[^=\n]*=[^\n]*\bstart\b"),
            Mistake(_return_start, named="start is best", where=r"assign_add\(rate|\+ *rate"),
            Mistake(_return_start, named="start each time", where=r"\brate \*|\* rate\b"),
        ],
    ),
    Exercise(
        "03.4",
        expect=_label_results_of_solution(_run_careful_descent),
        cases=[(BOWL, 3.0, 6, 1.25), (BOWL, 3.0, 3, 1.0), (DENT, 0.5, 6, 2.0), (BOWL, -2.0, 4, 0.25)],
        view=_label_variable_or_tensor,
        also=_find_unchanged_variable_hint,
        mistakes=[
            Mistake(_label_results_of_solution(_run_careful_descent, "a tensor"), named="tensor returned"),
            Mistake(_run_careful_descent, named="plain number returned"),
        ],
    ),
    Exercise("03.5", expect=append_colon_zero_to_names(["soft:0", "best:0"]), view=append_colon_zero_to_names),
    Exercise(
        "03.6",
        expect=_compute_running_average,
        cases=[([1.0, 3.0, 2.0], 0.5), ([4.0, 0.0, 0.0, 8.0], 0.25), ([2.0, 2.5], 0.1)],
        also=_find_unchanged_variable_hint,
    ),
)
