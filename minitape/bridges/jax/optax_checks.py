"""Find mistakes in the use of optax that no single gradient shows."""

from __future__ import annotations

import inspect
import sys
from contextlib import suppress
from types import FunctionType

import numpy as np

from ...explain.explanation import OptionalExplanation
from ...explain.layer_lookup import iter_living_instances
from ..run_watch.schedules import explain_schedule_decayed_too_early

RATE_FUNCTION = "scale_by_learning_rate.<locals>.<lambda>"  # The function of optax that holds an optimizer's schedule.


def explain_schedules_decayed_too_early() -> list[OptionalExplanation]:
    """Return an explanation for each optimizer whose schedule ended too early, and None for every other schedule."""
    optax = sys.modules.get("optax")
    if optax is None:
        return []
    counts = [0]
    for state in list(iter_living_instances(optax.ScaleByScheduleState)):
        with suppress(Exception):  # A donated array is gone, and a tracer has no value.
            counts.append(int(np.max(state.count)))
    return [
        explain_schedule_decayed_too_early(
            "jax", inspect.getclosurevars(function).nonlocals["learning_rate"], max(counts), vars(optax.schedules)
        )
        for function in list(iter_living_instances(FunctionType))
        if function.__qualname__ == RATE_FUNCTION
    ]
