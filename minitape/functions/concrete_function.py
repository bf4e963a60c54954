"""Store the result of a first run as a function: its feeds, results, assignments, effects and gradient.

:func:`run_and_trace_function` runs a Python function for the first time, and returns its :class:`ConcreteFunction`.
Under a tape, a call of the concrete function is one row with the operation ``FUNCTION_PRIMITIVE``, whose rule computes
the gradient with a :class:`ConcreteGradient`.

The gradient consists of further rows of the same first run. A recorded sweep appends them when the function is first
called with a tracked input. The values in these rows are leftovers of the sweep, and nothing reads them. Only the
operations matter, because each call computes them again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from operator import itemgetter
from sys import _getframe
from types import CodeType
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from ..engine.backward.gradient import compute_gradients
from ..engine.backward.row_marks import propagate_marks_to_consumers
from ..engine.derivatives.custom_gradient import wrap_rule_to_receive_adjoint_list
from ..engine.record.array_spec import get_array_spec
from ..engine.record.interrupt_safe import TemporaryAttributes
from ..engine.record.provenance import ASSIGNMENT_GENERATIONS, build_origin, find_user_place
from ..engine.record.thread_state import state
from ..engine.table.primitives import Primitive
from ..engine.tensor.conversion import convert_to_tensor
from ..engine.tensor.operation import record_operation, run_and_record
from ..engine.tensor.tensor import EagerTensor, Tensor, wrap_array, wrap_array_with_origin
from ..engine.tensor.variable import ResourceVariable
from ..engine.types import LIST_OR_TUPLE, Adjoint, Array, RowList, RowSequence, RowSet, Structure, Value
from ..engine.values.nest import flatten, map_structure, pack_sequence_as
from .first_run import Feed, FirstRun, GuardError
from .nested_tensors import list_tensors
from .row_program import RowProgram, TracedRows


class Assignment(NamedTuple):
    """The row of a variable's new state.

    Attributes:
        variable: The variable.
        row: The row number of the state.
        site: (code, bytecode offset) of the user's assignment, or () if they are unknown.
    """

    variable: ResourceVariable
    row: int
    site: tuple[CodeType, int] | tuple[()]


class FirstRunResult(NamedTuple):
    """The result of a first run.

    Attributes:
        concrete_function: The new function.
        pack_results: A function that packs result tensors into the structure that the Python function returned.
        arrays: The arrays of this run's results, followed by the new variable states.
    """

    concrete_function: ConcreteFunction
    pack_results: Callable[[Sequence], Any]
    arrays: Sequence


class ConcreteFunction:
    """A function that computes some rows of a first run from other rows. The name is TensorFlow's.

    A ``tf.function`` has one concrete function for each kind of call and each path through Python's branches.

    Attributes:
        traced_rows: The rows of the first run.
        first_run: The first run that wrote the rows.
        name: The name of the Python function.
        feeds: The ``Feed`` of each row whose value a call provides. Arguments come first.
        result_rows: The rows that a call returns.
        assignments: The new states of the variables that a call assigns.
        effects: The operations that run in every call, as ``Call`` objects: effects and guards.
        fetch_rows: The rows that a call computes: the results, followed by the new states.
        argument_count: The number of feeds that are arguments.
        varying_rows: The rows of the feeds whose values can differ between calls.
        is_plain: Whether a call only computes its program, without effects, assignments or variables.
        per_run_rows: The rows that differ between runs, such as random numbers and results of Python functions.
    """

    def __init__(
        self,
        traced_rows: TracedRows,
        feeds: Sequence[Feed],
        result_rows: RowSequence,
        assignments: Sequence[Assignment],
        effects: Sequence,
    ):
        """Describe a function. Its programs and its gradient are built on first use.

        Args:
            traced_rows: The rows of the first run.
            feeds: The ``Feed`` of each row whose value a call provides. Arguments come first.
            result_rows: The rows that a call returns.
            assignments: The new states of the variables that a call assigns.
            effects: The operations that run in every call, as ``Call`` objects: effects and guards.
        """
        self.traced_rows, self.first_run, self.name = traced_rows, traced_rows.first_run, traced_rows.first_run.name
        self.feeds = feeds
        self.result_rows = result_rows
        self.assignments = assignments
        self.effects = effects
        self.fetch_rows = [*result_rows, *(assignment.row for assignment in assignments)]
        self.argument_count = sum(feed.is_argument for feed in feeds)
        self._varying_positions = [position for position, feed in enumerate(feeds) if feed.is_varying]
        self.varying_rows = [feeds[position].row for position in self._varying_positions]
        self.is_plain = not effects and not assignments and self.argument_count == len(self.varying_rows)
        self.per_run_rows = [
            call.row + output for call in effects if not call.primitive.is_guard for output in range(call.outputs)
        ]
        self._gradient: ConcreteGradient | None = None

    @cached_property
    def program(self) -> RowProgram:
        """The program that computes results and new states from the varying feeds."""
        return RowProgram(self.traced_rows, self.fetch_rows, self.varying_rows, self.effects)

    def list_result_shapes_and_dtypes(self) -> list[tuple]:
        """List the shape and dtype of each result."""
        return [self.traced_rows.shape_dtypes[row] for row in self.result_rows]

    def get_or_record_gradient(self) -> ConcreteGradient:
        """Return the gradient. The first call of this method records the backward sweep, as rows of the first run."""
        with self.first_run.lock:
            if self._gradient is None:
                self._gradient = ConcreteGradient(self)
        return self._gradient

    # -- calls -------------------------------------------------------------------------------------

    def build_array_function(self, with_saved: bool) -> Callable:
        """Return the function that computes the fetched rows from the arrays of all feeds.

        Args:
            with_saved: Whether the function also returns the values that the gradient reads, after the results and new
                states. This records the gradient if necessary.

        Returns:
            A function that takes the array of each feed as an argument, and returns a tuple of arrays.
        """
        program = self.get_or_record_gradient().forward if with_saved else self.program
        function = program.count_run_and_get_function()
        if len(self.varying_rows) == len(self.feeds):
            return function
        return lambda *values: function(*self.select_varying_values(values))

    def collect_non_argument_feed_tensors(self) -> list:
        """Return a tensor for each feed that is not an argument.

        If a tape is recording, reading the state of a variable makes the tape watch the variable, and appends a row.

        Returns:
            The current variable states and the captured tensors, in the order of `feeds`. If a captured tensor no
            longer exists, a tensor with the same value replaces it.
        """
        tensors: list = []
        for feed in self.feeds[self.argument_count :]:
            if feed.variable is not None:
                tensors.append(feed.variable._read_and_watch())
            else:
                tensor = feed.captured_ref()  # type: ignore[misc]
                tensors.append(
                    wrap_array_with_origin(self.traced_rows.constants[feed.row]) if tensor is None else tensor
                )
        return tensors

    def call_on_tensors(self, arguments: Sequence) -> list:
        """Call the function on tensors, return its results, and assign the new states to the variables.

        If a ``Record`` is open, the call becomes one of its rows. If an input is tracked there, the row also saves the
        values that the gradient reads. The first such call therefore records the gradient.

        Args:
            arguments: The tensors that the caller passed as arguments.

        Returns:
            The results as tensors.

        Raises:
            GuardError: If a guard fails for these arguments.
        """
        record = state.record
        inputs = [
            *arguments,
            *self.collect_non_argument_feed_tensors(),
        ]  # From here on, tapes watch the variables that are read.
        arrays = self.select_varying_values([tensor._value for tensor in inputs])
        if record is None:
            return self.build_outputs_and_assign(inputs, self.program.compute_fetches(arrays))
        is_tracked = any(
            (row := record.find_row(tensor)) is not None and row not in record.untracked for tensor in inputs
        )
        program = self.get_or_record_gradient().forward if is_tracked else self.program
        computed = program.compute_fetches(arrays)
        outputs = self.build_outputs_and_assign(inputs, computed)
        if outputs:
            # An untracked call does not receive an adjoint, but `explain` reads its row.
            record_operation(
                FUNCTION_PRIMITIVE,
                tuple(inputs),
                {"concrete_function": self, "saved": computed[len(self.fetch_rows) :]},
                tuple(outputs),
            )
        return outputs

    def select_varying_values(self, feed_values: Sequence) -> Sequence:
        """Return the values of the varying feeds.

        Args:
            feed_values: A value for each feed.
        """
        if len(feed_values) == len(self.varying_rows):
            return feed_values
        return [feed_values[position] for position in self._varying_positions]

    def replay_rows(self, inputs: Sequence, saved: Sequence = ()) -> list[EagerTensor]:
        """Run the rows again as operations that are recorded now, for pictures and ``explain``.

        Effects are not repeated. For rows that differ between runs, `saved` contains the values.

        Args:
            inputs: A tensor for each feed.
            saved: The values of ``ConcreteGradient.saved_rows`` that the call kept. May be empty.

        Returns:
            The results, followed by the new states of the assigned variables, as tensors.
        """
        saved_values = dict(zip(self.get_or_record_gradient().saved_rows, saved, strict=False))
        values: dict = dict(zip((feed.row for feed in self.feeds), inputs, strict=True))
        values |= {row: wrap_array_with_origin(saved_values[row]) for row in self.per_run_rows if row in saved_values}
        calls, constants = self.traced_rows.find_needed_operations_and_constants(self.fetch_rows, list(values))
        values |= {row: wrap_array_with_origin(value) for row, value in constants.items() if row not in values}
        for call in calls:
            with TemporaryAttributes(state, fixed_site=self.traced_rows.record.find_site(call.row)):
                call_inputs = tuple([values[row] for row in call.inputs])
                replay = getattr(call.primitive, "replay", None)
                if replay is None:
                    result = run_and_record(call.primitive, call_inputs, call.attrs)
                else:
                    result = tuple(replay(call_inputs))
            results = result if isinstance(result, tuple) else (result,)
            values.update(enumerate(results, call.row))
        return [values[row] for row in self.fetch_rows]

    def build_outputs_and_assign(self, inputs: Sequence, arrays: Sequence) -> list:
        """Return the results of a call as tensors, and assign the new states to the variables.

        Each new state stores its origin for ``explain``. So does each result, unless a ``Record`` is open.

        Args:
            inputs: A tensor for each feed.
            arrays: The arrays of the results, followed by the arrays of the new states.

        Returns:
            The results as tensors.
        """
        outputs = [*map(wrap_array, arrays[: len(self.result_rows)])]
        # If a `Record` is open, the row of the call shows where the outputs came from.
        if state.record is None or self.assignments:
            clock, _, place, values, _, depth = origin = build_origin(
                "op", inputs, FUNCTION_PRIMITIVE, find_user_place(_getframe())
            )
            for tensor in outputs:
                tensor._origin = origin
            for (variable, _, site), value in zip(self.assignments, arrays[len(outputs) :], strict=False):
                state_origin = clock, "assign", (*site, *place), values, ref(variable), depth + ASSIGNMENT_GENERATIONS
                variable._set_state_from_first_run(wrap_array(value), state_origin)
        return outputs


class ConcreteGradient:
    """The gradient of a concrete function: its backward sweep, as further rows of the same first run.

    For example, the first run of ``x * x * w`` writes rows 0 to 3. Rows 0 and 2 are feeds, and row 3 is the result. The
    sweep starts with the adjoint in row 4 and writes rows 5 to 9. It reads one computed row of the forward pass: row 1,
    which is ``x * x``. A call under a tape therefore returns the value of row 1 in addition to the result.

    >>> import minitape as tf
    >>> from minitape.functions.first_run import FirstRun
    >>> from minitape.functions.concrete_function import run_and_trace_function
    >>> from minitape.recording.graph_nodes import find_operation_and_inputs
    >>> w = tf.Variable(2.0)
    >>> function = run_and_trace_function(FirstRun("f"), lambda x: x * x * w, [tf.constant(3.0)]).concrete_function
    >>> gradient = function.get_or_record_gradient()
    >>> record = function.first_run.record
    >>> for row in range(len(record)):
    ...     primitive, inputs = find_operation_and_inputs(record, row)
    ...     print(row, "leaf" if primitive is None else f"{primitive.name} of rows {inputs}")
    0 leaf
    1 multiply of rows (0, 0)
    2 leaf
    3 multiply of rows (1, 2)
    4 leaf
    5 multiply of rows (4, 2)
    6 multiply of rows (4, 1)
    7 multiply of rows (5, 0)
    8 multiply of rows (5, 0)
    9 add of rows (7, 8)
    >>> gradient.gradient_rows, gradient.saved_rows
    ([9, 6], [1])
    >>> gradient.forward.feed_rows, gradient.forward.fetch_rows
    ([0, 2], [3, 1])
    >>> gradient.backward.feed_rows, gradient.backward.fetch_rows
    ([0, 2, 1, 4], [9, 6])

    The values in rows 5 to 9 are leftovers of the sweep. Nothing reads them, because each call computes these rows
    again.

    Attributes:
        concrete_function: The function that is differentiated.
        error: The LookupError for an operation without a registered gradient, or None.
        gradient_rows: For each feed, the row of its gradient, or None if it has no gradient.
        saved_rows: The rows of the forward pass that a call keeps for the sweep, including the rows that differ between
            runs.
        forward: The program of the forward pass. It computes the fetched rows of the function and `saved_rows`.
        backward: The program of the sweep. It computes the gradients from the varying feeds, `saved_rows` and the
            adjoints.
        pure_function: The gradients as a concrete function without variables or captured tensors, which has a gradient
            itself. Its feeds are the feeds of `concrete_function`, the rows that differ between runs, and the adjoints.
    """

    def __init__(self, concrete_function: ConcreteFunction):
        """Record the sweep, and create its programs.

        Args:
            concrete_function: The function to differentiate.
        """
        self.concrete_function = concrete_function
        self.error: Exception | None = None
        concrete_function.traced_rows.read_and_release_new_rows()
        first_gradient_row = len(concrete_function.traced_rows.record)
        seed_rows = self._record_sweep()
        self._create_programs(seed_rows, first_gradient_row)

    def _record_sweep(self) -> RowList:
        """Append the rows of the sweep to the first run, and set `gradient_rows`.

        The first run has released most of its arrays, so the sweep computes with any values of the right shape and
        dtype. Only its operations matter, because each call computes their values again.

        Returns:
            The rows of the adjoints that the results start with.
        """
        concrete_function = self.concrete_function
        traced_rows = concrete_function.traced_rows
        first_run = concrete_function.first_run
        record = first_run.record
        first_run.has_values = False
        with first_run.open_recording_block():
            targets = [_build_stand_in_tensor(traced_rows, row) for row in concrete_function.result_rows]
            # The source is the variable instead of its fed state, because the gradient must include all states.
            variables = {rows[0]: variable for variable, rows in record.variables.values()}
            sources = [
                variables.get(feed.row, _build_stand_in_tensor(traced_rows, feed.row))
                for feed in concrete_function.feeds
            ]
            seeds = [first_run.add_feed(np.ones(target.dims, target._value.dtype)) for target in targets]
            try:
                gradients = compute_gradients(first_run.build_tape_of_rows_so_far(), targets, sources, list(seeds))
            except LookupError as error:
                # `compute_shares` raises the error, because calls that need no gradient must still work.
                self.error = error
                gradients = [None] * len(sources)
            self.gradient_rows = [
                None if gradient is None else record.find_or_add_row(convert_to_tensor(gradient))
                for gradient in gradients
            ]
        traced_rows.read_and_release_new_rows()
        return [seed._row for seed in seeds]

    def _create_programs(self, seed_rows: RowSequence, first_gradient_row: int) -> None:
        """Set `saved_rows`, and create the two programs and the differentiable function.

        Args:
            seed_rows: The rows of the adjoints that the results start with.
            first_gradient_row: The first row of the sweep. All earlier rows belong to the forward pass.
        """
        concrete_function = self.concrete_function
        traced_rows = concrete_function.traced_rows
        rows = [row for row in self.gradient_rows if row is not None]
        read_rows = self._find_read_forward_rows(rows, seed_rows, first_gradient_row)
        self.saved_rows = sorted(read_rows | set(concrete_function.per_run_rows))
        self.forward = RowProgram(
            traced_rows,
            concrete_function.fetch_rows + self.saved_rows,
            concrete_function.varying_rows,
            concrete_function.effects,
        )
        effects = traced_rows.list_effects_and_guards_from(first_gradient_row)
        self.backward = RowProgram(
            traced_rows, rows, [*concrete_function.varying_rows, *self.saved_rows, *seed_rows], effects
        )
        pure_feeds = [
            *(feed._replace(variable=None, captured_ref=None) for feed in concrete_function.feeds),
            *map(Feed, (*concrete_function.per_run_rows, *seed_rows)),
        ]
        self.pure_function = ConcreteFunction(traced_rows, pure_feeds, rows, (), effects)

    def _find_read_forward_rows(
        self, gradient_rows: RowSequence, seed_rows: RowSequence, first_gradient_row: int
    ) -> RowSet:
        """Find the rows of the forward pass that the sweep reads, except feeds and constants.

        Args:
            gradient_rows: The rows of the gradients.
            seed_rows: The rows of the adjoints that the results start with.
            first_gradient_row: The first row of the sweep. All earlier rows belong to the forward pass.
        """
        traced_rows = self.concrete_function.traced_rows
        feed_rows = {feed.row for feed in self.concrete_function.feeds}
        calls, _ = traced_rows.find_needed_operations_and_constants(gradient_rows, [*seed_rows, *feed_rows])
        read_rows = {*gradient_rows, *(row for call in calls if call.row >= first_gradient_row for row in call.inputs)}
        return {row for row in read_rows - feed_rows if row < first_gradient_row and row not in traced_rows.constants}

    def compute_shares(self, adjoints: Sequence, inputs: Sequence, saved: Sequence) -> list:
        """Compute the share of each input of a call.

        Args:
            adjoints: The adjoints of the results, as arrays or tensors.
            inputs: The values of the feeds, as arrays or tensors.
            saved: The values of `saved_rows`.

        Returns:
            A share for each feed, or None if the feed has no gradient. Shares are tensors if an adjoint is a tensor,
            otherwise arrays.

        Raises:
            LookupError: If an operation of the function has no registered gradient.
            OperatorNotAllowedInGraphError: If a shape in the gradient differs from the recorded sweep.
        """
        if self.error is not None:
            raise self.error
        if any(isinstance(g, Tensor) for g in adjoints):
            saved_values = dict(zip(self.saved_rows, saved, strict=False))  # A call in a first run saves nothing.
            arguments = (*inputs, *(saved_values[row] for row in self.concrete_function.per_run_rows), *adjoints)
            computed: Any = self.pure_function.call_on_tensors(
                [
                    argument if isinstance(argument, Tensor) else wrap_array_with_origin(argument)
                    for argument in arguments
                ]
            )
        else:
            try:
                computed = self.backward.compute_fetches(
                    [*self.concrete_function.select_varying_values(inputs), *saved, *adjoints]
                )
            except GuardError:
                self.concrete_function.first_run.raise_value_access_error("sizes in its gradient")
        values = iter(computed)
        return [None if gradient_row is None else next(values) for gradient_row in self.gradient_rows]


def _build_stand_in_tensor(traced_rows: TracedRows, row: int) -> EagerTensor:
    """Return a tensor for a row. Its value is the row's constant, or zeros if the row can differ between calls."""
    tensor = wrap_array(traced_rows.constants.get(row, get_array_spec(*traced_rows.shape_dtypes[row]).zeros))
    tensor._record = traced_rows.record
    tensor._row = row
    return tensor


@wrap_rule_to_receive_adjoint_list
def _compute_call_shares(
    adjoints: Adjoint, z: Adjoint, *inputs: Adjoint, concrete_function: ConcreteFunction, saved: Sequence
) -> list:
    return concrete_function.get_or_record_gradient().compute_shares(adjoints, inputs, saved)


def _compute_results(*arrays: Array, concrete_function: ConcreteFunction, saved: Sequence) -> Array | tuple:
    """Compute the results of a call from the values of its feeds.

    When the row is written, ``ConcreteFunction.call_on_tensors`` has already computed the results. This function is
    needed only if another ``tf.function`` asks an outside tape for a gradient. The later calls of that function compute
    the row again.
    """
    computed = concrete_function.program.compute_fetches(concrete_function.select_varying_values(arrays))
    results = tuple(computed[: len(concrete_function.result_rows)])
    return results if len(results) > 1 else results[0]


# A call under a tape is one row with this operation. Its attributes are the concrete function and the saved values.
FUNCTION_PRIMITIVE = Primitive(
    "function",
    _compute_results,
    _compute_call_shares,
    op="PartitionedCall",
)


# This primitive joins the outputs of a function that another function calls.
# If a sweep reaches one output, the other outputs have zeros as their adjoints.
CALL_OUTPUTS_PRIMITIVE = Primitive(
    "call_outputs",
    lambda *arrays: arrays,
    wrap_rule_to_receive_adjoint_list(lambda adjoints, z, *inputs: adjoints),
    op="IdentityN",
    label="outputs",
    keep="",
)


def join_call_outputs(first_run: FirstRun, first_row: int, arguments: Sequence, returned: Structure) -> Structure:
    """Join the outputs of an inner function in a single row if they depend on different inputs.

    The rows of an inner function belong to the outer function, but TensorFlow differentiates the call as a whole. If
    the target depends on only one output, the gradients of inputs that affect only other outputs are therefore zero
    instead of None.

    Args:
        first_run: The first run of the outer function.
        first_row: The first row of the call.
        arguments: The tensors among the arguments.
        returned: The value that the function returned, with its tensors.

    Returns:
        The returned value. If the outputs were joined, its differentiable tensors are replaced by the outputs of the
        new row.
    """
    record = first_run.record
    outputs = {id(output): output for output in list_tensors(returned) if output.dtype.differentiable}
    if len(outputs) < 2:
        return returned
    output_rows = [record.find_or_add_row(output) for output in outputs.values()]

    def reaches_some_outputs(tensor: Tensor) -> bool:
        row = record.find_row(tensor) if tensor.dtype.differentiable else None
        if row is None:
            return False
        marks = bytearray(record.next)
        marks[row] = 1
        propagate_marks_to_consumers(record, marks, first_row, record.next)
        return 0 < sum(marks[output_row] & 1 for output_row in output_rows) < len(outputs)

    if not any(map(reaches_some_outputs, (*arguments, *first_run.variable_states.values()))):
        return returned
    joined = [wrap_array(output._value) for output in outputs.values()]
    record_operation(CALL_OUTPUTS_PRIMITIVE, tuple(outputs.values()), {}, tuple(joined))
    joined_by_id = dict(zip(outputs, joined, strict=True))
    return map_structure(lambda leaf: joined_by_id.get(id(leaf), leaf), returned)


# -- the first run ---------------------------------------------------------------------------------


def run_and_trace_function(first_run: FirstRun, function: Callable, tensors: Sequence) -> FirstRunResult:
    """Run a Python function for the first time, and return the concrete function and the arrays of this run.

    Args:
        first_run: A first run without rows. The function's rows are added to it.
        function: The function, which is called with copies of `tensors` that belong to the first run.
        tensors: The tensors among the arguments.

    Returns:
        The new ``ConcreteFunction``, a function that packs results, and the arrays of this run.

    Raises:
        TypeError: If the function returns something that is not a tensor.
    """
    with first_run.open_recording_block():
        returned = function(*[first_run.add_feed(tensor._value) for tensor in tensors])
        results = [convert_function_result(first_run.name, tensor) for tensor in flatten(returned)]
        present_results = [tensor for tensor in results if tensor is not None]
        result_rows = [first_run.record.find_or_add_row(tensor) for tensor in present_results]
        new_states = [first_run.variable_states[key] for key in first_run.assigned_variables]
        arrays = [tensor._value for tensor in (*present_results, *new_states)]
        pack_results = _build_result_packer(returned, [tensor is not None for tensor in results])
        traced_rows = TracedRows(first_run)
        traced_rows.read_and_release_new_rows()
    assignments = []
    for key, variable in first_run.assigned_variables.items():
        row = first_run.variable_states[key]._row
        assignments.append(Assignment(variable, row, first_run.record.find_site(row) or ()))
    feeds = [feed for feed in first_run.feeds.values() if feed.captured_ref is None or _is_live_capture_to_watch(feed)]
    concrete_function = ConcreteFunction(
        traced_rows, feeds, result_rows, assignments, traced_rows.list_effects_and_guards_from()
    )
    return FirstRunResult(concrete_function, pack_results, arrays)


def _is_live_capture_to_watch(feed: Feed) -> bool:
    """Return whether a captured tensor still exists and can be watched.

    Only such a tensor needs a feed for its gradient.
    """
    tensor = feed.captured_ref and feed.captured_ref()
    return tensor is not None and (feed.is_varying or tensor.dtype.differentiable)


def convert_function_result(function_name: str, value: Value) -> Tensor | None:
    """Convert a result of a Python function to a tensor, or return None unchanged.

    Args:
        function_name: The name of the function, used in the message.
        value: The result.

    Returns:
        A tensor or None.

    Raises:
        TypeError: If the result cannot be converted.
    """
    if value is None or isinstance(value, Tensor):
        return value
    try:
        return convert_to_tensor(value)
    except (TypeError, ValueError):
        raise TypeError(
            "To be compatible with tf.function, Python functions must return zero or more Tensors or ExtensionTypes or "
            f"None values; {function_name!r} returned {type(value).__name__}."
        ) from None


def _build_result_packer(returned: Structure, presence_flags: Sequence) -> Callable:
    """Return a function that packs tensors into the structure that the Python function returned.

    Args:
        returned: The structure.
        presence_flags: For each leaf of the structure, whether it is a tensor. Other leaves are None.
    """
    if isinstance(returned, Tensor):
        return itemgetter(0)
    if type(returned) in LIST_OR_TUPLE and all(isinstance(leaf, Tensor) for leaf in returned):
        return type(returned)
    structure = map_structure(lambda leaf: None, returned)

    def pack_structure(outputs: Sequence) -> Structure:
        values = iter(outputs)
        return pack_sequence_as(structure, [next(values) if is_present else None for is_present in presence_flags])

    return pack_structure
