"""A wrong number in the words of the program that an exercise asks about: the value of a name in it, the slope of one
name with respect to another, or a part of the amounts that meet at one.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from itertools import combinations, permutations
from math import isclose
from typing import TYPE_CHECKING, TypeAlias

from ..common.texts import paragraph, say

if TYPE_CHECKING:
    from .exercise import Answer

NEAR = 1e-5
MOST = 2  # of the things that a number is are told
MEANINGS = {
    "value": "{number} is the value of {name}.",
    "part": "At {name} {all} amounts meet, and {number} is only {count} of them.",
    "slope": "{number} is how fast {target} grows with {name}.",
}
Fact: TypeAlias = tuple[float, str, dict[str, "Answer"]]  # a number, what it is, and of which names


def meaning_of(number: float, program: str, place: str = "") -> str:
    """What a number is in a program; "" where it is nothing of it. Where the answer's `place` is a name of the program,
    only the amounts that meet there count, and else they are told last.

    >>> program = "x = tf.Variable(3.0)\\nwith tf.GradientTape(persistent=True) as tape: y = x * x"
    >>> meaning_of(9.0, program), meaning_of(3.0, program)
    ('9 is the value of y.', '3 is the value of x. At x 2 amounts meet, and 3 is only 1 of them.')
    """
    facts = _facts(program)
    named = any(names.get("name") == place for _, _, names in facts)
    facts = [fact for fact in facts if isclose(fact[0], number, rel_tol=NEAR)]
    facts = [fact for fact in facts if fact[1] != "part" or not named or fact[2]["name"] == place]
    facts.sort(key=lambda fact: fact[1] == "part" and not named)
    told = (say(MEANINGS[what], number=f"{found:g}", **names) for found, what, names in facts)
    return paragraph(*[*dict.fromkeys(told)][:MOST])


@cache
def _facts(program: str) -> list[Fact]:
    """The numbers that a program has: its values, then the parts of what meets at a name, then the slopes."""
    import minitape

    named: dict[str, Answer] = {}
    exec(program, {"tf": minitape}, named)
    values: list[Fact] = []
    for name, value in named.items():
        with suppress(TypeError, ValueError):  # of several numbers, or none
            values.append((float(value), "value", {"name": name}))
    tapes = [one for one in named.values() if isinstance(one, minitape.GradientTape)]
    tensors = {name: one for name, one in named.items() if hasattr(one, "dtype")}
    parts, slopes = list[Fact](), list[Fact]()
    for tape, (target, name) in ((tape, pair) for tape in tapes for pair in permutations(tensors, 2)):
        amounts = _amounts(minitape.snapshot(tape, tensors[target], [tensors[name]])["sweep"])
        slopes += [(sum(amounts), "slope", {"target": target, "name": name})] if amounts else []
        for count in range(1, len(amounts) if target == [*tensors][-1] else 0):
            of = {"name": name, "count": count, "all": len(amounts)}
            parts += [(sum(some), "part", of) for some in combinations(amounts, count)]
    return values + parts + slopes


def _amounts(sweep: Answer) -> list[float]:
    """The amounts that arrive at the source of a sweep, of single numbers."""
    edges = (edge for step in sweep["steps"] for edge in step["edges"] if edge["input"] in sweep["sources"])
    return [edge["product"]["data"] for edge in edges if edge["product"] and edge["product"]["data"] is not None]
