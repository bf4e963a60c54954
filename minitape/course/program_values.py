"""A wrong number in the words of the program that an exercise asks about: the value of a name in it, the slope of one
name with respect to another, or a part of the amounts that meet at one. A number that is two of these is told as
none: which of them a learner meant, nobody knows.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from itertools import combinations, permutations
from math import isclose
from typing import TypeAlias

from ..common.texts import say
from .exercise import Answer, Named

NEAR = 1e-5
MEANINGS = {
    "value": "{number} is the value of {name}.",
    "one": "At {name} {all} amounts meet, and {number} is one of them.",
    "part": "At {name} {all} amounts meet, and {number} is the sum of {count} of them.",
    "slope": "{number} is how fast {target} grows with {name}.",
}
PARTS = "one", "part"
Fact: TypeAlias = tuple[float, str, dict[str, "Answer"]]  # a number, what it is, and of which names


def meaning_of(number: float, program: str, place: str = "") -> str:
    """What a number is in a program; "" where it is nothing of it, or several things. Where the answer's `place` is a
    name of the program, only what it says of that name counts, and nowhere else the amounts that meet at one. 0 and 1
    are too many things.

    >>> program = "x = tf.Variable(3.0)\\nwith tf.GradientTape(persistent=True) as tape: y = x * x"
    >>> meaning_of(9.0, program), meaning_of(3.0, program), meaning_of(3.0, program, "x")
    ('9 is the value of y.', '', 'At x 2 amounts meet, and 3 is one of them.')
    """
    facts = _facts(program)
    named = any(names.get("name") == place for _, _, names in facts)
    facts = [fact for fact in facts if isclose(fact[0], number, rel_tol=NEAR) and number not in (0.0, 1.0)]
    if named:
        facts = [fact for fact in facts if fact[2]["name"] == place]
        facts = [fact for fact in facts if fact[1] in PARTS] or facts
    told = {say(MEANINGS[what], number=f"{found:g}", **names) for found, what, names in facts}
    return told.pop() if len(told) == 1 and (named or facts[0][1] not in PARTS) else ""


@cache
def _facts(program: str) -> list[Fact]:
    """The numbers that a program has: its values, then the parts of what meets at a name, then the slopes."""
    import minitape

    named: Named = {}
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
            parts += [(sum(some), PARTS[count > 1], of) for some in combinations(amounts, count)]
    return values + parts + slopes


def _amounts(sweep: Answer) -> list[float]:
    """The amounts that arrive at the source of a sweep, of single numbers."""
    edges = (edge for step in sweep["steps"] for edge in step["edges"] if edge["input"] in sweep["sources"])
    return [edge["product"]["data"] for edge in edges if edge["product"] and edge["product"]["data"] is not None]
