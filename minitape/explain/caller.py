"""Find the user's frame from which an explanation was requested, because answers use its variable names."""

import sys
from types import FrameType
from warnings import warn, warn_explicit

from ..engine.record.interrupt_safe import TemporaryAttributes
from ..engine.record.user_frames import find_user_frame
from ..engine.types import OptionalFrame, OptionalText
from ..recording.sites import Site, map_cell_files_to_execution_counts
from ..recording.variable_names import list_collected_namespaces
from .translated_sentences import fill


class _AskingFrame:
    """The frame that `use_asking_frame` sets.

    Attributes:
        frame: A frame that has already ended with an error, or None if the question comes from a frame that is still
            running.
    """

    frame: OptionalFrame = None


_current = _AskingFrame()


def find_asking_or_innermost_user_frame() -> OptionalFrame:
    """Return the frame set by :func:`use_asking_frame`, or else the innermost frame of the user's code."""
    return _current.frame or find_user_frame(sys._getframe(1))


def list_namespaces_of_asking_frame() -> list[dict]:
    """Return the local and global variables of the asking frame, or an empty list if no user code is running."""
    collected_namespaces = list_collected_namespaces()
    if collected_namespaces is not None:
        return collected_namespaces
    frame = find_asking_or_innermost_user_frame()
    return [] if frame is None else [frame.f_locals, frame.f_globals]


def collect_asking_variables() -> dict:
    """Return the variables of the asking frame, keyed by name. Local variables hide global ones."""
    return {
        name: value for namespace in reversed(list_namespaces_of_asking_frame()) for name, value in namespace.items()
    }


def use_asking_frame(frame: FrameType) -> TemporaryAttributes:
    """Return a context manager that makes a given frame the asking frame, whose variable names explanations use.

    Args:
        frame: The frame, which may already have ended with an error.
    """
    return TemporaryAttributes(_current, frame=frame)


def warn_at_user_line(text: str) -> None:
    """Issue a RuntimeWarning at the line of the user's code that is running.

    Args:
        text: The text of the warning.
    """
    frame = find_user_frame(sys._getframe(1))
    if frame is None:
        warn(text, RuntimeWarning, stacklevel=3)
    else:
        warn_explicit(text, RuntimeWarning, frame.f_code.co_filename, frame.f_lineno)


def format_place(filename: OptionalText, line: int) -> str:
    """Format a code location for a reader: "file.py, line 3", "cell [5], line 3", or "line 3" in the running cell.

    Args:
        filename: The name of the file or notebook cell. If it is empty, only the line number is shown.
        line: The line number.

    >>> format_place("/home/me/train.py", 3)
    'train.py, line 3'
    """
    name = filename or ""
    cell_label = _find_cell_label(name)
    file = name.replace(chr(92), "/").rsplit("/", 1)[-1] if cell_label is None else cell_label
    return fill("{file}, line {line}", file=file, line=line) if file else fill("line {line}", line=line)


def format_place_suffix(site: Site) -> str:
    """Format a code location in parentheses with a leading space, or return "" if its line is unknown.

    Args:
        site: The file or notebook cell, and the line number.

    >>> format_place_suffix(("/home/me/train.py", 3)), format_place_suffix((None, None))
    (' (train.py, line 3)', '')
    """
    filename, line = site
    return "" if line is None else fill(" ({place})", place=format_place(filename, line))


def _find_cell_label(filename: str) -> OptionalText:
    """Return the label of a notebook cell. The label of the running cell is "", and the label of a file is None."""
    cells = map_cell_files_to_execution_counts()
    if filename not in cells:
        return None
    frame: OptionalFrame = sys._getframe()
    running = ""
    while frame is not None:  # Keep searching, because the outermost frame of a cell is the one with the label.
        if frame.f_code.co_filename in cells:
            running = frame.f_code.co_filename
        frame = frame.f_back
    return "" if filename == running else fill("cell [{number}]", number=cells[filename])
