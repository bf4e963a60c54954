"""Measure what a recording of a bridge costs: a training step, plain and recorded, in turns.

    python -m benchmarks.bridges torch                    (or tensorflow, jax)
    python -m benchmarks.bridges torch Transformer        networks with this in their name
    python -m benchmarks.bridges page                     a PyTorch model of 6,002 parameters: its answer and page

JAX's bridge runs without the compiler; the plain step is ``jax.value_and_grad`` without it, and with it.
"""

from __future__ import annotations

import importlib
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

TURNS = 15


def iter_torch_steps() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield name and training step of some networks in PyTorch."""
    import torch
    from torch import nn

    torch.set_num_threads(1)
    torch.manual_seed(0)

    def build_step(net: Any, x: Any) -> Callable[[], Any]:
        labels, optimizer = torch.randint(0, 10, (len(x),)), torch.optim.Adam(net.parameters())

        def step() -> None:
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), labels).backward()
            optimizer.step()

        return step

    for batch in (32, 64, 256):
        network = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))
        yield f"MLP 784-256-128-10, batch {batch}", build_step(network, torch.randn(batch, 784))
    network = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(64 * 64, 10),
    )
    yield "CNN, batch 32", build_step(network, torch.randn(32, 3, 32, 32))
    network = nn.Sequential(
        nn.TransformerEncoderLayer(64, 4, 256, batch_first=True), nn.Flatten(), nn.Linear(32 * 64, 10)
    )
    yield "Transformer layer, batch 32", build_step(network, torch.randn(32, 32, 64))
    layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(128, 4, 512, batch_first=True), 2)
    network = nn.Sequential(nn.Embedding(100, 128), layers, nn.Flatten(), nn.Linear(32 * 128, 10))
    training_step = build_step(network, torch.randint(0, 100, (8, 32)))
    for count in (1, 10):
        yield f"two Transformer layers, {count} in a block", repeat_step(training_step, count)


def iter_tensorflow_steps() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield name and training step of some networks in TensorFlow, in eager mode."""
    import keras
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    layers, compute_loss = keras.layers, keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def build_step(net: Any, x: Any) -> Callable[[], Any]:
        labels, optimizer = tf.range(len(x)) % 10, keras.optimizers.Adam()

        def step() -> None:
            with tf.GradientTape() as tape:
                loss = compute_loss(labels, net(x))
            gradients = tape.gradient(loss, net.trainable_variables)
            optimizer.apply_gradients(zip(gradients, net.trainable_variables, strict=True))

        return step

    for batch in (32, 64, 256):
        network = keras.Sequential(
            [layers.Dense(256, activation="relu"), layers.Dense(128, activation="relu"), layers.Dense(10)]
        )
        yield f"MLP 784-256-128-10, batch {batch}", build_step(network, tf.random.normal([batch, 784]))
    network = keras.Sequential(
        [layers.Conv2D(32, 3), layers.ReLU(), layers.MaxPool2D(), layers.Flatten(), layers.Dense(10)]
    )
    yield "CNN, batch 32", build_step(network, tf.random.normal([32, 32, 32, 3]))
    w, x = tf.Variable(tf.random.normal([256, 256])), tf.random.normal([64, 256])

    def train_by_hand() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.tanh(tf.tanh(x @ w) @ w) - x) ** 2)
        w.assign_sub(0.01 * tape.gradient(loss, w))

    yield "two layers without Keras, batch 64", train_by_hand
    network = keras.Sequential(
        [layers.Dense(64, activation="relu"), layers.Dense(64, activation="relu"), layers.Dense(10)]
    )
    yield "a compiled step, MLP 64-64-10, batch 64", tf.function(build_step(network, tf.random.normal([64, 32])))


def repeat_step(step: Callable[[], Any], count: int) -> Callable[[], Any]:
    """Return a function that takes so many steps."""

    def run_steps() -> None:
        for _ in range(count):
            step()

    return run_steps


def iter_jax_report_lines() -> Iterator[str]:
    """Measure networks in JAX, and yield a line for each.

    JAX has no block to record: a function is run by the bridge, by ``jax.grad`` without the compiler, and compiled.
    """
    import jax
    import jax.numpy as jnp

    from minitape.bridges import jax as bridge

    def compute_loss(params: Any, x: Any, labels: Any) -> Any:
        for w, b in params[:-1]:
            x = jax.nn.relu(x @ w + b)
        w, b = params[-1]
        return -jnp.mean(jax.nn.log_softmax(x @ w + b)[jnp.arange(len(labels)), labels])

    sizes = (784, 256, 128, 10)
    keys = jax.random.split(jax.random.PRNGKey(0), len(sizes))
    params = [
        (jax.random.normal(key, (m, n)) / m**0.5, jnp.zeros(n))
        for key, m, n in zip(keys, sizes, sizes[1:], strict=False)
    ]
    for batch in (32, 64, 256):
        args = params, jax.random.normal(keys[-1], (batch, 784)), jnp.arange(batch) % 10
        compiled = jax.jit(jax.value_and_grad(compute_loss))

        def run_plain(args: Any = args) -> None:
            with jax.disable_jit():
                jax.block_until_ready(jax.value_and_grad(compute_loss)(*args))

        first_time = measure_seconds(lambda args=args: bridge.record(compute_loss, *args), nullcontext)
        run_plain()
        jax.block_until_ready(compiled(*args))
        times = [
            [
                measure_seconds(step, nullcontext)
                for step in (
                    run_plain,
                    lambda args=args: bridge.record(compute_loss, *args),
                    lambda args=args, compiled=compiled: jax.block_until_ready(compiled(*args)),
                )
            ]
            for _ in range(TURNS)
        ]
        eager_time, recorded_time, compiled_time = (min(column) * 1e3 for column in zip(*times, strict=True))
        yield (
            f"MLP 784-256-128-10, batch {batch:4}: without the compiler {eager_time:7.1f} ms, "
            f"recorded {recorded_time:7.1f} ms, ratio {recorded_time / eager_time:.2f}; "
            f"compiled {compiled_time:.2f} ms; first recording {first_time * 1e3:.0f} ms"
        )


def measure_page_of_large_model() -> str:
    """Return a line about the answer and the page of a PyTorch model with thousands of parameter tensors."""
    import torch
    from torch import nn

    from minitape.bridges import torch as bridge
    from minitape_widgets.saved_page import build_html_page

    class Residual(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.linear = nn.LayerNorm(8), nn.Linear(8, 8)

        def forward(self, x: Any) -> Any:
            return x + self.linear(torch.relu(self.norm(x)))

    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(*(Residual() for _ in range(1500)), nn.Linear(8, 4))
    for parameter in model.parameters():
        if parameter.ndim == 2:
            parameter.data *= 0.01
    x, labels = torch.randn(16, 8), torch.randint(0, 4, (16,))
    optimizer = torch.optim.SGD(model.parameters(), 0.001)
    with bridge.record() as recording:
        nn.functional.cross_entropy(model(x), labels).backward()
        optimizer.step()
    pages: list[str] = []
    answer_time = measure_seconds(lambda: recording.explain(model), nullcontext)
    page_time = measure_seconds(lambda: pages.append(build_html_page(recording.snapshot())), nullcontext)
    return (
        f"{len(recording):,} rows, {len([*model.parameters()]):,} parameters: answer {answer_time:.2f} s, "
        f"page {page_time:.2f} s, {len(pages[0]) / 1e6:.2f} MB"
    )


def measure_seconds(step: Callable[[], Any], open_context: Callable[[], AbstractContextManager[Any]]) -> float:
    """Measure how long a step takes in a context, in the time of the processor: other programs may run."""
    start = time.process_time()
    with open_context():
        step()
    return time.process_time() - start


def main() -> None:
    """Print a line for each network of the framework that is named."""
    name, network_part = [*sys.argv[1:], *("torch", "")[len(sys.argv) - 1 :]][:2]
    if name == "jax":
        for line in iter_jax_report_lines():
            print(line)
        return
    if name == "page":
        print(measure_page_of_large_model())
        return
    bridge = importlib.import_module(f"minitape.bridges.{name}")
    for network, step in {"torch": iter_torch_steps, "tensorflow": iter_tensorflow_steps}[name]():
        if network_part not in network:
            continue
        step()
        times = [(measure_seconds(step, nullcontext), measure_seconds(step, bridge.record)) for _ in range(TURNS)]
        plain, recorded = (min(column) for column in zip(*times, strict=True))
        print(
            f"{network:40} {plain * 1e3:7.2f} ms, recorded {recorded * 1e3:7.2f} ms, ratio {recorded / plain:.2f}; "
            f"every=100: {measure_relative_block_cost(step, bridge):.3f}"
        )


def measure_relative_block_cost(step: Callable[[], Any], bridge: Any) -> float:
    """Return what 100 steps cost in the block that stays in a training loop, as a multiple of plain steps.

    Plain steps are run before and after it, and the median of some turns counts, in the time of the processor.
    """

    def run_steps(around: Callable[[], AbstractContextManager[Any]]) -> float:
        start = time.process_time()
        with around():
            for _ in range(100):
                step()
        return time.process_time() - start

    block = lambda: bridge.record(every=100)  # noqa: E731
    times = [(run_steps(nullcontext), run_steps(block), run_steps(nullcontext)) for _ in range(TURNS)]
    return statistics.median(2 * recorded / (before + after) for before, recorded, after in times)


if __name__ == "__main__":
    main()
