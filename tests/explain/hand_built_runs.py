"""Runs that are built by hand, so that tests can lie on both sides of each decision."""

import numpy as np

from minitape.explain.operation_families import TENSORFLOW_OPERATIONS
from minitape.explain.reasons.suspects import CheckedRun
from minitape.recording.recorded_rows import BackwardPass, RecordedRow
from minitape.recording.value_summary import ValueSummary


def build_rows(*descriptions):
    """Build rows from (operation, inputs) or (operation, inputs, facts). A row without inputs is a leaf."""
    rows = []
    for index, (op, inputs, *facts) in enumerate(descriptions):
        kind = "operation" if inputs else ("constant" if op == "constant" else "variable")
        facts = {"tracked": op != "constant", "site": ("train.py", index + 1), "kind": kind} | (facts or [{}])[0]
        value = facts.pop("value", None)
        if value is not None:
            facts["value"], facts["shape"] = ValueSummary(np.array(value)), np.shape(value)
        rows.append(RecordedRow(index, op, facts.pop("kind"), inputs=inputs, **facts))
    return rows


def build_run(rows, adjoints=None, shares=(), op_names=TENSORFLOW_OPERATIONS, **facts):
    """Build a run whose sweep starts at the last row, with the operation names of TensorFlow unless others are given.

    Args:
        rows: The rows.
        adjoints: The adjoints by row. By default, ones arrive at each operation.
        shares: The shares that operations sent, as (operation, input row, share).
        op_names: The framework's names for operations.
        **facts: Further arguments of `CheckedRun`.
    """
    sweep = BackwardPass([len(rows) - 1])
    if adjoints is None:
        adjoints = {row.index: np.ones(row.shape) for row in rows if row.kind == "operation"}
    for row in sorted(adjoints, reverse=True):
        sweep.set_adjoint(row, ValueSummary(np.array(adjoints[row])))
    for call, input_row, share in shares:
        sweep.send(call, input_row, 0, ValueSummary(np.array(share)), ValueSummary(np.array(share)))
    return CheckedRun(rows, [sweep], [], op_names, **facts)
