"""The answers of lesson 02, inside the tape."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from .exercise import Answer, Case, Exercise, Mistake, raise_error
from .unknown_functions import Polynomial

F, G = Polynomial(0, 1, 0, -2, 0, 1), Polynomial(1, 0, 3, 1)
BOTH_TERMS = "An addition passes on what arrived to both of its inputs."
BOTH_FACTORS = "A product passes something on to both of its factors."
INPUTS = {1: [0, 0], 2: [1, 0], 3: [2, 1]}  # of the rows of exercise 1


def _compute_slopes(f: Polynomial, places: Sequence[float]) -> np.ndarray:
    return np.array([f.derivative(place) for place in places])


def sweep(
    rows: Sequence[Case], values: Sequence[float], order: Sequence[int] = (), replaced: bool = False
) -> list[float]:
    """Compute the adjoints of all rows of a list by hand, which have their turn from the last to the first, or in an
    `order`; `replaced`: an amount takes the place of what arrived before, which is wrong.

    >>> sweep([("leaf", 3.0), ("multiply", 0, 0)], [3.0, 9.0])
    [6.0, 1.0]
    """
    adjoints = [0.0] * len(rows)
    adjoints[-1] = 1.0
    for row in order or reversed(range(len(rows))):
        operation, *inputs = rows[row]
        for place, other in zip(inputs, reversed(inputs), strict=True) if operation != "leaf" else ():
            amount = adjoints[row] * (values[other] if operation == "multiply" else 1.0)
            adjoints[place] = amount if replaced else adjoints[place] + amount
    return adjoints


def _sort_inputs(inputs: Answer) -> Answer:
    """Sort the inputs of each row as the lesson writes them: a sum and a product are the same in either order."""
    if isinstance(inputs, (list, tuple)):
        inputs = dict(enumerate(inputs, 1))
    if not isinstance(inputs, dict):
        return inputs
    return {row: _sort_pair_descending(pair) for row, pair in inputs.items()}


def _sort_pair_descending(pair: Answer) -> Answer:
    with suppress(TypeError):  # not two numbers
        return pair if isinstance(pair, (set, frozenset)) else sorted(pair, reverse=True)
    return pair


EXPLANATIONS = {
    "02.p1": """\
A leaf for each variable and a row for each operation, `r` included. A tape writes down what runs: it cannot know \
which result you will ask
about. The sweep then leaves `r` out, and the gradient is 48 and 28, as in the list by hand.""",
    "02.p2": """\
If only `first` grows by a tiny step, `y` grows by 21 steps. If only `second` grows by a tiny step, `y` grows by 3 \
steps. But with one
variable `a` in both places, *both* grow at once. Then `y` grows by 21 + 3 = 24 steps. That is all: the changes \
happen together, so they
are added.

Inside each path it is different. There one change causes the next: if `p` grows three times as fast as `first`, and \
`y` seven times as fast as `p`,
then `y` grows 7 × 3 = 21 times as fast as `first`: the two are multiplied.""",
    "02.p3": """\
Row 2 had got only 8 of its 14 when it was its turn. The 6 that came later stayed in row 2: no step passed it on.""",
    "02.p4": """\
The gradient is the number of paths, 1073741824 (printed above as 1.0737418e+09, in the short form of very large \
numbers). But the sweep took 30
steps. Amounts are added *at each row*, before they go on. So what is shared by many paths is done once. This is why \
gradients are cheap: the
sweep never costs more than a few times the computation itself, however many paths there are.""",
    "02.p6": """\
A run forwards begins at one input and comes to all results. A sweep begins at one result and comes to all inputs. So \
forwards is cheaper where
there are few inputs and many results, and backwards where there are many inputs and one result, as with a loss.""",
    "02.p5": """\
`w` was used three times: for 1, for 2 and for 3. So three amounts, 1, 2 and 3, arrive at `w`, and they are added. It \
is the same rule again,
inside one row. Stretching a small tensor to the shape of a large one is called \
[broadcasting](glossary.ipynb#cell-id=broadcasting), and
going backwards, it always becomes a sum.""",
}

BELIEFS = {
    "02.p1": {
        "five: y does not need r": "A tape cannot know what will be needed later. It writes down each operation "
        "at the moment when it runs.",
        "four: one for each operation": "Four counts the operations. The two variables have rows, too: the "
        "operations name them as their inputs.",
    },
    "02.p2": {
        "24 and 24": "24 is the gradient of one a in both places. Each of the two variables is only one of the paths.",
        "12 and 12": "12 is half of 24, as if the two shared alike. But only one of them is multiplied by b first.",
    },
    "02.p3": {
        "still 48": "It would be 48 if each row had got everything before it passes it on. Row 2 passes on before"
        " row 3 has sent its 6.",
        "too large": "Too large it would be if something were passed on twice. Each row passes on once; what "
        "comes too late is lost.",
    },
    "02.p4": {
        "one for each pair of additions": "900 is 30 times 30, as if each addition were visited from each other "
        "one. The sweep comes to each row once.",
        "one for each path": "There are so many paths. But what arrives at a row is added first, and then passed "
        "on once for all of them.",
    },
    "02.p5": {
        "1.0": "1.0 is the share of the first number alone. w multiplies the others, too.",
        "2.0": "2.0 is the gradient of one number of x. You were asked for w's.",
    },
    "02.p6": {
        "1000 forwards, 1 backwards": "So it is with 1000 inputs and one result. Here it is the other way round.",
        "1 forwards, 1 backwards": "A sweep begins at one result. With 1000 of them it begins 1000 times.",
    },
}

RETRY_QUESTIONS = {
    "02.p2": (
        "p = a * b and y = p * a, at a = 2, b = 5. The two uses of a become two variables. What are their gradients?",
        ["10 and 10", "20 and 20", "5 and 2"],
        "10 and 10",
        "Each use gets the product of the other two factors, 2 * 5. With one variable a, both come together: 20.",
    ),
    "02.p5": (
        "x holds 2, 4 and 6, and y is the sum of w * x. What is the gradient of y with respect to w?",
        ["2.0", "4.0", "12.0"],
        "12.0",
        "w is used three times, and what arrives is added: 2 + 4 + 6.",
    ),
    "02.p6": (
        "500 inputs and one result. How many runs forwards, and how many sweeps backwards, give all the slopes?",
        ["1 forwards, 500 backwards", "500 forwards, 1 backwards", "1 forwards, 1 backwards"],
        "500 forwards, 1 backwards",
        "A run forwards begins at one input, and a sweep at one result.",
    ),
}

EXERCISES = (
    Exercise(
        "02.1",
        expect=INPUTS,
        view=_sort_inputs,
        mistakes=[
            Mistake(
                {1: [1, 1], 2: [2, 1], 3: [3, 2]}, "Each number is one too large. Counting starts with 0: x is row 0."
            ),
            Mistake({1: [2, 2], 2: [4, 2], 3: [6, 4]}, "These are values. Write the numbers of the rows they are in."),
        ],
        slips={
            2: {(0, 0): "v is computed from u and x. Which row is u in?"},
            3: {(1, 0): "y is computed from v and u. Which row is v in?"},
        },
        hint=(
            "In which row was each of the two operands written?",
            "x is row 0, u is row 1, v is row 2. 1: both operands of x * x are x: its row's number, written twice. 2: "
            "u + x has two operands, u and x. 3: v * u has v on the left, and u on the right.",
            "x * x uses row 0 twice; u + x uses rows 1 and 0; v * u uses rows 2 and 1.",
        ),
        because="x is row 0, u is row 1 and v is row 2. x * x uses row 0 twice.",
    ),
    Exercise(
        "02.2",
        expect={"x": 44.0, "u": 10.0, "v": 4.0, "y": 1.0},
        program="""
x = tf.Variable(2.0)
with tf.GradientTape(persistent=True) as tape:
    u = x * x
    v = u + x
    y = v * u
""",
        mistakes=[
            Mistake(
                {"x": 28.0, "u": 6.0},
                "u is used twice: in v * u and in u + x. Both amounts arrive.",
            ),
            Mistake(
                {"x": 20.0, "u": 4.0},
                "The second amount for u does not replace the first. Add them.",
            ),
            Mistake(
                {"x": 2.0, "u": 4.0, "v": 6.0, "y": 24.0}, "These are the values. Start the adjoints with 1 for y."
            ),
        ],
        hint=(
            "Who uses u, and who uses x? Each use sends an amount back.",
            "Begin with y, then v, u and x. x: are y, v and u right? It gets what arrived at v = u + x, and twice "
            "what arrived at u = x * x, times x. u: are y and v right? It gets what arrived at y = v * u, times v, "
            "and what arrived at v = u + x. v: it gets what arrived at y = v * u, times u. y: it is the target, and "
            "begins with 1.",
            "v gets 1 * 4. u gets 1 * 6, and 4 more from v. x gets 4 from v, and from x * x twice 10 * 2.",
        ),
        because="u gets 6 and 4, and x gets 4, 20 and 20.",
    ),
    Exercise(
        "02.3",
        expect=lambda arrived, x, y: (arrived, -arrived),
        cases=[(1.0, 5.0, 2.0), (-2.0, 3.0, 4.0), (0.5, 0.0, 7.0)],
        changes={
            "-arrived => arrived": ("That is the rule of x + y. If y grows, x - y falls."),
            "arrived, -arrived => -arrived, arrived": ("The signs are the wrong way round: x has the plus."),
            "arrived, -arrived => arrived * y, -arrived * x": ("No values are needed: x - y grows as fast as x."),
            "arrived, -arrived => arrived * x, -arrived * y": ("No values are needed: x - y grows as fast as x."),
            "arrived, -arrived => arrived * y, arrived * x": (
                "That is the rule of a product. Here x - y was computed."
            ),
            "arrived, -arrived => 1, -1": ("Multiply by what arrived: the amounts of a whole path are multiplied."),
            "arrived, -arrived => arrived": ("Return two amounts, for x and for y, with a comma between them."),
        },
        hint=(
            "How much does x - y grow, if x grows by 1? And if y grows by 1?",
            "The local slopes are 1 and -1. Multiply each by what arrived, and return both.",
            "return arrived, -arrived",
        ),
        because="x - y grows as x grows, and falls as y grows.",
    ),
    Exercise(
        "02.4",
        expect={"A": True, "B": True, "C": False, "D": False},
        slips={
            "B": {
                False: (
                    "Look at B: row 1 and row 2 do not use each other, and row 3 is done. What could still be missing?"
                )
            },
            "C": {True: "Look at C: when row 2 has its turn, row 3 has not passed anything on to it yet."},
            "A": {False: "Look at A: 3, 2, 1 is from the last row to the first, which is always right."},
            "D": {True: "D is the order of computing. The sweep goes backwards: it starts at the result."},
        },
        hint=(
            "When has everything arrived at a row?",
            "A row may have its turn when all rows that use it are done. Which rows use row 1, and which use row 2?",
            "Only row 3 uses rows 1 and 2. So every order that begins with 3 is right.",
        ),
        because="Row 3 uses rows 1 and 2, so it must come first. Rows 1 and 2 do not use each other.",
    ),
    Exercise(
        "02.5",
        expect=sweep,
        cases=[
            ([("leaf", 3.0), ("multiply", 0, 0), ("add", 1, 0)], [3.0, 9.0, 12.0]),
            (
                [("leaf", 2.0), ("leaf", 5.0), ("add", 0, 1), ("multiply", 2, 0), ("multiply", 3, 2)],
                [2.0, 5.0, 7.0, 14.0, 98.0],
            ),
            ([("leaf", 4.0), ("add", 0, 0), ("multiply", 1, 1), ("multiply", 0, 1)], [4.0, 8.0, 64.0, 32.0]),
            ([("leaf", 2.5), ("multiply", 0, 0), ("leaf", 5.0), ("add", 1, 2)], [2.5, 6.25, 5.0, 11.25]),
        ],
        order=0,
        mistakes=[
            Mistake(
                raise_error,
                "A leaf has a value in its entry, and no rows. It passes nothing on: leave it out.",
                error="integers or slices, not float|not enough values to unpack|tuple index",
            )
        ],
        changes={
            "+= => =": ("Where two amounts meet, only the last of them is left. They are added: +=, and not =."),
            "reversed(range(len(rows))) => range(len(rows))": (
                "Only the last row passed something on. Where the loop goes from the first row to the last, nothing "
                "has arrived yet at the others when they have their turn."
            ),
            "adjoints[-1] = 1.0 => pass": (
                "All of them are 0. Is the last one 1 before the loop, and does each row keep what arrived at it?"
            ),
            "adjoints[-1] = 1.0 => adjoints[-1] = values[-1]": (
                "The last adjoint is the value of the result. It should say how fast the result grows with itself: 1."
            ),
            "adjoints[-1] => adjoints[0]": (
                "The 1 is at the first row. A sweep begins at the result, which is the last one."
            ),
            (
                "[inputs[1]]\n"
                "            adjoints[inputs[1]] += arrived * values[inputs[0]] => [inputs[0]]\n"
                "            adjoints[inputs[1]] += arrived * values[inputs[1]]"
            ): ("Each factor got its own value. It gets what arrived, times the value of the other factor."),
            "values[inputs[1]] => values[inputs[0]]": (
                "The first factor of a product got its own value. It gets what arrived, times the other one."
            ),
            "arrived * values[inputs[0]] => arrived * values[inputs[0]] * (inputs[0] != inputs[1])": (
                "In x * x both inputs are the same row. It gets both amounts."
            ),
            "arrived *  => ": ("A product passes on its slope alone. Multiply it by what arrived at the row."),
            "adjoints[inputs[1]] +=  => _ = ": (
                "Of each row only the first input gets something. What about the second?"
            ),
            "adjoints[inputs[0]] += arrived\n => pass\n": BOTH_TERMS,
            "adjoints[inputs[1]] += arrived\n => pass\n": BOTH_TERMS,
            "adjoints[inputs[0]] += arrived * => _ =": BOTH_FACTORS,
            "adjoints[inputs[1]] += arrived * => _ =": BOTH_FACTORS,
            "[0.0] * len => [1.0] * len": "Before the sweep nothing has arrived anywhere: begin with 0 in each place.",
            "len(rows))) => len(rows) - 1))": (
                "Nothing comes from the last row. It has its turn, too, and what arrived at it is passed on first."
            ),
            'operation == "multiply" => False': (
                "No product passes anything on. The rows say 'multiply': do you ask for that?"
            ),
            'operation == "add" => False': "No addition passes anything on. The rows say 'add': do you ask for that?",
        },
        hint=(
            "Do one row of exercise 2 by hand once more. Which lines of a program are the things that you do there?",
            "First the last adjoint becomes 1. Then a loop over the rows, from the last to the first: an addition adds "
            "what arrived to the adjoints of both inputs, a product adds it times the value of the other factor.",
            "adjoints[-1] = 1.0, then for row in reversed(range(len(rows))): and in it, for a product, "
            "adjoints[inputs[0]] += adjoints[row] * values[inputs[1]], and the reverse.",
        ),
        because="That is all a tape does when you ask for a gradient. The rest of minitape is more rules.",
    ),
    Exercise(
        "02.6",
        expect=_compute_slopes,
        cases=[(F, [0.0, 0.5, 1.0]), (G, [-1.0, 0.25, 2.0, 3.0]), (G, [1.5])],
        changes={
            "tape.gradient => tape.jacobian": (
                "That is the whole table: how each number of y grows with each number of x. Only its diagonal is asked "
                "for, and one call of gradient gives that."
            ),
            "y = f(x) => y = tf.reduce_mean(f(x))": (
                "That is the gradient of the mean of y. Ask for the gradient of y itself."
            ),
        },
        hint=(
            "Which program of lesson 1 gives a slope? What changes if x holds many numbers?",
            "It is the program of lesson 1, with a tensor of many numbers: record f(x) on a tape that watches x, and "
            "ask the tape.",
            "with tf.GradientTape() as tape: tape.watch(x), then y = f(x). After the block: return tape.gradient(y, "
            "x).",
        ),
        because="What arrives at a place is its own slope: amounts of different places never meet.",
    ),
)
