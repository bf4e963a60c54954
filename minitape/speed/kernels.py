"""The compiled kernels, one for each type of numbers; what numba sees is in :mod:`minitape.speed.text`.

Without numba, with ``NUMBA_DISABLE_JIT=1``, and where numba fails, there are none.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

_loaded: dict[Any, Any] = {}  # by NumPy's class
_failed: list[Exception] = []  # why numba compiles nothing in this process


def available() -> bool:
    """True when numba is installed, is not switched off, and has not failed."""
    return loaded() or (not _failed and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0") and _has_numba())


@cache
def _has_numba() -> bool:
    return importlib.util.find_spec("numba") is not None


def loaded() -> bool:
    """True if a compiled kernel is in memory."""
    return bool(_loaded) and not _failed


def kernel(real: Any) -> Any:
    """The compiled kernel for numbers (float32 or float64); None where there is none, and the caller walks."""
    if real not in _loaded and available():
        # what generates code is needed by long tapes only, and takes a while to load
        from .compiled import compiled
        from .text import source

        label = np.dtype(real).name
        # arguments on which it finds nothing to do; numba compiles it for their types
        rows, values, flags = np.zeros((1, 4), np.int32), np.zeros(1, real), np.zeros(1, np.uint8)
        try:
            _loaded[real] = compiled(source(label), label, "backward", (rows, 0, 0, 0, values, values.copy(), flags))
        except Exception as error:  # an installation can be broken in many ways
            _fail(error)
    return None if _failed else _loaded.get(real)


def _fail(error: Exception) -> None:
    _failed.append(error)
    from ..engine.recording.logs import log_first_n

    reason = " ".join([type(error).__name__, *str(error).splitlines()[:1]])
    log_first_n(
        "numba",
        f"numba cannot compile ({reason}): long tapes are computed without it, which "
        "is slower. To fix it, install numba again; NUMBA_DISABLE_JIT=1 does without it and says nothing.",
        1,
    )


def warmup(progress: Callable[[str, int, int], None] | None = None) -> str:
    """Compiles and caches every kernel; ``progress(name, done, total)`` is called before each and at the end.

    Returns what is wrong, in words: nothing, if the next process will find them all.
    """
    from .compiled import is_kept

    kinds, made = (np.float32, np.float64), []
    for done, real in enumerate(kinds):
        if progress is not None:
            progress(np.dtype(real).name, done, len(kinds))
        made.append(kernel(real))
    if progress is not None:
        progress("done", len(kinds), len(kinds))
    if None in made:
        return "numba fails" if _failed else "numba is not there, or switched off"
    return "" if all(map(is_kept, made)) else "they could not be kept for the next process"


# -- when they pay ---------------------------------------------------------------------------------

FEW = 24  # numbers from which on a kernel that is loaded already is faster than Python
# rows swept in Python that earn the loading of numba, which takes half a second: who swept so many will sweep more
MANY = 100_000
LONG = 10_000  # ... and that of the kernels alone, in a program that has loaded numba itself
WIDE, AGAIN = 512, 20  # of a sweep of so many rows more are expected: each counts so many times
LAST = 4096  # rows in which numbers are counted
_swept = [0]  # rows that this process swept without kernels


def for_rows(record: Any, rows: int) -> Any:
    """A kernel for so many rows of a recording, which is packed then; None where the walk in Python is the better
    way.
    """
    real = record.real
    if real is None or not _earned(record, real, rows):
        return None
    found = kernel(real)
    return found if found is not None and record.pack() else None


def _earned(record: Any, real: Any, rows: int) -> bool:
    if np.ndarray in record.kinds and _numbers(record, real) < FEW:
        return False
    if loaded():
        return True
    _swept[0] += rows * AGAIN if rows >= WIDE else rows
    return _swept[0] > (LONG if "numba" in sys.modules else MANY)


def _numbers(record: Any, real: Any) -> int:
    """How many of the last rows are operations on numbers."""
    from ..engine.recording.rows import CALL

    ops, _, _, _, _, values = record.columns(max(len(record) - LAST, 0))
    numbers = [*map(type, values)].count(real)  # also those that calls made: mostly they are few already
    return (
        numbers
        if numbers < FEW
        else sum(op > CALL and type(value) is real for op, value in zip(ops, values, strict=True))
    )
