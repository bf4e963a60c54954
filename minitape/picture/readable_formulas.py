"""Format formulas and rules from the table of primitives in textbook notation: `x²`, `√x`, `g / (2 × √x)`."""

import re
from collections.abc import Mapping

from ..engine.types import TextList

# Some operations in the table guard against 0 or infinity, and the text on the right states what they compute. It also
# omits the conjugates of complex rules, which the picture adds.
BOOK_FORMULAS = """
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
READABLE_FORMULAS = dict(line.split(" | ") for line in BOOK_FORMULAS.strip().splitlines())
ARRAY_FORMULAS = """
reduce_sum | sum(x) | g
reduce_mean | mean(x) | g / size(x)
bias_add | x + y | g | g
reshape | reshape(x) | reshape(g)
transpose | xᵀ | gᵀ
softmax | softmax(x) | z × (g − Σ g × z)
log_softmax | log_softmax(x) | g − exp(z) × Σ g
reduce_max | max(x) | g × (x = z) / count(x = z)
reduce_min | min(x) | g × (x = z) / count(x = z)
"""
FORMULAS_BY_ARRAY_OPERATION = {
    name: formulas for name, *formulas in (line.split(" | ") for line in ARRAY_FORMULAS.strip().splitlines())
}


def list_array_operation_formulas(name: str, attrs: Mapping[str, object], result_rank: int) -> TextList:
    """Return the formula and rules of an operation on whole arrays, such as `x @ y`.

    Args:
        name: The primitive's name.
        attrs: The arguments of the call, such as ``transpose_b``.
        result_rank: The number of axes of the result.

    Returns:
        The formula and the rule of each input, or an empty list if the operation has no formula or the formula would
        depend on the axes.

    >>> list_array_operation_formulas("matmul", {"transpose_b": True}, 2)
    ['x @ yᵀ', 'g @ y', 'gᵀ @ x']
    """
    if name == "matmul":
        transposes_left = attrs.get("transpose_a")
        transposes_right = attrs.get("transpose_b")
        x = "xᵀ" if transposes_left else "x"
        y = "yᵀ" if transposes_right else "y"
        opposite_x = "x" if transposes_left else "xᵀ"
        opposite_y = "y" if transposes_right else "yᵀ"
        left_share = f"{y} @ gᵀ" if transposes_left else f"g @ {opposite_y}"
        right_share = f"gᵀ @ {x}" if transposes_right else f"{opposite_x} @ g"
        return [f"{x} @ {y}", left_share, right_share]
    has_other_axes = attrs.get("perm", (1, 0)) != (1, 0)
    reduces_some_axes = name.startswith("reduce_") and result_rank
    if has_other_axes or reduces_some_axes:
        return []
    return FORMULAS_BY_ARRAY_OPERATION.get(name, [])


def format_index(index: object) -> str:
    """Return the label of an operation that selects elements, with the index as the program writes it.

    Args:
        index: What is in the brackets. A part that is neither an integer, a slice nor None, such as a mask, is "…".

    >>> format_index((0, slice(1, None))), format_index((..., slice(None, None, 2), None)), format_index([2, 3])
    ('[0, 1:]', '[…, ::2, None]', '[…]')
    """
    parts = index if isinstance(index, tuple) else (index,)
    return f"[{', '.join(map(_format_index_part, parts))}]"


def _format_index_part(part: object) -> str:
    if isinstance(part, slice):
        bounds = map(_format_index_part, (part.start, part.stop, part.step))
        return ":".join(bounds).replace("None", "").removesuffix(":")
    return str(part) if isinstance(part, int | None) else "…"


def format_readable_formula(text: str) -> str:
    """Return a formula or rule from the table as readable text.

    Args:
        text: The formula or rule as written in the table.

    >>> texts = "x * x", "g * (1 - z * z)", "sqrt_share(z, g)", "relu_gate(g, z)", "-x"
    >>> [format_readable_formula(text) for text in texts]
    ['x²', 'g × (1 − z²)', 'g / (2 × z)', 'g if z > 0, else 0', '−x']
    """
    return READABLE_FORMULAS.get(text) or re.sub(r"\b(\w) \* \1\b", r"\1²", text).replace("*", "×").replace("-", "−")
