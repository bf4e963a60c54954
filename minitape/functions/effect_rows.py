"""Write single rows for calls that a first run cannot record operation by operation.

Such calls are ``tf.print``, random numbers, ``tf.py_function``, functions that read values, and guards for Python's
branches.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from itertools import starmap
from typing import Any
from weakref import ref

import numpy as np

from ..engine.backward.tape import GradientTape
from ..engine.derivatives.custom_gradient import wrap_rule_to_receive_adjoint_list
from ..engine.derivatives.py_function import PythonCall, parse_result_types, run_python_function
from ..engine.record.array_spec import get_array_spec
from ..engine.record.interrupt_safe import TemporaryAttributes, suspend_recording
from ..engine.record.record import DIFFERENTIABLE_KINDS
from ..engine.table.primitives import TABLE, Primitive
from ..engine.tensor.conversion import convert_to_tensor
from ..engine.tensor.operation import record_operation
from ..engine.tensor.tensor import EagerTensor, Tensor, wrap_array
from ..engine.types import (
    LIST_OR_TUPLE,
    Adjoint,
    Array,
    Object,
    OptionalError,
    OptionalFunction,
    RowSequence,
    Structure,
    Value,
)
from ..engine.values.nest import map_structure
from .concrete_function import ConcreteFunction
from .first_run import (
    NO_VALUE,
    FirstRun,
    GuardError,
    NotRecordableError,
    OperatorNotAllowedInGraphError,
    find_current_first_run,
)
from .nested_tensors import list_tensors, replace_tensors


class EffectLog:
    """The effects of one call, and their results.

    If Python runs again during a call, or another concrete function is tried, the previous effects are not repeated,
    because the log returns their results.

    Attributes:
        results: The results of the effects, in order of execution.
        position: The index of the next effect.
    """

    def __init__(self) -> None:
        """Create an empty log."""
        self.results: list = []
        self.position = 0

    def run_or_recall_effect(self, function: Callable, *arguments: Object) -> Object:
        """Run an effect, or return its stored result if it has already run in this call.

        Args:
            function: The effect.
            *arguments: The arguments for `function`.

        Returns:
            The result of the effect.
        """
        if self.position == len(self.results):
            result = function(*arguments)
            self.results.insert(self.position, result)
        self.position += 1
        return self.results[self.position - 1]


class ThreadEffects(threading.local):
    """The effect log of this thread.

    Attributes:
        log: The log of the running call, or None.
    """

    log: EffectLog | None = None


thread_effects = ThreadEffects()


class PythonRow(Primitive):
    """The operation of a row that calls Python in every run.

    Attributes:
        run: ``run(arrays, with_saved)`` returns the output arrays. If `has_saved` is true, the last item contains what
            the gradient needs from the run. If `with_saved` is false, this item may be empty or missing.
        sweep: ``sweep(positions, inputs, adjoints, saved)`` returns the shares of the inputs at `positions`. Both
            arguments and results are arrays, or both are tensors. The attribute is None if the operation has no
            gradient.
        has_saved: Whether the last output of the row contains what the gradient needs from the run.
        stateful: Whether every call runs the row, even if no result depends on it.
        is_guard: Whether the row raises `GuardError` if a call differs from the recorded run.
        is_blocked: A function that takes the position of an input and an order, and returns whether gradients of that
            order are blocked. By default, none is.
        has_tuple_output: True, because the row returns a tuple even for a single result.
        bodies: The concrete functions of the branches of a ``tf.cond``, or of the condition and the body of a loop.
        first_inputs: For each body, the position of the first input that the body captures.
        last_run: A weak reference to the last run of a py_function.
        replay: A function that computes the results as recorded operations, for a picture of the operations inside the
            row, or None if there are none.
    """

    has_tuple_output = True
    bodies: Sequence[ConcreteFunction] = ()
    first_inputs: RowSequence = ()
    last_run: ref[PythonCall]
    replay: OptionalFunction = None

    def __init__(
        self,
        name: str,
        run: Callable,
        sweep: OptionalFunction = None,
        op: str = "",
        has_saved: bool = False,
        stateful: bool = False,
        is_guard: bool = False,
    ):
        """Create the operation of one row.

        Args:
            name: The name of the operation.
            run: A function that computes the outputs (see `PythonRow`).
            sweep: A function that computes the shares of the inputs (see `PythonRow`).
            op: TensorFlow's name for the operation.
            has_saved: Whether the last output of the row contains what the gradient needs from the run.
            stateful: Whether every call runs the row, even if no result depends on it.
            is_guard: Whether the row raises `GuardError` if a call differs from the recorded run. Guards are always
                stateful.
        """
        rule = None if sweep is None else wrap_rule_to_receive_adjoint_list(self._compute_shares)
        super().__init__(name, self.compute_outputs, rule, op=op)
        self.run = run
        self.sweep = sweep
        self.has_saved = has_saved
        self.stateful = stateful or is_guard
        self.is_guard = is_guard
        self.is_blocked: Callable[[int, int], bool] = lambda position, order: False

    def compute_outputs(self, *arrays: Array) -> tuple:
        """Run the row without saving anything for the gradient.

        Args:
            *arrays: The inputs.

        Returns:
            The outputs as arrays.
        """
        return tuple(self._run_or_recall(arrays, False))

    def compute_with_saved(self, *arrays: Array) -> tuple:
        """Run the row, and save what the gradient needs.

        Args:
            *arrays: The inputs.

        Returns:
            The outputs as arrays, followed by an object array of shape () that contains what was saved.
        """
        *outputs, saved = self._run_or_recall(arrays, True)
        box = np.empty((), object)
        box[()] = saved
        return *outputs, box

    def _run_or_recall(self, arrays: Sequence, with_saved: bool) -> Object:
        log = thread_effects.log if self.stateful and not self.is_guard else None
        if log is None:
            return self.run(arrays, with_saved)
        return log.run_or_recall_effect(self.run, arrays, with_saved)

    def _compute_shares(self, adjoints: list, z: Adjoint, *inputs: Adjoint) -> list:
        """Compute a share or None for each input.

        If a first run records the sweep, the shares are the outputs of another row that calls Python.

        Args:
            adjoints: The adjoints of the outputs.
            z: The values of the outputs.
            *inputs: The values of the inputs.

        Returns:
            Arrays, or tensors if the adjoints are tensors.
        """
        output_count = len(adjoints) - self.has_saved
        input_end = output_count + len(inputs)
        positions = [
            i
            for i, value in enumerate(inputs)
            if value.dtype.kind in DIFFERENTIABLE_KINDS and not self.is_blocked(i, 1)
        ]
        if not positions:
            return [None] * len(inputs)

        def compute_operand_shares(operands: Sequence) -> list:
            saved = getattr(operands[input_end], "_value", operands[input_end])[()] if self.has_saved else None
            return self.sweep(positions, operands[output_count:input_end], operands[:output_count], saved)  # type: ignore[misc]

        def compute_shares_or_zeros(operands: Sequence) -> list:
            zeros = TABLE["zeros_like"] if isinstance(operands[0], Tensor) else np.zeros_like
            return [
                zeros(operands[output_count + i]) if share is None else share
                for i, share in zip(positions, compute_operand_shares(operands), strict=True)
            ]

        first_run = find_current_first_run()
        operands = [*adjoints[:output_count], *inputs, *(z[-1:] if self.has_saved else ())]
        if first_run is not None and isinstance(adjoints[0], Tensor):
            row = PythonRow(
                self.name + "_gradient",
                lambda operands, _: compute_shares_or_zeros(operands),
                build_sweep_by_rerun(compute_shares_or_zeros),
                self.op,
            )
            # The operands are the adjoints and then the inputs, whose gradients are of a higher order for this row.
            row.is_blocked = lambda position, order: (
                position >= output_count and self.is_blocked(position - output_count, order + 1)
            )
            shape_dtypes = [(inputs[i].dims, inputs[i]._value.dtype) for i in positions]
            computed_shares = run_and_write_row(row, operands, None if first_run.has_values else shape_dtypes)
        else:
            computed_shares = compute_operand_shares(operands)
        shares = dict(zip(positions, computed_shares, strict=True))
        return [shares.get(i) for i in range(len(inputs))]


def build_sweep_by_rerun(function: Callable) -> Callable:
    """Build the sweep of a row that computes a function of tensors, by rerunning the function under a tape.

    Args:
        function: A function from a list of tensors to a list of tensors.

    Returns:
        A function for `PythonRow.sweep`.
    """

    def rerun_under_tape(positions: Sequence, inputs: Sequence, output_adjoints: Sequence, saved: Object) -> list:
        as_arrays = not isinstance(output_adjoints[0], Tensor)
        with suspend_recording() if as_arrays else nullcontext():
            tensors, adjoints = (
                [value if isinstance(value, Tensor) else wrap_array(value) for value in group]
                for group in (inputs, output_adjoints)
            )
            inputs_copy = [TABLE["identity"](tensor) for tensor in tensors]
            with GradientTape() as tape:
                tape.watch([inputs_copy[i] for i in positions])
                outputs = function(inputs_copy)
            pairs = [(output, g) for output, g in zip(outputs, adjoints, strict=False) if output.dtype.differentiable]
            targets = [output for output, _ in pairs]
            seeds = [g for _, g in pairs]
            shares = tape.gradient(targets, [inputs_copy[i] for i in positions], seeds)
        if not as_arrays:
            return shares
        return [None if share is None else share._value for share in shares]

    return rerun_under_tape


def run_and_write_row(row: PythonRow, tensors: Sequence, zero_shape_dtypes: Sequence | None = None) -> list:
    """Run a row, append it to the ``Record`` of the first run, and return its results.

    Args:
        row: The operation.
        tensors: Its inputs.
        zero_shape_dtypes: None, or the shape and dtype of each result. If shapes and dtypes are given, the row does not
            run, and its results are zeros.

    Returns:
        A tensor for each output, including what was saved for the gradient.
    """
    if zero_shape_dtypes is None:
        compute = row.compute_with_saved if row.has_saved else row.compute_outputs
        with suspend_recording():
            arrays = compute(*[tensor._value for tensor in tensors])
    else:
        arrays = tuple([get_array_spec(*shape_dtype).zeros[()] for shape_dtype in zero_shape_dtypes])
    outputs = [*map(wrap_array, arrays)]
    record_operation(row, tuple(tensors), {}, tuple(outputs))
    return outputs


def write_branch_guard(tensor: Tensor) -> None:
    """Write a guard for a tensor on which Python branches.

    If the truth value of the tensor is different in a later call, the guard raises `GuardError`. That call needs
    another concrete function.

    Args:
        tensor: The tensor, of shape ().
    """
    recorded_answer = bool(tensor._value)

    def raise_if_answer_differs(arrays: Sequence, with_saved: bool) -> list:
        if bool(arrays[0]) is not recorded_answer:
            raise GuardError
        return [NO_VALUE]

    run_and_write_row(PythonRow("guard", raise_if_answer_differs, op="Assert", is_guard=True), [tensor])


# -- functions that traced_calls lists -------------------------------------------------------------


class _ReplayableCall:
    """A function call that can be repeated with other tensors.

    Attributes:
        function: The function.
        arguments: The positional arguments and the keyword arguments, with the current states of variables.
        result: The result of the latest call.
        tensors: The tensors in `arguments`.
    """

    def __init__(self, function: Callable, args: tuple, kwargs: dict):
        """Describe the call without running it."""
        self.function = function
        self.arguments = map_structure(
            lambda leaf: leaf._read_and_watch() if hasattr(leaf, "_read_and_watch") else leaf, [list(args), kwargs]
        )
        self.result = None
        self.tensors = list_tensors(self.arguments)

    def __call__(self, tensors: Sequence) -> list:
        """Call the function with these tensors, and return the tensors in its result."""
        args, kwargs = replace_tensors(self.arguments, tensors)
        self.result = self.function(*args, **kwargs)
        return list_tensors(self.result)

    def compute_arrays(self, arrays: Sequence, with_saved: bool) -> list:
        """Call the function with these arrays, and return the arrays in its result."""
        with suspend_recording():
            return [tensor._value for tensor in self([*map(wrap_array, arrays)])] or [NO_VALUE]


# No gradient flows through these functions, so their rows need no sweep.
_NOT_DIFFERENTIABLE = {"one_hot", "range"}


def call_or_write_guarded_row(function: Callable, *args: Object, **kwargs: Object) -> Structure:
    """Call a function that may read tensor values.

    If a value depends on the arguments of the ``tf.function`` that is being traced, write a row that calls the function
    in every run. Results with different shapes or dtypes need another concrete function.

    Args:
        function: A public function, such as ``tf.boolean_mask``.
        *args: Its positional arguments.
        **kwargs: Its keyword arguments.

    Returns:
        The result of the function, or the outputs of the row in the same structure.
    """
    try:
        return function(*args, **kwargs)
    except Exception as error:
        cause: OptionalError = error
        while cause is not None and not isinstance(cause, OperatorNotAllowedInGraphError):
            cause = cause.__cause__ or cause.__context__
        if cause is None:
            raise
    call = _ReplayableCall(function, args, kwargs)
    first_shape_dtypes: list = []

    def run_and_check_shapes(arrays: Sequence, with_saved: bool) -> list:
        outputs = call.compute_arrays(arrays, with_saved)
        shape_dtypes = [(output.shape, output.dtype) for output in outputs]
        if not first_shape_dtypes:
            first_shape_dtypes.extend(shape_dtypes)
        if first_shape_dtypes != shape_dtypes:
            raise GuardError
        return outputs

    sweep = None if function.__name__ in _NOT_DIFFERENTIABLE else build_sweep_by_rerun(call)
    row = PythonRow(function.__name__, run_and_check_shapes, sweep, is_guard=True)
    # All functions for which traced_calls uses this writer are linear, so their gradients depend only on the adjoints.
    row.is_blocked = lambda position, order: order > 1
    outputs = run_and_write_row(row, call.tensors)
    return replace_tensors(call.result, outputs)


def write_effect_row(function: Callable, *args: Object, **kwargs: Object) -> None:
    """Write a row that calls a function for its effect in every run.

    Args:
        function: A public function that returns nothing, such as ``tf.print``.
        *args: Its positional arguments.
        **kwargs: Its keyword arguments.

    Raises:
        NotRecordableError: If the call is in a branch or loop body, which Python must then run.
    """
    first_run = _require_run_for_effects(function, can_be_skipped=True)
    call = _ReplayableCall(function, args, kwargs)
    row = PythonRow(function.__name__, call.compute_arrays, stateful=True)
    # In a tentative run, the row is written, but the effect does not happen.
    run_and_write_row(row, call.tensors, [((), NO_VALUE.dtype)] if first_run.is_tentative else None)


def write_random_row(function: Callable, *args: Object, **kwargs: Object) -> Tensor:
    """Write a row that draws new random numbers in every run.

    Args:
        function: A public function that returns one tensor, such as ``tf.random.normal``.
        *args: Its positional arguments.
        **kwargs: Its keyword arguments.

    Returns:
        The random numbers of this run.

    Raises:
        NotRecordableError: If the run is tentative. A tentative run must not draw random numbers.
        OperatorNotAllowedInGraphError: If a gradient is being recorded. A gradient must not draw new random numbers.
    """
    _require_run_for_effects(function)
    call = _ReplayableCall(function, args, kwargs)
    row = PythonRow("random_" + function.__name__, call.compute_arrays, op="Random", stateful=True)
    return run_and_write_row(row, call.tensors)[0]


def write_py_function_row(
    function: Callable, func: Callable, inp: Sequence[Value], Tout: Object, *_: object, **__: object
) -> Structure:
    """Write the row of a ``tf.py_function`` or ``tf.numpy_function``.

    The row saves the call of the user's function (``PythonCall``). For a py_function, the tape of this call computes
    the gradient.

    Args:
        function: The public function: py_function, numpy_function or py_func.
        func: The user's Python function.
        inp: The inputs for `func`.
        Tout: The dtype of the result, or a list of dtypes.
        *_: Ignored.
        **__: Ignored.

    Returns:
        A tensor, or a list of tensors if `Tout` is a list.

    Raises:
        NotRecordableError: If the run is tentative. A tentative run must not call `func`.
        OperatorNotAllowedInGraphError: If a gradient is being recorded. `func` would have no values to read.
    """
    first_run = _require_run_for_effects(function)
    dtypes, has_several = parse_result_types(Tout)
    inputs = [*map(convert_to_tensor, inp)]
    input_count = len(inputs)
    differentiate = function.__name__ == "py_function"
    # The user's function may read variables, so the row also depends on states that the first run has assigned.
    changed_variables = [
        (variable, first_run.variable_states[key]) for key, variable in first_run.assigned_variables.items()
    ]

    def call_with_numpy_arrays(*tensors: EagerTensor) -> list:
        results = func(*map(np.array, tensors))
        if not isinstance(results, LIST_OR_TUPLE):
            # A single result is not converted, because its dtype must be the declared dtype.
            return [convert_to_tensor(np.asarray(results))]
        return list(starmap(convert_to_tensor, zip(results, dtypes, strict=True)))

    def run_function(arrays: Sequence, with_saved: bool) -> list:
        tensors = [*map(wrap_array, arrays)]
        with suspend_recording(), ExitStack() as blocks:
            for (variable, _), tensor in zip(changed_variables, tensors[input_count:], strict=True):
                blocks.enter_context(TemporaryAttributes(variable, _state=tensor, _tape_set=None))
            call = run_python_function(
                func if differentiate else call_with_numpy_arrays, tensors[:input_count], dtypes, differentiate
            )
        row.last_run = ref(call)
        return [*(output._value for output in call.outputs), call]

    def sweep_function(positions: Sequence, inputs: Sequence, adjoints: Sequence, call: Any) -> list:
        gradients = call.compute_unrecorded_gradients([g if isinstance(g, Tensor) else wrap_array(g) for g in adjoints])
        shares = [
            np.broadcast_to(gradient._value, inputs[i].shape)[()]
            for i, gradient in zip(positions, gradients, strict=True)
        ]
        if isinstance(adjoints[0], Tensor):
            return [*map(wrap_array, shares)]
        return shares

    op = "EagerPyFunc" if differentiate else "PyFunc"
    row = PythonRow(
        function.__name__, run_function, sweep_function if differentiate else None, op, has_saved=True, stateful=True
    )
    # The states of variables receive no gradient, and outer tapes cannot follow how the run computes its gradient.
    row.is_blocked = lambda position, order: order > 1 or position >= input_count
    outputs = run_and_write_row(row, [*inputs, *(tensor for _, tensor in changed_variables)])[:-1]
    return outputs if has_several else outputs[0]


def _require_run_for_effects(function: Callable, can_be_skipped: bool = False) -> FirstRun:
    """Return the current first run, or raise an error if the run must not have an effect now.

    Args:
        function: The public function with the effect.
        can_be_skipped: Whether a tentative run may skip the effect, because the effect has no result.

    Raises:
        NotRecordableError: If the run is tentative and the effect cannot be skipped. Inside a branch or loop body, no
            effect can be skipped.
        OperatorNotAllowedInGraphError: If the run computes with zeros and the effect needs values.
    """
    first_run = find_current_first_run()
    assert first_run is not None
    if not first_run.has_values and not can_be_skipped:
        first_run.raise_value_access_error(function.__name__)
    is_trial = first_run.has_values and first_run.write_guard is None
    is_branch_or_loop_body = first_run.outer_run is not None
    if is_trial and (is_branch_or_loop_body or not can_be_skipped):
        raise NotRecordableError
    return first_run
