"""What fixes a line that goes in steps, or makes NaNs: edits that look at the recorded numbers, too."""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np

from ..reasons.text import bound_by, last_name, parsed, rewritten, unparse
from .dialects import TENSORFLOW
from .site import SIMPLE, Change, Edit, Spot, is_call, is_index, is_module, operand, spelled

_DRAWS = set("rand randn randint normal uniform bernoulli sample rsample dropout".split())
STEPS = "round floor ceil trunc sign rint fix floordiv".split()


def through(spot: Spot, step: ast.expr, x: ast.expr | None) -> str | None:
    """``x + stop_gradient(round(x) - x)``; None where ``x`` must not run a second time."""
    if x is None or any(
        isinstance(n, ast.Call) and (isinstance(n.func, ast.Name) or last_name(n.func) in _DRAWS) for n in ast.walk(x)
    ):
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


def straight_through(spot: Spot, node: Any) -> Change | None:
    """A step whose gradient passes as if it were not there."""
    step = is_call(node, *STEPS) or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv))
    around = [n for n in spot.statement.nodes if step and n is not node and node in ast.walk(n)]
    again = any(isinstance(n, ast.Compare) or is_integer(n) or is_call(n, "equal", "not_equal") for n in around)
    return _past(spot, node, rounded(spot, node)) if step and not again and not is_index(spot) else None


def _past(spot: Spot, node: Any, x: ast.expr | None) -> Change | None:
    """A step as if it were not there; an ``x`` that must not be computed twice gets a name before."""
    new, whole = through(spot, node, x), spot.statement.node
    if new is not None or x is None or not isinstance(whole, SIMPLE):
        return new
    step = through(spot, rewritten(node, lambda n: ast.Name("smooth") if n is x else None), ast.Name("smooth"))
    if step is None:
        return None
    put = rewritten(whole, lambda n: parsed(step) if n is node else None)
    return whole, f"smooth = {unparse(x)}\n{unparse(ast.fix_missing_locations(put))}"


def is_integer(node: ast.AST) -> bool:
    """Whether an expression makes whole numbers."""
    if not is_call(node, "long", "int", "short", "astype", "cast", "to", "type"):
        return False
    given = [*node.args[-1:], *(k.value for k in node.keywords)]
    return last_name(node.func) in ("long", "int", "short") or any("int" in unparse(a) for a in given)


def whole_numbers(spot: Spot, node: Any) -> Change | None:
    """A cast to whole numbers whose gradient passes as if it were not there."""
    if not is_integer(node) or unparse(node.func) == "int" or is_index(spot):
        return None
    if "int" in str(getattr(spot.question.source, "dtype", "")):
        return None
    back = spelled(spot, "tf.cast") if last_name(node.func) == "cast" else None
    readers = [e.op for e in spot.question.rows if spot.entry is not None and spot.entry.row in e.inputs]
    if back and not all(op.lower() == "cast" for op in readers):
        return None  # not all that reads the whole numbers makes floats of them again
    hard = parsed(f"{back}({unparse(node)}, {spelled(spot, 'tf.float32')})") if back else node
    return through(spot, hard, operand(spot, node))


def at_zero(edit: Edit) -> Edit:
    """An edit that is right where what the operation takes is zero somewhere, and nowhere negative."""
    return lambda spot, node: edit(spot, node) if least(spot) == 0 and not _underflows(spot) else None


def not_all_zero(edit: Edit) -> Edit:
    """An edit of a root: where all that it gives is zero, the derivative of what is below is mostly zero, too."""
    return lambda spot, node: edit(spot, node) if (numbers := spot.result()) is not None and numbers.any() else None


def least(spot: Spot) -> float:
    """The smallest element of the first input of the operation whose elements are known."""
    return next((float(np.min(a)) for a in spot.inputs() if a is not None and a.size), -np.inf)


def _underflows(spot: Spot) -> bool:
    """Whether a zero is what exp or a product left of a small number: its derivative is zero, too."""
    given = [spot.question.rows[row] for row in (spot.entry.inputs if spot.entry else [])]
    said = " ".join(text for entry in given for text in (entry.op, *entry.scope)).lower()
    return bool(re.search("exp|sigmoid|logistic|softmax|prod", said))


def power(spot: Spot, node: Any) -> Change | None:
    """``x ** 0.5`` away from zero."""
    pair = [node.left, node.right] if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) else []
    pair = list(node.args) if is_call(node, "pow", "power") and is_module(spot, node.func) else pair
    whole = len(pair) == 2 and re.fullmatch(r"[1-9][\d.]*", unparse(pair[1]))
    return None if len(pair) != 2 or whole or least(spot) < 0 else (pair[0], f"({unparse(pair[0])}) + 1e-06")


def under_root(spot: Spot, node: Any) -> str | None:
    """The root of the sum of squares and a small number, for ``tf.norm(x)``. In ``tf.norm(a - b + 1e-12)`` a compiled
    function of TensorFlow may add the number to ``b`` first, where it is lost.
    """
    x, root = operand(spot, node) if is_call(node, "norm") else None, spelled(spot, "tf.sqrt")
    known = x is not None and len(node.args) == 1 and all(k.arg in ("axis", "keepdims") for k in node.keywords)
    if spot.dialect is not TENSORFLOW or root is None or not known:
        return None
    tf, more = root.removesuffix(".sqrt"), "".join(f", {k.arg}={unparse(k.value)}" for k in node.keywords)
    return f"{tf}.sqrt({tf}.reduce_sum({tf}.square({unparse(x)}){more}) + 1e-12)"


def divided(spot: Spot, node: Any) -> Change | None:
    """A division by something that was computed from the source, and is zero somewhere and nowhere negative."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div) or spot.entry is None:
        return None
    below, row = spot.inputs()[-1], spot.entry.inputs[-1]
    root = re.search("sqrt|norm", spot.question.rows[row].op)  # whose own slope is not finite there
    zero = below is not None and below.size and below.min() == 0 and not root
    return (node.right, f"({unparse(node.right)}) + 1e-06") if zero and row in spot.question.after else None


def log_softmax(spot: Spot, node: Any) -> Change | None:
    """``log_softmax(x)`` for ``log(softmax(x))``, and ``-softplus(-x)`` for ``log(sigmoid(x))``."""
    inner: Any = operand(spot, node) if is_call(node, "log") else None
    if isinstance(inner, ast.Name):  # what it was bound to
        before = [s for s in bound_by(inner.id, spot.statement) if s.order < spot.statement.order]
        inner = before[-1].value if before else None
    softplus, x = spelled(spot, spot.dialect.softplus), operand(spot, inner)
    if is_call(inner, "sigmoid") and x is not None and softplus is not None:
        return f"-{softplus}({unparse(ast.UnaryOp(ast.USub(), x))})"
    if not is_call(inner, "softmax") or not isinstance(inner.func, ast.Attribute):
        return None
    return unparse(ast.Call(ast.Attribute(inner.func.value, "log_softmax", ast.Load()), inner.args, inner.keywords))


def written_out(spot: Spot, node: Any) -> Change | None:
    """The framework's function for ``log(1 + exp(x))`` and ``1 / (1 + exp(-x))``, whose exp overflows."""
    curve, total = spot.dialect.softplus, operand(spot, node) if is_call(node, "log", "log1p") else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and unparse(node.left) in ("1", "1.0"):
        curve, total = spot.dialect.sigmoid, node.right
    added = isinstance(total, ast.BinOp) and isinstance(total.op, ast.Add)
    parts: list[Any] = [total] if is_call(node, "log1p") else [total.left, total.right] if added else []  # type: ignore[union-attr]
    grows = next((part for part in parts if is_call(part, "exp")), None)
    named, x = spelled(spot, curve), operand(spot, grows)
    if named is None or x is None or any(part is not grows and unparse(part) not in ("1", "1.0") for part in parts):
        return None
    if curve == spot.dialect.sigmoid:
        return f"{named}({unparse(x.operand)})" if isinstance(x, ast.UnaryOp) else None
    return f"{named}({unparse(x)})"


def finite_mask(spot: Spot, node: Any) -> Change | None:
    """A large finite number for minus infinity."""
    text = unparse(node) if isinstance(node, ast.expr) else ""
    return (
        "-1000000000.0"
        if re.fullmatch(r"-float\(.(inf|infinity).\)|float\(.-(inf|infinity).\)|-[\w.]+\.inf", text)
        else None
    )


def masked_before(spot: Spot, node: Any) -> Change | None:
    """``where`` around what a function takes that is masked after it: ``where(m, f(where(m, x, 1.0)), 0.0)``."""
    where, choice = spelled(spot, spot.dialect.where), _choice(spot, node)
    if spot.entry is None or where is None or choice is None:
        return None
    op, x = spot.entry.op.lower().rstrip("_0123456789"), None
    if isinstance(node, ast.BinOp):
        known = {ast.Div: ("div", node.right), ast.Pow: ("pow", node.left)}.get(type(node.op), ("?", None))
        x = known[1] if known[0] in op else None
    elif isinstance(node, ast.Call) and last_name(node.func) in (op, f"arc{op[1:]}", "norm" * (op == "sqrt")):
        x = operand(spot, node)
    if x is None or is_call(x, "where"):
        return None
    taken = any(n is node for n in ast.walk(choice.args[1])) or _named(spot, choice.args[1])
    safe = f"{unparse(x)}, 1.0" if taken else f"1.0, {unparse(x)}"
    return x, f"{where}({unparse(choice.args[0])}, {safe})"


def _choice(spot: Spot, node: ast.AST) -> ast.Call | None:
    """The ``where`` that selects between the value of a node and another one, by a condition known at the node."""
    for s in [spot.statement, *spot.readers()]:
        made = {t for o in spot.statements if spot.statement.order <= o.order < s.order for t in o.binds}
        for n in s.nodes:
            if is_call(n, "where") and len(n.args) == 3:
                inside = any(part is node for branch in n.args[1:] for part in ast.walk(branch))
                known = made.isdisjoint(m.id for m in ast.walk(n.args[0]) if isinstance(m, ast.Name))
                if inside or (s is not spot.statement and known and any(_named(spot, b) for b in n.args[1:])):
                    return n
    return None


def _named(spot: Spot, branch: ast.expr) -> bool:
    """Whether a branch is what the statement binds, and not only of its shape."""
    shape = isinstance(branch, ast.Call) and last_name(branch.func).endswith("_like")
    return not shape and any(isinstance(n, ast.Name) and n.id in spot.statement.binds for n in ast.walk(branch))
