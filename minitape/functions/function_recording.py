"""The recording of a first run: which rows of its trace are feeds, which are results, and what must run in any case.

Its gradient is more rows of the same trace: those of a sweep, written once, with zeros in the place of the values. So
a call's gradient is again a recording, whose gradient is one, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from operator import itemgetter
from sys import _getframe
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

import numpy as np

from ..engine.backward.gradient import compute_gradients
from ..engine.derivatives.custom_gradient import pass_adjoints_as_list
from ..engine.record.array_spec import get_array_spec
from ..engine.record.provenance import ASSIGNMENT_GENERATIONS, build_origin, find_place
from ..engine.record.thread_state import state
from ..engine.table.primitives import Primitive
from ..engine.tensor.conversion import convert_to_tensor
from ..engine.tensor.operation import record_operation
from ..engine.tensor.tensor import EagerTensor, Tensor, create_tensor, from_array
from ..engine.values import nest
from . import inner_rows
from .first_run import Feed, FirstRun, GuardError
from .row_program import RowProgram, TraceTable

if TYPE_CHECKING:
    from types import CodeType

    from ..engine.tensor.variable import ResourceVariable


class Assignment(NamedTuple):
    """The row of a variable's new state, and where the user assigned it."""

    variable: ResourceVariable
    row: int
    site: tuple[CodeType, int] | tuple[()]


class TracedFunction(NamedTuple):
    """What a first run gives: its recording, what packs results as they were returned, and this run's results and new
    states as arrays.
    """

    recording: FunctionRecording
    pack: Callable[[Sequence], Any]
    values: Sequence


class FunctionRecording:
    """Some rows of a trace as a function of others: of ``feeds`` come ``results``, then the new states of the variables
    that are ``assignments``; ``effects`` are the calls that run in any case.
    """

    def __init__(
        self,
        table: TraceTable,
        feeds: Sequence[Feed],
        results: Sequence[int],
        assignments: Sequence[Assignment] = (),
        effects: Sequence = (),
    ) -> None:
        self.table, self.trace, self.name = table, table.trace, table.trace.name
        self.feeds, self.results, self.assignments, self.effects = feeds, results, assignments, effects
        self.fetches = [*self.results, *(assignment.row for assignment in self.assignments)]
        self.argument_count = sum(feed.variable is None and feed.captured_ref is None for feed in self.feeds)
        self._varying_positions = [position for position, feed in enumerate(self.feeds) if feed.is_varying]
        self.varying_rows = [self.feeds[position].row for position in self._varying_positions]
        self.is_plain = (
            not effects and not assignments and self.argument_count == len(self.varying_rows)
        )  # a call is its program
        # rows that are other ones in each run: random numbers, and results of Python functions
        self.per_run_rows = [
            call.row + output for call in effects if not call.primitive.is_guard for output in range(call.outputs)
        ]
        self._gradient: GradientRecording | None = None

    @cached_property
    def program(self) -> RowProgram:
        """The program that computes results and new states of the feeds that vary."""
        return RowProgram(self.table, self.fetches, self.varying_rows, self.effects)

    @property
    def gradient(self) -> GradientRecording:
        """The recording of the sweep."""
        with self.trace.lock:
            if self._gradient is None:
                self._gradient = GradientRecording(self)
        return self._gradient

    # -- calls -------------------------------------------------------------------------------------

    def build_array_function(self, with_notes: bool) -> Callable:
        """Return the function that computes results for arrays of all feeds.

        ``with_notes``: and after them what the gradient reads.
        """
        function = (self.gradient.forward if with_notes else self.program).count_run_and_get_function()
        return (
            function
            if len(self.varying_rows) == len(self.feeds)
            else lambda *values: function(*self.select_varying_values(values))
        )

    def collect_feed_tensors(self, arguments: Sequence) -> list:
        """Return a tensor for each feed: these arguments, states of variables, and tensors from outside."""
        tensors: list = [*arguments]
        for feed in self.feeds[self.argument_count :]:
            if feed.variable is not None:
                tensors.append(feed.variable._read_state())
            else:
                tensor = feed.captured_ref()  # type: ignore[misc]
                tensors.append(create_tensor(self.table.constants[feed.row]) if tensor is None else tensor)
        return tensors

    def call_recording(self, arguments: Sequence) -> list:
        """Return the results for these arguments; where something records, the call is a row."""
        record = state.record
        inputs = self.collect_feed_tensors(arguments)
        arrays = self.select_varying_values([tensor._value for tensor in inputs])
        if record is None:
            return self.build_outputs_and_assign(inputs, self.program.compute_fetches(arrays))
        is_watched = any(
            (row := record.find_row(tensor)) is not None and row not in record.untracked for tensor in inputs
        )
        results = (self.gradient.forward if is_watched else self.program).compute_fetches(arrays)
        outputs = self.build_outputs_and_assign(inputs, results)
        if outputs:  # a row of the recording; no gradient comes to one that is not taped, but `explain` asks
            record_operation(
                FUNCTION_PRIMITIVE,
                tuple(inputs),
                {"recording": self, "saved": results[len(self.fetches) :]},
                tuple(outputs),
            )
        return outputs

    def select_varying_values(self, feed_values: Sequence) -> Sequence:
        """Select, of a value for each feed, the values of the feeds that vary."""
        if len(feed_values) == len(self.varying_rows):
            return feed_values
        return [feed_values[position] for position in self._varying_positions]

    def replay_rows(self, inputs: Sequence, saved: Sequence = ()) -> list[EagerTensor]:
        """Return results, then new states, as operations that are recorded now; see :mod:`.inner_rows`."""
        return inner_rows.replay_recording(self, inputs, saved)

    def build_outputs_and_assign(self, inputs: Sequence, arrays: Sequence) -> list:
        """Return the results as tensors, with a note for `explain`, and give the variables their new states."""
        outputs = [*map(from_array, arrays[: len(self.results)])]
        if state.record is None or self.assignments:
            clock, _, place, values, _, depth = origin = build_origin(
                "op", inputs, FUNCTION_PRIMITIVE, find_place(_getframe())
            )
            for tensor in outputs:
                tensor._origin = origin
            for (variable, _, site), value in zip(self.assignments, arrays[len(outputs) :], strict=False):
                note = clock, "assign", (*site, *place), values, ref(variable), depth + ASSIGNMENT_GENERATIONS
                variable._take_state_from_trace(from_array(value), note)
        return outputs


class GradientRecording:
    """The sweep through a recording: further rows of the same trace.

    ``forward`` gives what the recording gives, and the rows ``saved_rows`` for the sweep; ``gradient_rows`` has for
    each feed the row of its gradient, or none.
    """

    def __init__(self, recording: FunctionRecording) -> None:
        self.recording, trace, table = recording, recording.trace, recording.table
        table.read_and_release_new_rows()
        first_gradient_row, feeds = len(table.record), recording.feeds
        self.error: Exception | None = None
        trace.has_values = False
        with trace.record_operations():
            targets = [_build_stand_in_tensor(table, row) for row in recording.results]
            variables = {rows[0]: variable for variable, rows in table.record.variables.values()}  # of all their states
            sources = [variables.get(feed.row, _build_stand_in_tensor(table, feed.row)) for feed in feeds]
            seeds = [trace.add_feed(np.ones(target._value.shape, target._value.dtype)) for target in targets]
            try:
                gradients = compute_gradients(trace.build_tape_watching_all(), targets, sources, list(seeds))
            except LookupError as error:  # raised when the gradient is asked for
                self.error, gradients = error, [None] * len(feeds)
            self.gradient_rows = [
                None if gradient is None else table.record.find_or_add_row(convert_to_tensor(gradient))
                for gradient in gradients
            ]
        table.read_and_release_new_rows()
        rows = [row for row in self.gradient_rows if row is not None]
        seed_rows = [target._row for target in seeds]
        calls, _ = table.find_needed_calls_and_constants(rows, [*seed_rows, *(feed.row for feed in feeds)])
        read_rows = {*rows, *(row for call in calls if call.row >= first_gradient_row for row in call.inputs)}
        kept_rows = {row for row in read_rows if row < first_gradient_row and row not in table.constants} - {
            feed.row for feed in feeds
        }
        self.saved_rows = sorted(kept_rows | set(recording.per_run_rows))
        self.forward = RowProgram(
            table, [*recording.fetches, *self.saved_rows], recording.varying_rows, recording.effects
        )
        effects = table.list_effects_from(first_gradient_row)
        self.backward = RowProgram(table, rows, [*recording.varying_rows, *self.saved_rows, *seed_rows], effects)
        # of the inputs, of what each run has of its own, and of the adjoints: the gradient
        pure_feeds = [
            *(feed._replace(variable=None, captured_ref=None) for feed in feeds),
            *map(Feed, (*recording.per_run_rows, *seed_rows)),
        ]
        self.pure_recording = FunctionRecording(table, pure_feeds, rows, (), effects)

    def compute_shares(self, adjoints: Sequence, inputs: Sequence, saved: Sequence) -> list:
        """Return the shares of the inputs: arrays, or tensors where an adjoint is one."""
        if self.error is not None:
            raise self.error
        if any(isinstance(g, Tensor) for g in adjoints):
            saved_values = dict(zip(self.saved_rows, saved, strict=True))
            arguments = (*inputs, *(saved_values[row] for row in self.recording.per_run_rows), *adjoints)
            computed: Any = self.pure_recording.call_recording(
                [argument if isinstance(argument, Tensor) else create_tensor(argument) for argument in arguments]
            )
        else:
            try:
                computed = self.backward.compute_fetches(
                    [*self.recording.select_varying_values(inputs), *saved, *adjoints]
                )
            except GuardError:
                self.recording.trace.raise_value_access_error("sizes in its gradient")
        values = iter(computed)
        return [None if gradient_row is None else next(values) for gradient_row in self.gradient_rows]


def _build_stand_in_tensor(table: TraceTable, row: int) -> EagerTensor:
    """Return a tensor for a row: with the value of a constant, else, where that is released, zeros of its shape."""
    tensor = from_array(table.constants.get(row, get_array_spec(*table.shape_dtypes[row]).zeros))
    tensor._record, tensor._row = table.record, row
    return tensor


@pass_adjoints_as_list
def _compute_call_shares(adjoints: Any, z: Any, *inputs: Any, recording: FunctionRecording, saved: Sequence) -> list:
    return recording.gradient.compute_shares(adjoints, inputs, saved)


FUNCTION_PRIMITIVE = Primitive(
    "function", lambda *arrays, recording, saved: arrays, _compute_call_shares, op="PartitionedCall", label="function"
)


# -- the first run ---------------------------------------------------------------------------------


def record_function(trace: FirstRun, function: Callable, tensors: Sequence) -> TracedFunction:
    """Run a function on copies of tensors and return its recording with the results of this run."""
    with trace.record_operations():
        returned = function(*[trace.add_feed(tensor._value) for tensor in tensors])
        results = [convert_function_result(trace.name, tensor) for tensor in nest.flatten(returned)]
        present_results = [tensor for tensor in results if tensor is not None]
        result_rows = [trace.record.find_or_add_row(tensor) for tensor in present_results]
        values = [
            tensor._value
            for tensor in (*present_results, *(trace.variable_states[key] for key in trace.assigned_variables))
        ]
        pack = _build_result_packer(returned, [tensor is not None for tensor in results])
        table = TraceTable(trace)
        table.read_and_release_new_rows()
    assigned = [
        Assignment(variable, row := trace.variable_states[key]._row, trace.record.find_site(row) or ())
        for key, variable in trace.assigned_variables.items()
    ]
    feeds = [feed for feed in trace.feeds.values() if feed.captured_ref is None or _can_feed_be_watched(feed)]
    return TracedFunction(
        FunctionRecording(table, feeds, result_rows, assigned, table.list_effects_from()), pack, values
    )


def _can_feed_be_watched(feed: Feed) -> bool:
    """Whether a feed is a tensor from outside that someone else holds, so that a tape may watch it."""
    tensor = feed.captured_ref and feed.captured_ref()
    return tensor is not None and (feed.is_varying or tensor.dtype.differentiable)


def convert_function_result(function_name: str, value: Any) -> Any:
    """Return the result of a function as a tensor, or None; TypeError for anything else."""
    try:
        return value if value is None or isinstance(value, Tensor) else convert_to_tensor(value)
    except (TypeError, ValueError):
        raise TypeError(
            "To be compatible with tf.function, Python functions must return zero or more Tensors or ExtensionTypes or "
            f"None values; {function_name!r} returned {type(value).__name__}."
        ) from None


def _build_result_packer(returned: Any, presence_flags: Sequence) -> Callable:
    """Return the function that puts tensors into the structure that the Python function returned."""
    if isinstance(returned, Tensor):
        return itemgetter(0)
    if type(returned) in (list, tuple) and all(isinstance(leaf, Tensor) for leaf in returned):
        return type(returned)
    structure = nest.map_structure(lambda leaf: None, returned)

    def pack_structure(outputs: Sequence) -> Any:
        values = iter(outputs)
        return nest.pack_sequence_as(structure, [next(values) if is_present else None for is_present in presence_flags])

    return pack_structure
