"""Describe how the functions that fixes use are written in each framework.

No framework is imported here, because a program that needs a fix has already imported its framework.
"""

import sys
from dataclasses import dataclass, field, replace
from typing import Any

from ...engine.types import Names, TextsByName


@dataclass(frozen=True)
class Dialect:
    """The functions of one framework, as programs write them.

    Attributes:
        name: The name of the framework; "tf" for both TensorFlow and minitape.
        modules: The full names of the framework's modules, keyed by their usual names in programs.
        namespaces: The modules that contain the framework's numeric functions.
        stop_gradient: The function that blocks gradients, or "" if programs use the method ``detach``.
        sigmoid: The sigmoid function.
        softmax: The softmax function.
        squeeze_template: A template that turns the column ``{x}`` into a row.
        renamed_functions: The functions whose names differ from NumPy's, keyed by their NumPy names.
    """

    name: str
    modules: TextsByName
    namespaces: Names
    stop_gradient: str
    sigmoid: str
    softmax: str
    squeeze_template: str = "{x}.squeeze(-1)"
    renamed_functions: TextsByName = field(default_factory=dict)

    def find_equivalent_function(self, numpy_name: str) -> str:
        """Return the framework's equivalent of a NumPy or ``math`` function, or "" if none exists.

        Args:
            numpy_name: The name of NumPy's function, without the module.

        >>> [TAPE.find_equivalent_function(name) for name in ("exp", "mean", "spacing")]
        ['tf.exp', 'tf.reduce_mean', '']
        """
        if numpy_name in self.renamed_functions:
            return self.renamed_functions[numpy_name]
        for namespace in self.namespaces:
            root, *parts = f"{namespace}.{numpy_name}".split(".")
            obj: Any = sys.modules.get(self.modules[root])
            for part in parts:
                obj = getattr(obj, part, None)
            if callable(obj) and not hasattr(obj, "as_numpy_dtype"):
                return f"{namespace}.{numpy_name}"
        return ""


_TENSORFLOW_NAMES = {
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
    stop_gradient="",
    sigmoid="torch.sigmoid",
    softmax="torch.softmax",
)
JAX = Dialect(
    "jax",
    {"jnp": "jax.numpy", "lax": "jax.lax", "jax": "jax"},
    ("jnp",),
    stop_gradient="lax.stop_gradient",
    sigmoid="jax.nn.sigmoid",
    softmax="jax.nn.softmax",
)
TENSORFLOW = Dialect(
    "tf",
    {"tf": "tensorflow"},
    ("tf", "tf.math"),
    stop_gradient="tf.stop_gradient",
    sigmoid="tf.sigmoid",
    softmax="tf.nn.softmax",
    squeeze_template="tf.squeeze({x}, -1)",
    renamed_functions=_TENSORFLOW_NAMES,
)
TAPE = replace(TENSORFLOW, modules={"tf": "minitape"})
