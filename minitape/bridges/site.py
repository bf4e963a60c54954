"""On which line of the user's a program stands."""

from __future__ import annotations

import sys

from ..engine.frames import own_file

Site = tuple[str | None, int | None]
NOWHERE: Site = (None, None)


def here(depth: int = 2) -> Site:
    """(file, line) of the user's innermost statement.

    >>> here()[0] is not None
    True
    """
    frame = sys._getframe(depth - 1)
    while frame is not None and own_file(frame.f_code.co_filename):
        frame = frame.f_back
    return NOWHERE if frame is None else (frame.f_code.co_filename, frame.f_lineno)
