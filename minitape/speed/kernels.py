"""The compiled kernels: whether there are any, and which; what numba sees is in :mod:`minitape.speed.text`.

Without numba, with ``NUMBA_DISABLE_JIT=1``, and where numba fails, there are none: the walk over the rows is faster
than their text as plain Python, which :func:`load` then gives.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

NAMES = ("backward", "spread")
_loaded: dict[Any, Kernels] = {}  # by NumPy's class
_compiled: list = []  # which of them numba compiles
_failed: list[Exception] = []  # why numba compiles nothing in this process


def available() -> bool:
    """True when numba is installed, is not switched off, and has not failed."""
    return loaded() or (not _failed and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0") and _installed())


@cache
def _installed() -> bool:
    return importlib.util.find_spec("numba") is not None


def loaded() -> bool:
    """True if compiled kernels are in memory, or requested."""
    return bool(_compiled) and not _failed


def kernel(real: Any, name: str) -> Any:
    """One of the ``NAMES``, compiled; None where there is none, and the caller walks."""
    found = getattr(load(real), name) if available() else None
    return found if available() else None  # numba may just have failed


class Kernels:
    """The kernels for one float type, each compiled when it is first asked for."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        if name not in NAMES:
            raise AttributeError(name)
        # what generates code is needed by long tapes only, and takes a while to load
        from .cache import module_of
        from .compiled import compiled
        from .text import source

        label = np.dtype(self._real).name
        text, function = source(label), None
        if available():
            try:
                function = compiled(text, label, name, _trial(self._real, name))
            except Exception as error:  # an installation can be broken in many ways
                _fail(error)
        setattr(self, name, function or getattr(module_of(text, label), name))
        return self.__dict__[name]


def _trial(real: Any, name: str) -> tuple:
    """Arguments on which a kernel finds nothing to do; numba compiles it for their types."""
    rows, values, flags = np.zeros((1, 4), np.int32), np.zeros(1, real), np.zeros(1, np.uint8)
    if name == "backward":
        return rows, 0, 0, 0, values, values.copy(), flags
    return rows, 0, 0, 1, flags, flags.copy()


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


def load(real: Any) -> Kernels:
    """The kernels for ``numpy.float32`` or ``numpy.float64``: functions ``backward`` and ``spread``.

    >>> from minitape.engine.table.primitives import TABLE
    >>> kernels = load(np.float32)
    >>> rows = np.array([[0, 0, 0, 0], [TABLE["multiply"].code, 0, 0, 0]], np.int32)  # a leaf, and its square
    >>> values, adjoints = np.array([[3, 9], [0, 1]], np.float32)
    >>> kernels.backward(rows, 0, 1, 0, values, adjoints, np.array([1, 3], np.uint8))  # where it stopped: the end
    -1
    >>> print(adjoints[0])
    6.0
    """
    kernels = _loaded.get(real)
    if kernels is None:
        kernels = _loaded[real] = Kernels(real)
        if available():
            _compiled.append(real)
    return kernels


def warmup(progress: Callable[[str, int, int], None] | None = None) -> str:
    """Compiles and caches every kernel; ``progress(name, done, total)`` is called before each and at the end.

    Returns what is wrong, in words: nothing, if the next process will find them all.
    """
    from .compiled import is_kept

    steps = [(real, name) for real in (np.float32, np.float64) for name in NAMES]
    made = []
    for done, (real, name) in enumerate(steps):
        if progress is not None:
            progress(f"{name} {np.dtype(real).name}", done, len(steps))
        made.append(kernel(real, name))
    if progress is not None:
        progress("done", len(steps), len(steps))
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


def for_rows(record: Any, rows: int, name: str) -> Any:
    """A kernel for so many rows of a recording, which is packed then; None where the walk in Python is the better
    way.
    """
    real = record.real
    if real is None or not _earned(record, real, rows):
        return None
    found = kernel(real, name)
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
