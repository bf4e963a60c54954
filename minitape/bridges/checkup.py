"""A whole model is asked about: each source is looked at, what is well is passed quickly, and the rest is asked for its
reason.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..explain.sentences import fill
from ..explain.words import Explanation
from ..recording.rows import BackwardPass
from ..recording.values import numbers_of
from .model_page import GradientNumbers, ModelAnswers, ModelPage, names_in
from .recording import Recording, RowNumber
from .texts import SHARED

# what an answer may be beside its own kind: any suspect, or the one that says more of it
MAY_BE = {"connected": "", "no_derivative": "sampled", "unused": "sampled"}
CANCELS = ("zero_cancels", "zero_sum")

if TYPE_CHECKING:
    from ..explain.reasons.suspects import CheckedRun


def several(target: Any) -> Sequence:
    """The targets of a list; of anything else that alone.

    >>> several([1, 2]), several(3), several([])
    ([1, 2], [3], [[]])
    """
    return target if isinstance(target, (list, tuple)) and target else [target]


class Checkup:
    """The answers for many sources of one recording; each is about ``target``, or the last backward pass that reached
    it.
    """

    def __init__(self, recording: FrameworkRecording, target: Any = None) -> None:
        self.recording, self.target = recording, target
        self._inner: dict[int, Checkup] = {}  # of compiled steps

    def page(self, parts: Mapping[str, Any]) -> ModelPage:
        """The page of a model."""
        answers = {name: self.answer(name, source) for name, source in parts.items()}
        well = {name.rpartition(".")[0] for name, a in answers.items() if a.kind in ("connected", "suspect")}
        held = self.run.trained_keys
        for name, answer in answers.items():
            aside = bool(held) and self.run.key_of(parts[name]) not in held
            if answer.kind == "connected":  # it would get a gradient, which nothing asks for
                answer.intended = aside and self.run.names_sources
            elif answer.connected:  # a bias whose sum cancels, as before a normalization, while its layer learns
                answer.intended |= answer.cause in CANCELS and name.rpartition(".")[0] in well
            elif answer.kind != "error":
                answer.intended |= aside
        return ModelPage(answers)

    def answer(self, name: str, source: Any) -> Explanation:
        """The answer for one source."""
        sweep, refused = self._reached_by(source), self._is_refused(source)
        facts = [adjoint.facts() for _, adjoint in self._adjoints(source)]
        # not all that arrived is finite, or all of it is zero
        if sweep is None or refused or not all(f for _, f in facts) or all(zero for zero, _ in facts):
            target = self.target
            if target is None and not refused and sweep is not None and sweep.target:
                target = self.recording.target_number(sweep)
            answer: Explanation = self.recording.why(target, source)
        else:
            answer = Explanation("connected", fill(SHARED["connected"][0], x=name), "")
        if answer.name:  # the name that the page has
            known = rf"(?<![\w.\[]){re.escape(answer.name)}(?![\w\[]|\.\w)"
            answer.message = re.sub(known, lambda _: name, answer.message)
        answer.name = name
        return self.counted(answer, source)

    def counted(self, answer: Explanation, source: Any) -> Explanation:
        """The same answer examined, with the numbers of the gradient."""
        answer.numbers = answer.numbers or self._numbers(source, self._reached_by(source))  # of a tree, a leaf's
        return self.examined(answer, source)

    def examined(self, answer: Explanation, source: Any) -> Explanation:
        """The same answer, or what is wrong with a gradient that is there, also where a compiled step gave it."""
        compiled = answer.kind in MAY_BE and self.target is None and self._reached_by(source) is None
        inner = self.recording.inside_of(source) if compiled else None
        if inner is None:
            return self.suspect(answer, source)
        checkup = self._inner.setdefault(id(inner[0]), Checkup(inner[0]))
        if inner[0].made_up:
            return checkup.suspect(answer, inner[1])
        return answer if checkup._reached_by(inner[1]) is None else checkup.answer(answer.name, inner[1])

    def suspect(self, answer: Explanation, source: Any) -> Explanation:
        """The same answer, or what is wrong with a gradient that is there."""
        if answer.kind not in MAY_BE:
            return answer
        said = [one.to_explanation(answer.name, self.run.question) for one in self.run.suspicions_about(source)]
        if not said or MAY_BE[answer.kind] not in ("", said[0].cause):
            return answer
        other: Explanation = said[0].with_beside(said[1:])
        other.numbers, other._tape, other.connected = answer.numbers, answer._tape, answer.connected
        return other

    def _sweeps(self) -> list[BackwardPass]:
        """The backward passes that are asked about."""
        if self.target is None:  # what autograd.grad gave is no .grad, where the block has a backward pass, too
            return [sweep for sweep in self.recording.sweeps if sweep.asked != "grad"] or self.recording.sweeps
        rows = map(self.recording.row_of, several(self.target))
        found = [sweep for row in rows for sweep in self.recording.sweeps_from(row)]
        return [sweep for sweep in self.recording.sweeps if sweep in found]

    def _adjoints(self, source: Any) -> list[tuple[BackwardPass, Any]]:
        """What arrived at a source, in the order of time."""
        rows = self.recording.rows_of(source)
        return [
            (sweep, sweep.adjoints[row])
            for sweep in self.recording.asked_for(source, self._sweeps())
            for row in rows
            if row in sweep.adjoints
        ]

    def _is_refused(self, source: Any) -> bool:
        """Whether the last backward pass ended in an error, and a source was used for its target."""
        failed = self.recording.failed if self.target is None else []
        rows = set(self.recording.rows_of(source))
        return any(not rows.isdisjoint(self.run.connected_ancestors_of(row)) for row in failed)

    @cached_property
    def run(self) -> CheckedRun:
        """What the checks of gradients that are there and wrong read."""
        return self.recording.suspect_run()

    def _reached_by(self, source: Any) -> BackwardPass | None:
        """The last backward pass that reached a source."""
        found = self._adjoints(source)
        return found[-1][0] if found else None

    def _numbers(self, source: Any, sweep: BackwardPass | None) -> GradientNumbers | None:
        if sweep is None:
            return None
        arrays = [
            array
            for own, adjoint in self._adjoints(source)
            if own is sweep and (array := numbers_of(adjoint)) is not None
        ]
        gradient = np.sum(arrays, axis=0) if arrays else None
        return GradientNumbers.of(gradient, *self.recording.weights_of(source))


class FrameworkRecording(Recording, ABC):
    """The recording of a framework's program, which can be asked why: what each bridge knows of its framework."""

    def explain(self, *asked: Any, target: Any = None, source: Any = None) -> Any:
        """Why the gradient of ``target`` by ``source`` is None, zero or NaN, on which line, and what fixes it.

        ``explain(source)`` asks about the last backward pass, or the one that failed. Returns an
        :class:`minitape.explain.Explanation`, as ``tape.explain`` does; a list of them for a list of sources.
        ``explain(model)``, ``explain(model.parameters())``, a dictionary or a name answer with a page
        (:class:`minitape.bridges.model_page.ModelPage`), and ``explain()`` with one of all that the block trained.
        """
        if len(asked) > 2 - (target is not None) - (source is not None):
            raise TypeError("explain() takes a target and a source, or a source alone: explain(loss, w), explain(w).")
        if source is None and asked:
            *asked, source = asked  # type: ignore[assignment]
        target = asked[0] if asked else target
        checkup = Checkup(self, target)
        if isinstance(source, (list, tuple)):
            return ModelAnswers(checkup.counted(self.why(target, s), s) for s in source)
        known = self._parts_of(source)
        return checkup.examined(self.why(target, source), source) if known is None else checkup.page(known)

    def why(self, target: Any, source: Any) -> Any:
        """Why no gradient arrives at one source; of several targets, whose gradients are added, at none or from one."""
        found = [self._why(one, source) for one in several(target)]
        answer = min(found, key=lambda one: (not one.connected, one.kind == "unused"))
        blocked = [one for one in found if one.line is not None and not one.connected]
        return answer.with_beside(blocked if found[1:] else ())

    def asked_for(self, source: Any, sweeps: list[BackwardPass]) -> list[BackwardPass]:
        """Those of some backward passes that the program asked for the gradient of a source; all where none was."""
        return sweeps

    def _parts_of(self, asked: Any) -> Mapping[str, Any] | None:
        """The sources that a question is about, by name: of None all that the block trained, of a model, a
        dictionary, a generator or a name what is in it. None where the question is about one source.
        """
        if asked is None:
            return self.trained()
        if isinstance(asked, str):
            return None if self.row_of(asked) is not None else names_in(self.trained(), asked)
        parts = self.model_parts(asked)
        if parts is not None or isinstance(asked, Mapping):
            return asked if parts is None else parts
        if isinstance(asked, Iterator):
            names = {id(source): name for name, source in self.trained().items()}
            return {names.get(id(source), f"[{k}]"): source for k, source in enumerate(asked)}
        return None

    def model_parts(self, model: Any) -> dict | None:
        """The sources of a model by name; None for what is no model."""
        return None

    def weights_of(self, source: Any) -> tuple:
        """The elements of a source before and after its last step; None where there was none."""
        return None, None

    def target_number(self, sweep: BackwardPass) -> RowNumber | None:
        """The target of a backward pass, as a question takes it."""
        return RowNumber(sweep.target[-1])

    def inside_of(self, source: Any) -> tuple[FrameworkRecording, Any] | None:
        """The recording of a compiled step that gave a source its gradient, and what stands for the source there."""
        return None

    @abstractmethod
    def suspect_run(self) -> CheckedRun:
        """What the checks of gradients that are there and wrong read."""

    @property
    def problems(self) -> list:
        """What is missing, not finite, suspect, zero or unknown of what the block trained, the worst first: in a test,
        ``assert not recording.problems``.
        """
        found: list = self.explain().problems
        return found

    @abstractmethod
    def _why(self, target: Any, source: Any) -> Any:
        """Why no gradient arrives, where the bridge can tell."""

    def last_target(self) -> RowNumber | None:
        """From where the last backward pass went; None where none ran."""
        return RowNumber(self.sweeps[-1].target[-1]) if self.sweeps and self.sweeps[-1].target else None
