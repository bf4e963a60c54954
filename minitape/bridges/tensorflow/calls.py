"""A call of a ``tf.function``, opened: what its graph computes when it runs again, for ``explain`` and for pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from ...engine.recording.block import TemporaryAttributes
from ...explain.reasons import text
from ...explain.reasons.zero_nan import OPAQUE
from ...explain.words import mistaken
from ...recording.rows import BackwardPass
from ...recording.values import numbers_of
from ..changes import Block
from .inside import READS, TWIN, Again, arguments, graphs_of, run_again
from .operations import changes_variable, handle_of, is_dataset
from .value import OptimizerStep
from .watch import TensorFlowWatcher

if TYPE_CHECKING:
    from ...picture.fields import Inside

OF_ARRAYS = {f"{kind}Dataset" for kind in "Range Map Prefetch FlatMap Tensor Repeat Zip Options".split()} | {
    "ParallelMapDatasetV2"
}
CALLS = 16  # of one recording that a snapshot has the inside of
ROWS = 2_000  # of one inside that are shown


def open_call(recording: Any, row: int, watched: Sequence[int], seeds: Sequence) -> tuple[Any, list, list] | None:
    """Runs a call again in a new recording. Returns (recording, inputs, results), or None if it cannot run again, for
    example because only a summary of its arguments was kept.

    A tape goes back to the ``watched`` inputs from the results, with the adjoints ``seeds``.
    """
    entries = recording.entries
    if any(entries[given].value is not None and entries[given].value.is_gone for given in entries[row].inputs):
        return None
    inner = type(recording)()
    try:
        with TemporaryAttributes(recording.log.changes, thread=None), Block(inner, TensorFlowWatcher(inner)):
            given, ends = run_again(recording, inner, row, watched, seeds)
    except tf.errors.OpError:  # what cannot run again, such as a function that asks a dataset, stays one row
        return None
    except Exception as error:
        mistaken("A tf.function stays closed", error)
        return None
    return inner, given, ends


def traced_again(recording: Any, traced: Any) -> tuple[Any, Any, dict] | None:
    """A function up to the gradient that a tape in it was asked for while it was traced, with a batch or stand-ins for
    what it was given: (that recording, the target there, copies of variables by the identities of handles)."""
    known: tuple | None = recording.log.reruns.get(id(traced.step))
    if known is not None:
        return known
    inner, batch = type(recording)(), _given(recording, traced) or _batch(recording, traced.graph)
    inner.is_rerun, inner.made_up = True, not batch and bool(arguments(traced.graph))
    try:
        with (
            TemporaryAttributes(recording.log.changes, thread=None),
            Block(inner, TensorFlowWatcher(inner)),
            closing(Again(recording.log, inner.log)) as run,
        ):
            # TensorFlow has no derivative of an operation, or refuses a stand-in: the rows before are there
            with suppress(LookupError, tf.errors.OpError):
                run.run(traced.graph, run.capture(traced.graph, batch), traced.step)
            target = tf.nest.flatten(run.value(handle_of(tf.nest.flatten(traced.target)[-1])))[-1]
    except tf.errors.OpError:
        return None
    except Exception as error:
        mistaken("A tf.function stays closed", error)
        return None
    copies = {key: run.variables.get(id(value), value) for key, value in run.values.items()}
    for step in recording.log.steps.get(traced.graph, ()):
        if step.word == "applies":
            given = {id(handle_of(copies.get(id(handle_of(v)), v))) for _, v in step.given}
            inner.log.optimizer_steps.append(OptimizerStep(step.site, given, len(inner.entries)))
    found = inner, target, copies
    recording.log.reruns[id(traced.step)] = found
    return found


def rerun_of(recording: Any, source: Any) -> tuple | None:
    """The recording of the compiled step that gave a source its gradient, run again with what it was given, or with
    stand-ins, and what stands for the source there; None where none did.
    """
    own = handle_of(source)
    asked = [
        one for one in recording.log.traced if any(handle_of(part) is own for part in tf.nest.flatten(one.sources))
    ]
    found = traced_again(recording, asked[-1]) if asked else None
    return None if found is None or id(own) not in found[2] else (found[0], found[2][id(own)])


def _given(recording: Any, traced: Any) -> list:
    """What the last call of a function was given that a tape's gradient is in."""
    for graph, values in recording.log.given.items():
        if traced.graph in (graph, getattr(graph, TWIN, None)):
            known = [value.known for value in values]
            return [] if any(value.is_gone for value in values) or any(v.dtype in OPAQUE for v in known) else known
    return []


def _batch(recording: Any, graph: Any) -> list:
    """What Keras gives to a compiled step: the first elements of the dataset that it made of arrays. Another dataset
    may do more than compute.
    """
    entries = recording.entries
    row = next((entry.row for entry in reversed(entries) if is_dataset(entry.op)), None)
    behind, waiting = set[int](), [] if row is None else [row]
    while waiting:
        at = waiting.pop()
        if at not in behind:
            behind.add(at)
            waiting += entries[at].inputs
    made = [entry for entry in map(entries.__getitem__, behind) if entry.kind == "operation" or entry.dtype in OPAQUE]
    by_keras = all(
        entry.op in OF_ARRAYS and (statement := text.at(entry.site)) is not None and statement.call_of("fit")
        for entry in made
    )
    if row is None or not made or not by_keras:
        return []
    elements = tuple(tf.TensorSpec(None, tensor.dtype) for tensor in arguments(graph))
    with recording.asleep(), suppress(tf.errors.OpError, TypeError, ValueError):
        return tf.nest.flatten(next(iter(tf.data.experimental.from_variant(entries[row].extra.asked, elements))))
    return []


def seeds_of(recording: Any, call: int, sweep: BackwardPass | None) -> list:
    """The adjoints that a sweep brought to the results of a call."""
    came = {} if sweep is None else sweep.adjoints
    results = (entry.row for entry in recording.entries[call:] if entry.call == call)
    return [came[row].known if row in came and not came[row].is_gone else None for row in results]


def insides_of(recording: Any, sweep: BackwardPass | None, row: int | None) -> list[Inside]:
    """The INSIDEs of the first calls, or of the one at ``row``: of those which computed the same when they ran
    again.
    """
    calls = [
        entry.row
        for entry in recording.entries
        if entry.op == "function" and entry.output == 0 and row in (None, entry.row)
    ]
    return [found for call in calls[:CALLS] if (found := _inside_of(recording, call, sweep)) is not None]


def _inside_of(recording: Any, call: int, sweep: BackwardPass | None) -> Inside | None:
    entry = recording.entries[call]
    if not _is_repeatable(entry.extra.function.graph):
        return None
    watched = [given for given in entry.inputs if recording.entries[given].differentiable]
    found = open_call(recording, call, watched, seeds_of(recording, call, sweep))
    if found is None:
        return None
    inner, given, ends = found
    if not all(_same(recording.entries[call + number], end) for number, end in enumerate(ends)):
        return None
    function = entry.extra.function
    parameters = [tensor.op.name for tensor in function.inputs[: len(function.inputs) - len(function.captured_inputs)]]
    snapshot = inner.snapshot_in([{entry.label: inner, **dict(zip(parameters, given, strict=False))}])
    if len(inner) > ROWS:
        snapshot |= {"rows": snapshot["rows"][:ROWS], "sweep": None}
    return {"row": call, "name": entry.label, "snapshot": snapshot}


def _operations(graph: Any) -> Iterator:
    for op in graph.get_operations():
        yield op
        for inner in graphs_of(op):
            yield from _operations(inner)


def _is_repeatable(graph: Any) -> bool:
    """Whether a graph may run again without a word of the program's: it asks nothing outside for values, and changes
    variables only.
    """
    return all(
        not op.op_def.is_stateful or changes_variable(op.type) or op.type in READS or bool(graphs_of(op))
        for op in _operations(graph)
    )


def _same(entry: Any, end: Any) -> bool:
    """Whether a result is what it was: random numbers are others now."""
    before, now = numbers_of(entry.value), np.asarray(handle_of(end))
    return before is None or np.allclose(before, now, rtol=1e-4, atol=1e-6, equal_nan=True)
