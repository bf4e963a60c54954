"""Define small programs that try a learner's own tape in the four steps of lesson 12, and again in lesson 14."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from .course_texts import read_lesson
from .trials import AnswerTrial

if TYPE_CHECKING:
    from .exercise import Answer, NamedValues

build_ab_trial = partial(AnswerTrial, setup="tape = Tape()\na, b = tape.watch(2.0), tape.watch(3.0)\n")

ROW_TRIALS = (
    AnswerTrial("Tape().rows", []),
    AnswerTrial("tape = Tape()\ntape.watch(2.0)\ntape.rows", [("watched", [], 2.0)]),
    AnswerTrial("one, two = Tape(), Tape()\none.watch(2.0)\ntwo.rows", []),
    AnswerTrial("tape = Tape()\na = tape.watch(2.0)\na.row, a.value", (0, 2.0)),
    AnswerTrial("tape = Tape()\na, b = tape.watch(2.0), tape.watch(3.0)\nb.row, b.value, a.value", (1, 3.0, 2.0)),
    AnswerTrial(
        "tape = Tape()\nc = tape.append('constant', [], 5.0)\nc.value, c.tape is tape, tape.rows",
        (5.0, True, [("constant", [], 5.0)]),
    ),
)
OPERATOR_TRIALS = (
    build_ab_trial("(a * b).value", 6.0),
    build_ab_trial("a * b\ntape.rows[-1]", ("multiply", [0, 1], 6.0)),
    build_ab_trial("y = a * b + a\ny.value, tape.rows[-1]", (8.0, ("add", [2, 0], 8.0))),
    build_ab_trial("y = a + 1.0\ny.value, tape.rows[2:]", (3.0, [("constant", [], 1.0), ("add", [0, 2], 3.0)])),
    build_ab_trial("(4.0 * a).value, (1.0 + a).value", (8.0, 3.0)),
    build_ab_trial("tape.apply('multiply', a, 5.0).value", 10.0),
    build_ab_trial("RULES['half'] = (lambda x: 0.5 * x, lambda g, z, x: (0.5 * g,))\ntape.apply('half', a).value", 1.0),
    build_ab_trial(
        "RULES['add'][1](2.0, 7.0, 3.0, 4.0), RULES['multiply'][1](2.0, 0.0, 0.0, 4.0)", ((2.0, 2.0), (8.0, 0.0))
    ),
)
BACKWARD_TRIALS = (
    build_ab_trial("tape.gradient(a * b, [a, b])", [3.0, 2.0]),
    build_ab_trial("tape.gradient(a + b, [b, a])", [1.0, 1.0]),
    build_ab_trial("tape.gradient((a + b) * b, [a, b])", [3.0, 8.0]),
    build_ab_trial("tape.gradient(a * a, [a])", [4.0]),
    build_ab_trial("y = a * b\ntape.gradient(y * y + y, [a, b])", [39.0, 26.0]),
    build_ab_trial("c = tape.watch(7.0)\ntape.gradient(a * b, [c, a])", [None, 3.0]),
    build_ab_trial("two = tape.append('constant', [], 2.0)\ntape.gradient(a * two, [two, a])", [None, 2.0]),
    build_ab_trial(
        "y = a * b\nz = y * a\n[tape.gradient(y, [a]), tape.gradient(z, [a]), tape.gradient(y, [a])]",
        [[3.0], [12.0], [3.0]],
    ),
    build_ab_trial("tape.gradient(a, [a])", [1.0]),
    build_ab_trial("y = a * b\nunused = a * b + a\nz = y * 2.0\ntape.gradient(z, [a, b])", [6.0, 4.0]),
    build_ab_trial("y = a * a\ntape.gradient(y * 0.0, [a])", [0.0]),
    build_ab_trial(
        "RULES['cube'] = (lambda x: x**3, lambda g, z, x: (g * 3.0 * z / x,))\n"
        "y = tape.apply('cube', a)\ntape.gradient(y * b, [a, b])",
        [36.0, 8.0],
    ),
    build_ab_trial(
        "asked = []\nRULES['same'] = (lambda x: x, lambda g, z, x: asked.append(g) or (g,))\n"
        "y = tape.apply('same', a)\ntape.gradient(y * b, [a, b]), asked",
        ([3.0, 2.0], [3.0]),
    ),
    AnswerTrial(
        "import numpy as np\ntape = Tape()\nv, w = tape.watch(np.array([1.0, 2.0])), tape.watch(np.array([5.0, 6.0]))\n"
        "u = tape.apply('multiply', v, np.array([3.0, 4.0]))\n"
        "y = tape.apply('multiply', v + w + u, np.array([1.0, 2.0]))\n"
        "[one.tolist() for one in tape.gradient(y, [v, w])]",
        [[4.0, 10.0], [1.0, 2.0]],
    ),
    AnswerTrial("tape = Tape()\na = tape.watch(2.0)\ntape.gradient(sum([a] * 3000, a), [a])", [3001.0]),
)
MORE_OPERATOR_TRIALS = (
    build_ab_trial("y = a - b\ny.value, tape.gradient(y, [a, b])", (-1.0, [1.0, -1.0])),
    build_ab_trial("y = a - 1\ny.value, tape.gradient(y, [a])", (1.0, [1.0])),
    build_ab_trial("y = 1.0 - a\ny.value, tape.gradient(y, [a])", (-1.0, [-1.0])),
    build_ab_trial("y = a / b\ny.value, tape.gradient(y, [a, b])", (2 / 3, [1 / 3, -2 / 9])),
    build_ab_trial("y = 1.0 / a\ny.value, tape.gradient(y, [a])", (0.5, [-0.25])),
    build_ab_trial("y = -a\ny.value, tape.gradient(y, [a])", (-2.0, [-1.0])),
    build_ab_trial(
        "y = 1.0 + a * b\nz = 3.0 * ((2.0 * y - a) / (y * y + b))\nz.value, tape.gradient(z, [b, a])",
        (0.6923076923076923, [-0.15532544378698226, -0.27071005917159763]),
    ),
)
MOVED_TAPE_TRIALS = (
    build_ab_trial("tape.gradient((a + b) * b, [a, b])", [3.0, 8.0]),
    build_ab_trial("tape.gradient(2.0 * (a - b) / b, [a, b])", [2 / 3, -4 / 9]),
    AnswerTrial(
        "import numpy as np\ntape = Tape()\nv, w = tape.watch(np.array([1.0, 2.0])), tape.watch(np.array([5.0, 6.0]))\n"
        "[one.tolist() for one in tape.gradient(v * w + v, [v, w])]",
        [[6.0, 7.0], [1.0, 2.0]],
    ),
    build_ab_trial(
        "RULES['half'] = (lambda x: 0.5 * x, lambda g, z, x: (0.5 * g,))\n"
        "tape.gradient(tape.apply('half', a) * b, [a, b])",
        [1.5, 1.0],
    ),
)


def build_solution_tape() -> tuple[NamedValues, Answer]:
    """Build the tape that lesson 12 shows as the solution of its fourth step.

    Returns:
        The tape's table of rules, and its class.

    >>> rules, Tape = build_solution_tape()
    >>> tape = Tape()
    >>> a = tape.watch(3.0)
    >>> tape.gradient(a * a, [a])
    [6.0]
    """
    names: NamedValues = {"__name__": "solution"}
    exec(read_lesson("12").solutions["12.4"], names)  # The program comes from this package, so it is safe to run.
    return names["RULES"], names["Tape"]
