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

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

try:
    import torch
except ImportError as error:
    raise ImportError("minitape.bridges.torch needs PyTorch: pip install 'minitape[torch]'.") from error

OLDEST = (2, 4)
if tuple(int(part) for part in torch.__version__.split(".")[:2]) < OLDEST:
    raise ImportError(f"minitape.bridges.torch needs PyTorch {'.'.join(map(str, OLDEST))} or newer, and {torch.__version__} is installed.")

from .recording import Recording  # noqa: E402 - behind the check
from .torch_log import Log  # noqa: E402
from .torch_mode import Watcher  # noqa: E402


class TorchRecording(Recording):
    """What a block of PyTorch computed. ``failure`` is the mistake of the bridge's own that ended it early, or None."""

    def __init__(self) -> None:
        super().__init__("torch")
        self.failure: Exception | None = None
        self.error: tuple[Exception, Any] | None = None  # that a backward pass ended in, and where it was asked for
        self.log = Log(self)

    def explain(self, target: Any, source: Any) -> Any:
        """Why ``source.grad`` is None, zero or NaN after ``target.backward()``, on which line, and what mends it.

        Returns an :class:`minitape.explain.Explanation`, as ``tape.explain`` does; a list of them for a list of sources.

        >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> with record() as recording:
        ...     loss = w.detach().sum()
        >>> recording.explain(loss, w).cause
        'detach'
        """
        from .torch_why import why

        if isinstance(source, (list, tuple)):
            return [why(self, target, s) for s in source]
        return why(self, target, source)

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

    def fail(self, error: Exception) -> None:
        """Ends the recording: the program goes on."""
        if self.failure is None:
            self.failure = error
            warnings.warn(f"The recording ended early: {type(error).__name__}: {error}", RuntimeWarning, stacklevel=2)

    def close(self) -> None:
        """The block has ended."""
        self.log.name_leaves()
        super().close()


@contextmanager
def record() -> Iterator[TorchRecording]:
    """Watches the PyTorch program in the block: its operations, and the backward passes that run in it.

    At most 20,000 rows are written; ``recording.left_out`` counts what came after them. Small tensors are copied, large ones
    kept as long as nothing changes them, up to 256 MB; of the rest a summary is kept.

    >>> x = torch.ones(3, requires_grad=True)
    >>> with record() as recording:
    ...     y = torch.sin(x).sum()
    ...     y.backward()
    >>> [row["name"] or row["label"] for row in recording.snapshot()["rows"]]
    ['x', 'sin', 'y']
    """
    recording = TorchRecording()
    watcher = Watcher(recording)
    watcher.begin()
    try:
        yield recording
    finally:
        watcher.end()
        recording.close()
