"""All that makes minitape faster than its plain engine; with this folder deleted every answer stays the same.

``long`` sweeps long tapes of numbers with the ``kernels`` that numba compiles (``text`` writes what numba sees,
``compiled``, ``kept`` and ``cache`` see to it that it is compiled once), ``blocks`` computes large arrays block by
block in memory that is used again, and ``programs`` compiles the rows of a ``tf.function``: what runs often ``fuse``
and ``rolled`` with numba, ``blockwise`` with NumPy.
"""

from __future__ import annotations

import functools
from importlib import import_module
from typing import Any

from ..engine.table.accelerator import Accelerator
from . import blocks


class Speed(Accelerator):
    """What the engine asks for, the fast way."""

    large = blocks.LARGE
    buffer = staticmethod(blocks.buffer)
    accumulate = staticmethod(blocks.accumulate)
    by_formula = staticmethod(blocks.by_formula)
    by_blocks = staticmethod(blocks.by_blocks)
    in_blocks = staticmethod(blocks.in_blocks)

    def kernel(self, record: Any, rows: int) -> Any:
        """A kernel where it pays: see :func:`minitape.speed.kernels.for_rows`."""
        return _module("kernels").for_rows(record, rows, "spread")

    def long(self, sweep: Any) -> Any:
        """See :func:`minitape.speed.long.long_sweep`."""
        return _module("long").long_sweep(sweep)

    @property
    def loops(self) -> Any:
        """What compiles a graph's calls."""
        return _module("programs")


@functools.cache
def _module(name: str) -> Any:
    """A part of this package that long tapes, or functions, alone need."""
    return import_module(f"{__name__}.{name}")
