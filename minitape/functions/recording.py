"""What is kept of a first run: which rows of its trace are arguments, variables and results.

Its gradient is more rows of the same trace: those of a sweep, written once, with zeros in the place of the values. So
a call's gradient is again a recording, whose gradient is one, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from functools import cached_property
from operator import itemgetter
from typing import Any
from weakref import ref

import numpy as np

from ..engine.back.backward import gradients_of
from ..engine.derivatives.custom import with_list
from ..engine.recording.block import During
from ..engine.recording.evidence import ASSIGNED, ValueOrigin, clock, origin_of_new, stack
from ..engine.recording.outlines import Outline
from ..engine.recording.state import state
from ..engine.table.primitives import Primitive
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.operation import apply, finish
from ..engine.tensor.tensor import EagerTensor, Tensor, from_array, new_tensor
from ..engine.values import nest
from .program import Program, Table
from .trace import Again, Trace

MOST = 32  # paths of one function for calls alike


class Recording:
    """Some rows of a trace as a function of others: ``feeds`` are arguments, then what is captured; ``fetches`` results
    and then the new states of the variables that are ``assigned``.
    """

    def __init__(
        self,
        table: Table,
        arguments: Sequence[int],
        results: Sequence[int],
        variables: Sequence[tuple[Any, int]] = (),
        assigned: Sequence[tuple[Any, int]] = (),
        captured: Sequence[int] = (),
        border: int = 0,
    ) -> None:
        self.table, self.trace, self.name = table, table.trace, table.trace.name
        self.arguments, self.results = list(arguments), list(results)
        self.variables, self.assigned = list(variables), list(assigned)
        self.captured = list(captured)  # rows of tensors from outside, which a tape may watch
        self.border = border or len(self.trace)
        table.grow()
        called = [c for row, c in table.calls.items() if row < self.border and c.row == row and not border]
        effects = [c for c in called if c.primitive.stateful]
        self.effects = effects + [c for c in called if getattr(c.primitive, "sized", False)]  # what runs in any case
        self.drawn = [c.row + k for c in effects for k in range(c.outputs)]  # what a run has that is all its own
        self.grads: Gradient | None = None
        self.guards = list(self.trace.guards) if not border else []
        self.python: Callable | None = None  # the function itself, where it must run again to be part of another one
        self.plain = not (self.guards or self.variables)  # a call is its program, and nothing else
        self.paths: list[Recording] = [self]  # the recordings for calls alike, of which guards tell which fits
        self._at: dict[int, tuple] = {}  # where the user assigned, by row

    @property
    def feeds(self) -> list[int]:
        """The rows of arguments and of the states of variables."""
        return [*self.arguments, *(row for _, row in self.variables)]

    @cached_property
    def program(self) -> Program:
        """Arrays of arguments and states in, results and new states out."""
        return Program(self.table, [*self.results, *(r for _, r in self.assigned)], self.feeds, self.effects)

    # -- calls -------------------------------------------------------------------------------------

    @cached_property
    def _decisions(self) -> Program:
        """What Python decided by, of arguments and states."""
        return Program(self.table, [row for row, _ in self.guards], self.feeds)

    def fits(self, tensors: Sequence[EagerTensor]) -> bool:
        """Whether Python would decide for these arguments as it did."""
        if not self.guards:
            return True
        states = [v._read() for v, _ in self.variables]
        found = self._decisions.run([t._value for t in (*tensors, *states)])
        return all(bool(value) is answer for value, (_, answer) in zip(found, self.guards, strict=True))

    def run(self, tensors: Sequence[EagerTensor]) -> Any:
        """What the first of the recordings that fits gives; Again where none does."""
        for path in self.paths:
            with suppress(Again):
                if path.fits(tensors):
                    return path.pack(path.call(tensors))
        if len(self.paths) >= MOST:
            self.trace.raise_refusal("bool")
        raise Again(self.name)

    def call(self, tensors: Sequence[EagerTensor], first: Callable | None = None) -> list[EagerTensor]:
        """The results for these arguments. ``first`` finds what the first run gave: the value of a row."""
        record, inputs = state.record, None
        if record is not None:
            if record.traces:
                return self.replayed(tensors)
            inputs = self._inputs(record, tensors)
            if state.within:
                return self.again(inputs, ())
            if any((row := record.find(t)) is not None and row not in record.untracked for t in inputs):
                return self._taped(inputs, first)
        arrays = [t._value for t in tensors]
        if self.variables:
            arrays += [v._state._value for v, _ in self.variables]
        found = self.program.run(arrays) if first is None else [*map(first, self.program.fetches)]
        if not self.variables and inputs is None:
            for tensor in tensors:
                if tensor._record is not None:
                    break
            else:  # there is nothing to note
                return [*map(from_array, found)]
        outputs = self._outputs(found, tensors)
        if inputs is not None and outputs:  # a row for `explain`: no gradient comes here
            finish(FUNCTION, tuple(inputs), {"recording": self, "saved": ()}, tuple(outputs))
        return outputs

    def _outputs(self, found: Sequence, tensors: Sequence[EagerTensor]) -> list[EagerTensor]:
        """The results as tensors, with a note for `explain`; the variables get their new states."""
        outputs = [*map(from_array, found[: len(self.results)])]
        place = sum(stack(), ())
        if state.record is None:
            origin = origin_of_new("op", (*tensors, *(v._state for v, _ in self.variables)), FUNCTION, place)
            for tensor in outputs:
                tensor._origin = origin
        if self.assigned:
            known = origin_of_new("assign", (*tensors, *self._fixed()), None, place, ASSIGNED)
            for (variable, row), value in zip(self.assigned, found[len(outputs) :], strict=False):
                at = self._at[row] if row in self._at else self._at.setdefault(row, self.assigned_at(variable, row))
                origin = ValueOrigin(clock(), "assign", (*at, *place), known.values, ref(variable), known.depth)
                variable._take(from_array(value), origin)
        return outputs

    def _fixed(self) -> list[EagerTensor]:
        """The states of the variables that a call does not change."""
        changed = {id(v) for v, _ in self.assigned}
        return [v._state for v, _ in self.variables if id(v) not in changed]

    def assigned_at(self, variable: Any, row: int) -> tuple:
        """The user's statement whose assignment is a row, also inside of a branch or loop."""
        call = self.table.calls[row]
        for body in getattr(call.primitive, "bodies", ()):
            if id(variable) in body.assigned:
                return body.own.assigned_at(variable, body.assigned[id(variable)][1])
        return self.trace.site_of(call.row) or ()

    def _inputs(self, record: Any, tensors: Sequence[EagerTensor]) -> list[EagerTensor]:
        """What a gradient of a call may go to: arguments, variables, and tensors from outside."""
        leaves = self.trace.leaves
        return [
            *tensors,
            *(variable._read() for variable, _ in self.variables),
            *(new_tensor(self.table.folded[r]) if (t := leaves[r].tensor) is None else t for r in self.captured),
        ]

    def _taped(self, inputs: list[EagerTensor], first: Callable | None) -> list[EagerTensor]:
        """The results, with what the gradient will read: one row of the recording outside."""
        gradient = self.gradient
        arrays = [t._value for t in inputs]
        found = gradient.forward.run(arrays) if first is None else [*map(first, gradient.forward.fetches)]
        outputs = self._outputs(found, inputs[: len(self.arguments)])
        saved = found[len(outputs) + len(self.assigned) :]
        finish(FUNCTION, tuple(inputs), {"recording": self, "saved": saved}, tuple(outputs))
        return outputs

    @property
    def gradient(self) -> Gradient:
        """The recording of the sweep."""
        with self.trace.lock:
            if self.grads is None:
                self.grads = Gradient(self)
        return self.grads

    def replayed(self, tensors: Sequence[EagerTensor]) -> list[EagerTensor]:
        """The results as rows of the trace that records now."""
        if self.python is not None:  # its gradients refer to tensors of here: it runs again
            found = nest.flatten(self.python(*tensors))
            return [convert_to_tensor(t) for t in found if t is not None]
        outer: Any = state.record
        values: dict[int, Any] = dict(zip(self.arguments, tensors, strict=True)) | self.trace.outer
        values |= {row: outer.read(v) for v, row in self.variables}
        self._run(values, self.effects, [row for row, _ in self.guards])
        outer.guards += [(values[row]._row, answer) for row, answer in self.guards]
        for variable, row in self.assigned:
            outer.set_state(variable, values[row])
        return [values[row] for row in self.results]

    def again(self, inputs: Sequence[EagerTensor], saved: Sequence) -> list[EagerTensor]:
        """The results of a call as operations that are recorded now: to look inside. Effects are not repeated."""
        kept = dict(zip(self.gradient.saved, saved, strict=False))
        values: dict[int, Any] = dict(zip([*self.feeds, *self.captured], inputs, strict=True))
        values |= {row: new_tensor(kept[row]) for row in self.drawn if row in kept}
        self._run(values, ())
        return [values[row] for row in self.results]

    def _run(self, values: dict[int, Any], effects: Sequence, more: Sequence[int] = ()) -> None:
        """Adds the values of rows that the results need to those that are known."""
        fetches = [*self.results, *(row for _, row in self.assigned), *more]
        calls, constants = self.table.needed(fetches, list(values), effects)
        for row, value in constants.items():
            leaf = self.trace.leaves.get(row)
            values[row] = new_tensor(value) if leaf is None or leaf.tensor is None else leaf.tensor
        for call in calls:
            with During(state, site=self.trace.site_of(call.row)) if state.within else nullcontext():
                given, inside = tuple([values[row] for row in call.inputs]), state.within and call.row not in values
                bodies = inside and getattr(call.primitive, "bodies", ())
                out = tuple(call.primitive.function(*given)) if bodies else apply(call.primitive, given, call.attrs)
            values.update(enumerate(out if isinstance(out, tuple) else (out,), call.row))

    def connects(self, output: int, at: int) -> bool:
        """Whether a way leads from an input to an output, whether or not the call goes along it."""
        row = [*self.feeds, *self.captured][at]
        calls, _ = self.table.needed([self.results[output]], []) if row not in self.feeds else ([], {})
        return any(row in call.inputs for call in calls)


class Gradient:
    """The sweep through a recording: rows of the same trace from the ``border`` on."""

    def __init__(self, recording: Recording) -> None:
        self.recording, trace, table = recording, recording.trace, recording.table
        table.grow()
        self.border = len(trace)
        groups = [[row] for row in recording.arguments]
        groups += [trace.variables[id(v)][1] if id(v) in trace.variables else [row] for v, row in recording.variables]
        groups += [[row] for row in recording.captured]
        self.error: Exception | None = None
        self.starts: list[int | None] = []
        found: list = [None] * len(groups)
        trace.first = False
        with trace.recording():
            outs = [_stand_in(trace, row) for row in recording.results]
            flows = [t._value.dtype.kind in "fcV" for t in outs]
            given = [trace.argument(from_array(np.ones(t._value.shape, t._value.dtype))) for t in outs]
            self.starts = [g._row for g in given]
            try:
                found = _swept(trace, outs, given, groups)
            except LookupError as error:  # raised when the gradient is asked for
                self.error = error
            self.parts = [_rows_of(trace, g) for g in found]
        table.grow()
        self.rows = [row for part in self.parts for row in part]
        feeds = [*recording.feeds, *recording.captured]
        calls, _ = table.needed(self.rows, [*feeds, *self.starts])
        read = {*self.rows, *(row for call in calls if call.row >= self.border for row in call.inputs)}
        kept = {row for row in read if row < self.border and row not in table.folded} - set(feeds)
        self.saved = sorted(kept | set(recording.drawn))
        results = [*recording.results, *(row for _, row in recording.assigned), *self.saved]
        self.forward = Program(table, results, feeds, recording.effects)
        self.backward = Program(table, self.rows, [*feeds, *self.saved, *self.starts])

    @cached_property
    def pure(self) -> Recording:
        """The gradient as a function of the inputs, of what each run has of its own, and of the adjoints."""
        own = self.recording
        feeds = [*own.feeds, *own.captured, *own.drawn, *self.starts]
        return Recording(own.table, feeds, self.rows, border=len(own.trace))

    def shares(self, gs: Sequence, inputs: Sequence, saved: Sequence) -> list:
        """The shares of the inputs: of arrays, or of tensors."""
        if self.error is not None:
            raise self.error
        if any(isinstance(g, Tensor) for g in gs):
            kept = dict(zip(self.saved, saved, strict=True))
            drawn = [new_tensor(kept[row]) for row in self.recording.drawn]
            tensors = [t if isinstance(t, Tensor) else new_tensor(t) for t in (*inputs, *drawn, *gs)]
            found: Any = self.pure.call(tensors)
        else:
            found = self.backward.run([*inputs, *saved, *gs])
        values = iter(found)
        return [next(values) if part else None for part in self.parts]


def _stand_in(trace: Trace, row: int) -> EagerTensor:
    """The tensor of a row whose value is not known any more: zeros have its shape."""
    found = trace.stored(row)
    made = EagerTensor()
    made._value = found.zeros if type(found) is Outline else found
    made._record, made._row, made._origin = trace, row, None
    return made


class _Rows:
    """Rows whose adjoints are one gradient: a variable's states."""

    def __init__(self, rows: list[int], like: EagerTensor) -> None:
        self.rows, self.like, self.dtype, self._state = rows, like, like.dtype, like

    def _tape_rows(self, tape: Any) -> tuple[int, ...]:
        return tuple(self.rows)


def _swept(trace: Trace, outs: list, given: list, groups: list[list[int]]) -> list:
    """The gradients of outputs with these adjoints by groups of rows, as tensors of the trace."""
    sources = [_Rows(rows, _stand_in(trace, rows[0])) for rows in groups]
    return gradients_of(trace.tape, outs, sources, given)


def _rows_of(trace: Trace, g: Any) -> list[int]:
    """The row of a gradient, or none."""
    return [] if g is None else [trace.row_or_new_leaf(g if isinstance(g, Tensor) else convert_to_tensor(g))]


@with_list
def _rule(gs: Any, z: Any, *inputs: Any, recording: Recording, saved: Sequence) -> list:
    return recording.gradient.shares(gs, inputs, saved)


FUNCTION = Primitive(
    "function", lambda *arrays, recording, saved: arrays, _rule, op="PartitionedCall", label="function"
)


def record(
    name: str, function: Callable, tensors: Sequence[EagerTensor], names: Sequence[str] = (), quiet: bool = False
) -> tuple:
    """Runs a function on copies of tensors, and keeps the recording: (recording, what it returned, values of rows)."""
    trace = Trace(name)
    trace.names = list(names)
    trace.quiet = quiet or getattr(state.record, "quiet", False)
    with trace.recording():
        arguments = [trace.argument(t) for t in tensors]
        returned = function(*arguments)
        flat = [None if t is None else _as_result(name, t) for t in nest.flatten(returned)]
        results = [trace.row_or_new_leaf(t) for t in flat if t is not None]
    found = dict(enumerate(trace.column(5)))
    values = found.__getitem__
    reads = [*trace.reads.values()]
    assigned = [(variable, trace.states[key]._row) for key, variable in trace.assigned.items()]
    feeds = {t._row for t in arguments} | {row for _, row in reads}
    captured = [
        row
        for row, leaf in trace.leaves.items()
        if row not in feeds and leaf.number is None and (row in trace.outer or _is_from_outside(leaf))
    ]
    made = Recording(Table(trace), [t._row for t in arguments], results, reads, assigned, captured)
    made.python = function if trace.calls_python else None
    trace.forget()
    made.pack = _packer(returned, [t is not None for t in flat])
    return made, returned, values


def _is_from_outside(leaf: Any) -> bool:
    """Whether a captured tensor is still held by someone, so that a tape may watch it."""
    return leaf.tensor is not None and leaf.tensor.dtype.differentiable


def _as_result(name: str, value: Any) -> Tensor:
    try:
        return value if isinstance(value, Tensor) else convert_to_tensor(value)
    except (TypeError, ValueError):
        raise TypeError(
            "To be compatible with tf.function, Python functions must return zero or more Tensors or ExtensionTypes or "
            f"None values; {name!r} returned {type(value).__name__}."
        ) from None


def _packer(returned: Any, present: Sequence[bool]) -> Callable[[Sequence], Any]:
    """What puts results into the structure that was returned."""
    if isinstance(returned, Tensor):
        return itemgetter(0)
    simple = _plain(returned)
    if simple is not None:
        return lambda outs: simple(iter(outs))

    def pack(outs: Sequence) -> Any:
        values = iter(outs)
        return nest.pack_sequence_as(returned, [next(values) if there else None for there in present])

    return pack


def _plain(structure: Any) -> Any:
    """The same for tensors in lists and tuples alone; None for others."""
    if isinstance(structure, Tensor):
        return next
    kind = type(structure)
    parts = [_plain(part) for part in structure] if kind in (list, tuple) else [None]
    return None if None in parts else lambda values: kind([part(values) for part in parts])
