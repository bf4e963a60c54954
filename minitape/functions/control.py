"""Branches and loops on tensors: ``tf.cond``, ``tf.while_loop``.

Where values tell themselves they are Python's. In a traced function one is one row, which holds a recording for each
branch, or for the condition and the body of the loop. Where one cannot be recorded without doing what it does, Python
goes through it here, too, and what it decides by are guards.
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
from .recording import FunctionRecording, record
from .rows import Row, effects, write
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
    if trace is None or not trace.varies(trace.record.row_or_new_leaf(pred)):
        return true_fn() if bool(pred) else false_fn()
    return _recorded_or(
        lambda: _branches(pred, [_Body("else", false_fn), _Body("then", true_fn)]),
        lambda: true_fn() if bool(pred) else false_fn(),
    )


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
    ``maximum_iterations`` limits the iterations; ``shape_invariants``, ``parallel_iterations``, ``back_prop`` and
    ``swap_memory`` have no effect. ValueError when ``body`` returns another number of tensors. See
    https://www.tensorflow.org/api_docs/python/tf/while_loop.

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

    found = in_python() if tracing() is None else _recorded_or(lambda: _loop(test, step, flat), in_python)
    return nest.pack_sequence_as(values, found[:count])


def _recorded_or(recorded: Callable, in_python: Callable) -> Any:
    """A branch or loop as one row, or as what Python does with it."""
    log, trace = effects.log, tracing()
    assert trace is not None and log is not None
    before = log.next
    try:
        return recorded()
    except (Unrecorded, OtherWay):
        if trace.tentative:
            raise Unrecorded from None
    log.next = before  # what was done is not done again
    return in_python()


class _Body:
    """A branch, a condition or a body of a loop: its recording, whose first feeds are its ``count`` arguments."""

    def __init__(self, name: str, function: Callable, tensors: Sequence = ()) -> None:
        self.trace, self.count = FirstRun(name), len(tensors)
        try:
            self.recording, self.pack, _ = record(self.trace, function, tensors)
        except Exception as error:  # whatever it is: Python comes here again if this is taken
            raise Unrecorded from error
        self.outlines = [self.recording.table.shape_dtypes[row] for row in self.recording.results]

    def settle(self, changed: dict) -> None:
        """Makes it give the states of variables that this body or another one changes."""
        was, known = self.recording, len(self.trace.feeds)
        with self.trace.recording():
            states = [(v, self.trace.read(v, accessed=False)._row) for v in changed.values()]
        feeds = [*was.feeds, *self.trace.feeds[known:]]
        self.recording = FunctionRecording(was.table, feeds, was.results, states, was.effects)
        self.recording.sets = was.sets
        places = {id(feed.variable): at for at, feed in enumerate(feeds)}
        self.states = [places[key] for key in changed]  # which feeds they are before

    def outside(self) -> list:
        """What it takes from outside, in the order of its feeds."""
        return self.recording.inputs([None] * self.count)[self.count :]

    def runner(self, noted: bool) -> Callable:
        """What computes results and states for arrays of the feeds; ``noted``: then what the gradient reads."""
        own = self.recording
        function = (own.gradient.forward if noted else own.program).ready()
        return function if len(own.varying) == len(own.feeds) else lambda *values: function(*own.varied(values))

    def advance(self, feeds: Sequence, found: Sequence) -> list:
        """What the next turn of a loop is given."""
        new = [*found[: self.count], *feeds[self.count :]]
        for at, value in zip(self.states, found[self.count :], strict=True) if self.states else ():
            new[at] = value
        return new


def _write(row: Any, repeat: Callable, first: Sequence, bodies: Sequence, changed: dict) -> list:
    """The results of the row of a branch or loop, which takes ``first`` and then what its bodies take from outside."""
    row.repeat = Row(
        row.name, lambda given, _: [*repeat(given, given[-1][()]), given[-1][()]], row.sweep, row.op, notes=True
    )
    row.repeat.replay = lambda given: row.replay(given, given[-1]._value[()])
    row.bodies, row.starts, inputs = [body.recording for body in bodies], [], [*first]
    for body in bodies:
        row.starts.append(len(inputs))
        inputs += body.outside()
    row.stateful = any(body.recording.effects for body in bodies)
    found = write(row, inputs)[:-1]
    count = len(found) - len(changed)
    trace: Any = tracing()
    for variable, tensor in zip(changed.values(), found[count:], strict=True):
        trace.set_state(variable, tensor)
    return found[:count]


def _settle(bodies: Sequence) -> dict:
    """The variables that some bodies change, by id."""
    changed = {id(variable): variable for body in bodies for variable, _ in body.recording.assigned}
    for body in bodies:
        body.settle(changed)
    return changed


def _scope(name: str) -> AbstractContextManager:
    """For a picture that looks inside, rows of the block are in a scope of this name."""
    return TemporaryAttributes(state, scope=(*state.scope, name))


def _branches(pred: Tensor, bodies: list) -> Any:
    if bodies[0].outlines != bodies[1].outlines:
        raise Unrecorded  # of other shapes or dtypes: another recording for each
    changed = _settle(bodies)

    def chosen(inputs: Sequence) -> tuple:
        which = bool(getattr(inputs[0], "_value", inputs[0]))
        body, first = bodies[which], row.starts[which]
        return body, first, inputs[first : first + len(body.recording.feeds)]

    def run(arrays: Sequence, noted: bool) -> list:
        body, _, own = chosen(arrays)
        found, end = body.runner(noted)(*own), len(body.recording.fetches)
        return [*found[:end], found[end:]]

    def sweep(flows: Sequence, inputs: Sequence, gs: Sequence, notes: Any) -> list:
        body, first, own = chosen(inputs)
        shares = dict(enumerate(body.recording.gradient.shares(gs[: len(body.outlines)], own, notes), first))
        return [shares.get(at) for at in flows]

    def repeat(inputs: Sequence, notes: Any) -> Sequence:
        body, _, own = chosen(inputs)
        return body.recording.gradient.again(own, notes)

    def replay(inputs: Sequence, notes: Any = ()) -> list:
        body, _, own = chosen(inputs)
        with _scope(body.trace.name):
            return body.recording.again(own, notes)

    row: Any = Row("cond", run, sweep, op="If", notes=True)
    row.replay = replay
    return bodies[1].pack(_write(row, repeat, [pred], bodies, changed))


def _loop(test: Callable, step: Callable, flat: list) -> list:
    count = len(flat)
    bodies = ask, turn = [_Body("test", test, flat), _Body("turn", step, flat)]
    if turn.outlines != [(t._value.shape, t._value.dtype) for t in flat]:
        raise Unrecorded  # something changes from turn to turn
    changed = _settle(bodies)
    end = count + len(changed)

    def start(inputs: Sequence) -> tuple:
        """The feeds of the first test and of the first turn, and what the loop gives without any."""
        variables, second = inputs[:count], row.starts[1]
        takes = [*variables, *inputs[second : second + len(turn.recording.feeds) - count]]
        return [*variables, *inputs[count:second]], takes, [*variables, *(takes[at] for at in turn.states)]

    def run(arrays: Sequence, noted: bool) -> list:
        tests, takes, now = start(arrays)
        turns = []
        goes_on, once = ask.runner(False), turn.runner(noted)
        while goes_on(*tests)[0]:
            now = once(*takes)
            if noted:
                turns.append((takes, now[end:]))
                now = now[:end]
            tests, takes = ask.advance(tests, now), turn.advance(takes, now)
        return [*now, turns]

    def repeated(inputs: Sequence, turns: Sequence) -> tuple:
        """The turns once more, of other inputs, and what they end with."""
        found = []
        _, takes, now = start(inputs)
        for _, saved in turns:
            found.append((takes, saved))
            now = turn.recording.gradient.again(takes, saved)
            takes = turn.advance(takes, now)
        return found, now

    def sweep(flows: Sequence, inputs: Sequence, gs: Sequence, turns: Sequence) -> list:
        """Back through the turns: what arrives at the loop's variables, and the sum of what arrives at all else."""
        tensors = isinstance(gs[0], Tensor)
        zeros, carried = TABLE["zeros_like"] if tensors else np.zeros_like, gs[:count]
        total: list = [None] * len(turn.recording.feeds)
        for takes, saved in reversed(repeated(inputs, turns)[0] if tensors else turns):
            shares = turn.recording.gradient.shares(carried, takes, saved)
            carried = [zeros(x) if s is None else s for s, x in zip(shares[:count], takes, strict=False)]
            total = [s if t is None else t if s is None else t + s for t, s in zip(total, shares, strict=True)]
        found = dict(enumerate(carried)) | dict(enumerate(total[count:], row.starts[1]))
        return [found.get(at) for at in flows]

    def replay(inputs: Sequence, notes: Sequence | None = None) -> list:
        tests, takes, now = start(inputs)
        turns = 0
        while turns < len(notes) if notes is not None else bool(ask.recording.again(tests)[0]._value):
            with _scope(f"turn {turns + 1}"):
                now = turn.recording.again(takes, () if notes is None else notes[turns][1])
            tests, takes = ask.advance(tests, now), turn.advance(takes, now)
            turns += 1
        return now

    row: Any = Row("while", run, sweep, op="While", notes=True)
    row.replay = replay
    return _write(row, lambda given, turns: repeated(given, turns)[1], flat, bodies, changed)
