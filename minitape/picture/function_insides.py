"""The inside of a call of ``tf.function``: its rows with the values that this call had, as a snapshot of their own.

A call is one row of a recording. It brings along what it needs to run again as eager operations (a gradient of a
gradient needs that, too): from the inputs that it had, on the branches that it took, with what its effects returned
then. Here it runs so under a tape of its own, and a picture of that tape is the inside. Nothing of the recording
changes, and no Python function of the program runs once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..engine.backward.tape import GradientTape
from ..engine.record.interrupt_safe import TemporaryAttributes, suspend_recording
from ..engine.record.thread_state import state
from ..engine.tensor.tensor import create_tensor
from .reader import Reader
from .shown_values import to_value_fields
from .stepper import MAX_EAGER_ROWS, build_tape_stepper

if TYPE_CHECKING:
    from ..engine.record.record import Record
    from ..engine.record.row_parts import Call
    from ..engine.tensor.tensor import EagerTensor
    from ..engine.types import Array, Structure
    from .snapshot_types import InsideFields, Snapshot

MAX_CALLS = 16  # of one recording that a snapshot has the inside of
MAX_ROWS = 2_000  # of one inside that are shown
MAX_DEPTH = 3  # insides of calls inside of calls


def list_function_insides(
    reader: Reader,
    target: Structure = None,
    sources: Structure = None,
    call_row: int | None = None,
    remaining_depth: int = MAX_DEPTH,
) -> list[InsideFields]:
    """Return the insides of the first calls of functions that a reader's tape recorded, or of ``listed_row`` alone.

    Each has the sweep through its rows.

    >>> import minitape as tf
    >>> @tf.function
    ... def steps(x):
    ...     while x < 10.0:
    ...         x = x * 2.0
    ...     return x
    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = steps(x)
    >>> (inside,) = tf.snapshot(tape, y, x)["insides"]
    >>> inside["name"], [row["value"]["text"] for row in inside["snapshot"]["rows"] if row["label"] == "×"]
    ('steps', ['6.0', '12.0'])
    """
    record = reader.record
    if record is None or record.is_open or remaining_depth == 0:
        return []
    rows = [
        call.row
        for call in record.calls
        if call_row in (None, call.row) and call.primitive.name == "function" and "recording" in call.attrs
    ][:MAX_CALLS]
    adjoints = _compute_function_output_adjoints(reader, target, sources) if rows else {}
    return [
        inside
        for listed_row in rows
        if (inside := _build_function_inside(reader, listed_row, adjoints, remaining_depth if call_row is None else 1))
        is not None
    ]


def _build_function_inside(
    reader: Reader, call_row: int, output_adjoints: dict[int, Array], remaining_depth: int
) -> InsideFields | None:
    """Return the INSIDE of a call, into whose outputs these adjoints come; None where it cannot be run again."""
    record = reader.record
    assert record is not None
    site, call = record.read_integer_cells(call_row)[3], record.get_call(call_row)
    recording = call.attrs["recording"]
    arrays = [reader.kept_arrays.get(input_row, record.get_value_or_none(input_row)) for input_row in call.inputs]
    if any(array is None for array in arrays):
        return None
    place = reader.enter_row_context(call_row).place
    # its rows belong to the statement that called
    call_site = place and (place[0], site if place[1] is None else place[1])
    with suspend_recording(), TemporaryAttributes(state, fixed_site=call_site), np.errstate(all="ignore"):
        inputs = [create_tensor(array) for array in arrays]
        try:
            with GradientTape() as tape:
                tape.watch([input_row for input_row in inputs if input_row.dtype.differentiable])
                outputs = recording.replay_rows(inputs, call.attrs["saved"])[: len(recording.results)]
        except Exception:  # it ran once: what is different now is nothing that a picture should raise
            return None
    if not _are_outputs_as_recorded(record, call, outputs):
        return None
    names = {name: value for name, value in zip(_list_call_input_names(reader, call), inputs, strict=True) if name}
    inner_reader = Reader(tape, [{**names, recording.name: tape}])
    inner_rows = inner_reader.read_new_rows(MAX_ROWS)
    inner_reader.update_names_and_leaf_states(inner_rows)
    inner_snapshot: Snapshot = inner_reader.build_snapshot_without_sweep(
        [inner_row.to_row_fields() for inner_row in inner_rows], 0
    )
    seeded_outputs = [
        (output, create_tensor(output_adjoints[call_row + output_number]))
        for output_number, output in enumerate(outputs)
        if call_row + output_number in output_adjoints
    ]
    differentiable_inputs = [input_row for input_row in inputs if input_row.dtype.differentiable]
    if seeded_outputs and differentiable_inputs and inner_snapshot["total"] == len(inner_rows):
        stepper = build_tape_stepper(
            tape,
            [output for output, _ in seeded_outputs],
            differentiable_inputs,
            inner_reader.kept_arrays,
            to_value_fields,
            [adjoint for _, adjoint in seeded_outputs],
        )
        inner_snapshot["sweep"] = None if stepper is None else stepper.build_sweep_fields()
    inner_snapshot["insides"] = list_function_insides(inner_reader, remaining_depth=remaining_depth - 1)
    return {"row": call_row, "name": recording.name, "snapshot": inner_snapshot}


def _are_outputs_as_recorded(record: Record, call: Call, outputs: Sequence[EagerTensor]) -> bool:
    """Return whether these outputs are those that the call had when it was recorded."""
    for output_number, output in enumerate(outputs):
        earlier_value = record.get_value_or_none(call.row + output_number)
        is_numeric = earlier_value is not None and earlier_value.dtype.kind in "fciub"
        if is_numeric and not np.allclose(earlier_value, output.array, rtol=1e-4, atol=1e-6, equal_nan=True):
            return False
    return True


def _list_call_input_names(reader: Reader, call: Call) -> list[str]:
    """Return the names of a call's inputs: of its parameters, then those of the variables and tensors that it reads."""
    parameters = call.attrs["recording"].trace.argument_names
    leaves = reader.known_record.leaves
    leaf_names = [
        getattr(getattr(leaves.get(row), "variable", None), "name", "") for row in call.inputs[len(parameters) :]
    ]
    return [*parameters, *(name.removesuffix(":0") for name in leaf_names)]


def _compute_function_output_adjoints(reader: Reader, target: Structure, sources: Structure) -> dict[int, Array]:
    """Return the adjoints that the last gradient brings to the outputs of functions, by row."""
    stepper = build_tape_stepper(reader.tape, target, sources, reader.kept_arrays, lambda value: None)
    if stepper is None or stepper.remaining_rows > MAX_EAGER_ROWS or stepper.take_steps() is None:
        return {}
    return stepper.function_adjoints
