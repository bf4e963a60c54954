"""Branch and loop on tensors with ``tf.cond`` and ``tf.while_loop``.

In eager mode, Python runs the branch or loop. In a traced function, each call is one row. The row contains a concrete
function for each branch, or for the condition and the body of the loop. Only pure computations are recorded in this
way. If a function prints, draws random numbers, assigns to a variable, or fails with the values of this run, Python
runs the branch or loop instead. Guards then record Python's decisions.

The rule of such a row sweeps backward through the branch that was taken, or through the iterations (*turns*) of the
loop, from the last to the first. The row has an additional output that saves what this sweep reads. The gradients of
the concrete functions are therefore recorded as soon as the row is written.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import numpy as np

from ..engine.record.interrupt_safe import TemporaryAttributes
from ..engine.record.thread_state import state
from ..engine.table.primitives import TABLE
from ..engine.tensor.conversion import convert_to_tensor
from ..engine.tensor.tensor import Tensor
from ..engine.types import LIST_OR_TUPLE, Adjoint, Function, OptionalFunction, OptionalText, Structure, Value
from ..engine.values.nest import flatten, map_structure, pack_sequence_as
from .concrete_function import ConcreteFunction, FirstRunResult, run_and_trace_function
from .effect_rows import PythonRow, run_and_write_row
from .first_run import FirstRun, GuardError, NotRecordableError, find_current_first_run


def cond(
    pred: Value, true_fn: OptionalFunction = None, false_fn: OptionalFunction = None, name: OptionalText = None
) -> Structure:
    """Call ``true_fn`` if ``pred`` is true, otherwise ``false_fn``, and return the result.

    In a traced function, Python runs both functions once, and later calls compute only one of them. This requires that
    both return tensors with equal shapes and dtypes. Otherwise, the traced function is recorded separately for each
    branch. Gradients flow through the branch that was taken. See https://www.tensorflow.org/api_docs/python/tf/cond.

    Args:
        pred: A boolean tensor of shape ().
        true_fn: A function without arguments.
        false_fn: A function without arguments.
        name: The name of the operation in a TensorFlow 1 graph.

    Returns:
        The result of the function that was called.

    Raises:
        TypeError: If a function is missing or not callable.

    >>> import minitape as tf
    >>> x = tf.constant(3.0)
    >>> print(tf.cond(x > 2.0, lambda: x * x, lambda: -x).numpy())
    9.0
    """
    if true_fn is None or false_fn is None:
        missing_name = "true_fn" if true_fn is None else "false_fn"
        raise TypeError(f"cond(): '{missing_name}' argument required")
    for label, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(function):
            raise TypeError(f"'{label}' must be callable.")
    is_python_bool = isinstance(pred, bool)
    pred = convert_to_tensor(pred)

    def run_in_python() -> Structure:
        return true_fn() if bool(pred) else false_fn()

    if is_python_bool:
        return run_in_python()
    return _record_or_run_python(lambda: _write_cond_row(pred, false_fn, true_fn), run_in_python)


def while_loop(
    cond: Function,
    body: Function,
    loop_vars: Structure,
    shape_invariants: object = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Value = None,
    name: OptionalText = None,
) -> Structure:
    """Repeat ``loop_vars = body(*loop_vars)`` while ``cond(*loop_vars)`` is true, and return the last values.

    Gradients flow through all iterations. In a traced function, Python runs ``cond`` and ``body`` only once.
    ``shape_invariants``, ``parallel_iterations``, ``back_prop`` and ``swap_memory`` are hints for graphs and have no
    effect. See https://www.tensorflow.org/api_docs/python/tf/while_loop.

    Args:
        cond: A function of the loop variables that returns a boolean tensor of shape ().
        body: A function of the loop variables that returns their next values, in the same structure.
        loop_vars: The loop variables before the first iteration: a value, or a list or tuple of structures.
        shape_invariants: Ignored.
        parallel_iterations: Ignored.
        back_prop: Ignored.
        swap_memory: Ignored.
        maximum_iterations: The largest number of iterations, or None for no limit.
        name: The name of the operation in a TensorFlow 1 graph.

    Returns:
        The loop variables after the last iteration, as tensors with the same structure as ``loop_vars``.

    Raises:
        ValueError: If ``body`` returns a different number of tensors.

    >>> import minitape as tf
    >>> i, x = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), [tf.constant(0), tf.constant(1.0)])
    >>> print(i.numpy(), x.numpy())
    3 8.0
    """
    variables = loop_vars if isinstance(loop_vars, LIST_OR_TUPLE) else [loop_vars]
    tensors = map_structure(convert_to_tensor, variables)
    iteration_limit = [] if maximum_iterations is None else [convert_to_tensor(maximum_iterations)]
    flat_tensors = flatten(tensors) + iteration_limit
    count = len(flat_tensors) - len(iteration_limit)

    def run_body(*values: Tensor) -> list:
        results = flatten(body(*pack_sequence_as(tensors, values[:count])))
        if len(results) != count:
            raise ValueError(f"The loop has {count} variables, but its body returned {len(results)} values")
        return [*map(convert_to_tensor, results), *(iterations_left - 1 for iterations_left in values[count:])]

    def run_condition(*values: Tensor) -> Value:
        continues = cond(*pack_sequence_as(tensors, values[:count]))
        if not iteration_limit:
            return continues
        return TABLE["logical_and"](continues, values[-1] > 0)

    def run_in_python() -> list:
        values = flat_tensors
        while run_condition(*values):
            values = run_body(*values)
        return values

    results = _record_or_run_python(lambda: _write_while_row(run_condition, run_body, flat_tensors), run_in_python)
    return pack_sequence_as(tensors, results[:count])


def _record_or_run_python(record_row: Callable, run_in_python: Callable) -> Structure:
    """Record a branch or loop as one row, or run it in Python.

    Python runs the branch or loop in eager mode, or if it cannot be recorded, for example because of effects.

    Args:
        record_row: A function that records the row and returns its results.
        run_in_python: A function that runs the branch or loop and returns its results.

    Raises:
        NotRecordableError: If the branch or loop cannot be recorded and the current run is tentative. Python must not
            run the branch or loop in a tentative run.
    """
    first_run = find_current_first_run()
    if first_run is None:
        return run_in_python()
    try:
        return record_row()
    except (NotRecordableError, GuardError):
        if first_run.is_tentative:
            raise NotRecordableError from None
    return run_in_python()


def _record_body(name: str, function: Callable, tensors: Sequence = ()) -> FirstRunResult:
    """Record a branch, or the condition or body of a loop, in a tentative run.

    Raises:
        NotRecordableError: If the function raises an error.
    """
    try:
        return run_and_trace_function(FirstRun(name), function, tensors)
    except Exception as error:
        # If Python then runs the function outside the tentative run, the error is raised again.
        raise NotRecordableError from error


def _run_and_write_control_flow_row(
    row: PythonRow, replay: Callable, leading_inputs: Sequence, bodies: Sequence[ConcreteFunction]
) -> list:
    """Write the row of a branch or loop, and return its results.

    Args:
        row: The operation.
        replay: A function that computes the results as recorded operations.
        leading_inputs: The first inputs of the row. The tensors that the bodies capture are added to the inputs.
        bodies: The concrete functions of the branches, or of the condition and the body.
    """
    first_inputs = []
    inputs = [*leading_inputs]
    for body in bodies:
        first_inputs.append(len(inputs))
        inputs += body.collect_non_argument_feed_tensors()
    row.replay = replay
    row.bodies = bodies
    row.first_inputs = first_inputs
    row.stateful = row.is_guard = any(body.effects for body in bodies)
    return run_and_write_row(row, inputs)[:-1]


def _open_scope(name: str) -> AbstractContextManager:
    """Return a block whose rows have this name as their innermost scope. Pictures show the name."""
    return TemporaryAttributes(state, scope=(*state.scope, name))


def _write_cond_row(pred: Tensor, false_fn: Callable, true_fn: Callable) -> Structure:
    """Write the row of a ``tf.cond``, and return its results in the structure of the branches.

    Raises:
        NotRecordableError: If a branch cannot be recorded, or the branches return different shapes or dtypes.
    """
    else_body = _record_body("else", false_fn)
    then_body = _record_body("then", true_fn)
    shape_dtypes = then_body.concrete_function.list_result_shapes_and_dtypes()
    if shape_dtypes != else_body.concrete_function.list_result_shapes_and_dtypes():
        raise NotRecordableError

    def select_branch(inputs: Sequence) -> tuple[ConcreteFunction, int, Sequence]:
        """Return the selected branch, the position of its first input, and its inputs."""
        is_true = bool(getattr(inputs[0], "_value", inputs[0]))
        branch = row.bodies[is_true]
        first_input = row.first_inputs[is_true]
        return branch, first_input, inputs[first_input : first_input + len(branch.feeds)]

    def run_branch(arrays: Sequence, with_saved: bool) -> list:
        branch, _, branch_inputs = select_branch(arrays)
        outputs = branch.build_array_function(with_saved)(*branch_inputs)
        return [*outputs[: len(shape_dtypes)], outputs[len(shape_dtypes) :]]

    def sweep_branch(positions: Sequence, inputs: Sequence, adjoints: Sequence, saved: Sequence) -> list:
        branch, first_input, branch_inputs = select_branch(inputs)
        shares = branch.get_or_record_gradient().compute_shares(adjoints, branch_inputs, saved)
        shares_by_input = dict(enumerate(shares, first_input))
        return [shares_by_input.get(position) for position in positions]

    def replay_branch(inputs: Sequence) -> list:
        branch, _, branch_inputs = select_branch(inputs)
        with _open_scope(branch.name):
            return branch.replay_rows(branch_inputs)

    def is_blocked_in_its_branch(position: int, order: int) -> bool:
        is_then = position >= row.first_inputs[1]
        branch = row.bodies[is_then]
        first_input = row.first_inputs[is_then]
        # The gradient of the first order is a function itself, and its gradient is the gradient of the second order.
        for _ in range(1, order):
            branch = branch.get_or_record_gradient().pure_function
        gradient = branch.get_or_record_gradient()  # If the gradient could not be recorded, the sweep raises the error.
        return gradient.error is None and gradient.gradient_rows[position - first_input] is None

    row = PythonRow("cond", run_branch, sweep_branch, op="If", has_saved=True)
    row.is_blocked = is_blocked_in_its_branch
    bodies = [else_body.concrete_function, then_body.concrete_function]
    return then_body.pack_results(_run_and_write_control_flow_row(row, replay_branch, [pred], bodies))


def _add_optional(total: Adjoint, share: Adjoint) -> Adjoint:
    """Return the sum of two adjoints. Either or both may be None."""
    if total is None or share is None:
        return share if total is None else total
    return total + share


def _write_while_row(condition_function: Callable, body_function: Callable, variables: list) -> list:
    """Write the row of a ``tf.while_loop``, and return its results.

    Raises:
        NotRecordableError: If the condition or the body cannot be recorded, or the shapes or dtypes of the loop
            variables change.
    """
    count = len(variables)
    condition = _record_body("test", condition_function, variables)
    body = _record_body("turn", body_function, variables)
    concrete_condition = condition.concrete_function
    concrete_body = body.concrete_function
    if concrete_body.list_result_shapes_and_dtypes() != [(t.dims, t._value.dtype) for t in variables]:
        raise NotRecordableError

    def split_loop_inputs(inputs: Sequence) -> tuple[Sequence, Sequence, Sequence]:
        """Split the inputs of the row into loop variables, the condition's captures and the body's captures."""
        body_start = row.first_inputs[1]
        body_end = body_start + len(concrete_body.feeds) - count
        return inputs[:count], inputs[count:body_start], inputs[body_start:body_end]

    def run_loop(arrays: Sequence, with_saved: bool) -> list:
        values, condition_inputs, body_inputs = split_loop_inputs(arrays)
        saved_turns = []
        run_condition = concrete_condition.build_array_function(False)
        run_body = concrete_body.build_array_function(with_saved)
        while run_condition(*values, *condition_inputs)[0]:
            outputs = run_body(*values, *body_inputs)
            if with_saved:
                saved_turns.append((values, outputs[count:]))
            values = outputs[:count]
        return [*values, saved_turns]

    def sweep_loop(positions: Sequence, inputs: Sequence, output_adjoints: Sequence, saved_turns: list) -> list:
        """Sweep through the iterations in reverse order.

        The adjoints of the loop variables are passed from each iteration to the previous iteration. The shares of
        captured tensors are added up.
        """
        values, _, body_inputs = split_loop_inputs(inputs)
        is_recorded = isinstance(output_adjoints[0], Tensor)
        zeros = TABLE["zeros_like"] if is_recorded else np.zeros_like
        visited_turns = saved_turns
        if is_recorded:
            # Recorded operations recompute the loop variables, because the gradient must be differentiable.
            visited_turns = []
            for _, saved in saved_turns:
                visited_turns.append((values, saved))
                values = concrete_body.replay_rows([*values, *body_inputs])
        adjoints = output_adjoints
        input_adjoints: list = [None] * len(body_inputs)
        for values, saved in reversed(visited_turns):
            shares = concrete_body.get_or_record_gradient().compute_shares(adjoints, [*values, *body_inputs], saved)
            adjoints = [zeros(value) if share is None else share for share, value in zip(shares, values, strict=False)]
            input_adjoints = [*map(_add_optional, input_adjoints, shares[count:])]
        shares_by_input = dict(enumerate(adjoints)) | dict(enumerate(input_adjoints, row.first_inputs[1]))
        return [shares_by_input.get(position) for position in positions]

    def replay_loop(inputs: Sequence) -> list:
        values, condition_inputs, body_inputs = split_loop_inputs(inputs)
        turn_count = 0
        while bool(concrete_condition.replay_rows([*values, *condition_inputs])[0]._value):
            turn_count += 1
            with _open_scope(f"turn {turn_count}"):
                values = concrete_body.replay_rows([*values, *body_inputs])
        return [*values]

    row = PythonRow("while", run_loop, sweep_loop, op="While", has_saved=True)
    return _run_and_write_control_flow_row(row, replay_loop, variables, [concrete_condition, concrete_body])
