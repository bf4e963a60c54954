"""A call of a ``tf.function``, opened: its Python runs again, line by line, for ``explain`` and for pictures.

It runs with what the call was given, and its variables have the values that they had then. Afterwards they have their
own again.
"""

from __future__ import annotations

import inspect
import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout, suppress
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import tensorflow as tf
from tensorflow.python.data.ops.iterator_ops import OwnedIterator
from tensorflow.python.eager import context
from tensorflow.python.ops import gen_resource_variable_ops

from ...engine.recording.block import TemporaryAttributes
from ...recording.rows import BackwardPass
from ...recording.sites import way_here
from ...recording.values import numbers_of
from ..changes import Block
from .graphs import has_tapes, is_repeatable
from .operations import handle_of
from .value import FunctionCall, TensorFlowValue, TooLong, some
from .watch import TensorFlowWatcher

if TYPE_CHECKING:
    from ...picture.fields import Inside

CALLS = 16  # of one recording that a snapshot has the inside of
ROWS = 2_000  # of one inside that are shown


class Opened(NamedTuple):
    """What a call computed when it ran again. It has no results where it raised: the rows before that are there."""

    recording: Any
    results: list
    names: dict  # of its arguments


def open_call(
    recording: Any, call: FunctionCall, sources: Sequence | None = None, seeds: Sequence = ()
) -> Opened | None:
    """Runs a call again in a new recording; None if it cannot run again, for example because only a summary of its
    arguments was kept.

    A tape goes back to the ``sources`` from the results, with the adjoints ``seeds``.
    """
    with recording.asleep():
        given = None if call.function is None else _arguments(call)
    if given is None:
        return None
    (args, kwargs), made_up = given
    names = inspect.signature(call.function.python_function).bind(*args, **kwargs).arguments
    inner, results = type(recording)(), list[Any]()
    inner.is_rerun, inner.made_up = True, made_up
    inner.log.line.outer = call.way, len(way_here())
    watcher, tape = TensorFlowWatcher(inner, open_functions=True), tf.GradientTape(persistent=True)
    try:
        with recording.asleep(), _unheard(), Block(inner, watcher):
            with watcher.guard.quietly():
                for variable, row in call.states:
                    value = recording.entries[row].value
                    if value is not None and not value.is_gone:
                        variable.assign(value.known)
            with suppress(Exception, TooLong), tape if sources else nullcontext():
                for source in sources or ():
                    if source.dtype != tf.resource:
                        tape.watch(source)
                found = call.function.python_function(*args, **kwargs)
                results += [one for one in tf.nest.flatten(found, expand_composites=True) if one is not None]
            ends = [(one, seed) for one, seed in zip(results, seeds, strict=False) if seed is not None]
            if sources and ends:
                tape.gradient([one for one, _ in ends], sources, output_gradients=[seed for _, seed in ends])
    finally:
        for handle, value in inner.log.before.values():
            gen_resource_variable_ops.assign_variable_op(handle, value)
    return Opened(inner, [handle_of(one) for one in results], names)


@contextmanager
def _unheard() -> Iterator[None]:
    """What runs in the block prints nothing, writes no summary, and takes none of the program's random numbers."""
    own = context.context()
    random = {"_rng": Random("minitape")} if hasattr(own, "_rng") else {}  # where the program has set a seed
    with (
        redirect_stdout(io.StringIO()),
        TemporaryAttributes(tf, print=lambda *said, **how: None),
        tf.summary.record_if(False),
        TemporaryAttributes(own, **random),
    ):
        yield


def _arguments(call: FunctionCall) -> tuple[Any, bool] | None:
    """What a call is given when it runs again, and whether that is made up. A dataset stays where it is: of one that
    Keras made of arrays there is another first batch, of others there are numbers.
    """
    made_up = False
    flat = []
    for value in tf.nest.flatten(call.given):
        if isinstance(value, TensorFlowValue):
            if value.is_gone:
                return None
            value = value.known
        elif isinstance(value, OwnedIterator):
            data = value._dataset
            if not _by_keras(data):
                made_up = True
                data = tf.data.Dataset.from_tensors(tf.nest.map_structure(some, value.element_spec))
            value = iter(data)
        flat.append(value)
    return tf.nest.pack_sequence_as(call.given, flat), made_up


def _by_keras(dataset: Any) -> bool:
    """Whether a dataset runs functions of Keras's only: another one may do more than compute."""
    waiting, functions = [dataset], []
    while waiting:
        at = waiting.pop()
        waiting += at._inputs()
        functions += at._functions()
    return bool(functions) and all(one._func.__module__.startswith("keras.") for one in functions)


def steps_of(recording: Any) -> list[tuple[FunctionCall, Any]]:
    """The compiled steps of a block, one of each function, with the recording of its call that ran again."""
    log, calls = recording.log, dict[Any, list[FunctionCall]]()
    for call in log.calls:
        if call.graph is None or has_tapes(call.graph) or (not log.tapes.known and is_repeatable(call.graph)):
            calls.setdefault(call.function, []).append(call)
    for call in (chosen := [_last(recording, same) for same in calls.values()]):
        if call not in log.reruns:
            log.reruns[call] = open_call(recording, call)
    found = ((call, log.reruns[call]) for call in sorted(chosen, key=log.calls.index))
    return [(call, run.recording) for call, run in found if run is not None and run.recording.sweeps]


def _last(recording: Any, calls: Sequence[FunctionCall]) -> FunctionCall:
    """The last of some calls, or the last before their variables were NaN."""
    for call in reversed(calls):
        states = [recording.entries[row].value for _, row in call.states]
        if all(state is None or state.is_all_finite for state in states):
            return call
    return calls[-1]


def rerun_of(recording: Any, source: Any) -> tuple | None:
    """The recording of the compiled step that gave a source its gradient, run again, and the source; None where none
    did.
    """
    found = [inner for _, inner in steps_of(recording) if sweeps_for(inner.sweeps, source)]
    return (found[-1], source) if found else None


def sweeps_for(sweeps: Iterable[BackwardPass], source: Any) -> list[BackwardPass]:
    """Those passes that were asked for the gradient of a source."""
    own = handle_of(source)
    return [sweep for sweep in sweeps if any(tensor() is own for tensor, _ in sweep.gave)]


def open_row(recording: Any, row: int, sweep: BackwardPass | None, ones: bool = False) -> Opened | None:
    """The call that a row stands for, run again. Where tapes were there, or none is inside, one goes back with the
    adjoints that a sweep brought to the results, or with ``ones``.
    """
    entry = recording.entries[row]
    inputs = [recording.entries[given] for given in entry.inputs]
    came = {} if sweep is None else sweep.adjoints
    rows = [one.row for one in recording.entries[entry.call :] if one.call == entry.call]
    seeds = [came[one].known if one in came and not came[one].is_gone else None for one in rows]
    if ones and not any(seed is not None for seed in seeds):
        seeds[entry.output] = tf.ones(entry.shape, entry.dtype)
    tracked = any(one.differentiable for one in inputs)
    asked = [one.extra.asked for one in inputs if one.differentiable or not tracked]
    known = [one for one in asked if one.dtype == tf.resource or (tf.is_tensor(one) and one.dtype.is_floating)]
    watches = tracked or (ones and not has_tapes(entry.extra.function.graph))
    return open_call(recording, entry.extra.function, known if watches else None, seeds)


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


def _inside_of(recording: Any, row: int, sweep: BackwardPass | None) -> Inside | None:
    entry = recording.entries[row]
    run = open_row(recording, row, sweep) if is_repeatable(entry.extra.function.graph) else None
    results = recording.entries[row : row + len(run.results)] if run is not None else []
    if run is None or not results or not all(map(_same, results, run.results)):
        return None
    snapshot = run.recording.snapshot_in([{entry.label: run.recording, **run.names}])
    if len(run.recording) > ROWS:
        snapshot |= {"rows": snapshot["rows"][:ROWS], "sweep": None}
    return {"row": row, "name": entry.label, "snapshot": snapshot}


def _same(entry: Any, end: Any) -> bool:
    """Whether a result is what it was: random numbers are others now."""
    before, now = numbers_of(entry.value), np.asarray(end)
    return before is None or np.allclose(before, now, rtol=1e-4, atol=1e-6, equal_nan=True)
