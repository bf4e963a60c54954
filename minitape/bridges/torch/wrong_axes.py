"""Find operations that act along the wrong axis and therefore mix examples."""

import numpy as np

from ...explain.caller import format_place_suffix
from ...explain.reasons.suspects import CheckedRun, Suspicions, build_row_suspicion
from ...recording.recorded_rows import RecordedRow
from .layer_creation import find_layer_creation_or_row_site
from .misused_operations import RECURRENT_OPS

# These operations leave a sequence's first two axes unchanged.
POSITIONWISE_OPS = set("linear dropout layer_norm add relu gelu tanh".split())
SELECTIONS = set("getitem select mean sum amax".split())
VIEWS = {"view", "reshape"}
# These operations expect one distribution for each index along the first axis.
USES_OF_DISTRIBUTIONS = {"nll_loss", "matmul", "bmm"}


def check_example_selected_as_time_step(run: CheckedRun) -> Suspicions:
    """Find selections of an example, rather than a time step, from the result of a layer without ``batch_first``.

    Args:
        run: The run to check.
    """
    makers = {}  # For each sequence, the layer call that produced it.
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
                layer_site = find_layer_creation_or_row_site(run.recording.log.history, makers[given])
                fields = {"one": tuple(sizes), "n": sizes[1], "other": format_place_suffix(layer_site)}
                yield build_row_suspicion(row, "wrong_axis", fields, "sequence")


def _is_last_example(run: CheckedRun, row: RecordedRow, sequence: int) -> bool:
    """Return whether a row holds the last example of a batch of sequences, as in ``out[:, -1]``."""
    selected, values = run.find_array(row.index), run.find_array(sequence)
    return selected is not None and values is not None and np.array_equal(selected, values[:, -1])


def _has_time_steps_on_first_axis(run: CheckedRun, row: RecordedRow) -> bool:
    """Return whether a row is the result of a recurrent or attention layer without ``batch_first=True``."""
    if row.output > 0 or len(row.shape) != 3:
        return False
    if row.op in RECURRENT_OPS:
        return row.shape[1] == run.rows[row.index + 1].shape[1]  # The second axis of the final state is the batch.
    return row.op == "multi_head_attention_forward"  # The layer itself swaps the axes if batch_first is True.


def check_views_that_mix_axes(run: CheckedRun) -> Suspicions:
    """Find views that are used to swap axes, although they keep the order of the elements.

    Args:
        run: The run to check.
    """
    for row in run.rows:
        readers = run.reached_operations.keys() & run.consumers.get(row.index, ())
        if row.op not in VIEWS or not readers:
            continue
        viewed = run.rows[row.inputs[0]]
        sizes, new_sizes = ([size for size in each.shape if size > 1] for each in (viewed, row))
        is_state = viewed.op in RECURRENT_OPS and viewed.output > 0
        if is_state:
            # The axes of a final state stand for the layers and directions, the examples, and the features.
            is_mixed = len(sizes) == 3 and sizes[0] != sizes[1] == row.shape[0]
        else:
            is_permuted = sizes != new_sizes and sorted(sizes) == sorted(new_sizes)
            is_mixed = is_permuted and len(sizes) > 2 and not _is_position_shift_or_has_equal_elements(run, row)
        if is_mixed:
            fields = {"what": row.op, "one": tuple(viewed.shape), "two": tuple(row.shape), "n": row.shape[0]}
            suspicion = build_row_suspicion(row, "wrong_axis", fields, "state" if is_state else "view")
            # A view of data has no gradient itself, but the operations that read it do.
            yield suspicion._replace(row=max(readers))


def _is_position_shift_or_has_equal_elements(run: CheckedRun, row: RecordedRow) -> bool:
    """Return whether a view is a step of the relative-position shift in attention, or has only equal elements."""
    values = run.find_array(row.index)
    neighbors = (run.rows[index] for index in (*row.inputs, *run.consumers[row.index]))
    # The relative-position shift leaves out one element along an axis of the view.
    selections = (each for each in neighbors if each.op == "getitem")
    is_shift = any(sum(run.rows[each.inputs[0]].shape) - sum(each.shape) == 1 for each in selections)
    return is_shift or (values is not None and not np.ptp(values))


def check_softmax_over_examples(run: CheckedRun) -> Suspicions:
    """Find a softmax over the examples that is used by an operation expecting one distribution for each example.

    Args:
        run: The run to check.
    """
    for row in run.iter_reached_operations_named_last_first(USES_OF_DISTRIBUTIONS):
        given, other = (run.rows[index] for index in row.inputs[:2])
        values = run.find_array(given.index)
        is_batch = len(given.shape) == 2 if row.op == "nll_loss" else len(given.shape) == len(other.shape) > 2
        if values is None or not is_batch or given.op not in ("softmax", "log_softmax"):
            continue
        probabilities = np.exp(values) if given.op == "log_softmax" else values
        is_over_examples, is_over_others = (np.allclose(probabilities.sum(axis), 1, atol=1e-2) for axis in (0, -1))
        if len(values) > 1 and is_over_examples and not is_over_others:
            suspicion = build_row_suspicion(given, "wrong_axis", {"what": given.op, "n": len(values)}, "softmax")
            yield suspicion._replace(site=find_layer_creation_or_row_site(run.recording.log.history, given))
