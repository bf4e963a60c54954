"""What fixes a line that makes zeros or NaNs, or whose steps have no derivative: edits as in :mod:`edits`."""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np

from ..statement import Statement, form, last_name, parsed, rewritten, unparse
from .edit_site import SIMPLE, Change, Edit, Spot, edit_with, is_call
from .edits import numbers, renamed, texts
from .operations import is_integer, operand


def at_zero(edit: Edit) -> Edit:
    """An edit that is right where elements are zero, none is negative, and none has underflowed: the derivative of exp
    is zero there, too.
    """
    return lambda spot, node: edit(spot, node) if spot.least() == 0 and not spot.underflows() else None


def power(spot: Spot, node: Any) -> Change | None:
    """``x ** 0.5`` away from zero."""
    whole = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)
    parts = (
        [node.left, node.right]
        if whole
        else node.args
        if is_call(node, "pow", "power") and spot.is_module(node.func)
        else []
    )
    if len(parts) == 2 and spot.least() >= 0 and not (numbers(parts[1]) and float(unparse(parts[1])) >= 1):
        return parts[0], form("{x} + 1e-06", x=parts[0])
    return None


def length_of_zeros(spot: Spot, node: Any) -> Change | None:
    """What is divided by a length that is zero: the derivative of the root has to be finite, too, so that the length
    itself is fixed.
    """
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div) or spot.entry is None:
        return None
    waiting, seen = [spot.entry.inputs[-1]], set[int]()
    while waiting:
        row = waiting.pop()
        if row in seen:
            continue
        seen.add(row)
        entry, elements = spot.inquiry.entries[row], spot.numbers(row)
        if elements is None or not elements.size or (elements != 0).all() or row not in spot.inquiry._after():
            continue
        if re.search("sqrt|norm", entry.op.lower()):
            at = spot.source.at(entry.site[0] or "", entry.site[1] or 0)
            roots: list = [n for n in ([] if at is None else at.walk()) if is_call(n, "norm", "vector_norm", "sqrt")]
            x = spot.operand(roots[0]) if roots else None
            return None if x is None else (x, form("{x} + 1e-12", x=x))
        waiting += entry.inputs
    return None


def divided(spot: Spot, node: Any) -> Change | None:
    """A division by something that is zero, and never negative: it was computed from the source, or what it divides is
    zero, too.
    """
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div) or spot.entry is None:
        return None
    below, result = map(spot.numbers, (spot.entry.inputs[-1], spot.entry.row))
    if (
        below is None
        or result is None
        or not below.size
        or below.min() != 0
        or not (spot.entry.inputs[-1] in spot.inquiry._after() or (below.any() and not np.isinf(result).any()))
    ):
        return None
    return node.right, form("{x} + 1e-06", x=node.right)


def not_below(spot: Spot, node: Any) -> Change | None:
    """Some elements lie where a function is not defined, and not all: those are kept out of it."""
    if (
        not is_call(node, "log", "sqrt", "log2", "log10", "rsqrt")
        or (x := spot.operand(node)) is None
        or spot.entry is None
        or not spot.entry.inputs
    ):
        return None
    elements, (function, _, rest) = spot.numbers(spot.entry.inputs[0]), spot.dialect.floor.partition("(")
    spelled = spot.spelled(function)
    if spelled is None or elements is None or not (elements > 0).any() or not (elements < 0).any():
        return None
    return x, f"{spelled}({rest.format(x=unparse(x))}"


def overflow(spot: Spot, node: Any) -> Change | None:
    """``exp(x - max(x))`` where its result is divided by its sum."""
    if (
        not is_call(node, "exp")
        or (x := spot.operand(node)) is None
        or (largest := spot.spelled(spot.dialect.largest)) is None
    ):
        return None
    elements = spot.numbers(spot.entry.inputs[0]) if spot.entry is not None and spot.entry.inputs else None
    names = spot.statement.binds()
    below = [
        m
        for s in spot.readers()
        for n in s.walk()
        if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div)
        for m in ast.walk(n.right)
    ]
    sums: list = [
        m
        for m in below
        if is_call(m, "sum", "reduce_sum") and any(unparse(a) in names for a in ast.walk(m) if isinstance(a, ast.Name))
    ]
    if (
        elements is None
        or spot.entry is None
        or spot.entry.dtype == "float16"
        or not sums
        or node is not spot.statement.value()
    ):
        return None
    given = [a for a in sums[0].args if unparse(a) not in names] + [
        k.value for k in sums[0].keywords if k.arg in ("axis", "dim")
    ]
    axis = ast.literal_eval(given[0]) if given and numbers(given[0]) else None
    if (given and axis is None) or not -elements.ndim <= (axis or 0) < elements.ndim or np.size(elements, axis) < 2:
        return None
    if (np.ptp(np.sort(elements, axis).take([-2, -1], axis or 0), axis or 0) > 80).any():
        return None  # one has everything: there is no gradient either way
    along = (
        ""
        if axis is None
        else f", dim={axis}, keepdim=True"
        if spot.dialect.name == "torch"
        else f", axis={axis}, keepdims=True"
    )
    return x, f"{unparse(x)} - {largest}({unparse(x)}{along})"


def finite_mask(spot: Spot, node: Any) -> Change | None:
    """A large finite number for minus infinity."""
    text, entry = unparse(node) if isinstance(node, ast.expr) else "", spot.entry
    value = None if entry is None else spot.numbers(entry.row)
    if value is not None and value.ndim and not np.isnan(value).any() and (np.isfinite(value).sum(-1) < 2).all():
        return None  # nothing is left to choose from: there is no gradient either way
    return (
        "-1000000000.0"
        if re.fullmatch(r"-float\(.(inf|infinity).\)|float\(.-(inf|infinity).\)|-[\w.]+\.inf", text)
        else None
    )


def log_softmax(spot: Spot, node: Any) -> Change | None:
    """``log_softmax(x)`` for ``log(softmax(x))``, and ``-softplus(-x)`` for ``log(sigmoid(x))``."""
    if not is_call(node, "log"):
        return None
    inner: Any = spot.operand(node)
    if isinstance(inner, ast.Name):  # what it was bound to
        made = spot.source.last_binding(spot.source.key(inner.id, spot.statement.function), spot.statement)
        inner = None if made is None else made.value()
    if (
        is_call(inner, "sigmoid")
        and (x := spot.operand(inner)) is not None
        and (softplus := spot.spelled(spot.dialect.softplus)) is not None
    ):
        return form(f"-{softplus}({{minus}})", minus=ast.UnaryOp(ast.USub(), x))
    if not is_call(inner, "softmax") or not isinstance(inner.func, ast.Attribute):
        return None
    return unparse(ast.Call(ast.Attribute(inner.func.value, "log_softmax", ast.Load()), inner.args, inner.keywords))


def sum_of_logs(spot: Spot, node: Any) -> Change | None:
    """``sum(log(x))`` for ``log(prod(x))``: a product of many small numbers is zero."""
    inner = spot.operand(node) if is_call(node, "log") else None
    if not is_call(inner, "prod", "reduce_prod") or (x := spot.operand(inner)) is None:
        return None
    log = unparse(ast.Call(node.func, [x], [])) if spot.is_module(node.func) else form("{x}.log()", x=x)
    if inner.args and x is inner.args[0]:
        return unparse(
            ast.Call(parsed(unparse(inner.func).replace("prod", "sum")), [parsed(log), *inner.args[1:]], inner.keywords)
        )
    return unparse(ast.Call(ast.Attribute(parsed(log), "sum", ast.Load()), inner.args, inner.keywords))


def written_out(spot: Spot, node: Any) -> Change | None:
    """The framework's function for ``log(1 + exp(x))`` and ``1 / (1 + exp(-x))``, whose exp overflows."""
    softplus = spot.dialect.softplus
    curve, total = softplus, spot.operand(node) if is_call(node, "log", "log1p") else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and unparse(node.left) in ("1", "1.0"):
        curve, total = spot.dialect.sigmoid, node.right
    parts = (
        [total]
        if is_call(node, "log1p")
        else [total.left, total.right]
        if isinstance(total, ast.BinOp) and isinstance(total.op, ast.Add)
        else []
    )
    grows: Any = next((part for part in parts if is_call(part, "exp")), None)
    named = spot.spelled(curve)
    if grows is None or named is None or any(part is not grows and unparse(part) not in ("1", "1.0") for part in parts):
        return None
    x = spot.operand(grows)
    if x is None or (curve != softplus and not (isinstance(x, ast.UnaryOp) and isinstance(x.op, ast.USub))):
        return None
    return f"{named}({unparse(x if curve == softplus else getattr(x, 'operand', x))})"


@edit_with
def unless_all_zero(spot: Spot, node: Any, edit: Edit) -> Change | None:
    """An edit of a root: where all that it gives is zero, or less than the root of what is added, the derivative of
    what is below is mostly zero, too.
    """
    value = None if spot.entry is None else spot.numbers(spot.entry.row)
    lost = (
        value is not None
        and not (np.abs(value) > 1e-6).any()
        and spot.entry is not None
        and not spot.inquiry.has_path_without(spot.entry.row)
    )
    return None if lost else edit(spot, node)


def deviation(spot: Spot, node: Any) -> Change | None:
    """The root of the variance and a little, for a standard deviation."""
    if not is_call(node, "std", "reduce_std") or not spot.is_module(node.func):
        return None
    root, variance = spot.spelled(spot.dialect.root), spot.spelled(spot.dialect.variance)
    return (
        f"{root}({unparse(ast.Call(parsed(variance), node.args, node.keywords))} + 1e-12)"
        if root and variance
        else None
    )


def straight_through(spot: Spot, node: Any) -> Change | None:
    """A step, or a draw, whose gradient passes as if it were not there."""
    step = is_call(node, "round", "floor", "ceil", "trunc", "sign", "rint", "fix", "floordiv") and not spot.is_index()
    again = [n for n in spot.statement.walk() if step and n is not node and node in ast.walk(n)]
    if any(
        isinstance(n, ast.Compare) or is_call(n, "astype", "int", "long", "to", "cast", "equal", "not_equal", "bool")
        for n in again
    ):
        return None  # which breaks the path once more
    if not (
        step
        or is_call(node, "poisson", "bernoulli")
        or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv))
    ):
        return None
    return _past(spot, node, node)


def whole_numbers(spot: Spot, node: Any) -> Change | None:
    """A cast to whole numbers whose gradient passes as if it were not there."""
    if (
        not is_integer(node)
        or unparse(node.func) == "int"
        or spot.is_index()
        or "int" in str(getattr(spot.inquiry.source, "dtype", ""))
    ):
        return None
    like = spot.spelled("tf.float32") if last_name(node.func) in ("cast", "saturate_cast") else None
    readers = [e.op for e in spot.inquiry.entries if spot.entry is not None and spot.entry.row in e.inputs]
    if like and (any(op != "Cast" for op in readers) or {"fn_output_signature", "write"} & spot.statement.mentions()):
        return None  # not all that reads the whole numbers makes floats of them again
    return _past(
        spot, node, ast.Call(parsed(spot.spelled("tf.cast") or "tf.cast"), [node, parsed(like)], []) if like else node
    )


def _past(spot: Spot, node: Any, hard: ast.expr) -> Change | None:
    """``x + stop_gradient(round(x) - x)``; an ``x`` that must not be computed twice gets a name before."""
    x, statement = operand(spot, node), spot.statement.node
    new = spot.through(hard, x)
    inner = any(isinstance(n, (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.IfExp)) for n in spot.statement.walk())
    if new is not None or x is None or inner or not isinstance(statement, SIMPLE):
        return new
    name = next(name for name in ("smooth", "smooth_") if name not in spot.names or name == "smooth_")
    whole = spot.through(rewritten(hard, lambda n: ast.Name(name) if n is x else None), ast.Name(name))
    return (
        None
        if whole is None
        else (
            statement,
            f"{name} = {unparse(x)}\n"
            + unparse(ast.fix_missing_locations(rewritten(statement, lambda n: parsed(whole) if n is node else None))),
        )
    )


def masked_before(spot: Spot, node: Any) -> Change | None:
    """``where`` around what a function takes that is masked after it: ``where(m, f(where(m, x, 1.0)), 0.0)``."""
    entry, where = spot.entry, spot.spelled(spot.dialect.where)
    choice = next(
        (
            n
            for s in [spot.statement, *spot.readers()]
            for n in s.walk()
            if is_call(n, "where") and len(n.args) == 3 and _is_guarded(spot, s, n, node)
        ),
        None,
    )
    if entry is None or where is None or choice is None:
        return None
    condition, yes, _ = choice.args
    op = entry.op.lower().rstrip("_0123456789")
    within = yes if any(n is node for n in ast.walk(yes)) or _holds_name(yes, spot) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and "div" in op:
        x = node.right
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and "pow" in op:
        x = node.left
    elif (
        isinstance(node, ast.Call)
        and (last_name(node.func) in (op, f"arc{op[1:]}") or (op == "sqrt" and last_name(node.func) == "norm"))
        and (operand := spot.operand(node)) is not None
    ):
        x = operand
    else:
        return None
    if last_name(getattr(x, "func", x)) == "where":
        return None
    safe = f"{unparse(x)}, 1.0" if within is not None else f"1.0, {unparse(x)}"
    return x, f"{where}({unparse(condition)}, {safe})"


def _is_guarded(spot: Spot, statement: Statement, choice: ast.Call, node: Any) -> bool:
    """Whether a ``where`` selects between the value of a node and another value, by a condition known at the node."""
    if any(n is node for branch in choice.args[1:] for n in ast.walk(branch)):
        return True
    if statement is spot.statement or not any(_holds_name(branch, spot) for branch in choice.args[1:]):
        return False
    made = {
        unparse(t)
        for s in spot.statements
        if s.function is statement.function and spot.statement.order <= s.order < statement.order
        for t in s.targets()
    }
    return not made & {n.id for n in ast.walk(choice.args[0]) if isinstance(n, ast.Name)}


def _holds_name(branch: ast.expr, spot: Spot) -> bool:
    shaped = [
        n
        for part in ast.walk(branch)
        if isinstance(part, ast.Call) and last_name(part.func).endswith("_like")
        for n in ast.walk(part)
    ]
    return any(isinstance(n, ast.Name) and n.id in spot.statement.binds() and n not in shaped for n in ast.walk(branch))


def scaled(spot: Spot, node: Any) -> Change | None:
    """The input of a curve divided by how far out it lies."""
    if (
        not is_call(node, "tanh", "sigmoid", "softmax", "relu6", "hard_tanh", "erf", "log_softmax")
        or (x := spot.operand(node)) is None
        or spot.entry is None
    ):
        return None
    found = [
        spot.numbers(row)
        for row in (*spot.entry.inputs, *(i for row in spot.entry.inputs for i in spot.inquiry.entries[row].inputs))
    ]
    largest = max(
        (float(np.abs(a).max()) for a in found if a is not None and a.size and np.isfinite(a).all()), default=0.0
    )
    return (x, form(f"{{x}} / {float(f'{largest / 2:.0e}')!r}", x=x)) if largest > 4 else None


def nonzero_angle(spot: Spot, node: Any) -> Change | None:
    """Adds a small number to the second argument of ``atan2``, so that it is not zero."""
    return (
        (node.args[1], form("{x} + 1e-06", x=node.args[1]))
        if is_call(node, "arctan2", "atan2") and len(node.args) == 2
        else None
    )


def leaky(spot: Spot, node: Any) -> Change | None:
    """A relu that passes something everywhere, also where it is given as a text."""
    return renamed(**spot.dialect.leaky)(spot, node) or texts(relu="leaky_relu")(spot, node)


def one_unit(spot: Spot, node: Any) -> Change | None:
    """A sigmoid for the softmax of a single value, which is always 1."""
    result = spot.numbers(spot.entry.row) if spot.entry else None
    if result is None or not np.all(result == 1):
        return None
    if (
        is_call(node, "softmax")
        and (x := spot.operand(node)) is not None
        and (sigmoid := spot.spelled(spot.dialect.sigmoid)) is not None
    ):
        return form(f"{sigmoid}({{x}})", x=x)
    return texts(softmax="sigmoid")(spot, node)
