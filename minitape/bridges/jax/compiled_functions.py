"""Replace compiled ``jax.jit`` functions, and check that they still compute the same results as their Python code."""

from __future__ import annotations

import inspect
from contextlib import suppress
from functools import update_wrapper
from types import MethodType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...explain.caller import format_bracketed_place
from ...explain.causes import CAUSES
from ...explain.explanation import Explanation
from ...explain.reasons import program_text
from ...explain.translated_sentences import fill
from ...recording.sites import Site
from .mutable_state import save_mutable_state
from .program_origin import iter_function_and_callees, read_outside_values
from .recording import jax
from .row_log import is_inexact

if TYPE_CHECKING:
    from .program import FirstGradients

GRADIENT_LIMIT = 10  # The maximum number of recorded gradients for a compiled function.


class StaleValue(NamedTuple):
    """An outside value that a compiled function read when it was traced, and that the program has replaced since.

    Attributes:
        name: The name of the value.
        site: The line that reads it.
        call_number: The number of the first call in which the compiled function and its Python code disagreed.
    """

    name: str
    site: Site
    call_number: int

    def to_explanation(self) -> Explanation:
        """Return the value as an explanation."""
        text = CAUSES["stale_value"].find_text("jax", "")
        fields = {"name": self.name, "line": format_bracketed_place(*self.site), "n": self.call_number}
        return Explanation("stale_value", fill(text.message, **fields), fill(text.fix, **fields), *self.site)


class CompiledFunction:
    """The replacement for a function returned by ``jax.jit`` in the block."""

    def __init__(self, gradient_block: FirstGradients, function: Any, jitted: Any) -> None:
        """Wrap a compiled function together with its original function."""
        self._gradient_block, self._function, self._jitted = gradient_block, function, jitted
        self._call_count, self._gradient_limit = 0, GRADIENT_LIMIT
        self._outside_values: dict[tuple[Any, str], Any] | None = None  # None if the first call cannot be compared.
        update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Record the function's gradients if a step is due, and then call the compiled function."""
        gradient_block = self._gradient_block
        if (
            self._gradient_limit
            and gradient_block._remaining_gradients is None
            and gradient_block.can_record((args, kwargs))
        ):
            restore_state = save_mutable_state(self._function, *args)
            if self._call_count == 0:  # JAX caches this trace for the program's own call.
                previous_count = gradient_block.gradient_count
                with suppress(Exception):
                    self._jitted.eval_shape(*args, **kwargs)
                if gradient_block.gradient_count == previous_count:
                    self._gradient_limit = 0
            restore_after_trace = save_mutable_state(self._function, *args)
            restore_state()
            gradient_block.uncompiled_results = None
            if self._gradient_limit and self._call_count % gradient_block.every == 0:
                # A limit of one more gradient than there are lets the function run to its end.
                self._gradient_limit = gradient_block.record_gradients_uncompiled(
                    self._function, args, kwargs, min(self._gradient_limit + 1, GRADIENT_LIMIT)
                )
            restore_after_trace()
            self._call_count += 1
            uncompiled_results = gradient_block.uncompiled_results
            results = self._jitted(*args, **kwargs)
            if uncompiled_results is not None:
                with suppress(RuntimeError):  # An array that was donated to the compiled function is gone.
                    self._compare_results(uncompiled_results, results)
            return results
        return self._jitted(*args, **kwargs)

    def _compare_results(self, uncompiled_results: Any, results: Any) -> None:
        """Compare the results of the Python function and the compiled function.

        If the first results agree and later results differ, the function reads a value that has changed since the
        trace. If the results already differ in the first call, the difference is only rounding.

        Args:
            uncompiled_results: The results of the Python function.
            results: The results of the compiled function.
        """
        is_same = have_same_values(uncompiled_results, results)
        if self._call_count == 1:
            self._outside_values = read_all_outside_values(self._function) if is_same else None
        elif not is_same and self._outside_values is not None:
            values = read_all_outside_values(self._function)
            for (function, name), value in self._outside_values.items():
                if values.get((function, name), value) is not value:
                    site = find_reading_site(function, name)
                    self._gradient_block.stale_values.append(StaleValue(name, site, self._call_count))
            self._outside_values = None

    def __get__(self, owner: Any, owner_class: Any = None) -> Any:
        """Bind the function as a method if it is a class attribute."""
        return self if owner is None else MethodType(self, owner)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the compiled function, such as ``lower``."""
        return getattr(self.__dict__["_jitted"], name)


def read_all_outside_values(function: Any) -> dict[tuple[Any, str], Any]:
    """Return the outside values that a function and its callees read, except functions and modules.

    Args:
        function: The function.

    Returns:
        The values. Each key is the reading function and the name of the value.
    """
    return {
        (callee, name): value
        for callee in iter_function_and_callees(function)
        for name, value in read_outside_values(callee).items()
        if not callable(value) and not inspect.ismodule(value)
    }


def find_reading_site(function: Any, name: str) -> Site:
    """Return the first line of a function that reads a name.

    Args:
        function: The function.
        name: The name.
    """
    code = function.__code__
    last_line = max((line for *_, line in code.co_lines() if line is not None), default=code.co_firstlineno)
    for statement in program_text.list_statements(code.co_filename):
        if code.co_firstlineno < statement.site[1] <= last_line and name in statement.read_names:
            return statement.site
    return (code.co_filename, code.co_firstlineno)


def have_same_values(first: Any, second: Any) -> bool:
    """Return whether two trees of arrays agree up to rounding.

    Args:
        first: A tree of arrays.
        second: Another tree of arrays.

    >>> ones = jax.numpy.ones(2)
    >>> have_same_values([ones, 2], [ones + 1e-7, 2]), have_same_values([ones], [ones + 0.1])
    (True, False)
    """
    for one, other in zip(jax.tree_util.tree_leaves(first), jax.tree_util.tree_leaves(second), strict=False):
        if not hasattr(one, "dtype") or not is_inexact(one):
            continue
        one_array, other_array = np.asarray(one, np.complex128), np.asarray(other, np.complex128)
        if one_array.shape != other_array.shape or not np.allclose(
            np.nan_to_num(one_array),
            np.nan_to_num(other_array),
            rtol=1e-2,
            atol=1e-3 * np.abs(np.nan_to_num(other_array)).max(initial=0.0),
        ):
            return False
    return True
