"""Find values that an expression cancels, so that its result does not depend on them."""

from collections import Counter

import numpy as np

from ...engine.types import OptionalNumber
from ...recording.recorded_rows import RecordedRow, collect_rows_and_connected_ancestors
from ...recording.value_summary import to_float_array
from .suspects import CheckedRun, Suspicions, build_row_suspicion


def check_value_added_and_subtracted(run: CheckedRun) -> Suspicions:
    """Find a sum such as ``z + (q - z)``, which sends a value two shares that add up to zero.

    A source is affected if the value is on every path from the source to the sum.

    Args:
        run: The run to check.
    """
    for row in run.iter_reached_operations_named_last_first(run.op_names.add_ops):
        cancelled = _find_value_that_sum_cancels(run, row) if row.shape else None
        if cancelled is not None:
            rows_with_other_path = collect_rows_and_connected_ancestors(run.rows, [row.index], [cancelled])
            only_rows = run.find_row_and_connected_ancestors(cancelled) - rows_with_other_path
            if only_rows:
                yield build_row_suspicion(row, "cancelled", {}, only_rows=only_rows)


def _find_value_that_sum_cancels(run: CheckedRun, sum_row: RecordedRow) -> OptionalNumber:
    """Return the last value that a sum uses twice, if the sum depends on it only through two shares that cancel."""
    uses = Counter[int](sum_row.inputs)
    while uses:
        # The rows that read a row come after it, so all uses of the last row in the sum are known.
        index = max(uses)
        if uses.pop(index) > 1:
            edges = run.reached_operations[sum_row.index].edges
            shares = [
                to_float_array(share.product)
                for reader in run.find_row_and_connected_ancestors(sum_row.index).intersection(run.consumers[index])
                for share in edges.get(reader, ())
                if share.row == index
            ]
            match shares:
                case [np.ndarray() as one, np.ndarray() as other] if one.any() and np.array_equal(one, -other):
                    return index
            return None
        if run.rows[index].op in run.op_names.add_ops:
            uses.update(run.list_tracked_inputs(run.rows[index]))
    return None
