"""The answers of the appendix, tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..common.translation import say
from .call_log import ObservedRuns
from .exercise import Answer, Exercise, Mistake, NamedValues, Program, raise_error


def _compute_heights(xs: Sequence[float], ys: Sequence[float]) -> np.ndarray:
    """Compute the heights of a mountain pass."""
    return np.array([[x * x - y * y for x in xs] for y in ys])


def _describe_variable(variable: Answer) -> NamedValues:
    """Describe what a variable holds, which kind of numbers, and which shapes it takes."""
    if not hasattr(variable, "assign") or isinstance(variable, type):
        raise ValueError(say("it is no variable. Call tf.Variable"))
    numbers = "decimal" if variable.dtype.is_floating else variable.dtype.name
    return {"holds": variable.numpy().tolist(), "numbers": numbers, "shape": str(variable.shape)}


def _find_missing_tensor_hint(answer: Program, observed_runs: ObservedRuns) -> str:
    """Say that the numbers do not come in a tensor; "" where they do."""
    return "" if hasattr(answer([1.0, 2.0]), "numpy") else "The numbers are right, but they are in no tensor of tf."


EXPLANATIONS = {
    "appendix.p1": """\
It is an error, however the tensor was made. We say that tensors are [immutable](glossary.ipynb#cell-id=immutable).""",
    "appendix.p2": """\
From the right, 3 meets 3, and 2 meets nothing. So the row is repeated along the first axis: each line of the table \
gets it. The column, of shape
`(2, 1)`, is repeated along the other axis.""",
    "appendix.p3": """\
Where the mask is 1, the old number was replaced, so it has no influence on the result any more: gradient 0. Where it \
is 0, the number came
through as it was: gradient 1.""",
    "appendix.p4": """\
TensorFlow reads `x[[1, 4]]` as "place 1 on axis 0, place 4 on axis 1", and there is no axis 1.""",
    "appendix.p5": """\
Place 1 was used twice, so two amounts arrive there and are added. Places that were not picked get 0. It is the rule of
[lesson 1](01_the_first_tape.ipynb) again: add where paths meet.""",
    "appendix.p6": """\
Each text counts as *one* element, however long it is. The shape is `()`, so there is no axis to count along.""",
    "appendix.p7": """\
`t[0] = 1` fails because tensors do not change. `z[0] = 10` fails too: the equals sign is not how a variable is \
changed. You call a method:
`assign`. The word `ResourceVariable` in the second message is TensorFlow's inner name for a variable.""",
    "appendix.p8": """\
Computing with a variable *reads* it: the tensor is taken from the box, and the rest is arithmetic with tensors. The \
box stays as it is.""",
    "appendix.p9": """\
A variable keeps its dtype for life, and normally its shape. The first `assign` gives decimal numbers to a box for \
integers. That is a
`TypeError`: the *kind* does not fit. The second gives three numbers to a box for two. That is a `ValueError`: the \
kind fits, the *shape* does not. (The
space missing after "mismatch." is missing in TensorFlow, too.)""",
    "appendix.p10": """\
Look at the first line of the output: `[]`. When `tape.watch` was called, the layer had **no variables**. How should \
it know how large its
kernel must be? That depends on how many numbers come in, and no input had come in yet. The layer makes its variables \
when it is
called for the first time: it is *built*. So the tape was told to watch an empty list, and did so. Afterwards, in the \
last line, the layer has
two variables. But the tape did not watch them, so there are two answers `None`, and no error anywhere.""",
}
BELIEFS = {
    "appendix.p1": {
        "x holds 1 and 3": "A list and a NumPy array do that. What a tensor holds never changes.",
        "nothing, x stays as it was": "x does stay as it was. But the line is not passed over in silence.",
    },
    "appendix.p2": {
        "row is added to each column": "A column of the table has two numbers, and row has three. The last axes are "
        "put in line, not the first.",
        "an error": "The shapes differ, and yet they fit: a length that is missing is repeated.",
    },
    "appendix.p3": {
        "[1. 1. 1. 1. 1.]": "That would be right if all five numbers came through. In two places 1 - mask is 0.",
        "[0. 1. 0. 1. 0.]": "That is the mask itself. But x is multiplied by 1 - mask.",
    },
    "appendix.p4": {
        "both": "A list between the brackets picks places in NumPy only. For a tensor it is one place per axis.",
        "only the tensor": "It is the other way round: NumPy picks the two places, and the tensor refuses.",
        "neither": "NumPy does take a list of places: arr[[1, 4]] has two numbers.",
    },
    "appendix.p5": {
        "[0. 1. 0. 1. 0.]": "That says which places were picked, not how many times. Place 1 was picked twice.",
        "[1. 1. 1. 1. 1.]": "That is the gradient of the sum of all five numbers. Only two places were picked.",
    },
    "appendix.p6": {
        "b": "For Python's own text, that is right. A tensor takes the whole text for one element.",
        "a tensor that holds b": "That is what a tensor with three elements would do. This one has a single element.",
    },
    "appendix.p7": {
        "all three": "t is a tensor, and no tensor changes. Only a variable can.",
        "z[0] = 10 and z[0].assign(5)": "z can change, that is right. But the equals sign does not do it.",
        "none": "z is a variable: its method assign gives it another content, also at one place.",
    },
    "appendix.p8": {
        "a tensor; z holds [6 7]": "A tensor, that is right. But z + 5 only reads z: to change it, call assign.",
        "a variable; z holds [1 2]": "z holds [1 2], that is right. But only tf.Variable makes a variable.",
        "a variable; z holds [6 7]": "That is z.assign_add(5). z + 5 reads z, and makes a new tensor.",
    },
    "appendix.p9": {
        "both": "What a variable holds can change. Its dtype cannot, and its shape only if you allowed that.",
        "only the first": "1.0 and 2.0 are decimal numbers, and z is for integers. TensorFlow does not convert them.",
        "only the second": "z was made with two numbers, so it has room for two.",
    },
    "appendix.p10": {
        "two tensors": "For that, the tape would have to watch two variables. When it was told to, there were "
        "none yet.",
        "an empty list": "The list was empty when watch got it. The last line reads a.variables once more, and by"
        " then it has two.",
        "an error": "To watch an empty list is allowed. No check asks whether there is anything in it.",
    },
}

EXERCISES = (
    Exercise(
        "appendix.1",
        expect={"A": (4, 5), "B": "error", "C": (4, 5), "D": (3, 4, 5)},
        slips={
            "C": {
                "error": "C: a length of 1 is repeated. Here this happens on both sides.",
                (4, 1): "C: the 1 meets a 5, and is repeated.",
                (1, 5): "C: the 1 meets a 4, and is repeated.",
            },
            "B": {
                (4, 5): "B: put the last axes in line. Under the 5 is a 4, and these do not fit.",
                (4, 4): "B: a length never shrinks. 5 and 4 are neither equal nor 1, so they do not fit.",
            },
            "D": {
                "error": "D: in line from the right, 5 meets 1, 4 meets 4, and 3 meets nothing. All three fit.",
                (4, 5): "D: the second shape has no third axis. It is repeated there, so the 3 stays.",
            },
            "A": {"error": "A: a missing axis is no problem. From the right, 5 meets 5."},
        },
        hint=(
            "Which lengths meet, when the two shapes are written below each other?",
            "Write the shapes below each other, the last axes in line. Equal fits; a 1 or a gap is repeated.",
            "A: 5 meets 5. B: 5 meets 4. C: 1 meets 5, and 4 meets 1. D: 5 meets 1, 4 meets 4, and 3 meets a gap.",
        ),
        because="From the right, each pair of lengths is equal or has a 1 or a gap; only in B a 5 meets a 4.",
    ),
    Exercise(
        "appendix.2",
        expect=lambda numbers: [max(number, 0.0) for number in numbers],
        cases=[([1.0, -2.0, 3.0],), ([-0.5, 0.5, -2.0],), ([4.0, 0.0],)],
        changes={
            "x * mask => tf.abs(x)": "The negative numbers changed their sign. Put 0 in place of each.",
            "x * mask => mask": "That is the mask itself. Multiply x by it.",
            "x * mask => tf.constant([number for number in numbers if number > 0])": (
                "The negative numbers are gone. Keep their places, with a 0 there."
            ),
        },
        hint=(
            "Which numbers should stay, and which become 0? What would each be multiplied by?",
            "Make a mask that is 1 where x is positive and 0 elsewhere, and multiply x by it. Comparing gives True "
            "and False: cast them.",
            "return x * tf.cast(x > 0, x.dtype)",
        ),
        because="In the solution times 1 keeps a number, times 0 replaces it by 0.",
    ),
    Exercise(
        "appendix.3",
        expect=lambda numbers: [0.0, *numbers[1:-1], 0.0],
        cases=[([1.0, 2.0, 3.0],), ([5.0, 6.0],), ([1.0, -1.0, 2.0, -2.0],)],
        also=_find_missing_tensor_hint,
        mistakes=[
            Mistake(
                raise_error,
                "Each place is a list of its own, the last is len(numbers) - 1, and each of them needs a number.",
                error="InvalidArgumentError",
            ),
        ],
        changes={
            "return tf.tensor_scatter_nd_update(x, places, [0.0, 0.0]) => return x": (
                "These are the old numbers. Return what tf.tensor_scatter_nd_update returns."
            ),
            "len(numbers) - 1 => 0": "The first is replaced, the last is not. Its place is len(numbers) - 1.",
            "[0] => [len(numbers) - 1]": "The last is replaced, the first is not: it has the place [0].",
            "return tf.tensor_scatter_nd_update(x, places, [0.0, 0.0]) => return x[1:-1]": (
                "The ends are cut off. Keep their places, with a 0 there."
            ),
        },
        hint=(
            "Which two places are replaced, and by what?",
            "Each place is a list of its own, the last one is len(numbers) - 1. The function gives back a new tensor.",
            "return tf.tensor_scatter_nd_update(x, [[0], [len(numbers) - 1]], [0.0, 0.0])",
        ),
        because="Each of the two places holds 0 now, and the others what they held.",
    ),
    Exercise(
        "appendix.4",
        expect=[50, 10, 10],
        slips={
            (4, 0, 0): "These are the places. What is at each of them?",
            (50, 10): "A place that is named twice is picked twice.",
            (10, 10, 50): "The numbers come in the order in which the places are named.",
            1: {40: "Places are counted from 0, so place 4 is the fifth number."},
        },
        hint=(
            "How many places are named, and where does counting start?",
            "Take the places one after the other: 4, then 0, then 0 once more.",
            "Place 4 holds 50, and place 0 holds 10. It is picked twice.",
        ),
        because="The numbers at places 4, 0 and again 0, in this order.",
    ),
    Exercise(
        "appendix.5",
        expect={"A": "dense", "B": "string", "C": "sparse", "D": "ragged"},
        slips={
            "B": {"ragged": "B: names differ in length, but each text is one element."},
            "C": {
                "dense": "C: of 100,000 places only 50 are not 0. Do you want to store the zeros?",
                "string": "C: the words are not stored, but a 1 or a 0 for each of them.",
                "ragged": "C: every letter has an entry for each of the 100,000 words. What are nearly all of them?",
            },
            "D": {
                "sparse": "D: nothing here is 0. What differs is how many ages each person has.",
                "dense": "D: a rectangle would need as many children for everybody.",
            },
            "A": {"sparse": "A: nearly every point of a photo has some brightness."},
        },
        hint=(
            "Is it text? Do its rows have the same length? Is nearly all of it 0?",
            "A: it has a number at every point. B: is it numbers, or text? C: how many of its places are not zero? D: "
            "do its rows have one length?",
            "A has a brightness at every point; B is text; C has 50 of 100,000 places; D has rows of different "
            "lengths.",
        ),
        because="A photo is a full rectangle, names are text, C is nearly all zeros, D has rows of different lengths.",
    ),
    Exercise(
        "appendix.6",
        expect={"A": "works", "B": "ValueError", "C": "TypeError", "D": "TypeError"},
        slips={
            "A": {
                "ValueError": "Look at A once more: v has two places, and gets two numbers.",
                "TypeError": (
                    "Look at A once more: the whole numbers 3 and 4 can be stored as decimal numbers without loss."
                ),
            },
            "B": {
                "TypeError": "Look at B once more: the kind of number fits, the shape does not.",
                "works": "Look at B once more: v was made with two numbers and keeps that shape.",
            },
            "C": {
                "ValueError": "Look at C once more: the number and its place fit. The equals sign is the trouble.",
                "works": "Look at C once more: the equals sign is not how a variable is changed.",
                "AttributeError": "Look at C once more, and at the messages above: what is the error for z[0] = 10?",
            },
            "D": {
                "works": (
                    "Look at D once more: 1.5 has no place in a variable of integers. Nothing is rounded silently."
                ),
                "ValueError": "Look at D once more: the shape fits, the kind of number does not.",
            },
        },
        hint=(
            "For each line: does the kind of number fit? Does the shape? Is it a method call?",
            "TypeError: the kind does not fit, or it is v[0] = ... ValueError: the kind fits, the shape does not.",
            "A fits. B brings three numbers for two. C is no method call. D brings 1.5 for an integer.",
        ),
        because="Whole numbers fit into floats. A wrong shape is a ValueError, a wrong kind or v[0] = ... a TypeError.",
    ),
    Exercise(
        "appendix.7",
        expect={"holds": [1.0, 2.0], "numbers": "decimal", "shape": "(None,)"},
        view=_describe_variable,
        asks="a variable",
        mistakes=[
            Mistake(
                {"holds": [[1.0, 2.0]], "shape": "(None, 2)"},
                "This variable holds a table with two columns. Use one pair of brackets.",
            ),
            Mistake(
                {"holds": 0.0, "shape": "<unknown>"},
                "Start with the two numbers 1.0 and 2.0, and allow one direction: shape=[None].",
            ),
            Mistake(
                {"holds": [1, 2], "numbers": "int32"},
                "This variable holds integers, and will never take 1.5. Write 1.0 and 2.0.",
            ),
        ],
        slips={
            "shape": {
                "(2,)": "This variable takes two numbers only. Say shape=[None] when you make it.",
                "<unknown>": "This variable takes any shape, also a table. Allow one direction: shape=[None].",
            }
        },
        hint=(
            "Which shape has one direction, of any length, and what should it hold now?",
            "tf.Variable takes a first value and a shape. In the shape, None means a length that may change.",
            "tf.Variable([1.0, 2.0], shape=[None])",
        ),
        because="shape=[None] is one direction of any length.",
    ),
    Exercise(
        "appendix.8",
        expect=_compute_heights,
        cases=[([1.0, 2.0, 3.0], [0.0, 1.0]), ([0.5, 1.0, 1.5], [1.0, -2.0]), ([0.0, -1.0], [2.0, 0.0, 0.5])],
        mistakes=[
            Mistake(
                raise_error,
                "The shapes do not fit: make a column of y, y[:, tf.newaxis], wherever y is read, and then subtract.",
                error="shapes",
            ),
        ],
        changes={
            "y[:, tf.newaxis] * y[:, tf.newaxis] => 0.0 * y[:, tf.newaxis]": "y is missing: subtract y * y.",
        },
        hint=(
            "The table has a row for each y, and holds x * x - y * y. Which shapes of the two broadcast to it?",
            "Make a column of y: the shape (rows, 1). Then (columns,) and (rows, 1) give (rows, columns).",
            "return x * x - y[:, tf.newaxis] * y[:, tf.newaxis]",
        ),
        because="In the solution (columns,) and (rows, 1) broadcast to (rows, columns).",
    ),
)
