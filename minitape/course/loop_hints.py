"""What a learner's loop or derivative does in place of what is asked, found by doing it: one step too many, another
learning rate, the value in place of its slope.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from ..common.texts import say
from .exercise import Answer, Program
from .unknown import Polynomial

# What learners do in place of what is right, as formulas, with what to say of it.
NUMBERS_OF_STEPS = {
    "n+1": "That is the result of one step too many.",
    "n-1": "That is the result of one step too few.",
    "1": (
        "That is the result of a single step, whatever the number of steps. Which lines are in a loop, and where does "
        "each step begin?"
    ),
}
RATES = {
    "-n": "That is the result of steps the other way: is there a plus in place of a minus, or the reverse?",
    "1.0": "That is the result of the learning rate {rate}. Which one is asked for?",
}
RATES |= dict.fromkeys("0.5 0.4 0.3 0.25 0.2 0.1 0.05 0.025 0.02 0.01 0.001".split(), RATES["1.0"])
PARTS = {
    "n[:-1]": "That is the result without the last of {name}.",
    "n[1:]": "That is the result without the first of {name}.",
    "[*range(len(n))]": "That is the result for the places 0, 1, 2 ... in {name}, and not for what is there.",
}
DERIVATIVES = {
    "value": "That is the value of the function. What does the exercise ask for?",
    "slope(1)": "That is the first derivative.",
    "slope(2)": "That is the second derivative.",
    "slope(3)": "That is the third derivative.",
    "slope(4)": "That is the fourth derivative.",
    "slope(1)**2": "That is a power of the first derivative. What is the derivative of a derivative?",
    "slope(1)**3": "That is a power of the first derivative. What is the derivative of a derivative?",
}


Runs = Sequence[tuple[tuple["Answer", ...], "Answer"]]


def of_calls(expect: Program, runs: Runs, same: Program) -> str:
    """What a function did in place of what was asked, found by trying: one step too many, another learning rate, the
    value in place of its derivative. `runs` are its cases and what it gave in each.
    """
    names = [*inspect.signature(expect).parameters][: len(runs[0][0])]

    def did(wanted: Program) -> bool:
        with suppress(Exception), np.errstate(all="ignore"):  # the solution is not made for what is tried here
            return all(same(given, wanted(*case)) for case, given in runs)
        return False

    for name in (*names, "times", "rate"):
        for formula in {"rate": RATES, "steps": NUMBERS_OF_STEPS, "times": NUMBERS_OF_STEPS}.get(name, PARTS):
            if did(_with_another(expect, name, formula)):
                return say((NUMBERS_OF_STEPS | RATES | PARTS)[formula], name=repr(name), rate=formula)
    for place, name in enumerate(names):
        if did(lambda *case, place=place: case[place]):
            return say("That is {name}, as it was handed in. What should change it?", name=repr(name))
    if did(lambda *case: 0.0):
        return ""  # zeros are the derivative of one order or another
    for formula in DERIVATIVES:
        if did(lambda f, at, *rest, formula=formula: _of_function(f, at, formula)):
            return say(DERIVATIVES[formula])
    return ""


def _with_another(expect: Program, name: str, formula: str) -> Program:
    """The solution with something else in the place of one of its arguments, which is n in a formula."""

    def call(*case: Answer) -> Answer:
        given = inspect.signature(expect).bind(*case)
        given.apply_defaults()
        return expect(**given.arguments | {name: eval(formula, {"n": given.arguments[name]})})

    return call


def _of_function(f: Polynomial, at: float, formula: str) -> Answer:
    return eval(formula, {"value": f._compute(at), "slope": lambda order: f.derivative(at, order)})
