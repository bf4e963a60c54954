"""The block of ``tape.stop_recording()``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .interrupt_safe import InterruptSafeExit
from .thread_state import state

if TYPE_CHECKING:
    from ..backward.tape import GradientTape
    from ..types import ExitProperty


class Pause:
    """A tape does not record for the time of the block; the recording stays open."""

    def __init__(self, tape: GradientTape) -> None:
        self._tape = tape

    def __enter__(self) -> None:
        tape = self._tape
        if tape._record is None or tape._used:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        if not tape._recording:
            raise ValueError("Tape is not recording.")
        record = tape._record
        record.pause_count, tape._paused = record.pause_count + 1, True  # so that the recording stays open
        tape._leave()
        record.note_event("pause", tape)

    def _leave(self, *error: object) -> None:
        tape = self._tape
        if tape._paused:  # else the tape's own block was left
            record = tape._record
            assert record is not None
            if tape._used:  # by a gradient in the block: it begins anew
                tape._forget_rows()
            if tape not in state.tapes:
                state.tapes.append(tape)
            if not tape._recording:
                tape._start, tape._recording = record.next, True
            record.tape_set = object()
            record.pause_count, tape._paused = record.pause_count - 1, False
            record.note_event("resume", tape)
        self._exit_ref = None

    __exit__: ExitProperty = InterruptSafeExit(_leave, lambda pause: pause._tape._paused)
