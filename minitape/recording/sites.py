"""Where in the user's program something ran, (file, line), and the text that stands there."""

from __future__ import annotations

import dis
import inspect
import linecache
import sys
import warnings
from bisect import bisect_right
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import TYPE_CHECKING

from ..engine.recording.block import block
from ..engine.recording.frames import own_file, user_frame

if TYPE_CHECKING:
    from ..engine.recording.record import Record
    from ..engine.types import Function

Site = tuple[str | None, int | None]
NOWHERE: Site = (None, None)


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
    frame = user_frame(sys._getframe(depth - 1))
    return NOWHERE if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def last_return(function: Function) -> Site:
    """(file, line) of a function's last return; nowhere for a function of a library.

    >>> last_return(last_return)
    (None, None)
    """
    code = getattr(inspect.unwrap(function), "__code__", None)
    ends = (
        []
        if code is None or own_file(code.co_filename)
        else [at for at in dis.get_instructions(code) if at.opname.startswith("RETURN")]
    )
    line = ends[-1].positions.lineno if ends and ends[-1].positions is not None else None
    return NOWHERE if code is None or line is None else (code.co_filename, line)


def cells() -> dict[str, int]:
    """The file names of the notebook's cells, each with the number of its last execution; empty outside a notebook."""
    shell_module = sys.modules.get("IPython.core.interactiveshell")
    if shell_module is None:
        return {}
    try:
        return dict(shell_module.InteractiveShell._instance.compile._filename_map)
    except AttributeError:
        return {}


def lines_of(filename: str) -> list[str]:
    """The text of a file, a notebook cell, or a statement typed at Python's prompt; empty when it is not known."""
    lines = linecache.getlines(filename)
    if not lines:  # newer versions of Python keep what was typed by its code, not by its name
        typed = getattr(linecache, "_interactive_cache", {}).values()
        lines = next((entry[2] for entry in typed if entry[-1] == filename), [])
    return lines


@block
def without_syntax_warnings() -> Iterator[None]:
    """While the user's text is read again: what Python has to say against it (``"\\d"``), it said the first time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def text_of(site: Site) -> str:
    """The line of a place."""
    lines = lines_of(site[0] or "")
    return lines[site[1] - 1] if site[1] and site[1] <= len(lines) else ""


def line_of(record: Record, row: int) -> str:
    """The line of the user's statement that wrote a row, in words."""
    site = record.site_of(row)
    return "an unknown line" if site is None else "{}, line {}".format(*place_of(*site))


def place_of(code: CodeType, lasti: int) -> tuple[str, int]:
    """(file name, line) of a bytecode offset."""
    known = _lines.get(id(code))
    if known is None or known[0] is not code:
        if len(_lines) >= _CODES:
            _lines.clear()
        table = [(start, number) for start, _, number in code.co_lines() if number is not None]
        known = _lines[id(code)] = code, [start for start, _ in table], [number for _, number in table]
    _, starts, numbers = known
    at = bisect_right(starts, lasti) - 1
    return code.co_filename, numbers[at] if at >= 0 else code.co_firstlineno


_CODES = 64  # code objects whose lines are kept
_lines: dict[int, tuple[CodeType, list[int], list[int]]] = {}  # by identity: the hash of a long one takes its time
