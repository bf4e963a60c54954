"""The answers of lesson 12, a tape of one's own."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from .exercise import Exercise, Mistake, raises

if TYPE_CHECKING:
    from .exercise import Answer

FORWARD: dict[str, Callable[..., float]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "sin": math.sin,
}
FILES = {
    "computes the value of a * b": "operators.py",
    "holds the rows": "record.py",
    "marks the rows on a way to a": "reach.py",
    "goes from the last row to the first": "sweep.py",
    "has the rule of multiply": "elementwise.py",
}


@dataclass(frozen=True)
class _Number:
    """A number on a tape, as the learner's class has it."""

    row: int
    value: float = 0.0

    def __repr__(self) -> str:
        return f"row {self.row}"


class _Appending:
    """The tape of exercise 1: what it is told to append, it gives back. A constant becomes row 9."""

    def number(self, thing: _Number | float) -> _Number:
        return thing if isinstance(thing, _Number) else _Number(9, thing)

    def append(self, name: str, inputs: list[int], value: float) -> tuple[str, list[int], float]:
        return name, inputs, value

    def __repr__(self) -> str:
        return "tape"


def _row(name: str, things: Sequence[_Number | float], inputs: Callable[[_Number], Answer], of: str = "value") -> Answer:
    """The row of an operation; `inputs` is what is noted of each input, and `of` what is computed with."""
    numbers = [_Appending().number(thing) for thing in things]
    return name, [inputs(number) for number in numbers], FORWARD[name](*(getattr(number, of) for number in numbers))


class _Recorded:
    """The tape of exercise 2: y = (sin(a) + a * b) * a * 4, with a, b and one more number watched."""

    sine = math.sin(2.0)
    rows: ClassVar = [
        ("watched", [], 2.0),
        ("watched", [], 3.0),
        ("sin", [0], sine),
        ("multiply", [0, 1], 6.0),
        ("add", [2, 3], sine + 6.0),
        ("multiply", [4, 0], 2.0 * (sine + 6.0)),
        ("watched", [], 7.0),
        ("constant", [], 4.0),
        ("multiply", [5, 7], 8.0 * (sine + 6.0)),
    ]

    def __repr__(self) -> str:
        return "tape"


TAPE = _Recorded()
SLOPES = {  # row: what its inputs get for each unit that arrives
    2: [math.cos(2.0)],
    3: [3.0, 2.0],
    4: [1.0, 1.0],
    5: [2.0, TAPE.sine + 6.0],
    8: [4.0, 2.0 * (TAPE.sine + 6.0)],
}
A, B, UNUSED, CONSTANT = _Number(0), _Number(1), _Number(6), _Number(7)


def _back(
    tape: _Recorded,
    target: _Number,
    sources: list[_Number],
    meet: Callable[[float, float], float] = lambda before, share: before + share,
    arrived: float | None = None,
    steps: int = 9,
) -> list[float | None]:
    """The adjoints of the sources; with another `meet`, `arrived` fixed or few `steps`, as mistaken sweeps find them."""
    adjoints: dict[int, float] = {target.row: 1.0}
    for row in range(target.row, -1, -1):
        if row not in SLOPES or row not in adjoints or not steps:
            continue
        steps -= 1
        for i, slope in zip(tape.rows[row][1], SLOPES[row], strict=True):
            share = slope * (adjoints[row] if arrived is None else arrived)
            adjoints[i] = meet(adjoints[i], share) if i in adjoints else share
    return [adjoints.get(source.row) if tape.rows[source.row][0] == "watched" else None for source in sources]


@dataclass(frozen=True)
class _Dual:
    """A number that carries its slopes along, for a tape without rows."""

    value: float
    slopes: dict[int, float] = field(default_factory=dict)

    def _with(self, other: _Dual | float, value: float, mine: float, its: float) -> _Dual:
        slopes = {k: mine * slope for k, slope in self.slopes.items()}
        for k, slope in other.slopes.items() if isinstance(other, _Dual) else ():
            slopes[k] = slopes.get(k, 0.0) + its * slope
        return _Dual(value, slopes)

    def __add__(self, other: _Dual | float) -> _Dual:
        return self._with(other, self.value + _plain(other), 1.0, 1.0)

    def __sub__(self, other: _Dual | float) -> _Dual:
        return self._with(other, self.value - _plain(other), 1.0, -1.0)

    def __mul__(self, other: _Dual | float) -> _Dual:
        return self._with(other, self.value * _plain(other), _plain(other), self.value)

    def __rsub__(self, other: float) -> _Dual:
        return _Dual(other) - self

    __radd__, __rmul__ = __add__, __mul__


def _plain(number: _Dual | float) -> float:
    return number.value if isinstance(number, _Dual) else number


class Honest:
    """A tape for `fit`: it gives the truth."""

    part: ClassVar[float] = 1.0

    def __init__(self) -> None:
        self.watched: list[_Dual] = []

    def watch(self, value: float) -> _Dual:
        self.watched.append(_Dual(value, {len(self.watched): 1.0}))
        return self.watched[-1]

    def gradient(self, target: _Dual, sources: Sequence[_Dual]) -> list[float]:
        places = [next(iter(source.slopes)) for source in sources]
        return [self.part * target.slopes.get(place, 0.0) for place in places]


class Halving(Honest):
    """A tape that gives half of the truth, so that nobody can do without asking it."""

    part = 0.5


def _fit(
    Tape: type[Honest],
    places: Sequence[float],
    wanted: Sequence[float],
    steps: int,
    rate: float,
    towards: Callable[[np.ndarray], np.ndarray] = lambda gradient: -gradient,
) -> tuple[float, float]:
    """What `fit` finds; `towards` says where a step goes, given the gradient."""
    parts = np.stack([np.sin(places), np.array(places)])
    now = np.zeros(2)
    for _ in range(steps):
        now = now + rate * towards(Tape.part * 2.0 * parts @ (now @ parts - wanted))
    return float(now[0]), float(now[1])


POINTS = [-1.0, 0.5, 2.0], [0.3, -0.1, 1.2]

EXERCISES = (
    Exercise(
        "12.1",
        expect=lambda tape, name, *things: _row(name, things, lambda number: number.row),
        cases=[
            (_Appending(), "multiply", _Number(1, 3.0), _Number(4, 5.0)),
            (_Appending(), "sin", _Number(2, 0.5)),
            (_Appending(), "subtract", _Number(0, 7.0), 2.0),
        ],
        mistakes=[
            Mistake(
                lambda tape, name, *things: _row(name, things, lambda number: number.value),
                "The value is right. Of the inputs a row notes where they stand, n.row, not what they are.",
            ),
            Mistake(
                lambda tape, name, *things: _row(name, things, lambda number: number),
                "The value is right. Note the rows of the inputs: [n.row for n in numbers].",
            ),
            Mistake(
                lambda tape, name, *things: _row(name, things, lambda number: number.row, of="row"),
                "You computed with the numbers of the rows. forward takes the values of the inputs.",
            ),
            Mistake(raises, "forward takes its values one by one: write a star before the list.", where=r"forward\(\["),
            Mistake(raises, "rule is for the way back. On the way forwards, forward computes the value.", where=r"rule\("),
        ],
        hint="tape.append(name, [n.row for n in numbers], forward(*[n.value for n in numbers]))",
        because="A row says which operation, from which rows, and with which value. The way back needs nothing else.",
    ),
    Exercise(
        "12.2",
        expect=_back,
        cases=[(TAPE, _Number(8), [A, B, UNUSED, CONSTANT]), (TAPE, _Number(3), [A, B]), (TAPE, _Number(5), [B, CONSTANT, A])],
        mistakes=[
            Mistake(
                lambda tape, target, sources: _back(tape, target, sources, meet=lambda before, share: share),
                "The last share wipes out the others. Add them where paths meet, unless nothing has arrived yet.",
            ),
            Mistake(
                lambda tape, target, sources: _back(tape, target, sources, meet=lambda before, share: before),
                "Only the first share counts. What arrives later must be added.",
            ),
            Mistake(
                lambda tape, target, sources: _back(tape, target, sources, arrived=1.0),
                "Each rule needs what has arrived at its row, adjoints[row], as its first argument.",
            ),
            Mistake(
                lambda tape, target, sources: _back(tape, target, sources, steps=1),
                "Only the first row handed something on. Is the return inside the loop?",
            ),
            Mistake(
                raises,
                "At first there is None, and nothing can be added to it: adjoints[i] = share if adjoints[i] is None else ...",
                where=r"adjoints\[i\] *(\+=|= *adjoints\[i\] *\+) *share",
            ),
        ],
        hint="shares = rule(adjoints[row], value, and the values of the inputs, one by one); then add each share to adjoints[i].",
        because="That is a whole backward sweep. Everything else in minitape makes it faster, larger or easier to see.",
    ),
    Exercise(
        "12.3",
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
        "12.4",
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
        "12.5",
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
        "12.6",
        expect=FILES,
        mistakes=[
            Mistake(
                FILES | {"computes the value of a * b": "elementwise.py"},
                "elementwise.py has the formula as a text. The method that runs when you write a * b is made elsewhere.",
            ),
            Mistake(
                FILES | {"holds the rows": "operators.py"},
                "operators.py writes a row with record.put. Whose put is it?",
            ),
            Mistake(
                FILES | {"marks the rows on a way to a": "sweep.py", "goes from the last row to the first": "reach.py"},
                "These two are swapped: first the rows are marked, then the sweep goes over those with a mark.",
            ),
            Mistake(
                FILES | {"has the rule of multiply": "operators.py"},
                "operators.py computes the value. The rules of all operations stand in one table.",
            ),
        ],
        hint="Go through the map from step 1 to step 7: each of them names its file.",
        because="One place for each: the value, the rows, the marks, the way back, the rules.",
    ),
    Exercise(
        "12.7",
        expect=_fit,
        cases=[(Honest, *POINTS, 20, 0.05), (Halving, *POINTS, 3, 0.1)],
        mistakes=[
            Mistake(
                partial(_fit, towards=lambda gradient: gradient),
                "The loss grows: go against the gradient, minus rate times it.",
            ),
            Mistake(
                lambda Tape, places, wanted, steps, rate: _fit(Tape, places, wanted, steps, 1.0),
                "The steps are too long: multiply the gradient by rate.",
            ),
            Mistake(
                partial(_fit, towards=lambda gradient: -gradient[::-1]),
                "a goes by the gradient of b, and b by that of a: gradients come in the order of the sources.",
            ),
            Mistake(lambda *given: (0.0, 0.0), "a_now and b_now are still 0: give them their new values in each step."),
            Mistake(
                partial(_fit, towards=lambda gradient: -gradient * np.array([1.0, 0.0])),
                "Only a is learned. b needs its step, too.",
            ),
        ],
        hint="da, db = tape.gradient(loss, [a, b]); then a_now - rate * da, and b_now - rate * db.",
        because="That is all of learning: record, go back, take a small step. Large programs do the same with more numbers.",
    ),
)
