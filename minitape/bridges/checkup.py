"""Explain a whole model by checking every source quickly and explaining only the sources that have problems."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..common.garbage_collection import pause_garbage_collection
from ..engine.types import LIST_OR_TUPLE, RowSet
from ..explain.explanation import Explanation, replace_whole_name
from ..explain.reasons.object_names import share_searches_between_questions
from ..explain.reasons.suspects import CheckedRun
from ..explain.translated_sentences import fill
from ..recording.recorded_rows import (
    BackwardPass,
    OptionalArray,
    OptionalBackwardPass,
    collect_rows_and_connected_ancestors,
)
from ..recording.value_summary import ValueSummary, to_float_array
from .model_page import GradientStatistics, ModelPage, SourceExplanations, select_sources_by_part_of_name
from .recording import Recording, RowNumber, SourcesByName

# For each kind of explanation that a suspicion may replace, the required cause of the suspicion, or "" for any cause.
SUSPICION_BY_KIND = {
    "connected": "",
    "no_derivative": "sampled",
    "unused": "sampled",
    "zero": "cancelled",
    "nonfinite": "loss_input",
}
CANCELLING_CAUSES = ("zero_cancels", "zero_sum")
# At the ends of their domains, these functions have an infinite derivative, so programs clip their inputs.
ARC_OPS = set("acos arccos asin arcsin atanh arctanh Acos Asin Atanh".split())


def wrap_single_target_in_list(target: Any) -> Sequence:
    """Return a list or tuple of targets unchanged, or wrap a single target in a list.

    An empty list is treated as a single target.

    >>> wrap_single_target_in_list([1, 2]), wrap_single_target_in_list(3), wrap_single_target_in_list([])
    ([1, 2], [3], [[]])
    """
    return target if isinstance(target, LIST_OR_TUPLE) and target else [target]


@dataclass(eq=False)
class Checkup:
    """Explains many sources in one recording.

    Attributes:
        recording: The recording to explain.
        target: The target of the gradients to explain. If None, the last backward pass that reached each source is
            explained.
    """

    recording: FrameworkRecording
    target: Any = None
    # The keys are the ids of compiled steps' recordings.
    _inner_checkups: dict[int, Checkup] = field(default_factory=dict, init=False)

    def build_page_of_source_explanations(self, named_sources: Mapping[str, Any]) -> ModelPage:
        """Explain every source of a model.

        Args:
            named_sources: The sources, keyed by the names to show on the page.

        Returns:
            A page with one explanation per source. If the program deliberately does not train a source, the source's
            explanation is marked as intended.
        """
        explanations = {name: self.explain_source(name, source) for name, source in named_sources.items()}
        learning_layers = {
            name.rpartition(".")[0]
            for name, candidate in explanations.items()
            if candidate.kind in ("connected", "suspect")
        }
        trained_keys = self.checked_run.trained_keys
        for name, explanation in explanations.items():
            is_untrained = (
                bool(trained_keys) and self.checked_run.find_source_key(named_sources[name]) not in trained_keys
            )
            if explanation.kind == "connected":
                # A gradient could reach the source, but the program never requests it.
                explanation.intended = is_untrained and self.checked_run.has_named_sources
            elif explanation.connected:
                # A bias before a normalization layer has zero gradient even though its layer learns.
                is_cancelled = explanation.cause in CANCELLING_CAUSES and name.rpartition(".")[0] in learning_layers
                explanation.intended |= is_cancelled or self._is_saturated_clip_before_arc_function(explanation)
            elif is_untrained and explanation.kind == "unused":
                explanations[name] = Explanation("connected", "", "")
                explanations[name].intended = True
            elif explanation.kind != "error":
                explanation.intended |= is_untrained or self._is_source_itself_passed_to_stop_gradient(
                    explanation, named_sources[name]
                )
        return ModelPage(explanations)

    def _is_saturated_clip_before_arc_function(self, explanation: Explanation) -> bool:
        """Return whether a saturated clip keeps the derivative of an arc cosine or a similar function finite."""
        return explanation.cause == "saturated" and not self._inputs_of_arc_functions.isdisjoint(explanation._rows)

    @cached_property
    def _inputs_of_arc_functions(self) -> RowSet:
        """The input rows of arc cosines and similar functions."""
        return {input_row for row in self.recording.rows if row.op in ARC_OPS for input_row in row.inputs}

    def _is_source_itself_passed_to_stop_gradient(self, explanation: Explanation, source: Any) -> bool:
        """Return whether the program passes the source itself, not a value computed from it, to ``stop_gradient``."""
        inputs = {input_row for row in explanation._rows for input_row in self.recording.rows[row].inputs}
        return explanation.cause == "stop_gradient" and inputs <= {*self.recording.list_rows(source)}

    def explain_source(self, source_name: str, source: Any) -> Explanation:
        """Explain one source, using the name shown on the page.

        A source whose gradients are all finite and not all zero is reported as "connected" without any further checks.

        Args:
            source_name: The name to use in the message instead of the source's own name.
            source: The source, such as a parameter.

        Returns:
            The explanation, with the gradient's statistics.
        """
        sweep = self._find_last_sweep_reaching(source)
        is_in_failed_backward = not self._ancestors_of_failed_targets.isdisjoint(self.recording.list_rows(source))
        facts = [adjoint.compute_zero_and_finite_flags() for _, adjoint in self._list_sweeps_and_adjoints(source)]
        are_finite = all(is_finite for _, is_finite in facts)
        # If no backward pass reached the source, ``facts`` is empty.
        if is_in_failed_backward or not are_finite or all(is_zero for is_zero, _ in facts):
            target = self.target
            if target is None and not is_in_failed_backward and sweep is not None and sweep.target:
                target = self.recording.find_target_row_unless_found_from_source(sweep)
            explanation = self.recording.explain_source(target, source)
        else:
            explanation = Explanation("connected", fill("{x} has a gradient.", x=source_name), "")
        if explanation.name:
            explanation.message = replace_whole_name(explanation.message, explanation.name, source_name)
        explanation.name = source_name
        return self.add_statistics_and_replace_by_suspicion(explanation, source)

    def add_statistics_and_replace_by_suspicion(self, explanation: Explanation, source: Any) -> Explanation:
        """Add the gradient's statistics to an explanation.

        Returns:
            The same explanation, or the suspicion that replaces it.
        """
        sweep = self._find_last_sweep_reaching(source)
        # If the source is a tree, the explanation already contains the statistics of one leaf.
        explanation.numbers = explanation.numbers or self._measure_gradient(source, sweep)
        return self.replace_by_suspicion_even_if_compiled(explanation, source)

    def replace_by_suspicion_even_if_compiled(self, explanation: Explanation, source: Any) -> Explanation:
        """Return the suspicion that replaces an explanation, or the explanation itself if nothing replaces it.

        If a compiled step computed the gradient, the recording of that step is checked instead of this one.

        Args:
            explanation: The explanation of the source.
            source: The source as it appears in this recording.
        """
        is_compiled = (
            explanation.kind in SUSPICION_BY_KIND
            and self.target is None
            and self._find_last_sweep_reaching(source) is None
        )
        compiled_recording = self.recording.find_compiled_step_recording(source) if is_compiled else None
        if compiled_recording is None:
            return self.replace_by_suspicion_if_any(explanation, source)
        checkup = self._inner_checkups.setdefault(id(compiled_recording), Checkup(compiled_recording))
        if compiled_recording.has_placeholder_values:
            return checkup.replace_by_suspicion_if_any(explanation, source)
        if checkup._find_last_sweep_reaching(source) is None:
            return explanation
        return checkup.explain_source(explanation.name, source)

    def replace_by_suspicion_if_any(self, explanation: Explanation, source: Any) -> Explanation:
        """Return the first suspicion about a source if it may replace the explanation, and otherwise the explanation.

        The other suspicions become side breaks of the first suspicion. The explanation's statistics are kept.

        Args:
            explanation: The explanation of the source.
            source: The source.
        """
        if explanation.kind not in SUSPICION_BY_KIND:
            return explanation
        suspicions = [
            suspicion.to_explanation(explanation.name, self.checked_run.question_without_source_and_target)
            for suspicion in self.checked_run.list_suspicions_of_source(source)
        ]
        if not suspicions or SUSPICION_BY_KIND[explanation.kind] not in ("", suspicions[0].cause):
            return explanation
        replacement = suspicions[0].add_side_breaks(suspicions[1:])
        replacement.numbers = explanation.numbers
        replacement._tape = explanation._tape
        replacement.connected = explanation.connected
        return replacement

    @cached_property
    def _sweeps_from_target_or_else_all(self) -> list[BackwardPass]:
        """The backward passes that began at the target, or all backward passes of the block if no target was given."""
        if self.target is None:
            # autograd.grad does not set .grad, so its passes count only if the block never calls backward().
            return [sweep for sweep in self.recording.sweeps if sweep.function_name != "grad"] or self.recording.sweeps
        rows = map(self.recording.find_row, wrap_single_target_in_list(self.target))
        target_sweeps = [sweep for row in rows for sweep in self.recording.list_sweeps_from_or_else_through(row)]
        return [sweep for sweep in self.recording.sweeps if sweep in target_sweeps]

    def _list_sweeps_and_adjoints(self, source: Any) -> list[tuple[BackwardPass, ValueSummary]]:
        """Return a (backward pass, adjoint) pair for each adjoint that arrived at a source, oldest first."""
        rows = self.recording.list_rows(source)
        return [
            (sweep, sweep.adjoints[row])
            for sweep in self.recording.choose_sweeps_of_source_or_all_if_trainable(
                source, self._sweeps_from_target_or_else_all
            )
            for row in rows
            if row in sweep.adjoints
        ]

    @cached_property
    def _ancestors_of_failed_targets(self) -> RowSet:
        """The rows on which the targets of failed backward passes depend, or an empty set if a target was given."""
        return collect_rows_and_connected_ancestors(
            self.recording.rows, self.recording.failed_target_rows if self.target is None else []
        )

    @cached_property
    def checked_run(self) -> CheckedRun:
        """The facts on which the checks for wrong gradients rely."""
        return self.recording.build_checked_run()

    def _find_last_sweep_reaching(self, source: Any) -> OptionalBackwardPass:
        """Return the last backward pass that reached a source, or None if none did."""
        adjoints = self._list_sweeps_and_adjoints(source)
        return adjoints[-1][0] if adjoints else None

    def _measure_gradient(self, source: Any, sweep: BackwardPass | None) -> GradientStatistics | None:
        """Return statistics of the gradient that a source received in a sweep, or None if there was no sweep."""
        if sweep is None:
            return None
        arrays = [
            array
            for adjoint_sweep, adjoint in self._list_sweeps_and_adjoints(source)
            if adjoint_sweep is sweep and (array := to_float_array(adjoint)) is not None
        ]
        gradient = np.sum(arrays, axis=0) if arrays else None
        return GradientStatistics.measure_gradient_and_update(
            gradient, *self.recording.read_weights_around_last_step(source)
        )


class FrameworkRecording(Recording, ABC):
    """A recording of a program that uses a framework, with methods that explain the program's gradients.

    Each bridge implements the abstract methods for its framework.
    """

    def explain(self, *arguments: Any, target: Any = None, source: Any = None) -> Any:
        """Explain why the gradient of ``target`` with respect to ``source`` is None, zero or NaN.

        ``explain(source)`` explains the last backward pass, even if that pass failed. ``explain(model)`` explains all
        parameters of a model, and ``explain()`` explains every source that was trained in the block.

        Args:
            *arguments: The target and the source, or the source alone.
            target: The target, or a list of targets.
            source: A source, a list of sources, a model, ``model.parameters()``, a dictionary, or the name of a
                parameter or layer.

        Returns:
            For one source, a :class:`minitape.explain.Explanation`, as ``tape.explain`` returns it. For a list of
            sources, a list of explanations. In all other cases (a model, a dictionary, a name, or no source), a page
            (:class:`minitape.bridges.model_page.ModelPage`).

        Raises:
            TypeError: If there are more than two arguments.
            ValueError: If no parameter with the given name was used in the block.
        """
        if len(arguments) > 2 - (target is not None) - (source is not None):
            raise TypeError(
                "explain() takes a target and a source, as in explain(loss, w), or only a source, as in explain(w)."
            )
        if source is None and arguments:
            *arguments, source = arguments  # type: ignore[assignment]
        target = arguments[0] if arguments else target
        with share_searches_between_questions(), pause_garbage_collection():
            return self._explain_subject(target, source)

    def _explain_subject(self, target: Any, subject: Any) -> Any:
        """Return what `explain` returns for one source, for a list of sources, or for a group such as a model."""
        checkup = Checkup(self, target)
        if isinstance(subject, LIST_OR_TUPLE):
            return SourceExplanations(
                checkup.add_statistics_and_replace_by_suspicion(self.explain_source(target, each_source), each_source)
                for each_source in subject
            )
        named_sources = self._find_named_sources(subject)
        if named_sources is not None:
            return checkup.build_page_of_source_explanations(named_sources)
        return checkup.replace_by_suspicion_even_if_compiled(self.explain_source(target, subject), subject)

    def explain_source(self, target: Any, source: Any) -> Explanation:
        """Explain why no gradient arrives at one source.

        The gradients of several targets are added up, so the source needs a gradient from only one of the targets. The
        breaks on the paths to the other targets become side breaks.

        Args:
            target: The target, a list of targets, or None for the last backward pass.
            source: The source.

        Returns:
            The explanation for the target whose gradient reaches the source, or else for the first target that depends
            on the source.
        """
        explanations = [
            self._explain_gradient(explanation_of_target, source)
            for explanation_of_target in wrap_single_target_in_list(target)
        ]
        explanation = min(
            explanations,
            key=lambda explanation_of_target: (
                not explanation_of_target.connected,
                explanation_of_target.kind == "unused",
            ),
        )
        blocked = [
            explanation_of_target
            for explanation_of_target in explanations
            if explanation_of_target.line is not None and not explanation_of_target.connected
        ]
        return explanation.add_side_breaks(blocked if explanations[1:] else ())

    def choose_sweeps_of_source_or_all_if_trainable(
        self, source: Any, sweeps: list[BackwardPass]
    ) -> list[BackwardPass]:
        """Return the backward passes meant to compute a source's gradient, or all passes if there are no such passes.

        Args:
            source: The source.
            sweeps: The backward passes to choose from.
        """
        return sweeps

    def _find_named_sources(self, subject: Any) -> Mapping[str, Any] | None:
        """Return the sources that a question is about, keyed by name, or None if it is about a single source.

        If the subject is None, the question is about every source that was trained in the block. If the subject is a
        model, a dictionary, a generator or a name, the question is about the sources that belong to the subject.
        """
        if subject is None:
            return self.collect_sources_meant_to_be_trained()
        if isinstance(subject, str):
            if self.find_row(subject) is not None:
                return None
            return select_sources_by_part_of_name(self.collect_sources_meant_to_be_trained(), subject)
        model_sources = self.find_model_sources(subject)
        if model_sources is not None:
            return model_sources
        if isinstance(subject, Mapping):
            return subject
        if isinstance(subject, Iterator):
            names = {id(source): name for name, source in self.collect_sources_meant_to_be_trained().items()}
            return {names.get(id(source), f"[{position}]"): source for position, source in enumerate(subject)}
        return None

    def find_model_sources(self, model: Any) -> SourcesByName | None:
        """Return the sources of a model, keyed by name, or None if the object is not a model."""
        return None

    def read_weights_around_last_step(self, source: Any) -> tuple[OptionalArray, OptionalArray]:
        """Return a source's elements before and after its last optimizer step, or (None, None) if there was no step."""
        return None, None

    def find_target_row_unless_found_from_source(self, sweep: BackwardPass) -> RowNumber | None:
        """Return the target row of a backward pass, or None if the source alone identifies the pass."""
        return None

    def find_compiled_step_recording(self, source: Any) -> FrameworkRecording | None:
        """Return the recording of the compiled step that computed the gradient of a source, or None if none did."""
        return None

    @abstractmethod
    def build_checked_run(self) -> CheckedRun:
        """Return the facts on which the checks for wrong gradients rely."""

    @property
    def problems(self) -> list:
        """Explanations of all missing or wrong gradients of the sources trained in the block, worst first.

        A gradient counts as wrong if it is suspect, zero, unknown or not finite. In a test, write
        ``assert not recording.problems``.
        """
        page_problems: list = self.explain().problems
        return page_problems

    @abstractmethod
    def _explain_gradient(self, target: Any, source: Any) -> Explanation:
        """Explain why no gradient from a target reaches a source."""

    def find_last_target_row(self) -> RowNumber | None:
        """Return the row of the last backward pass's target, or None if no backward pass ran."""
        return RowNumber(self.sweeps[-1].target[-1]) if self.sweeps and self.sweeps[-1].target else None
