"""Branches and loops on tensors: ``tf.cond``, ``tf.case``, ``tf.switch_case``, ``tf.while_loop``.

Where values tell themselves they are Python's. In a traced function one is one row, which holds a recording for each
branch, or for the condition and the body of the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ..engine.recording.block import During
from ..engine.recording.state import state
from ..engine.table.primitives import TABLE
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.tensor import EagerTensor, Tensor
from ..engine.values import errors, nest
from .recording import Recording, record
from .rows import row
from .trace import Again


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
    """Calls ``true_fn`` if ``pred`` is true, else ``false_fn``, and returns what it returns.

    In a traced function both run in Python at first, must return tensors alike, and one of them is computed in each
    call. Gradients flow through the taken branch. TypeError when a function is missing or not callable. See
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
    if not _hides(pred):
        return true_fn() if bool(pred) else false_fn()
    return _branches("cond", pred, [false_fn, true_fn])


def switch_case(branch_index: Any, branch_fns: Any, default: Any = None, name: str | None = None) -> Any:
    """Calls the function of this number among ``branch_fns`` (a list, or a dictionary by number); the ``default``, else
    the last one, for a number that is not there.

    >>> import minitape as tf
    >>> print(tf.switch_case(tf.constant(1), [lambda: tf.constant(10.0), lambda: tf.constant(20.0)]).numpy())
    20.0
    """
    functions = dict(enumerate(branch_fns)) if isinstance(branch_fns, (list, tuple)) else dict(branch_fns)
    other = functions[max(functions)] if default is None else default
    index = convert_to_tensor(branch_index)
    if not _hides(index):
        return functions.get(int(index), other)()
    numbers = sorted(functions)
    place = sum(
        (
            TABLE["cast"](TABLE["equal"](index, convert_to_tensor(n, index.dtype)), dtype=index.dtype)
            * (at + 1)
            for at, n in enumerate(numbers)
        ),
        convert_to_tensor(0, index.dtype),
    )
    return _branches("switch_case", place, [other, *(functions[n] for n in numbers)])


def case(
    pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False, name: Any = None
) -> Any:
    """Calls the function of the first condition that is true, else the ``default``.

    >>> import minitape as tf
    >>> x = tf.constant(2.0)
    >>> print(tf.case([(x > 3.0, lambda: x), (x > 1.0, lambda: -x)], default=lambda: x * 0.0).numpy())
    -2.0
    """
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    if default is None:
        default = pairs.pop()[1]
    if not pairs:
        return default()
    (pred, function), *rest = pairs
    return cond(pred, function, lambda: case(rest, default) if rest else default())


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

    Gradients flow through all iterations. In a traced function shapes and dtypes must stay what they are. See
    https://www.tensorflow.org/api_docs/python/tf/while_loop.

    >>> import minitape as tf
    >>> i, x = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), [tf.constant(0), tf.constant(1.0)])
    >>> print(i.numpy(), x.numpy())
    3 8.0
    """
    given = loop_vars if isinstance(loop_vars, (list, tuple)) else [loop_vars]
    values = nest.map_structure(convert_to_tensor, given)
    if state.record is None or not state.record.traces:
        turns = 0
        while (maximum_iterations is None or turns < int(maximum_iterations)) and bool(cond(*values)):
            found = body(*values)
            found = found if isinstance(found, (list, tuple)) else [found]
            values = nest.pack_sequence_as(values, [convert_to_tensor(t) for t in nest.flatten(found)])
            turns += 1
        return values
    return nest.pack_sequence_as(values, _loop(cond, body, values, maximum_iterations))


def _hides(tensor: Tensor) -> bool:
    own: Any = tensor._record
    return own is not None and own.traces and state.record is not None and state.record.traces and own.hides(tensor)


# -- bodies in a trace -----------------------------------------------------------------------------


def in_scope(name: str) -> AbstractContextManager[None]:
    """For a picture that looks inside, rows of the block are in a scope of this name."""
    return During(state, scope=(*state.scope, name)) if state.within else nullcontext()


class Body:
    """A function that was recorded inside a trace, and what it takes from there beside its arguments."""

    def __init__(self, name: str, function: Callable, tensors: Sequence[EagerTensor] = ()) -> None:
        self.own = record(name, function, tensors, quiet=True)[0]
        self.assigned = {id(v): (v, row) for v, row in self.own.assigned}

    def settle(self, changed: dict[int, Any]) -> None:
        """Its results, then the states of variables that this body or another one changes, are what it gives."""
        own, trace = self.own, self.own.trace
        with trace.recording():
            for variable in changed.values():
                trace.read(variable, accessed=False)
        leaves = {row: trace.leaves[row].tensor for row in own.captured}
        outer = {row: t for row, t in (leaves | trace.outer).items() if t is not None}
        reads = [*trace.reads.values()]
        self.takes = [*outer.values(), *(state.record.read(v) for v, _ in reads)]
        self.states = [trace.states[key]._row for key in changed]
        self.places = [*outer, *(row for _, row in reads)]  # the rows of what it takes
        self.at = [len(own.arguments) + self.places.index(trace.reads[key][1]) for key in changed]  # the changed ones
        self.pure = Recording(own.table, [*own.arguments, *self.places], [*own.results, *self.states])


def _settle(bodies: Sequence[Body]) -> dict[int, Any]:
    """The variables that some bodies change, by id."""
    changed = {key: v for body in bodies for key, (v, _) in body.assigned.items()}
    for body in bodies:
        body.settle(changed)
    return changed


def _write(
    name: str, op: str, run: Callable, bodies: Sequence[Body], changed: dict[int, Any], inputs: Sequence, **how: Any
) -> list:
    """The results of the row of a branch or loop."""
    tensors = list(inputs)
    for body in bodies:
        body.offset = len(tensors)
        tensors += body.takes
    found = row(name, run, tensors, op=op, bodies=bodies, **how)[:-1]
    count = len(found) - len(changed)
    for variable, tensor in zip(changed.values(), found[count:], strict=True):
        state.record.set_state(variable, tensor)
    return found[:count]


def _branches(name: str, index: Tensor, functions: Sequence[Callable]) -> Any:
    taken = int(index._value)
    bodies = [_body(name, function, at == taken) for at, function in [*enumerate(functions)][::-1]][::-1]
    known = [body for body in bodies if body is not None]
    changed = _settle(known)
    counts = [len(body.own.results) for body in known]
    if len(set(counts)) > 1:
        raise ValueError(f"The branches of {name} return different numbers of tensors: {counts}")

    def chosen(index: Any, inputs: Sequence) -> tuple[Body, Sequence]:
        body = bodies[int(index)]
        if body is None:
            raise Again(name)
        return body, inputs[body.offset : body.offset + len(body.takes)]

    def run(*inputs: EagerTensor) -> list[EagerTensor]:
        body, own = chosen(inputs[0]._value, inputs)
        with in_scope(("else", "then")[bodies.index(body)] if name == "cond" else f"branch {bodies.index(body)}"):
            return body.pure.call(own)

    def arrays(*inputs: Any) -> Sequence:
        body, own = chosen(inputs[0], inputs)
        return body.pure.program.run(own)

    def noting(*inputs: Any) -> tuple:
        body, own = chosen(inputs[0], inputs)
        found = body.pure.gradient.forward.run(own)
        count = len(body.pure.results)
        return *found[:count], found[count:]

    def swept(flows: Sequence[int], gs: Sequence, inputs: Sequence, saved: Any) -> tuple:
        body, own = chosen(inputs[0], inputs)
        shares: list = [None] * len(inputs)
        shares[body.offset : body.offset + len(own)] = body.pure.gradient.shares(gs, own, saved)
        return tuple([_dense(shares[at], inputs[at]) for at in flows])

    found = _write(name, "If", run, known, changed, [index], arrays=arrays, noting=noting, swept=swept)
    return known[-1].own.pack(found)


def _dense(share: Any, like: Any) -> Any:
    """A share as an array: zeros for None."""
    return np.zeros(np.shape(like), like.dtype)[()] if share is None else share


def _body(name: str, function: Callable, taken: bool) -> Body | None:
    """A branch as it was recorded; None for one that is not taken and refuses the values of this run."""
    try:
        return Body(name, function)
    except errors.OpError:
        if taken:
            raise
        return None


def _loop(test_: Callable, step: Callable, values: Any, most: Any) -> list[EagerTensor]:
    flat = nest.flatten(values)
    count, limit = len(flat), [] if most is None else [convert_to_tensor(most)]
    again = lambda *given: nest.pack_sequence_as(values, given)  # noqa: E731
    bodies = test, body = [
        Body("while_test", lambda *given: test_(*again(*given)), flat),
        Body("while", lambda *given: [convert_to_tensor(t) for t in nest.flatten(step(*again(*given)))], flat),
    ]
    changed = _settle(bodies)
    if len(body.own.results) != count:
        raise ValueError(f"The body of a loop with {count} variables returns {len(body.own.results)}")

    def turns(given: Sequence, asks: Callable, run: Callable) -> Any:
        """What the body is given and what it makes of that, turn by turn; before the first one, what there is."""
        now, rest = list(given[:count]), list(given[count + len(limit) :])
        left = int(getattr(given[count], "_value", given[count])) if limit else -1
        tests, takes = [*now, *rest[: len(test.takes)]], [*now, *rest[len(test.takes) :]]
        yield None, [*now, *(takes[at] for at in body.at)]
        while left and bool(asks(tests)[0]):
            found = run(takes)
            yield takes, found
            takes, tests = [*found[:count], *takes[count:]], [*found[:count], *tests[count:]]
            for value, here, there in zip(found[count:], body.at, test.at, strict=False):
                takes[here] = tests[there] = value
            left -= 1

    def run(*given: EagerTensor) -> list[EagerTensor]:
        turn = iter(range(1, 1 << 62))

        def one(takes: Sequence[EagerTensor]) -> list[EagerTensor]:
            with in_scope(f"turn {next(turn)}"):
                return body.pure.call(takes)

        asks = lambda tests: [t._value for t in test.pure.call(tests)]  # noqa: E731
        return [found for _, found in turns(given, asks, one)][-1]

    def arrays(*given: Any) -> Sequence:
        for _, found in turns(given, test.pure.program.run, body.pure.program.run):
            pass
        return found

    def noting(*given: Any) -> tuple:
        ran = [*turns(given, test.pure.program.run, body.pure.gradient.forward.run)]
        return *ran[-1][1][: count + len(changed)], ran[1:]

    def swept(flows: Sequence[int], gs: Sequence, inputs: Sequence, ran: Any) -> tuple:
        """Back through the turns: what arrives at the carried values, and the sum of what arrives at the others."""
        carried, total = list(gs), [None] * len(body.takes)
        for takes, found in reversed(ran):
            shares = body.pure.gradient.shares(carried, takes, found[count + len(changed) :])
            states = [_dense(shares[at], takes[at]) for at in body.at]
            for at in body.at:
                shares[at] = None
            carried = [*(_dense(s, x) for s, x in zip(shares, takes[:count], strict=False)), *states]
            total = [s if t is None else t if s is None else t + s for t, s in zip(total, shares[count:], strict=True)]
        for at, g in zip(body.at, carried[count:], strict=True):
            total[at - count] = g
        shares = [*carried[:count], *limit, *[None] * len(test.takes), *total]
        return tuple([_dense(shares[at], inputs[at]) for at in flows])

    how = {"arrays": arrays, "noting": noting, "swept": swept}
    return _write("while", "While", run, bodies, changed, [*flat, *limit], **how)
