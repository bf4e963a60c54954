"""Find wrong gradients in JAX: the checks of all recordings, with JAX's names."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ...explain.families import OperationNames
from ...explain.reasons.question import RecordedRow
from ...explain.reasons.suspects import (
    EQUALITY_TOLERANCE,
    CheckedRun,
    Suspicion,
    find_negligible_rows,
    max_abs,
    suspect_row,
)
from ...explain.reasons.words import describe_escape
from ...recording.values import numbers_of
from ..rows import read_escapes
from .adapter import JaxAdapter, read_rows
from .origin import JaxOrigin

NAMES = OperationNames(
    compare={"sub"},
    losses=(),
    sums={"reduce_sum"},
    shapes=set("broadcast_in_dim reshape squeeze expand_dims transpose convert_element_type copy".split()),
    adds={"add", "sub", "add_any"},
    factors={"mul", "div"},
    of_logits={"sub": "softmax", "neg": "sigmoid", "logaddexp": "sigmoid"},
    activations={"logistic": "sigmoid", "tanh": "tanh", "max": "relu", "erf": "gelu"},
    normalize=(),
    saturate={"logistic", "tanh"},
)
OF_LOGITS = {"sub": "log_softmax", "neg": "log_sigmoid", "logaddexp": "softplus"}  # how those of jax.nn begin


def build_checked_run(recording: Any) -> CheckedRun:
    """Return the rows and the backward pass of a recording, for the checks to read."""
    return CheckedRun(
        read_rows(recording),
        [sweep for sweep in recording.sweeps if sweep.adjoints],
        read_escapes(recording),
        NAMES,
        describe_escape,
        recording.made_up,
        recording=recording,
        adapter=JaxAdapter(recording),
        checks=(check_not_applied, check_cancellation),
        rows_of=recording.rows_of,
        find_written_operand=find_written_operand,
        find_logits=find_logits,
    )


def find_written_operand(run: CheckedRun, row: RecordedRow, given: int) -> int:
    """Return the row that the program gave to an operation, before jax.numpy adapted its shape."""
    while run.rows[given].op in ("broadcast_in_dim", "reshape") and run.rows[given].site == row.site:
        given = run.rows[given].inputs[0]
    return given


def find_logits(run: CheckedRun, row: RecordedRow) -> int | None:
    """Return the row that a function of jax.nn takes for logits, or None if the operation does not begin one."""
    given, name = row.inputs[0], OF_LOGITS[row.op]
    return given if name in row.scope and name not in run.rows[given].scope else None


def check_not_applied(run: CheckedRun) -> Iterator[Suspicion]:
    """Find arguments that the program's steps computed again without changing them."""
    recording = run.recording
    still = {row: n for row, n in recording.unchanged.items() if n > 2}
    steps = [s for leaf in recording.given if leaf.row in still for s in JaxOrigin(*recording.asked).steps_of(leaf)]
    if steps:
        yield Suspicion(
            "not_applied", steps[-1].site, {"n": max(still.values())}, min(still), only_rows=still, variant="rate"
        )


def check_cancellation(run: CheckedRun) -> Iterator[Suspicion]:
    """Find shares that arrived at a value on several paths and cancel except for rounding.

    A softmax or a normalization does that. In JAX its steps are separate rows.
    """
    for row, sweep in ((run.rows[at], sweep) for at, sweep in run.reached_operations.items() if run.rows[at].shape):
        left, senders = max_abs(run.adjoint_array(row.index)), set(run.consumers.get(row.index, ()))
        edges = ((call, edge) for call in senders & sweep.edges.keys() for edge in sweep.edges[call])
        sent = [(call, product) for call, (at, _, product, _) in edges if at == row.index]
        most = max((max_abs(numbers_of(product)) for _, product in sent), default=0.0)
        if sent[1:] and 0 < left <= EQUALITY_TOLERANCE / 10 * most < math.inf:
            last = run.rows[max(call for call, _ in sent)]
            only_rows = find_negligible_rows(run, row.index, most)
            yield suspect_row(
                last, "rounding_only", only_rows=only_rows, what=run.display_name(last), from_=most, to=left / most
            )
