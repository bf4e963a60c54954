"""Several explanations on one page: those with the same reason share a paragraph.

What ``tape.explain(loss, variables)`` gives for a list, a tuple or a dictionary is one, and a page when it is printed.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from .translated_sentences import fill

if TYPE_CHECKING:
    from .explanation import Explanation

MAX_NAMES = 6  # variables of one paragraph that are named
NO_SOURCES = (
    "There are no sources: the list of variables is empty. A model or layer with trainable=False has no "
    "trainable_variables, "
    "nor has one that was never called and does not know its input's shape. Set trainable = True, or call it "
    "once before."
)
NestedExplanations: TypeAlias = Any  # explanations in lists, tuples and dictionaries, one within the other


def group_equal_explanations(answers: Iterable[Explanation]) -> list[list[Explanation]]:
    """The answers, those together that say the same of different variables; what is None comes first."""
    groups: dict[Hashable, list[Explanation]] = {}
    for answer in answers:
        groups.setdefault(answer.build_group_key(), []).append(answer)
    return sorted(groups.values(), key=lambda same: (same[0].connected, same[0].cause == "connected"))


class ExplanationPage:
    """How several explanations are shown: paragraphs, each with a heading."""

    def __str__(self) -> str:
        paragraphs = self._iter_paragraphs(str)
        return "\n\n".join(f"{heading}\n{body}" if body else heading for heading, body in paragraphs) or fill(
            NO_SOURCES
        )

    def _repr_html_(self) -> str:
        paragraphs = self._iter_paragraphs(lambda answer: answer._repr_html_())
        content = "".join(f"<div><b>{html.escape(heading)}</b>{body}</div>" for heading, body in paragraphs)
        return content or html.escape(str(self))

    def _iter_paragraphs(self, render: Callable[[Explanation], str]) -> Iterator[tuple[str, str]]:
        """The headings, and what is below each."""
        answers = list(_iter_nested_explanations(self))
        for group in group_equal_explanations(answers):
            is_plain = group[0].cause == "connected" and not group[0].fix and not group[0].others
            yield _format_group_heading(group, len(answers)), "" if is_plain else render(group[0])


# a list, a tuple or a dictionary of explanations as it is, and a page when it is printed
_PAGES: dict[type, NestedExplanations] = {
    kind: type(f"Explanation{kind.__name__.capitalize()}", (ExplanationPage, kind), {}) for kind in (list, tuple, dict)
}


def to_explanation_page(answers: NestedExplanations) -> NestedExplanations:
    """A list, tuple or dictionary of explanations as one that is a page when it is printed; anything else as it is."""
    page_type = _PAGES.get(type(answers))
    return answers if page_type is None else page_type(answers)


def _iter_nested_explanations(answers: NestedExplanations) -> Iterator[Explanation]:
    if hasattr(answers, "cause"):
        yield answers
    else:
        for part in answers.values() if isinstance(answers, dict) else answers:
            yield from _iter_nested_explanations(part)


def _format_group_heading(group: list[Explanation], total_count: int) -> str:
    """Whose gradient it is about: ``No gradient for a, b (2 of 5).``"""
    names = [answer.name for answer in group[:MAX_NAMES]] + (
        [fill("{n} more", n=len(group) - MAX_NAMES)] if len(group) > MAX_NAMES else []
    )
    name_list = fill(", ").join(names[:-1]) + (fill(" and ") if names[1:] else "") + names[-1]
    template = (
        "A gradient for {names} ({n} of {all})." if group[0].connected else "No gradient for {names} ({n} of {all})."
    )
    return fill(template, names=name_list, n=len(group), all=total_count)
