"""Open ``tf.function`` calls by repeating their Python functions line by line, for ``explain`` and pictures.

During the repetition, the function receives its original arguments, and its variables have their original values.
Afterwards, the variables are restored.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout, suppress
from io import StringIO
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import tensorflow as tf
from tensorflow.python.data.ops.iterator_ops import OwnedIterator
from tensorflow.python.eager import context
from tensorflow.python.ops import gen_resource_variable_ops

from ...common.grouping import group_values_by_key
from ...engine.record.interrupt_safe import TemporaryAttributes
from ...engine.types import OptionalNumber
from ...picture.snapshot_types import InsideFields
from ...recording.recorded_rows import BackwardPass, OptionalBackwardPass
from ...recording.sites import find_user_call_stack
from ...recording.value_summary import to_float_array
from ..framework_patches import RecordingBlock
from ..mutable_state import save_state_and_build_restorer
from ..recording import RecordedRow
from .function_graphs import has_gradient_tape, is_replayable
from .kept_tensors import FunctionCall, RowLimitReached, TensorFlowValue, build_tensor_of_placeholder_values
from .operation_log import iter_dataset_and_inputs, to_handle_or_value
from .traced_values import list_keras_models_trained_via_closures, restore_trainable_flags_of_trace
from .watcher import TensorFlowWatcher

if TYPE_CHECKING:
    from .recording import TensorFlowRecording

INSIDE_LIMIT = 16  # A snapshot shows the inside of at most this many calls.
INSIDE_ROW_LIMIT = 2_000  # The maximum number of rows shown inside a call.


class ReplayedCall(NamedTuple):
    """The result of a repeated call.

    Attributes:
        recording: The recording of the repetition. After an error, the recording contains only the rows before the
            error.
        results: The tensors that the function returned, or an empty list after an error.
        arguments_by_name: The arguments that the function received, keyed by parameter name.
    """

    recording: TensorFlowRecording
    results: list
    arguments_by_name: dict


class RebuiltArguments(NamedTuple):
    """The arguments for a repeated call.

    Attributes:
        args: The positional arguments.
        kwargs: The keyword arguments.
        has_placeholders: Whether some elements are placeholders for values that no longer exist.
    """

    args: tuple
    kwargs: dict
    has_placeholders: bool


class StepRerun(NamedTuple):
    """A repeated compiled step.

    Attributes:
        call: The original call.
        recording: The recording of the repetition.
    """

    call: FunctionCall
    recording: TensorFlowRecording


def replay_call(
    recording: TensorFlowRecording, call: FunctionCall, sources: Sequence | None = None, seeds: Sequence = ()
) -> ReplayedCall | None:
    """Repeat a call in a new recording.

    The program's variables, output and random numbers are not affected. If `sources` is given, a tape then computes the
    gradients of the results with `seeds` as adjoints.

    Args:
        recording: The recording that contains the call.
        call: The call.
        sources: The tensors and handles to differentiate with respect to, or None to compute no gradient.
        seeds: The adjoint of each result, with None for a result without an adjoint.

    Returns:
        The replayed call, or None if it cannot be repeated, for example because only summaries of its arguments
        remain.
    """
    with recording.pause_watching():
        arguments = None if call.function is None else _rebuild_arguments(call)
    if arguments is None:
        return None
    args, kwargs, has_placeholders = arguments
    python_function = call.function.python_function
    restore_state = save_state_and_build_restorer(
        python_function, *list_keras_models_trained_via_closures(python_function)
    )
    arguments_by_name = inspect.signature(python_function).bind(*args, **kwargs).arguments
    inner_recording = type(recording)()
    results = list[Any]()
    inner_recording.is_rerun = True
    inner_recording.has_placeholder_values = has_placeholders
    inner_recording.log.running_line.replayed_call = call.call_stack, len(find_user_call_stack())
    watcher = TensorFlowWatcher(inner_recording, open_functions=True)
    tape = tf.GradientTape(persistent=True)
    try:
        with (
            recording.pause_watching(),
            _suppress_output_and_isolate_random_state(),
            restore_trainable_flags_of_trace(call.function),
            RecordingBlock(inner_recording, watcher),
        ):
            with watcher.writer.suspend_writing():
                for variable, row in call.variable_states:
                    value: TensorFlowValue | None = recording.rows[row].value
                    if value is not None and not value.is_tensor_freed:
                        variable.assign(value.tensor)
            with suppress(Exception, RowLimitReached), tape if sources else nullcontext():
                for source in sources or ():
                    if source.dtype != tf.resource:
                        tape.watch(source)
                returned_value = python_function(*args, **kwargs)
                results += [
                    tensor for tensor in tf.nest.flatten(returned_value, expand_composites=True) if tensor is not None
                ]
            seeded_results = [(tensor, seed) for tensor, seed in zip(results, seeds, strict=False) if seed is not None]
            if sources and seeded_results:
                tape.gradient(
                    [tensor for tensor, _ in seeded_results],
                    sources,
                    output_gradients=[seed for _, seed in seeded_results],
                )
    finally:
        restore_state()
        for handle, value in inner_recording.log.original_values.values():
            gen_resource_variable_ops.assign_variable_op(handle, value)
    return ReplayedCall(inner_recording, [to_handle_or_value(tensor) for tensor in results], arguments_by_name)


@contextmanager
def _suppress_output_and_isolate_random_state() -> Iterator[None]:
    """Suppress prints and summaries in the block, and use separate random generators."""
    eager_context = context.context()
    # Before the program sets a seed, TensorFlow does not have this generator.
    random_state = {"_rng": Random("minitape")} if hasattr(eager_context, "_rng") else {}
    with (
        redirect_stdout(StringIO()),
        TemporaryAttributes(tf, print=lambda *texts, **options: None),
        tf.summary.record_if(False),
        TemporaryAttributes(eager_context, **random_state),
    ):
        yield


def _rebuild_arguments(call: FunctionCall) -> RebuiltArguments | None:
    """Return the arguments for repeating a call, or None if a tensor no longer exists.

    The iterator of a dataset is not advanced. Instead, a new iterator provides the first batch if Keras created the
    dataset from arrays, and placeholder values are used for any other dataset.
    """
    has_placeholders = False
    flat_arguments = []
    for value in tf.nest.flatten(call.arguments):
        if isinstance(value, TensorFlowValue):
            if value.is_tensor_freed:
                return None
            value = value.tensor
        elif isinstance(value, OwnedIterator):
            dataset = value._dataset
            if not _has_only_keras_functions(dataset):
                has_placeholders = True
                dataset = tf.data.Dataset.from_tensors(
                    tf.nest.map_structure(build_tensor_of_placeholder_values, value.element_spec)
                )
            value = iter(dataset)
        flat_arguments.append(value)
    args, kwargs = tf.nest.pack_sequence_as(call.arguments, flat_arguments)
    return RebuiltArguments(args, kwargs, has_placeholders)


def _has_only_keras_functions(dataset: Any) -> bool:
    """Return whether a dataset runs only Keras functions. Other functions may have side effects."""
    functions = [function for current in iter_dataset_and_inputs(dataset) for function in current._functions()]
    return bool(functions) and all(function._func.__module__.startswith("keras.") for function in functions)


def list_recording_and_reruns(recording: TensorFlowRecording) -> list[TensorFlowRecording]:
    """Return a recording, and the recordings of its repeated compiled steps."""
    return [recording, *(step.recording for step in replay_one_call_per_compiled_step(recording))]


def iter_targets_with_recordings(
    recording: TensorFlowRecording,
) -> Iterator[tuple[TensorFlowRecording, RecordedRow]]:
    """Yield the recording and the row of each sweep target, including the targets in compiled steps."""
    for item in list_recording_and_reruns(recording):
        for sweep in item.sweeps:
            for row in sweep.target:
                yield item, item.rows[row]


def replay_one_call_per_compiled_step(recording: TensorFlowRecording) -> list[StepRerun]:
    """Repeat one call of each compiled step function in a block, and return the steps with their recordings.

    Steps without a backward pass are left out.
    """
    log = recording.log
    has_tapes = bool(log.tape_history.tapes)
    calls_by_function = group_values_by_key(
        (call.function, call)
        for call in log.function_calls
        if call.graph is None or has_gradient_tape(call.graph) or (not has_tapes and is_replayable(call.graph))
    )
    last_calls = [_select_call_with_finite_variables_or_last(recording, calls) for calls in calls_by_function.values()]
    for call in last_calls:
        if call not in log.replayed_calls:
            log.replayed_calls[call] = replay_call(recording, call)
    replays = ((call, log.replayed_calls[call]) for call in sorted(last_calls, key=log.function_calls.index))
    return [
        StepRerun(call, replay.recording) for call, replay in replays if replay is not None and replay.recording.sweeps
    ]


def _select_call_with_finite_variables_or_last(
    recording: TensorFlowRecording, calls: Sequence[FunctionCall]
) -> FunctionCall:
    """Return the last call before which all variables were finite, or else simply the last call."""
    for call in reversed(calls):
        states = [recording.rows[row].value for _, row in call.variable_states]
        if all(state is None or state.is_all_finite for state in states):
            return call
    return calls[-1]


def replay_steps_and_find_last_one_for_source(
    recording: TensorFlowRecording, source: Any
) -> TensorFlowRecording | None:
    """Repeat the compiled steps, and find the last step that computed a gradient for a source.

    Args:
        recording: The recording that contains the steps.
        source: The source.

    Returns:
        The recording of the step, or None if no step computed the source's gradient.
    """
    recordings = [
        inner_recording
        for _, inner_recording in replay_one_call_per_compiled_step(recording)
        if filter_sweeps_by_source(inner_recording.sweeps, source)
    ]
    return recordings[-1] if recordings else None


def filter_sweeps_by_source(sweeps: Iterable[BackwardPass], source: Any) -> list[BackwardPass]:
    """Return the sweeps whose sources include a given source.

    Args:
        sweeps: The backward passes to select from.
        source: A tensor or a variable.
    """
    handle = to_handle_or_value(source)
    return [sweep for sweep in sweeps if any(reference() is handle for reference, _ in sweep.source_results)]


def replay_call_of_row(
    recording: TensorFlowRecording, call_row: int, sweep: OptionalBackwardPass, seeds_with_ones: bool = False
) -> ReplayedCall | None:
    """Repeat the call that a row stands for.

    If a tape tracked an input of the call, a new tape differentiates the results with respect to the inputs. This tape
    starts from the adjoints that `sweep` computed for the results.

    Args:
        recording: The recording that contains the row.
        call_row: The row of one of the call's results.
        sweep: The backward pass that provides the adjoints, or None if none exists.
        seeds_with_ones: Whether to use ones as the row's adjoint if the sweep has no adjoint for any of the call's
            results. If True, a function without tapes is differentiated even if no tape tracked its inputs.

    Returns:
        The replayed call, or None if it cannot be repeated.
    """
    recorded_row = recording.rows[call_row]
    inputs = [recording.rows[input_row] for input_row in recorded_row.inputs]
    adjoints: dict[int, TensorFlowValue] = {} if sweep is None else sweep.adjoints
    output_adjoints = [
        adjoints.get(item.index)
        for item in recording.rows[recorded_row.call_id :]
        if item.call_id == recorded_row.call_id
    ]
    seeds = [None if adjoint is None or adjoint.is_tensor_freed else adjoint.tensor for adjoint in output_adjoints]
    if seeds_with_ones and not any(seed is not None for seed in seeds):
        seeds[recorded_row.output] = tf.ones(recorded_row.shape, recorded_row.dtype)
    has_tracked_input = any(item.tracked for item in inputs)
    tensors = [item.find_object() for item in inputs if item.tracked or not has_tracked_input]
    sources = [item for item in tensors if item.dtype == tf.resource or (tf.is_tensor(item) and item.dtype.is_floating)]
    needs_tape = has_tracked_input or (
        seeds_with_ones and not has_gradient_tape(recorded_row.extra.function_call.graph)
    )
    return replay_call(recording, recorded_row.extra.function_call, sources if needs_tape else None, seeds)


def build_inside_fields_of_calls(
    recording: TensorFlowRecording, sweep: BackwardPass | None, row: OptionalNumber
) -> list[InsideFields]:
    """Return the rows inside the first few calls, or inside the one call that a row stands for.

    A call is shown only if its repetition computed the same results.

    Args:
        recording: The recording that contains the calls.
        sweep: The backward pass that provides the adjoints, or None if none exists.
        row: The row of the only call to open, or None for the first calls.
    """
    call_rows = [
        recorded_row.index
        for recorded_row in recording.rows
        if recorded_row.op == "function" and recorded_row.output == 0 and row in (None, recorded_row.index)
    ]
    return [
        inside
        for call_row in call_rows[:INSIDE_LIMIT]
        if (inside := _build_inside_of_call(recording, call_row, sweep)) is not None
    ]


def _build_inside_of_call(
    recording: TensorFlowRecording, call_row: int, sweep: OptionalBackwardPass
) -> InsideFields | None:
    recorded_row = recording.rows[call_row]
    replay = (
        replay_call_of_row(recording, call_row, sweep)
        if is_replayable(recorded_row.extra.function_call.graph)
        else None
    )
    results = recording.rows[call_row : call_row + len(replay.results)] if replay is not None else []
    if replay is None or not results or not all(map(_matches_recorded_result, results, replay.results)):
        return None
    snapshot: Any = replay.recording.build_snapshot(
        [{recorded_row.label: replay.recording, **replay.arguments_by_name}]
    )
    if len(replay.recording) > INSIDE_ROW_LIMIT:
        snapshot |= {"rows": snapshot["rows"][:INSIDE_ROW_LIMIT], "sweep": None}
    return {"row": call_row, "name": recorded_row.label, "snapshot": snapshot}


def _matches_recorded_result(recorded_row: RecordedRow, replayed_result: Any) -> bool:
    """Return whether a replayed call returned the recorded result. Results that depend on random numbers differ."""
    recorded_array = to_float_array(recorded_row.value)
    result_array = np.asarray(replayed_result)
    return recorded_array is None or np.allclose(recorded_array, result_array, rtol=1e-4, atol=1e-6, equal_nan=True)
