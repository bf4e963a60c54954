"""Explain a whole model: each source is looked at, what is well is passed quickly, and the rest is explained."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..explain.explanation import Explanation
from ..explain.reasons.question import OptionalArray
from ..explain.translated_sentences import fill
from ..recording.recorded_rows import BackwardPass
from ..recording.value_summary import ValueSummary, to_float_array
from .bridge_texts import SHARED_TEXTS
from .model_page import GradientNumbers, ModelPage, SourceExplanations, select_sources_by_name
from .recording import Recording, RowNumber

# by which suspicion an explanation of a kind may be replaced: by any (""), or by the one that says more of it
SUSPICION_BY_KIND = {"connected": "", "no_derivative": "sampled", "unused": "sampled"}
CANCELLING_CAUSES = ("zero_cancels", "zero_sum")

if TYPE_CHECKING:
    from ..explain.reasons.suspects import CheckedRun


def to_target_list(target: Any) -> Sequence:
    """Return the targets of a list or tuple; a single target as a list of one.

    >>> to_target_list([1, 2]), to_target_list(3), to_target_list([])
    ([1, 2], [3], [[]])
    """
    return target if isinstance(target, (list, tuple)) and target else [target]


class Checkup:
    """Explain many sources of one recording, each for ``target``, or for the last backward pass that reached it."""

    def __init__(self, recording: FrameworkRecording, target: Any = None) -> None:
        self.recording, self.target = recording, target
        self._inner_checkups: dict[int, Checkup] = {}  # of compiled steps

    def build_page(self, named_sources: Mapping[str, Any]) -> ModelPage:
        """Return the page of a model, from its sources by name."""
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
            if explanation.kind == "connected":  # it would get a gradient, which nothing asks for
                explanation.intended = is_untrained and self.checked_run.has_named_sources
            elif explanation.connected:  # a bias whose sum cancels, as before a normalization, while its layer learns
                explanation.intended |= (
                    explanation.cause in CANCELLING_CAUSES and name.rpartition(".")[0] in learning_layers
                )
            elif explanation.kind != "error":
                explanation.intended |= is_untrained
        return ModelPage(explanations)

    def explain_source(self, source_name: str, source: Any) -> Explanation:
        """Return the explanation of one source, under the name that the page has for it."""
        sweep, is_in_failed_backward = self._find_last_sweep_reaching(source), self._is_in_failed_backward(source)
        facts = [adjoint.compute_zero_and_finite_flags() for _, adjoint in self._list_sweeps_and_adjoints(source)]
        # not all that arrived is finite, or all of it is zero
        if (
            sweep is None
            or is_in_failed_backward
            or not all(is_finite for _, is_finite in facts)
            or all(is_zero for is_zero, _ in facts)
        ):
            target = self.target
            if target is None and not is_in_failed_backward and sweep is not None and sweep.target:
                target = self.recording.find_target_row(sweep)
            explanation: Explanation = self.recording.explain_source(target, source)
        else:
            explanation = Explanation("connected", fill(SHARED_TEXTS["connected"][0], x=source_name), "")
        if explanation.name:  # the name that the page has
            name_pattern = rf"(?<![\w.\[]){re.escape(explanation.name)}(?![\w\[]|\.\w)"
            explanation.message = re.sub(name_pattern, lambda _: source_name, explanation.message)
        explanation.name = source_name
        return self.add_numbers_and_suspicion(explanation, source)

    def add_numbers_and_suspicion(self, explanation: Explanation, source: Any) -> Explanation:
        """Add the numbers of the gradient to an explanation; return it, or the suspicion that replaces it."""
        sweep = self._find_last_sweep_reaching(source)
        # the explanation of a tree has the numbers of one of its leaves already
        explanation.numbers = explanation.numbers or self._measure_gradient(source, sweep)
        return self.replace_by_suspicion_in_any_step(explanation, source)

    def replace_by_suspicion_in_any_step(self, explanation: Explanation, source: Any) -> Explanation:
        """Return an explanation, or what is wrong with a gradient that is there, also where a compiled step gave it."""
        is_compiled = (
            explanation.kind in SUSPICION_BY_KIND
            and self.target is None
            and self._find_last_sweep_reaching(source) is None
        )
        inner_source = self.recording.find_recording_of_compiled_step(source) if is_compiled else None
        if inner_source is None:
            return self.replace_by_suspicion(explanation, source)
        compiled_recording, compiled_source = inner_source
        checkup = self._inner_checkups.setdefault(id(compiled_recording), Checkup(compiled_recording))
        if compiled_recording.has_placeholder_values:
            return checkup.replace_by_suspicion(explanation, compiled_source)
        if checkup._find_last_sweep_reaching(compiled_source) is None:
            return explanation
        return checkup.explain_source(explanation.name, compiled_source)

    def replace_by_suspicion(self, explanation: Explanation, source: Any) -> Explanation:
        """Return an explanation, or what is wrong with a gradient that is there in this recording."""
        if explanation.kind not in SUSPICION_BY_KIND:
            return explanation
        suspicions = [
            suspicion.to_explanation(explanation.name, self.checked_run.question)
            for suspicion in self.checked_run.list_suspicions_of_source(source)
        ]
        if not suspicions or SUSPICION_BY_KIND[explanation.kind] not in ("", suspicions[0].cause):
            return explanation
        replacement: Explanation = suspicions[0].add_side_breaks(suspicions[1:])
        replacement.numbers, replacement._tape, replacement.connected = (
            explanation.numbers,
            explanation._tape,
            explanation.connected,
        )
        return replacement

    def _list_sweeps_in_question(self) -> list[BackwardPass]:
        """Return the backward passes that are asked about."""
        if self.target is None:  # what autograd.grad gave is no .grad, where the block has a backward pass, too
            return [sweep for sweep in self.recording.sweeps if sweep.function_name != "grad"] or self.recording.sweeps
        rows = map(self.recording.find_row, to_target_list(self.target))
        target_sweeps = [sweep for row in rows for sweep in self.recording.list_sweeps_from_or_through(row)]
        return [sweep for sweep in self.recording.sweeps if sweep in target_sweeps]

    def _list_sweeps_and_adjoints(self, source: Any) -> list[tuple[BackwardPass, ValueSummary]]:
        """Return the adjoints that arrived at a source, each with its backward pass, in the order of time."""
        rows = self.recording.list_rows(source)
        return [
            (sweep, sweep.adjoints[row])
            for sweep in self.recording.filter_sweeps_by_source(source, self._list_sweeps_in_question())
            for row in rows
            if row in sweep.adjoints
        ]

    def _is_in_failed_backward(self, source: Any) -> bool:
        """Return whether the last backward pass ended in an error, and a source was used for its target."""
        failed_rows = self.recording.failed_target_rows if self.target is None else []
        source_rows = set(self.recording.list_rows(source))
        return any(not source_rows.isdisjoint(self.checked_run.find_connected_ancestors(row)) for row in failed_rows)

    @cached_property
    def checked_run(self) -> CheckedRun:
        """What the checks of gradients that are there and wrong read."""
        return self.recording.build_checked_run()

    def _find_last_sweep_reaching(self, source: Any) -> BackwardPass | None:
        """Return the last backward pass that reached a source."""
        adjoints = self._list_sweeps_and_adjoints(source)
        return adjoints[-1][0] if adjoints else None

    def _measure_gradient(self, source: Any, sweep: BackwardPass | None) -> GradientNumbers | None:
        if sweep is None:
            return None
        arrays = [
            array
            for adjoint_sweep, adjoint in self._list_sweeps_and_adjoints(source)
            if adjoint_sweep is sweep and (array := to_float_array(adjoint)) is not None
        ]
        gradient = np.sum(arrays, axis=0) if arrays else None
        return GradientNumbers.measure_gradient(gradient, *self.recording.read_weights_around_last_step(source))


class FrameworkRecording(Recording, ABC):
    """The recording of a framework's program, which can be asked why: what each bridge knows of its framework."""

    def explain(self, *arguments: Any, target: Any = None, source: Any = None) -> Any:
        """Explain why the gradient of ``target`` by ``source`` is None, zero or NaN, on which line, and what fixes it.

        ``explain(source)`` asks about the last backward pass, or the one that failed. Returns an
        :class:`minitape.explain.Explanation`, as ``tape.explain`` does; a list of them for a list of sources.
        ``explain(model)``, ``explain(model.parameters())``, a dictionary or a name answer with a page
        (:class:`minitape.bridges.model_page.ModelPage`), and ``explain()`` with one of all that the block trained.
        """
        if len(arguments) > 2 - (target is not None) - (source is not None):
            raise TypeError("explain() takes a target and a source, or a source alone: explain(loss, w), explain(w).")
        if source is None and arguments:
            *arguments, source = arguments  # type: ignore[assignment]
        target = arguments[0] if arguments else target
        checkup = Checkup(self, target)
        if isinstance(source, (list, tuple)):
            return SourceExplanations(
                checkup.add_numbers_and_suspicion(self.explain_source(target, each_source), each_source)
                for each_source in source
            )
        named_sources = self._find_named_sources(source)
        return (
            checkup.replace_by_suspicion_in_any_step(self.explain_source(target, source), source)
            if named_sources is None
            else checkup.build_page(named_sources)
        )

    def explain_source(self, target: Any, source: Any) -> Explanation:
        """Explain why no gradient arrives at one source.

        Of several targets the gradients are added: one that arrives is enough. The others' breaks are side breaks.
        """
        explanations = [
            self._explain_gradient(explanation_of_target, source) for explanation_of_target in to_target_list(target)
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

    def filter_sweeps_by_source(self, source: Any, sweeps: list[BackwardPass]) -> list[BackwardPass]:
        """Return those of some backward passes that were asked for the gradient of a source; all where none was."""
        return sweeps

    def _find_named_sources(self, subject: Any) -> Mapping[str, Any] | None:
        """Return the sources that a question is about, by name: of None all that the block trained, of a model, a
        dictionary, a generator or a name what is in it. None where the question is about one source.
        """
        if subject is None:
            return self.collect_trained_sources()
        if isinstance(subject, str):
            return (
                None
                if self.find_row(subject) is not None
                else select_sources_by_name(self.collect_trained_sources(), subject)
            )
        model_sources = self.find_model_sources(subject)
        if model_sources is not None or isinstance(subject, Mapping):
            return subject if model_sources is None else model_sources
        if isinstance(subject, Iterator):
            names = {id(source): name for name, source in self.collect_trained_sources().items()}
            return {names.get(id(source), f"[{position}]"): source for position, source in enumerate(subject)}
        return None

    def find_model_sources(self, model: Any) -> dict[str, Any] | None:
        """Return the sources of a model by name; None for what is no model."""
        return None

    def read_weights_around_last_step(self, source: Any) -> tuple[OptionalArray, OptionalArray]:
        """Return the elements of a source before and after its last step; None where there was none."""
        return None, None

    def find_target_row(self, sweep: BackwardPass) -> RowNumber | None:
        """Return the row of the target of a backward pass, as a question takes it."""
        return RowNumber(sweep.target[-1])

    def find_recording_of_compiled_step(self, source: Any) -> tuple[FrameworkRecording, Any] | None:
        """Return the recording of a compiled step that gave a source its gradient, and what stands there for it."""
        return None

    @abstractmethod
    def build_checked_run(self) -> CheckedRun:
        """Return what the checks of gradients that are there and wrong read."""

    @property
    def problems(self) -> list:
        """What is missing, not finite, suspect, zero or unknown of what the block trained, the worst first: in a test,
        ``assert not recording.problems``.
        """
        page_problems: list = self.explain().problems
        return page_problems

    @abstractmethod
    def _explain_gradient(self, target: Any, source: Any) -> Explanation:
        """Explain why no gradient arrives from one target at one source."""

    def find_last_target_row(self) -> RowNumber | None:
        """Return the row of the target of the last backward pass; None where none ran."""
        return RowNumber(self.sweeps[-1].target[-1]) if self.sweeps and self.sweeps[-1].target else None
