"""Build the errors for misuse of a tape.

The messages are TensorFlow's. Additional notes give the line of the first use and say what to do instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..hooks import hooks
from ..record.log_warnings import log_warning_up_to_limit
from ..record.provenance import add_note_about_tape_event

if TYPE_CHECKING:
    from ..types import Object
    from .recording_tape import RecordingTape


def _explain_never_entered() -> str:
    """Return the note for a tape whose block never ran."""
    from ...common.translation import say

    return say(
        "The tape was never entered, so it recorded nothing. Compute inside its block: with tf.GradientTape() as "
        "tape: ...",
        "explain",
    )


def build_reentry_error(tape: RecordingTape) -> Exception:
    """Build the error for entering a tape that is already recording.

    Args:
        tape: The tape. Its history contains the line on which it was entered.

    Returns:
        The ValueError to raise.
    """
    return add_note_about_tape_event(
        ValueError("Tape is still recording, This can happen if you try to re-enter an already-active tape."),
        "The tape was first entered in {place}.",
        tape.history,
        "enter",
    )


def build_watch_error(tape: RecordingTape) -> Exception:
    """Build the error for calling ``watch`` before a tape's first block, or after the tape is used up.

    Args:
        tape: The tape, which was never entered or is used up.

    Returns:
        The AttributeError to raise.
    """
    from ...common.translation import say

    error = AttributeError("'NoneType' object has no attribute '_tape'")
    error.add_note(
        _explain_never_entered()
        if tape.record is None
        else say("The tape has computed its gradient and is used up. Call watch inside its block.", "explain")
    )
    return error


def build_used_up_error(tape: RecordingTape) -> Exception:
    """Build the error for a second gradient call.

    As in TensorFlow, the first gradient call of a tape that was never entered raises the same error.

    Args:
        tape: The tape. Its history contains the line on which it computed its only gradient.

    Returns:
        The RuntimeError to raise.
    """
    error = RuntimeError(
        "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
    )
    if tape.record is None:
        error.add_note(_explain_never_entered())
    return add_note_about_tape_event(
        error,
        "The tape computed its gradient in {place}. For several gradients, use GradientTape(persistent=True).",
        tape.history,
        "gradient",
    )


def build_not_a_tensor_error(value: Object) -> Exception:
    """Build the error for calling ``watch`` with an object that cannot be watched.

    Args:
        value: An object that is neither a tensor nor a variable.

    Returns:
        The ValueError to raise.
    """
    error = ValueError(
        f"Passed in object {value} of type {type(value).__name__!r}, not tf.Tensor or tf.Variable or ExtensionType."
    )
    return hooks.add_non_tensor_note(error, value)


def warn_gradient_inside_block() -> None:
    """Log TensorFlow's warning about a persistent tape that computes a gradient while it is recording."""
    log_warning_up_to_limit(
        "gradient_inside_context",
        "Calling GradientTape.gradient on a persistent tape inside its context is significantly less efficient than "
        "calling it outside the context (it causes the gradient ops to be recorded on the tape, leading to increased "
        "CPU and memory usage). Only call GradientTape.gradient inside the context if you actually want to trace the "
        "gradient in order to compute higher order derivatives.",
    )
