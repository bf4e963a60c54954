"""Replace compiled ``jax.jit`` functions, and check that they still compute the same results as their Python code."""

from __future__ import annotations

from contextlib import suppress
from functools import partial, update_wrapper
from types import MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..outside_values import OutsideData, explain_stale_value, read_outside_data_with_callees
from .mutable_state import save_mutable_state
from .transforms import list_float_arrays

if TYPE_CHECKING:
    from .program import FirstGradients

GRADIENT_LIMIT = 10  # The maximum number of recorded gradients for a compiled function.


class CompiledFunction:
    """The replacement for a function returned by ``jax.jit`` in the block."""

    def __init__(self, gradient_block: FirstGradients, function: Any, jitted: Any) -> None:
        """Wrap a compiled function together with its original function."""
        self._gradient_block = gradient_block
        self._function = function
        self._jitted = jitted
        self._call_count = 0
        self._gradient_limit = GRADIENT_LIMIT
        self._outside_values: OutsideData | None = None  # None if the first call cannot be compared.
        update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Record the function's gradients if a step is due, and then call the compiled function."""
        gradient_block = self._gradient_block
        is_outermost = gradient_block._remaining_gradients is None
        if self._gradient_limit and is_outermost and gradient_block.can_record((args, kwargs)):
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
            results = self._jitted(*args, **kwargs)
            if gradient_block.uncompiled_results is not None:
                with suppress(RuntimeError):  # An array that was donated to the compiled function is gone.
                    self._compare_results(gradient_block.uncompiled_results, results)
            return results
        results = self._jitted(*args, **kwargs)
        if self._gradient_limit and is_outermost:
            record_call = partial(
                gradient_block.record_gradients_uncompiled, self._function, gradient_limit=GRADIENT_LIMIT
            )
            gradient_block.check_later_call_and_record_if_bad(self._function, args, kwargs, results, record_call)
        return results

    def _compare_results(self, uncompiled_results: Any, results: Any) -> None:
        """Compare the results of the Python function and the compiled function.

        If the first results agree and later results differ, the function reads a value that has changed since the
        trace. If the results already differ in the first call, the difference is only rounding.

        Args:
            uncompiled_results: The results of the Python function.
            results: The results of the compiled function.
        """
        is_same = have_close_values(uncompiled_results, results)
        if self._call_count == 1:
            self._outside_values = read_outside_data_with_callees(self._function) if is_same else None
        elif not is_same and self._outside_values is not None:
            values = read_outside_data_with_callees(self._function)
            for (function, name), value in self._outside_values.items():
                if values.get((function, name), value) is not value:
                    self._gradient_block.stale_values.append(
                        explain_stale_value("jax", function, name, self._call_count)
                    )
            self._outside_values = None

    def __get__(self, owner: Any, owner_class: Any = None) -> Any:
        """Bind the function as a method if it is a class attribute."""
        return self if owner is None else MethodType(self, owner)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the compiled function, such as ``lower``."""
        return getattr(self.__dict__["_jitted"], name)


def have_close_values(first: Any, second: Any) -> bool:
    """Return whether two trees of arrays agree up to rounding.

    Args:
        first: A tree of arrays.
        second: Another tree of arrays.

    >>> import jax
    >>> ones = jax.numpy.ones(2)
    >>> have_close_values([ones, 2], [ones + 1e-7, 2]), have_close_values([ones], [ones + 0.1])
    (True, False)
    """
    pairs = zip(list_float_arrays(first), list_float_arrays(second), strict=False)
    for one, other in ((np.asarray(one), np.asarray(other)) for one, other in pairs):
        scale = np.abs(other[np.isfinite(other)]).max(initial=0.0)
        if one.shape != other.shape or not np.allclose(one, other, rtol=1e-2, atol=1e-3 * scale, equal_nan=True):
            return False
    return True
