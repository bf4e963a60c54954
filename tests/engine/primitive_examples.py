"""Inputs and attributes for each primitive that is not in the textbook table.

``EXAMPLES[name](rng)`` returns the inputs, the attributes and, for some primitives, options for `check_grads`.
"""

import importlib
import pkgutil

import numpy as np

from minitape.engine.table import primitives
from minitape.engine.values import dtypes

for module in pkgutil.walk_packages(
    primitives.__path__, primitives.__name__ + "."
):  # Importing the modules completes the table.
    importlib.import_module(module.name)


def make_normal(*shapes, **attrs):
    """Return an example with normally distributed inputs of these shapes, and with attributes."""
    return lambda rng: (tuple(rng.normal(size=shape) for shape in shapes), attrs)


def make_positive(*shapes, **options):
    """Return an example with inputs from 0.2 to 0.8, for which quotients and two derivatives are defined."""
    return lambda rng: (tuple(0.2 + 0.6 * rng.random(shape) for shape in shapes), {}, options)


def make_with_indices(size, indices, /, **attrs):
    """Return an example with a normally distributed array of shape `size`, with indices and with attributes."""
    return lambda rng: ((rng.normal(size=size), np.array(indices)), attrs)


def make_distinct(rng, shape):
    """Return an array of well-separated numbers in random order."""
    return 3.0 * rng.permutation(int(np.prod(shape))).reshape(shape)


def make_invertible(rng, *batch):
    """Return invertible matrices of shape (*batch, 3, 3)."""
    return rng.normal(size=(*batch, 3, 3)) + 3 * np.eye(3)


def make_scattered(rng):
    """Return an example with two updates at different indices."""
    return (rng.normal(size=4), rng.permutation(4)[:2].reshape(2, 1), rng.normal(size=2)), {}


EXAMPLES = {
    "cast": lambda rng: ((rng.random((2, 3)),), {"dtype": dtypes.float64}),
    "select": lambda rng: ((rng.random((2, 3)) > 0.5, rng.random((2, 3)), rng.random(3)), {}),
    "softmax": make_normal((2, 3), axis=-1),
    "log_softmax": make_normal((2, 3), axis=-1),
    "held": lambda rng: ((rng.normal(size=3),), {}, {"order": 0, "modes": ()}),
    "softmax_cross_entropy": lambda rng: ((rng.normal(size=(2, 3)), rng.dirichlet(np.ones(3), 2)), {}, {"order": 1}),
    "sparse_softmax_cross_entropy": make_with_indices((2, 3), [2, 0]),
    "leaky_relu": make_normal(5, alpha=0.2),
    "leaky_gate": make_normal(5, 5, alpha=0.2),
    "div_no_nan": make_positive((2, 3), 3),
    # Shapes
    "reshape": make_normal((2, 3), shape=(3, 2)),
    "transpose": make_normal((2, 3, 1), perm=(1, 2, 0)),
    "slice": make_normal((3, 4), spec=(slice(None, None, -2), None, 1)),
    "unslice": make_normal((2,), shape=(4,), spec=(slice(1, 3),)),
    "concat": make_normal((2, 3), (2, 1), axis=1),
    "stack": make_normal((2, 3), (2, 3), axis=1),
    "unstack": make_normal((2, 3), axis=1),
    "split": make_normal((2, 3), sizes=(1, 2), axis=1),
    "tile": make_normal((2, 3), multiples=(2, 3)),
    "repeat": make_normal((2, 3), repeats=(1, 0, 2), axis=1),
    "pad": make_normal((2, 3), paddings=((1, 0), (2, 1))),
    "broadcast_to": make_normal((2, 1), shape=(3, 2, 4)),
    # Reductions
    **{f"reduce_{name}": make_normal((2, 3), axis=(1,), keepdims=False) for name in ("sum", "mean", "max", "min")},
    "add_n": make_normal(3, 3),
    "top_k": lambda rng: ((2 * make_distinct(rng, (2, 3)),), {"k": 2}),
    # Elements by index
    "gather": make_with_indices((3, 2), [2, 0, 2], axis=0),
    "scatter_axis": make_with_indices((2, 2), [2, 2], axis=1, shape=(2, 3)),
    "scatter_slices": make_with_indices((3, 2), [1, 1, 0], shape=(4, 2)),
    "gather_nd": make_with_indices((2, 3), [[0, 1], [1, 2], [0, 1]]),
    "scatter_nd": lambda rng: ((np.array([[0, 1], [1, 2], [0, 1]]), rng.normal(size=3)), {"shape": (2, 3)}),
    "tensor_scatter_update": make_scattered,
    # Matrices
    "matmul": make_normal((2, 3), (3, 2)),
    "diag_part": make_normal((2, 3, 4)),
    "diag": make_normal((2, 3), rows=3, columns=4),
    **{name: lambda rng: ((make_invertible(rng, 2),), {}) for name in ("det", "inv")},
    "solve": lambda rng: ((make_invertible(rng), rng.normal(size=(3, 2))), {}),
}
