"""What is wrong with gradients that are there, in TensorFlow: what all recordings are asked, and its optimizers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from ...explain.families import OPERATIONS
from ...explain.owners import living
from ...explain.reasons.suspects import CheckedRun, Suspicion, steps_said
from ...explain.reasons.words import left_by
from ...explain.sentences import fill
from ...recording.rows import BackwardPass
from ..rows import exits_of
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
        checks=(of_optimizers,),
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


def of_optimizers(run: CheckedRun) -> Iterator[Suspicion]:
    """What is wrong between gradients and the optimizers, which are looked for among all objects, once."""
    optimizers = [*living(tf.keras.optimizers.Optimizer)]
    own = {id(handle_of(v)) for one in optimizers for v in getattr(one, "_trainable_variables", [])}
    held = own.union(*(step.handles for step in run.recording.log.optimizer_steps))  # by optimizers that are gone, too
    yield from not_applied(run, optimizers)
    yield from not_optimized(run, held)


def not_applied(run: CheckedRun, optimizers: list) -> Iterator[Suspicion]:
    """Gradients were computed several times, and no optimizer used one, or none changed anything with them."""
    gave = [sweep for sweep in run.sweeps if any(there for _, there in sweep.gave)]
    steps = run.recording.log.optimizer_steps
    still = {key for key, variable in run.with_gradient.items() if _is_unchanged(run, variable)}
    if still and not any(step.handles & (run.with_gradient.keys() - still) for step in steps):
        yield Suspicion("not_applied", steps[-1].site, {"n": len(steps)}, sources=still, kind="rate")
    if len(gave) < 2 or steps or not optimizers or run.recording.is_rerun:
        return
    still = {key for key, variable in run.with_gradient.items() if len(_states(run, variable)) < 2}
    if still:
        yield Suspicion("not_applied", gave[-1].site, {"n": len(gave)}, sources=still)


def not_optimized(run: CheckedRun, held: set[int]) -> Iterator[Suspicion]:
    """A gradient was there when a step was taken, and no optimizer has the variable."""
    steps = run.recording.log.optimizer_steps
    in_time = handles_given(sweep for sweep in run.sweeps if steps and sweep.at <= steps[-1].at)
    left_out = (in_time & run.with_gradient.keys()) - held
    missing = {key for key in left_out if len(_states(run, run.with_gradient[key])) < 2}
    if missing:
        fields = {"what": fill("an optimizer"), "steps": steps_said(len(steps))}
        yield Suspicion("not_optimized", steps[-1].site, fields, sources=missing)


def _is_unchanged(run: CheckedRun, variable: Any) -> bool:
    """Whether the steps did not change a variable."""
    before, after = run.recording.weights_of(variable)
    return len(run.steps_of(variable)) > 2 and before is not None and np.array_equal(before, after)


def _states(run: CheckedRun, variable: Any) -> list[int]:
    """The rows of the values that a variable had."""
    return [row for row in run.rows_of(variable) if run.rows[row].kind != "operation"]
