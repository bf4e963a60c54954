"""Find the statistics of Flax models that are the same in every training step, because the new ones are dropped."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax

from ...recording.sites import Site, find_user_site
from ..framework_patches import FrameworkPatches
from .transforms import list_float_arrays

StatisticsOfStep = set[tuple[Site, str]]  # The lines that updated statistics, with the text of the old values.
REPORTED_COUNT = 3  # Statistics are reported if at least this many steps began with them.


class RepeatedStatistics:
    """Collects the ``batch_stats`` that the steps begin with, and finds those that are the same in all steps."""

    def __init__(self) -> None:
        """Start without steps."""
        self._used: StatisticsOfStep = set()  # Only a step reads these values.
        # For each differentiated function, the number of steps, and the statistics that all of them used.
        self._steps = dict[Any, tuple[int, StatisticsOfStep]]()

    def watch_models(self, patches: FrameworkPatches) -> None:
        """Watch the models of Flax.

        Args:
            patches: The patches that end the watch.
        """
        if linen := sys.modules.get("flax.linen"):
            patches.wrap_function(linen.Module, "apply", self._apply_and_record_statistics)

    def _apply_and_record_statistics(
        self, original: Any, module: Any, variables: Any, *args: Any, **kwargs: Any
    ) -> Any:
        if kwargs.get("mutable") and "batch_stats" in variables:
            arrays = list_float_arrays(variables["batch_stats"])
            if not any(isinstance(array, jax.core.Tracer) for array in arrays):
                self._used.add((find_user_site(), repr(arrays)))
        return original(module, variables, *args, **kwargs)

    @contextmanager
    def watch_step_and_keep_repeated_statistics(self, function_key: Any) -> Iterator[None]:
        """Watch one step in the block, and keep the statistics that it shares with the previous steps.

        Args:
            function_key: An object that stands for the differentiated function.
        """
        self._used = set()
        yield
        count, shared = self._steps.get(function_key, (0, self._used))
        self._steps[function_key] = count + 1, shared & self._used

    def map_lines_repeating_statistics_to_steps(self) -> dict[Site, int]:
        """Return the lines that updated the same statistics in every step, each with the number of steps."""
        steps = (step for step in self._steps.values() if step[0] >= REPORTED_COUNT)
        return {site: count for count, shared in steps for site, _ in shared}
