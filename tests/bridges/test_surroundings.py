"""A healthy training step is healthy in each surrounding of real training, and a planted cut is found on its line.

Each program is run twice: without the lines marked ``#!``, which must give a page without problems, and with them. The
page must then blame a marked line. Surroundings that start a compiler or processes run with ``--longest``.
"""

from __future__ import annotations

import re
import socket
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from minitape.bridges import torch as bridge  # noqa: E402

NET = """
import torch
from torch import nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.inner, self.last = nn.Linear(8, 16), nn.Linear(16, 16), nn.Linear(16, 1)
    def forward(self, x):
        h = torch.tanh(self.first(x))
        h = run_inner(self.inner, h)
        h = h.detach()  #!
        return self.last(h)
def run_inner(layer, h):
    return torch.tanh(layer(h))
net = Net()
optimizer = torch.optim.Adam(net.parameters(), 0.01)
x = torch.randn(16, 8)
y = x.sum(1, keepdim=True)
def compute_loss(model):
    return (model(x) - y).pow(2).mean()
"""
STEP = """
for _ in range(2):
    optimizer.zero_grad()
    compute_loss(net).backward()
    optimizer.step()
"""
SURROUNDINGS = {
    "plain": STEP,
    "accumulation": """
for number in range(4):
    (compute_loss(net) / 2).backward()
    if number % 2:
        optimizer.step()
        optimizer.zero_grad()
""",
    "clipping": STEP.replace(
        "    optimizer.step()", "    nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n    optimizer.step()"
    ),
    "bfloat16": """
for _ in range(2):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        prediction = net(x)
    (prediction.float() - y).pow(2).mean().backward()
    optimizer.step()
""",
    "scaler": """
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
for _ in range(2):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        prediction = net(x)
    scaler.scale((prediction.float() - y).pow(2).mean()).backward()
    scaler.step(optimizer)
    scaler.update()
""",
    "checkpoint": """
from torch.utils.checkpoint import checkpoint
def run_inner(layer, h):
    return torch.tanh(checkpoint(layer, h, use_reentrant=False))
"""
    + STEP,
    "functional_call": """
from torch.func import functional_call
parameters = dict(net.named_parameters())
for _ in range(2):
    optimizer.zero_grad()
    (functional_call(net, parameters, (x,)) - y).pow(2).mean().backward()
    optimizer.step()
""",
    "two optimizers": """
optimizers = [torch.optim.SGD(layer.parameters(), 0.01) for layer in (net.first, net.inner, net.last)]
for _ in range(2):
    for one in optimizers:
        one.zero_grad()
    compute_loss(net).backward()
    for one in optimizers:
        one.step()
""",
}
COMPILER = {
    "compiled module": 'net = torch.compile(net, backend="aot_eager")' + STEP,
    "compiled in place": 'net.compile(backend="aot_eager")' + STEP,
    "compiled function": 'compute_loss = torch.compile(compute_loss, backend="aot_eager")' + STEP,
    "compiled step": """
@torch.compile(backend="aot_eager")
def step():
    return compute_loss(net)
for _ in range(2):
    optimizer.zero_grad()
    step().backward()
    optimizer.step()
""",
}
JOBS = {
    "DDP": "model = nn.parallel.DistributedDataParallel(net, find_unused_parameters=True)"
    + STEP.replace("compute_loss(net)", "compute_loss(model)"),
    "DDP, no_sync": """
model = nn.parallel.DistributedDataParallel(net)
optimizer.zero_grad()
with model.no_sync():
    compute_loss(model).backward()
compute_loss(model).backward()
optimizer.step()
""",
    "FSDP2": """
from torch.distributed.fsdp import fully_shard
fully_shard(net.inner)
fully_shard(net)
optimizer = torch.optim.Adam(net.parameters(), 0.01)
"""
    + STEP,
}


def explain_surrounding(name: str, steps: str, has_bug: bool, folder: Path) -> tuple[Any, list[int]]:
    """Run a program under the recorder, and return its page and the numbers of the marked lines."""
    program = NET + steps
    lines = program.splitlines()
    marked = [number for number, line in enumerate(lines, 1) if line.endswith("#!")]
    if not has_bug:
        program = "\n".join(re.sub(r"\S.*#!$", "pass", line) for line in lines)
    file = folder / f"{re.sub(r'[^a-z]', '_', name.lower())}_{has_bug}.py"
    file.write_text(program)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with bridge.record() as recording:
        exec(compile(program, str(file), "exec"), namespace)
    return recording.explain(namespace["net"]), marked


def check_surrounding(name: str, steps: str, folder: Path) -> None:
    """Check a surrounding without and with the planted cut."""
    page, _ = explain_surrounding(name, steps, False, folder)
    assert not page.problems and len(page) == 6, f"{name}, healthy: {page}"
    page, marked = explain_surrounding(name, steps, True, folder)
    lost = {path: answer for path, answer in page.items() if "last." not in path}
    assert lost and all(answer.line in marked for answer in lost.values()), f"{name}, with a cut: {page}"


@pytest.mark.parametrize("name", SURROUNDINGS)
def test_a_surrounding(name: str, tmp_path: Path) -> None:
    """These take milliseconds, in one process."""
    check_surrounding(name, SURROUNDINGS[name], tmp_path)


@pytest.mark.longest
@pytest.mark.filterwarnings("ignore:Using `torch.compile:UserWarning")
@pytest.mark.parametrize("name", COMPILER)
def test_a_compiled_surrounding(name: str, tmp_path: Path) -> None:
    check_surrounding(name, COMPILER[name], tmp_path)


@pytest.mark.longest
@pytest.mark.parametrize("name", JOBS)
def test_a_job_of_one_process(name: str, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=0, world_size=1)
    try:
        check_surrounding(name, JOBS[name], tmp_path)
    finally:
        torch.distributed.destroy_process_group()
