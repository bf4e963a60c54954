"""Keep the bridge's own operations out of the recording, and keep its errors from reaching the program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .recording import TensorFlowRecording


@dataclass(eq=False)
class SafeWriter:
    """Runs the actions that write a recording.

    Attributes:
        recording: The recording to write.
        suspension_depth: Greater than 0 while the code that is running is not part of the program.
    """

    recording: TensorFlowRecording
    suspension_depth: int = 0

    def run_safely(self, action: Callable, *arguments: Any) -> Any:
        """Run an action that writes to the recording.

        An error in the action ends the recording with a warning, but does not stop the program.

        Args:
            action: The function to call.
            arguments: Its arguments.

        Returns:
            The action's result, or None after an error or while writing is suspended.
        """
        if self.recording.internal_error is not None or self.suspension_depth:
            return None
        self.suspension_depth += 1
        try:
            return action(*arguments)
        except Exception as error:
            self.recording.store_first_internal_error_and_warn(error)
            return None
        finally:
            self.suspension_depth -= 1

    @contextmanager
    def suspend_writing(self, is_suspended: bool = True) -> Iterator[None]:
        """Suspend recording in the block.

        Args:
            is_suspended: If False, the block is recorded as usual.
        """
        self.suspension_depth += is_suspended
        try:
            yield
        finally:
            self.suspension_depth -= is_suspended
