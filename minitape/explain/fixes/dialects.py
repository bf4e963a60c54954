"""How each framework writes what fixes need. No framework is imported for it: a program that is fixed has its own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

Derive = Callable[
    [Callable[[list], Any], list[np.ndarray], "np.ndarray | None"], tuple[np.ndarray, list["np.ndarray | None"]]
]


@dataclass(frozen=True)
class Dialect:
    """The functions of one framework."""

    name: str  # the same for TensorFlow and for a tape
    modules: dict[str, str]  # as programs mostly call a module -> the module
    places: tuple[str, ...]  # where functions of numbers are, as programs write it
    stop: str  # the function through which no gradient passes; empty: the method detach
    sigmoid: str
    softmax: str
    where: str
    sums: str
    largest: str  # the function of the largest element
    root: str
    variance: str
    floor: str  # keeps {x} above 0
    finite: str  # puts numbers in the place of what is not finite in {x}
    softplus: str
    leaky: dict[str, str]  # what to take for a relu
    others: dict[str, str] = field(default_factory=dict)  # functions that have another name than NumPy's
    derive: Derive | None = None  # computes a function of arrays, and its derivatives
    # what a function takes: name and type of each argument, in each of its forms
    forms: Callable[[str], list[list[tuple[str, str]]]] | None = None

    def function(self, name: str) -> str:
        """What does the same as NumPy's or math's function of this name; empty: nothing does.

        >>> TAPE.function("exp"), TAPE.function("mean"), TAPE.function("spacing")
        ('tf.exp', 'tf.reduce_mean', '')
        """
        if name in self.others:
            return self.others[name]
        for place in self.places:
            root, *parts = f"{place}.{name}".split(".")
            found: Any = sys.modules.get(self.modules[root])
            for part in parts:
                found = getattr(found, part, None)
            if callable(found) and not hasattr(found, "as_numpy_dtype"):
                return f"{place}.{name}"
        return ""


OF_NUMPY = {
    "array": "tf.convert_to_tensor",
    "asarray": "tf.convert_to_tensor",
    "concatenate": "tf.concat",
    "dot": "tf.tensordot",
    "amax": "tf.reduce_max",
    "amin": "tf.reduce_min",
    "absolute": "tf.abs",
    "power": "tf.pow",
    "clip": "tf.clip_by_value",
    "vstack": "tf.concat",
    "hstack": "tf.concat",
    "average": "tf.reduce_mean",
    "fabs": "tf.abs",
    "outer": "tf.einsum",
    "inner": "tf.tensordot",
    "std": "tf.math.reduce_std",
    "var": "tf.math.reduce_variance",
    **{name: f"tf.reduce_{name}" for name in ("mean", "sum", "max", "min", "prod", "any", "all")},
}

TORCH = Dialect(
    "torch",
    {"torch": "torch"},
    ("torch",),
    stop="",
    sigmoid="torch.sigmoid",
    softmax="torch.softmax",
    where="torch.where",
    sums="torch.sum",
    largest="torch.amax",
    root="torch.sqrt",
    variance="torch.var",
    floor="torch.clamp({x}, min=1e-06)",
    finite="torch.nan_to_num({x}{bounds})",
    softplus="torch.nn.functional.softplus",
    leaky={"relu": "torch.nn.functional.leaky_relu", "ReLU": "torch.nn.LeakyReLU"},
)
JAX = Dialect(
    "jax",
    {"jnp": "jax.numpy", "lax": "jax.lax", "jax": "jax"},
    ("jnp",),
    stop="lax.stop_gradient",
    sigmoid="jax.nn.sigmoid",
    softmax="jax.nn.softmax",
    where="jnp.where",
    sums="jnp.sum",
    largest="jnp.max",
    root="jnp.sqrt",
    variance="jnp.var",
    floor="jnp.maximum({x}, 1e-06)",
    finite="jnp.nan_to_num({x}{bounds})",
    softplus="jax.nn.softplus",
    leaky={"relu": "jax.nn.leaky_relu"},
)
TENSORFLOW = Dialect(
    "tf",
    {"tf": "tensorflow"},
    ("tf", "tf.math"),
    stop="tf.stop_gradient",
    sigmoid="tf.sigmoid",
    softmax="tf.nn.softmax",
    where="tf.where",
    sums="tf.reduce_sum",
    largest="tf.reduce_max",
    root="tf.sqrt",
    variance="tf.math.reduce_variance",
    floor="tf.maximum({x}, 1e-06)",
    finite="tf.where(tf.math.is_finite({x}), {x}, tf.zeros_like({x}))",
    softplus="tf.nn.softplus",
    leaky={"relu": "tf.nn.leaky_relu"},
    others=OF_NUMPY,
)


def derive_by_tape(tf: Any) -> Derive:
    """The same for TensorFlow and for a tape: a function of tensors, and what comes back from it."""

    def derive(
        function: Callable[[list], Any], arrays: list[np.ndarray], seed: np.ndarray | None
    ) -> tuple[np.ndarray, list[np.ndarray | None]]:
        tensors = [tf.constant(array) for array in arrays]
        leaves = [tensor for tensor in tensors if tensor.dtype.is_floating]
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(leaves)
            value = function(tensors)
        fits = seed is not None and seed.shape == tuple(value.shape) and bool(np.isfinite(seed).all())
        given = tape.gradient(value, leaves, output_gradients=tf.constant(seed, value.dtype) if fits else None)
        return np.asarray(value), [
            None if gradient is None else np.asarray(tf.convert_to_tensor(gradient)) for gradient in given
        ]

    return derive


TAPE = replace(TENSORFLOW, modules={"tf": "minitape"})
