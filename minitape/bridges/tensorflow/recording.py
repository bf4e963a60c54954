"""Define the recording of a TensorFlow block, and the functions `record` and `why`."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from typing import Any

import numpy as np
import tensorflow
from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function
from tensorflow.python.pywrap_tfe import TFE_Py_TapeSetIsEmpty

from ...engine.record.interrupt_safe import TemporaryAttributes
from ...engine.types import Attributes, NameSet, OptionalFloat, OptionalNumber, RowList
from ...explain.explanation import Explanation, OptionalExplanation
from ...explain.reasons.suspects import CheckedRun
from ...recording.recorded_rows import BackwardPass, OptionalArray
from ..checkup import FrameworkRecording
from ..framework_patches import RecordingBlock
from ..nonfinite_values import explain_nonfinite_target
from ..recording import SourcesByName
from ..sampling import SampledSteps
from .function_graphs import is_tape_or_function_with_tape
from .operation_log import find_handle_id
from .row_log import TensorFlowLog
from .traced_values import compare_values_with_trace_after_call, explain_stale_trace
from .watcher import TensorFlowWatcher


class TensorFlowRecording(FrameworkRecording):
    """The operations and gradients that TensorFlow computed in a block.

    Attributes:
        log: The log that writes the rows.

    >>> x = tensorflow.constant(3.0)
    >>> with record() as recording:
    ...     with tensorflow.GradientTape() as tape:
    ...         y = x * x
    >>> recording.explain(y, x).cause
    'not_watched'
    """

    def __init__(self) -> None:
        """Create an empty recording with its log."""
        super().__init__("tensorflow")
        self.log = TensorFlowLog(self)

    def _explain_gradient(self, target: Any, source: Any) -> Explanation:
        from .checks import explain_gradient, explain_last_gradient_of_source

        if target is None:
            return explain_last_gradient_of_source(self, source)
        explanation = explain_gradient(self, target, source)
        last_explanation = (
            explanation if getattr(source, "trainable", True) else explain_last_gradient_of_source(self, source)
        )
        return last_explanation if explanation.connected and last_explanation.cause == "not_trainable" else explanation

    def choose_sweeps_of_source_or_all_if_trainable(
        self, source: Any, sweeps: list[BackwardPass]
    ) -> list[BackwardPass]:
        """Return the sweeps whose sources include `source`.

        If no such sweep exists, return all sweeps for a trainable source, and none for any other source.
        """
        from .function_calls import filter_sweeps_by_source

        return filter_sweeps_by_source(sweeps, source) or (sweeps if getattr(source, "trainable", True) else [])

    def collect_sources_meant_to_be_trained(self) -> SourcesByName:
        """Return the trainable variables that were read or changed in the block, keyed by name."""
        from .model_variables import collect_sources_meant_to_be_trained

        return collect_sources_meant_to_be_trained(self)

    def find_model_sources(self, model: Any) -> SourcesByName | None:
        """Return the trainable variables of a layer, model or module, keyed by path, or None for any other object."""
        from .model_variables import find_trainable_or_requested_model_variables

        return find_trainable_or_requested_model_variables(self, model)

    def build_checked_run(self) -> CheckedRun:
        """Return the facts that the checks for wrong gradients need."""
        from .suspects import build_checked_run

        return build_checked_run(self)

    def find_compiled_step_recording(self, source: Any) -> TensorFlowRecording | None:
        """Return the recording of the last compiled step that computed a gradient for `source`.

        The step is repeated to record it. Returns None if no step computed the gradient.
        """
        from .function_calls import replay_steps_and_find_last_one_for_source

        return replay_steps_and_find_last_one_for_source(self, source)

    def list_rows(self, source: Any) -> RowList:
        """Return all rows that have stood for a tensor or a variable, in order."""
        return self.log.tensor_rows.list_rows_of_tensor_or_variable(source)

    def read_weights_around_last_step(self, source: Any) -> tuple[OptionalArray, OptionalArray]:
        """Return a variable's elements before and after its last optimizer step, or (None, None) if there was none."""
        from .model_variables import read_weights_around_last_step

        return read_weights_around_last_step(self, source)

    def explain_failed_gradient_or_compiled_step(
        self, call_args: tuple, call_kwargs: Attributes
    ) -> OptionalExplanation:
        """Explain why ``tape.gradient`` or a compiled step raised an error.

        Args:
            call_args: The positional arguments of the call, including the tape.
            call_kwargs: Its keyword arguments.

        Returns:
            The explanation for the first source, or None if the call had no target or source, or if missing gradients
            are not to blame.
        """
        asked = dict(zip(("tape", "target", "sources"), call_args, strict=False)) | dict(call_kwargs)
        sources = tensorflow.nest.flatten(asked.get("sources"))
        if not isinstance(asked["tape"], tensorflow.GradientTape) or asked.get("target") is None or not sources:
            return self.log.explanation_of_failed_step
        explanation = self._explain_gradient(asked["target"], sources[0])
        return None if explanation.connected else explanation

    def collect_names_of_unrequested_sources(self) -> NameSet:
        """Return the names of the sources whose gradients the program has not requested."""
        from .model_variables import collect_requested_handle_ids

        requested = collect_requested_handle_ids(self)
        return {
            name
            for name, source in self.collect_sources_meant_to_be_trained().items()
            if find_handle_id(source) not in requested
        }

    def iter_run_problems(self) -> Iterator[OptionalExplanation]:
        """Yield an explanation for each problem that no single gradient reveals, or None if the problem is absent."""
        from .loss_checks import FILE_CHECKS, RECORDING_CHECKS, explain_early_decay_of_each_schedule

        nonfinite = (explain_nonfinite_target(self, row) for sweep in self.sweeps for row in sweep.target)
        yield next(filter(None, nonfinite), None)
        for check_recording in RECORDING_CHECKS:
            yield check_recording(self)
        file = getattr(sys.modules["__main__"], "__file__", None)
        for check_file in FILE_CHECKS:
            yield check_file(file)
        yield from explain_early_decay_of_each_schedule()
        functions = {call.function for call in self.log.function_calls}
        yield from map(explain_stale_trace, functions | self.log.later_functions)

    def build_inside_fields_of_calls(self, target: Any = None, row: OptionalNumber = None) -> list:
        """Return the rows inside ``tf.function`` calls, found by repeating their Python functions.

        Their format is described in the section "Inside" of ``docs/snapshot.md``.

        Args:
            target: The target whose last backward pass provides the adjoints, or None for the most recent backward
                pass.
            row: The row of the only call to open, or None for the recording's first calls.
        """
        from .function_calls import build_inside_fields_of_calls

        return build_inside_fields_of_calls(self, self.find_last_sweep(target), row)

    def pause_watching(self) -> AbstractContextManager:
        """Return a context manager that pauses the recording in its block."""
        return TemporaryAttributes(self.log.patches, thread_id=None)

    def find_row(self, value: Any) -> OptionalNumber:
        """Return the last row that stands for a tensor or variable, or None if none exists."""
        rows = self.log.tensor_rows.list_rows_of_tensor_or_variable(value)
        return rows[-1] if rows else super().find_row(value)

    def find_explainable_object(self, row: int) -> Any:
        """Return the tensor or the handle of a row, or None if the tensor no longer exists."""
        tensor = super().find_explainable_object(row)
        return None if isinstance(tensor, tensorflow.TensorSpec) else tensor


# If only some steps are recorded, a step ends with one of these calls.
STEP_ENDS = [(tensorflow.GradientTape, name) for name in ("gradient", "jacobian", "batch_jacobian")]
STEP_ENDS.append((Function, "__call__"))


def _read_loss_or_nan_if_results_nonfinite(recording: Any, args: tuple, results: Any) -> OptionalFloat:
    """Return the loss of an unrecorded step, NaN if its results are not finite, or None if the loss is unknown.

    Args:
        recording: The latest recording.
        args: The arguments of ``tape.gradient`` or of the compiled step.
        results: The results of the call.
    """
    if isinstance(args[0], Function):
        recording.log.later_functions.add(args[0])
        with suppress(Exception):  # An error here must not stop the training step.
            compare_values_with_trace_after_call(args[0])
    if isinstance(results, tensorflow.experimental.Optional):  # A Keras step returns its logs in this form.
        results = results.get_value() if results.has_value() else None
    tensors = [
        tensor
        for tensor in tensorflow.nest.flatten([args[1:2], results])
        if hasattr(tensor, "_numpy") and tensor.dtype.is_floating
    ]
    # A non-finite gradient reaches all variables within a step or two, so only the smallest tensors are checked.
    arrays = [tensor._numpy() for tensor in sorted(tensors, key=lambda tensor: tensor.shape.num_elements())[:4]]
    if not all(np.isfinite(array).all() for array in arrays):
        return math.nan
    return float(arrays[0].flat[0]) if arrays else None


def record(
    *,
    open_functions: bool = False,
    every: OptionalNumber = None,
    first: OptionalNumber = None,
) -> AbstractContextManager:
    """Record the eager operations and tape gradients of the TensorFlow program in the block.

    A recorded training step takes about twice as long as an unrecorded step. The options `every` and `first` record
    only a few steps and let the others run unchanged, so such a block may stay in a training loop. A step lasts from
    one gradient to the next. A fully compiled step, as in ``fit``, counts as one step. ``explain`` uses the latest
    recording.

    A ``tf.function`` call becomes one row, which can be opened in pictures. A recording has at most 20,000 rows.
    ``recording.left_out`` counts the operations that did not fit.

    Args:
        open_functions: Whether to run functions eagerly in the block, line by line. Their operations become rows with a
            scope that begins with the function's name, and tapes inside the functions are recorded. The last bits of a
            result may differ from those that the compiled function computes.
        every: Record the first step and then every n-th step. ``every=100`` records every hundredth step.
        first: Record the first n steps together, in a single recording. ``first=5`` records the first five steps.

    Returns:
        A context manager that provides the recording, as in ``with record() as recording:``.

    >>> x = tensorflow.constant([1.0, 2.0])
    >>> with record() as recording:
    ...     with tensorflow.GradientTape() as tape:
    ...         tape.watch(x)
    ...         y = tensorflow.sin(x)
    ...     slope = tape.gradient(y, x)
    >>> [row["name"] or row["label"] for row in recording.snapshot()["rows"]]
    ['x', 'y']
    """
    if every is not None or first is not None:
        return SampledSteps(
            every,
            first,
            lambda: record(open_functions=open_functions),
            STEP_ENDS,
            TFE_Py_TapeSetIsEmpty,
            is_tape_or_function_with_tape,
            _read_loss_or_nan_if_results_nonfinite,
        )
    recording = TensorFlowRecording()
    return RecordingBlock(recording, TensorFlowWatcher(recording, open_functions))


def why(loss: Callable[[], Any], model: Any = None) -> Any:
    """Explain in one call why the gradients of a model's variables are missing or wrong.

    Args:
        loss: A function that takes no arguments and computes the loss.
        model: An object that ``recording.explain`` accepts, such as a model or a variable. None means all variables
            that the function used.

    Returns:
        The explanations, keyed by the names of the variables.

    >>> w = tensorflow.Variable(2.0, name="w")
    >>> [answer.cause for answer in why(lambda: tensorflow.round(w)).values()]
    ['nondifferentiable']
    """
    with record() as recording:
        with tensorflow.GradientTape() as tape:
            target = loss()
        if model is None:
            sources = [*tape.watched_variables()]
        else:
            sources = [*(recording._find_named_sources(model) or {}).values()]
        tape.gradient(target, sources)
    return recording.explain(target=target, source=model)
