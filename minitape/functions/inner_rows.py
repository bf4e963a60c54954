"""Replay a concrete function as operations that are recorded, for pictures and ``explain``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..engine.record.interrupt_safe import TemporaryAttributes
from ..engine.record.thread_state import state
from ..engine.tensor.operation import run_and_record
from ..engine.tensor.tensor import EagerTensor, wrap_array_with_origin

if TYPE_CHECKING:
    from .concrete_function import ConcreteFunction


def replay_concrete_function(
    concrete_function: ConcreteFunction, inputs: Sequence, saved: Sequence = ()
) -> list[EagerTensor]:
    """Run the rows of a concrete function again as operations that are recorded now.

    Effects are not repeated. For rows that differ between runs, `saved` contains the values.

    Args:
        concrete_function: The function.
        inputs: A tensor for each feed.
        saved: The values of the rows in ``ConcreteGradient.saved_rows``. May be empty.

    Returns:
        The results, followed by the new states of the assigned variables, as tensors.
    """
    saved_values = dict(zip(concrete_function.get_or_record_gradient().saved_rows, saved, strict=False))
    values: dict = dict(zip((feed.row for feed in concrete_function.feeds), inputs, strict=True))
    values |= {
        row: wrap_array_with_origin(saved_values[row]) for row in concrete_function.per_run_rows if row in saved_values
    }
    calls, constants = concrete_function.traced_rows.find_needed_operations_and_constants(
        concrete_function.fetch_rows, list(values)
    )
    values |= {row: wrap_array_with_origin(value) for row, value in constants.items() if row not in values}
    for call in calls:
        with TemporaryAttributes(state, fixed_site=concrete_function.traced_rows.record.find_site(call.row)):
            call_inputs = tuple([values[row] for row in call.inputs])
            replay = getattr(call.primitive, "replay", None)
            if replay is None:
                result = run_and_record(call.primitive, call_inputs, call.attrs)
            else:
                result = tuple(replay(call_inputs))
        results = result if isinstance(result, tuple) else (result,)
        values.update(enumerate(results, call.row))
    return [values[row] for row in concrete_function.fetch_rows]
