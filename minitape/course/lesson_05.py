"""The answers of lesson 05, how long a tape lasts, and where a gradient points."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

import numpy as np

from .answer_comparison import to_numpy_value
from .call_log import ObservedRuns
from .exercise import Answer, Exercise, Mistake, Program, raise_error
from .unknown_functions import Polynomial, UnknownFunction

VALLEY = UnknownFunction(
    "(a - 1)**2 + 2 (a - b)**2",
    lambda a, b: (a - 1.0) * (a - 1.0) + 2.0 * (a - b) * (a - b),
    lambda a, b: [2.0 * (a - 1.0) + 4.0 * (a - b), -4.0 * (a - b)],
)
BEND = UnknownFunction(
    "a**2 + (b c - 1)**2",
    lambda a, b, c: a * a + (b * c - 1.0) * (b * c - 1.0),
    lambda a, b, c: [2.0 * a, 2.0 * c * (b * c - 1.0), 2.0 * b * (b * c - 1.0)],
)
TILTED = UnknownFunction(
    "(x[0] - 2 * x[1]) ** 2 + x[0]",
    lambda x: (x[0] - 2.0 * x[1]) ** 2 + x[0],
    lambda x: [2.0 * (x[0] - 2.0 * x[1]) + 1.0, -4.0 * (x[0] - 2.0 * x[1])],
)
CURVED = UnknownFunction(
    "x[0] * x[1] + x[2] ** 2", lambda x: x[0] * x[1] + x[2] ** 2, lambda x: [x[1], x[0], 2.0 * x[2]]
)
F, G = Polynomial(0, 0, 1), Polynomial(1, 2, 0, -1)


def _replace_error_names(answers: Answer) -> Answer:
    """Replace every name of an error in the answers by "error".

    >>> _replace_error_names({"A": "RuntimeError", "B": "an error", "C": "no error", "D": 4.0})
    {'A': 'error', 'B': 'error', 'C': 'no error', 'D': 4.0}
    """
    if not isinstance(answers, dict):
        return answers
    is_error = {
        key: re.match(r"\s*(an? |the )?\w*error\b", str(getattr(answer, "__name__", answer)).casefold())
        for key, answer in answers.items()
    }
    return {key: "error" if is_error[key] else answer for key, answer in answers.items()}


def _run_descent(
    f: UnknownFunction, starts: Sequence[float], steps: int, rate: float, by_turns: bool = False
) -> list[float]:
    """Return where steps down the slopes of `f` lead; `by_turns`, a step of each number sees those before it."""
    assert f.compute_derivatives
    numbers = list(starts)
    for _ in range(steps):
        slopes = f.compute_derivatives(*numbers)
        for place in range(len(numbers)):
            numbers[place] -= rate * (f.compute_derivatives(*numbers) if by_turns else slopes)[place]
    return numbers


def _build_adversarial_input(f: UnknownFunction, x: Sequence[float], step: float) -> np.ndarray:
    """Return where an input goes that moves by `step` in each number, up the slope of `f`."""
    assert f.compute_derivatives
    return np.array(x) + step * np.sign(f.compute_derivatives(x))


def _read_variables(variables: Answer) -> Answer:
    """Read what the variables of a list hold; return anything else as it is."""
    return [to_numpy_value(variable) for variable in variables] if isinstance(variables, (list, tuple)) else variables


def _find_missing_variable_hint(answer: Program, observed_runs: ObservedRuns) -> str:
    if not all(run.assign_count for run in observed_runs):
        return "The numbers are right, but no variable was changed."
    if all(hasattr(variable, "assign") for variable in answer(VALLEY, [2.0, -1.0], 1, 0.1)):
        return ""
    return "The numbers are right. Return the variables themselves, which hold them."


EXPLANATIONS = {
    "05.p1": """\
The first call gave its answer, and the second is an error: a tape gives one answer, unless it was made for more. \
The reason is what a tape
holds, and you will measure that further down.""",
    "05.p2": """\
`z` is `x` to the power of 4, so its derivative is 4 * 27. A persistent tape answers both questions. The sweep of the \
second one started at `y`,
and did not need row 2.""",
    "05.p3": """\
It is the *sum*: 6 + 27. A sweep can start at several rows at once, but what meets at `x` is added, and afterwards \
the sum does not say which part came
from where. That is what you want if `y` and `z` are two parts of one [loss](glossary.ipynb#cell-id=loss). If you \
want the two gradients apart,
you need two sweeps: with a persistent tape, or with two tapes.""",
    "05.p4": """\
Only `x`, which the variable holds anyway, and a few bytes for the rows. The rule of `x + y` looks at no value at \
all. So the tape did not keep
the two results in between: no rule will read them.""",
    "05.p5": """\
The tape that was used up has released all the large values that it computed. The persistent one keeps everything: \
you could ask it again.""",
    "05.p6": """\
The rule of `sin` reads its input, and the 25 sines have 25 different inputs, of 4 million bytes each.""",
    "05.p7": """\
3 * 0.003 + 4 * 0.004 = 0.025, against 0.015 and 0.020. Of all steps of one length, `3 * u + 4 * v` is largest for \
the one that points as (3, 4) does.""",
    "05.p8": """\
Each number adds 0.004 times 0.01 only. But all of them push the same way, and there are 100,000: the step times the \
sum of the sizes of the slopes. Nobody sees one shade, and 4 turns a sure answer into another.""",
}

BELIEFS = {
    "05.p1": {
        "both gradients": "For both, the tape would have to answer twice. One that is not persistent answers once.",
        "no gradient": "The first call gets its answer. It is the second one that fails.",
    },
    "05.p2": {
        "18.0 and 6.0": "18.0 is the gradient of z with respect to y, 2 * y. The path goes on from y to x, and "
        "there it is multiplied by 6.",
        "6.0 and 108.0": "These are the right two, the other way round: z was asked for first.",
        "an error": "Without persistent=True it would be an error. This tape may be asked again.",
    },
    "05.p3": {
        "[6.0, 27.0]": "That would be two answers. There is one source, so there is one answer: what meets at x "
        "is added.",
        "27.0": "27.0 is the gradient of z alone. y is a target, too.",
        "an error": "A list of targets is allowed. The sweep starts at both rows.",
    },
    "05.p4": {
        "2: x and x + 1": "That would be so if the rule of an addition read its inputs. It passes on what "
        "arrived, and reads no value.",
        "3: x, x + 1 and x + 1 + 2": "Three are computed. But the tape keeps only what a rule will read.",
    },
    "05.p5": {
        "both": "A tape that is not persistent will not be asked again. It has no reason to hold the values.",
        "neither": "A persistent tape may be asked again, and then it needs the values.",
    },
    "05.p6": {
        "4 million": "4 million is x alone, the input of the first sine. Each of the others has an input of its own.",
        "8 million": "8 million is what two sines need: each has an input of its own. Here there are 25.",
    },
    "05.p7": {
        "(0.005, 0): the base alone": "That raises it by 3 * 0.005 = 0.015, the least of the three.",
        "(0, 0.005): the steeper one alone": "That raises it by 4 * 0.005 = 0.020. A part of the step along the base "
        "costs little of this, and adds more.",
    },
    "05.p8": {
        "0.00004": "That is what one number adds, 0.004 times 0.01. There are 100,000 of them.",
        "0.004": "0.004 is how far each number moves, not what the score does.",
    },
}

RETRY_QUESTIONS = {
    "05.p3": (
        "y = x * x and z = 10 * x at x = 4. What is tape.gradient([y, z], x)?",
        ["[8.0, 10.0]", "18.0", "10.0"],
        "18.0",
        "There is one source, so there is one answer, and what meets at x is added: 8 + 10.",
    ),
}

EXERCISES = (
    Exercise(
        "05.1",
        expect={"A": "error", "B": 12.0, "C": 16.0, "D": "error"},
        view=_replace_error_names,
        program="""
x = tf.Variable(2.0)
with tf.GradientTape(persistent=True) as tape:
    y = x * x
    z = x * x * x
""",
        slips={
            "A": {
                12.0: "A asks a tape twice that is not persistent.",
                4.0: "A: 4 is the answer to the first call, of y. The second call is printed.",
            },
            "D": {
                4.0: "D: the first call used the tape up, though it gave None.",
                None: "D: None is what the first call gives. The second call finds a tape that is used up.",
            },
            "C": {
                12.0: "C: one call with several targets gives one number, the sum of their gradients.",
                (4.0, 12.0): "C: several targets give one number, their sum.",
                4.0: "C: 4 is the gradient of y alone. Of several targets the gradients are added.",
                48.0: "C: 48 is 4 times 12. Of several targets the gradients are added.",
                "error": "C: a list of targets is asked in one call, and that is the first.",
            },
            "B": {
                "error": "B is persistent: it may be asked again.",
                4.0: "B: 4 is y and also its gradient, that of the first call. The second call asks about z.",
                8.0: "B: 8 is z itself, and it is 4 + 4. z = x * x * x has three factors, and each gets 4.",
                16.0: "B: 16 is the sum of both gradients. Each call answers for its own target.",
            },
        },
        hint=(
            "How often is each tape asked, and is it persistent?",
            "A: a tape that is not persistent answers one call. B: this one answers any number of calls, here for z = "
            "x * x * x. C: several targets in one call give one number, their sum. D: a call is a call, whatever its "
            "answer is.",
            "A and D ask a tape again that is used up. B is persistent: 12. C adds 4 and 12.",
        ),
        because="A and D ask a used-up tape again. B is persistent. C adds 4 and 12.",
    ),
    Exercise(
        "05.2",
        expect=lambda f, g, value: [f.derivative(value), g.derivative(value)],
        cases=[(F, G, 3.0), (F, G, -1.0), (G, F, 0.5)],
        changes={
            "[tape.gradient(y, x), tape.gradient(z, x)] => tape.gradient([y, z], x)": (
                "That is the sum of both. Give back each of them by itself, in a list."
            ),
        },
        hint=(
            "How many sweeps do two gradients need that are to stay apart? And how often does a tape answer?",
            "One tape that may be asked twice, or two tapes. Compute y and z in the block, and ask once for each.",
            "with tf.GradientTape(persistent=True) as tape: y = f(x), z = g(x). Then return [tape.gradient(y, x), "
            "tape.gradient(z, x)].",
        ),
        because="Two gradients that stay apart take two sweeps, one from y and one from z.",
    ),
    Exercise(
        "05.3",
        expect={"A": 1, "B": 1, "C": 2, "D": 3},
        slips={
            "A": {
                0: "A: x itself is there, and it is counted.",
                2: "A: one of the two is x. The other would be 5 * x, which no rule reads: the sum asks for its shape.",
            },
            "B": {
                2: "B: both factors of x * x are one and the same tensor.",
                3: "B: both factors of x * x are one tensor, and no rule reads the product.",
            },
            "C": {
                1: "C: one is x, which the inner sin reads. The outer one has an input of its own.",
                3: "C: x and both results make three. But no rule reads the result of the outer sin.",
            },
            "D": {
                1: "D: there are two results, and each exp reads its own. x is there, too.",
                2: "D: the two results are read, and x is there, too.",
                4: "D: x and the results of two exp make three.",
            },
        },
        hint=(
            "For each operation: what will its rule read?",
            "Count each tensor of a million numbers once, and x, too. A: the rules of the product and of the sum read "
            "no result, only x. B: both factors are the same tensor, which is kept once. C: the rule of sin reads its "
            "input, "
            "and there are two. D: the rule of exp reads its result, and there are two.",
            "5 * x and x * x read x. Each sin reads its input: x, and the inner sin. Each exp reads its result.",
        ),
        because="5 * x and x * x read x only; sin reads its input, exp its result.",
    ),
    Exercise(
        "05.4",
        expect=_run_descent,
        cases=[(VALLEY, [2.0, -1.0], 1, 0.1), (VALLEY, [0.5, 3.0], 4, 0.2), (BEND, [1.0, 2.0, -1.0], 3, 0.05)],
        view=_read_variables,
        mistakes=[
            Mistake(
                partial(_run_descent, by_turns=True),
                "The second variable moves by a gradient that was taken after the first one had moved. Ask once in "
                "each step, for all of them.",
            ),
            Mistake(
                lambda f, starts, steps, rate: list(starts),
                "In the loop the name of an entry gets a new value, and the list keeps its old entries. Change the "
                "variable itself: it has a method that subtracts.",
                where=r"for (\w+).*\n *\1 *(-=|= *\1 *-)",
            ),
            Mistake(
                raise_error,
                "loss_of takes the variables one by one. A * before the list does that: loss_of(*variables).",
                where=r"loss_of\(\w+\)",
                error="takes tensors|missing a required",
            ),
        ],
        changes={
            "for variable, gradient in zip(variables, gradients):\n            variable.assign_sub(rate * gradient) => "
            "variables = [v - rate * g for v, g in zip(variables, gradients)]": (
                "After its first step the list holds tensors, which the next tape does not watch. Keep the variables, "
                "and change each of them: it has a method that subtracts."
            ),
            "rate * gradient => rate * gradients[0]": (
                "Each variable moves by the gradient of the first one. It has its own."
            ),
        },
        hint=(
            "How often is the tape of a step asked? And what does each of the variables do with its answer?",
            "One call of gradient for the whole list, and then a change of each variable by its own gradient.",
            "gradients = tape.gradient(loss, variables), and then for variable, gradient in zip(variables, gradients): "
            "variable.assign_sub(rate * gradient)",
        ),
        because="One call gives the gradients of all variables, so the tape need not be persistent.",
        also=_find_missing_variable_hint,
    ),
    Exercise(
        "05.5",
        expect=_build_adversarial_input,
        cases=[
            (TILTED, [1.0, 2.0], 0.1),
            (TILTED, [3.0, -1.0], 0.5),
            (CURVED, [0.5, -1.0, 2.0], 0.25),
            (CURVED, [1.0, 2.0, 0.0], 0.5),
            (CURVED, [0.06, -0.08, 1.0], 0.2),
        ],
        changes={
            "x + step => x - step": (
                "Down the slope the answer gets surer. To fool it, the loss must grow: plus, not minus."
            ),
            "tf.sign(tape.gradient(loss, x)) => tape.gradient(loss, x)": (
                "Each number moves by step times the gradient. It should move by step: only the sign counts."
            ),
            "x + step *  => ": ("These are the signs. Where does the input go with them?"),
            "step *  => ": "Each number moves by 1. It should move by step.",
            "tf.sign(tape.gradient(loss, x)) => 1.0": (
                "All numbers move up. The sign of its gradient says which way each one moves."
            ),
            "x +  => ": ("This is how each number moves. Add it to x."),
        },
        hint=(
            "Which way must each number of x move so that the loss grows, and how far?",
            "Watch x, compute loss_of(x) in the block, and ask for the gradient. Each number of x then moves by step, "
            "in the direction of the gradient's sign.",
            "In the block tape.watch(x) and loss = loss_of(x). After it: return x + step * tf.sign(tape.gradient(loss, "
            "x)).",
        ),
        because="The gradient with respect to the input says how to change the input. The weights stay as they are.",
    ),
)
