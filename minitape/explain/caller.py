"""Whose code asks: the frame whose names the answer uses."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

from ..engine.recording.block import TemporaryAttributes
from ..engine.recording.frames import user_frame
from ..recording.sites import cells
from .sentences import fill


class _Asking:
    frame: FrameType | None = None  # one that has ended, whose error is being looked at


_asking = _Asking()


def asking_frame() -> FrameType | None:
    """The innermost frame of the user's code, or the one that :func:`asked_by` names."""
    return _asking.frame or user_frame(sys._getframe(1))


def asking_spaces() -> list[dict]:
    """The variables of that code: those of its function, then those of its file; none where no program asks."""
    frame = asking_frame()
    return [] if frame is None else [frame.f_locals, frame.f_globals]


def asking_names() -> dict:
    """All names of that code, and what they hold."""
    return {name: value for space in reversed(asking_spaces()) for name, value in space.items()}


def asked_by(frame: FrameType) -> TemporaryAttributes:
    """While an error is explained that has left this frame already: its names are those that the user knows."""
    return TemporaryAttributes(_asking, frame=frame)


def warn_user(text: str) -> None:
    """A RuntimeWarning at the line of the user's code that runs now."""
    frame = user_frame(sys._getframe(1))
    if frame is None:
        warnings.warn(text, RuntimeWarning, stacklevel=3)
    else:
        warnings.warn_explicit(text, RuntimeWarning, frame.f_code.co_filename, frame.f_lineno)


def where(filename: str | None, line: int) -> str:
    """A place as a person says it: "cell [5], line 3" or "file.py, line 3"; "line 3" for the cell that runs now.

    >>> where("/home/me/train.py", 3)
    'train.py, line 3'
    """
    name = filename or ""
    cell = _cell(name)
    file = name.replace(chr(92), "/").rsplit("/", 1)[-1] if cell is None else cell
    return fill("{file}, line {line}", file=file, line=line) if file else fill("line {line}", line=line)


def in_brackets(filename: str | None, line: int | None) -> str:
    """The same behind what is there; empty for no place.

    >>> in_brackets("/home/me/train.py", 3), in_brackets(None, None)
    (' (train.py, line 3)', '')
    """
    return "" if line is None else fill(" ({place})", place=where(filename, line))


def _cell(filename: str) -> str | None:
    """The notebook cell behind a file name, empty for the one that runs now; None for a file."""
    known = cells()
    if filename not in known:
        return None
    frame: FrameType | None = sys._getframe()
    running = ""
    while frame is not None:  # the outermost frame that is a cell
        running = frame.f_code.co_filename if frame.f_code.co_filename in known else running
        frame = frame.f_back
    return "" if filename == running else fill("cell [{number}]", number=known[filename])
