"""All that makes minitape faster than its plain engine; with this folder deleted every answer stays the same.

``operators`` has the functions of the table of derivatives and ``apply``, ``packed`` the rows of long recordings,
``sweeps`` the sweeps over numbers, arrays and calls. ``long`` sweeps long tapes of numbers with the ``kernels`` that
numba compiles (``text`` writes what numba sees, ``compiled``, ``machine_code`` and ``cache`` see to it that this
happens once), ``blocks`` computes large arrays block by block in memory that is used again, and ``programs`` compiles
the rows of a ``tf.function``: what runs often ``fuse`` and ``rolled`` with numba, ``blockwise`` with NumPy.
"""

from __future__ import annotations

import functools
from importlib import import_module
from typing import Any

from ..engine.table.accelerator import Accelerator
from . import blocks


class Speed(Accelerator):
    """What the engine asks for, in the fast form."""

    large = blocks.LARGE
    buffer = staticmethod(blocks.buffer)
    accumulate = staticmethod(blocks.accumulate)
    by_formula = staticmethod(blocks.by_formula)
    by_blocks = staticmethod(blocks.by_blocks)
    in_blocks = staticmethod(blocks.in_blocks)

    def __init__(self) -> None:
        self.pairs: dict[str, tuple] = {}  # what was replaced: the plain form and the fast one
        # of the table: a primitive, its plain function, the fast one, and how that differs
        self.functions: list[tuple[Any, Any, Any, dict[str, Any]]] = []

    def instead(self, plain: Any) -> Any:
        """The fast form of a function or a class of the engine."""
        name = f"{plain.__module__.removeprefix('minitape.engine.')}.{plain.__name__}"
        if name not in _INSTEAD:
            return plain
        made = getattr(_module(_INSTEAD[name]), plain.__name__)(plain)
        self.pairs[name] = plain, made
        return made

    def function(self, plain: Any, primitive: Any, name: str, **how: Any) -> Any:
        """See :func:`minitape.speed.operators.function_of`."""
        made = _module("operators").function_of(plain, primitive, name, **how)
        self.functions.append((primitive, plain, made, how))
        return made


@functools.cache
def _module(name: str) -> Any:
    """A part of this package that long tapes, or functions, alone need."""
    return import_module(f"{__name__}.{name}")


_INSTEAD = {
    "back.sweep.run_sweep": "sweeps",
    "recording.record.Record": "packed",
    "tensor.operation.apply": "operators",
    "back.reach.propagate": "packed",
    "minitape.functions.program.Rows": "programs",
}  # what is replaced -> the module of this package that has a maker of the same name
