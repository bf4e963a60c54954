"""Show the explanations for a whole model on one page.

Problems come first, and all healthy sources share one line at the end. Each group of sources is shown with its gradient
statistics.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..common.grouping import group_values_by_key
from ..engine.types import NameList, OptionalFloat, TextPair
from ..explain.caller import format_place
from ..explain.explanation import FROZEN_CAUSES, Explanation
from ..explain.explanation_page import ExplanationPage
from ..explain.translated_sentences import fill, format_range
from ..recording.recorded_rows import OptionalArray

MAX_NAMED_LAYERS = 4
# Sources without a gradient come first, followed by sources with these kinds of problems in this order.
KINDS_BY_SEVERITY = "error nonfinite suspect zero unknown".split()


class GradientStatistics(NamedTuple):
    """Statistics of one source's gradient.

    Attributes:
        norm: The norm of the gradient, or None if its elements are no longer available.
        zeros: The fraction of elements that are zero, or None if the elements are no longer available.
        update: The norm of the last optimizer update, divided by the norm of the weight before the update, or None if
            unknown.

    >>> weight = np.array([10.0, 0.0, 0.0])
    >>> print(GradientStatistics.measure_gradient_and_update(np.array([3.0, 0.0, 4.0]), weight, 0 * weight))
    norm 5, zeros 33 %, update/weight 1
    """

    norm: OptionalFloat
    zeros: OptionalFloat
    update: OptionalFloat

    @classmethod
    def measure_gradient_and_update(
        cls, gradient: OptionalArray, weight_before: OptionalArray, weight_after: OptionalArray
    ) -> GradientStatistics:
        """Measure a gradient and the last optimizer update.

        Args:
            gradient: The elements of the gradient, or None if they are no longer available.
            weight_before: The elements of the weight before the last step, or None if unknown.
            weight_after: The elements of the weight after the last step, or None if unknown. If the shape has changed,
                the update is not measured.
        """
        norm = zeros = update = None
        if gradient is not None and gradient.size:
            norm = float(np.linalg.norm(gradient))
            zeros = float((gradient == 0).mean())
        if (
            weight_before is not None
            and weight_after is not None
            and weight_before.shape == weight_after.shape
            and (weight_norm := _compute_norm(weight_before))
        ):
            update = _compute_norm(weight_after - weight_before) / weight_norm
        return cls(norm, zeros, update)

    def __str__(self) -> str:
        """Return the statistics as one line of text."""
        return format_statistics_ranges([self])


def _compute_norm(array: np.ndarray) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.linalg.norm(array))


class PageGroup(NamedTuple):
    """The sources on a page that share one explanation.

    Attributes:
        names: The names of the sources.
        heading: A sentence that names the sources and describes their gradients.
        role: "problem", "healthy", or "untrained" if the program deliberately does not train the sources.
        explanation: The explanation that the sources share.
    """

    names: NameList
    heading: str
    role: str
    explanation: Explanation


class ModelPage(ExplanationPage, dict[str, Explanation]):
    """A dictionary of explanations for a model's sources, keyed by name. The dictionary prints as a page.

    ``problems`` lists the explanations of all problems, worst first. The list is empty for a healthy model.
    """

    @property
    def problems(self) -> list[Explanation]:
        """The explanations of missing, non-finite, suspect, zero and unknown gradients, worst first.

        If the whole model is frozen, all of its explanations are listed.
        """
        problem_list = sorted(
            (explanation for explanation in self.values() if is_problem(explanation)), key=rank_worst_first
        )
        return problem_list or ([*self.values()] if self.is_all_frozen else [])

    @property
    def is_all_frozen(self) -> bool:
        """Whether the program deliberately froze every source on the page."""
        return bool(self) and all(
            explanation.intended and explanation.cause in (*FROZEN_CAUSES, "stop_gradient")
            for explanation in self.values()
        )

    def group_names_by_explanation_worst_first(self) -> list[NameList]:
        """Return groups of names whose sources share one explanation, worst first."""

        def build_key(explanation: Explanation) -> Hashable:
            is_healthy = explanation.connected and not is_problem(explanation)
            is_untrained = explanation.intended and explanation.kind == "connected"
            return is_untrained if is_healthy else explanation.build_group_key()

        groups = group_values_by_key((build_key(explanation), name) for name, explanation in self.items())
        return sorted(groups.values(), key=lambda names: rank_worst_first(self[names[0]]))

    def as_json(self) -> list[dict]:
        """Return the page as a list of plain dictionaries, one for each source.

        The keys are name, cause, kind, connected, file, line, message, fix, patch, norm, zeros and update.
        """
        return [
            {
                "name": name,
                "cause": explanation.cause,
                "kind": explanation.kind,
                "connected": explanation.connected,
                "file": explanation.filename,
                "line": explanation.line,
                "message": explanation.message,
                "fix": explanation.fix,
                "patch": explanation.patch,
                **(explanation.numbers or GradientStatistics(None, None, None))._asdict(),
            }
            for name, explanation in self.items()
        ]

    def list_groups(self, has_numbers: bool = True) -> list[PageGroup]:
        """Return the groups of sources that share one explanation, worst first.

        Args:
            has_numbers: Whether the headings contain the statistics of the gradients.
        """
        groups = []
        for names in self.group_names_by_explanation_worst_first():
            heading, role = self._build_group_heading_and_role(
                names, self._format_gradient_statistics_suffix(names) if has_numbers else ""
            )
            groups.append(PageGroup(names, heading, role, self[names[0]]))
        return groups

    def _format_gradient_statistics_suffix(self, names: NameList) -> str:
        numbers = format_statistics_ranges(
            [explanation.numbers for name in names if (explanation := self[name]).numbers is not None]
        )
        return fill(": {numbers}", numbers=numbers) if numbers else ""

    def _build_group_heading_and_role(self, names: NameList, numbers_text: str) -> TextPair:
        """Return the heading and the role of a group.

        Args:
            names: The names of the sources in the group.
            numbers_text: The gradient statistics of these sources, or "".
        """
        first = self[names[0]]
        names_text = fill("{names} ({n} of {all})", names=join_parameter_names(names), n=len(names), all=len(self))
        if self.is_all_frozen:
            return fill("All parameters are frozen: {which}.", which=names_text), "problem"
        if first.intended and first.kind == "unused":
            return fill("Not used in the recorded steps: {which}.", which=names_text), "untrained"
        if first.intended and not first.connected:
            place = "" if first.line is None else fill(", ") + format_place(first.filename, first.line)
            return fill("Frozen: {which}{place}.", which=names_text, place=place), "untrained"
        if first.intended and first.kind == "connected":
            sentence = "Not trained, because the program does not request a gradient: {which}."
            return fill(sentence, which=names_text), "untrained"
        if not is_problem(first):
            return fill("Healthy: {which}{numbers}.", which=names_text, numbers=numbers_text), "healthy"
        if first.connected:
            return fill("Gradient found for {which}{numbers}.", which=names_text, numbers=numbers_text), "problem"
        return fill("No gradient for {which}.", which=names_text), "problem"

    def _iter_headings_and_bodies(self, render_explanation: Callable[[Explanation], str]) -> Iterator[TextPair]:
        if not self:
            yield fill("The block used no parameters."), ""
        for group in self.list_groups():
            yield group.heading, render_explanation(group.explanation) if group.role == "problem" else ""


class SourceExplanations(list[Explanation]):
    """A list of explanations, in the order of the requested sources. The list prints as a model page."""

    @property
    def page(self) -> ModelPage:
        """The explanations as a page, keyed by name."""
        model_page = ModelPage()
        for explanation in self:
            store_under_unused_name(model_page, explanation.name, explanation)
        return model_page

    def __str__(self) -> str:
        """Return the page as text."""
        return str(self.page)

    def _repr_html_(self) -> str:
        return self.page._repr_html_()


def store_under_unused_name(values_by_name: dict[str, Any], name: str, value: Any) -> str:
    """Store a value under its name, adding a number if the name is already used, and return the resulting name.

    Args:
        values_by_name: The values stored so far, to which the new value is added.
        name: The name of the value.
        value: The value.
    """
    unused_name = f"{name} ({len(values_by_name)})" if name in values_by_name else name
    values_by_name[unused_name] = value
    return unused_name


def is_problem(explanation: Explanation) -> bool:
    """Return whether an explanation describes a problem.

    A gradient that the program deliberately blocks is not a problem.
    """
    return explanation.kind != "connected" and not explanation.intended


def rank_worst_first(explanation: Explanation) -> int:
    """Return the rank of an explanation. Rank 0 is the worst, and healthy sources have the highest rank."""
    if not is_problem(explanation):
        return 10 if explanation.connected else 9
    return 1 + KINDS_BY_SEVERITY.index(explanation.kind) if explanation.kind in KINDS_BY_SEVERITY else 0


def join_parameter_names(parameter_names: Iterable[str]) -> str:
    """Join parameter names into a short text.

    Each layer is named once, and at most ``MAX_NAMED_LAYERS`` layers are listed.

    Args:
        parameter_names: The names, such as "net.a.weight".

    Returns:
        The text, ending with the number of omitted names, if any.

    >>> join_parameter_names(["net.a.weight", "net.a.bias", "net.b.weight"])
    'net.a.weight, bias, net.b.weight'
    >>> join_parameter_names(f"net.{k}.weight" for k in range(6))
    'net.0.weight, net.1.weight, net.2.weight, net.3.weight and 2 more'
    """
    parts = (name.rpartition(".") for name in parameter_names)
    layers = group_values_by_key((layer + dot, leaf_name) for layer, dot, leaf_name in parts)
    texts = [layer + ", ".join(leaf_names) for layer, leaf_names in layers.items()]
    count = sum(map(len, list(layers.values())[MAX_NAMED_LAYERS:]))
    return ", ".join(texts[:MAX_NAMED_LAYERS]) + (fill(" and {n} more", n=count) if count else "")


def format_statistics_ranges(gradient_numbers: list[GradientStatistics]) -> str:
    """Format the statistics of several gradients as ranges from smallest to largest.

    Args:
        gradient_numbers: The statistics of each gradient.

    Returns:
        The text, or "" for an empty list. Statistics that are None for every gradient are left out.

    >>> format_statistics_ranges([GradientStatistics(1.0, 0.0, None), GradientStatistics(2.0, 0.5, 1e-3)])
    'norm 1 to 2, zeros 0 to 50 %, update/weight 0.001'
    """
    ranges = [sorted(value for value in column if value is not None) for column in zip(*gradient_numbers, strict=True)]
    if not ranges:
        return ""
    norm, zeros, update = [(column_range[0], column_range[-1]) if column_range else None for column_range in ranges]
    parts = [
        "" if norm is None else fill("norm {n}", n=format_range(*norm, ".2g")),
        "" if zeros is None else fill("zeros {n} %", n=_format_percent_range(*zeros)),
        "" if update is None else fill("update/weight {n}", n=format_range(*update, ".2g")),
    ]
    return fill(", ").join(filter(None, parts))


def _format_percent_range(low: float, high: float) -> str:
    return format_range(round_percent_away_from_0_and_100(low), round_percent_away_from_0_and_100(high), "d")


def round_percent_away_from_0_and_100(fraction: float) -> int:
    """Return a fraction as a whole percentage. Only fractions of exactly 0 and 1 are shown as 0 and 100.

    The function ``percent`` in value.ts does the same.

    Args:
        fraction: A number from 0 to 1.

    >>> [round_percent_away_from_0_and_100(fraction) for fraction in (0.0, 0.001, 0.5, 0.9999, 1.0)]
    [0, 1, 50, 99, 100]
    """
    percentage = round(100 * fraction)
    return min(99, max(1, percentage)) if 0 < fraction < 1 else percentage


def select_sources_by_part_of_name(named_sources: Mapping[str, Any], layer_or_parameter_name: str) -> dict:
    """Return the sources whose dotted names contain the name of a given layer or parameter.

    Args:
        named_sources: All sources, keyed by name.
        layer_or_parameter_name: The name of a parameter, or the name of a layer whose parameters should all be
            selected. The name must match whole parts of a source's dotted name.

    Returns:
        The selected sources, keyed by name.

    Raises:
        ValueError: If no name matches.

    >>> select_sources_by_part_of_name({"net.a.weight": 1, "net.a.bias": 2, "net.b.bias": 3}, "a")
    {'net.a.weight': 1, 'net.a.bias': 2}
    >>> select_sources_by_part_of_name({"net.blocks[0].kernel": 1, "net.block": 2}, "blocks")
    {'net.blocks[0].kernel': 1}
    """
    find_part = re.compile(rf"(^|\.){re.escape(layer_or_parameter_name)}($|[.\[])").search
    selected = {name: source for name, source in named_sources.items() if find_part(name)}
    if not selected:
        known_names = ", ".join(list(named_sources)[:12]) or "none"
        raise ValueError(
            f"explain({layer_or_parameter_name!r}): the block used no parameter with that name. It used: {known_names}."
        )
    return selected
