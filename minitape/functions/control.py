"""Branches and loops on tensors: ``tf.cond``, ``tf.while_loop``.

Where values tell themselves they are Python's. In a traced function one is one row, which holds a recording for each
branch, or for the condition and the body of the loop. Only what computes is recorded so: where one prints, draws or
assigns, or where it fails with the values of this run, Python goes through it, and what it decides by are guards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from ..engine.recording.block import TemporaryAttributes
from ..engine.recording.state import state
from ..engine.table.primitives import TABLE
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.tensor import Tensor
from ..engine.values import nest
from .recording import record
from .rows import Row, write
from .trace import FirstRun, OtherWay, Unrecorded, tracing


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
    """Calls ``true_fn`` if ``pred`` is true, else ``false_fn``, and returns what it returns.

    In a traced function Python goes through both at first, and one of them is computed in each call, where
    they return tensors alike. Gradients flow through the taken branch. TypeError when a function is missing or not
    callable. See https://www.tensorflow.org/api_docs/python/tf/cond.

    >>> import minitape as tf
    >>> x = tf.constant(3.0)
    >>> print(tf.cond(x > 2.0, lambda: x * x, lambda: -x).numpy())
    9.0
    """
    for label, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if function is None:
            raise TypeError(f"cond(): '{label}' argument required")
        if not callable(function):
            raise TypeError(f"'{label}' must be callable.")
    pred = convert_to_tensor(pred)
    trace = tracing()

    def in_python() -> Any:
        return true_fn() if bool(pred) else false_fn()

    if trace is None or not trace.varies(trace.record.row_or_new_leaf(pred)):
        return in_python()
    return _recorded_or(lambda: _branches(pred, false_fn, true_fn), in_python)


def while_loop(
    cond: Any,
    body: Any,
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """Repeats ``loop_vars = body(*loop_vars)`` while ``cond(*loop_vars)`` is true; returns the last ones.

    Gradients flow through all iterations. In a traced function Python goes through ``cond`` and ``body`` once.
    ``maximum_iterations`` limits the iterations. ``shape_invariants``, ``parallel_iterations``, ``back_prop`` and
    ``swap_memory`` are hints for graphs and have no effect. ValueError when ``body`` returns another number of
    tensors. See https://www.tensorflow.org/api_docs/python/tf/while_loop.

    >>> import minitape as tf
    >>> i, x = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), [tf.constant(0), tf.constant(1.0)])
    >>> print(i.numpy(), x.numpy())
    3 8.0
    """
    given = loop_vars if isinstance(loop_vars, (list, tuple)) else [loop_vars]
    values = nest.map_structure(convert_to_tensor, given)
    most = [] if maximum_iterations is None else [convert_to_tensor(maximum_iterations)]
    flat = [*nest.flatten(values), *most]
    count = len(flat) - len(most)

    def step(*now: Tensor) -> list:
        found = nest.flatten(body(*nest.pack_sequence_as(values, now[:count])))
        if len(found) != count:
            raise ValueError(f"The body of a loop with {count} variables returns {len(found)}")
        return [*map(convert_to_tensor, found), *(left - 1 for left in now[count:])]

    def test(*now: Tensor) -> Any:
        again = cond(*nest.pack_sequence_as(values, now[:count]))
        return TABLE["logical_and"](again, now[-1] > 0) if most else again

    def in_python() -> list:
        now = flat
        while test(*now):
            now = step(*now)
        return now

    return nest.pack_sequence_as(values, _recorded_or(lambda: _loop(test, step, flat), in_python)[:count])


def _recorded_or(recorded: Callable, in_python: Callable) -> Any:
    """A branch or loop as one row, or as what Python does with it: where values tell themselves, and where it has
    effects, which nobody may have twice.
    """
    trace = tracing()
    if trace is None:
        return in_python()
    try:
        return recorded()
    except (Unrecorded, OtherWay):
        if trace.tentative:
            raise Unrecorded from None
    return in_python()


def _body(name: str, function: Callable, tensors: Sequence = ()) -> tuple:
    """The recording of a branch or of a loop's condition or body, shapes and dtypes of its results, what packs them."""
    try:
        recording, pack, _ = record(FirstRun(name), function, tensors)
    except Exception as error:  # whatever it is: Python comes here again if this is taken
        raise Unrecorded from error
    return recording, [recording.table.shape_dtypes[row] for row in recording.results], pack


def _write(row: Any, replay: Callable, first: Sequence, bodies: Sequence) -> list:
    """The results of the row of a branch or loop, which takes ``first`` and then what its bodies take from outside."""
    row.replay, row.bodies, row.starts, inputs = replay, bodies, [], [*first]
    for body in bodies:
        row.starts.append(len(inputs))
        inputs += body.inputs([None] * body.arguments)[body.arguments :]
    row.stateful = row.checks = any(body.effects for body in bodies)
    return write(row, inputs)[:-1]


def _scope(name: str) -> AbstractContextManager:
    """For a picture that looks inside, rows of the block are in a scope of this name."""
    return TemporaryAttributes(state, scope=(*state.scope, name))


def _branches(pred: Tensor, false_fn: Callable, true_fn: Callable) -> Any:
    (no, others, _), (yes, outlines, pack) = _body("else", false_fn), _body("then", true_fn)
    if outlines != others:
        raise Unrecorded  # another recording for each

    def chosen(inputs: Sequence) -> tuple:
        """The recording of the branch that is taken, where its inputs begin, and they."""
        which = bool(getattr(inputs[0], "_value", inputs[0]))
        body, first = row.bodies[which], row.starts[which]
        return body, first, inputs[first : first + len(body.feeds)]

    def run(arrays: Sequence, noted: bool) -> list:
        body, _, own = chosen(arrays)
        found = body.runner(noted)(*own)
        return [*found[: len(outlines)], found[len(outlines) :]]

    def sweep(flows: Sequence, inputs: Sequence, gs: Sequence, saved: Any) -> list:
        body, first, own = chosen(inputs)
        shares = dict(enumerate(body.gradient.shares(gs, own, saved), first))
        return [shares.get(at) for at in flows]

    def replay(inputs: Sequence) -> list:
        body, _, own = chosen(inputs)
        with _scope(body.name):
            return body.again(own)

    row: Any = Row("cond", run, sweep, op="If", notes=True)
    return pack(_write(row, replay, [pred], [no, yes]))


def _loop(test: Callable, step: Callable, flat: list) -> list:
    count = len(flat)
    (ask, _, _), (turn, outlines, _) = _body("test", test, flat), _body("turn", step, flat)
    if outlines != [(t._value.shape, t._value.dtype) for t in flat]:
        raise Unrecorded  # something changes from turn to turn

    def parts(inputs: Sequence) -> tuple:
        """The loop's variables before the first turn, what the condition takes from outside, and what a turn takes."""
        second = row.starts[1]
        return inputs[:count], inputs[count:second], inputs[second : second + len(turn.feeds) - count]

    def run(arrays: Sequence, noted: bool) -> list:
        now, asked, taken = parts(arrays)
        turns = []
        goes_on, once = ask.runner(False), turn.runner(noted)
        while goes_on(*now, *asked)[0]:
            found = once(*now, *taken)
            if noted:
                turns.append((now, found[count:]))
            now = found[:count]
        return [*now, turns]

    def sweep(flows: Sequence, inputs: Sequence, gs: Sequence, turns: Sequence) -> list:
        """Back through the turns: what arrives at the loop's variables, and the sum of what arrives at all else."""
        now, _, taken = parts(inputs)
        tensors = isinstance(gs[0], Tensor)
        zeros, carried = TABLE["zeros_like"] if tensors else np.zeros_like, gs
        steps, total = [], [None] * len(taken)
        for before, saved in turns:
            steps.append((now if tensors else before, saved))
            now = turn.again([*now, *taken]) if tensors else now
        for now, saved in reversed(steps):
            shares = turn.gradient.shares(carried, [*now, *taken], saved)
            carried = [zeros(x) if s is None else s for s, x in zip(shares, now, strict=False)]
            total = [s if t is None else t if s is None else t + s for t, s in zip(total, shares[count:], strict=True)]
        found = dict(enumerate(carried)) | dict(enumerate(total, row.starts[1]))
        return [found.get(at) for at in flows]

    def replay(inputs: Sequence) -> list:
        now, asked, taken = parts(inputs)
        turns = 0
        while bool(ask.again([*now, *asked])[0]._value):
            turns += 1
            with _scope(f"turn {turns}"):
                now = turn.again([*now, *taken])
        return [*now]

    row: Any = Row("while", run, sweep, op="While", notes=True)
    return _write(row, replay, flat, [ask, turn])
