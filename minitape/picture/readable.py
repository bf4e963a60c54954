"""Formulas and rules of the table of primitives as a book writes them: `x²`, `√x`, `g / (2 × √x)`."""

from __future__ import annotations

import re
from collections.abc import Mapping

# what an operation that guards against 0 or infinity means; of complex numbers the picture itself says the conjugate
BOOK = """
g * (-x / y / y) | −g × x / y²
pow(x, y) | x^y
g * y * pow(x, y - 1) | g × y × x^(y − 1)
g * z * select(x > 0, log(select(x > 0, x, 1)), 0) | g × z × (log(x) if x > 0, else 0)
floordiv(x, y) | floor(x / y)
-g * floordiv(x, y) | −g × floor(x / y)
select(x >= y, g, 0) | g if x ≥ y, else 0
select(x >= y, 0, g) | g if x < y, else 0
select(x <= y, g, 0) | g if x ≤ y, else 0
select(x <= y, 0, g) | g if x > y, else 0
(x - y) * (x - y) | (x − y)²
mul_no_nan(x, y) | x × y
mul_no_nan(g, y) | g × y
mul_no_nan(x, g) | x × g
mul_no_nan(-z * z, g) | −z² × g
g * (2 * x) | g × 2 × x
sqrt(x) | √x
sqrt_share(z, g) | g / (2 × z)
sqrt_share(x, y) | y / (2 × x)
-g / x * z | −g × z / x
1 / sqrt(x) | 1 / √x
mul_no_nan(-0.5 * z * z * z, g) | −0.5 × z³ × g
g * (1 / x) | g / x
g * (1 / (1 + x)) | g / (1 + x)
g * (1 / sqrt(1 - x * x)) | g / √(1 − x²)
-g * (1 / sqrt(1 - x * x)) | −g / √(1 − x²)
g * (1 / (1 + x * x)) | g / (1 + x²)
g * (1 / (1 - x * x)) | g / (1 − x²)
maximum(x, 0) + log1p(exp(-abs(x))) | maximum(x, 0) + log1p(exp(−|x|))
relu_gate(x, y) | x if y > 0, else 0
relu_gate(g, y) | g if y > 0, else 0
zero(y) | 0
relu_gate(g, z) | g if z > 0, else 0
abs(x) | |x|
zero(x) | 0
rint(x) | round(x)
div_no_nan(x, y) | x / y
div_no_nan(g, y) | g / y
-g * div_no_nan(div_no_nan(x, y), y) | −g × x / y / y
"""
WRITTEN = dict(line.split(" | ") for line in BOOK.strip().splitlines())
WHOLE = {  # of operations on whole arrays
    "reduce_sum": ["sum(x)", "g"],
    "reduce_mean": ["mean(x)", "g / size(x)"],
    "bias_add": ["x + y", "g", "g"],
    "reshape": ["reshape(x)", "reshape(g)"],
    "transpose": ["xᵀ", "gᵀ"],
    "softmax": ["softmax(x)", "z × (g − Σ g × z)"],
    "log_softmax": ["log_softmax(x)", "g − exp(z) × Σ g"],
    "reduce_max": ["max(x)", "g × (x = z) / count(x = z)"],
    "reduce_min": ["min(x)", "g × (x = z) / count(x = z)"],
}


def of_arrays(name: str, attrs: Mapping[str, object], rank: int) -> list[str]:
    """Formula and rules of an operation on whole arrays whose result has that many axes; [] where no line says them.

    >>> of_arrays("matmul", {"transpose_b": True}, 2)
    ['x @ yᵀ', 'g @ y', 'gᵀ @ x']
    """
    if name == "matmul":
        left, right = attrs.get("transpose_a"), attrs.get("transpose_b")
        x, y = "xᵀ" if left else "x", "yᵀ" if right else "y"
        back = f"{y} @ gᵀ" if left else f"g @ {'y' if right else 'yᵀ'}"
        return [f"{x} @ {y}", back, f"gᵀ @ {x}" if right else f"{'x' if left else 'xᵀ'} @ g"]
    axes = attrs.get("perm", (1, 0)) != (1, 0) or (name == "bias_add" and attrs.get("axis", -1) != -1)
    return [] if axes or (name.startswith("reduce_") and rank) else WHOLE.get(name, [])  # it depends on the axes


def readable(text: str) -> str:
    """A formula or rule of a primitive for readers.

    >>> [readable(text) for text in ("x * x", "g * (1 - z * z)", "sqrt_share(z, g)", "relu_gate(g, z)", "-x")]
    ['x²', 'g × (1 − z²)', 'g / (2 × z)', 'g if z > 0, else 0', '−x']
    """
    return WRITTEN.get(text) or re.sub(r"\b(\w) \* \1\b", r"\1²", text).replace("*", "×").replace("-", "−")
