"""What the bridge writes down must neither be seen as the program's, nor end the program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .recording import TensorFlowRecording


class SafeWriter:
    """Writes for a recording. ``suspension_depth`` is more than 0 while what runs is not the program's."""

    def __init__(self, recording: TensorFlowRecording) -> None:
        self.recording, self.suspension_depth = recording, 0

    def run_safely(self, action: Callable, *arguments: Any) -> Any:
        """Run an action that writes something down.

        A mistake in it ends the recording, with a warning, and never the program. Returns None then, and while
        writing is suspended.
        """
        if self.recording.internal_error is not None or self.suspension_depth:
            return None
        self.suspension_depth += 1
        try:
            return action(*arguments)
        except Exception as error:
            self.recording.end_with_error(error)
            return None
        finally:
            self.suspension_depth -= 1

    @contextmanager
    def suspend_writing(self, is_suspended: bool = True) -> Iterator[None]:
        """Write nothing of what runs in the block down."""
        self.suspension_depth += is_suspended
        try:
            yield
        finally:
            self.suspension_depth -= is_suspended
