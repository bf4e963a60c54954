"""What ``explain`` says without being asked: in warnings, and in notes on errors that a gradient of None leads to."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING

import numpy as np

from ..engine.backward import leaf_of
from ..engine.tape import GradientTape
from .answer import explain_flat
from .words import Explanation

if TYPE_CHECKING:
    from ..engine.typed import End

FRAMES = 40  # calls through which a tape is looked for
MOST = 20  # sources that are explained
_PLAIN = (
    "A plain {kind} is no tensor: it does not know what it was computed from. Pass the tensor itself, without .numpy(), "
    "float() or NumPy functions on the way; of data make a tensor first, x = tf.constant(data), and watch it."
)
_ASK = "To see why, call minitape.explain.warn() before the step: each gradient that is None then says so."


def grouped(answers: list[Explanation]) -> list[tuple[Explanation, str]]:
    """The answers without those that blame the same line for the same cause, each with a sentence on how many these are."""
    found: dict[Hashable, list[Explanation]] = {}
    for answer in answers:
        found.setdefault((answer.cause, answer.filename, answer.line, answer.fix if answer.line is None else ""), []).append(answer)
    return [(same[0], f" The same holds for {len(same) - 1} more." if same[1:] else "") for same in found.values()]


def why_none(error: Exception, variables: Iterable[End] | None = None) -> Exception:
    """The error with a note on why gradients (those of ``variables``) are None; its message stays TensorFlow's.

    What is known is asked of the nearest tape among the callers' variables that gave None.
    """
    try:
        wanted = None if variables is None else [leaf_of(v) for v in variables]
        asked = _asked(sys._getframe(1), wanted)
        if asked is not None and asked[0].last is not None:
            tape, sources = asked
            for answer, more in grouped(explain_flat(tape, asked[0].last[0], sources[:MOST])):
                error.add_note(f"A gradient is None: {answer}{more}")
        elif wanted is not None:
            error.add_note(_ASK)
    except Exception:  # the error itself is what counts
        pass
    return error


def why_no_tensor(error: Exception, value: object) -> Exception:
    """The error with a note on a target or source that no tape can know."""
    from .connection import Finding
    from .words import describe

    with suppress(Exception):
        if isinstance(value, (bool, int, float, complex, np.generic, np.ndarray)):
            error.add_note(_PLAIN.format(kind=type(value).__name__))
        else:
            answer = describe(Finding("wrong_object", what=type(value).__name__), value, None, None)
            error.add_note(f"{answer.message} {answer.fix}")
    return error


def _asked(frame: FrameType | None, wanted: list[End] | None) -> tuple[GradientTape, list[End]] | None:
    """The nearest tape that gave None, and for which of the sources."""
    for _ in range(FRAMES):
        if frame is None:
            break
        for value in list(frame.f_locals.values()):
            if isinstance(value, GradientTape) and value.last is not None and value.nones is not None:
                sources = [s for s, none in zip(value.last[1], value.nones, strict=True) if none]
                if wanted is not None:
                    sources = [s for s in sources if any(s is one for one in wanted)]
                if sources:
                    return value, sources
        frame = frame.f_back
    return None
