"""The recording of a first run: which rows of its trace are given, which are results, and what must run in any case.

Its gradient is more rows of the same trace: those of a sweep, written once, with zeros in the place of the values. So
a call's gradient is again a recording, whose gradient is one, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from operator import itemgetter
from sys import _getframe
from typing import Any
from weakref import ref

import numpy as np

from ..engine.back.backward import gradients_of
from ..engine.derivatives.custom import with_list
from ..engine.recording.array_spec import array_spec
from ..engine.recording.evidence import ASSIGNED, origin_of_new, place_of
from ..engine.recording.state import state
from ..engine.table.primitives import Primitive
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.operation import finish
from ..engine.tensor.tensor import EagerTensor, Tensor, from_array, new_tensor
from ..engine.values import nest
from . import inside
from .program import Program, Table
from .trace import Feed, FirstRun, OtherWay


class FunctionRecording:
    """Some rows of a trace as a function of others: of ``feeds`` come ``results``, then the new states of the variables
    that are ``assigned``; ``effects`` are the calls that run in any case.
    """

    def __init__(
        self,
        table: Table,
        feeds: Sequence,
        results: Sequence,
        assigned: Sequence = (),
        effects: Sequence = (),
    ) -> None:
        self.table, self.trace, self.name = table, table.trace, table.trace.name
        self.feeds, self.results, self.assigned, self.effects = feeds, results, assigned, effects
        self.fetches = [*self.results, *(row for _, row, _ in self.assigned)]
        self.arguments = sum(feed.variable is None and feed.captured_ref is None for feed in self.feeds)
        self._at = [at for at, feed in enumerate(self.feeds) if feed.varies]
        self.varying_rows = [self.feeds[at].row for at in self._at]
        self.plain = not effects and not assigned and self.arguments == len(self.varying_rows)  # a call is its program
        # rows that a run has all its own: what is drawn, or given by Python
        self.own_rows = [call.row + k for call in effects if not call.primitive.checks for k in range(call.outputs)]
        self._grads: Gradient | None = None

    @cached_property
    def program(self) -> Program:
        """Arrays of what varies in, results and new states out."""
        return Program(self.table, self.fetches, self.varying_rows, self.effects)

    @property
    def gradient(self) -> Gradient:
        """The recording of the sweep."""
        with self.trace.lock:
            if self._grads is None:
                self._grads = Gradient(self)
        return self._grads

    # -- calls -------------------------------------------------------------------------------------

    def runner(self, noted: bool) -> Callable:
        """The function that computes results for arrays of all feeds; ``noted``: then what the gradient reads."""
        function = (self.gradient.forward if noted else self.program).ready()
        return (
            function
            if len(self.varying_rows) == len(self.feeds)
            else lambda *values: function(*self.only_varying(values))
        )

    def inputs(self, arguments: Sequence) -> list:
        """A tensor for each feed: arguments, states of variables, and tensors from outside."""
        found: list = [*arguments]
        for feed in self.feeds[self.arguments :]:
            if feed.variable is not None:
                found.append(feed.variable._read())
            else:
                tensor = feed.captured_ref()
                found.append(new_tensor(self.table.folded[feed.row]) if tensor is None else tensor)
        return found

    def call(self, arguments: Sequence) -> list:
        """The results for these arguments."""
        record = state.record
        inputs = self.inputs(arguments)
        arrays = self.only_varying([t._value for t in inputs])
        if record is None:
            return self.outputs(inputs, self.program.run(arrays))
        taped = any((row := record.find(t)) is not None and row not in record.untracked for t in inputs)
        found = (self.gradient.forward if taped else self.program).run(arrays)
        outputs = self.outputs(inputs, found)
        if outputs:  # a row of the recording; no gradient comes to one that is not taped, but `explain` asks
            finish(FUNCTION, tuple(inputs), {"recording": self, "saved": found[len(self.fetches) :]}, tuple(outputs))
        return outputs

    def only_varying(self, values: Sequence) -> Sequence:
        """Of a value for each feed those of the feeds that vary."""
        if len(values) == len(self.varying_rows):
            return values
        return [values[at] for at in self._at]

    def again(self, inputs: Sequence, saved: Sequence = ()) -> list[EagerTensor]:
        """The results and then new states as operations that are recorded now, see :func:`.inside.again`."""
        return inside.again(self, inputs, saved)

    def outputs(self, inputs: Sequence, found: Sequence) -> list:
        """The results as tensors, with a note for `explain`; the variables get their new states."""
        outputs = [*map(from_array, found[: len(self.results)])]
        if state.record is None or self.assigned:
            when, _, place, values, _, depth = origin = origin_of_new("op", inputs, FUNCTION, place_of(_getframe()))
            for tensor in outputs:
                tensor._origin = origin
            for (variable, _, at), value in zip(self.assigned, found[len(outputs) :], strict=False):
                told = when, "assign", (*at, *place), values, ref(variable), depth + ASSIGNED
                variable._take(from_array(value), told)
        return outputs


class Gradient:
    """The sweep through a recording: further rows of the same trace.

    ``forward`` gives what the recording gives, and the rows ``saved`` for the sweep; ``parts`` has for each feed the
    row of its gradient, or none.
    """

    def __init__(self, recording: FunctionRecording) -> None:
        self.recording, trace, table = recording, recording.trace, recording.table
        table.grow()
        border, feeds = len(table.record), recording.feeds
        self.error: Exception | None = None
        trace.has_values = False
        with trace.recording():
            outs = [_stand_in(table, row) for row in recording.results]
            variables = {rows[0]: variable for variable, rows in table.record.variables.values()}  # of all their states
            sources = [variables.get(feed.row, _stand_in(table, feed.row)) for feed in feeds]
            ones = [trace.enter(np.ones(t._value.shape, t._value.dtype)) for t in outs]
            try:
                found = gradients_of(trace.tape(), outs, sources, list(ones))
            except LookupError as error:  # raised when the gradient is asked for
                self.error, found = error, [None] * len(feeds)
            self.parts = [None if g is None else table.record.row_or_new_leaf(convert_to_tensor(g)) for g in found]
        table.grow()
        rows = [row for row in self.parts if row is not None]
        starts = [t._row for t in ones]
        calls, _ = table.calls_for(rows, [*starts, *(feed.row for feed in feeds)])
        read = {*rows, *(row for call in calls if call.row >= border for row in call.inputs)}
        kept = {row for row in read if row < border and row not in table.folded} - {feed.row for feed in feeds}
        self.saved = sorted(kept | set(recording.own_rows))
        self.forward = Program(table, [*recording.fetches, *self.saved], recording.varying_rows, recording.effects)
        effects = table.effects(border)
        self.backward = Program(table, rows, [*recording.varying_rows, *self.saved, *starts], effects)
        # of the inputs, of what each run has of its own, and of the adjoints: the gradient
        given = [
            *(feed._replace(variable=None, captured_ref=None) for feed in feeds),
            *map(Feed, (*recording.own_rows, *starts)),
        ]
        self.pure = FunctionRecording(table, given, rows, (), effects)

    def shares(self, gs: Sequence, inputs: Sequence, saved: Sequence) -> list:
        """The shares of the inputs: of arrays, or of tensors."""
        if self.error is not None:
            raise self.error
        if any(isinstance(g, Tensor) for g in gs):
            kept = dict(zip(self.saved, saved, strict=True))
            given = (*inputs, *(kept[row] for row in self.recording.own_rows), *gs)
            found: Any = self.pure.call([x if isinstance(x, Tensor) else new_tensor(x) for x in given])
        else:
            try:
                found = self.backward.run([*self.recording.only_varying(inputs), *saved, *gs])
            except OtherWay:
                self.recording.trace.raise_refusal("sizes in its gradient")
        values = iter(found)
        return [None if part is None else next(values) for part in self.parts]


def _stand_in(table: Table, row: int) -> EagerTensor:
    """The tensor of a row whose value is not known any more: zeros have its shape."""
    made = from_array(table.folded.get(row, array_spec(*table.shape_dtypes[row]).zeros))
    made._record, made._row = table.record, row
    return made


@with_list
def _rule(gs: Any, z: Any, *inputs: Any, recording: FunctionRecording, saved: Sequence) -> list:
    return recording.gradient.shares(gs, inputs, saved)


FUNCTION = Primitive(
    "function", lambda *arrays, recording, saved: arrays, _rule, op="PartitionedCall", label="function"
)


# -- the first run ---------------------------------------------------------------------------------


def record(trace: FirstRun, function: Callable, tensors: Sequence) -> tuple:
    """Runs a function on copies of tensors: (its recording, what packs results as it returned them, arrays of results
    and new states of this run).
    """
    with trace.recording():
        returned = function(*[trace.enter(t._value) for t in tensors])
        flat = [as_result(trace.name, t) for t in nest.flatten(returned)]
        there = [t for t in flat if t is not None]
        results = [trace.record.row_or_new_leaf(t) for t in there]
        values = [t._value for t in (*there, *(trace.states[key] for key in trace.assigned_variables))]
        pack = _packer(returned, [t is not None for t in flat])
        table = Table(trace)
        table.grow()
    assigned = [  # each variable, the row of its new state, and where the user assigned it
        (variable, row := trace.states[key]._row, trace.record.site_of(row) or ())
        for key, variable in trace.assigned_variables.items()
    ]
    feeds = [feed for feed in trace.feeds.values() if feed.captured_ref is None or _is_alive(feed)]
    return FunctionRecording(table, feeds, results, assigned, table.effects()), pack, values


def _is_alive(feed: Feed) -> bool:
    """Whether someone else holds a tensor from outside, so that a tape may watch it."""
    tensor = feed.captured_ref and feed.captured_ref()
    return tensor is not None and (feed.varies or tensor.dtype.differentiable)


def as_result(name: str, value: Any) -> Any:
    """The result of a function as a tensor, or None; TypeError for anything else."""
    try:
        return value if value is None or isinstance(value, Tensor) else convert_to_tensor(value)
    except (TypeError, ValueError):
        raise TypeError(
            "To be compatible with tf.function, Python functions must return zero or more Tensors or ExtensionTypes or "
            f"None values; {name!r} returned {type(value).__name__}."
        ) from None


def _packer(returned: Any, present: Sequence) -> Callable:
    """The function that puts results into the structure that was returned."""
    if isinstance(returned, Tensor):
        return itemgetter(0)
    if type(returned) in (list, tuple) and all(isinstance(t, Tensor) for t in returned):
        return type(returned)
    shape = nest.map_structure(lambda t: None, returned)

    def pack(outs: Sequence) -> Any:
        values = iter(outs)
        return nest.pack_sequence_as(shape, [next(values) if there else None for there in present])

    return pack
