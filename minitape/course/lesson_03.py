"""The answers of lesson 03, variables."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import suppress

from ..common.translation import say
from .answer_comparison import LabeledValue, append_colon_zero_to_names, to_numpy_value
from .call_log import ObservedRuns
from .exercise import Answer, Exercise, Mistake, Program
from .unknown_functions import Polynomial, run_gradient_descent

BOWL, DENT = Polynomial(1, -2, 1), Polynomial(2, 1, 0.5, 0, 0.1)

EXPLANATIONS = {
    "03.p1": """\
A negative slope says: the loss falls when `w` grows. *Subtracting* a part of the slope makes `w` grow then, and \
would make it shrink if the slope were
positive. Against the slope is downhill, whatever its sign: that is why every program that learns subtracts.""",
    "03.p2": """\
Each step jumps over the lowest point and lands further away, on the other side. There the slope is steeper, so the \
next jump is longer
still. A learning rate that is too large does not learn faster: it does not learn at all.""",
    "03.p3": """\
`w - 0.02 * first` computes a *tensor*, and the equals sign gives it the name `w`. A tape watches variables \
automatically, and tensors only when
it is told to. So nothing is recorded in the second step, and there is no path. The variable still exists, with its \
old content, but no name
leads to it. `assign_sub` would have changed what lies in it.""",
    "03.p4": """\
`t` is what it was. When you make a variable from a tensor, the tensor is the first content of the box. `assign` puts \
another tensor in the
box. The first one is not touched.""",
    "03.p5": """\
`y` was read but is not trainable. `z` is trainable but was not read. Only `x` is watched, and so only the row of `x \
+ 2` is recorded. The other
addition ran, too, but its box is dotted: it is on no tape. After `x = x + 2` the name `x` means a tensor. The tape \
still knows the variable
by its own name, `x:0`.""",
}

BELIEFS = {
    "03.p1": {
        "w should shrink": "A negative slope falls to the right. If w shrinks there, the loss grows.",
        "the slope does not tell": "The slope does not tell how far to go. But its sign tells in which direction.",
    },
    "03.p2": {
        "it falls faster": "Longer steps are faster only as long as they do not jump over the lowest point.",
        "it stays where it is": "For that a step would have to land just as high on the other side. These steps "
        "are longer still.",
    },
    "03.p3": {
        "-15.645": "-15.645 is the slope at 0.947, where w.assign_sub leads to. The number is right; but what is "
        "called w then?",
        "-22.35": "-22.35 is the slope at 0.5. The second loss is computed with 0.947.",
    },
    "03.p4": {
        "[5 2]": "That would be so if t and z were two names of one thing. But z is a box, and t is what lay in "
        "it first.",
    },
    "03.p5": {
        "x and z": "z is trainable, but the block does not read it. A tape does not go and look for variables.",
        "x and y": "y is read, but it is not trainable. Only a trainable variable is watched automatically.",
        "x, y and z": "These are all the variables there are. Two things are asked of each: is it trainable, and "
        "is it read in the block?",
    },
}

RETRY_QUESTIONS = {
    "03.p1": (
        "The slope is 3.0. How should w change, so that the loss becomes smaller?",
        ["w should grow", "w should shrink", "the slope does not tell"],
        "w should shrink",
        "A positive slope rises to the right, so downhill is to the left: minus the slope.",
    ),
    "03.p3": (
        "b is a variable. b = b * 2.0, and then a new tape records y = b * b. What is tape.gradient(y, b)?",
        ["2 times b", "None", "an error"],
        "None",
        "b * 2.0 is a tensor, and has the name b now. No tape watches a tensor by itself.",
    ),
}


def _label_variable_or_tensor(value: Answer) -> Answer:
    """Label what was handed in as a variable or a tensor, with what it holds; return anything else as it is."""
    if not hasattr(value, "numpy"):
        return value
    return LabeledValue({say("a variable") if hasattr(value, "assign") else say("a tensor"): to_numpy_value(value)})


def _label_results_of_solution(solution: Program, label: str = "a variable") -> Callable[..., LabeledValue]:
    return functools.wraps(solution)(
        lambda *arguments, **keywords: LabeledValue({say(label): float(solution(*arguments, **keywords))})
    )


def _run_descent(f: Polynomial, start: float, steps: int, rate: float = 0.1) -> float:
    return run_gradient_descent(f, start, steps, rate)


def _find_variable_use_hint(answer: Program, observed_runs: ObservedRuns) -> str:
    """Say that no variable was changed, or that one changes in 0 steps; "" where neither is so."""
    if not all(run.assign_count for run in observed_runs):
        return "The number is right, but no variable was changed."
    with suppress(Exception):  # it may know of one step or more only
        if float(answer(BOWL, 3.0, 0)) != 3.0:
            return "With 0 steps the variable should stay as it is, and it does not. Ask before the first step."
    return ""


def _find_missing_assignments_hint(answer: Answer, observed_runs: ObservedRuns) -> str:
    """Say that the variable was not changed for each number, but made with the sum, or left out; "" where it was."""
    if all(run.assign_count >= number_count for run, number_count in zip(observed_runs, (3, 3, 1), strict=True)):
        return ""
    return (
        "The result is right, but no variable was changed for each number. The variable should hold each sum on "
        "the way."
    )


def _find_unchanged_average_hint(answer: Answer, observed_runs: ObservedRuns) -> str:
    if all(run.assign_count for run in observed_runs):
        return ""
    return "The numbers are right, but no variable was changed. Let the variable average hold what is remembered."


def _compute_running_average(numbers: list[float], rate: float, start: float | None = None) -> list[float]:
    """Compute a running average after each of the numbers."""
    average = numbers[0] if start is None else start
    averages = []
    for number in numbers:
        average += rate * (number - average)
        averages.append(average)
    return averages


EXERCISES = (
    Exercise(
        "03.1",
        expect={"after one step": 2.5, "after two steps": 3.25},
        slips={
            "after one step": {
                -6.0: "-6 is the slope at 1. The new w is the old one, minus the rate times that.",
                9.0: "9 is the loss at 1. The step uses its slope.",
                1.5: "1.5 is the length of the step. Where does it lead to from 1?",
                -0.5: "That is uphill: the slope is negative, and it is subtracted.",
                7.0: "From 1 to 7 is the whole slope, 6. Multiply it by the learning rate.",
                1.75: "The derivative of (w - 4) ** 2 has a factor 2 in front of it.",
                1.25: "From 1 to 1.25 is the learning rate alone. Multiply it by the slope.",
                4.0: "4 is the lowest point. One step of this rate does not get there.",
            },
            "after two steps": {
                -3.0: "-3 is the slope after the first step. The new w is the old one, minus the rate times that.",
                2.25: "2.25 is the loss after the first step. The step uses its slope.",
                0.75: "0.75 is the length of the second step. Where does it lead to?",
                1.75: "That is uphill: the slope at 2.5 is negative, and it is subtracted.",
                5.5: "From 2.5 to 5.5 is the whole slope, 3. Multiply it by the learning rate.",
                2.5: "2.5 is where w is before the second step.",
                4.0: "The second step is not as long as the first: the slope is another one where w is by then.",
            },
        },
        hint=(
            "How steep is (w - 4) ** 2 at w = 1? And where is w after the first step?",
            "The slope is 2 * (w - 4). after one step: 0.25 times the slope at 1, and not the loss, is "
            "subtracted. after two steps: and 0.25 times the slope at the place where w was by then.",
            "At 1 the slope is -6: w becomes 1 + 0.25 * 6. At 2.5 it is -3: w becomes 2.5 + 0.25 * 3.",
        ),
        because="Each step uses the slope where w is now, so the steps get shorter on the way to 4.",
    ),
    Exercise(
        "03.2",
        expect=_label_results_of_solution(_run_descent),
        cases=[(BOWL, 3.0, 1), (BOWL, -2.0, 5), (DENT, -0.5, 6)],
        view=_label_variable_or_tensor,
        mistakes=[
            Mistake(
                _label_results_of_solution(_run_descent, "a tensor"),
                "The number is right, but a tensor comes back, and no variable. A variable learns by its method that "
                "subtracts.",
            ),
            Mistake(
                _run_descent,
                "The number is right, but it is a plain number. Let w be a variable, and hand back that: return w.",
            ),
        ],
        changes={
            "w.assign_sub(0.1 => w = w - (0.1": (
                "w = w - ... gives the name w to a new tensor, which no tape watches: the second step has no "
                "gradient. Change what the variable holds: it has a method that subtracts."
            ),
            "w.assign_sub(0.1 => w = w.assign_sub(0.1": (
                "The method is the right one, but w = gives the name w to what it hands back, which no tape watches. "
                "Leave out w =."
            ),
            "w.assign_sub(0.1 * tape.gradient(loss, w)) => pass": (
                "The variable still holds what it held at the start. Which method changes it?"
            ),
        },
        hint=(
            "What happens once, before the loop, and what in each step? And what does the tape of the next step watch?",
            "Once: w = tf.Variable(start). In each step a new tape, the loss inside of its block, the gradient, and a "
            "change of what the variable holds; the name w stays with the variable.",
            "for _ in range(steps): with tf.GradientTape() as tape: loss = loss_of(w). After the block "
            "w.assign_sub(0.1 * tape.gradient(loss, w)), and after the loop return w.",
        ),
        because="The variable itself changed, so the next tape reads it again, and watches it.",
        also=_find_variable_use_hint,
    ),
    Exercise(
        "03.3",
        expect={"t": [1, 2], "z": [11, 0]},
        slips={
            "t": {(11, 0): "t is a tensor: nothing ever changes a tensor."},
            "z": {
                (11, 22): "The last line also changes z: it puts 0 in place of the second number.",
                (10, 0): "assign_add adds to what z holds: 1 and 10. assign would put 10 in its place.",
                (1, 0): "assign_add changes the variable itself: afterwards z holds the sums.",
                (0, 22): "Counting starts with 0: z[1] is the second number.",
            },
        },
        hint=(
            "Which of the two can change at all, and by which lines?",
            "Follow z line by line. t is a tensor: does any line change a tensor?",
            "z is [1, 2], then [11, 22], and then the second number becomes 0. t stays as it was made.",
        ),
        because="assign_add and assign change what the variable holds. The tensor t stays as it was made.",
    ),
    Exercise(
        "03.4",
        expect=_label_results_of_solution(lambda numbers: sum(numbers)),
        cases=[([1.0, 2.0, 3.0],), ([0.5, -2.0, 0.5],), ([4.0],)],
        view=_label_variable_or_tensor,
        also=_find_missing_assignments_hint,
        slips={
            _label_results_of_solution(sum, "a tensor"): (
                "The sum is right, but it is a tensor. The variable itself should be handed back, with the sum in it."
            ),
            sum: (
                "The sum is right, but it is a plain number. Let total be a variable, and hand back that: return total."
            ),
        },
        changes={
            "assign_add => assign": (
                "Only the last number is in the box. Is the box made once, and which method adds to what is in it?"
            ),
            "total.assign_add(number) => pass": (
                "The variable holds 0. A sum like total + number alone does not change it: what is put "
                "into the box for each number?"
            ),
            "in numbers => in numbers[:1]": (
                "Only the first number is in the box. Is there a loop, and is the return after it, not inside?"
            ),
        },
        hint=(
            "What is in the box at first, and what after each number?",
            "Go through the numbers in a loop, and add each of them to the variable. After the loop, hand back the "
            "variable.",
            "for number in numbers: total.assign_add(number). After the loop: return total.",
        ),
        because="In the solution the variable itself changes, so each step starts from what the last one left.",
    ),
    Exercise(
        "03.5",
        expect=append_colon_zero_to_names(["d:0"]),
        view=append_colon_zero_to_names,
        asks="the names of variables, in a list",
        reasons={
            "a:0": "a is read before the tape is on. What is left in total is a tensor.",
            "b:0": "b is read inside the block, but it is not trainable.",
            "c:0": "c is read and changed before the tape is on.",
            "d:0": "d is missing: it is trainable, and it is read inside the block.",
        },
        hint=(
            "When is each variable read: before the block, or inside?",
            "For each variable ask two questions: is it trainable? Is it read while the tape is on?",
            "a and c are read before the block, b is not trainable. One is left; write its name with :0, in a list.",
        ),
        because="Only d is trainable and read while the tape is on.",
    ),
    Exercise(
        "03.6",
        expect=_compute_running_average,
        cases=[([1.0, 3.0, 2.0], 0.5), ([4.0, 0.0, 0.0, 8.0], 0.25), ([2.0, 2.5], 0.1)],
        also=_find_unchanged_average_hint,
        changes={
            "average.numpy() => average": (
                "All of them are the last state. Is the variable itself in the list, the box? Append what it holds, "
                "average.numpy()."
            ),
            "average.numpy() => number": (
                "These are the numbers themselves. The average moves a fraction of the distance only, rate * (number - "
                "average), and what it holds then is appended."
            ),
            "average.assign_add(rate * (number - average)) => pass": (
                "All of them are the first number. Which method changes what average holds?"
            ),
            "numbers[0] => 0.0": ("Begin with the first number, as it is in the list."),
        },
        hint=(
            "How far is it from the average to the number? Which fraction of that distance should the average move?",
            "Add rate * (number - average) to the variable. Then append what it holds now, as a number.",
            "average.assign_add(rate * (number - average)), and then seen.append(average.numpy()).",
        ),
        because="The variable is one box. seen holds what lay in it at each time.",
    ),
)
