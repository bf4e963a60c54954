"""Explain None gradients automatically, in warnings and in notes on the errors that these gradients cause."""

import sys
from collections.abc import Iterable
from contextlib import suppress
from traceback import walk_stack
from types import FrameType
from typing import NamedTuple

import numpy as np

from ..common.translation import join_sentences
from ..engine.backward.tape import GradientTape
from ..engine.backward.targets_and_sources import unwrap_keras_variable
from ..engine.record.thread_state import state
from ..engine.types import TargetOrSource, TargetsOrSources, TextList
from .caller import use_asking_frame
from .explanation import Explanation
from .explanation_page import NO_SOURCES, group_explanations_by_reason
from .tape_answers import explain_flat_sources
from .translated_sentences import fill

MAX_FRAMES = 40  # The maximum number of callers to search for a tape.
MAX_SOURCES = 20  # The maximum number of sources to explain.
_PLAIN_VALUE_TEXT = (
    "A plain {kind} is not a tensor, so it does not record how it was computed. Pass the tensor itself, without "
    ".numpy(), float() or NumPy functions in between. If the value is data, convert it to a tensor first with x = "
    "tf.constant(data), and watch x."
)
_ENABLE_WARNINGS_TEXT = (
    "To see why, call minitape.explain.warn() before the step. Each gradient that is None then produces a warning with "
    "the reason."
)
_TAPE_GONE_TEXT = (
    "If this None is a gradient, call minitape.explain.warn() before the gradient is computed. Each gradient that is "
    "None then produces a warning with the reason."
)


class NoneCall(NamedTuple):
    """A call to ``gradient`` that returned None for some sources.

    Attributes:
        tape: The tape whose ``gradient`` was called.
        sources: The sources without a gradient.
        frame: The frame whose variables include the tape.
    """

    tape: GradientTape
    sources: TargetsOrSources
    frame: FrameType


def merge_explanations_and_count_by_reason(explanations: list[Explanation]) -> list[tuple[Explanation, str]]:
    """Merge explanations that have the same reason for different variables.

    Args:
        explanations: The explanations.

    Returns:
        For each reason, one explanation and a sentence that counts the other affected variables. The sentence is "" if
        no other variable is affected.
    """
    return [
        (group[0], fill(" The same reason applies to {n} more.", n=len(group) - 1) if group[1:] else "")
        for group in group_explanations_by_reason(explanations)
    ]


def add_notes_why_gradients_are_none(error: Exception, variables: Iterable[TargetOrSource] | None = None) -> Exception:
    """Add notes to an error that say why some gradients are None. The error's message does not change.

    The reasons come from a tape whose ``gradient`` returned None, in the nearest calling frame that has such a tape.

    Args:
        error: The error that is about to be raised.
        variables: The variables without a gradient, or None if they are not known. If there are no variables, the note
            explains why a model may have none.

    Returns:
        The same error.
    """
    with suppress(Exception):  # A failure here must not hide the original error.
        wanted = None if variables is None else [unwrap_keras_variable(variable) for variable in variables]
        if wanted == []:
            error.add_note(fill(NO_SOURCES))
            return error
        none_call = _find_call_that_gave_none(_list_frame_and_callers(sys._getframe(1)), wanted)
        reasons = _list_reasons_of_none_call(none_call)
        for reason in reasons or ([] if wanted is None else [fill(_ENABLE_WARNINGS_TEXT)]):
            error.add_note(reason)
    return error


def format_reasons_of_none_or_how_to_ask(variables: Iterable[TargetOrSource]) -> str:
    """Return the reasons why the gradients of some variables are None, for use in a warning.

    Args:
        variables: The variables whose gradients are None.

    Returns:
        One reason per line, or, if no reason is known, a sentence that says how to request an explanation.
    """
    try:
        frames = _list_frame_and_callers(sys._getframe(1))
        wanted = [unwrap_keras_variable(variable) for variable in variables]
        reasons = _list_reasons_of_none_call(_find_call_that_gave_none(frames, wanted))
        return "\n".join(reasons or [fill(_ENABLE_WARNINGS_TEXT)])
    except Exception:
        return fill(_ENABLE_WARNINGS_TEXT)


def add_unregistered_op_note(
    error: Exception, tape: GradientTape, targets: TargetsOrSources, sources: TargetsOrSources
) -> Exception:
    """Add a note to an error about an operation without a registered gradient. The note names the operation's line.

    Args:
        error: The error, which gets a note only if it is a LookupError.
        tape: The tape whose ``gradient`` raised the error.
        targets: The targets of that call.
        sources: The sources of that call.

    Returns:
        The same error.
    """
    if type(error) is LookupError:
        with suppress(Exception):
            answers = [
                candidate
                for candidate in explain_flat_sources(tape, targets, sources[:MAX_SOURCES])
                if candidate.cause == "no_gradient_registered"
            ]
            for answer, suffix in merge_explanations_and_count_by_reason(answers):
                error.add_note(fill("The gradient is missing: {answer}", answer=f"{answer}{suffix}"))
    return error


def add_notes_why_none_from_frames(error: BaseException, frames: list[FrameType]) -> None:
    """Add the reasons for a None gradient to an error that Python raised because of the None.

    If the tape no longer exists, the note explains how to request the reason. If no gradient was None, nothing is
    added.

    Args:
        error: The error.
        frames: The frames that the error passed through, innermost first.
    """
    none_call = _find_call_that_gave_none(frames, None)
    if none_call is not None:
        with use_asking_frame(none_call.frame):
            for reason in _list_reasons_of_none_call(none_call):
                error.add_note(reason)
    elif state.memory.last_none_tape is not type(None):
        error.add_note(fill(_TAPE_GONE_TEXT))


def add_non_tensor_note(error: Exception, value: object) -> Exception:
    """Add a note to an error about a target or source that is neither a tensor nor a variable.

    Args:
        error: The error.
        value: The target or source.

    Returns:
        The same error.
    """
    from .fallback_answer import explain_non_tensor_source

    with suppress(Exception):
        if isinstance(value, (bool, int, float, complex, np.generic, np.ndarray)):
            error.add_note(fill(_PLAIN_VALUE_TEXT, kind=type(value).__name__))
        else:
            answer = explain_non_tensor_source(value, None)
            error.add_note(join_sentences(answer.message.replace(fill("the source"), f"{value!r:.50}"), answer.fix))
    return error


def _list_reasons_of_none_call(none_call: NoneCall | None) -> TextList:
    """Return sentences that say why the sources of a call have no gradient. If the call is None, the list is empty."""
    if none_call is None:
        return []
    last_call = none_call.tape.last_request
    if last_call is None:
        return []
    answers = explain_flat_sources(none_call.tape, last_call.targets, none_call.sources[:MAX_SOURCES])
    return [
        fill("A gradient is None: {answer}", answer=f"{answer}{suffix}")
        for answer, suffix in merge_explanations_and_count_by_reason(answers)
    ]


def _list_frame_and_callers(frame: FrameType) -> list[FrameType]:
    """Return a frame and its callers, innermost first."""
    return [outer_frame for outer_frame, _ in walk_stack(frame)][:MAX_FRAMES]


def _find_call_that_gave_none(frames: list[FrameType], wanted_sources: TargetsOrSources | None) -> NoneCall | None:
    """Find the nearest call to ``gradient`` that returned None for some sources.

    If `wanted_sources` is None, only the last call is considered, because the error is about a None that this call
    returned.
    """
    for frame in frames:
        for tape in list(frame.f_locals.values()):
            if not isinstance(tape, GradientTape) or not tape.last_request:
                continue
            if not wanted_sources and tape is not state.memory.last_none_tape():
                continue
            sources = [
                source
                for source, is_none in zip(tape.last_request.sources, tape.last_request.is_none, strict=True)
                if is_none
            ]
            if wanted_sources is not None:
                sources = [
                    source for source in sources if any(source is wanted_source for wanted_source in wanted_sources)
                ]
            if sources:
                return NoneCall(tape, sources, frame)
    return None
