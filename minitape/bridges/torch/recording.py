"""Define the block that records a PyTorch program, and the recording that explains the program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.optimizer import register_optimizer_step_pre_hook

from ...engine.types import OptionalNumber, RowList
from ...explain.explanation import Explanation
from ...explain.reasons.object_names import share_searches_between_questions
from ...explain.reasons.suspects import CheckedRun
from ...explain.translated_sentences import UNNAMED_TENSOR, fill
from ...recording.recorded_rows import BackwardPass, OptionalArray, OptionalBackwardPass
from ...recording.sites import Site
from ..checkup import Checkup, FrameworkRecording
from ..framework_patches import RecordingBlock
from ..model_page import ModelPage
from ..recording import RowNumber, SourcesByName
from ..sampling import SampledSteps
from .row_log import TorchLog
from .watcher import TorchWatcher


class TorchRecording(FrameworkRecording):
    """The recorded computation of a block of PyTorch code.

    Attributes:
        error: The error raised by a backward pass or an in-place change to a leaf, with its site, or None if there was
            no error.
        failed_source_rows: The rows of the inputs to a failed ``autograd.grad`` call.
        failed_sweep: The incomplete sweep of a failed backward pass, or None if the pass failed before it began.
        explains_steps: Whether to explain what happens to gradients on their way from a backward pass to the weights.
        log: The log that writes the rows.

    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> with record() as recording:
    ...     loss = w.detach().sum()
    >>> recording.explain(loss, w).cause
    'detach'
    """

    def __init__(self) -> None:
        """Create an empty recording and its log."""
        super().__init__("torch")
        self.error: tuple[Exception, Site] | None = None
        self.failed_source_rows: RowList = []
        self.failed_sweep: OptionalBackwardPass = None
        self.explains_steps = True
        self.log = TorchLog(self)

    def _explain_gradient(self, target: Any, source: Any) -> Explanation:
        # The error occurred before any backward pass, so the target is unknown.
        failed_early = self.error is not None and not self.sweeps and not self.failed_target_rows
        target = self.find_last_target_row() if target is None and not failed_early else target
        from .checks import explain_gradient

        return explain_gradient(self, target, source)

    def collect_sources_meant_to_be_trained(self) -> SourcesByName:
        """Return the parameters that were trained in the block, keyed by their names in the program."""
        from .model_parameters import collect_sources_meant_to_be_trained

        with share_searches_between_questions():
            return collect_sources_meant_to_be_trained(self)

    def find_model_sources(self, model: Any) -> SourcesByName | None:
        """Return the parameters of a module, keyed by name, or None if the object is not a module.

        The result includes unregistered parameters that the module holds and that were used in the block.
        """
        from .model_parameters import collect_parameters_by_model_name_and_path, collect_used_unregistered_parameters

        if not isinstance(model, nn.Module):
            return None
        return collect_parameters_by_model_name_and_path(model) | collect_used_unregistered_parameters(self, model)

    def build_checked_run(self) -> CheckedRun:
        """Return the facts that the checks for wrong gradients need."""
        from .suspects import build_checked_run

        return build_checked_run(self)

    def list_rows(self, source: Any) -> RowList:
        """Return all rows that have stood for a tensor, in order, or an empty list for any other object."""
        return self.log.list_rows(source) if isinstance(source, Tensor) else []

    def read_weights_around_last_step(self, source: Any) -> tuple[OptionalArray, OptionalArray]:
        """Return a parameter's elements before and after its last optimizer step, or (None, None) if there was none."""
        from .model_parameters import read_weights_around_last_step

        return read_weights_around_last_step(self, source)

    def find_last_target_row(self) -> RowNumber | None:
        """Return the target row of the last backward pass, even if it failed, or None if no backward pass ran."""
        return RowNumber(self.failed_target_rows[-1]) if self.failed_target_rows else super().find_last_target_row()

    def find_target_row_unless_found_from_source(self, sweep: BackwardPass) -> RowNumber:
        """Return the target row of a backward pass."""
        return RowNumber(sweep.target[-1])

    def find_row(self, value: Any) -> OptionalNumber:
        """Return the last row of a tensor, or the row with a given number, or None if no such row exists."""
        if isinstance(value, Tensor):
            rows = self.log.list_rows(value)
            return rows[-1] if rows else None
        return super().find_row(value)

    def close(self) -> None:
        """Name the parameters after their paths in the modules, and mark the recording as complete."""
        for recorded_row in self.rows:
            if recorded_row.kind == "operation" or recorded_row.name:
                continue
            name = self.log.history.tensor_names.get(recorded_row.find_object())
            if name:
                recorded_row.name = recorded_row.label = name
        try:
            self.log.kept_tensors.copy_summaries_of_large_tensors_to_host()
        except RuntimeError as error:  # A device failure must not hide the program's own error.
            self.store_first_internal_error_and_warn(error)
        super().close()


STEP_ENDS = [(Tensor, "backward"), (torch.autograd, "backward"), (torch.autograd, "grad")]


def record(*, every: OptionalNumber = None, first: OptionalNumber = None) -> AbstractContextManager[TorchRecording]:
    """Record the operations and backward passes that the PyTorch program runs in the block.

    Recording makes a training step take about 1.3 times as long for a large model, and two to three times as long for a
    tiny one. With ``every`` or ``first``, the block records only a few steps, from one backward pass to the next, and
    the other steps run unobserved. Such a block can stay in a training loop permanently.

    A recording has at most 20,000 rows. ``recording.left_out`` is the number of operations beyond this limit. Small
    tensors are copied on their device. Large tensors are kept until something changes them, up to 64 MB in total. Above
    that limit, the oldest large tensors are reduced to their extremes and a thumbnail. The summaries are computed on
    the device and copied to the host in a single transfer when the block ends.

    Args:
        every: Record the first step and then every n-th step, where n is this number. ``explain`` uses the latest
            recording.
        first: Record this many initial steps together, in a single recording.

    Returns:
        A context manager that provides the recording, as in ``with record() as recording:``.

    Raises:
        ValueError: If both options are given, or if an option is not a positive int.

    >>> x = torch.ones(3, requires_grad=True)
    >>> with record() as recording:
    ...     y = torch.sin(x).sum()
    ...     y.backward()
    >>> [row["name"] or row["label"] for row in recording.snapshot()["rows"]]
    ['x', 'sin', 'y']
    """
    if every is not None or first is not None:
        return SampledSteps(every, first, record, STEP_ENDS)
    recording = TorchRecording()
    return RecordingBlock(recording, TorchWatcher(recording))


@contextmanager
def keep_used_models_and_optimizers_alive() -> Iterator[None]:
    """Keep modules and optimizers alive until the end of the block that uses them.

    A program may create its model in a function, and ``explain`` needs the model after that function has returned.
    """
    used_objects: dict = {}

    def keep_used_object(used_object: Any, *_: Any) -> None:
        if not torch.compiler.is_dynamo_compiling():  # torch.compile also compiles module hooks.
            used_objects[id(used_object)] = used_object

    handles = (
        nn.modules.module.register_module_forward_pre_hook(keep_used_object),
        register_optimizer_step_pre_hook(keep_used_object),
    )
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def why(loss: Callable[[], Tensor] | Tensor, model: Any = None) -> ModelPage:
    """Explain why a model's parameters have missing or wrong gradients, in one call and without a recording block.

    The function does not change any ``.grad``.

    Args:
        loss: A function that takes no arguments and computes the loss, or the loss itself. If the loss is a tensor, it
            was computed before the call, so the explanations cannot name any lines.
        model: The model, in any form that ``recording.explain`` accepts, or None for every parameter that the
            function used.

    Returns:
        The page of explanations.

    >>> net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    >>> [answer.cause for answer in why(lambda: net[1](net[0](torch.ones(1, 2)).detach()).sum(), net).values()]
    ['detach', 'detach', 'connected', 'connected']
    """
    with record() as recording:
        target = loss() if callable(loss) else loss
        sources = (
            {fill(UNNAMED_TENSOR): model} if isinstance(model, Tensor) else recording._find_named_sources(model) or {}
        )
        trained = [source for source in sources.values() if source.requires_grad]
        if trained and target.requires_grad:
            torch.autograd.grad(target, trained, retain_graph=True, allow_unused=True)
    return Checkup(recording, target).build_page_of_source_explanations(sources)
