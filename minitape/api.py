"""Which module holds which public name: ``tf.NAME`` is looked up here and its module loaded on first use.

``ROOT`` maps a module of minitape to the names that it gives to ``tf``; ``NAMESPACES`` lists the modules that are
themselves names of ``tf`` (``tf.math``, ``tf.nn``, ...).
"""

from __future__ import annotations

import difflib
import importlib
from typing import Any

ROOT: dict[str, str] = {
    "tensor": "Tensor",
    "convert": "constant convert_to_tensor",
    "variable": "Variable",
    "tape": "GradientTape UnconnectedGradients",
    "slices": "IndexedSlices",
    "module": "Module",
    "shape": "TensorShape",
    "dtypes": "DType as_dtype float16 half bfloat16 float32 float64 double int8 int16 int32 int64 uint8 uint16 uint32 "
              "uint64 bool complex64 complex128 string",
    "math": "abs acos acosh add asin asinh atan atan2 atanh ceil cos cosh divide equal exp expm1 floor floordiv greater "
            "greater_equal less less_equal log log1p logical_and logical_not logical_or maximum minimum multiply "
            "negative not_equal pow reciprocal round rsqrt sigmoid sign sin sinh sqrt square squared_difference subtract "
            "tan tanh truediv reduce_sum reduce_mean reduce_max reduce_min matmul",
    "arrays": "identity stop_gradient cast reshape transpose concat stack unstack gather zeros ones zeros_like ones_like",
    "custom": "custom_gradient recompute_grad grad_pass_through py_function numpy_function RegisterGradient no_gradient",
    "draw": "draw",
    "snapshot": "snapshot",
}  # fmt: skip

NAMESPACES = "autodiff math dtypes errors nest".split()

# names of TensorFlow that minitape leaves out on purpose, and why
OUT_OF_SCOPE: dict[str, str] = {}

_HOME = {name: module for module, names in ROOT.items() for name in names.split()}


def find(name: str) -> Any:
    """The object behind ``tf.NAME``; AttributeError with the nearest name, or the reason why there is none."""
    if name in _HOME:
        module = importlib.import_module(f"minitape.{_HOME[name]}")
        return getattr(module, name)
    if name in NAMESPACES:
        return importlib.import_module(f"minitape.{name}")
    raise AttributeError(missing("tf", name, [*_HOME, *NAMESPACES]))


def missing(namespace: str, name: str, names: Any) -> str:
    """The message for a name that is not there."""
    reason = OUT_OF_SCOPE.get(f"{namespace}.{name}".removeprefix("tf."))
    if reason is None:
        near = difflib.get_close_matches(name, list(names), 1, 0.6)
        reason = f"did you mean '{namespace}.{near[0]}'?" if near else "it is not part of minitape"
    return f"minitape has no '{namespace}.{name}' ({reason})"


def names() -> list[str]:
    """Every public name of ``tf``."""
    return sorted({*_HOME, *NAMESPACES})
