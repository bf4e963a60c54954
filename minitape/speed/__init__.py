"""All that makes minitape faster than its plain engine; with this folder deleted every answer stays the same.

``operators`` has the functions of the table of derivatives, ``operation`` what runs all others, ``packed`` the rows
of long recordings, ``sweeps`` the sweeps over numbers, arrays and calls, ``number_rows`` those that an outer tape
records. ``long`` sweeps long tapes of numbers with the ``kernels`` that numba compiles (``text`` writes what numba
sees, ``compiled``, ``machine_code`` and ``cache`` see to it that this happens once), ``blocks`` computes large arrays
block by block in memory that is used again, and ``programs`` compiles the rows of a ``tf.function``: what runs often
``fuse`` and ``rolled`` with numba, ``blockwise`` with NumPy and, between its functions, with numba.
"""

from __future__ import annotations

import functools
from importlib import import_module
from typing import Any

from ..engine.table.accelerator import Accelerator
from . import blocks

# a function or class of the plain form -> the module of its fast form
_HOMES = {"Record": "packed", "apply": "operation", "run_sweep": "sweeps", "Rows": "programs"}


class Speed(Accelerator):
    """The accelerator that the engine asks, in the fast form."""

    large = blocks.LARGE
    buffer = staticmethod(blocks.buffer)
    accumulate = staticmethod(blocks.accumulate)
    by_formula = staticmethod(blocks.by_formula)

    def __init__(self) -> None:
        self.pairs: dict[str, tuple] = {}  # what was replaced: the plain form and the fast one
        # of the table: a primitive, its plain function, the fast one, and how that differs
        self.functions: list[tuple[Any, Any, Any, dict[str, Any]]] = []

    def _instead(self, plain: Any) -> Any:
        """The fast form of ``plain``, which a function of that name in a module of this package makes."""
        name = plain.__name__
        made = getattr(_module(_HOMES[name]), name)(plain)
        self.pairs[name] = plain, made
        return made

    record = apply = run_sweep = rows = _instead

    def function(self, plain: Any, primitive: Any, name: str, **how: Any) -> Any:
        """See :func:`minitape.speed.operators.function_of`."""
        made = _module("operators").function_of(plain, primitive, name, **how)
        self.functions.append((primitive, plain, made, how))
        return made


@functools.cache
def _module(name: str) -> Any:
    """A part of this package that long tapes, or functions, alone need."""
    return import_module(f"{__name__}.{name}")
