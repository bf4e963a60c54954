"""Runs one operation without NumPy's floating point warnings: tensors hold inf and nan silently.

    value = ignore_fp_errors().run(function, x, y)

``numpy.errstate`` takes longer than an operation on a small array. NumPy keeps the setting in a context variable. This
module makes one context with warnings ignored, and runs each function in a copy of it, which is cheap and needs no
cleanup. An operator of two numbers needs no copy: ``run_number(operator.mul, x, y)`` runs no other code that could
enter the context again.

A copy does not have the user's context variables. Where the user's code may run inside, the setting is changed and put
back instead:

    before = WARNINGS[OFF]
    try:
        ...
    finally:
        restore_fp_errors(before)

It is an index, not a call: Python checks for Ctrl-C after a call, and one before the ``try`` would leave warnings off.
It does not check after an index.
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
restore_fp_errors: Callable[[Object], object]  # puts the previous setting back
ignore_fp_errors: Object  # a call of it has ``run(function, ...)``
run_number: Function

try:
    from numpy._core.umath import _extobj_contextvar, _make_extobj

    OFF, set_fp_errors, restore_fp_errors = _make_extobj(all="ignore"), _extobj_contextvar.set, _extobj_contextvar.reset
    _context = Context()
    _context.run(set_fp_errors, OFF)
    ignore_fp_errors, run_number = _context.copy, _context.run
    if not getattr(sys, "_is_gil_enabled", lambda: True)():  # a Python in which threads run at the same time
        run_number = lambda function, *arguments: ignore_fp_errors().run(function, *arguments)  # noqa: E731
except ImportError:  # a NumPy that keeps it elsewhere
    OFF = dict.fromkeys(np.geterr(), "ignore")

    def set_fp_errors(setting: Object) -> Object:
        """Set NumPy's handling of floating point errors, and return the previous setting."""
        return np.seterr(**setting)

    restore_fp_errors = set_fp_errors

    class ignore_fp_errors:  # type: ignore[no-redef]  # noqa: N801 - called as the function above
        """What runs a function without warnings as ``numpy.errstate`` does, which is slower."""

        @staticmethod
        def run(function: Function, *arguments: Object, **options: Object) -> Object:
            """Return ``function(*arguments, **options)``, computed without warnings."""
            with np.errstate(**OFF):
                return function(*arguments, **options)

    run_number = ignore_fp_errors.run


class _Warnings:
    """``WARNINGS[OFF]`` switches warnings off and returns what ``restore_fp_errors`` needs."""

    __slots__ = ()
    __getitem__ = staticmethod(set_fp_errors)


WARNINGS = _Warnings()
