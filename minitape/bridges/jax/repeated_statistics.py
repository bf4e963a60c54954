"""Find batch statistics and random keys that stay the same in every training step because new ones are dropped."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any

import jax
from jax.tree_util import tree_leaves

from ...explain.reasons.program_text import find_binding_statements, find_statement, unparse
from ...recording.sites import CallStack, Site, find_user_call_stack, find_user_site
from ..framework_patches import FrameworkPatches
from .transforms import list_float_arrays

# What a step began with: the variant of the sentence, the lines that led to its use, and its value as text.
ValuesOfStep = set[tuple[str, CallStack, str]]
REPORTED_COUNT = 3  # Statistics and keys are reported if at least this many steps began with them.
RANDOM_FUNCTIONS = "bernoulli normal uniform truncated_normal gumbel randint choice permutation split".split()


class RepeatedStatisticsAndKeys:
    """Collects the ``batch_stats`` and keys that steps begin with, and finds those that are the same in all steps.

    Attributes:
        used: The values that the current step has used. Each step starts with an empty set.
    """

    def __init__(self) -> None:
        """Start with no recorded steps."""
        self.used: ValuesOfStep = set()
        # For each differentiated function, the number of its steps, the values that all these steps used, and the lines
        # that led to the last gradient.
        self._steps = dict[Any, tuple[int, ValuesOfStep, CallStack]]()
        self._is_watching = False

    def watch_models_if_imported(self, patches: FrameworkPatches) -> None:
        """Watch Flax models as soon as the program has imported Flax.

        Args:
            patches: The patches to which the watch is added. Undoing these patches ends the watch.
        """
        linen_module = sys.modules.get("flax.linen.module")
        if hasattr(linen_module, "apply") and not self._is_watching:
            self._is_watching = True
            # The method ``Module.apply`` calls this function. A program may have stored the method before the watch.
            patches.wrap_function(linen_module, "apply", self._build_function_recording_statistics)

    def _build_function_recording_statistics(
        self, original: Any, function: Any, module: Any, *args: Any, **options: Any
    ) -> Any:
        apply_module = original(function, module, *args, **options)

        @wraps(apply_module)
        def apply_and_record_statistics(variables: Any, *args: Any, **kwargs: Any) -> Any:
            results = apply_module(variables, *args, **kwargs)
            updated = results[-1] if isinstance(results, tuple) else None
            if isinstance(updated, Mapping) and "batch_stats" in updated and "batch_stats" in variables:
                arrays = list_float_arrays(variables["batch_stats"])
                # A normalization that uses its running averages returns the same arrays.
                is_updated = not {*map(id, arrays)}.issuperset(map(id, tree_leaves(updated["batch_stats"])))
                if is_updated and not any(isinstance(array, jax.core.Tracer) for array in arrays):
                    self.used.add(("statistics", (find_user_site(),), repr(arrays)))
            return results

        return apply_and_record_statistics

    def record_key_and_draw(self, original: Any, key: Any, *args: Any, **kwargs: Any) -> Any:
        """Draw random numbers, and record the key.

        Args:
            original: The function of ``jax.random``.
            key: The key that the function receives.
            *args: Its further positional arguments.
            **kwargs: Its keyword arguments.
        """
        # After the recorded steps, the values are not read any more.
        if len(self.used) < 100 and not isinstance(key, jax.core.Tracer):
            self.used.add(("key", (*find_user_call_stack(),), repr(jax.random.key_data(key))))
        return original(key, *args, **kwargs)

    @contextmanager
    def watch_step_and_keep_repeated_values(self, function_key: Any) -> Iterator[None]:
        """Watch one step's gradient in the block, and keep only the values that all earlier steps also used.

        Args:
            function_key: An object that identifies the differentiated function.
        """
        yield
        count, shared, _ = self._steps.get(function_key, (0, self.used, ()))
        self._steps[function_key] = count + 1, shared & self.used, find_user_call_stack()

    def map_lines_and_variants_to_step_counts(self) -> dict[tuple[Site, str], int]:
        """Return the lines whose values were the same in every step, each with the variant of the sentence to use.

        Each line is mapped to the number of steps that ran it.
        """
        return {
            (site, variant): count
            for count, shared, gradient_stack in self._steps.values()
            for variant, call_stack, _ in shared
            if count >= REPORTED_COUNT
            for site in (
                _list_lines_repeating_key(call_stack, len(gradient_stack)) if variant == "key" else call_stack[-1:]
            )
        }


def _list_lines_repeating_key(call_stack: CallStack, depth: int) -> list[Site]:
    """Return the line that creates the same key for every step or passes it on, or nothing if this may be on purpose.

    A function that creates its own key, such as one for random features, may need the same numbers in every step, but
    not if they are noise with the shape of another value.

    Args:
        call_stack: The lines that led to the call of the random function, outermost first.
        depth: The number of lines up to the one that computes the gradient.
    """
    statements = [*map(find_statement, call_stack)]
    draw, functions = statements[-1].find_call(*RANDOM_FUNCTIONS), statements[-1].enclosing_functions
    parameters = {arg.arg for function in functions[:1] for arg in function.args.args}
    if draw is not None and ".shape" not in unparse(draw) and parameters.isdisjoint(statements[-1].read_names):
        return []
    place_in_loop = next((place for place in range(depth)[::-1] if statements[place].enclosing_loops), 0)
    for statement in reversed(statements[place_in_loop:]):
        bindings = (item for name in statement.read_names for item in find_binding_statements(name, statement))
        for item in (statement, *bindings):
            if item.find_call("key", "PRNGKey") and item.enclosing == statement.enclosing:
                return [item.site]
    return [statements[place_in_loop].site]
