"""A block of PyTorch that is recorded, and what asks about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from ...explain.translated_sentences import fill
from ...explain.value_texts import UNNAMED_TENSOR
from ..checkup import Checkup, FrameworkRecording
from ..framework_patches import RecordingBlock
from ..recording import RowNumber
from ..sampling import build_sampled_steps
from .row_log import TorchLog, get_extra
from .watcher import TorchWatcher

if TYPE_CHECKING:
    from ...explain.explanation import Explanation
    from ...explain.reasons.question import OptionalArray
    from ...explain.reasons.suspects import CheckedRun
    from ...recording.sites import Site
    from ..model_page import ModelPage


class TorchRecording(FrameworkRecording):
    """What a block of PyTorch computed.

    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> with record() as recording:
    ...     loss = w.detach().sum()
    >>> recording.explain(loss, w).cause
    'detach'
    """

    def __init__(self) -> None:
        super().__init__("torch")
        # that a backward pass, or a change of a leaf, ended in, and where
        self.error: tuple[Exception, Site] | None = None
        self.log = TorchLog(self)

    def _explain_gradient(self, target: Any, source: Any) -> Explanation:
        # before a backward pass
        failed_early = self.error is not None and not self.sweeps and not self.failed_target_rows
        target = self.find_last_target_row() if target is None and not failed_early else target
        from .checks import explain_gradient

        return explain_gradient(self, target, source)

    def collect_trained_sources(self) -> dict[str, Any]:
        from .model_parameters import collect_trained_sources

        return collect_trained_sources(self)

    def find_model_sources(self, model: Any) -> dict[str, Any] | None:
        from .model_parameters import collect_model_parameters, collect_unregistered_parameters

        return (
            collect_model_parameters(model) | collect_unregistered_parameters(self, model)
            if isinstance(model, torch.nn.Module)
            else None
        )

    def build_checked_run(self) -> CheckedRun:
        from .suspects import build_checked_run

        return build_checked_run(self)

    def list_rows(self, source: Any) -> list[int]:
        return self.log.list_rows(source) if isinstance(source, torch.Tensor) else []

    def read_weights_around_last_step(self, source: Any) -> tuple[OptionalArray, OptionalArray]:
        from .model_parameters import read_weights_around_last_step

        return read_weights_around_last_step(self, source)

    def find_last_target_row(self) -> RowNumber | None:
        return RowNumber(self.failed_target_rows[-1]) if self.failed_target_rows else super().find_last_target_row()

    def find_row(self, value: Any) -> int | None:
        """Return the last row that stands for a tensor."""
        if isinstance(value, torch.Tensor):
            rows = self.log.list_rows(value)
            return rows[-1] if rows else None
        return super().find_row(value)

    @property
    def leaves(self) -> Mapping[int, Any]:
        """The tensors that are alive, by row."""
        live_tensors = ((entry.row, get_extra(entry).tensor_ref()) for entry in self.entries)
        return {
            row: SimpleNamespace(variable=None, tensor=tensor) for row, tensor in live_tensors if tensor is not None
        }

    def close(self) -> None:
        """Give parameters the names that their modules have for them, and complete the recording."""
        for entry in self.entries:
            is_named = entry.kind == "operation" or entry.name
            name = None if is_named else self.log.history.tensor_names.get(get_extra(entry).tensor_ref())
            entry.name, entry.label = name or entry.name, name or entry.label
        super().close()


STEP_ENDS = [(torch.Tensor, "backward"), (torch.autograd, "backward"), (torch.autograd, "grad")]  # of a step


def record(*, every: int | None = None, first: int | None = None) -> AbstractContextManager[TorchRecording]:
    """Watch the PyTorch program in the block: its operations, and the backward passes that run in it.

    Recorded, a training step takes two to three times as long. Two options record a few steps only, from one backward
    pass to the next, and let the others run as they are: such a block may stay in a training loop. ``first=5`` makes
    one recording of the first five steps. ``every=100`` records the first and then each hundredth step. The last
    recording answers.

    At most 20,000 rows are written; ``recording.left_out`` counts what came after them. Small tensors are copied, large
    ones kept as long as nothing changes them, up to 64 MB; of the rest a summary is kept.

    >>> x = torch.ones(3, requires_grad=True)
    >>> with record() as recording:
    ...     y = torch.sin(x).sum()
    ...     y.backward()
    >>> [row["name"] or row["label"] for row in recording.snapshot()["rows"]]
    ['x', 'sin', 'y']
    """
    sampled_steps = build_sampled_steps(every, first, record, STEP_ENDS)
    recording = TorchRecording()
    return sampled_steps or RecordingBlock(recording, TorchWatcher(recording))


@contextmanager
def keep_models_alive() -> Iterator[None]:
    """Keep the modules and optimizers alive that are used in the block: a program that ran in a function is asked about
    when it has ended.
    """
    used_objects: dict = {}

    def note_used(used_object: Any, *_: Any) -> None:
        used_objects[id(used_object)] = used_object

    handles = (
        torch.nn.modules.module.register_module_forward_pre_hook(note_used),
        register_optimizer_step_pre_hook(note_used),
    )
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def why(loss: Any, model: Any = None) -> ModelPage:
    """Explain in one line, instead of a block, why parts of a model have no gradient from a loss, or a wrong one.

    ``loss`` is a function that computes it, or the tensor: of what ran before, the answer has no lines. ``model`` is
    what ``recording.explain`` takes; None stands for all that the function used. No ``.grad`` changes.

    >>> net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    >>> [answer.cause for answer in why(lambda: net[1](net[0](torch.ones(1, 2)).detach()).sum(), net).values()]
    ['detach', 'detach', 'connected', 'connected']
    """
    with record() as recording:
        target = loss() if callable(loss) else loss
        sources = (
            {fill(UNNAMED_TENSOR): model}
            if isinstance(model, torch.Tensor)
            else recording._find_named_sources(model) or {}
        )
        trained = [source for source in sources.values() if source.requires_grad]
        if trained and target.requires_grad:
            torch.autograd.grad(target, trained, retain_graph=True, allow_unused=True)
    return Checkup(recording, target).build_page(sources)
