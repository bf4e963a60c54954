"""The bridge to PyTorch: watches a program that is written for it, unchanged.

``record()`` sees every call of a PyTorch function in its block (with ``torch.overrides.TorchFunctionMode``), and reads what
autograd sends back with hooks. The hooks give nothing back, so all results stay the same, to the last bit. After the block
PyTorch is as it was.

>>> import torch
>>> w = torch.tensor([1.0, 2.0], requires_grad=True)
>>> with record() as recording:
...     loss = (w * w).sum()
...     loss.backward()
>>> recording
Recording(torch, 3 rows, 1 backward pass)
>>> [row["name"] or row["label"] for row in recording.snapshot()["rows"]]
['w', '×', 'loss']
>>> recording.explain(loss, w).connected
True
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any

from .need import need

torch = need("torch", "PyTorch", (2, 4))

from .changes import Block  # noqa: E402 - behind the check
from .every import Every  # noqa: E402
from .recording import Recording  # noqa: E402
from .torch_log import Log  # noqa: E402
from .torch_mode import Watcher  # noqa: E402


class TorchRecording(Recording):
    """What a block of PyTorch computed.

    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> with record() as recording:
    ...     loss = w.detach().sum()
    >>> recording.explain(loss, w).cause
    'detach'
    """

    def __init__(self) -> None:
        super().__init__("torch")
        self.error: tuple[Exception, Any] | None = None  # that a backward pass, or a change of a leaf, ended in, and where
        self.log = Log(self)

    def _why(self, target: Any, source: Any) -> Any:
        from .torch_why import why

        failed = self.error is not None and not self.sweeps  # before a backward pass
        return why(self, self.last_target() if target is None and not failed else target, source)

    def asleep(self) -> AbstractContextManager[Any]:
        """What runs in the block is not the program's."""
        return torch._C.DisableTorchFunction()

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
        self.log.name_leaves()
        super().close()


def record(*, every: int | None = None) -> AbstractContextManager[Any]:
    """Watches the PyTorch program in the block: its operations, and the backward passes that run in it.

    Recorded, a training step takes two to three times as long. With ``every=100`` the first and then each hundredth step is
    recorded, from one ``zero_grad()`` to the next, and the others run as they are: such a block may stay in a training loop. The recording of the last of them answers.

    At most 20,000 rows are written; ``recording.left_out`` counts what came after them. Small tensors are copied, large ones
    kept as long as nothing changes them, up to 64 MB; of the rest a summary is kept.

    >>> x = torch.ones(3, requires_grad=True)
    >>> with record() as recording:
    ...     y = torch.sin(x).sum()
    ...     y.backward()
    >>> [row["name"] or row["label"] for row in recording.snapshot()["rows"]]
    ['x', 'sin', 'y']
    """
    if every is not None:
        return Every(record, every, [(torch.optim.Optimizer, "zero_grad"), (torch.nn.Module, "zero_grad")])  # type: ignore[arg-type]
    recording = TorchRecording()
    return Block(recording, Watcher(recording))
