"""Find statistics of Flax models that stay the same in every training step because the updated ones are dropped."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any

import jax
from jax.tree_util import tree_leaves

from ...recording.sites import Site, find_user_site
from ..framework_patches import FrameworkPatches
from .transforms import list_float_arrays

StatisticsOfStep = set[tuple[Site, str]]  # The lines that updated statistics, with the old values as text.
REPORTED_COUNT = 3  # Statistics are reported if at least this many steps began with them.


class RepeatedStatistics:
    """Collects the ``batch_stats`` that the steps begin with, and finds those that are the same in all steps."""

    def __init__(self) -> None:
        """Start with no recorded steps."""
        self._used: StatisticsOfStep = set()  # Each step starts with an empty set.
        # For each differentiated function, the number of its steps, and the statistics that all these steps used.
        self._steps = dict[Any, tuple[int, StatisticsOfStep]]()
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
                    self._used.add((find_user_site(), repr(arrays)))
            return results

        return apply_and_record_statistics

    @contextmanager
    def watch_step_and_keep_repeated_statistics(self, function_key: Any) -> Iterator[None]:
        """Watch one step in the block, and keep only the statistics that all earlier steps also used.

        Args:
            function_key: An object that identifies the differentiated function.
        """
        self._used = set()
        yield
        count, shared = self._steps.get(function_key, (0, self._used))
        self._steps[function_key] = count + 1, shared & self._used

    def map_lines_repeating_statistics_to_steps(self) -> dict[Site, int]:
        """Return the lines that updated statistics from the same old values in every step.

        Each line is mapped to the number of steps that ran it.
        """
        steps = (step for step in self._steps.values() if step[0] >= REPORTED_COUNT)
        return {site: count for count, shared in steps for site, _ in shared}
