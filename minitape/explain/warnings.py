"""What ``explain`` says without being asked: in warnings, and in notes on errors that a gradient of None leads to."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from traceback import walk_stack
from types import FrameType
from typing import TYPE_CHECKING

import numpy as np

from ..common.texts import paragraph
from ..engine.back.endpoints import gradient_end
from ..engine.back.tape import GradientTape
from ..engine.recording.state import state
from .answer import explain_flat
from .caller import asked_by
from .page import EMPTY
from .page import grouped as by_reason
from .sentences import fill
from .words import Explanation

if TYPE_CHECKING:
    from ..engine.types import End

FRAMES = 40  # calls through which a tape is looked for
MOST = 20  # sources that are explained
_PLAIN = (
    "A plain {kind} is no tensor: it does not know what it was computed from. Pass the tensor itself, without "
    ".numpy(), float() or NumPy functions in between; of data make a tensor first, x = tf.constant(data), and watch it."
)
_ASK = "To see why, call minitape.explain.warn() before the step: each gradient that is None then gives its reason."
_GONE = "If it is a gradient, call minitape.explain.warn() before it: each gradient that is None then gives its reason."


def grouped(answers: list[Explanation]) -> list[tuple[Explanation, str]]:
    """The answers without those that say the same of other variables, each with a sentence on how many these are."""
    return [
        (same[0], fill(" The same holds for {n} more.", n=len(same) - 1) if same[1:] else "")
        for same in by_reason(answers)
    ]


def why_none(error: Exception, variables: Iterable[End] | None = None) -> Exception:
    """The error with a note on why gradients (those of ``variables``) are None; its message stays TensorFlow's.

    What is known is asked of the nearest tape among the callers' variables that gave None.
    """
    with suppress(Exception):  # the error itself is what counts
        wanted = None if variables is None else [gradient_end(v) for v in variables]
        if wanted == []:
            error.add_note(fill(EMPTY))
            return error
        lines = _reasons(_tape_with_none(_outwards(sys._getframe(1)), wanted))
        for line in lines or ([] if wanted is None else [fill(_ASK)]):
            error.add_note(line)
    return error


def why_some_none(variables: Iterable[End]) -> str:
    """For a warning that some gradients are None: the reasons, each on a line of its own, or how to ask for them."""
    try:
        return "\n".join(
            _reasons(_tape_with_none(_outwards(sys._getframe(1)), [gradient_end(v) for v in variables])) or [fill(_ASK)]
        )
    except Exception:
        return fill(_ASK)


def why_refused(error: Exception, tape: GradientTape, targets: list[End], sources: list[End]) -> Exception:
    """The error of an operation that has no gradient with a note of its line; any other error as it is."""
    if type(error) is LookupError:
        with suppress(Exception):
            answers = [a for a in explain_flat(tape, targets, sources[:MOST]) if a.cause == "no_gradient_registered"]
            for answer, more in grouped(answers):
                error.add_note(fill("There is no gradient: {answer}", answer=f"{answer}{more}"))
    return error


def why_none_at(error: BaseException, frames: list[FrameType]) -> None:
    """Adds the reason to an error of Python's own that a None led to, or, where its tape is gone, how to ask for it;
    ``frames`` are those it went through, innermost first.
    """
    asked = _tape_with_none(frames, None)
    if asked is not None:
        with asked_by(asked[2]):
            for line in _reasons(asked):
                error.add_note(line)
    elif state.memory.gave_none is not type(None):
        error.add_note(fill(_GONE))


def why_no_tensor(error: Exception, value: object) -> Exception:
    """The error with a note on a target or source that no tape can know."""
    from .describe import no_tensor

    with suppress(Exception):
        if isinstance(value, (bool, int, float, complex, np.generic, np.ndarray)):
            error.add_note(fill(_PLAIN, kind=type(value).__name__))
        else:
            answer = no_tensor(value, None)
            error.add_note(paragraph(answer.message.replace(fill("the source"), f"{value!r:.50}"), answer.fix))
    return error


def _reasons(asked: tuple[GradientTape, list[End], FrameType] | None) -> list[str]:
    """The reasons why these sources of a tape have a gradient of None, in sentences."""
    if asked is None:
        return []
    tape, sources, _ = asked
    last = tape.last
    answers = [] if last is None else explain_flat(tape, last.targets, sources[:MOST])
    return [fill("A gradient is None: {answer}", answer=f"{answer}{more}") for answer, more in grouped(answers)]


def _outwards(frame: FrameType) -> list[FrameType]:
    """A frame and those around it."""
    return [around for around, _ in walk_stack(frame)][:FRAMES]


def _tape_with_none(
    frames: list[FrameType], wanted: list[End] | None
) -> tuple[GradientTape, list[End], FrameType] | None:
    """Returns (tape, sources, frame): the nearest tape that returned None for ``wanted`` sources, or, where any are
    meant, the one that did so last: an error is about that None.
    """
    for frame in frames:
        for tape in list(frame.f_locals.values()):
            if isinstance(tape, GradientTape) and tape.last and (wanted or tape is state.memory.gave_none()):
                sources = [s for s, none in zip(tape.last.sources, tape.last.nones, strict=True) if none]
                if wanted is not None:
                    sources = [s for s in sources if any(s is one for one in wanted)]
                if sources:
                    return tape, sources, frame
    return None
