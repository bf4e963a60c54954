"""A sentence about the operation to blame: what to write instead, or what to look at.

One table for every framework. The words of a cause (``*_texts``) count where no row of it fits.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..reasons.text import last_name, parsed, unparse
from ..sentences import fill
from .leaving import FLAT, part_inside
from .numbers import is_integer, least, rounded, through
from .site import Spot, is_call, is_index, operand, spelled

_FIELDS: dict[str, Callable[[Spot, Any], str | None]] = {  # what a sentence may name; None: it does not fit
    "it": lambda spot, node: unparse(node),
    "x": lambda spot, node: _text(rounded(spot, node)),
    "high": lambda spot, node: _high(node, rounded(spot, node)),
    "softmax": lambda spot, node: _path(spot, spot.dialect.softmax),
    "sigmoid": lambda spot, node: _path(spot, spot.dialect.sigmoid),
    "through": lambda spot, node: through(spot, node, rounded(spot, node)),
    "soft": lambda spot, node: soft(spot, node),
    "small": lambda spot, node: "1e-12" if re.search("sqrt|norm", called(node)) else "1e-06",
    "below": lambda spot, node: _text(node.right if isinstance(node, ast.BinOp) else (*node.args, None, None)[1]),
    "code": lambda spot, node: spot.path or spot.question.name,
    "new": lambda spot, node: (found := part_inside(spot)) and (found[1] if found[0] is node else None),
}


class OperationFix(NamedTuple):
    """A row of the table: its causes, how the operation is called (lower case, without underscores), what to say, and
    when.
    """

    causes: str
    names: str
    words: str
    when: Callable[[Spot, Any], bool] = lambda spot, node: True


def words(spot: Spot) -> str | None:
    """What the table has for a line; rows, and parts of the line, with the name of the recorded operation first."""
    done = "" if spot.entry is None else _plain(spot.entry.op)
    rows = [row for row in TABLE if spot.cause in row.causes.split()]
    rows.sort(key=lambda row: not re.fullmatch(row.names, done))
    nodes: list[Any] = [n for n in spot.statement.nodes if isinstance(n, (ast.expr, ast.stmt))]
    if spot.call is not None:  # of a long statement the part that ran
        inside = [*ast.walk(spot.call)]
        nodes = [node for node in nodes if node in inside or spot.call in ast.walk(node)]
    nodes.sort(key=lambda node: (node is not spot.call, called(node) != done))
    for row in rows:
        for node in nodes:
            if done != "function" and re.fullmatch(row.names, called(node)) and row.when(spot, node):
                values = {name: _FIELDS[name](spot, node) for name in set(re.findall(r"{(\w+)}", row.words))}
                if None not in values.values():
                    return fill(row.words, **values)
    return None


def called(node: ast.AST) -> str:
    """The function that an expression calls, or what it is.

    >>> [called(ast.parse(text, mode="eval").body) for text in ("tf.math.top_k(x)", "a // b", "a < b")]
    ['topk', 'floordiv', 'compare']
    """
    if isinstance(node, ast.Call):
        return _plain(last_name(node.func))
    return type(getattr(node, "op", node)).__name__.lower()


def _text(node: ast.AST | None) -> str | None:
    return None if node is None else unparse(node)


def _high(node: ast.AST, x: ast.expr | None) -> str | None:
    """What is high where something is chosen: of a smallest one the negative."""
    text = _text(ast.UnaryOp(ast.USub(), x) if x and "min" in called(node) else x)
    return text and text.removeprefix("--")


def _path(spot: Spot, path: str) -> str:
    return spelled(spot, path) or path


def soft(spot: Spot, node: Any) -> str | None:
    """A number between 0 and 1 for a comparison: ``tf.sigmoid((x - 0.5) / 0.1)`` for ``x > 0.5``."""
    sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else getattr(node, "args", [])
    said = _plain(type(node.ops[0]).__name__) if isinstance(node, ast.Compare) else called(node)
    if len(sides) != 2 or not re.match("gt|lt|greater|less", said):
        return None
    above, below = reversed(sides) if said.startswith("l") else sides
    height = f"({unparse(above)})" if unparse(below) in ("0", "0.0") else f"(({unparse(above)}) - ({unparse(below)}))"
    return unparse(parsed(f"{_path(spot, spot.dialect.sigmoid)}({height} / 0.1)"))


def _places(spot: Spot, node: Any) -> bool:
    """Whether of two results the places are taken: ``max(x, 1)[1]``, ``max(x, 1).indices``, ``_, i = max(x, 1)``."""
    two = node is spot.statement.value and len(spot.statement.binds) == 2
    taken = any(getattr(n, "value", None) is node for n in spot.statement.nodes)
    return called(node) not in ("max", "min") or two or taken


def _compares(node: ast.AST) -> bool:
    """Whether what is true or false comes of it, which blocks the gradient once more."""
    return isinstance(node, ast.Compare) or called(node) in ("equal", "notequal")


def _of_float(spot: Spot) -> bool:
    """Whether the source is a float itself."""
    return "int" not in str(getattr(spot.question.source, "dtype", ""))


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


_NONE = "no_derivative nondifferentiable zero_derivative no_gradient_registered"
_INTEGER = "integer_cast integer_dtype"
_LEFT = "left_torch left_through_numpy"
TABLE = [
    OperationFix(
        "integer_dtype",
        r"\w*",
        "{code} is an index, which has no gradient. Ask about what it takes elements of.",
        lambda spot, node: not _of_float(spot) and is_index(spot),
    ),
    OperationFix(
        _LEFT,
        "joinedstr|str|format|dumps|mod",
        "Keep the number as well as the text, and compute with the number.",
        lambda spot, node: not isinstance(node, ast.BinOp) or isinstance(getattr(node.left, "value", None), str),
    ),
    OperationFix(
        _LEFT,
        "|".join(map(_plain, FLAT)),
        "`{it}` jumps, with tensors as well: weigh all that it chooses or counts (`{softmax}`), or leave it out, and "
        "compute with the values.",
    ),
    OperationFix("left_jax", r"\w+", "Write `{new}` for `{it}`."),
    OperationFix(_LEFT, r"\w+", "Write `{new}` for `{it}`, and stay with tensors all the way."),
    OperationFix(
        f"{_NONE} {_INTEGER}",
        "argmax|argmin|max|min|argsort|categorical|multinomial",
        "It gives whole numbers, which jump. Weigh all that `{it}` chooses from, by `{softmax}` of `{high}`; or give "
        "`{high}` itself to a cross entropy.",
        lambda spot, node: _of_float(spot) and _places(spot, node),
    ),
    OperationFix(
        f"{_NONE} {_INTEGER}",
        "long|int|short|astype|cast|to|type",
        "An index must stay a whole number, so interpolate between its neighbours: `low = {it}` (at most the size - "
        "2), `part = ({x}) - low`, and `(1 - part) * table[low] + part * table[low + 1]` for `table[...]`.",
        lambda spot, node: is_integer(node) and is_index(spot),
    ),
    OperationFix(
        f"{_NONE} {_INTEGER}",
        "round|rint|floor|ceil|trunc|fix|sign|floordiv|floordivide",
        "Leave it out while training (`{x}` for `{it}`), or pass the gradient as if it were not there: `{through}`.",
        lambda spot, node: not any(_compares(n) and node in ast.walk(n) for n in spot.statement.nodes),
    ),
    OperationFix(
        _INTEGER,
        "long|int|short|astype|cast|to|type",
        "Leave out the cast, and compute with `{x}`, or pass the gradient as if the cast were not there.",
        lambda spot, node: is_integer(node) and _of_float(spot),
    ),
    OperationFix(
        _NONE,
        "compare|greater|greaterequal|less|lessequal",
        "Take a number between 0 and 1: `{soft}` for `{it}`, where 0.1 is the width of the step. To choose between a "
        "and b by that number p, write `p * a + (1 - p) * b` instead of a where.",
    ),
    OperationFix(
        _NONE,
        r"compare|equal|notequal|countnonzero|intopk|\w*accuracy",
        "No gradient passes what is true or false, nor a count of it. Train on a loss of the values themselves, such "
        "as a cross entropy, and keep the accuracy for reports.",
    ),
    OperationFix(
        "branch python_branch",
        "compare",
        "The value acts through the condition only. Mix both branches: compute the results of both, with `w = {soft}` "
        "in place of the `if`, and take `w * a + (1 - w) * b` for each result; 0.1 is the width of the step.",
        lambda spot, node: spot.dialect.name != "jax",
    ),
    OperationFix(
        "saturated",
        "clip|clamp|clipbyvalue|clampmin|clampmax|hardtanh",
        "What matters of `{x}` lies outside of the limits of `{it}`: begin with values inside of them, or widen the "
        "limits. If it should stay at the limit, nothing is wrong.",
        lambda spot, node: spot.entry is None or not re.search("sigmoid|logistic|tanh|softmax|erf|exp", spot.entry.op),
    ),
    OperationFix(
        "nan_forward",
        "softmax",
        "All elements of a row are -inf, and softmax divides 0 by 0 there. Let each row keep an element, or mask with "
        "a large negative number, such as -1e9.",
        lambda spot, node: any(a is not None and np.isneginf(a).any() for a in spot.inputs()),
    ),
    OperationFix(
        "nan_forward nan_backward",
        "exp|exp2|cosh|sinh",
        "`{it}` is too large for its type. Where it is divided by its sum, `{softmax}({x}, -1)` is the same without "
        "it; else subtract the largest element before, or compute in a wider type.",
    ),
    OperationFix(
        "nan_forward",
        "log|log2|log10|rsqrt|reciprocal|pow|power",
        "`{it}` is not finite where `{x}` is zero: add a small number there, such as {small}. Where a later line masks "
        "such elements, replace them before, too.",
        lambda spot, node: least(spot) == 0 and not is_call(operand(spot, node), "softmax", "sigmoid"),
    ),
    OperationFix(
        "nan_backward",
        "sqrt|pow|power|norm|vectornorm",
        "`{it}` has no finite slope where `{x}` is zero: add a small number there, such as {small} (to the sum of "
        "squares of a norm). Where a later line masks such elements, replace them before, too.",
        lambda spot, node: least(spot) == 0,
    ),
    OperationFix(
        "nan_forward nan_backward",
        "div|truediv|realdiv|divide",
        "`{below}` is zero somewhere: add a small number to it, such as 1e-6, or leave out what is divided by zero "
        "before the division.",
    ),
    OperationFix(
        "not_selected",
        "minimum|maximum|gather|gathernd|take|where|subscript|indexselect|takealongaxis",
        "If the choice is intended, nothing is wrong: with other data (other indices or conditions) `{it}` takes other "
        "elements. Else use data that take these, or use all elements.",
    ),
    OperationFix(
        "zero_cancels saturated",
        "softmax",
        "The softmax of a single value is always 1. For yes or no with one output write `{sigmoid}({x})` for `{it}`; "
        "or give it one output for each class.",
        lambda spot, node: spot.entry is not None and tuple(spot.entry.shape)[-1:] == (1,),
    ),
]
