"""Describe a wrong number in the words of the program that an exercise asks about.

The number can be the value of a name, the slope of one name with respect to another, or some of the shares that meet at
a name. A number that fits several of these is not described, because it is unclear which one the learner meant.
"""

from contextlib import suppress
from functools import cache
from itertools import combinations, permutations, product
from math import isclose
from typing import NamedTuple

from ..common.translation import say
from ..engine.types import FloatList
from .exercise import Answer, NamedValues

TOLERANCE = 1e-5
MEANING_TEMPLATES = {
    "value": "{number} is the value of {name}.",
    "one": "{all} amounts meet at {name}, and {number} is only one of them.",
    "part": "{all} amounts meet at {name}, and {number} is the sum of only {count} of them.",
    "slope": "{number} is the rate at which {target} grows with {name}.",
}
PART_MEANINGS = "one", "part"


class NumberFact(NamedTuple):
    """A number in a program, its meaning there (a key of `MEANING_TEMPLATES`), and the fields of that sentence."""

    number: float
    meaning: str
    fields: NamedValues


def find_number_meaning_hint(number: float, program: str, place: str = "") -> str:
    r"""Find out what a number means in a program.

    Args:
        number: The number. 0 and 1 could mean too many things.
        program: The program.
        place: The key of the part of the answer. If it is a name of the program, only what concerns that name counts.

    Returns:
        The sentence, or "" if the number means nothing in the program or could mean several things.

    >>> program = "x = tf.Variable(3.0)\nwith tf.GradientTape(persistent=True) as tape: y = x * x"
    >>> find_number_meaning_hint(9.0, program), find_number_meaning_hint(3.0, program)
    ('9 is the value of y.', '')
    >>> find_number_meaning_hint(3.0, program, "x")
    '2 amounts meet at x, and 3 is only one of them.'
    """
    facts = _collect_number_facts(program)
    is_name = any(fact.fields.get("name") == place for fact in facts)
    facts = [fact for fact in facts if isclose(fact.number, number, rel_tol=TOLERANCE) and number not in (0.0, 1.0)]
    if is_name:
        facts = [fact for fact in facts if fact.fields["name"] == place]
        facts = [fact for fact in facts if fact.meaning in PART_MEANINGS] or facts
    hints = {say(MEANING_TEMPLATES[fact.meaning], number=f"{fact.number:g}", **fact.fields) for fact in facts}
    return hints.pop() if len(hints) == 1 and (is_name or facts[0].meaning not in PART_MEANINGS) else ""


@cache
def _collect_number_facts(program: str) -> list[NumberFact]:
    """Collect the numbers in a program: its values, then sums of some shares at each name, then the slopes."""
    import minitape

    names: NamedValues = {}
    exec(program, {"tf": minitape}, names)
    values = []
    for name, value in names.items():
        with suppress(TypeError, ValueError):  # The value has several numbers, or is not a number.
            values.append(NumberFact(float(value), "value", {"name": name}))
    tapes = [candidate for candidate in names.values() if isinstance(candidate, minitape.GradientTape)]
    tensors = {name: candidate for name, candidate in names.items() if hasattr(candidate, "dtype")}
    last_tensor = next(reversed(tensors), None)
    parts = list[NumberFact]()
    slopes = list[NumberFact]()
    for tape, (target, name) in product(tapes, permutations(tensors, 2)):
        shares = _list_source_shares(minitape.snapshot(tape, tensors[target], [tensors[name]])["sweep"])
        slopes += [NumberFact(sum(shares), "slope", {"target": target, "name": name})] if shares else []
        for count in range(1, len(shares) if target == last_tensor else 0):
            fields = {"name": name, "count": count, "all": len(shares)}
            parts += [
                NumberFact(sum(subset), PART_MEANINGS[count > 1], fields) for subset in combinations(shares, count)
            ]
    return values + parts + slopes


def _list_source_shares(sweep: Answer) -> FloatList:
    """List the shares that arrive at the source of a sweep over single numbers."""
    edges = (edge for step in sweep["steps"] for edge in step["edges"] if edge["input"] in sweep["sources"])
    return [edge["product"]["data"] for edge in edges if edge["product"] and edge["product"]["data"] is not None]
