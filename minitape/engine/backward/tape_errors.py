"""The errors of a tape that is used wrongly, in TensorFlow's words, with notes that say where and how to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..record.log_warnings import log_warning_up_to_limit
from ..record.provenance import add_first_use_note

if TYPE_CHECKING:
    from .tape import GradientTape

_NEVER_ENTERED = (
    "The tape recorded nothing, as it was never entered: compute inside of its block, with tf.GradientTape() as "
    "tape: ..."
)


def build_reentry_error(tape: GradientTape) -> Exception:
    """Build the error for a tape that is entered while it records."""
    return add_first_use_note(
        ValueError("Tape is still recording, This can happen if you try to re-enter an already-active tape."),
        "The tape was entered",
        tape.notes,
        "enter",
    )


def build_watch_error(tape: GradientTape) -> Exception:
    """Build the error for ``watch`` of a tape that was never entered, or is used up."""
    error = AttributeError("'NoneType' object has no attribute '_tape'")
    error.add_note(
        _NEVER_ENTERED
        if tape._record is None
        else "The tape was used up by its gradient: watch inside of its with block."
    )
    return error


def build_used_up_error(tape: GradientTape) -> Exception:
    """Build the error for a second gradient, also of a tape that never recorded, as in TensorFlow."""
    error = RuntimeError(
        "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
    )
    if tape._record is None:
        error.add_note(_NEVER_ENTERED)
    return add_first_use_note(
        error,
        "The tape was used up",
        tape.notes,
        "gradient",
        " For several, use GradientTape(persistent=True).",
    )


def warn_gradient_inside_block() -> None:
    """Warn of a gradient that a persistent tape records itself."""
    log_warning_up_to_limit(
        "gradient_inside_context",
        "Calling GradientTape.gradient on a persistent tape inside its context is significantly less efficient than "
        "calling it outside the context (it causes the gradient ops to be recorded on the tape, leading to increased "
        "CPU and memory usage). Only call GradientTape.gradient inside the context if you actually want to trace the "
        "gradient in order to compute higher order derivatives.",
    )
