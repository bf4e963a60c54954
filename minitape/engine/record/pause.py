"""Define the ``with`` block of ``tape.stop_recording()``."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from .interrupt_safe import InterruptSafeExit

if TYPE_CHECKING:
    from ..backward.recording_tape import RecordingTape
    from ..types import ExitProperty


class Pause:
    """A block in which one tape does not record. The recording remains open, because other tapes may share it.

    Attributes:
        tape: The tape.
    """

    def __init__(self, tape: RecordingTape):
        """Prepare a pause for a tape.

        Args:
            tape: The tape, which stops recording when the block is entered.
        """
        self.tape = tape

    def __enter__(self) -> None:
        """Stop recording.

        Raises:
            RuntimeError: If the tape has not been entered, or is used up.
            ValueError: If the tape is not recording.
        """
        self.tape._begin_pause()

    def _leave(self, *exit_arguments: object) -> None:
        self.tape._end_pause()
        self._exit_ref = None

    __exit__: ExitProperty = InterruptSafeExit(_leave, attrgetter("tape._is_paused"))
