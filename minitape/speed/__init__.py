"""All that makes minitape faster than its plain engine; with this folder deleted every answer stays the same.

``operators`` has the functions of the table of derivatives, ``operation`` what runs all others, ``packed_rows`` the
rows of long recordings, ``fast_sweeps`` the sweeps over numbers, arrays and calls, ``nested_number_sweep`` those that
an outer tape records. ``long_sweep`` sweeps long tapes of numbers with the ``kernels`` that numba compiles
(``kernel_source`` writes what numba sees, ``compilation``, ``machine_code`` and ``code_cache`` see to it that this
happens once), ``array_blocks`` computes large arrays block by block in memory that is used again, and ``compiled_rows``
compiles the rows of a ``tf.function``: what runs often ``fusion`` and ``loop_detection`` with numba, ``blockwise`` with
NumPy and, between its functions, with numba.
"""

from __future__ import annotations

import functools
from importlib import import_module
from typing import Any, NamedTuple

from ..engine.table.accelerator import Accelerator
from . import array_blocks

# a function or class of the plain form -> the module of its fast form
_FAST_MODULES = {"Record": "packed_rows", "apply": "operation", "run_sweep": "fast_sweeps", "Rows": "compiled_rows"}


class FormPair(NamedTuple):
    """A function or class of the engine, and what takes its place."""

    plain: Any
    fast: Any


class FastFunction(NamedTuple):
    """A function of the table in both forms, with the options of
    :func:`minitape.speed.operators.build_operation_function`.
    """

    primitive: Any
    plain: Any
    fast: Any
    options: dict[str, Any]


class Speed(Accelerator):
    """The accelerator that the engine asks, in the fast form."""

    large_size = array_blocks.LARGE
    create_buffer = staticmethod(array_blocks.create_buffer)
    accumulate_adjoint = staticmethod(array_blocks.accumulate_adjoint)
    compile_formula = staticmethod(array_blocks.compile_formula)

    def __init__(self) -> None:
        self.pairs: dict[str, FormPair] = {}  # what was replaced, by name
        self.functions: list[FastFunction] = []

    def _build_fast_form(self, plain: Any) -> Any:
        """Return the fast form of ``plain``: a function of its name in a module of this package builds it."""
        name = plain.__name__
        fast_form = getattr(_import_speed_module(_FAST_MODULES[name]), name)(plain)
        self.pairs[name] = FormPair(plain, fast_form)
        return fast_form

    replace_record = replace_apply = replace_run_sweep = replace_rows = _build_fast_form

    def register_function(
        self,
        plain: Any,
        primitive: Any,
        name: str,
        reflected: bool = False,
        signature: str = "",
        reads: bool = False,
        inside: bool = False,
    ) -> Any:
        """See :func:`minitape.speed.operators.build_operation_function`."""
        options = {"reflected": reflected, "signature": signature, "reads": reads, "inside": inside}
        fast_function = _import_speed_module("operators").build_operation_function(plain, primitive, name, **options)
        self.functions.append(FastFunction(primitive, plain, fast_function, options))
        return fast_function


@functools.cache
def _import_speed_module(module_name: str) -> Any:
    """Import a module of this package that only long tapes, or functions, need."""
    return import_module(f"{__name__}.{module_name}")
