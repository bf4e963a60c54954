"""Lay out a second derivative in two tiers.

An inner tape's gradient writes rows on an outer tape. This module finds the adjoint that each of these rows computes,
and the row below which each is drawn. To do so, it repeats the inner sweep on a new tape and notes the rows that each
step writes. Each new row corresponds to the recorded row with the same operation and inputs.
"""

from collections import defaultdict
from collections.abc import Collection
from contextlib import suppress
from math import prod

import numpy as np

from ..engine.backward.reachability import propagate_marks_to_consumers
from ..engine.backward.sweep import Sweep
from ..engine.backward.tape import GradientTape
from ..engine.record.interrupt_safe import suspend_recording
from ..engine.record.record import Record
from ..engine.tensor.tensor import wrap_array_with_origin
from ..engine.types import NumberPair, Object, OptionalNumber, RowByRow, RowCollection, RowList
from ..recording.graph_nodes import find_operation_and_inputs
from .expressions import Expressions, format_row_reference
from .picture_rows import PictureRows
from .snapshot_types import RowFields, RowFieldsList

MAX_ROWS = 2000  # Longer recordings have no second tier.
MAX_ELEMENTS = 1_000_000  # A gradient with more elements has no second tier.
MAX_NAME_LETTERS = 9  # The maximum length of a target or source name in a node's title.


def locate_and_name_gradient_rows(record: Record, rows: PictureRows) -> RowFieldsList:
    """Return the fields "below" and "name" of rows written by gradients.

    Args:
        record: The recording of the outer tape.
        rows: All rows of the recording, in order.

    Returns:
        Partial rows. The field "below" contains the row below which a row is drawn. The field "name" is present only
        for complete adjoints without a name in the program.

    >>> import minitape as tf
    >>> x = tf.Variable(3.0, name="x")
    >>> with tf.GradientTape() as outer:
    ...     with tf.GradientTape() as inner:
    ...         y = tf.sin(x * x)
    ...     dy = inner.gradient(y, x)
    >>> [(row["label"], row["name"], row["below"]) for row in tf.snapshot(outer)["rows"][3:6]]
    [('cos', None, 2), ('const', '∂y/∂y', 2), ('×', '∂y/∂(x × x)', 1)]
    """
    parts: RowFieldsList = []
    end = len(record)
    if not record.sweep_boundaries or end > MAX_ROWS:
        return parts
    expressions = Expressions(row.to_row_fields() for row in rows)
    for first, member, targets, sources, spans in reversed(record.sweep_boundaries):
        if (
            member is not None
            and sum(prod(record.get_shape_and_dtype(row)[0]) for row in range(first, end)) <= MAX_ELEMENTS
        ):
            with suppress(Exception):  # A failed repetition is not the program's fault.
                parts += _locate_rows_of_one_gradient(record, range(first, end), spans, targets, sources, expressions)
        end = first
    return parts


def _locate_rows_of_one_gradient(
    record: Record,
    written_rows: range,
    spans: Collection[NumberPair],
    targets: RowCollection,
    sources: RowCollection,
    expressions: Expressions,
) -> RowFieldsList:
    """Return partial rows for the rows of one gradient.

    Args:
        record: The recording of the outer tape.
        written_rows: The rows written by the gradient.
        spans: The ranges of rows that the inner tape recorded, as (first, end) pairs.
        targets: The rows of the inner gradient's targets.
        sources: The rows of the inner gradient's sources.
        expressions: The texts of all rows.
    """

    def find_input_key(row: int) -> OptionalNumber:
        """Return the row of an input, or None for a number in a rule, which has a different row in each sweep."""
        leaf = record.leaves.get(row)
        return None if leaf is not None and (row in written_rows or leaf.number is not None) else row

    rows_by_key: dict[tuple[object, ...], RowList] = defaultdict(list)
    for row in reversed(written_rows):
        primitive, inputs = find_operation_and_inputs(record, row)
        rows_by_key[primitive, *map(find_input_key, inputs)].append(row)
    reachable = bytearray(row in sources for row in range(written_rows.start))
    for first, end in spans:
        propagate_marks_to_consumers(record, reachable, max(first, min(sources) + 1), min(end, written_rows.start))
    below_by_row: RowByRow = {}  # For each row of the new tape, the row of `record` below which it is drawn.
    with suspend_recording(), np.errstate(all="ignore"), GradientTape() as new_tape:
        adjoints = {row: wrap_array_with_origin(np.ones(*record.get_shape_and_dtype(row))[()]) for row in targets}
        sweep = Sweep(record, adjoints, set(sources), reachable, is_recorded=True)
        for step in sweep.iter_steps():
            new_record: Object = new_tape.record
            new_rows = range(len(below_by_row), len(new_record))
            below_by_row |= dict.fromkeys(new_rows, step)
            new_operations = [row for row in new_rows if find_operation_and_inputs(new_record, row)[0] is not None]
            for _, target_row, share, total in sweep.edges:
                adjoints[target_row] = total
                below_by_row |= {
                    new_record.find_row(item): target_row
                    for item in (share, total)
                    if new_record.find_row(item) in new_operations
                }
    values: Object = sweep.values  # A recorded sweep contains tensors, by row.
    row_by_value = {id(value): row for row, value in values.items()}
    recorded_rows = {
        row: row_by_value[id(leaf.tensor)] for row, leaf in new_record.leaves.items() if id(leaf.tensor) in row_by_value
    }
    for row in range(len(new_record)):
        primitive, inputs = find_operation_and_inputs(new_record, row)
        if primitive is not None:
            recorded_rows[row] = rows_by_key[
                primitive,
                *(
                    find_input_key(recorded_rows[input_row]) if input_row in recorded_rows else None
                    for input_row in inputs
                ),
            ].pop()
            recorded_rows = (
                dict(zip(inputs, find_operation_and_inputs(record, recorded_rows[row])[1], strict=True)) | recorded_rows
            )
    parts: dict[int, RowFields] = {
        recorded_rows[row]: {"row": recorded_rows[row], "below": target_row}
        for row, target_row in below_by_row.items()
        if row in recorded_rows
    }
    for source_row, value in reversed(adjoints.items()):
        row = recorded_rows.get(new_record.find_row(value), -1)
        if row in parts and row in written_rows and not expressions.rows_by_number[row]["name"]:
            target_name, source_name = (
                expressions.format_target_name(item, format_row_reference(item)).removesuffix(":0")
                for item in (max(targets), source_row)
            )
            if len(target_name + source_name) > MAX_NAME_LETTERS:
                source_name = format_row_reference(source_row)
            if len(target_name + source_name) > MAX_NAME_LETTERS:
                target_name = format_row_reference(max(targets))
            parts[row]["name"] = f"∂{target_name}/∂{source_name}"
    return [part for row, part in parts.items() if row in written_rows]
