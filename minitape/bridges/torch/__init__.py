"""Watch an unchanged PyTorch program.

``record()`` intercepts every PyTorch function call in its block (with ``torch.overrides.TorchFunctionMode``), and
reads adjoints with hooks. The hooks return nothing, so all results stay the same to the last bit. All changes to
PyTorch are undone after the block.

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

from ..framework_import import import_framework

import_framework("torch", "PyTorch", (2, 4))

from .recording import STEP_ENDS as STEP_ENDS  # noqa: E402 - The version check comes first.
from .recording import TorchRecording as TorchRecording  # noqa: E402
from .recording import keep_used_models_and_optimizers_alive as keep_used_models_and_optimizers_alive  # noqa: E402
from .recording import record as record  # noqa: E402
from .recording import why as why  # noqa: E402
