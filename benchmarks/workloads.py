"""The workloads that minitape and its peers run: what is computed, how big, and against whom it is measured.

Each peer (``benchmarks/peers/NAME.py``) has a function of the workload's name that takes its inputs and returns a
callable. The callable does all of the work, recording and gradient, and returns the numbers that all peers must agree
on.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Workload:
    """One line of the table: ``goal`` is minitape's time as a part of the ``rival``'s, ``limit`` a goal in seconds.

    The ``floor`` beside it is a plain tape (``benchmarks/peers/floor.py``).
    """

    name: str
    label: str
    function: str
    size: int
    rival: str
    goal: float
    small: int = 0  # the size in a quick run, 0 for the same
    tolerance: float = 1e-3
    limit: float = 0.0


WORKLOADS = [
    Workload("scalar_1", "1 scalar operation", "scalar_ops", 1, "torch", 0.8),
    Workload("scalar_5", "5 scalar operations", "scalar_ops", 5, "torch", 1.0),
    Workload("chain_1k", "scalar chain, 1,000 operations", "chain", 1_000, "micrograd", 0.4),
    Workload("chain_10k", "scalar chain, 10,000 operations", "chain", 10_000, "micrograd", 0.15),
    Workload("chain_100k", "scalar chain, 100,000 operations", "chain", 100_000, "micrograd", 0.15, 20_000),
    Workload("micro_mlp", "micrograd's MLP, 20 samples, scalar by scalar", "micro_mlp", 20, "torch", 0.1, 2),
    Workload("rosenbrock_10", "Rosenbrock, vector of 10", "rosenbrock", 10, "torch", 1 / 1.5),
    Workload("rosenbrock_1k", "Rosenbrock, vector of 1,000", "rosenbrock", 1_000, "torch", 1 / 1.5),
    Workload("rosenbrock_1m", "Rosenbrock, vector of 1,000,000", "rosenbrock", 1_000_000, "torch", 1.0, 10_000),
    Workload("mlp_64", "MLP 784-256-128-10, batch 64", "mlp", 64, "torch", 1.0),
    Workload("mlp_64_hand", "  the same against hand-written NumPy", "mlp", 64, "numpy", 1.3),
    Workload("mlp_256", "MLP 784-256-128-10, batch 256", "mlp", 256, "torch", 1.0, 64),
    Workload("elementwise", "20 elementwise operations over 1,000,000", "elementwise", 1_000_000, "numpy", 1.0, 10_000),
    Workload("logistic", "logistic regression, 100 steps", "logistic", 100, "torch", 1 / 1.5, 5),
    Workload("training_step", "a step of Keras: three Dense of 16, Adam, batch 64", "training_step", 64, "torch", 2.0),
    Workload("hvp", "Hessian-vector product, small MLP", "hvp", 32, "torch", 1.0),
    Workload("derivative_2", "2nd derivative of a scalar", "derivative", 2, "torch", 0.5),
    Workload("derivative_3", "3rd derivative of a scalar", "derivative", 3, "torch", 0.5),
    Workload("derivative_4", "4th derivative of a scalar", "derivative", 4, "torch", 0.5),
    Workload("jacobian", "Jacobian, 50 x 50", "jacobian", 50, "torch", 1.0),
    Workload("persistent", "one tape, 50 outputs in turn", "persistent", 50, "torch", 0.5),
    Workload("persistent_10", "one tape, 50 outputs in turn, arrays of 10", "persistent_arrays", 50, "torch", 0.9),
    Workload(
        "compiled_chain", "compiled: scalar chain, 1,000 operations", "compiled_chain", 1_000, "jax", 1.0, limit=20e-6
    ),
    Workload("compiled_mlp", "compiled: MLP 784-256-128-10, batch 64", "compiled_mlp", 64, "jax", 1.0),
    Workload("compiled_logistic", "compiled: logistic regression, 100 steps", "compiled_logistic", 100, "jax", 1.1, 5),
    Workload(
        "compiled_rosenbrock",
        "compiled: Rosenbrock, vector of 1,000",
        "compiled_rosenbrock",
        1_000,
        "jax",
        1.0,
        limit=5e-6,
    ),
    Workload(
        "compiled_elementwise",
        "compiled: 20 elementwise operations over 1,000,000",
        "compiled_elementwise",
        1_000_000,
        "tensorflow",
        1.0,
        10_000,
    ),
]


def create_rng() -> np.random.Generator:
    """The same numbers for everybody."""
    return np.random.default_rng(7)


def build_mlp_inputs(batch: int, sizes: tuple[int, ...] = (784, 256, 128, 10)) -> dict[str, Any]:
    """float32 weights, biases, inputs and targets of a network."""
    generator = create_rng()
    return {
        "weights": [(generator.standard_normal((a, b)) * 0.05).astype(np.float32) for a, b in pairwise(sizes)],
        "biases": [np.zeros(b, np.float32) for b in sizes[1:]],
        "x": generator.standard_normal((batch, sizes[0])).astype(np.float32),
        "y": np.eye(sizes[-1], dtype=np.float32)[generator.integers(0, sizes[-1], batch)],
    }


def build_vector(n: int) -> np.ndarray:
    """A float32 vector."""
    return create_rng().standard_normal(n).astype(np.float32)


def build_logistic_inputs() -> tuple[np.ndarray, np.ndarray]:
    """200 examples of 20 features, and 0/1 labels, in float32."""
    generator = create_rng()
    return generator.standard_normal((200, 20)).astype(np.float32), (generator.random((200, 1)) > 0.5).astype(
        np.float32
    )


def build_training_inputs(batch: int) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Kernels of a 2-16-16-1 network, its input, and 0/1 labels, in float32."""
    generator = create_rng()
    kernels = [(generator.standard_normal(shape) * 0.5).astype(np.float32) for shape in ((2, 16), (16, 16), (16, 1))]
    return (
        kernels,
        generator.standard_normal((batch, 2)).astype(np.float32),
        (generator.random((batch, 1)) > 0.5).astype(np.float32),
    )


def build_hvp_inputs(batch: int) -> tuple[np.ndarray, ...]:
    """Input, two weights, and a direction for each weight, in float32."""
    generator = create_rng()
    shapes = ((batch, 10), (10, 20), (20, 1), (10, 20), (20, 1))
    return tuple(generator.standard_normal(shape).astype(np.float32) for shape in shapes)


def build_micro_mlp_inputs(samples: int) -> tuple[Any, Any, Any]:
    """Layers of (weights, bias) of a 2-16-16-1 network as Python floats, the samples, and their labels."""
    generator = create_rng()
    layers = [
        [(generator.uniform(-1, 1, a).tolist(), float(generator.uniform(-1, 1))) for _ in range(b)]
        for a, b in ((2, 16), (16, 16), (16, 1))
    ]
    return layers, generator.uniform(-1, 1, (samples, 2)).tolist(), generator.choice([-1.0, 1.0], samples).tolist()
