"""Find operations that work along the wrong axis, so that they mix examples."""

import numpy as np

from ...explain.caller import format_bracketed_place
from ...explain.reasons.suspects import CheckedRun, Suspicions, build_row_suspicion
from ...recording.recorded_rows import RecordedRow
from .misused_operations import RECURRENT_OPS

# These keep the first two axes of a sequence.
POSITIONWISE_OPS = set("linear dropout layer_norm add relu gelu tanh".split())
SELECTIONS = set("getitem select mean sum amax".split())


def check_selection_along_batch_axis(run: CheckedRun) -> Suspicions:
    """Find an example that is selected from the result of a layer without ``batch_first``, instead of a time step.

    Args:
        run: The run to check.
    """
    makers = {}  # For each sequence, the call of the layer that made it.
    for row in run.rows:
        given = next((index for index in row.inputs if index in makers), row.index)
        sizes = run.rows[given].shape
        if _has_time_steps_on_first_axis(run, row):
            makers[row.index] = row
        elif given in makers and row.op in POSITIONWISE_OPS and row.shape[:2] == sizes[:2]:
            makers[row.index] = makers[given]
        elif given in makers and row.op in SELECTIONS and row.index in run.reached_operations:
            shapes_of_readers = [run.rows[index].shape for index in run.consumers[given]]
            # The program may select each example in turn, such as both sequences of a pair.
            is_only_selection = shapes_of_readers.count(row.shape) == 1
            is_along_batch = sizes[0] != sizes[1] > 1 and row.shape == (sizes[0], sizes[2])
            # The batch of a recurrent layer may hold the joints or the agents of one sequence.
            is_attention = makers[given].op not in RECURRENT_OPS
            if is_only_selection and is_along_batch and (is_attention or _is_last_example(run, row, given)):
                fields = {"one": tuple(sizes), "n": sizes[1], "other": format_bracketed_place(makers[given].site)}
                yield build_row_suspicion(row, "wrong_axis", fields, "sequence")


def _is_last_example(run: CheckedRun, row: RecordedRow, sequence: int) -> bool:
    """Return whether a row is the last example of a sequence, as in ``out[:, -1]``."""
    selected, values = run.find_array(row.index), run.find_array(sequence)
    return selected is not None and values is not None and np.array_equal(selected, values[:, -1])


def _has_time_steps_on_first_axis(run: CheckedRun, row: RecordedRow) -> bool:
    """Return whether a row is the result of a recurrent or attention layer without ``batch_first=True``."""
    if row.output > 0 or len(row.shape) != 3:
        return False
    if row.op in RECURRENT_OPS:
        return row.shape[1] == run.rows[row.index + 1].shape[1]  # The second axis of the final state is the batch.
    return row.op == "multi_head_attention_forward"  # The layer itself exchanges the axes if batch_first is True.
