"""Run operations without NumPy's floating-point warnings. TensorFlow does not warn about inf and nan either.

    value = ignore_fp_errors().run(function, x, y)

``numpy.errstate`` takes longer than an operation on a small array. NumPy stores the setting in a context variable.
Therefore, this module creates a context in which warnings are ignored, and runs each function in a copy of this
context. Copying a context is cheap, and no cleanup is needed. Operators on two scalars do not need a copy, because
``run_number(operator.mul, x, y)`` does not run other code that could enter the context again.

The copy does not contain the user's context variables. If user code may run, the setting is changed and restored
instead:

    before = WARNINGS[OFF]
    try:
        ...
    finally:
        restore_fp_errors(before)

``WARNINGS[OFF]`` is a subscript because Python checks for Ctrl-C after calls, but not after subscripts. If Ctrl-C
arrived between a call and the ``try``, the warnings would remain off.
"""

import sys
from collections.abc import Callable
from contextvars import Context

import numpy as np

from ..types import Function, Object

OFF: Object
restore_fp_errors: Callable[[Object], object]  # The argument of this function is the value of ``WARNINGS[OFF]``.
ignore_fp_errors: Object  # Calling this returns an object with a method ``run(function, ...)``.
run_number: Function

try:
    from numpy._core.umath import _extobj_contextvar, _make_extobj

    OFF = _make_extobj(all="ignore")
    set_fp_errors = _extobj_contextvar.set
    restore_fp_errors = _extobj_contextvar.reset
    _context = Context()
    _context.run(set_fp_errors, OFF)
    ignore_fp_errors = _context.copy
    run_number = _context.run
    if not getattr(sys, "_is_gil_enabled", lambda: True)():  # Parallel threads cannot share a context.
        run_number = lambda function, *arguments: ignore_fp_errors().run(function, *arguments)  # noqa: E731
except ImportError:  # Other versions of NumPy store the setting elsewhere.
    OFF = dict.fromkeys(np.geterr(), "ignore")

    def set_fp_errors(setting: Object) -> Object:
        """Set NumPy's handling of floating-point errors.

        Args:
            setting: The keyword arguments of ``numpy.seterr``.

        Returns:
            The previous setting.
        """
        return np.seterr(**setting)

    restore_fp_errors = set_fp_errors

    class ignore_fp_errors:  # type: ignore[no-redef]  # noqa: N801 - called as the function above
        """A slower replacement that uses ``numpy.errstate``."""

        @staticmethod
        def run(function: Function, *arguments: Object, **options: Object) -> Object:
            """Call a function without floating-point warnings.

            Args:
                function: The function.
                *arguments: Its positional arguments.
                **options: Its keyword arguments.

            Returns:
                The function's result.
            """
            with np.errstate(**OFF):
                return function(*arguments, **options)

    run_number = ignore_fp_errors.run


class _Warnings:
    """The type of ``WARNINGS``.

    ``WARNINGS[OFF]`` turns warnings off and returns the argument for ``restore_fp_errors``.
    """

    __slots__ = ()
    __getitem__ = staticmethod(set_fp_errors)


WARNINGS = _Warnings()
