"""A block of PyTorch that is recorded, and what asks about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from ...explain.sentences import fill
from ...explain.value_texts import TENSOR
from ..changes import Block
from ..checkup import Checkup, FrameworkRecording
from ..recording import RowNumber
from ..sampling import some_steps
from .rows import TorchLog
from .watch import TorchWatcher

if TYPE_CHECKING:
    from ...explain.reasons.suspects import CheckedRun


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
        self.error: tuple[Exception, Any] | None = None
        self.log = TorchLog(self)

    def _why(self, target: Any, source: Any) -> Any:
        refused = self.error is not None and not self.sweeps and not self.failed  # before a backward pass
        target = self.last_target() if target is None and not refused else target
        from .checks import explain_gradient

        return explain_gradient(self, target, source)

    def trained(self) -> dict:
        from .model import trained

        return trained(self)

    def model_parts(self, model: Any) -> dict | None:
        from .model import parameters_beside, parts_of

        return parts_of(model) | parameters_beside(self, model) if isinstance(model, torch.nn.Module) else None

    def suspect_run(self) -> CheckedRun:
        from .suspects import build_checked_run

        return build_checked_run(self)

    def rows_of(self, source: Any) -> list[int]:
        return self.log.rows_of(source) if isinstance(source, torch.Tensor) else []

    def weights_of(self, source: Any) -> tuple:
        from .model import weights_of

        return weights_of(self, source)

    def last_target(self) -> RowNumber | None:
        return RowNumber(self.failed[-1]) if self.failed else super().last_target()

    def row_of(self, value: Any) -> int | None:
        """The last row that stands for a tensor."""
        if isinstance(value, torch.Tensor):
            rows = self.log.rows_of(value)
            return rows[-1] if rows else None
        return super().row_of(value)

    @property
    def leaves(self) -> Mapping[int, Any]:
        """The tensors that are alive, by row."""
        alive = ((entry.row, entry.extra.ref()) for entry in self.entries)
        return {row: SimpleNamespace(variable=None, tensor=tensor) for row, tensor in alive if tensor is not None}

    def close(self) -> None:
        """The block has ended."""
        for entry in self.entries:  # parameters get the names that their modules have for them
            name = None if entry.kind == "operation" or entry.name else self.log.history.names.get(entry.extra.ref())
            entry.name, entry.label = name or entry.name, name or entry.label
        super().close()


ENDS = [(torch.Tensor, "backward"), (torch.autograd, "backward"), (torch.autograd, "grad")]  # of a step


def record(*, every: int | None = None, first: int | None = None) -> AbstractContextManager:
    """Watches the PyTorch program in the block: its operations, and the backward passes that run in it.

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
    some = some_steps(every, first, record, ENDS)
    recording = TorchRecording()
    return some or Block(recording, TorchWatcher(recording))


@contextmanager
def holding() -> Iterator[None]:
    """In the block the modules and optimizers that are used stay alive: a program that ran in a function is asked about
    when it has ended.
    """
    held: dict = {}

    def note_used(used: Any, *_: Any) -> None:
        held[id(used)] = used

    handles = (
        torch.nn.modules.module.register_module_forward_pre_hook(note_used),
        register_optimizer_step_pre_hook(note_used),
    )
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def why(loss: Any, model: Any = None) -> Any:
    """One line instead of a block: why parts of a model have no gradient from a loss, or what is wrong with it.

    ``loss`` is a function that computes it, or the tensor: of what ran before, the answer has no lines. ``model`` is
    what ``recording.explain`` takes; None stands for all that the function used. No ``.grad`` changes.

    >>> net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    >>> [answer.cause for answer in why(lambda: net[1](net[0](torch.ones(1, 2)).detach()).sum(), net).values()]
    ['detach', 'detach', 'connected', 'connected']
    """
    with record() as recording:
        target = loss() if callable(loss) else loss
        parts = {fill(TENSOR): model} if isinstance(model, torch.Tensor) else recording._parts_of(model) or {}
        trained = [source for source in parts.values() if source.requires_grad]
        if trained and target.requires_grad:
            torch.autograd.grad(target, trained, retain_graph=True, allow_unused=True)
    return Checkup(recording, target).page(parts)
