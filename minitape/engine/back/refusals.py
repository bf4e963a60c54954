"""The errors of a tape that is used wrongly, in TensorFlow's words, with notes that say where and how to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..recording.evidence import with_first_use
from ..recording.logs import log_first_n

if TYPE_CHECKING:
    from .tape import GradientTape

_NEVER = (
    "The tape recorded nothing, as it was never entered: compute inside of its block, with tf.GradientTape() as "
    "tape: ..."
)


def entered_twice(tape: GradientTape) -> Exception:
    """The error for a tape that is entered while it records."""
    return with_first_use(
        ValueError("Tape is still recording, This can happen if you try to re-enter an already-active tape."),
        "The tape was entered",
        tape.notes,
        "enter",
    )


def watches_nothing(tape: GradientTape) -> Exception:
    """The error for ``watch`` of a tape that was never entered, or is used up."""
    error = AttributeError("'NoneType' object has no attribute '_tape'")
    error.add_note(
        _NEVER if tape._record is None else "The tape was used up by its gradient: watch inside of its with block."
    )
    return error


def used_up(tape: GradientTape) -> Exception:
    """The error for a second gradient, also of a tape that never recorded, as in TensorFlow."""
    error = RuntimeError(
        "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
    )
    if tape._record is None:
        error.add_note(_NEVER)
    return with_first_use(
        error,
        "The tape was used up",
        tape.notes,
        "gradient",
        " For several, use GradientTape(persistent=True).",
    )


def warn_of_gradient_inside() -> None:
    """The warning for a gradient that a persistent tape records itself."""
    log_first_n(
        "gradient_inside_context",
        "Calling GradientTape.gradient on a persistent tape inside its context is significantly less efficient than "
        "calling it outside the context (it causes the gradient ops to be recorded on the tape, leading to increased "
        "CPU and memory usage). Only call GradientTape.gradient inside the context if you actually want to trace the "
        "gradient in order to compute higher order derivatives.",
    )
