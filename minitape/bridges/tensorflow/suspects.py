"""Find wrong gradients in TensorFlow: the checks of all recordings, and the checks of its optimizers."""

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
from ...explain.reasons.suspects import CheckedRun, Suspicion, format_steps
from ...explain.reasons.words import describe_escape
from ...explain.sentences import fill
from ...recording.rows import BackwardPass
from ..rows import is_read_later, read_escapes
from .adapter import TensorFlowAdapter, read_rows
from .model import asked_for
from .operations import handle_of


def build_checked_run(recording: Any) -> CheckedRun:
    """Return the rows, sweeps and optimizer steps of a recording, for the checks to read."""
    log, sweeps = recording.log, [sweep for sweep in recording.sweeps if sweep.adjoints]
    given = find_handles_with_gradient(sweeps)
    known = {key: variable for key, variable in log.tensors.variables.items() if key in given}
    return CheckedRun(
        read_rows(recording),
        sweeps,
        read_escapes(recording),
        OPERATIONS,
        describe_escape,
        recording.made_up,
        recording=recording,
        adapter=TensorFlowAdapter(recording, None, None),
        checks=(check_not_applied, check_not_optimized),
        key_of=lambda source: id(handle_of(source)),
        rows_of=recording.rows_of,
        steps_of=lambda source: [step for step in log.optimizer_steps if id(handle_of(source)) in step.handles],
        sources_with_gradient=known,
        trained_keys=asked_for(recording).union(*(step.handles for step in log.optimizer_steps)),
        names_sources=True,
    )


def find_handles_with_gradient(sweeps: Iterable[BackwardPass]) -> set[int]:
    """Return the handles of the variables for which some sweeps returned a gradient."""
    return {id(handle) for sweep in sweeps for one, there in sweep.gave if there and (handle := one()) is not None}


def check_not_applied(run: CheckedRun) -> Iterator[Suspicion]:
    """Find gradients that were computed several times and never changed a variable.

    There was no step, the learning rate is 0, or the program computed a new tensor and dropped it.
    """
    steps, n = run.recording.log.optimizer_steps, len(run.sweeps)
    still = {key for key, variable in run.sources_with_gradient.items() if _is_unchanged_by_steps(run, variable)}
    if still and not any(step.handles & (run.sources_with_gradient.keys() - still) for step in steps):
        yield Suspicion("not_applied", steps[-1].site, {"n": len(steps)}, source_keys=still, variant="rate")
    if n > 1 and not run.recording.is_rerun:
        still, lost = _find_constant_variables(run), _find_lost_steps(run)
        for key in still & lost.keys():
            yield Suspicion("not_applied", lost[key].site, {"n": n}, lost[key].index, {key}, variant="lost")
        still -= lost.keys()
        if still and not steps:
            gc.collect()  # optimizers of earlier programs, or cells
            if any(living(tf.keras.optimizers.Optimizer)):
                yield Suspicion("not_applied", run.sweeps[-1].site, {"n": n}, source_keys=still)


def _find_lost_steps(run: CheckedRun) -> dict[int, RecordedRow]:
    """Return, by handle, the result of a variable and its gradient that is bound to a name nothing reads."""
    made, found = set[int](), dict[int, RecordedRow]()
    for row in run.rows:
        if row.extra.at is not None or not made.isdisjoint(row.inputs):
            made.add(row.index)
            at = text.at(row.site)
            if at.binds and row.index not in run.consumers and not is_read_later(at, at.binds):
                found |= {id(run.rows[one].get_object()): row for one in row.inputs if run.rows[one].kind == "variable"}
    return found


def check_not_optimized(run: CheckedRun) -> Iterator[Suspicion]:
    """Find variables with a gradient that no optimizer holds, although steps were taken."""
    steps, optimizers = run.recording.log.optimizer_steps, living(tf.keras.optimizers.Optimizer)
    own = {id(handle_of(v)) for one in optimizers for v in getattr(one, "_trainable_variables", [])}
    in_time = find_handles_with_gradient(sweep for sweep in run.sweeps if steps and sweep.at <= steps[-1].at)
    missing = (in_time & _find_constant_variables(run)) - own.union(
        *(step.handles for step in steps)
    )  # by optimizers that are gone
    if missing:
        fields = {"what": fill("an optimizer"), "steps": format_steps(len(steps))}
        yield Suspicion("not_optimized", steps[-1].site, fields, source_keys=missing)


def _find_constant_variables(run: CheckedRun) -> set[int]:
    """Return the handles of the variables with a gradient whose value never changed."""
    leaves = lambda variable: [row for row in run.rows_of(variable) if run.rows[row].kind != "operation"]  # noqa: E731
    return {key for key, variable in run.sources_with_gradient.items() if len(leaves(variable)) < 2}


def _is_unchanged_by_steps(run: CheckedRun, variable: Any) -> bool:
    """Return whether the optimizer steps did not change a variable."""
    before, after = run.recording.weights_of(variable)
    return len(run.steps_of(variable)) > 2 and before is not None and np.array_equal(before, after)
