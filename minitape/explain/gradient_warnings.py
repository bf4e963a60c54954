"""What ``explain`` says without being asked: in warnings, and in notes on errors that a gradient of None leads to."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from traceback import walk_stack
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..common.translation import join_sentences
from ..engine.backward.tape import GradientTape
from ..engine.backward.targets_and_sources import unwrap_keras_variable
from ..engine.record.thread_state import state
from .caller import use_asking_frame
from .explanation import Explanation
from .explanation_page import NO_SOURCES, group_equal_explanations
from .tape_answers import explain_flat_sources
from .translated_sentences import fill

if TYPE_CHECKING:
    from ..engine.types import TargetOrSource

MAX_FRAMES = 40  # calls through which a tape is looked for
MAX_SOURCES = 20  # sources that are explained
_PLAIN_VALUE_TEXT = (
    "A plain {kind} is no tensor: it does not know what it was computed from. Pass the tensor itself, without "
    ".numpy(), float() or NumPy functions in between; of data make a tensor first, x = tf.constant(data), and watch it."
)
_ENABLE_WARNINGS_TEXT = (
    "To see why, call minitape.explain.warn() before the step: each gradient that is None then gives its reason."
)
_TAPE_GONE_TEXT = (
    "If it is a gradient, call minitape.explain.warn() before it: each gradient that is None then gives its reason."
)


class NoneCall(NamedTuple):
    """A call of ``gradient`` that returned None: its tape, the sources without a gradient, the frame with the tape."""

    tape: GradientTape
    sources: list[TargetOrSource]
    frame: FrameType


def merge_repeated_answers(answers: list[Explanation]) -> list[tuple[Explanation, str]]:
    """Return one answer for all that say the same of different variables, with a sentence on how many there are."""
    return [
        (group[0], fill(" The same holds for {n} more.", n=len(group) - 1) if group[1:] else "")
        for group in group_equal_explanations(answers)
    ]


def add_none_reasons(error: Exception, variables: Iterable[TargetOrSource] | None = None) -> Exception:
    """Add a note to an error on why gradients (those of ``variables``) are None, and return it; its message stays.

    What is known is asked of the nearest tape among the callers' variables that gave None.
    """
    with suppress(Exception):  # the error itself is what counts
        wanted = None if variables is None else [unwrap_keras_variable(variable) for variable in variables]
        if wanted == []:
            error.add_note(fill(NO_SOURCES))
            return error
        reasons = _list_reasons_of_none_call(
            _find_call_that_gave_none(_list_frame_and_callers(sys._getframe(1)), wanted)
        )
        for reason in reasons or ([] if wanted is None else [fill(_ENABLE_WARNINGS_TEXT)]):
            error.add_note(reason)
    return error


def describe_none_reasons(variables: Iterable[TargetOrSource]) -> str:
    """For a warning that some gradients are None: the reasons, each on a line of its own, or how to ask for them."""
    try:
        return "\n".join(
            _list_reasons_of_none_call(
                _find_call_that_gave_none(
                    _list_frame_and_callers(sys._getframe(1)),
                    [unwrap_keras_variable(variable) for variable in variables],
                )
            )
            or [fill(_ENABLE_WARNINGS_TEXT)]
        )
    except Exception:
        return fill(_ENABLE_WARNINGS_TEXT)


def add_refusal_reason(
    error: Exception, tape: GradientTape, targets: list[TargetOrSource], sources: list[TargetOrSource]
) -> Exception:
    """Add a note of its line to the error of an operation without a gradient, and return that; another one as it is."""
    if type(error) is LookupError:
        with suppress(Exception):
            answers = [
                candidate
                for candidate in explain_flat_sources(tape, targets, sources[:MAX_SOURCES])
                if candidate.cause == "no_gradient_registered"
            ]
            for answer, suffix in merge_repeated_answers(answers):
                error.add_note(fill("There is no gradient: {answer}", answer=f"{answer}{suffix}"))
    return error


def add_none_reasons_from_frames(error: BaseException, frames: list[FrameType]) -> None:
    """Add the reason to an error of Python's own that a None led to, or, where its tape is gone, how to ask for it.

    ``frames`` are those that the error went through, the innermost first.
    """
    none_call = _find_call_that_gave_none(frames, None)
    if none_call is not None:
        with use_asking_frame(none_call.frame):
            for reason in _list_reasons_of_none_call(none_call):
                error.add_note(reason)
    elif state.memory.last_none_tape is not type(None):
        error.add_note(fill(_TAPE_GONE_TEXT))


def add_non_tensor_note(error: Exception, value: object) -> Exception:
    """Add a note to an error on a target or source that no tape can know, and return the error."""
    from .fallback_answer import explain_non_tensor_source

    with suppress(Exception):
        if isinstance(value, (bool, int, float, complex, np.generic, np.ndarray)):
            error.add_note(fill(_PLAIN_VALUE_TEXT, kind=type(value).__name__))
        else:
            answer = explain_non_tensor_source(value, None)
            error.add_note(join_sentences(answer.message.replace(fill("the source"), f"{value!r:.50}"), answer.fix))
    return error


def _list_reasons_of_none_call(none_call: NoneCall | None) -> list[str]:
    """List why the sources of a call have a gradient of None, in sentences; empty without a call."""
    if none_call is None:
        return []
    last_call = none_call.tape.last_request
    answers = (
        []
        if last_call is None
        else explain_flat_sources(none_call.tape, last_call.targets, none_call.sources[:MAX_SOURCES])
    )
    return [
        fill("A gradient is None: {answer}", answer=f"{answer}{suffix}")
        for answer, suffix in merge_repeated_answers(answers)
    ]


def _list_frame_and_callers(frame: FrameType) -> list[FrameType]:
    """List a frame and those that called it, the innermost first."""
    return [outer_frame for outer_frame, _ in walk_stack(frame)][:MAX_FRAMES]


def _find_call_that_gave_none(frames: list[FrameType], wanted_sources: list[TargetOrSource] | None) -> NoneCall | None:
    """Find the nearest call that returned None for some sources, or, where any are meant, the last one that did so:
    an error is about that None.
    """
    for frame in frames:
        for tape in list(frame.f_locals.values()):
            if (
                isinstance(tape, GradientTape)
                and tape.last_request
                and (wanted_sources or tape is state.memory.last_none_tape())
            ):
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
