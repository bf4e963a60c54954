"""What is wrong with gradients that are there, in JAX: what all recordings are asked, in the words of JAX."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ...explain.families import OperationNames
from ...explain.reasons.question import RecordedRow
from ...explain.reasons.suspects import (
    EQUAL,
    CheckedRun,
    Suspicion,
    largest,
    little_behind,
    suspicion,
)
from ...explain.reasons.words import left_by
from ...recording.values import numbers_of
from ..rows import exits_of
from .adapter import JaxAdapter, rows_read
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


def run_of(recording: Any) -> CheckedRun:
    """The rows and the backward pass of a recording, as the checks read them."""
    return CheckedRun(
        rows_read(recording),
        [sweep for sweep in recording.sweeps if sweep.adjoints],
        exits_of(recording),
        NAMES,
        left_by,
        recording.made_up,
        recording=recording,
        adapter=JaxAdapter(recording),
        checks=(not_applied, cancels),
        rows_of=recording.rows_of,
        operand=operand,
        logits=logits_of,
    )


def operand(run: CheckedRun, row: RecordedRow, given: int) -> int:
    """What the program gave to an operation, before jax.numpy made its shape fit."""
    while run.rows[given].op in ("broadcast_in_dim", "reshape") and run.rows[given].site == row.site:
        given = run.rows[given].inputs[0]
    return given


def logits_of(run: CheckedRun, row: RecordedRow) -> int | None:
    """The row that a function of jax.nn takes for logits; None where the operation does not begin one."""
    given, name = row.inputs[0], OF_LOGITS[row.op]
    return given if name in row.scope and name not in run.rows[given].scope else None


def not_applied(run: CheckedRun) -> Iterator[Suspicion]:
    """Steps made an argument anew that is what it was."""
    recording = run.recording
    still = {row: n for row, n in recording.unchanged.items() if n > 2}
    steps = [s for leaf in recording.given if leaf.row in still for s in JaxOrigin(*recording.asked).steps_of(leaf)]
    if steps:
        yield Suspicion("not_applied", steps[-1].site, {"n": max(still.values())}, min(still), alone=still, kind="rate")


def cancels(run: CheckedRun) -> Iterator[Suspicion]:
    """What came back to a value on several paths cancels but for rounding, as in a softmax or a normalization, whose
    steps are rows of their own.
    """
    for row, sweep in ((run.rows[at], sweep) for at, sweep in run.on_path.items() if run.rows[at].shape):
        left, senders = largest(run.adjoint(row.row)), set(run.readers.get(row.row, ()))
        edges = ((call, edge) for call in senders & sweep.edges.keys() for edge in sweep.edges[call])
        sent = [(call, product) for call, (at, _, product, _) in edges if at == row.row]
        most = max((largest(numbers_of(product)) for _, product in sent), default=0.0)
        if sent[1:] and 0 < left <= EQUAL / 10 * most < math.inf:
            last = run.rows[max(call for call, _ in sent)]
            alone = little_behind(run, row.row, most)
            yield suspicion(last, "rounding_only", alone=alone, what=run.called(last), from_=most, to=left / most)
