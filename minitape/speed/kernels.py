"""The compiled kernels, one for each type of numbers; what numba sees is in :mod:`minitape.speed.kernel_source`.

Without numba, with ``NUMBA_DISABLE_JIT=1``, and where numba fails, there are none.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .packed_rows import PackedRecord

_kernels: dict[Any, Any] = {}  # by NumPy's class
_failures: list[Exception] = []  # why numba compiles nothing in this process


def can_compile_kernels() -> bool:
    """Whether numba is installed, is not switched off, and has not failed."""
    return is_kernel_loaded() or (
        not _failures and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0") and _has_numba()
    )


@cache
def _has_numba() -> bool:
    return importlib.util.find_spec("numba") is not None


def is_kernel_loaded() -> bool:
    """Whether a compiled kernel is in memory."""
    return bool(_kernels) and not _failures


def find_or_compile_kernel(number_type: Any) -> Any:
    """Return the kernel for a type of numbers, compiled if need be; None where that fails, and Python sweeps."""
    if number_type not in _kernels and can_compile_kernels():
        # what generates code is needed by long tapes only, and takes a while to load
        from .compilation import compile_function
        from .kernel_source import build_kernel_source

        label = np.dtype(number_type).name
        # arguments on which it finds nothing to do; numba compiles it for their types
        rows, values, flags = np.zeros((1, 4), np.int32), np.zeros(1, number_type), np.zeros(1, np.uint8)
        try:
            _kernels[number_type] = compile_function(
                build_kernel_source(label), label, "backward", (rows, 0, 0, 0, values, values.copy(), flags)
            )
        except Exception as error:  # an installation can be broken in many ways
            _note_failure(error)
    return None if _failures else _kernels.get(number_type)


def _note_failure(error: Exception) -> None:
    _failures.append(error)
    from ..engine.record.log_warnings import log_warning_up_to_limit

    reason = " ".join([type(error).__name__, *str(error).splitlines()[:1]])
    log_warning_up_to_limit(
        "numba",
        f"numba cannot compile ({reason}): long tapes are computed without it, which "
        "is slower. To fix it, install numba again; NUMBA_DISABLE_JIT=1 does without it and says nothing.",
        1,
    )


def warm_up(progress: Callable[[str, int, int], None] | None = None) -> str:
    """Compile and cache every kernel; ``progress(name, done, total)`` is called before each and at the end.

    Return what is wrong, in words: nothing, if the next process will find them all.
    """
    from .compilation import is_machine_code_kept

    number_types, compiled_kernels = (np.float32, np.float64), []
    for done_count, number_type in enumerate(number_types):
        if progress is not None:
            progress(np.dtype(number_type).name, done_count, len(number_types))
        compiled_kernels.append(find_or_compile_kernel(number_type))
    if progress is not None:
        progress("done", len(number_types), len(number_types))
    if None in compiled_kernels:
        return "numba fails" if _failures else "numba is not there, or switched off"
    return "" if all(map(is_machine_code_kept, compiled_kernels)) else "they could not be kept for the next process"


# -- when they pay ---------------------------------------------------------------------------------

MIN_NUMBERS = 24  # numbers from which on a kernel that is loaded already is faster than Python
# rows swept in Python that earn the loading of numba, which takes half a second: who swept so many will sweep more
ROWS_TO_LOAD_NUMBA = 100_000
ROWS_TO_LOAD_KERNELS = 10_000  # ... and that of the kernels alone, in a program that has loaded numba itself
WIDE_SWEEP, EXPECTED_REPEATS = 512, 20  # of a sweep of so many rows more are expected: each counts so many times
COUNTED_ROWS = 4096  # rows in which numbers are counted
_swept_rows = [0]  # rows that this process swept without kernels


def find_kernel_and_pack_rows(record: PackedRecord, row_count: int) -> Any:
    """Return a kernel for a sweep over so many rows of a recording, and pack the recording; None where the sweep in
    Python is faster.
    """
    number_type = record.number_type
    if number_type is None or not _does_kernel_pay(record, number_type, row_count):
        return None
    compiled_kernel = find_or_compile_kernel(number_type)
    return compiled_kernel if compiled_kernel is not None and record.pack_rows() else None


def _does_kernel_pay(record: PackedRecord, number_type: Any, row_count: int) -> bool:
    if np.ndarray in record.kinds and _count_number_operations(record, number_type) < MIN_NUMBERS:
        return False
    if is_kernel_loaded():
        return True
    _swept_rows[0] += row_count * EXPECTED_REPEATS if row_count >= WIDE_SWEEP else row_count
    return _swept_rows[0] > (ROWS_TO_LOAD_KERNELS if "numba" in sys.modules else ROWS_TO_LOAD_NUMBA)


def _count_number_operations(record: PackedRecord, number_type: Any) -> int:
    """Count how many of the last rows are operations on numbers."""
    from ..engine.record.row_parts import CALL

    ops, _, _, _, _, values = record.read_columns(max(len(record) - COUNTED_ROWS, 0))
    numbers = [*map(type, values)].count(number_type)  # also those that calls made: mostly they are few already
    return (
        numbers
        if numbers < MIN_NUMBERS
        else sum(op > CALL and type(value) is number_type for op, value in zip(ops, values, strict=True))
    )
