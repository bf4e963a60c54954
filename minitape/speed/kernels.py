"""Compile the kernels for long sweeps and decide when they pay off.

There is one kernel for each scalar type. :mod:`minitape.speed.kernel_source` writes the source that numba compiles. If
numba is missing, fails, or is disabled by ``NUMBA_DISABLE_JIT=1``, sweeps run in Python.
"""

import importlib.util
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..engine.types import NumPyType, OptionalFunction
from .packed_rows import PackedRecord

_kernels: dict[Any, Any] = {}  # The keys are np.float32 and np.float64.
_failures: list[Exception] = []  # Once numba has raised an error, this process does not use it again.


def can_compile_kernels() -> bool:
    """Return whether numba is installed, is not disabled, and has not failed in this process."""
    return is_kernel_loaded() or (
        not _failures and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0") and _has_numba()
    )


@cache
def _has_numba() -> bool:
    return importlib.util.find_spec("numba") is not None


def is_kernel_loaded() -> bool:
    """Return whether a compiled kernel is in memory."""
    return bool(_kernels) and not _failures


def find_or_compile_kernel(number_type: NumPyType) -> OptionalFunction:
    """Return the kernel for a scalar type, compiling it if necessary.

    Args:
        number_type: The scalar type, np.float32 or np.float64.

    Returns:
        The compiled function ``backward`` from :mod:`minitape.speed.kernel_source`, or None if numba is not available
        or cannot compile it.
    """
    if number_type not in _kernels and can_compile_kernels():
        # Only long tapes need these modules, and importing them takes a while.
        from .compilation import compile_function
        from .kernel_source import build_kernel_source

        label = np.dtype(number_type).name
        # The trial arguments contain only a leaf, so the kernel has nothing to do.
        # Numba compiles the kernel for the types of these arguments.
        rows = np.zeros((1, 4), np.int32)
        values = np.zeros(1, number_type)
        flags = np.zeros(1, np.uint8)
        try:
            _kernels[number_type] = compile_function(
                build_kernel_source(label), label, "backward", (rows, 0, 0, 0, values, values.copy(), flags)
            )
        except Exception as error:  # A broken installation can raise any error.
            _disable_kernels_and_warn(error)
    return None if _failures else _kernels.get(number_type)


def _disable_kernels_and_warn(error: Exception) -> None:
    _failures.append(error)
    from ..engine.record.log_warnings import log_warning_up_to_limit
    from .code_cache import describe_error

    log_warning_up_to_limit(
        "numba",
        f"numba cannot compile ({describe_error(error)}), so long tapes are computed without numba, more slowly. "
        "To fix this, reinstall numba. To work without numba and hide this message, set NUMBA_DISABLE_JIT=1.",
        1,
    )


def warm_up(progress: Callable[[str, int, int], None]) -> str:
    """Compile all kernels and store their machine code for later processes.

    Args:
        progress: A function that is called as ``progress(name, done, total)`` before each kernel and at the end.

    Returns:
        A description of the problem, or "" if the next process will find all kernels.
    """
    from .compilation import is_machine_code_on_disk

    number_types = (np.float32, np.float64)
    compiled_kernels = []
    for done_count, number_type in enumerate(number_types):
        progress(np.dtype(number_type).name, done_count, len(number_types))
        compiled_kernels.append(find_or_compile_kernel(number_type))
    progress("done", len(number_types), len(number_types))
    if None in compiled_kernels:
        return "numba fails" if _failures else "numba is not installed, or it is switched off"
    return (
        ""
        if all(map(is_machine_code_on_disk, compiled_kernels))
        else ("the kernels could not be saved for the next process")
    )


# -- when kernels pay off --------------------------------------------------------------------------

MIN_NUMBERS = 24  # A loaded kernel is faster than Python for recordings with at least this many scalars.
# Loading numba takes half a second. A process that has swept this many rows in Python will probably sweep many more.
ROWS_TO_LOAD_NUMBA = 100_000
ROWS_TO_LOAD_KERNELS = 10_000  # If the program itself has loaded numba, loading the kernels takes less time.
# A wide sweep is probably one of many similar sweeps, so its rows count EXPECTED_REPEATS times.
WIDE_SWEEP, EXPECTED_REPEATS = 512, 20
COUNTED_ROWS = 4096  # Only this many rows, the last ones, are searched for scalars.
_swept_rows = [0]  # The number of rows that this process has swept without kernels.


def find_kernel_and_pack_rows(record: PackedRecord, row_count: int) -> OptionalFunction:
    """If a compiled sweep would be faster, pack the recording and return the kernel.

    Args:
        record: The recording to sweep over.
        row_count: The number of rows that the sweep visits.

    Returns:
        The kernel, or None if a sweep in Python is faster or the recording cannot be packed.
    """
    number_type = record.number_type
    if number_type is None or not _count_rows_and_decide_on_kernel(record, number_type, row_count):
        return None
    compiled_kernel = find_or_compile_kernel(number_type)
    return compiled_kernel if compiled_kernel is not None and record.pack_rows() else None


def _count_rows_and_decide_on_kernel(record: PackedRecord, number_type: NumPyType, row_count: int) -> bool:
    """Return whether a sweep over this many rows should use a kernel, and count the rows until numba is loaded."""
    if np.ndarray in record.kinds and _count_number_operations(record, number_type) < MIN_NUMBERS:
        return False
    if is_kernel_loaded():
        return True
    _swept_rows[0] += row_count * EXPECTED_REPEATS if row_count >= WIDE_SWEEP else row_count
    return _swept_rows[0] > (ROWS_TO_LOAD_KERNELS if "numba" in sys.modules else ROWS_TO_LOAD_NUMBA)


def _count_number_operations(record: PackedRecord, number_type: NumPyType) -> int:
    """Count the scalar operations among the last rows."""
    from ..engine.record.row_parts import CALL

    codes, _, _, _, _, values = record.read_columns(max(len(record) - COUNTED_ROWS, 0))
    numbers = [*map(type, values)].count(number_type)
    # This quick count also includes the results of calls, so the exact count cannot be larger.
    if numbers < MIN_NUMBERS:
        return numbers
    return sum(code > CALL and type(value) is number_type for code, value in zip(codes, values, strict=True))
