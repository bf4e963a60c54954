"""A wrong number in the words of the program that an exercise asks about: the value of a name in it, the slope of one
name with respect to another, or a part of the amounts that meet at one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import combinations, permutations
from math import isclose
from typing import TYPE_CHECKING

from ..common.texts import paragraph, say

if TYPE_CHECKING:
    from .exercise import Answer

NEAR = 1e-5
MOST = 2  # of the things that a number is are told


def meaning_of(number: float, program: str) -> str:
    """What a number is in a program; "" where it is nothing of it.

    >>> program = "x = tf.Variable(3.0)\\nwith tf.GradientTape(persistent=True) as tape: y = x * x"
    >>> meaning_of(9.0, program), meaning_of(3.0, program)
    ('9 is the value of y.', '3 is the value of x. At x 2 amounts meet, and 3 is only 1 of them.')
    """
    told = [text for found, text in _facts(program) if isclose(found, number, rel_tol=NEAR)]
    return paragraph(*dict.fromkeys(told[:MOST]))


def _facts(program: str) -> Iterator[tuple[float, str]]:
    """The numbers that a program has, and what each of them is."""
    import minitape

    named: dict[str, Answer] = {}
    exec(program, {"tf": minitape}, named)
    for name, value in named.items():
        with suppress(TypeError, ValueError):  # of several numbers, or none
            yield float(value), say("{number} is the value of {name}.", number=f"{float(value):g}", name=name)
    tapes = [one for one in named.values() if isinstance(one, minitape.GradientTape)]
    tensors = {name: one for name, one in named.items() if hasattr(one, "dtype")}
    slopes = []
    for tape, (target, source) in ((tape, pair) for tape in tapes for pair in permutations(tensors, 2)):
        amounts = _amounts(minitape.snapshot(tape, tensors[target], [tensors[source]])["sweep"])
        slopes += [(sum(amounts), target, source)] if amounts else []
        for count in range(1, len(amounts) if target == [*tensors][-1] else 0):
            for some in combinations(amounts, count):
                yield (
                    sum(some),
                    say(
                        "At {name} {all} amounts meet, and {number} is only {count} of them.",
                        number=f"{sum(some):g}",
                        count=count,
                        all=len(amounts),
                        name=source,
                    ),
                )
    for slope, target, source in slopes:
        yield (
            slope,
            say(
                "{number} is how fast {target} grows with {source}.",
                number=f"{slope:g}",
                target=target,
                source=source,
            ),
        )


def _amounts(sweep: Answer) -> list[float]:
    """The amounts that arrive at the source of a sweep, of single numbers."""
    edges = (edge for step in sweep["steps"] for edge in step["edges"] if edge["input"] in sweep["sources"])
    return [edge["product"]["data"] for edge in edges if edge["product"] and edge["product"]["data"] is not None]
