"""What fixes a line that goes in steps, or makes NaNs: edits that look at the recorded numbers, too."""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np

from ..reasons.text import last_name, parsed, unparse
from .dialects import TENSORFLOW
from .site import Change, Edit, Spot, is_call, is_index, operand, spelled

_DRAWS = set("rand randn randint normal uniform bernoulli sample rsample dropout".split())
STEPS = "round floor ceil trunc sign rint fix floordiv".split()


def through(spot: Spot, step: ast.expr, x: ast.expr | None) -> str | None:
    """``x + stop_gradient(round(x) - x)``; None where ``x`` must not run a second time."""
    if x is None:
        return None
    calls = [n.func for n in ast.walk(x) if isinstance(n, ast.Call)]
    if any(isinstance(f, ast.Name) or last_name(f) in _DRAWS for f in calls):  # other numbers, or done twice
        return None
    stop = spelled(spot, spot.dialect.stop) if spot.dialect.stop else ""
    inner = f"({unparse(step)}) - ({unparse(x)})"
    text = f"({unparse(x)}) + " + (f"{stop}({inner})" if stop else f"({inner}).detach()")
    return None if stop is None else unparse(parsed(text))


def rounded(spot: Spot, node: Any) -> ast.expr | None:
    """What a step is applied to; of ``a // b`` the quotient."""
    pair = [node.left, node.right] if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv) else []
    pair = list(node.args) if is_call(node, "floordiv", "floor_divide") else pair
    return ast.BinOp(pair[0], ast.Div(), pair[1]) if len(pair) == 2 else operand(spot, node)


def straight_through(spot: Spot, node: Any) -> Change:
    """A step, or a cast to whole numbers, whose gradient passes as if it were not there."""
    cast = spot.cause.startswith("integer") and is_integer(node) and isinstance(node.func, ast.Attribute)
    step = cast or is_call(node, *STEPS) or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv))
    around = [n for n in spot.statement.nodes if step and n is not node and node in ast.walk(n)]
    again = any(isinstance(n, ast.Compare) or is_integer(n) or is_call(n, "equal", "not_equal") for n in around)
    x = rounded(spot, node) if step and not again and not is_index(spot) else None
    if x is None or any(is_call(n, *STEPS) or is_integer(n) for n in ast.walk(x)):
        return None
    hard: Any = node
    if cast and last_name(node.func) == "cast":
        rows, row = spot.question.rows, spot.entry
        readers = [one.op for one in rows if row is not None and row.index in one.inputs]
        if row is None or not all(op.lower() == "cast" for op in readers) or "int" in rows[row.inputs[0]].dtype:
            return None  # something reads the whole numbers themselves, or they were whole before
        hard = ast.Call(parsed("tf.cast"), [node, parsed("tf.float32")], [])
    return through(spot, hard, x)


def is_integer(node: ast.AST) -> bool:
    """Whether an expression makes whole numbers."""
    if not is_call(node, "long", "int", "short", "astype", "cast", "to", "type"):
        return False
    given = [*node.args[-1:], *(k.value for k in node.keywords)]
    return last_name(node.func) in ("long", "int", "short") or any("int" in unparse(a) for a in given)


def at_zero(edit: Edit, given: int = 0) -> Edit:
    """An edit that is right where what the operation takes was computed from the source, is zero somewhere, and
    nowhere negative; not where exp, a product or a root left that zero: its own derivative is zero, or infinite, too.
    """

    def at(spot: Spot, node: Any) -> Change:
        rows = [spot.question.rows[row] for row in (spot.entry.inputs if spot.entry else [])]
        said = " ".join(text for row in rows for text in (row.op, *row.scope)).lower()
        left = re.search("exp|sigmoid|logistic|softmax|prod|sqrt|norm", said)
        computed = bool(rows) and rows[given].index in spot.question.descendants
        return edit(spot, node) if computed and least(spot, given) == 0 and not left else None

    return at


def not_all_zero(edit: Edit) -> Edit:
    """An edit of a root: where all that it gives is zero, the derivative of what is below is mostly zero, too."""
    return lambda spot, node: edit(spot, node) if (numbers := spot.result()) is not None and numbers.any() else None


def not_in_tensorflow(edit: Edit) -> Edit:
    """An edit that TensorFlow undoes: compiled, it may add the number of ``tf.norm(a - b + 1e-12)`` to ``b`` first."""
    return lambda spot, node: None if spot.dialect is TENSORFLOW else edit(spot, node)


def least(spot: Spot, given: int = 0) -> float:
    """The smallest element of the first input of the operation whose elements are known, or of another of them."""
    known = [float(np.min(a)) for a in spot.inputs() if a is not None and a.size]
    return known[given] if known else -np.inf
