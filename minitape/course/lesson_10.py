"""The answers of lesson 10, branches, loops and traced programs."""

from __future__ import annotations

from .exercise import Exercise, Mistake, raises
from .unknown import Polynomial, Traced

F, G = Traced(0, 0, 1), Traced(1, -2, 0, 1)
GROWS, TURNS = Traced(1, 0, 0.5), Traced(-1, 2)
HILL, STEEP, LINE = Polynomial(0, 12, -4), Polynomial(0, 2, 0, 1), Polynomial(-1, 2)


def _repeated(f: Polynomial, value: float, times: int) -> float:
    """The slope of `f` of `f` of ... of x: multiplied along the path."""
    slope = 1.0
    for _ in range(times):
        slope *= f.derivative(value)
        value = f._compute(value)
    return slope


def _aimed(throw: Polynomial, target: float, turns: int = 10, part: float = 1.0) -> float:
    """The angle after so many corrections, by `part` of what the tape says."""
    angle = 0.4
    for _ in range(turns):
        angle -= part * (throw._compute(angle) - target) / throw.derivative(angle)
    return angle


EXERCISES = (
    Exercise(
        "10.1",
        expect=[5.0, 16.0, None, 0.0],
        mistakes=[
            Mistake([2.0, 16.0, None, 0.0], "A: at x = 1 the condition is False. Which branch ran?"),
            Mistake([5.0, 2.0, None, 0.0], "B: how many turns does the loop make, from 1 to 10 or more?"),
            Mistake([5.0, 8.0, None, 0.0], "B: after three turns y is 8, which is still below 10."),
            Mistake([5.0, 16.0, 0.0, 0.0], "C: the branch that ran has no operation that uses x: there is no path."),
            Mistake([5.0, 16.0, 1.0, 0.0], "C: x is above 0, so the first branch ran."),
            Mistake([5.0, 16.0, None, None], "D: tf.where is an operation with a rule: what it does not take gets 0."),
            Mistake([5.0, 16.0, None, -2.0], "D: at x = -1, tf.where takes the 0.0, not x * x."),
        ],
        hint="Write down for each which lines run. For B, write a row for each turn.",
        because="Only what ran counts: one branch, four turns, a constant; and tf.where hands on 0 to what it did not take.",
    ),
    Exercise(
        "10.2",
        expect=lambda f, value: [f.derivative(value), f.derivative(value) + 5.0],
        cases=[(F, 3.0), (G, -2.0), (G, 1.0)],
        start="""
def two_slopes(f, value):
    penalty = 0.0

    @tf.function
    def loss(x):
        return f(x) + penalty * x

    x = tf.Variable(value)
    found = []
    for penalty in (0.0, 5.0):
        with tf.GradientTape() as tape:
            y = loss(x)
        found.append(tape.gradient(y, x))
    return found
""",
        mistakes=[
            Mistake(
                lambda f, value: [f.derivative(value)] * 2,
                "A variable is read each time, but the graph reads the one that it met while it was traced. Make one variable before the loop, and assign to it.",
                where=r"for penalty in .*Variable",
            ),
            Mistake(
                lambda f, value: [f.derivative(value)] * 2,
                "The graph holds the tensor that had the name penalty while it was traced. Hand it in as an argument of loss.",
                where=r"tf\.(constant|convert_to_tensor|cast)\(",
            ),
            Mistake(
                lambda f, value: [f.derivative(value)] * 2,
                "What is added outside of loss does not depend on x. The penalty belongs into loss, as an argument.",
                where=r"loss\(x\) *\+",
            ),
            Mistake(
                lambda f, value: [f.derivative(value)] * 2,
                "loss was traced with penalty = 0, and that is in its graph for good. How does a new number get in?",
            ),
            Mistake(
                lambda f, value: [f.derivative(value) + 5.0] * 2,
                "Both have the penalty now. The first should be without.",
            ),
            Mistake(
                lambda f, value: [f.derivative(value) + 5.0, f.derivative(value)],
                "The two are in the other order: first without the penalty.",
            ),
            Mistake(
                raises,
                "Without @tf.function the numbers are right, and slow. Keep it, and hand the penalty in as an argument of loss.",
                where=r"(?ms)\A(?!.*^ *@tf\.function)",
            ),
        ],
        hint="Let loss take penalty as a second argument: loss(x, tf.constant(penalty)).",
        because="An argument comes in at each call. A name of Python was looked up once, while the function was traced.",
    ),
    Exercise(
        "10.3",
        expect={"A": 1, "B": 2, "C": 3, "D": 1, "E": 6},
        mistakes=[
            Mistake({"A": 2, "B": 2, "C": 6, "D": 6, "E": 6}, "At the second call only the graph runs: no Python, no print."),
            Mistake({"A": 1, "B": 2, "C": 1, "D": 1, "E": 6}, "C: range is Python's loop. It turns three times while f is traced."),
            Mistake({"A": 1, "B": 2, "C": 3, "D": 3, "E": 6}, "D: tf.range is a loop of the graph. Python goes through its body once."),
            Mistake({"A": 1, "B": 2, "C": 3, "D": 1, "E": 3}, "E: f runs twice, and each time the loop makes three turns."),
            Mistake({"A": 1, "B": 1, "C": 3, "D": 1, "E": 3}, "The graph runs at both calls, so tf.print prints at both."),
        ],
        hint="Two questions for each letter: does Python print it, while tracing, or does the graph, each time? How often does its loop turn there?",
        because="print and range are Python's, and ran once, while f was traced. tf.print and tf.range are in the graph.",
    ),
    Exercise(
        "10.4",
        expect=_repeated,
        cases=[(F, 1.5, 3), (G, 0.5, 2), (GROWS, 1.0, 4), (TURNS, 2.0, 1)],
        mistakes=[
            Mistake(lambda f, value, times: f.derivative(value), "f was applied once only: each turn should take y, not x."),
            Mistake(lambda f, value, times: _repeated(f, value, times + 1), "f was applied once too often."),
            Mistake(lambda f, value, times: _repeated(f, value, times - 1), "f was applied once too little."),
            Mistake(
                lambda f, value, times: times * f.derivative(value),
                "The results were added up. Each turn should apply f to the result of the turn before.",
            ),
            Mistake(lambda f, value, times: 1.0, "y is still x: in each turn, give the name y to f(y)."),
            Mistake(raises, "times is a tensor. Loop over tf.range(times).", where=r"in times\b|\.numpy\("),
            Mistake(
                raises,
                "The loop belongs in the graph: leave @tf.function where it is.",
                where=r"(?ms)\A(?!.*^ *@tf\.function)",
            ),
        ],
        hint="for _ in tf.range(times): and in it, y = f(y).",
        because="The loop is in the graph, and the backward sweep goes through each turn that it made.",
    ),
    Exercise(
        "10.5",
        expect={"A": 1, "B": 2, "C": 3, "D": 2},
        mistakes=[
            Mistake({"A": 3, "B": 3, "C": 3, "D": 6}, "A function is traced for each new kind of input, not at each call."),
            Mistake({"A": 2, "B": 2, "C": 3, "D": 6}, "Of a tensor only shape and dtype count, not its value: look at A and D."),
            Mistake({"A": 1, "B": 1, "C": 3, "D": 2}, "B: a number of Python is written into the graph, so a new number needs a new graph."),
            Mistake({"A": 1, "B": 3, "C": 3, "D": 2}, "B: for the second 1.0 there is a graph already."),
            Mistake({"A": 1, "B": 2, "C": 2, "D": 2}, "C: two shapes, and then whole numbers: another dtype."),
            Mistake({"A": 1, "B": 2, "C": 3, "D": 1}, "D: the last line hands in a number of Python, not a tensor."),
            Mistake({"A": 1, "B": 2, "C": 3, "D": 6}, "D: tf.constant(k) is a tensor. All five are of the same shape and dtype."),
        ],
        hint="For a tensor compare shape and dtype with those before, for a number of Python the number itself.",
        because="Shape and dtype of a tensor, and the value of a number of Python, decide whether there is a graph already.",
    ),
    Exercise(
        "10.6",
        expect=_aimed,
        cases=[(HILL, 7.0), (STEEP, 3.0), (LINE, 3.0)],
        mistakes=[
            Mistake(lambda throw, target: 0.4, "The angle never changes: give the name angle to the corrected one."),
            Mistake(
                lambda throw, target: _aimed(throw, target, turns=1),
                "The angle was corrected once only. Is the line inside the loop?",
            ),
            Mistake(
                lambda throw, target: _aimed(throw, target, part=-1.0),
                "The ball goes the wrong way: if the miss is above zero and grows with the angle, the angle must become smaller.",
            ),
        ],
        hint="angle = angle - miss / tape.gradient(miss, angle)",
        because="Each time the tape says how the miss grows with the angle; ten corrections are more than enough.",
        rtol=1e-4,
    ),
)
