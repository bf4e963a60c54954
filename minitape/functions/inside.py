"""A recording from inside, for a picture and `explain`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine.recording.block import TemporaryAttributes
from ..engine.recording.state import state
from ..engine.tensor.operation import apply
from ..engine.tensor.tensor import EagerTensor, new_tensor


def again(recording: Any, inputs: Sequence, saved: Sequence = ()) -> list[EagerTensor]:
    """The results of a call, and then new states, as operations that are recorded now. Effects are not repeated."""
    kept = dict(zip(recording.gradient.saved, saved, strict=False))
    values: dict = dict(zip((feed.row for feed in recording.feeds), inputs, strict=True))
    values |= {row: new_tensor(kept[row]) for row in recording.own_rows if row in kept}
    calls, constants = recording.table.calls_for(recording.fetches, list(values))
    values |= {row: new_tensor(value) for row, value in constants.items() if row not in values}
    for call in calls:
        with TemporaryAttributes(state, fixed_site=recording.table.record.site_of(call.row)):
            given = tuple([values[row] for row in call.inputs])
            replay = getattr(call.primitive, "replay", None)
            out = apply(call.primitive, given, call.attrs) if replay is None else tuple(replay(given))
        values.update(enumerate(out if isinstance(out, tuple) else (out,), call.row))
    return [values[row] for row in recording.fetches]
