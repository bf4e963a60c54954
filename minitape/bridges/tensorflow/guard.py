"""What the bridge writes down must neither be seen as the program's, nor end the program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Guard:
    """Writes for a recording. ``quiet`` is more than 0 while what runs is not the program's."""

    def __init__(self, recording: Any) -> None:
        self.recording, self.quiet = recording, 0

    def safely(self, write: Callable, *arguments: Any) -> Any:
        """Writes something down. A mistake in that ends the recording, with a warning, and never the program."""
        if self.recording.failure is not None or self.quiet:
            return None
        self.quiet += 1
        try:
            return write(*arguments)
        except Exception as error:
            self.recording.fail(error)
            return None
        finally:
            self.quiet -= 1

    @contextmanager
    def quietly(self, is_quiet: bool = True) -> Iterator[None]:
        """What runs in the block is not written down."""
        self.quiet += is_quiet
        try:
            yield
        finally:
            self.quiet -= is_quiet
