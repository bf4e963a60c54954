"""The compiled kernels: whether there are any, and which; what numba sees is in :mod:`minitape.kernels.text`.

Without numba, or with ``NUMBA_DISABLE_JIT=1``, nobody asks for them: the walk over the rows is faster than their text as
plain Python, which :func:`load` then gives.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

_loaded: dict[Any, ModuleType] = {}  # by NumPy's class
_compiled: list[str] = []  # which of them numba compiles


def available() -> bool:
    """True when numba is installed and not switched off."""
    return loaded() or (os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0") and _installed())


@cache
def _installed() -> bool:
    return importlib.util.find_spec("numba") is not None


def loaded() -> bool:
    """True when compiled kernels are in memory already."""
    return bool(_compiled)


def load(real: Any) -> ModuleType:
    """The kernels for ``numpy.float32`` or ``numpy.float64``: functions ``forward``, ``backward`` and ``spread``.

    >>> from minitape.primitives import TABLE
    >>> kernels = load(np.float32)
    >>> rows = np.array([[0, 0, 0, 0], [TABLE["multiply"].code, 0, 0, 0]], np.int32)  # a leaf, and its square
    >>> values = np.array([3, 0], np.float32)
    >>> kernels.forward(rows, 0, 0, 2, values)  # the row at which it stopped: the end
    2
    >>> print(values[1])
    9.0
    """
    module = _loaded.get(real)
    if module is None:
        from .cache import module_of  # what generates code is needed by long tapes only, and takes a while to load
        from .text import source

        name = np.dtype(real).name
        module = _loaded[real] = module_of(source(name, not available()), name)
        if available():
            _compiled.append(name)
    return module


def warmup(progress: Callable[[str, int, int], None] | None = None) -> None:
    """Compiles and caches every kernel; ``progress(name, done, total)`` is called before each and at the end."""
    steps = [(real, name) for real in (np.float32, np.float64) for name in ("forward", "backward", "spread")]
    for done, (real, name) in enumerate(steps):
        if progress is not None:
            progress(f"{name} {np.dtype(real).name}", done, len(steps))
        kernels = load(real)
        rows, values = np.zeros((1, 4), np.int32), np.zeros(1, real)
        flags = np.zeros(1, np.uint8)
        if name == "forward":
            kernels.forward(rows, 0, 0, 1, values)
        elif name == "backward":
            kernels.backward(rows, 0, 0, 0, values, values.copy(), flags)
        else:
            kernels.spread(rows, 0, 0, 1, flags, flags.copy())
    if progress is not None:
        progress("done", len(steps), len(steps))
