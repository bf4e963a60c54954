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

from ..engine.record.interrupt_safe import make_interrupt_safe
from ..engine.record.user_frames import find_user_frame, is_minitape_or_library_file

if TYPE_CHECKING:
    from ..engine.record.record import Record
    from ..engine.types import Function

Site = tuple[str | None, int | None]
NOWHERE: Site = (None, None)


def find_user_call_stack() -> list[Site]:
    """(file, line) of each of the user's statements that run, the outermost first.

    >>> find_user_call_stack()[-1] == find_user_site()
    True
    """
    sites: list[Site] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not is_minitape_or_library_file(frame.f_code.co_filename):
            sites.append((frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return sites[::-1]


def find_user_site(depth: int = 2) -> Site:
    """(file, line) of the user's innermost statement.

    >>> find_user_site()[0] is not None
    True
    """
    frame = find_user_frame(sys._getframe(depth - 1))
    return NOWHERE if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def find_last_return_site(function: Function) -> Site:
    """(file, line) of a function's last return; nowhere for a function of a library.

    >>> find_last_return_site(find_last_return_site)
    (None, None)
    """
    code = getattr(inspect.unwrap(function), "__code__", None)
    returns = (
        []
        if code is None or is_minitape_or_library_file(code.co_filename)
        else [instruction for instruction in dis.get_instructions(code) if instruction.opname.startswith("RETURN")]
    )
    line = returns[-1].positions.lineno if returns and returns[-1].positions is not None else None
    return NOWHERE if code is None or line is None else (code.co_filename, line)


def map_cell_files_to_numbers() -> dict[str, int]:
    """The file names of the notebook's cells, each with the number of its last execution; empty outside a notebook."""
    shell_module = sys.modules.get("IPython.core.interactiveshell")
    if shell_module is None:
        return {}
    try:
        return dict(shell_module.InteractiveShell._instance.compile._filename_map)
    except AttributeError:
        return {}


def read_source_lines(filename: str) -> list[str]:
    """The text of a file, a notebook cell, or a statement typed at Python's prompt; empty when it is not known."""
    lines = linecache.getlines(filename)
    if not lines:  # newer versions of Python keep what was typed by its code, not by its name
        typed_entries = getattr(linecache, "_interactive_cache", {}).values()
        lines = next((entry[2] for entry in typed_entries if entry[-1] == filename), [])
    return lines


@make_interrupt_safe
def suppress_syntax_warnings() -> Iterator[None]:
    """Suppress, within a block, what Python warns of in the user's text (``"\\d"``): it did so the first time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def read_line_at_site(site: Site) -> str:
    """Read the text of the line at a site; empty when it is not known."""
    lines = read_source_lines(site[0] or "")
    return lines[site[1] - 1] if site[1] and site[1] <= len(lines) else ""


def describe_line_of_row(record: Record, row: int) -> str:
    """Describe the line of the user's statement that wrote a row: "file.py, line 3"."""
    site = record.find_site(row)
    return "an unknown line" if site is None else "{}, line {}".format(*find_site_of_bytecode(*site))


def find_site_of_bytecode(code: CodeType, offset: int) -> tuple[str, int]:
    """Find (file name, line) of a bytecode offset."""
    cached = _line_tables.get(id(code))
    if cached is None or cached[0] is not code:
        if len(_line_tables) >= _MAX_CACHED_CODES:
            _line_tables.clear()
        line_table = [(start, line) for start, _, line in code.co_lines() if line is not None]
        cached = _line_tables[id(code)] = code, [start for start, _ in line_table], [line for _, line in line_table]
    _, starts, lines = cached
    index = bisect_right(starts, offset) - 1
    return code.co_filename, lines[index] if index >= 0 else code.co_firstlineno


_MAX_CACHED_CODES = 64  # code objects whose lines are kept
_line_tables: dict[
    int, tuple[CodeType, list[int], list[int]]
] = {}  # by identity: the hash of a long one takes its time
