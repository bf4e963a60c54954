"""Define small programs that try a learner's own tape in the four steps of lesson 12, and again in lesson 14."""

from .course_texts import read_lesson
from .exercise import Answer, NamedValues
from .trials import AnswerTrial

SETUP = "tape = Tape()\na, b = tape.watch(2.0), tape.watch(3.0)\n"


def parse_trials(text: str) -> tuple[AnswerTrial, ...]:
    r"""Read trials from a text of this module.

    A program that creates no tape of its own starts with the tape and the variables of `SETUP`.

    Args:
        text: The programs, separated by empty lines. The last line of each is an arrow and the expected value.

    >>> [(trial.expect, trial.setup != "") for trial in parse_trials("(a * b).value\n-> 6.0\n\nTape().rows\n-> []")]
    [(6.0, True), ([], False)]
    """
    parts = (block.rpartition("\n-> ") for block in text.strip().split("\n\n"))
    return tuple(
        AnswerTrial(program, eval(expected), setup="" if "Tape()" in program else SETUP)
        for program, _, expected in parts
    )


ROW_TRIALS = parse_trials(
    """
Tape().rows
-> []

tape = Tape()
tape.watch(2.0)
tape.rows
-> [("watched", [], 2.0)]

tape = Tape()
tape.watch(2.0)
isinstance(tape.rows[0], tuple), tape.rows[0][0] == 'watched'
-> (True, True)

one, two = Tape(), Tape()
one.watch(2.0)
two.rows
-> []

tape = Tape()
a = tape.watch(2.0)
a.row, a.value
-> (0, 2.0)

tape = Tape()
a, b = tape.watch(2.0), tape.watch(3.0)
b.row, b.value, a.value
-> (1, 3.0, 2.0)

tape = Tape()
a = tape.watch(2.0)
b = tape.append('double', [0], 4.0)
b.row, tape.rows[1]
-> (1, ("double", [0], 4.0))

tape = Tape()
c = tape.append('constant', [], 5.0)
c.value, c.tape is tape, tape.rows
-> (5.0, True, [("constant", [], 5.0)])
"""
)
OPERATOR_TRIALS = parse_trials(
    """
(a * b).value
-> 6.0

tape = Tape()
a, b = tape.watch(5.0), tape.watch(7.0)
a * b
tape.rows[-1]
-> ("multiply", [0, 1], 35.0)

y = a * b + a
y.value, tape.rows[-1]
-> (8.0, ("add", [2, 0], 8.0))

y = a + 1.0
y.value, tape.rows[2:]
-> (3.0, [("constant", [], 1.0), ("add", [0, 2], 3.0)])

(4.0 * a).value, (1.0 + a).value
-> (8.0, 3.0)

tape.apply('multiply', a, 5).value
-> 10.0

RULES['half'] = (lambda x: 0.5 * x, lambda g, z, x: (0.5 * g,))
tape.apply('half', a).value
-> 1.0

RULES['add'][1](2.0, 7.0, 3.0, 4.0), RULES['multiply'][1](2.0, 0.0, 0.0, 4.0)
-> ((2.0, 2.0), (8.0, 0.0))
"""
)
BACKWARD_TRIALS = parse_trials(
    """
tape.gradient(a, [a])
-> [1.0]

tape.gradient(a * b, [a, b])
-> [3.0, 2.0]

tape.gradient(a + b, [b, a])
-> [1.0, 1.0]

tape.gradient((a + b) * b, [a, b])
-> [3.0, 8.0]

tape.gradient(a * a, [a])
-> [4.0]

y = a * b
tape.gradient(y * y + y, [a, b])
-> [39.0, 26.0]

c = tape.watch(7.0)
tape.gradient(a * b, [c, a])
-> [None, 3.0]

two = tape.append('constant', [], 2.0)
tape.gradient(a * two, [two, a])
-> [None, 2.0]

y = a * b
z = y * a
[tape.gradient(y, [a]), tape.gradient(z, [a]), tape.gradient(y, [a])]
-> [[3.0], [12.0], [3.0]]

y = a * b
unused = a * b + a
z = y * 2.0
tape.gradient(z, [a, b])
-> [6.0, 4.0]

y = a * a
tape.gradient(y * 0.0, [a])
-> [0.0]

RULES['cube'] = (lambda x: x**3, lambda g, z, x: (g * 3.0 * z / x,))
y = tape.apply('cube', a)
tape.gradient(y * b, [a, b])
-> [36.0, 8.0]

asked = []
RULES['same'] = (lambda x: x, lambda g, z, x: asked.append(g) or (g,))
y = tape.apply('same', a)
tape.gradient(y * b, [a, b]), asked
-> ([3.0, 2.0], [3.0])

import numpy as np
tape = Tape()
v, w = tape.watch(np.array([1.0, 2.0])), tape.watch(np.array([5.0, 6.0]))
u = tape.apply('multiply', v, np.array([3.0, 4.0]))
y = tape.apply('multiply', v + w + u, np.array([1.0, 2.0]))
[one.tolist() for one in tape.gradient(y, [v, w])]
-> [[4.0, 10.0], [1.0, 2.0]]

tape = Tape()
a = tape.watch(2.0)
tape.gradient(sum([a] * 3000, a), [a])
-> [3001.0]
"""
)
MORE_OPERATOR_TRIALS = parse_trials(
    """
y = a - b
y.value, tape.gradient(y, [a, b])
-> (-1.0, [1.0, -1.0])

y = a - 1
y.value, tape.gradient(y, [a])
-> (1.0, [1.0])

y = 5.0 - a
y.value, tape.gradient(y, [a])
-> (3.0, [-1.0])

y = a / b
y.value, tape.gradient(y, [a, b])
-> (2 / 3, [1 / 3, -2 / 9])

y = 4.0 / a
y.value, tape.gradient(y, [a])
-> (2.0, [-1.0])

y = -a
y.value, tape.gradient(y, [a])
-> (-2.0, [-1.0])

y = 1.0 + a * b
z = 3.0 * ((2.0 * y - a) / (y * y + b))
z.value, tape.gradient(z, [b, a])
-> (0.6923076923076923, [-0.15532544378698226, -0.27071005917159763])
"""
)
MOVED_TAPE_TRIALS = parse_trials(
    """
tape.gradient((a + b) * b, [a, b])
-> [3.0, 8.0]

tape.gradient(2.0 * ((a - b) / b), [a, b])
-> [2 / 3, -4 / 9]

import numpy as np
tape = Tape()
v, w = tape.watch(np.array([1.0, 2.0])), tape.watch(np.array([5.0, 6.0]))
[one.tolist() for one in tape.gradient(2 * (v + w + v) * w, [v, w])]
-> [[20.0, 24.0], [24.0, 32.0]]

RULES['half'] = (lambda x: 0.5 * x, lambda g, z, x: (0.5 * g,))
tape.gradient(tape.apply('half', a) * b, [a, b])
-> [1.5, 1.0]
"""
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
