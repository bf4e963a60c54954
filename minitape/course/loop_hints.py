"""Find what a learner's loop or derivative does instead of what is asked, by trying it.

Examples are one step too many, a different learning rate, or a value in place of its slope.
"""

from collections.abc import Sequence
from contextlib import suppress
from inspect import signature

import numpy as np

from ..common.translation import say
from .exercise import Answer, Program
from .unknown_functions import Polynomial

# Formulas of what learners often do instead of the right thing, each with its hint.
STEP_COUNTS = {
    "n+1": "You get this result if you take one step too many.",
    "n-1": "You get this result if you take one step too few.",
    "1": (
        "You get this result if you take a single step. All steps are needed, and each begins where the one before "
        "ended."
    ),
}
RATES = {
    "-n": "Your result is what steps uphill give. Check the sign of the step.",
    "1.0": "This is the result at a rate of {rate}. Compare that with the rate in the exercise.",
}
RATES |= dict.fromkeys("0.5 0.4 0.3 0.25 0.2 0.1 0.05 0.025 0.02 0.01 0.001".split(), RATES["1.0"])
LIST_PARTS = {
    "n[:-1]": "You get this result if you leave out the last item of {name}.",
    "n[1:]": "You get this result if you leave out the first item of {name}.",
    "[*range(len(n))]": (
        "You get this result if you use the positions 0, 1, 2 ... in {name} instead of the values at these positions."
    ),
}
DERIVATIVES = {
    "value": "Your result is the value of the function. What does the exercise ask for?",
    "slope(1)": "Your result is the first derivative.",
    "slope(2)": "Your result is the second derivative.",
    "slope(3)": "Your result is the third derivative.",
    "slope(4)": "Your result is the fourth derivative.",
    "slope(1)**2": "Your result is a power of the first derivative. What is the derivative of a derivative?",
    "slope(1)**3": "Your result is a power of the first derivative. What is the derivative of a derivative?",
}


CaseResults = Sequence[tuple[tuple["Answer", ...], "Answer"]]


def find_substitution_hint(solution: Program, case_results: CaseResults, is_same: Program) -> str:
    """Find out by trial what a function did instead of what was asked.

    Args:
        solution: The right function.
        case_results: The cases, each with the result of the learner's function.
        is_same: The function that compares two results.

    Returns:
        The sentence, or "" if nothing that was tried gives the same results.
    """
    argument_count = len(case_results[0][0])
    names = list(signature(solution).parameters)[:argument_count]

    def matches_results(candidate: Program) -> bool:
        with suppress(Exception), np.errstate(all="ignore"):  # The solution may fail for these other arguments.
            return all(is_same(result, candidate(*case)) for case, result in case_results)
        return False

    for name in (*names, "times", "rate"):
        for formula in {"rate": RATES, "steps": STEP_COUNTS, "times": STEP_COUNTS}.get(name, LIST_PARTS):
            if matches_results(_replace_argument(solution, name, formula)):
                return say((STEP_COUNTS | RATES | LIST_PARTS)[formula], name=repr(name), rate=formula)
    for place, name in enumerate(names):
        if matches_results(lambda *case, place=place: case[place]):
            return say("Your function returns {name} unchanged. What should change it?", name=repr(name))
    if matches_results(lambda *case: 0.0):
        return ""  # Zeros may also be a derivative of the wrong order.
    for formula in DERIVATIVES:
        if matches_results(lambda f, point, *other_arguments, formula=formula: _evaluate_formula(f, point, formula)):
            return say(DERIVATIVES[formula])
    return ""


def _replace_argument(solution: Program, argument_name: str, formula: str) -> Program:
    """Build the solution with a different value for one of its arguments, which is called n in a formula."""

    def call_with_replaced_argument(*case: Answer) -> Answer:
        bound_arguments = signature(solution).bind(*case)
        bound_arguments.apply_defaults()
        return solution(
            **bound_arguments.arguments
            | {argument_name: eval(formula, {"n": bound_arguments.arguments[argument_name]})}
        )

    return call_with_replaced_argument


def _evaluate_formula(f: Polynomial, point: float, formula: str) -> Answer:
    return eval(formula, {"value": f._compute(point), "slope": lambda order: f.derivative(point, order)})
