"""Floating point warnings off, for the time of one operation: tensors hold inf and nan without a word.

    value = quiet().run(function, x, y)

``numpy.errstate`` takes longer than an operation on a small array does. NumPy keeps the setting in a context variable.
There is a context in which it is set, and each function runs in a copy of it, which costs next to nothing and needs no
end. An operator of two numbers does without the copy: ``run_number(operator.mul, x, y)``. No other code can run
meanwhile, who would find the context entered.

A copy knows no context variables of the user's. So where code of theirs may run inside, the setting is changed and put
back:

    before = WARNINGS[OFF]
    try:
        ...
    finally:
        restore(before)

It is an index, not a call: after a call Python looks whether Ctrl-C was pressed, and warnings would stay off when
that comes before the ``try``. After an index it does not look.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextvars import Context
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..types import Function, Object

OFF: Object
restore: Callable[[Object], object]  # puts the former setting back
quiet: Object  # a call of it has ``run(function, ...)``
run_number: Function

try:
    from numpy._core.umath import _extobj_contextvar, _make_extobj

    OFF, change, restore = _make_extobj(all="ignore"), _extobj_contextvar.set, _extobj_contextvar.reset
    _context = Context()
    _context.run(change, OFF)
    quiet, run_number = _context.copy, _context.run
    if not getattr(sys, "_is_gil_enabled", lambda: True)():  # a Python in which threads run at the same time
        run_number = lambda function, *given: quiet().run(function, *given)  # noqa: E731
except ImportError:  # a NumPy that keeps it elsewhere
    OFF = dict.fromkeys(np.geterr(), "ignore")

    def change(setting: Object) -> Object:
        """Sets NumPy's warnings, and returns how they were."""
        return np.seterr(**setting)

    restore = change

    class quiet:  # type: ignore[no-redef]
        """The same with NumPy's own way."""

        @staticmethod
        def run(function: Function, *given: Object, **options: Object) -> Object:
            """What the function gives without warnings."""
            with np.errstate(**OFF):
                return function(*given, **options)

    run_number = quiet.run


class _Warnings:
    """``WARNINGS[OFF]`` switches warnings off and returns what ``restore`` needs."""

    __slots__ = ()
    __getitem__ = staticmethod(change)


WARNINGS = _Warnings()
