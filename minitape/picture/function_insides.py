"""Read the rows inside ``tf.function`` calls, as one snapshot for each call.

A call is a single row of a recording. To make second derivatives possible, the row keeps everything that is needed to
replay the call as eager operations: its inputs, the branches that it took, and the results of its side effects. This
module replays the call under a new tape, and the snapshot of that tape becomes the inside of the call. The replay does
not change the recording, and does not run any of the program's Python functions.
"""

from collections.abc import Sequence

import numpy as np

from ..engine.backward.tape import GradientTape
from ..engine.record.interrupt_safe import TemporaryAttributes, suspend_recording
from ..engine.record.record import Record
from ..engine.record.row_parts import Call
from ..engine.record.thread_state import state
from ..engine.tensor.tensor import EagerTensor, wrap_array_with_origin
from ..engine.types import ArraysByRow, NameList, OptionalNumber, RowSequence, Structure
from .reader import TapeReader, match_default_name
from .reader_base import merge_parts_and_return_merged
from .shown_values import to_value_fields
from .snapshot_types import InsideFields, Snapshot
from .source_names import find_names_in_source
from .stepper import MAX_EAGER_ROWS, build_tape_stepper

MAX_CALLS = 16  # Only this many calls of a recording have an inside in its snapshot.
MAX_ROWS = 2_000  # Further rows of an inside are omitted.
MAX_DEPTH = 3  # Calls nested more deeply have no inside.


def list_function_insides(
    reader: TapeReader,
    target: Structure = None,
    sources: Structure = None,
    call_row: OptionalNumber = None,
    remaining_depth: int = MAX_DEPTH,
) -> list[InsideFields]:
    """Return the rows inside ``tf.function`` calls, with the sweep through them.

    Args:
        reader: The reader of the recording, which has read its rows.
        target: The target of the sweep through the calls, or None for the tape's last gradient call.
        sources: The sources of that sweep.
        call_row: The row of the only call to open, or None to open the first MAX_CALLS calls.
        remaining_depth: The number of levels of nested calls to open.

    Returns:
        The insides of all calls that can be replayed, or an empty list while a tape is recording.

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
    if record is None or record.is_opened_by_tape or remaining_depth == 0:
        return []
    rows = [
        call.row
        for call in record.calls
        if call_row in (None, call.row) and call.primitive.name == "function" and "concrete_function" in call.attrs
    ][:MAX_CALLS]
    adjoints = _compute_function_output_adjoints(reader, target, sources) if rows else {}
    inside_depth = remaining_depth if call_row is None else 1
    return [
        inside
        for listed_row in rows
        if (inside := _build_function_inside(reader, listed_row, adjoints, inside_depth)) is not None
    ]


def _build_function_inside(
    reader: TapeReader, call_row: int, output_adjoints: ArraysByRow, remaining_depth: int
) -> InsideFields | None:
    """Return the rows inside a call with the sweep that begins with the adjoints of its outputs.

    Returns None if the call cannot be replayed or if the replay computes different values.
    """
    record = reader.required_recording
    call = record.get_call(call_row)
    concrete_function = call.attrs["concrete_function"]
    arrays = [reader.kept_arrays.get(input_row, record.get_value_or_none(input_row)) for input_row in call.inputs]
    if any(array is None for array in arrays):
        return None
    # The inside rows belong to the statement that called the function.
    call_site = record.find_site(call_row)
    with suspend_recording(), TemporaryAttributes(state, fixed_site=call_site), np.errstate(all="ignore"):
        inputs = [wrap_array_with_origin(array) for array in arrays]
        differentiable_inputs = [tensor for tensor in inputs if tensor.dtype.differentiable]
        try:
            with GradientTape() as tape:
                tape.watch(differentiable_inputs)
                outputs = concrete_function.replay_rows(inputs, call.attrs["saved"])[
                    : len(concrete_function.result_rows)
                ]
        except Exception:  # The original call raised no error, so a failed replay is not the program's fault.
            return None
    if not _are_outputs_as_recorded(record, call, outputs):
        return None
    parameters = concrete_function.first_run.argument_names
    inner_reader = TapeReader(tape, [{**dict(zip(parameters, inputs, strict=False)), concrete_function.name: tape}])
    inner_rows = inner_reader.read_new_rows(MAX_ROWS)
    inner_reader.update_names_and_leaf_states(inner_rows)
    merge_parts_and_return_merged(inner_rows, find_names_in_source(inner_reader.required_recording, inner_rows))
    # The function's text names its inputs. The caller's names are left for the rest.
    other_names = _list_names_of_other_inputs(reader, call.inputs[len(parameters) :])
    inner_reader.namespaces.append(dict(zip(other_names, inputs[len(parameters) :], strict=True)))
    inner_reader.update_names_and_leaf_states(inner_rows)
    inner_snapshot: Snapshot = inner_reader.build_snapshot_without_sweep(
        [inner_row.to_row_fields() for inner_row in inner_rows], 0
    )
    seeded_outputs = [
        (output, wrap_array_with_origin(output_adjoints[call_row + output_number]))
        for output_number, output in enumerate(outputs)
        if call_row + output_number in output_adjoints
    ]
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
    return {"row": call_row, "name": concrete_function.name, "snapshot": inner_snapshot}


def _are_outputs_as_recorded(record: Record, call: Call, outputs: Sequence[EagerTensor]) -> bool:
    """Return whether the outputs of a replay are close to the recorded outputs of the call."""
    for output_number, output in enumerate(outputs):
        earlier_value = record.get_value_or_none(call.row + output_number)
        is_numeric = earlier_value is not None and earlier_value.dtype.kind in "fciub"
        if is_numeric and not np.allclose(earlier_value, output.array, rtol=1e-4, atol=1e-6, equal_nan=True):
            return False
    return True


def _list_names_of_other_inputs(reader: TapeReader, rows: RowSequence) -> NameList:
    """Return the caller's names of the variables and tensors that a call reads but that aren't its arguments.

    Inputs without a name have the name "_", which pictures don't show.
    """
    names_by_row = reader.map_rows_to_python_names()
    leaves = reader.required_recording.leaves
    names = [names_by_row.get(row) or getattr(getattr(leaves.get(row), "variable", None), "name", "") for row in rows]
    return ["_" if not name or match_default_name(name) else name.removesuffix(":0") for name in names]


def _compute_function_output_adjoints(reader: TapeReader, target: Structure, sources: Structure) -> ArraysByRow:
    """Return the adjoints of function calls' outputs, by row, or {} if there is no sweep or it is too long."""
    stepper = build_tape_stepper(reader.tape, target, sources, reader.kept_arrays, lambda value: None)
    if stepper is None or stepper.remaining_rows > MAX_EAGER_ROWS or stepper.take_steps() is None:
        return {}
    return stepper.function_adjoints
