"""Find which lines of the user's program ran an operation, and read their text.

A `Site` is a (file, line) pair.
"""

import dis
import inspect
import linecache
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from types import CodeType
from warnings import catch_warnings

from ..engine.record.interrupt_safe import make_interrupt_safe_context_manager
from ..engine.record.record import Record
from ..engine.record.user_frames import find_user_frame, is_minitape_or_library_file
from ..engine.types import CountsByName, Function, NameList, OptionalFrame, OptionalNumber, OptionalText

Site = tuple[OptionalText, OptionalNumber]
CallStack = Sequence[Site]  # The statements that were running, outermost first.
NOWHERE: Site = (None, None)


def find_innermost_site(call_stack: CallStack, default: Site = NOWHERE) -> Site:
    """Return the last statement of a call stack.

    Args:
        call_stack: The statements that are running, outermost first.
        default: The site to return if the call stack is empty because it is unknown.
    """
    return call_stack[-1] if call_stack else default


def find_user_call_stack() -> CallStack:
    """Return the (file, line) of each running statement in the user's code, outermost first.

    >>> find_user_call_stack()[-1] == find_user_site()
    True
    """
    sites: list[Site] = []
    frame: OptionalFrame = sys._getframe(1)
    while frame is not None:
        if not is_minitape_or_library_file(frame.f_code.co_filename):
            sites.append(get_site_running_in_frame(frame))
        frame = frame.f_back
    return sites[::-1]


def find_user_site() -> Site:
    """Return the (file, line) of the innermost running statement of the user's code.

    Returns:
        The site, or `NOWHERE` if no user code is running.

    >>> find_user_site()[0] is not None
    True
    """
    return get_site_running_in_frame(find_user_frame(sys._getframe(1)))


def get_site_running_in_frame(frame: OptionalFrame) -> Site:
    """Return the line that a frame is running, or NOWHERE if there is no frame.

    Args:
        frame: The frame.
    """
    return NOWHERE if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def find_last_return_site(function: Function) -> Site:
    """Return the (file, line) of a function's last return statement.

    Args:
        function: The function. Decorators that set ``__wrapped__`` are skipped.

    Returns:
        The site, or `NOWHERE` for a library function or a function without bytecode.

    >>> find_last_return_site(find_last_return_site)
    (None, None)
    """
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None or is_minitape_or_library_file(code.co_filename):
        return NOWHERE
    returns = [instruction for instruction in dis.get_instructions(code) if instruction.opname.startswith("RETURN")]
    positions = returns[-1].positions if returns else None
    return NOWHERE if positions is None or positions.lineno is None else (code.co_filename, positions.lineno)


def map_cell_files_to_execution_counts() -> CountsByName:
    """Return each notebook cell's last execution number, keyed by file name, or an empty dict outside IPython."""
    shell_module = sys.modules.get("IPython.core.interactiveshell")
    if shell_module is None:
        return {}
    try:
        return dict(shell_module.InteractiveShell._instance.compile._filename_map)
    except AttributeError:
        return {}


def read_source_lines(filename: str) -> NameList:
    """Return the lines of a file, a notebook cell, or a statement typed at Python's prompt.

    Args:
        filename: The file name that Python uses for the code.

    Returns:
        The lines with their line endings, or an empty list if the text is unknown.
    """
    lines = linecache.getlines(filename)
    if not lines:  # Newer Python versions store typed statements by code object, not by file name.
        typed_entries = getattr(linecache, "_interactive_cache", {}).values()
        lines = next((entry[2] for entry in typed_entries if entry[-1] == filename), [])
    return lines


@make_interrupt_safe_context_manager
def suppress_syntax_warnings() -> Iterator[None]:
    r"""Suppress the warnings that Python has already shown about the user's code, such as the one for ``"\d"``."""
    with catch_warnings(action="ignore"):
        yield


def read_line_at_site(site: Site) -> str:
    """Return the text of the line at a site, or "" if it is unknown.

    Args:
        site: The (file, line) pair.
    """
    lines = read_source_lines(site[0] or "")
    return lines[site[1] - 1] if site[1] and site[1] <= len(lines) else ""


def describe_line_of_row(record: Record, row: int) -> str:
    """Describe the line of the statement that created a row, as in "file.py, line 3".

    Args:
        record: The recording.
        row: The row.
    """
    site = record.find_site(row)
    return "an unknown line" if site is None else "{}, line {}".format(*find_site_of_bytecode(*site))


def find_site_of_bytecode(code: CodeType, offset: int) -> tuple[str, int]:
    """Return the (file, line) of a bytecode instruction.

    Args:
        code: The code object.
        offset: The offset of the instruction in bytes.
    """
    cached = _line_tables.get(id(code))
    if cached is None or cached[0] is not code:
        if len(_line_tables) >= _MAX_CACHED_CODES:
            _line_tables.clear()
        line_table = [(start, line) for start, _, line in code.co_lines() if line is not None]
        cached = _line_tables[id(code)] = code, [start for start, _ in line_table], [line for _, line in line_table]
    _, starts, lines = cached
    index = bisect_right(starts, offset) - 1
    return code.co_filename, lines[index] if index >= 0 else code.co_firstlineno


_MAX_CACHED_CODES = 64  # The maximum number of code objects whose line tables are cached.
# The keys are identities, because hashing a long code object is slow.
_line_tables: dict[int, tuple[CodeType, list[int], list[int]]] = {}
