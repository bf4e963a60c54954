"""Whose code asks: the frame whose names the answer uses."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

from ..engine.record.interrupt_safe import TemporaryAttributes
from ..engine.record.user_frames import find_user_frame
from ..recording.sites import map_cell_files_to_numbers
from .translated_sentences import fill


class _CurrentFrame:
    frame: FrameType | None = None  # one that has ended, whose error is being looked at


_current = _CurrentFrame()


def find_asking_frame() -> FrameType | None:
    """Find the innermost frame of the user's code, or the one that :func:`use_asking_frame` sets."""
    return _current.frame or find_user_frame(sys._getframe(1))


def list_asking_namespaces() -> list[dict]:
    """List the variables of the code that asks: those of its function, then of its file; none if no program does."""
    frame = find_asking_frame()
    return [] if frame is None else [frame.f_locals, frame.f_globals]


def collect_asking_variables() -> dict:
    """Collect the variables of the code that asks in one dictionary; those of its function hide those of its file."""
    return {name: value for namespace in reversed(list_asking_namespaces()) for name, value in namespace.items()}


def use_asking_frame(frame: FrameType) -> TemporaryAttributes:
    """Let a frame be the one that asks, within a block: that of an error which has left it already."""
    return TemporaryAttributes(_current, frame=frame)


def warn_at_user_line(text: str) -> None:
    """Issue a RuntimeWarning at the line of the user's code that runs now."""
    frame = find_user_frame(sys._getframe(1))
    if frame is None:
        warnings.warn(text, RuntimeWarning, stacklevel=3)
    else:
        warnings.warn_explicit(text, RuntimeWarning, frame.f_code.co_filename, frame.f_lineno)


def format_place(filename: str | None, line: int) -> str:
    """A place as a person says it: "cell [5], line 3" or "file.py, line 3"; "line 3" for the cell that runs now.

    >>> format_place("/home/me/train.py", 3)
    'train.py, line 3'
    """
    name = filename or ""
    cell_label = _find_cell_label(name)
    file = name.replace(chr(92), "/").rsplit("/", 1)[-1] if cell_label is None else cell_label
    return fill("{file}, line {line}", file=file, line=line) if file else fill("line {line}", line=line)


def format_bracketed_place(filename: str | None, line: int | None) -> str:
    """Format a place in brackets, with a space before them; empty for no place.

    >>> format_bracketed_place("/home/me/train.py", 3), format_bracketed_place(None, None)
    (' (train.py, line 3)', '')
    """
    return "" if line is None else fill(" ({place})", place=format_place(filename, line))


def _find_cell_label(filename: str) -> str | None:
    """The notebook cell behind a file name, empty for the one that runs now; None for a file."""
    cells = map_cell_files_to_numbers()
    if filename not in cells:
        return None
    frame: FrameType | None = sys._getframe()
    running = ""
    while frame is not None:  # the outermost frame that is a cell
        running = frame.f_code.co_filename if frame.f_code.co_filename in cells else running
        frame = frame.f_back
    return "" if filename == running else fill("cell [{number}]", number=cells[filename])
