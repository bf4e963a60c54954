"""From which sizes on a gradient counts as vanishing or exploding, on a run that is built by hand."""

import numpy as np
import pytest

from minitape.explain.operation_families import TENSORFLOW_OPERATIONS
from minitape.explain.reasons.suspects import MIN_REPETITIONS, CheckedRun, check_vanishing_or_exploding_by_repetition
from minitape.recording.recorded_rows import BackwardPass, RecordedRow
from minitape.recording.value_summary import ValueSummary

STEPS = 2 * MIN_REPETITIONS


def build_loop(ratio):
    """Build a run of one operation, repeated on one line, whose adjoint changes by `ratio` from end to beginning."""
    rows = [RecordedRow(0, "leaf", "variable", shape=(2,))]
    for index in range(1, STEPS + 1):
        rows.append(RecordedRow(index, "Mul", "operation", inputs=[index - 1], site=("train.py", 3), shape=(2,)))
    sweep = BackwardPass([STEPS])
    for index in range(STEPS, -1, -1):
        share_of_loop = (STEPS - index) / (STEPS - 1)
        sweep.set_adjoint(index, ValueSummary(np.full(2, 2.0 * ratio**share_of_loop)))
    return CheckedRun(rows, [sweep], [], TENSORFLOW_OPERATIONS)


@pytest.mark.parametrize(("ratio", "causes"), [
    (2e-5, []), (5e-6, ["vanishing"]), (1.0, []), (5e3, []), (2e4, ["exploding"]),
])  # fmt: skip
def test_the_limits_are_those_of_the_docs(ratio, causes) -> None:
    assert [suspicion.cause for suspicion in check_vanishing_or_exploding_by_repetition(build_loop(ratio))] == causes
