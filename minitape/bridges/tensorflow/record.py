"""A block of TensorFlow that is recorded, and what asks about it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import tensorflow
from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function
from tensorflow.python.pywrap_tfe import TFE_Py_TapeSetIsEmpty

from ...engine.recording.block import TemporaryAttributes
from ...recording.rows import BackwardPass
from ..changes import Block
from ..checkup import FrameworkRecording
from ..sampling import some_steps
from .rows import TensorFlowLog
from .watch import STEP, TensorFlowWatcher

if TYPE_CHECKING:
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

    def _why(self, target: Any, source: Any) -> Any:
        from .checks import explain_gradient, explain_last_gradient

        if target is None:
            return explain_last_gradient(self, source)
        answer = explain_gradient(self, target, source)
        last = answer if getattr(source, "trainable", True) else explain_last_gradient(self, source)
        return last if answer.connected and last.cause == "not_trainable" else answer

    def asked_for(self, source: Any, sweeps: list[BackwardPass]) -> list[BackwardPass]:
        from .calls import sweeps_for

        return sweeps_for(sweeps, source) or (sweeps if getattr(source, "trainable", True) else [])

    def trained(self) -> dict:
        from .model import trained

        return trained(self)

    def model_parts(self, model: Any) -> dict | None:
        from .model import parts_of

        return parts_of(self, model)

    def suspect_run(self) -> CheckedRun:
        from .suspects import build_checked_run

        return build_checked_run(self)

    def inside_of(self, source: Any) -> tuple[FrameworkRecording, Any] | None:
        from .calls import rerun_of

        return rerun_of(self, source)

    def rows_of(self, source: Any) -> list[int]:
        return self.log.tensors.rows_of(source)

    def weights_of(self, source: Any) -> tuple:
        from .model import weights_of

        return weights_of(self, source)

    def target_number(self, sweep: Any) -> Any:
        return None  # a question finds the backward pass of its source itself

    def insides(self, target: Any = None, row: int | None = None) -> list:
        """The insides of calls of a ``tf.function``, whose graphs run again; see ``docs/bridges.md``."""
        from .calls import insides_of

        return insides_of(self, self.sweep_of(target), row)

    def asleep(self) -> AbstractContextManager:
        """What runs in the block is not the program's."""
        return TemporaryAttributes(self.log.seen, thread=None)

    def row_of(self, value: Any) -> int | None:
        """The last row that stands for a tensor or a variable."""
        rows = self.log.tensors.rows_of(value)
        return rows[-1] if rows else super().row_of(value)

    @property
    def leaves(self) -> Mapping[int, Any]:
        """The tensors, by row."""
        known = ((entry.row, entry.extra.asked) for entry in self.entries)
        return {
            row: SimpleNamespace(variable=None, tensor=asked)
            for row, asked in known
            if not isinstance(asked, tensorflow.TensorSpec)
        }


ENDS = [(tensorflow.GradientTape, name) for name in ("gradient", "jacobian", "batch_jacobian")]  # of a step
ENDS.append((Function, "__call__"))


def _gives_gradients(owner: Any) -> bool:
    """Whether an object is a tape, or a ``tf.function`` in which a tape computes gradients."""
    return not isinstance(owner, Function) or hasattr(owner, STEP)


def record(
    *,
    open_functions: bool = False,
    every: int | None = None,
    first: int | None = None,
) -> AbstractContextManager:
    """Watches the TensorFlow program in the block: its eager operations, and the gradients that tapes are asked for in
    it.

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
    steps = lambda: record(open_functions=open_functions), ENDS, TFE_Py_TapeSetIsEmpty, _gives_gradients
    some = some_steps(every, first, *steps)
    recording = TensorFlowRecording()
    return some or Block(recording, TensorFlowWatcher(recording, open_functions))


def why(loss: Any, model: Any = None) -> Any:
    """One line instead of a block: why parts of a model have no gradient from a loss, or what is wrong with it.

    ``loss`` is a function that computes it; ``model`` is what ``recording.explain`` takes, and None stands for all that
    the function used.

    >>> w = tensorflow.Variable(2.0, name="w")
    >>> [answer.cause for answer in why(lambda: tensorflow.round(w)).values()]
    ['nondifferentiable']
    """
    with record() as recording:
        with tensorflow.GradientTape() as tape:
            target = loss()
        tape.gradient(target, [*(tape.watched_variables() if model is None else recording._parts_of(model).values())])
    return recording.explain(target=target, source=model)
