"""Several explanations on one page: those with the same reason share a paragraph.

What ``tape.explain(loss, variables)`` gives for a list, a tuple or a dictionary is one, and a page when it is printed.
"""

from __future__ import annotations

import html
from collections.abc import Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from .sentences import fill

if TYPE_CHECKING:
    from .words import Explanation

MOST = 6  # variables of one paragraph that are named
EMPTY = (
    "There are no sources: the list of variables is empty. A model or layer with trainable=False has no "
    "trainable_variables, "
    "nor has one that was never called and does not know its input's shape. Set trainable = True, or call it "
    "once before."
)
Parts: TypeAlias = Any  # explanations in lists, tuples and dictionaries, one within the other


def grouped(answers: Iterable[Explanation]) -> list[list[Explanation]]:
    """The answers, those together that say the same of different variables; what is None comes first."""
    found: dict[Hashable, list[Explanation]] = {}
    for answer in answers:
        found.setdefault(answer.key(), []).append(answer)
    return sorted(found.values(), key=lambda same: (same[0].connected, same[0].cause == "connected"))


class _Page:
    """How several explanations are shown."""

    def __str__(self) -> str:
        answers = list(_leaves(self))
        if not answers:
            return fill(EMPTY)
        return "\n\n".join(_paragraph(same, len(answers)) for same in grouped(answers))

    def _repr_html_(self) -> str:
        answers = list(_leaves(self))
        groups = grouped(answers)
        rows = [
            f"<div><b>{html.escape(_heading(same, len(answers)))}</b>{same[0]._repr_html_()}</div>" for same in groups
        ]
        return "".join(rows) or html.escape(str(self))


# a list, a tuple or a dictionary of explanations as it is, and a page when it is printed
_PAGES: dict[type, Parts] = {
    kind: type(f"Explanation{kind.__name__.capitalize()}", (_Page, kind), {}) for kind in (list, tuple, dict)
}


def page(answers: Parts) -> Parts:
    """A list, tuple or dictionary of explanations as one that is a page when it is printed; anything else as it is."""
    kind = _PAGES.get(type(answers))
    return answers if kind is None else kind(answers)


def _leaves(answers: Parts) -> Iterator[Explanation]:
    if hasattr(answers, "cause"):
        yield answers
    else:
        for part in answers.values() if isinstance(answers, dict) else answers:
            yield from _leaves(part)


def _heading(same: list[Explanation], total: int) -> str:
    """Whose gradient it is about: ``No gradient for a, b (2 of 5).``"""
    names = [answer.name for answer in same[:MOST]] + (
        [fill("{n} more", n=len(same) - MOST)] if len(same) > MOST else []
    )
    which = fill(", ").join(names[:-1]) + (fill(" and ") if names[1:] else "") + names[-1]
    said = "A gradient for {names} ({n} of {all})." if same[0].connected else "No gradient for {names} ({n} of {all})."
    return fill(said, names=which, n=len(same), all=total)


def _paragraph(same: list[Explanation], total: int) -> str:
    first = same[0]
    plain = first.cause == "connected" and not first.fix and not first.others
    return _heading(same, total) if plain else f"{_heading(same, total)}\n{first}"
