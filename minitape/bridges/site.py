"""On which line of the user's a program stands."""

from __future__ import annotations

import sys
from types import FrameType

from ..engine.recording.frames import own_file
from ..recording.sites import NOWHERE as NOWHERE
from ..recording.sites import Site as Site
from ..recording.sites import last_return as last_return


def way_here() -> list[Site]:
    """(file, line) of each of the user's statements that run, the outermost first.

    >>> way_here()[-1] == here()
    True
    """
    sites: list[Site] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not own_file(frame.f_code.co_filename):
            sites.append((frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return sites[::-1]


def here(depth: int = 2) -> Site:
    """(file, line) of the user's innermost statement.

    >>> here()[0] is not None
    True
    """
    frame: FrameType | None = sys._getframe(depth - 1)
    while frame is not None and own_file(frame.f_code.co_filename):
        frame = frame.f_back
    return NOWHERE if frame is None else (frame.f_code.co_filename, frame.f_lineno)
