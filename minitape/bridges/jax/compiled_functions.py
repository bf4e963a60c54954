"""Replace compiled ``jax.jit`` functions, and check that they still compute the same results as their Python code."""

from __future__ import annotations

from contextlib import suppress
from functools import partial, update_wrapper
from types import MethodType
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax.tree_util import all_leaves, tree_flatten, tree_leaves

from ..mutable_state import save_state_and_build_restorer
from ..outside_values import (
    OutsideData,
    explain_stale_value,
    read_outside_data_with_callees,
)
from ..traced_draws import TracedDraws, read_generator_states

if TYPE_CHECKING:
    from .program import SampledGradients

CLOSE_CHECKS = 20  # Every call up to this number is checked for replaced values. After that, only one call in 20 is.
GRADIENT_LIMIT = 10  # The maximum number of gradients recorded for one compiled function.


class CompiledFunction:
    """A replacement for a compiled function that ``jax.jit`` returned in the block."""

    def __init__(self, gradient_block: SampledGradients, function: Any, jitted: Any):
        """Wrap a compiled function together with its original function."""
        self._gradient_block = gradient_block
        self._function = function
        self._jitted = jitted
        self._call_count = 0
        self._gradient_limit = GRADIENT_LIMIT
        self._traced_values: OutsideData = {}  # The outside values that the function read during its last trace.
        self._later_call_count = self._trace_count = 0
        self._may_be_stale = True
        self._draws = TracedDraws()
        gradient_block.traced_draws.append(self._draws)
        update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Record the function's gradients if a step is due, and then call the compiled function."""
        gradient_block = self._gradient_block
        if self._later_call_count < CLOSE_CHECKS:
            self._draws.before = read_generator_states(self._function)
        # If the calling function runs only to be recorded, this call is recorded together with it.
        if not self._gradient_limit or gradient_block._remaining_gradients is not None:
            return self._jitted(*args, **kwargs)
        is_due = gradient_block.may_record_call((args, kwargs))
        if is_due:
            restore_state = save_state_and_build_restorer(self._function, *args)
            if self._call_count == 0:  # JAX caches this trace and uses it again for the program's call.
                previous_count = gradient_block.gradient_count
                with suppress(Exception):
                    self._jitted.eval_shape(*args, **kwargs)
                if gradient_block.gradient_count == previous_count:
                    self._gradient_limit = 0
            restore_after_trace = save_state_and_build_restorer(self._function, *args)
            restore_state()
            if self._gradient_limit and self._call_count % gradient_block.every == 0:
                # The function stops at the limit, so a limit one above its number of gradients lets it run to its end.
                self._gradient_limit = gradient_block.record_uncompiled_and_count_gradients(
                    self._function, args, kwargs, min(self._gradient_limit + 1, GRADIENT_LIMIT)
                )
            restore_after_trace()
            self._call_count += 1
        results = self._jitted(*args, **kwargs)
        if not self._gradient_limit:
            return results
        with suppress(Exception):  # An error here must not stop the program.
            self._store_explanation_if_value_is_stale(args, kwargs)
        if not is_due:
            record_call = partial(
                gradient_block.record_uncompiled_and_count_gradients, self._function, gradient_limit=GRADIENT_LIMIT
            )
            gradient_block.check_later_call_and_record_if_nonfinite(self._function, args, kwargs, results, record_call)
        return results

    def _store_explanation_if_value_is_stale(self, args: tuple, kwargs: dict) -> None:
        """Store an explanation if the program has replaced a value that the function read during its last trace.

        Reading the values takes longer than a small step, so later calls are checked only rarely.
        """
        self._later_call_count += 1
        if not self._may_be_stale or (self._later_call_count > CLOSE_CHECKS and self._later_call_count % CLOSE_CHECKS):
            return
        trace_count = self._jitted._cache_size()
        # An object that JAX can flatten, such as a module, is traced. Any other object is treated as a static argument.
        static_args = args[:1] if all_leaves(args[:1]) else ()
        values = read_outside_data_with_callees(self._function, *static_args)
        if self._later_call_count <= CLOSE_CHECKS:
            draw_states = read_generator_states(self._function)
            self._draws.update_after_call(draw_states, trace_count != self._trace_count)
        if trace_count != self._trace_count:
            self._trace_count, self._traced_values = trace_count, values
        for key, value in self._traced_values.items():
            if not self._may_be_stale or are_trees_equal(value, values.get(key, value)):
                continue
            # JAX returns the trace that it has cached. If it contains no array of the value, the function may have read
            # only keys or shapes.
            constants = {*map(id, self._jitted.trace(*args, **kwargs).jaxpr.consts)}
            leaves = tree_leaves(value) or [None]
            if any(id(leaf) in constants or not isinstance(leaf, jax.Array) for leaf in leaves):
                self._may_be_stale = False
                self._gradient_block.stale_values.append(explain_stale_value("jax", *key, self._later_call_count))

    def __get__(self, owner: Any, owner_class: Any = None) -> Any:
        """Bind the function as a method if it is a class attribute."""
        return self if owner is None else MethodType(self, owner)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the compiled function, such as ``lower``."""
        return getattr(self.__dict__["_jitted"], name)


def are_trees_equal(first: Any, second: Any) -> bool:
    """Return whether two trees of arrays, numbers and other objects are equal.

    Args:
        first: A tree.
        second: Another tree.

    >>> import jax
    >>> ones = jax.numpy.ones(2)
    >>> are_trees_equal([ones, 2], [ones + 0, 2]), are_trees_equal([ones], [ones + 0.1])
    (True, False)
    """
    leaves, tree = tree_flatten(first)
    other_leaves, other_tree = tree_flatten(second)
    with suppress(RuntimeError):  # An array that was donated to a compiled function no longer exists.
        return first is second or (tree == other_tree and all(map(np.array_equal, leaves, other_leaves)))
    return True
