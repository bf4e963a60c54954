"""How each framework writes what fixes need. No framework is imported for it: a program that is fixed has its own."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Dialect:
    """The functions of one framework."""

    name: str  # the same for TensorFlow and for a tape
    modules: dict[str, str]  # as programs mostly call a module -> the module
    places: tuple[str, ...]  # where functions of numbers are, as programs write it
    stop: str  # the function through which no gradient passes; empty: the method detach
    sigmoid: str
    softmax: str
    squeezed: str = "{x}.squeeze(-1)"  # a column as a row
    others: dict[str, str] = field(default_factory=dict)  # functions that have another name than NumPy's

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


_OF_NUMPY = {
    "array": "tf.convert_to_tensor",
    "asarray": "tf.convert_to_tensor",
    "concatenate": "tf.concat",
    "dot": "tf.tensordot",
    "absolute": "tf.abs",
    "fabs": "tf.abs",
    "power": "tf.pow",
    "clip": "tf.clip_by_value",
    "std": "tf.math.reduce_std",
    "var": "tf.math.reduce_variance",
    **{name: f"tf.reduce_{name}" for name in ("mean", "sum", "max", "min")},
}

TORCH = Dialect(
    "torch",
    {"torch": "torch"},
    ("torch",),
    stop="",
    sigmoid="torch.sigmoid",
    softmax="torch.softmax",
)
JAX = Dialect(
    "jax",
    {"jnp": "jax.numpy", "lax": "jax.lax", "jax": "jax"},
    ("jnp",),
    stop="lax.stop_gradient",
    sigmoid="jax.nn.sigmoid",
    softmax="jax.nn.softmax",
)
TENSORFLOW = Dialect(
    "tf",
    {"tf": "tensorflow"},
    ("tf", "tf.math"),
    stop="tf.stop_gradient",
    sigmoid="tf.sigmoid",
    softmax="tf.nn.softmax",
    squeezed="tf.squeeze({x}, -1)",
    others=_OF_NUMPY,
)
TAPE = replace(TENSORFLOW, modules={"tf": "minitape"})
