"""Replay a recording as operations that are recorded, for pictures and ``explain``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..engine.record.interrupt_safe import TemporaryAttributes
from ..engine.record.thread_state import state
from ..engine.tensor.operation import apply
from ..engine.tensor.tensor import EagerTensor, create_tensor

if TYPE_CHECKING:
    from .function_recording import FunctionRecording


def replay_recording(recording: FunctionRecording, inputs: Sequence, saved: Sequence = ()) -> list[EagerTensor]:
    """Run the rows of a recording again as operations that are recorded now.

    Effects are not repeated. For rows that differ between runs, `saved` contains the values.

    Args:
        recording: The recording.
        inputs: A tensor for each feed.
        saved: The values of the rows in `recording.gradient.saved_rows`. May be empty.

    Returns:
        The results, followed by the new states of the assigned variables, as tensors.
    """
    saved_values = dict(zip(recording.gradient.saved_rows, saved, strict=False))
    values: dict = dict(zip((feed.row for feed in recording.feeds), inputs, strict=True))
    values |= {row: create_tensor(saved_values[row]) for row in recording.per_run_rows if row in saved_values}
    calls, constants = recording.traced_rows.find_needed_calls_and_constants(recording.fetches, list(values))
    values |= {row: create_tensor(value) for row, value in constants.items() if row not in values}
    for call in calls:
        with TemporaryAttributes(state, fixed_site=recording.traced_rows.record.find_site(call.row)):
            call_inputs = tuple([values[row] for row in call.inputs])
            replay = getattr(call.primitive, "replay", None)
            if replay is None:
                result = apply(call.primitive, call_inputs, call.attrs)
            else:
                result = tuple(replay(call_inputs))
        results = result if isinstance(result, tuple) else (result,)
        values.update(enumerate(results, call.row))
    return [values[row] for row in recording.fetches]
