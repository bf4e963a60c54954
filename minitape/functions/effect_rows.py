"""Operations that are one row of a trace, whatever they compute it with: ``tf.print``, random numbers, functions that
look at values, and what Python branched on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from ..engine.backward.tape import GradientTape
from ..engine.derivatives.custom_gradient import pass_adjoints_as_list
from ..engine.derivatives.py_function import parse_result_types, run_python_function
from ..engine.record.interrupt_safe import TemporaryAttributes, suspend_recording
from ..engine.table.primitives import TABLE, Primitive
from ..engine.tensor.conversion import convert_to_tensor
from ..engine.tensor.operation import record_operation
from ..engine.tensor.tensor import EagerTensor, Tensor, from_array
from ..engine.values import nest
from .first_run import (
    NO_VALUE,
    FirstRun,
    GuardError,
    NotRecordableError,
    OperatorNotAllowedInGraphError,
    find_current_trace,
)

if TYPE_CHECKING:
    from ..engine.derivatives.py_function import PythonCall
    from .function_recording import FunctionRecording


class EffectLog:
    """The effects of a call so far, and what they gave: where Python runs again, or another recording is tried, none is
    repeated.
    """

    def __init__(self) -> None:
        self.results: list = []
        self.position = 0

    def run_or_recall_effect(self, function: Callable, *arguments: Any) -> Any:
        """Run an effect and return its result; where this place of the call has run before, return that result."""
        if self.position == len(self.results):
            result = function(*arguments)
            self.results.insert(self.position, result)
        self.position += 1
        return self.results[self.position - 1]


class ThreadEffects(threading.local):
    """The log of the call that runs in this thread."""

    log: EffectLog | None = None


thread_effects = ThreadEffects()


class PythonRow(Primitive):
    """One row that calls Python in each run.

    ``run(arrays, with_notes)`` returns arrays and, of a row that ``has_notes``, what its gradient reads as the last
    item; without ``with_notes`` that may be missing. ``sweep(positions, inputs, adjoints, notes)`` returns the shares
    of the inputs at ``positions``, of arrays or tensors. A ``stateful`` row runs in any case: for its effect or, where
    it ``is_guard``, to find out whether a call is like the recorded one.
    """

    has_tuple_output = True
    bodies: Sequence[FunctionRecording] = ()  # of a branch or a loop: the recordings that the row holds
    first_inputs: Sequence[int] = ()  # of each body, the first input of the row that is its own
    last_run: ref[PythonCall]  # of a py_function: its last run
    replay: Callable | None = None  # returns its results as operations that are recorded, for who looks inside

    def __init__(
        self,
        name: str,
        run: Callable,
        sweep: Callable | None = None,
        op: str = "",
        has_notes: bool = False,
        stateful: bool = False,
        is_guard: bool = False,
    ) -> None:
        super().__init__(
            name, self.compute_outputs, None if sweep is None else pass_adjoints_as_list(self._compute_shares), op=op
        )
        self.run, self.sweep, self.has_notes, self.stateful, self.is_guard = (
            run,
            sweep,
            has_notes,
            stateful or is_guard,
            is_guard,
        )
        self.blocked_inputs: set[int] = set()  # inputs to which nothing passes

    def compute_outputs(self, *arrays: Any) -> tuple:
        """Return the results as arrays."""
        return tuple(self._run_or_recall(arrays, False))

    def compute_with_notes(self, *arrays: Any) -> tuple:
        """Return the results and, as the last one, a box with the notes for the gradient."""
        *outputs, notes = self._run_or_recall(arrays, True)
        box = np.empty((), object)
        box[()] = notes
        return *outputs, box

    def _run_or_recall(self, arrays: Sequence, with_notes: bool) -> Sequence:
        log = thread_effects.log if self.stateful and not self.is_guard else None
        outputs: Sequence = (
            self.run(arrays, with_notes) if log is None else log.run_or_recall_effect(self.run, arrays, with_notes)
        )
        return outputs

    def _compute_shares(self, adjoints: list, z: Any, *inputs: Any) -> list:
        output_count, input_end = len(adjoints) - self.has_notes, len(adjoints) - self.has_notes + len(inputs)
        positions = [i for i, value in enumerate(inputs) if i not in self.blocked_inputs and _is_differentiable(value)]

        def compute_operand_shares(operands: Sequence) -> list:
            notes = getattr(operands[input_end], "_value", operands[input_end])[()] if self.has_notes else None
            return self.sweep(positions, operands[output_count:input_end], operands[:output_count], notes)  # type: ignore[misc]

        def compute_shares_or_zeros(operands: Sequence) -> list:
            zeros = TABLE["zeros_like"] if isinstance(operands[0], Tensor) else np.zeros_like
            return [
                zeros(operands[output_count + i]) if share is None else share
                for i, share in zip(positions, compute_operand_shares(operands), strict=True)
            ]

        computed_shares, trace, operands = (
            [],
            find_current_trace(),
            [*adjoints[:output_count], *inputs, *(z[-1:] if self.has_notes else ())],
        )
        if positions and trace is not None and isinstance(adjoints[0], Tensor):  # one more row
            row = PythonRow(
                self.name + "_gradient",
                lambda operands, _: compute_shares_or_zeros(operands),
                build_sweep_by_rerun(compute_shares_or_zeros),
                self.op,
            )
            shape_dtypes = [(inputs[i]._value.shape, inputs[i]._value.dtype) for i in positions]
            computed_shares = run_and_write_row(row, operands, None if trace.has_values else shape_dtypes)
        elif positions:
            computed_shares = compute_operand_shares(operands)
        shares = dict(zip(positions, computed_shares, strict=True))
        return [shares.get(i) for i in range(len(inputs))]


def _is_differentiable(value: Any) -> bool:
    return value.dtype.differentiable if isinstance(value, Tensor) else value.dtype.kind in "fc"


def build_sweep_by_rerun(function: Callable) -> Callable:
    """Return the sweep of a row that computes a function of tensors: it runs the function once more under a tape."""

    def rerun_under_tape(positions: Sequence, inputs: Sequence, output_adjoints: Sequence, notes: Any) -> list:
        as_arrays = not isinstance(output_adjoints[0], Tensor)
        with suspend_recording() if as_arrays else nullcontext():
            tensors, adjoints = (
                [value if isinstance(value, Tensor) else from_array(value) for value in group]
                for group in (inputs, output_adjoints)
            )
            inputs_copy = [TABLE["identity"](tensor) for tensor in tensors]
            with GradientTape() as tape:
                tape.watch([inputs_copy[i] for i in positions])
                outputs = function(inputs_copy)
            pairs = [(output, g) for output, g in zip(outputs, adjoints, strict=False) if output.dtype.differentiable]
            shares = tape.gradient(
                [output for output, _ in pairs], [inputs_copy[i] for i in positions], [g for _, g in pairs]
            )
        return [None if share is None else share._value for share in shares] if as_arrays else shares

    return rerun_under_tape


def run_and_write_row(row: PythonRow, tensors: Sequence, zero_shape_dtypes: Sequence | None = None) -> list:
    """Run a row, add it to the trace and return its results. Given their shapes and dtypes it does not run: the results
    are zeros.
    """
    if zero_shape_dtypes is None:
        with suspend_recording():
            arrays = (row.compute_with_notes if row.has_notes else row.compute_outputs)(
                *[tensor._value for tensor in tensors]
            )
    else:
        arrays = tuple([np.broadcast_to(np.zeros((), dtype), shape)[()] for shape, dtype in zero_shape_dtypes])
    outputs = [*map(from_array, arrays)]
    record_operation(row, tuple(tensors), {}, tuple(outputs))
    return outputs


def write_branch_guard(tensor: Tensor) -> None:
    """Write down how Python decided by a tensor: another answer in a later call is another recording."""
    recorded_answer = bool(tensor._value)

    def raise_if_answer_differs(arrays: Sequence, with_notes: bool) -> list:
        if bool(arrays[0]) is not recorded_answer:
            raise GuardError
        return [NO_VALUE]

    run_and_write_row(PythonRow("guard", raise_if_answer_differs, op="Assert", is_guard=True), [tensor])


# -- functions of minitape, see :mod:`.traced_calls` -----------------------------------------------


class _ReplayableCall:
    """A call of a function, for other tensors in the place of those among its arguments."""

    def __init__(self, function: Callable, args: tuple, kwargs: dict) -> None:
        self.function, self.arguments, self.result = function, [list(args), kwargs], None
        self.leaves = [
            leaf._read_state() if hasattr(leaf, "_read_state") else leaf for leaf in nest.flatten(self.arguments)
        ]
        self.tensors = [leaf for leaf in self.leaves if isinstance(leaf, Tensor)]

    def __call__(self, tensors: Sequence) -> list:
        """Call the function for these tensors and return the tensors of the result."""
        remaining = iter(tensors)
        leaves = [next(remaining) if isinstance(leaf, Tensor) else leaf for leaf in self.leaves]
        args, kwargs = nest.pack_sequence_as(self.arguments, leaves)
        self.result = self.function(*args, **kwargs)
        return [tensor for tensor in nest.flatten(self.result) if isinstance(tensor, Tensor)]

    def compute_arrays(self, arrays: Sequence, with_notes: bool) -> list:
        """Call the function for these arrays and return the arrays of the result."""
        with suspend_recording():
            return [tensor._value for tensor in self([*map(from_array, arrays)])] or [NO_VALUE]


def call_or_write_guarded_row(function: Callable, *args: Any, **kwargs: Any) -> Any:
    """Call a function that may look at values. Where they depend on the arguments, write one row that calls it in each
    run and checks the shapes of the results.
    """
    try:
        return function(*args, **kwargs)
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, OperatorNotAllowedInGraphError):
            cause = cause.__cause__ or cause.__context__
        if cause is None:
            raise
    call = _ReplayableCall(function, args, kwargs)
    first_shape_dtypes: list = []  # shapes and dtypes in the first run

    def run_and_check_shapes(arrays: Sequence, with_notes: bool) -> list:
        outputs = call.compute_arrays(arrays, with_notes)
        shape_dtypes = [(output.shape, output.dtype) for output in outputs]
        first_shape_dtypes[:] = first_shape_dtypes or shape_dtypes
        if first_shape_dtypes != shape_dtypes:
            raise GuardError
        return outputs

    remaining_results = iter(
        run_and_write_row(
            PythonRow(function.__name__, run_and_check_shapes, build_sweep_by_rerun(call), is_guard=True), call.tensors
        )
    )
    return nest.map_structure(lambda leaf: next(remaining_results) if isinstance(leaf, Tensor) else leaf, call.result)


def write_effect_row(function: Callable, *args: Any, **kwargs: Any) -> None:
    """Write a row that calls a function for its effect, such as tf.print, in each run."""
    trace = _require_trace_for_effects(function, can_be_skipped=True)
    call = _ReplayableCall(function, args, kwargs)
    run_and_write_row(
        PythonRow(function.__name__, call.compute_arrays, stateful=True),
        call.tensors,
        [((), NO_VALUE.dtype)] if trace.is_tentative else None,
    )


def write_random_row(function: Callable, *args: Any, **kwargs: Any) -> Tensor:
    """Write a row that draws random numbers, others in each run."""
    _require_trace_for_effects(function)
    call = _ReplayableCall(function, args, kwargs)
    return run_and_write_row(
        PythonRow("random_" + function.__name__, call.compute_arrays, op="Random", stateful=True), call.tensors
    )[0]


def write_py_function_row(function: Callable, func: Callable, inp: Any, Tout: Any, *_: Any, **__: Any) -> Any:
    """Write the row of a py_function or numpy_function. Its notes are the run, whose tape the gradient of a
    py_function asks.
    """
    trace = _require_trace_for_effects(function)
    dtypes, has_several = parse_result_types(Tout)
    inputs, differentiate = [*map(convert_to_tensor, inp)], function.__name__ == "py_function"
    changed_variables = [
        (v, trace.variable_states[key]) for key, v in trace.assigned_variables.items()
    ]  # which func may look at
    input_count = len(inputs)

    def call_with_numpy_arrays(*tensors: EagerTensor) -> list:
        results = func(*map(np.array, tensors))
        if not isinstance(results, (list, tuple)):
            return [convert_to_tensor(np.asarray(results))]  # whose dtype must be the promised one
        return [convert_to_tensor(result, dtype) for result, dtype in zip(results, dtypes, strict=True)]

    def run_function(arrays: Sequence, with_notes: bool) -> list:
        tensors = [*map(from_array, arrays)]
        with suspend_recording(), ExitStack() as blocks:
            for (variable, _), tensor in zip(changed_variables, tensors[input_count:], strict=True):
                blocks.enter_context(TemporaryAttributes(variable, _state=tensor, _tape_set=None))
            call = run_python_function(
                func if differentiate else call_with_numpy_arrays, tensors[:input_count], dtypes, differentiate
            )
        row.last_run = ref(call)
        return [*(output._value for output in call.outputs), call]

    def sweep_function(positions: Sequence, inputs: Sequence, adjoints: Sequence, call: Any) -> list:
        gradients = call.compute_gradients_off_tape([g if isinstance(g, Tensor) else from_array(g) for g in adjoints])
        shares = [
            np.broadcast_to(gradient._value, inputs[i].shape)[()]
            for i, gradient in zip(positions, gradients, strict=True)
        ]
        return [*map(from_array, shares)] if isinstance(adjoints[0], Tensor) else shares

    op = "EagerPyFunc" if differentiate else "PyFunc"
    row = PythonRow(
        function.__name__, run_function, sweep_function if differentiate else None, op, has_notes=True, stateful=True
    )
    row.blocked_inputs = set(range(input_count, input_count + len(changed_variables)))
    outputs = run_and_write_row(row, [*inputs, *(tensor for _, tensor in changed_variables)])[:-1]
    return outputs if has_several else outputs[0]


def _require_trace_for_effects(function: Callable, can_be_skipped: bool = False) -> FirstRun:
    """Return the trace into which a call with an effect is written, or raise where it cannot have the effect.

    A tentative trace has no results of Python or of chance. It can leave out an effect without a result; a branch or
    loop with one is not recorded: Python goes through it.
    """
    trace = find_current_trace()
    assert trace is not None
    if not trace.has_values and not can_be_skipped:
        trace.raise_value_access_error(function.__name__)
    if trace.has_values and trace.note_branch is None and (trace.outer_trace is not None or not can_be_skipped):
        raise NotRecordableError
    return trace
