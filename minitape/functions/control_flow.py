"""Branches and loops on tensors: ``tf.cond``, ``tf.while_loop``.

In eager mode they are Python's. In a traced function one is one row, which holds a recording for each
branch, or for the condition and the body of the loop. Only what computes is recorded so: where one prints, draws or
assigns, or where it fails with the values of this run, Python goes through it, and what it decides by are guards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np

from ..engine.record.interrupt_safe import TemporaryAttributes
from ..engine.record.thread_state import state
from ..engine.table.primitives import TABLE
from ..engine.tensor.conversion import convert_to_tensor
from ..engine.tensor.tensor import Tensor
from ..engine.values import nest
from .effect_rows import PythonRow, run_and_write_row
from .first_run import FirstRun, GuardError, NotRecordableError, find_current_trace
from .function_recording import FunctionRecording, record_function


class TracedBody(NamedTuple):
    """A branch, or a loop's condition or body: its recording, the shapes and dtypes of its results, what packs them."""

    recording: FunctionRecording
    shape_dtypes: list[tuple]
    pack: Callable[[Sequence], Any]


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
    trace = find_current_trace()

    def run_in_python() -> Any:
        return true_fn() if bool(pred) else false_fn()

    if trace is None or not trace.is_varying(trace.record.find_or_add_row(pred)):
        return run_in_python()
    return _record_or_run_python(lambda: _write_cond_row(pred, false_fn, true_fn), run_in_python)


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
    ``maximum_iterations`` limits the iterations. ``shape_invariants``, ``parallel_iterations``, ``back_prop`` and
    ``swap_memory`` are hints for graphs and have no effect. ValueError when ``body`` returns another number of
    tensors. See https://www.tensorflow.org/api_docs/python/tf/while_loop.

    >>> import minitape as tf
    >>> i, x = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), [tf.constant(0), tf.constant(1.0)])
    >>> print(i.numpy(), x.numpy())
    3 8.0
    """
    variables = loop_vars if isinstance(loop_vars, (list, tuple)) else [loop_vars]
    tensors = nest.map_structure(convert_to_tensor, variables)
    iteration_limit = [] if maximum_iterations is None else [convert_to_tensor(maximum_iterations)]
    flat_tensors = [*nest.flatten(tensors), *iteration_limit]
    count = len(flat_tensors) - len(iteration_limit)

    def run_body(*values: Tensor) -> list:
        results = nest.flatten(body(*nest.pack_sequence_as(tensors, values[:count])))
        if len(results) != count:
            raise ValueError(f"The body of a loop with {count} variables returns {len(results)}")
        return [*map(convert_to_tensor, results), *(iterations_left - 1 for iterations_left in values[count:])]

    def run_condition(*values: Tensor) -> Any:
        continues = cond(*nest.pack_sequence_as(tensors, values[:count]))
        return TABLE["logical_and"](continues, values[-1] > 0) if iteration_limit else continues

    def run_in_python() -> list:
        values = flat_tensors
        while run_condition(*values):
            values = run_body(*values)
        return values

    return nest.pack_sequence_as(
        tensors,
        _record_or_run_python(lambda: _write_while_row(run_condition, run_body, flat_tensors), run_in_python)[:count],
    )


def _record_or_run_python(record_row: Callable, run_in_python: Callable) -> Any:
    """Return what ``record_row`` returns: a branch or loop as one row. In eager mode, and where it cannot be recorded,
    since it has effects, let Python go through it.
    """
    trace = find_current_trace()
    if trace is None:
        return run_in_python()
    try:
        return record_row()
    except (NotRecordableError, GuardError):
        if trace.is_tentative:
            raise NotRecordableError from None
    return run_in_python()


def _record_body(name: str, function: Callable, tensors: Sequence = ()) -> TracedBody:
    """Record a branch, or a loop's condition or body, in a trace of its own; NotRecordableError where it raises."""
    try:
        recording, pack, _ = record_function(FirstRun(name), function, tensors)
    except Exception as error:  # whatever it is: Python comes here again if this is taken
        raise NotRecordableError from error
    return TracedBody(recording, [recording.table.shape_dtypes[row] for row in recording.results], pack)


def _write_control_flow_row(
    row: PythonRow, replay: Callable, leading_inputs: Sequence, bodies: Sequence[FunctionRecording]
) -> list:
    """Write the row of a branch or loop, which takes ``leading_inputs`` and then what its bodies take from outside;
    return its results.
    """
    first_inputs: list[int] = []
    row.replay, row.bodies, row.first_inputs, inputs = replay, bodies, first_inputs, [*leading_inputs]
    for body in bodies:
        first_inputs.append(len(inputs))
        inputs += body.collect_feed_tensors([None] * body.argument_count)[body.argument_count :]
    row.stateful = row.is_guard = any(body.effects for body in bodies)
    return run_and_write_row(row, inputs)[:-1]


def _open_scope(name: str) -> AbstractContextManager:
    """Return a block whose rows are in a scope of this name, for a picture that looks inside."""
    return TemporaryAttributes(state, scope=(*state.scope, name))


def _write_cond_row(pred: Tensor, false_fn: Callable, true_fn: Callable) -> Any:
    else_body, then_body = _record_body("else", false_fn), _record_body("then", true_fn)
    shape_dtypes = then_body.shape_dtypes
    if shape_dtypes != else_body.shape_dtypes:
        raise NotRecordableError  # another recording for each

    def select_branch(inputs: Sequence) -> tuple[FunctionRecording, int, Sequence]:
        """Return the recording of the branch that is taken, its first input, and its inputs."""
        is_true = bool(getattr(inputs[0], "_value", inputs[0]))
        recording, first_input = row.bodies[is_true], row.first_inputs[is_true]
        return recording, first_input, inputs[first_input : first_input + len(recording.feeds)]

    def run_branch(arrays: Sequence, with_notes: bool) -> list:
        recording, _, branch_inputs = select_branch(arrays)
        outputs = recording.build_array_function(with_notes)(*branch_inputs)
        return [*outputs[: len(shape_dtypes)], outputs[len(shape_dtypes) :]]

    def sweep_branch(positions: Sequence, inputs: Sequence, adjoints: Sequence, saved: Any) -> list:
        recording, first_input, branch_inputs = select_branch(inputs)
        shares = dict(enumerate(recording.gradient.compute_shares(adjoints, branch_inputs, saved), first_input))
        return [shares.get(position) for position in positions]

    def replay_branch(inputs: Sequence) -> list:
        recording, _, branch_inputs = select_branch(inputs)
        with _open_scope(recording.name):
            return recording.replay_rows(branch_inputs)

    row = PythonRow("cond", run_branch, sweep_branch, op="If", has_notes=True)
    return then_body.pack(
        _write_control_flow_row(row, replay_branch, [pred], [else_body.recording, then_body.recording])
    )


def _write_while_row(condition_function: Callable, body_function: Callable, variables: list) -> list:
    count = len(variables)
    condition, body = (
        _record_body("test", condition_function, variables),
        _record_body("turn", body_function, variables),
    )
    condition_recording, body_recording = condition.recording, body.recording
    if body.shape_dtypes != [(t._value.shape, t._value.dtype) for t in variables]:
        raise NotRecordableError  # something changes from turn to turn

    def split_loop_inputs(inputs: Sequence) -> tuple[Sequence, Sequence, Sequence]:
        """Return the loop's variables before the first turn, what the condition takes from outside, and what the body
        takes from outside.
        """
        body_start = row.first_inputs[1]
        return (
            inputs[:count],
            inputs[count:body_start],
            inputs[body_start : body_start + len(body_recording.feeds) - count],
        )

    def run_loop(arrays: Sequence, with_notes: bool) -> list:
        values, condition_inputs, body_inputs = split_loop_inputs(arrays)
        saved_turns = []
        run_condition, run_body = (
            condition_recording.build_array_function(False),
            body_recording.build_array_function(with_notes),
        )
        while run_condition(*values, *condition_inputs)[0]:
            outputs = run_body(*values, *body_inputs)
            if with_notes:
                saved_turns.append((values, outputs[count:]))
            values = outputs[:count]
        return [*values, saved_turns]

    def sweep_loop(positions: Sequence, inputs: Sequence, output_adjoints: Sequence, saved_turns: Sequence) -> list:
        """Sweep back through the turns: the adjoints of the loop's variables, and sums of the shares of all else."""
        values, _, body_inputs = split_loop_inputs(inputs)
        is_recorded = isinstance(output_adjoints[0], Tensor)
        zeros, adjoints = TABLE["zeros_like"] if is_recorded else np.zeros_like, output_adjoints
        visited_turns, input_adjoints = [], [None] * len(body_inputs)
        for turn_values, saved in saved_turns:
            visited_turns.append((values if is_recorded else turn_values, saved))
            values = body_recording.replay_rows([*values, *body_inputs]) if is_recorded else values
        for values, saved in reversed(visited_turns):
            shares = body_recording.gradient.compute_shares(adjoints, [*values, *body_inputs], saved)
            adjoints = [zeros(value) if share is None else share for share, value in zip(shares, values, strict=False)]
            input_adjoints = [
                share if total is None else total if share is None else total + share
                for total, share in zip(input_adjoints, shares[count:], strict=True)
            ]
        shares_by_input = dict(enumerate(adjoints)) | dict(enumerate(input_adjoints, row.first_inputs[1]))
        return [shares_by_input.get(position) for position in positions]

    def replay_loop(inputs: Sequence) -> list:
        values, condition_inputs, body_inputs = split_loop_inputs(inputs)
        turn_count = 0
        while bool(condition_recording.replay_rows([*values, *condition_inputs])[0]._value):
            turn_count += 1
            with _open_scope(f"turn {turn_count}"):
                values = body_recording.replay_rows([*values, *body_inputs])
        return [*values]

    row = PythonRow("while", run_loop, sweep_loop, op="While", has_notes=True)
    return _write_control_flow_row(row, replay_loop, variables, [condition_recording, body_recording])
