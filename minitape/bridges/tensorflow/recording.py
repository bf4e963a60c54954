"""A block of TensorFlow that is recorded, and what asks about it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import tensorflow
from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function
from tensorflow.python.pywrap_tfe import TFE_Py_TapeSetIsEmpty

from ...engine.record.interrupt_safe import TemporaryAttributes
from ...recording.recorded_rows import BackwardPass
from ..checkup import FrameworkRecording
from ..framework_patches import RecordingBlock
from ..sampling import build_sampled_steps
from .row_log import TensorFlowLog
from .watcher import STEP_ATTRIBUTE, TensorFlowWatcher

if TYPE_CHECKING:
    from ...explain.explanation import Explanation
    from ...explain.reasons.question import OptionalArray
    from ...explain.reasons.suspects import CheckedRun


class TensorFlowRecording(FrameworkRecording):
    """What a block of TensorFlow computed.

    >>> x = tensorflow.constant(3.0)
    >>> with record() as recording:
    ...     with tensorflow.GradientTape() as tape:
    ...         y = x * x
    >>> recording.explain(y, x).cause
    'not_watched'
    """

    def __init__(self) -> None:
        super().__init__("tensorflow")
        self.log = TensorFlowLog(self)

    def _explain_gradient(self, target: Any, source: Any) -> Explanation:
        from .checks import explain_gradient, explain_last_gradient

        if target is None:
            return explain_last_gradient(self, source)
        explanation = explain_gradient(self, target, source)
        last_explanation = explanation if getattr(source, "trainable", True) else explain_last_gradient(self, source)
        return last_explanation if explanation.connected and last_explanation.cause == "not_trainable" else explanation

    def filter_sweeps_by_source(self, source: Any, sweeps: list[BackwardPass]) -> list[BackwardPass]:
        from .function_calls import filter_sweeps_by_source

        return filter_sweeps_by_source(sweeps, source) or (sweeps if getattr(source, "trainable", True) else [])

    def collect_trained_sources(self) -> dict[str, Any]:
        from .model_variables import collect_trained_sources

        return collect_trained_sources(self)

    def find_model_sources(self, model: Any) -> dict[str, Any] | None:
        from .model_variables import find_model_variables

        return find_model_variables(self, model)

    def build_checked_run(self) -> CheckedRun:
        from .suspects import build_checked_run

        return build_checked_run(self)

    def find_recording_of_compiled_step(self, source: Any) -> tuple[TensorFlowRecording, Any] | None:
        from .function_calls import find_replayed_step_of_source

        return find_replayed_step_of_source(self, source)

    def list_rows(self, source: Any) -> list[int]:
        return self.log.tensor_rows.list_rows(source)

    def read_weights_around_last_step(self, source: Any) -> tuple[OptionalArray, OptionalArray]:
        from .model_variables import read_weights_around_last_step

        return read_weights_around_last_step(self, source)

    def find_target_row(self, sweep: BackwardPass) -> None:
        return None  # a question finds the backward pass of its source itself

    def list_insides(self, target: Any = None, row: int | None = None) -> list:
        """Return the insides of calls of a ``tf.function``, whose graphs run again; see ``docs/bridges.md``."""
        from .function_calls import list_insides

        return list_insides(self, self.find_last_sweep(target), row)

    def pause_watching(self) -> AbstractContextManager:
        """Return a block in which nothing counts as the program's."""
        return TemporaryAttributes(self.log.patches, thread_id=None)

    def find_row(self, value: Any) -> int | None:
        """Return the last row that stands for a tensor or a variable."""
        rows = self.log.tensor_rows.list_rows(value)
        return rows[-1] if rows else super().find_row(value)

    @property
    def leaves(self) -> Mapping[int, Any]:
        """The tensors, by row."""
        pairs = ((entry.row, entry.extra.tensor_or_handle) for entry in self.entries)
        return {
            row: SimpleNamespace(variable=None, tensor=tensor)
            for row, tensor in pairs
            if not isinstance(tensor, tensorflow.TensorSpec)
        }


STEP_ENDS = [(tensorflow.GradientTape, name) for name in ("gradient", "jacobian", "batch_jacobian")]  # of a step
STEP_ENDS.append((Function, "__call__"))


def _is_tape_or_step_function(owner: Any) -> bool:
    """Return whether an object is a tape, or a ``tf.function`` in which a tape computes gradients."""
    return not isinstance(owner, Function) or hasattr(owner, STEP_ATTRIBUTE)


def record(
    *,
    open_functions: bool = False,
    every: int | None = None,
    first: int | None = None,
) -> AbstractContextManager:
    """Watch the TensorFlow program in the block: its eager operations, and the gradients that tapes are asked for.

    Recorded, a training step takes about twice as long. Two options record a few steps only, from one gradient to the
    next, and let the others run as they are: such a block may stay in a training loop. ``first=5`` makes one recording
    of the first five steps. ``every=100`` records the first and then each hundredth step. The last recording answers. A
    step that is compiled as a whole, as in ``fit``, is one for ``first`` and ``every``.

    A call of a ``tf.function`` is one row, which pictures open. With ``open_functions`` functions run eagerly in the
    block, line by line: their operations are rows whose scope begins with the function's name, and a tape inside of
    them is seen. That is another way to compute the same: the last bits may differ from those of the function as
    TensorFlow compiled it. At most 20,000 rows are written; ``recording.left_out`` counts what came after them.

    >>> x = tensorflow.constant([1.0, 2.0])
    >>> with record() as recording:
    ...     with tensorflow.GradientTape() as tape:
    ...         tape.watch(x)
    ...         y = tensorflow.sin(x)
    ...     slope = tape.gradient(y, x)
    >>> [row["name"] or row["label"] for row in recording.snapshot()["rows"]]
    ['x', 'y']
    """
    sampling_options = (
        lambda: record(open_functions=open_functions),
        STEP_ENDS,
        TFE_Py_TapeSetIsEmpty,
        _is_tape_or_step_function,
    )
    sampled_steps = build_sampled_steps(every, first, *sampling_options)
    recording = TensorFlowRecording()
    return sampled_steps or RecordingBlock(recording, TensorFlowWatcher(recording, open_functions))


def why(loss: Any, model: Any = None) -> Any:
    """Explain in one line why parts of a model have no gradient from a loss, or what is wrong with it.

    ``loss`` is a function that computes it; ``model`` is what ``recording.explain`` takes, and None stands for all that
    the function used.

    >>> w = tensorflow.Variable(2.0, name="w")
    >>> [answer.cause for answer in why(lambda: tensorflow.round(w)).values()]
    ['nondifferentiable']
    """
    with record() as recording:
        with tensorflow.GradientTape() as tape:
            target = loss()
        tape.gradient(
            target,
            (
                [*tape.watched_variables()]
                if model is None
                else [*(recording._find_named_sources(model) or {}).values()]
            ),
        )
    return recording.explain(target=target, source=model)
