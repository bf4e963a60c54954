"""One page for a whole model: what is wrong comes first, what is well is one line at the end, with the numbers of each
group.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..explain.caller import where
from ..explain.page import Page
from ..explain.reasons.question import OptionalArray
from ..explain.sentences import between, fill
from ..explain.words import FROZEN, Explanation

NAMED = 4  # groups of one paragraph that are named
ORDER = ("error", "nonfinite", "suspect", "zero", "unknown")  # the kinds that come after what has no gradient at all


class GradientNumbers(NamedTuple):
    """The gradient of one source in numbers; None where its elements are gone.

    >>> print(GradientNumbers.of(np.array([3.0, 0.0, 4.0]), np.array([10.0, 0.0, 0.0]), np.array([0.0, 0.0, 0.0])))
    norm 5, zeros 33 %, update/weight 1
    """

    norm: float | None
    zeros: float | None  # the share of the elements
    update: float | None  # the length of the last step, in lengths of the weight before it

    @classmethod
    def of(cls, gradient: OptionalArray, before: OptionalArray, after: OptionalArray) -> GradientNumbers:
        """From the gradient, and the weight before and after a step."""
        norm = zeros = update = None
        if gradient is not None and gradient.size:
            norm, zeros = float(np.linalg.norm(gradient)), float((gradient == 0).mean())
        if before is not None and after is not None and before.shape == after.shape and (length := _norm(before)):
            update = _norm(after - before) / length
        return cls(norm, zeros, update)

    def __str__(self) -> str:
        return spread([self])


def _norm(array: np.ndarray) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.linalg.norm(array))


class ModelPage(Page, dict[str, Explanation]):
    """An explanation for each source of a model, by its name; a page when it is printed.

    ``problems`` are those that say something is wrong, the worst first: an empty list is a model that is well.
    """

    @property
    def problems(self) -> list[Explanation]:
        """What is missing, not finite, suspect, zero or unknown, the worst first; where all is frozen, that."""
        found = sorted((answer for answer in self.values() if is_problem(answer)), key=rank)
        return found or ([*self.values()] if self.all_frozen else [])

    @property
    def all_frozen(self) -> bool:
        """Whether the program has set so of all that was asked about."""
        return bool(self) and all(answer.intended and answer.cause in FROZEN for answer in self.values())

    def groups(self) -> list[list[str]]:
        """The names in groups with the same answer, the worst first."""
        found: dict[Any, list[str]] = {}
        for name, answer in self.items():
            well = answer.connected and not is_problem(answer)
            aside = answer.intended and answer.kind == "connected"
            found.setdefault(aside if well else answer.key(), []).append(name)
        return sorted(found.values(), key=lambda names: rank(self[names[0]]))

    def as_json(self) -> list[dict]:
        """The same as a list of plain dictionaries: one for each source."""
        return [
            {
                "name": name,
                "cause": answer.cause,
                "kind": answer.kind,
                "connected": answer.connected,
                "file": answer.filename,
                "line": answer.line,
                "message": answer.message,
                "fix": answer.fix,
                "patch": answer.patch,
                **(answer.numbers or GradientNumbers(None, None, None))._asdict(),
            }
            for name, answer in self.items()
        ]

    def _parts(self, show: Any) -> Iterator[tuple[str, str]]:
        if not self:
            yield fill("The block used no parameters."), ""
        for names in self.groups():
            first = self[names[0]]
            which = fill("{names} ({n} of {all})", names=joined_names(names), n=len(names), all=len(self))
            numbers = spread([answer.numbers for name in names if (answer := self[name]).numbers is not None])
            behind = fill(": {numbers}", numbers=numbers) if numbers else ""
            if self.all_frozen:
                yield fill("All is frozen: {which}.", which=which), show(first)
            elif first.intended and not first.connected:
                at = "" if first.line is None else fill(", ") + where(first.filename, first.line)
                yield fill("Frozen: {which}{place}.", which=which, place=at), ""
            elif first.intended and first.kind == "connected":
                yield fill("Not trained: {which}. The program asks for no gradient of it.", which=which), ""
            elif not is_problem(first):
                yield fill("Healthy: {which}{numbers}.", which=which, numbers=behind), ""
            elif first.connected:
                yield fill("A gradient for {which}{numbers}.", which=which, numbers=behind), show(first)
            else:
                yield fill("No gradient for {which}.", which=which), show(first)


class ModelAnswers(list[Explanation]):
    """The answers of a list of sources, in its order; the page of a model when it is printed."""

    @property
    def page(self) -> ModelPage:
        """The same by name."""
        found = ModelPage()
        for answer in self:
            found[answer.name if answer.name not in found else f"{answer.name} ({len(found)})"] = answer
        return found

    def __str__(self) -> str:
        return str(self.page)

    def _repr_html_(self) -> str:
        return self.page._repr_html_()


def is_problem(answer: Explanation) -> bool:
    """Whether an answer is a finding: what the program has frozen is none."""
    return answer.kind != "connected" and not answer.intended


def rank(answer: Explanation) -> int:
    """How bad an answer is; 0 is the worst."""
    if not is_problem(answer):
        return 10 if answer.connected else 9
    return 1 + ORDER.index(answer.kind) if answer.kind in ORDER else 0


def joined_names(names: Iterable[str]) -> str:
    """Joins names of parameters to a short text; a layer is named once, and at most a few names are listed.

    >>> joined_names(["net.a.weight", "net.a.bias", "net.b.weight"])
    'net.a.weight, bias, net.b.weight'
    >>> joined_names(f"net.{k}.weight" for k in range(6))
    'net.0.weight, net.1.weight, net.2.weight, net.3.weight and 2 more'
    """
    layers: dict[str, list[str]] = {}
    for name in names:
        layer, dot, last = name.rpartition(".")
        layers.setdefault(layer + dot, []).append(last)
    texts = [layer + ", ".join(last) for layer, last in layers.items()]
    count = sum(len(last) for last in list(layers.values())[NAMED:])
    return ", ".join(texts[:NAMED]) + (fill(" and {n} more", n=count) if count else "")


def spread(numbers: list[GradientNumbers]) -> str:
    """The numbers of several gradients, each from the smallest to the largest.

    >>> spread([GradientNumbers(1.0, 0.0, None), GradientNumbers(2.0, 0.5, 1e-3)])
    'norm 1 to 2, zeros 0 to 50 %, update/weight 0.001'
    """
    ranges = [sorted(value for value in column if value is not None) for column in zip(*numbers, strict=True)]
    if not ranges:
        return ""
    norm, zeros, update = [(of[0], of[-1]) if of else None for of in ranges]
    parts = [
        "" if norm is None else fill("norm {n}", n=between(*norm, ".2g")),
        "" if zeros is None else fill("zeros {n} %", n=between(100 * zeros[0], 100 * zeros[1], ".0f")),
        "" if update is None else fill("update/weight {n}", n=between(*update, ".2g")),
    ]
    return fill(", ").join(filter(None, parts))


def names_in(known: Mapping[str, Any], asked: str) -> dict:
    """What a name asks about: a parameter, or all that a layer has.

    >>> names_in({"net.a.weight": 1, "net.a.bias": 2, "net.b.bias": 3}, "a")
    {'net.a.weight': 1, 'net.a.bias': 2}
    >>> names_in({"net.blocks[0].kernel": 1, "net.block": 2}, "blocks")
    {'net.blocks[0].kernel': 1}
    """
    within = re.compile(rf"(^|\.){re.escape(asked)}($|[.\[])").search
    found = {name: source for name, source in known.items() if within(name)}
    if not found:
        some = ", ".join(list(known)[:12]) or "none"
        raise ValueError(f"explain({asked!r}): the block used no parameter of that name. It used: {some}.")
    return found
