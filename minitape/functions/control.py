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

from ..engine.recording.block import During
from ..engine.recording.state import state
from ..engine.table.primitives import TABLE
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.tensor import EagerTensor, Tensor
from ..engine.values import nest
from .recording import Recording, record
from .rows import Row, effects, write
from .trace import Again, Trace, Unrecorded, tracing


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
    """Calls ``true_fn`` if ``pred`` is true, else ``false_fn``, and returns what it returns.

    In a traced function Python goes through both at first, and one of them is computed in each call: they must return
    tensors alike. Gradients flow through the taken branch. TypeError when a function is missing or not callable. See
    https://www.tensorflow.org/api_docs/python/tf/cond.

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
    ``maximum_iterations`` limits the iterations; the other arguments have no effect. ValueError when ``body`` returns
    another number of tensors. See https://www.tensorflow.org/api_docs/python/tf/while_loop.

    >>> import minitape as tf
    >>> i, x = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), [tf.constant(0), tf.constant(1.0)])
    >>> print(i.numpy(), x.numpy())
    3 8.0
    """
    given = loop_vars if isinstance(loop_vars, (list, tuple)) else [loop_vars]
    values = nest.map_structure(convert_to_tensor, given)
    flat = nest.flatten(values)

    def step(*now: Tensor) -> list[Tensor]:
        found = nest.flatten(body(*nest.pack_sequence_as(values, now)))
        if len(found) != len(flat):
            raise ValueError(f"The body of a loop with {len(flat)} variables returns {len(found)}")
        return [*map(convert_to_tensor, found)]

    def test(*now: Tensor) -> Any:
        return cond(*nest.pack_sequence_as(values, now))

    def in_python() -> list[Tensor]:
        now, turns = flat, 0
        while (maximum_iterations is None or turns < maximum_iterations) and test(*now):
            now, turns = step(*now), turns + 1
        return now

    found = (
        in_python()
        if tracing() is None
        else _recorded_or(lambda: _loop(test, step, flat, maximum_iterations), in_python)
    )
    return nest.pack_sequence_as(values, found)


def _recorded_or(recorded: Callable, in_python: Callable) -> Any:
    """A branch or loop as one row, or as what Python does with it."""
    log, trace = effects.log, tracing()
    assert trace is not None and log is not None
    before = log.next
    try:
        return recorded()
    except (Unrecorded, Again):
        if trace.quiet:
            raise Unrecorded from None
    log.next = before  # what was done is not done again
    return in_python()


class _Body:
    """A branch, a condition or a body of a loop: its recording, and what it takes from outside beside its arguments."""

    def __init__(self, name: str, function: Callable, tensors: Sequence[Tensor] = ()) -> None:
        self.trace = Trace(name)
        try:
            self.recording, self.pack, _ = record(self.trace, function, tensors)
        except Exception as error:  # whatever it is: Python comes here again if this is taken
            raise Unrecorded from error
        self.count = len(tensors)

    def settle(self, changed: dict[int, Any]) -> Recording:
        """The recording that gives its results and then the states of variables that this body or another one changes."""
        was = self.recording
        known = len(self.trace.feeds)
        with self.trace.recording():
            states = [self.trace.read(variable, accessed=False)._row for variable in changed.values()]
        was.table.grow()
        feeds = [*was.feeds, *self.trace.feeds[known:]]
        made = Recording(was.table, feeds, was.results, [*zip(changed.values(), states, strict=True)], was.effects)
        made.sets = was.sets
        at = {id(feed.variable): at for at, feed in enumerate(feeds)}
        self.places = [at[key] for key in changed]  # of feeds: the states
        self.recording = made
        return made

    def outside(self) -> list[EagerTensor]:
        """What it takes from outside, in the order of its feeds."""
        rest = Recording.inputs(self.recording, [None] * self.count)[self.count :]  # type: ignore[list-item]
        return rest

    def advance(self, feeds: Sequence, results: Sequence) -> list:
        """What the next turn of a loop is given."""
        new = [*results[: self.count], *feeds[self.count :]]
        for at, value in zip(self.places, results[self.count :], strict=True) if self.places else ():
            new[at] = value
        return new


def _settle(bodies: Sequence[_Body]) -> dict[int, Any]:
    """Makes the bodies give the states of all variables that one of them changes: those, by id."""
    changed = {id(variable): variable for body in bodies for variable, _ in body.recording.assigned}
    for body in bodies:
        body.settle(changed)
    return changed


def _write(row: Row, inputs: Sequence[Tensor], bodies: Sequence[_Body], changed: dict[int, Any]) -> list[EagerTensor]:
    """The results of the row of a branch or loop."""
    row.bodies = [body.recording for body in bodies]
    row.stateful = any(body.recording.effects for body in bodies)
    found = write(row, inputs)[:-1]
    count = len(found) - len(changed)
    trace: Any = tracing()
    for variable, tensor in zip(changed.values(), found[count:], strict=True):
        trace.set_state(variable, tensor)
    return found[:count]


def _runner(recording: Recording, noted: bool) -> Callable[..., tuple]:
    """What computes the results of a body for arrays of its feeds; ``noted``: then what its gradient reads."""
    function = (recording.gradient.forward if noted else recording.program).ready()
    if len(recording.varying) == len(recording.feeds):
        return function
    return lambda *values: function(*recording.varied(values))


def _scope(name: str) -> AbstractContextManager[None]:
    """For a picture that looks inside, rows of the block are in a scope of this name."""
    return During(state, scope=(*state.scope, name))


def _branches(pred: Tensor, bodies: list[_Body]) -> Any:
    changed = _settle(bodies)
    alike = [
        [table.shape_dtypes[row] for row in body.recording.results]
        for body in bodies
        for table in [body.recording.table]
    ]
    if alike[0] != alike[1]:
        if [d for _, d in alike[0]] != [d for _, d in alike[1]]:
            raise TypeError(f"true_fn and false_fn must return tensors alike, and return {alike[1]} and {alike[0]}")
        raise Unrecorded  # of other shapes: another recording for each
    inputs, starts = [pred], []
    for body in bodies:
        starts.append(len(inputs))
        inputs += body.outside()

    def chosen(inputs: Sequence) -> tuple[Recording, int, Sequence]:
        which = int(bool(getattr(inputs[0], "_value", inputs[0])))
        recording, first = bodies[which].recording, starts[which]
        return recording, first, inputs[first : first + len(recording.feeds)]

    def run(arrays: Sequence, noted: bool) -> list:
        recording, _, own = chosen(arrays)
        found, count = _runner(recording, noted)(*own), len(recording.fetches)
        return [*found[:count], found[count:]]

    def sweep(flows: Sequence[int], inputs: Sequence, gs: Sequence, notes: Any) -> list:
        recording, first, own = chosen(inputs)
        shares = dict(enumerate(recording.gradient.shares(gs[: len(recording.results)], own, notes), first))
        return [shares.get(at) for at in flows]

    def replay(inputs: Sequence) -> list:
        recording, _, own = chosen(inputs)
        with _scope(recording.name):
            return recording.again(own, ())

    row: Any = Row("cond", run, sweep, op="If", notes=True)
    row.replay, row.starts = replay, starts
    found = _write(row, inputs, bodies, changed)
    return bodies[1].pack(found)


def _loop(test: Callable, step: Callable, flat: list[Tensor], most: Any) -> list[EagerTensor]:
    count = len(flat)
    bodies = ask, turn = [_Body("test", test, flat), _Body("turn", step, flat)]
    shapes = ask.recording.table.shape_dtypes
    before = [shapes[feed.row] for feed in ask.recording.feeds[:count]]
    if before != [turn.recording.table.shape_dtypes[row] for row in turn.recording.results]:
        raise Unrecorded  # a shape changes from turn to turn
    changed = _settle(bodies)
    limit = [] if most is None else [convert_to_tensor(most)]
    first = [count + len(limit), 0, 0]  # in the inputs: where what the test takes begins, what the turn takes, the end
    first[1] = first[0] + len(ask.recording.feeds) - count
    first[2] = first[1] + len(turn.recording.feeds) - count

    def start(inputs: Sequence) -> tuple[list, list]:
        """The feeds of the first test and the first turn."""
        return [*inputs[:count], *inputs[first[0] : first[1]]], [*inputs[:count], *inputs[first[1] : first[2]]]

    def run(arrays: Sequence, noted: bool) -> list:
        tests, takes = start(arrays)
        now: Sequence = [*takes[:count], *(takes[at] for at in turn.places)]
        left, turns = int(arrays[count]) if limit else -1, []
        again, step, end = _runner(ask.recording, False), _runner(turn.recording, noted), count + len(changed)
        while left and again(*tests)[0]:
            found = step(*takes)
            if noted:
                now = found[:end]
                turns.append((takes, found[end:]))
            else:
                now = found
            tests, takes = ask.advance(tests, now), turn.advance(takes, now)
            left -= 1
        return [*now, turns]

    def as_tensors(inputs: Sequence, turns: Sequence) -> list:
        """The turns with tensors that lead back to the inputs."""
        found, takes, gradient = [], start(inputs)[1], turn.recording.gradient
        for _, saved in turns:
            found.append((takes, saved))
            takes = turn.advance(takes, gradient.repeated.call([*takes, *gradient.drawn(saved)]))
        return found

    def sweep(flows: Sequence[int], inputs: Sequence, gs: Sequence, turns: Sequence) -> list:
        """Back through the turns: what arrives at the loop's variables, and the sum of what arrives at all else."""
        tensors = isinstance(gs[0], Tensor)
        zeros, carried = TABLE["zeros_like"] if tensors else np.zeros_like, gs[:count]
        total: list = [None] * len(turn.recording.feeds)
        for takes, saved in reversed(as_tensors(inputs, turns) if tensors else turns):
            shares = turn.recording.gradient.shares(carried, takes, saved)
            carried = [zeros(x) if s is None else s for s, x in zip(shares[:count], takes, strict=False)]
            total = [s if t is None else t if s is None else t + s for t, s in zip(total, shares, strict=True)]
        found = dict(enumerate(carried)) | dict(enumerate(total[count:], first[1]))
        return [found.get(at) for at in flows]

    def replay(inputs: Sequence) -> list:
        tests, takes = start(inputs)
        now, turns = [*takes[:count], *(takes[at] for at in turn.places)], 0
        while (not limit or turns < int(inputs[count]._value)) and bool(ask.recording.again(tests, ())[0]._value):
            turns += 1
            with _scope(f"turn {turns}"):
                now = turn.recording.again(takes, ())
            tests, takes = ask.advance(tests, now), turn.advance(takes, now)
        return now

    row: Any = Row("while", run, sweep, op="While", notes=True)
    row.replay, row.starts = replay, first[:2]
    return _write(row, [*flat, *limit, *ask.outside(), *turn.outside()], bodies, changed)
