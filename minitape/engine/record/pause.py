"""Define the ``with`` block of ``tape.stop_recording()``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .interrupt_safe import InterruptSafeExit
from .thread_state import state

if TYPE_CHECKING:
    from ..backward.recording_tape import RecordingTape
    from ..types import ExitProperty


class Pause:
    """A block in which one tape does not record. The recording remains open, because other tapes may share it."""

    def __init__(self, tape: RecordingTape) -> None:
        """Prepare a pause for a tape."""
        self._tape = tape

    def __enter__(self) -> None:
        """Stop recording.

        Raises:
            RuntimeError: If the tape has not been entered, or is used up.
            ValueError: If the tape is not recording.
        """
        tape = self._tape
        if tape._record is None or tape._used:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        if not tape._recording:
            raise ValueError("Tape is not recording.")
        record = tape._record
        # As long as `pause_count` is not 0, the recording stays open.
        record.pause_count, tape._paused = record.pause_count + 1, True
        tape._leave()
        record.note_event("pause", tape)

    def _leave(self, *error: object) -> None:
        tape = self._tape
        if tape._paused:  # If this is False, the tape's own block ended during the pause.
            record = tape._record
            assert record is not None
            if tape._used:  # If a gradient during the pause used the tape up, the tape starts again.
                tape._forget_rows()
            if tape not in state.tapes:
                state.tapes.append(tape)  # type: ignore[arg-type]  # Every RecordingTape is a GradientTape.
            if not tape._recording:
                tape._start, tape._recording = record.next, True
            record.tape_set = object()
            record.pause_count, tape._paused = record.pause_count - 1, False
            record.note_event("resume", tape)
        self._exit_ref = None

    __exit__: ExitProperty = InterruptSafeExit(_leave, lambda pause: pause._tape._paused)
