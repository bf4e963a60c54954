"""Show several explanations on one page. Explanations with the same reason share a paragraph.

For a list, tuple or dictionary of sources, ``tape.explain(loss, variables)`` returns a container of the same kind,
which prints as a page.
"""

from collections.abc import Callable, Iterable, Iterator
from html import escape
from typing import Any

from ..common.grouping import group_values_by_key
from ..engine.types import TextPair
from .explanation import Explanation
from .translated_sentences import fill

MAX_NAMES = 6  # The maximum number of variables that a paragraph heading names.
NO_SOURCES = (
    "There are no sources, because the list of variables is empty. A model or layer has no trainable_variables if it "
    "has trainable=False, or if it was never called and does not know its input shape. Set trainable = True, or call "
    "the model once before you read its variables."
)
NestedExplanations = Any  # An Explanation, or nested lists, tuples and dictionaries of Explanations.


def group_explanations_by_reason(explanations: Iterable[Explanation]) -> list[list[Explanation]]:
    """Group explanations that have the same reason for different variables.

    Args:
        explanations: The explanations.

    Returns:
        The groups, starting with those without a gradient and ending with those in which nothing is wrong.
    """
    groups = group_values_by_key((answer.build_group_key(), answer) for answer in explanations)
    return sorted(groups.values(), key=lambda same: (same[0].connected, same[0].cause == "connected"))


class ExplanationPage:
    """A mixin for containers that displays their explanations as paragraphs with headings."""

    def __str__(self) -> str:
        """Return the page as text. For an empty container, explain why a model may have no variables."""
        paragraphs = [
            f"{heading}\n{body}" if body else heading for heading, body in self._iter_headings_and_bodies(str)
        ]
        return "\n\n".join(paragraphs) or fill(NO_SOURCES)

    def _repr_html_(self) -> str:
        """Return the page as HTML for a notebook."""
        paragraphs = self._iter_headings_and_bodies(lambda answer: answer._repr_html_())
        content = "".join(f"<div><b>{escape(heading)}</b>{body}</div>" for heading, body in paragraphs)
        return content or escape(str(self))

    def _iter_headings_and_bodies(self, render_explanation: Callable[[Explanation], str]) -> Iterator[TextPair]:
        """Yield the heading and body of each paragraph. If nothing is wrong, the body is ""."""
        answers = list(_iter_nested_explanations(self))
        for group in group_explanations_by_reason(answers):
            is_plain = group[0].cause == "connected" and not group[0].fix and not group[0].others
            yield _format_group_heading(group, len(answers)), "" if is_plain else render_explanation(group[0])


# These subclasses behave like their base containers, but print as a page.
_PAGES: dict[type, NestedExplanations] = {
    kind: type(f"Explanation{kind.__name__.capitalize()}", (ExplanationPage, kind), {}) for kind in (list, tuple, dict)
}


def to_explanation_page(container: NestedExplanations) -> NestedExplanations:
    """Return a list, tuple or dictionary of explanations as a container that prints as a page.

    Args:
        container: The container. Objects of other types are returned unchanged.
    """
    page_type = _PAGES.get(type(container))
    return container if page_type is None else page_type(container)


def _iter_nested_explanations(container: NestedExplanations) -> Iterator[Explanation]:
    """Yield the explanations in nested containers."""
    if hasattr(container, "cause"):
        yield container
        return
    for part in container.values() if isinstance(container, dict) else container:
        yield from _iter_nested_explanations(part)


def _format_group_heading(group: list[Explanation], total_count: int) -> str:
    """Return a heading that names a group's variables, such as ``No gradient for a, b (2 of 5)``."""
    names = [answer.name for answer in group[:MAX_NAMES]]
    if len(group) > MAX_NAMES:
        names.append(fill("{n} more", n=len(group) - MAX_NAMES))
    conjunction = fill(" and ") if names[1:] else ""
    name_list = fill(", ").join(names[:-1]) + conjunction + names[-1]
    template = (
        "Gradient found for {names} ({n} of {all})."
        if group[0].connected
        else "No gradient for {names} ({n} of {all})."
    )
    return fill(template, names=name_list, n=len(group), all=total_count)
