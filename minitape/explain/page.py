"""Several explanations on one page: those with the same reason share a paragraph.

What ``tape.explain(loss, variables)`` gives for a list, a tuple or a dictionary is one, and a page when it is printed.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Hashable, Iterable, Iterator
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


class Page:
    """How several explanations are shown: paragraphs, each with a heading."""

    def __str__(self) -> str:
        parts = self._parts(str)
        return "\n\n".join(f"{heading}\n{body}" if body else heading for heading, body in parts) or fill(EMPTY)

    def _repr_html_(self) -> str:
        parts = self._parts(lambda answer: answer._repr_html_())
        shown = "".join(f"<div><b>{html.escape(heading)}</b>{body}</div>" for heading, body in parts)
        return shown or html.escape(str(self))

    def _parts(self, show: Callable[[Explanation], str]) -> Iterator[tuple[str, str]]:
        """The headings, and what is below each."""
        answers = list(_leaves(self))
        for same in grouped(answers):
            plain = same[0].cause == "connected" and not same[0].fix and not same[0].others
            yield _heading(same, len(answers)), "" if plain else show(same[0])


# a list, a tuple or a dictionary of explanations as it is, and a page when it is printed
_PAGES: dict[type, Parts] = {
    kind: type(f"Explanation{kind.__name__.capitalize()}", (Page, kind), {}) for kind in (list, tuple, dict)
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
