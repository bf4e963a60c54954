"""One page for a whole model: what is wrong comes first, what is well is one line at the end, with the numbers of each
group.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..explain.caller import format_place
from ..explain.explanation import FROZEN_CAUSES, Explanation
from ..explain.explanation_page import ExplanationPage
from ..explain.reasons.question import OptionalArray
from ..explain.translated_sentences import fill, format_range

MAX_NAMED_LAYERS = 4  # groups of one paragraph that are named
# the kinds that come after what has no gradient at all
KINDS_BY_SEVERITY = ("error", "nonfinite", "suspect", "zero", "unknown")


class GradientNumbers(NamedTuple):
    """The gradient of one source in numbers; None where its elements are gone.

    >>> weight = np.array([10.0, 0.0, 0.0])
    >>> print(GradientNumbers.measure_gradient(np.array([3.0, 0.0, 4.0]), weight, 0 * weight))
    norm 5, zeros 33 %, update/weight 1
    """

    norm: float | None
    zeros: float | None  # the share of the elements
    update: float | None  # the length of the last step, in lengths of the weight before it

    @classmethod
    def measure_gradient(
        cls, gradient: OptionalArray, weight_before: OptionalArray, weight_after: OptionalArray
    ) -> GradientNumbers:
        """Measure a gradient; and the last step, from the weight before and after it."""
        norm = zeros = update = None
        if gradient is not None and gradient.size:
            norm, zeros = float(np.linalg.norm(gradient)), float((gradient == 0).mean())
        if (
            weight_before is not None
            and weight_after is not None
            and weight_before.shape == weight_after.shape
            and (weight_norm := _compute_norm(weight_before))
        ):
            update = _compute_norm(weight_after - weight_before) / weight_norm
        return cls(norm, zeros, update)

    def __str__(self) -> str:
        return format_number_ranges([self])


def _compute_norm(array: np.ndarray) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.linalg.norm(array))


class ModelPage(ExplanationPage, dict[str, Explanation]):
    """An explanation for each source of a model, by its name; a page when it is printed.

    ``problems`` are those that say something is wrong, the worst first: an empty list is a model that is well.
    """

    @property
    def problems(self) -> list[Explanation]:
        """What is missing, not finite, suspect, zero or unknown, the worst first; where all is frozen, that."""
        problem_list = sorted(
            (explanation for explanation in self.values() if is_problem(explanation)), key=rank_severity
        )
        return problem_list or ([*self.values()] if self.is_all_frozen else [])

    @property
    def is_all_frozen(self) -> bool:
        """Whether the program has set so of all that was asked about."""
        return bool(self) and all(
            explanation.intended and explanation.cause in FROZEN_CAUSES for explanation in self.values()
        )

    def group_names_by_explanation(self) -> list[list[str]]:
        """Return the names in groups with the same explanation, the worst first."""
        names_by_key: dict[Any, list[str]] = {}
        for name, explanation in self.items():
            is_healthy = explanation.connected and not is_problem(explanation)
            is_untrained = explanation.intended and explanation.kind == "connected"
            names_by_key.setdefault(is_untrained if is_healthy else explanation.build_group_key(), []).append(name)
        return sorted(names_by_key.values(), key=lambda names: rank_severity(self[names[0]]))

    def as_json(self) -> list[dict]:
        """Return the same as a list of plain dictionaries: one for each source."""
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
                **(explanation.numbers or GradientNumbers(None, None, None))._asdict(),
            }
            for name, explanation in self.items()
        ]

    def _iter_paragraphs(self, show: Any) -> Iterator[tuple[str, str]]:
        if not self:
            yield fill("The block used no parameters."), ""
        for names in self.group_names_by_explanation():
            first = self[names[0]]
            names_text = fill("{names} ({n} of {all})", names=join_parameter_names(names), n=len(names), all=len(self))
            numbers = format_number_ranges(
                [explanation.numbers for name in names if (explanation := self[name]).numbers is not None]
            )
            numbers_text = fill(": {numbers}", numbers=numbers) if numbers else ""
            if self.is_all_frozen:
                yield fill("All is frozen: {which}.", which=names_text), show(first)
            elif first.intended and not first.connected:
                place = "" if first.line is None else fill(", ") + format_place(first.filename, first.line)
                yield fill("Frozen: {which}{place}.", which=names_text, place=place), ""
            elif first.intended and first.kind == "connected":
                yield fill("Not trained: {which}. The program asks for no gradient of it.", which=names_text), ""
            elif not is_problem(first):
                yield fill("Healthy: {which}{numbers}.", which=names_text, numbers=numbers_text), ""
            elif first.connected:
                yield fill("A gradient for {which}{numbers}.", which=names_text, numbers=numbers_text), show(first)
            else:
                yield fill("No gradient for {which}.", which=names_text), show(first)


class SourceExplanations(list[Explanation]):
    """The explanations of a list of sources, in its order; the page of a model when it is printed."""

    @property
    def page(self) -> ModelPage:
        """The same by name."""
        model_page = ModelPage()
        for explanation in self:
            model_page[
                explanation.name if explanation.name not in model_page else f"{explanation.name} ({len(model_page)})"
            ] = explanation
        return model_page

    def __str__(self) -> str:
        return str(self.page)

    def _repr_html_(self) -> str:
        return self.page._repr_html_()


def is_problem(explanation: Explanation) -> bool:
    """Return whether an explanation says that something is wrong: what the program has frozen is not."""
    return explanation.kind != "connected" and not explanation.intended


def rank_severity(explanation: Explanation) -> int:
    """Return how bad an explanation is; 0 is the worst."""
    if not is_problem(explanation):
        return 10 if explanation.connected else 9
    return 1 + KINDS_BY_SEVERITY.index(explanation.kind) if explanation.kind in KINDS_BY_SEVERITY else 0


def join_parameter_names(parameter_names: Iterable[str]) -> str:
    """Join names of parameters to a short text; a layer is named once, and at most a few names are listed.

    >>> join_parameter_names(["net.a.weight", "net.a.bias", "net.b.weight"])
    'net.a.weight, bias, net.b.weight'
    >>> join_parameter_names(f"net.{k}.weight" for k in range(6))
    'net.0.weight, net.1.weight, net.2.weight, net.3.weight and 2 more'
    """
    layers: dict[str, list[str]] = {}
    for name in parameter_names:
        layer, dot, leaf_name = name.rpartition(".")
        layers.setdefault(layer + dot, []).append(leaf_name)
    texts = [layer + ", ".join(leaf_name) for layer, leaf_name in layers.items()]
    count = sum(len(leaf_name) for leaf_name in list(layers.values())[MAX_NAMED_LAYERS:])
    return ", ".join(texts[:MAX_NAMED_LAYERS]) + (fill(" and {n} more", n=count) if count else "")


def format_number_ranges(gradient_numbers: list[GradientNumbers]) -> str:
    """Format the numbers of several gradients, each from the smallest to the largest.

    >>> format_number_ranges([GradientNumbers(1.0, 0.0, None), GradientNumbers(2.0, 0.5, 1e-3)])
    'norm 1 to 2, zeros 0 to 50 %, update/weight 0.001'
    """
    ranges = [sorted(value for value in column if value is not None) for column in zip(*gradient_numbers, strict=True)]
    if not ranges:
        return ""
    norm, zeros, update = [(column_range[0], column_range[-1]) if column_range else None for column_range in ranges]
    parts = [
        "" if norm is None else fill("norm {n}", n=format_range(*norm, ".2g")),
        "" if zeros is None else fill("zeros {n} %", n=format_range(100 * zeros[0], 100 * zeros[1], ".0f")),
        "" if update is None else fill("update/weight {n}", n=format_range(*update, ".2g")),
    ]
    return fill(", ").join(filter(None, parts))


def select_sources_by_name(named_sources: Mapping[str, Any], name_part: str) -> dict:
    """Return the sources that a name asks about: a parameter, or all that a layer has. ValueError if there is none.

    >>> select_sources_by_name({"net.a.weight": 1, "net.a.bias": 2, "net.b.bias": 3}, "a")
    {'net.a.weight': 1, 'net.a.bias': 2}
    >>> select_sources_by_name({"net.blocks[0].kernel": 1, "net.block": 2}, "blocks")
    {'net.blocks[0].kernel': 1}
    """
    find_part = re.compile(rf"(^|\.){re.escape(name_part)}($|[.\[])").search
    selected = {name: source for name, source in named_sources.items() if find_part(name)}
    if not selected:
        known_names = ", ".join(list(named_sources)[:12]) or "none"
        raise ValueError(f"explain({name_part!r}): the block used no parameter of that name. It used: {known_names}.")
    return selected
