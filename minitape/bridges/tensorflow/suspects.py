"""What is wrong with gradients that are there, in TensorFlow: what all recordings are asked, and its optimizers."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from ...explain.families import OPERATIONS
from ...explain.owners import living
from ...explain.reasons import text
from ...explain.reasons.question import RecordedRow
from ...explain.reasons.suspects import CheckedRun, Suspicion, steps_said
from ...explain.reasons.words import left_by
from ...explain.sentences import fill
from ...recording.rows import BackwardPass
from ..rows import exits_of, read_later
from .adapter import TensorFlowAdapter, rows_read
from .model import asked_for
from .operations import handle_of


def run_of(recording: Any) -> CheckedRun:
    """The rows, sweeps and steps of a recording, as the checks read them."""
    log, sweeps = recording.log, [sweep for sweep in recording.sweeps if sweep.adjoints]
    given = handles_given(sweeps)
    known = {key: variable for key, variable in log.tensors.variables.items() if key in given}
    return CheckedRun(
        rows_read(recording),
        sweeps,
        exits_of(recording),
        OPERATIONS,
        left_by,
        recording.made_up,
        recording=recording,
        adapter=TensorFlowAdapter(recording, None, None),
        checks=(not_applied, not_optimized),
        key=lambda source: id(handle_of(source)),
        rows_of=recording.rows_of,
        steps_of=lambda source: [step for step in log.optimizer_steps if id(handle_of(source)) in step.handles],
        with_gradient=known,
        trained=asked_for(recording).union(*(step.handles for step in log.optimizer_steps)),
        asks=True,
    )


def handles_given(sweeps: Iterable[BackwardPass]) -> set[int]:
    """The handles of the variables to which these sweeps gave a gradient."""
    return {id(handle) for sweep in sweeps for one, there in sweep.gave if there and (handle := one()) is not None}


def not_applied(run: CheckedRun) -> Iterator[Suspicion]:
    """Gradients were computed several times, and none changed a variable: no step came, its rate is 0, or it made a
    new tensor.
    """
    steps, n = run.recording.log.optimizer_steps, len(run.sweeps)
    still = {key for key, variable in run.with_gradient.items() if _is_unchanged(run, variable)}
    if still and not any(step.handles & (run.with_gradient.keys() - still) for step in steps):
        yield Suspicion("not_applied", steps[-1].site, {"n": len(steps)}, sources=still, kind="rate")
    if n > 1 and not run.recording.is_rerun:
        still, lost = _constant(run), _lost_steps(run)
        for key in still & lost.keys():
            yield Suspicion("not_applied", lost[key].site, {"n": n}, lost[key].row, {key}, kind="lost")
        still -= lost.keys()
        if still and not steps:
            gc.collect()  # optimizers of earlier programs, or cells
            if any(living(tf.keras.optimizers.Optimizer)):
                yield Suspicion("not_applied", run.sweeps[-1].site, {"n": n}, sources=still)


def _lost_steps(run: CheckedRun) -> dict[int, RecordedRow]:
    """What was computed from a variable and a gradient, and given to a name that nothing reads, by the handle."""
    made, found = set[int](), dict[int, RecordedRow]()
    for row in run.rows:
        if row.extra.at is not None or not made.isdisjoint(row.inputs):
            made.add(row.row)
            at = text.at(row.site)
            if at.binds and row.row not in run.readers and not read_later(at, at.binds):
                found |= {id(run.rows[one].thing()): row for one in row.inputs if run.rows[one].kind == "variable"}
    return found


def not_optimized(run: CheckedRun) -> Iterator[Suspicion]:
    """A gradient was there when a step was taken, and no optimizer has the variable."""
    steps, optimizers = run.recording.log.optimizer_steps, living(tf.keras.optimizers.Optimizer)
    own = {id(handle_of(v)) for one in optimizers for v in getattr(one, "_trainable_variables", [])}
    in_time = handles_given(sweep for sweep in run.sweeps if steps and sweep.at <= steps[-1].at)
    missing = (in_time & _constant(run)) - own.union(*(step.handles for step in steps))  # by optimizers that are gone
    if missing:
        fields = {"what": fill("an optimizer"), "steps": steps_said(len(steps))}
        yield Suspicion("not_optimized", steps[-1].site, fields, sources=missing)


def _constant(run: CheckedRun) -> set[int]:
    """The handles of the variables with a gradient that had one value."""
    leaves = lambda variable: [row for row in run.rows_of(variable) if run.rows[row].kind != "operation"]  # noqa: E731
    return {key for key, variable in run.with_gradient.items() if len(leaves(variable)) < 2}


def _is_unchanged(run: CheckedRun, variable: Any) -> bool:
    """Whether the steps did not change a variable."""
    before, after = run.recording.weights_of(variable)
    return len(run.steps_of(variable)) > 2 and before is not None and np.array_equal(before, after)
