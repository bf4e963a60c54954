"""The answers of lesson 12, a tape of one's own."""

from __future__ import annotations

import math
from typing import ClassVar

from .exercise import Exercise, Mistake

PLACES = ("a row is written", "from the last row to the first", "amounts are added where paths meet", "the rule of sin")
RIGHT = ("Record.append", "Sweep._walk", "Sweep._sum", "DERIVATIVES")


def _hand_on(operation: int, g: float, x: float, y: float) -> tuple[float, float]:
    return {1: (g, g), 2: (g * y, g * x), 3: (g, -g)}[operation]


def _but(operation: int, rule: tuple[int, int]) -> object:
    """`_hand_on` with one operation's mistake: the signs of a subtraction."""

    def mistaken(given: int, g: float, x: float, y: float) -> tuple[float, float]:
        return (rule[0] * g, rule[1] * g) if given == operation else _hand_on(given, g, x, y)

    return mistaken


def _crossed(operation: int, g: float, x: float, y: float) -> tuple[float, float]:
    return (g * x, g * y) if operation == 2 else _hand_on(operation, g, x, y)


def _without_g(operation: int, g: float, x: float, y: float) -> tuple[float, float]:
    return (y, x) if operation == 2 else _hand_on(operation, g, x, y)


class _Row:
    """A number on the tape of exercise 6, as the learner's class has it: its row."""

    def __init__(self, row: int):
        self.row = row

    def __repr__(self) -> str:
        return f"row {self.row}"


class _Tape:
    """The tape of y = (sin(a) + a * b) * a at 2 and 3, as the learner's class records it."""

    sine = math.sin(2.0)
    rows: ClassVar = [
        ("leaf", [], 2.0),
        ("leaf", [], 3.0),
        ("sin", [0], sine),
        ("multiply", [0, 1], 6.0),
        ("add", [2, 3], sine + 6.0),
        ("multiply", [4, 0], 2.0 * (sine + 6.0)),
    ]

    def __repr__(self) -> str:
        return "tape"


TAPE = _Tape()
SLOPES = {  # row: what its inputs get for each unit that arrives
    2: [math.cos(2.0)],
    3: [3.0, 2.0],
    4: [1.0, 1.0],
    5: [2.0, TAPE.sine + 6.0],
}


def _back(
    tape: _Tape, target: _Row, sources: list[_Row], keep: float = 1.0, arrived: float | None = None, steps: int = 9
) -> list[float]:
    """The adjoints of the sources; with `keep` at 0, `arrived` fixed or few `steps`, as mistaken sweeps find them."""
    adjoints = [0.0] * len(tape.rows)
    adjoints[target.row] = 1.0
    for row in [row for row in range(target.row, -1, -1) if row in SLOPES][:steps]:
        for i, slope in zip(tape.rows[row][1], SLOPES[row], strict=True):
            adjoints[i] = keep * adjoints[i] + slope * (adjoints[row] if arrived is None else arrived)
    return [adjoints[source.row] for source in sources]


EXERCISES = (
    Exercise(
        "12.1",
        expect=lambda g, z, x: (g * z,),
        cases=[(1.0, 7.38905609893065, 2.0), (3.0, 1.0, 0.0), (-2.0, 0.36787944117144233, -1.0)],
        mistakes=[
            Mistake(lambda g, z, x: (z,), "The amount g that has arrived is missing: multiply by it."),
            Mistake(lambda g, z, x: (g * x,), "The derivative of exp(x) is exp(x), which is z, not x."),
            Mistake(lambda g, z, x: (g * x * z,), "That is the rule for a power of x. Here x is the exponent."),
            Mistake(lambda g, z, x: g * z, "The amount is right. Give it back as a tuple: (amount,), with a comma."),
        ],
        hint="What has arrived, times the derivative. The derivative of exp(x) is exp(x), and that is z.",
        because="exp is its own derivative, and z holds it already: nothing has to be computed again.",
    ),
    Exercise(
        "12.2",
        expect=lambda g, z, x, y: (g / y, -g * x / y**2),
        cases=[(1.0, 1.5, 3.0, 2.0), (2.0, -0.25, 1.0, -4.0), (-1.0, 10.0, 5.0, 0.5)],
        mistakes=[
            Mistake(lambda g, z, x, y: (g / y, g * x / y**2), "The sign for y: when y grows, x / y gets smaller."),
            Mistake(lambda g, z, x, y: (g * y, g * x), "That is the rule of a multiplication."),
            Mistake(lambda g, z, x, y: (g / y, -g / y**2), "For y the factor x is missing: z is x times 1 / y."),
            Mistake(lambda g, z, x, y: (1 / y, -x / y**2), "The amount g that has arrived is missing: multiply by it."),
        ],
        hint="To x goes g / y. To y goes g times x times the derivative of 1 / y.",
        because="z is x times 1 / y, and the derivative of 1 / y is -1 / y ** 2.",
    ),
    Exercise(
        "12.3",
        expect=20_000_000,
        mistakes=[
            Mistake(12_000_000, "That is without the values: 8 more bytes for each row."),
            Mistake(8_000_000, "Those are the values only: three numbers of 4 bytes come on top for each row."),
            Mistake(32_000_000, "That would be right for three numbers of 8 bytes. These have 4."),
            Mistake(20, "That is one row. The tape has a million."),
        ],
        hint="Count the bytes of one row: three times 4, and 8. Then multiply.",
        because="12 bytes of whole numbers and 8 bytes of value in each row, and nothing else.",
    ),
    Exercise(
        "12.4",
        expect=_hand_on,
        cases=[(1, 2.0, 3.0, 4.0), (2, 2.0, 3.0, 4.0), (3, 2.0, 3.0, 4.0), (2, -1.0, 0.5, 7.0)],
        mistakes=[
            Mistake(_but(3, (1, 1)), "In x - y, when y grows, the result gets smaller: the sign of the second amount."),
            Mistake(_but(3, (-1, 1)), "You have y - x. The left input of x - y grows with the result."),
            Mistake(_crossed, "In a product each input gets the value of the *other* one."),
            Mistake(_without_g, "In the product the amount g that has arrived is missing."),
        ],
        hint="Add hands g to both. Multiply hands g times the other value. Subtract hands g and -g.",
        because="These are the first three lines of every table of derivatives.",
    ),
    Exercise(
        "12.5",
        expect=dict(zip(PLACES, RIGHT, strict=True)),
        mistakes=[
            Mistake(
                dict(zip(PLACES, ("Sweep._sum", "Sweep._walk", "Record.append", "DERIVATIVES"), strict=True)),
                "append writes a row while your program runs. _sum adds an amount while the sweep runs.",
            ),
            Mistake(
                dict(zip(PLACES, ("Record.append", "Sweep._sum", "Sweep._walk", "DERIVATIVES"), strict=True)),
                "The loop is in _walk. _sum is what is called where a second amount arrives.",
            ),
            Mistake(
                dict(zip(PLACES, ("DERIVATIVES", "Sweep._walk", "Sweep._sum", "Record.append"), strict=True)),
                "DERIVATIVES is the text with one line for each operation. Rows are written elsewhere.",
            ),
        ],
        hint="Look at the four numbered places above once more: each of them is one of these places.",
        because="One place for each: the rules, the rows, the way back, the adding up.",
    ),
    Exercise(
        "12.6",
        expect=_back,
        cases=[(TAPE, _Row(5), [_Row(0), _Row(1)]), (TAPE, _Row(3), [_Row(0), _Row(1), _Row(4)])],
        mistakes=[
            Mistake(
                lambda tape, target, sources: _back(tape, target, sources, keep=0.0),
                "With = the last amount wipes out the others. Add them where paths meet: +=.",
            ),
            Mistake(
                lambda tape, target, sources: _back(tape, target, sources, arrived=1.0),
                "Each rule needs what has arrived at its row, adjoints[row], as its first argument.",
            ),
            Mistake(
                lambda tape, target, sources: _back(tape, target, sources, steps=1),
                "Only the first row handed something on. Is the return inside the loop?",
            ),
        ],
        hint="If a row has inputs: call its rule with adjoints[row], value and the inputs' values; add each share to its row.",
        because="That is a whole backward sweep. Everything else in minitape makes it faster, larger or easier to see.",
    ),
)
