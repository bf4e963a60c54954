"""What mends a line that makes zeros or NaNs, or whose steps have no derivative: edits as in :mod:`edits`."""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np

from ..explain.patches import parsed, slim
from ..explain.statement import Statement, last_name, unparse
from ..explain.values import numbers_of
from .edits import keyword, numbers
from .patches import Change, Edit, Spot, is_call

_FLOATS = {"float", "float32", "float64", "double"}


def at_zero(edit: Edit) -> Edit:
    """An edit that is right where elements are zero, none is negative, and none has underflowed: the derivative of exp is zero there, too."""
    return lambda spot, node: edit(spot, node) if spot.least() == 0 and not spot.underflows() else None


def power(spot: Spot, node: Any) -> Change | None:
    """``x ** 0.5`` away from zero."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and spot.least() >= 0 and not (numbers(node.right) and float(unparse(node.right)) >= 1):
        return node.left, f"({slim(node.left)} + 1e-06)"
    return None


def divided(spot: Spot, node: Any) -> Change | None:
    """A division by something that is zero, and never negative."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and spot.entry is not None and spot.least() == 0 and spot.entry.inputs[-1] in spot.inquiry._after():
        return node.right, f"({slim(node.right)} + 1e-06)"
    return None


def of_one(spot: Spot, node: Any) -> Change | None:
    """A deviation of one element, through which no gradient has to pass."""
    alone = "one element" in spot.answer.message and is_call(node, "std", "var") and spot.entry is not None and spot.entry.row not in spot.inquiry._after()
    return keyword("unbiased", False, "std", "var")(spot, node) if alone else None


def not_below(function: str, *names: str) -> Edit:
    """Some elements lie where a function is not defined, and not all: those are kept out of it."""

    def edit(spot: Spot, node: Any) -> Change | None:
        if not is_call(node, *names) or (x := spot.operand(node)) is None or spot.entry is None or not spot.entry.inputs:
            return None
        elements, spelled = numbers_of(spot.inquiry.entries[spot.entry.inputs[0]].value), spot.spelled(function.partition("(")[0])
        if spelled is None or elements is None or not (elements > 0).any() or not (elements < 0).any():
            return None
        return x, f"{spelled}({function.partition('(')[2].format(x=unparse(x))}"

    return edit


def overflow(maximum: str) -> Edit:
    """``exp(x - max(x))`` where its result is divided by its sum."""

    def edit(spot: Spot, node: Any) -> Change | None:
        if not is_call(node, "exp") or (x := spot.operand(node)) is None or (largest := spot.spelled(maximum)) is None:
            return None
        elements = numbers_of(spot.inquiry.entries[spot.entry.inputs[0]].value) if spot.entry is not None and spot.entry.inputs else None
        if elements is None or spot.entry is None or spot.entry.dtype == "float16" or elements.size < 2 or np.ptp(np.sort(elements, axis=None)[-2:]) > 80:
            return None  # one has everything: there is no gradient either way
        names = spot.statement.binds()
        shares = [n for s in spot.readers() for n in s.walk() if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div) and any(is_call(m, "sum", "reduce_sum") and any(unparse(a) in names for a in ast.walk(m) if isinstance(a, ast.Name)) for m in ast.walk(n.right))]
        return (x, f"{unparse(x)} - {largest}({unparse(x)})") if shares and node is spot.statement.value() else None

    return edit


def finite_mask(spot: Spot, node: Any) -> Change | None:
    """A large finite number for minus infinity."""
    text, entry = unparse(node) if isinstance(node, ast.expr) else "", spot.entry
    value = None if entry is None else numbers_of(entry.value)
    if value is not None and value.ndim and (np.isfinite(value).sum(-1) < 2).all():
        return None  # nothing is left to choose from: there is no gradient either way
    return "-1000000000.0" if re.fullmatch(r"-float\(.(inf|infinity).\)|float\(.-(inf|infinity).\)|-[\w.]+\.inf", text) else None


def log_softmax(spot: Spot, node: Any) -> Change | None:
    """``log_softmax(x)`` for ``log(softmax(x))``."""
    if not is_call(node, "log"):
        return None
    inner: Any = spot.operand(node)
    if isinstance(inner, ast.Name):  # what it was bound to
        made = spot.source.last_binding(spot.source.key(inner.id, spot.statement.function), spot.statement)
        inner = None if made is None else made.value()
    if not is_call(inner, "softmax") or not isinstance(inner.func, ast.Attribute):
        return None
    return unparse(ast.Call(ast.Attribute(inner.func.value, "log_softmax", ast.Load()), inner.args, inner.keywords))


def unless_all_zero(edit: Edit) -> Edit:
    """An edit of a root: where all that it gives is zero, the derivative of what stands below is mostly zero, too."""

    def guarded(spot: Spot, node: Any) -> Change | None:
        value = None if spot.entry is None else numbers_of(spot.entry.value)
        lost = value is not None and not value.any() and spot.entry is not None and not spot.inquiry.passes_by(spot.entry.row)
        return None if lost else edit(spot, node)

    return guarded


def standard_deviation(root: str, variance: str, *names: str) -> Edit:
    """The root of the variance and a little."""

    def edit(spot: Spot, node: Any) -> Change | None:
        if not is_call(node, *names) or not spot.is_module(node.func):
            return None
        outer, inner = spot.spelled(root), spot.spelled(variance)
        return f"{outer}({unparse(ast.Call(parsed(inner), node.args, node.keywords))} + 1e-12)" if outer and inner else None

    return edit


def straight_through(spot: Spot, node: Any) -> Change | None:
    """A step whose gradient passes as if it were not there."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
        new = spot.through(node, f"{slim(node.left)} / {slim(node.right)}")
    elif is_call(node, "poisson", "bernoulli"):  # a draw: its mean is what it was drawn with
        drawn = [k.value for k in node.keywords if k.arg in ("lam", "p", "input")] or (node.args[1:] if unparse(node.args[0]) in ("[]", "()") else node.args)
        new = spot.through(node, slim(drawn[0])) if len(drawn) == 1 else None
    elif is_call(node, "round", "floor", "ceil", "trunc", "sign", "rint", "fix") and not spot.is_index():
        around = [n for n in spot.statement.walk() if isinstance(n, ast.Call) and node in ast.walk(n) and last_name(n.func) in ("astype", "int", "long", "to", "cast")]
        x = spot.operand(node)
        new = None if x is None or around else spot.through(node, slim(x))
    else:
        return None
    return new


def whole_numbers(spot: Spot, node: Any) -> Change | None:
    """A cast to whole numbers whose gradient passes as if it were not there."""
    casts = is_call(node, "long", "int", "short", "astype", "to", "type", "cast") and not (isinstance(node.func, ast.Name) and node.func.id == "int")
    if not casts or (last_name(node.func) not in ("long", "int", "short") and "int" not in "".join(map(unparse, [*node.args[-1:], *(k.value for k in node.keywords)]))):
        return None
    x = spot.operand(node)
    if x is None or spot.is_index():
        return None
    call = node
    if last_name(node.func) == "cast":
        like = spot.spelled("tf.float32")
        call = ast.Call(node.func, [node, parsed(like)], []) if like else node
    return spot.through(call, slim(x))


def soft_comparison(spot: Spot, node: Any) -> Change | None:
    """A sigmoid of the difference, for a comparison that is made a float or chooses between two numbers."""
    compare: Any
    if isinstance(node, ast.IfExp):
        compare, yes, no = node.test, node.body, node.orelse
    elif is_call(node, "where") and len(node.args) == 3 and all(isinstance(a, ast.Constant) for a in node.args[1:]):
        compare, yes, no = node.args
    elif is_call(node, "float", "double") and isinstance(node.func, ast.Attribute) and not node.args:
        compare, yes, no = node.func.value, ast.Constant(1.0), ast.Constant(0.0)
    elif is_call(node, "sum", "mean") and node.args and isinstance(node.args[0], ast.Compare):
        new = between(spot, node.args[0])
        return None if new is None else (node.args[0], new)
    elif is_call(node, "count_nonzero") and node.args and isinstance(node.args[0], ast.Compare):
        new, total = between(spot, node.args[0]), spot.spelled(spot.dialect.sums)
        more = [unparse(k) for k in node.keywords if k.arg != "dtype"]
        return None if new is None or total is None else f"{total}({', '.join([new, *map(unparse, node.args[1:]), *more])})"
    elif is_call(node, "cast", "astype", "to") and node.args and last_name(node.args[-1]) in {*_FLOATS, "dtype"}:
        compare, yes, no = spot.operand(node), ast.Constant(1.0), ast.Constant(0.0)
    else:
        return None
    return between(spot, compare, yes, no)


def between(spot: Spot, compare: Any, yes: ast.expr = ast.Constant(1.0), no: ast.expr = ast.Constant(0.0)) -> str | None:  # noqa: B008
    """A sigmoid between two numbers for a comparison."""
    sigmoid = spot.spelled(spot.dialect.sigmoid)
    if not isinstance(compare, ast.Compare) or len(compare.ops) != 1 or sigmoid is None or not numbers(yes, no):
        return None
    a, b = compare.left, compare.comparators[0]
    if isinstance(compare.ops[0], (ast.Lt, ast.LtE)):
        a, b = b, a
    elif not isinstance(compare.ops[0], (ast.Gt, ast.GtE)):
        return None
    zero = isinstance(b, ast.Constant) and b.value == 0
    soft = f"{sigmoid}({unparse(a)})" if zero else f"{sigmoid}({unparse(a)} - {slim(b)})"
    high, low = ast.literal_eval(yes), ast.literal_eval(no)
    scaled = soft if high - low == 1 else f"{high - low} * {soft}"
    return scaled if low == 0 else f"({low} + {scaled})"


def soft_choice(spot: Spot, node: Any) -> Change | None:
    """The softmax with the value of ``one_hot(argmax(x))``, and the expected index for ``argmax(x)`` as a number."""
    softmax = spot.spelled(spot.dialect.softmax)
    if softmax is None:
        return None
    if is_call(node, "one_hot") and node.args and is_call(node.args[0], "argmax"):
        x = spot.operand(node.args[0])
        if x is None or unparse(_axis(node.args[0])) != "-1" or len(node.args) > 2:
            return None
        made = spot.source.last_binding(spot.source.key(unparse(x), spot.statement.function), spot.statement) if isinstance(x, ast.Name) else None
        soft = unparse(x) if made is not None and made.calls("softmax") else f"{softmax}({unparse(x)}, -1)"
        hard = f"{unparse(node)}.to({soft}.dtype)" if not spot.dialect.stop else unparse(node)
        return spot.through(parsed(hard), soft)
    inner = node.func.value if is_call(node, "float", "double") and isinstance(node.func, ast.Attribute) else None
    if not spot.dialect.stop and is_call(inner, "argmax"):
        x, axis = spot.operand(inner), unparse(_axis(inner))
        places = spot.spelled("torch.arange")
        return None if x is None else f"({softmax}({unparse(x)}, {axis}).movedim({axis}, -1) * {places}({unparse(x)}.shape[{axis}])).sum(-1)"
    return None


def _axis(call: ast.Call) -> ast.expr:
    """Along which axis argmax goes, as far as the text tells."""
    said = next((k.value for k in call.keywords if k.arg in ("axis", "dim")), None)
    return said or (call.args[-1] if len(call.args) > 1 or (call.args and isinstance(call.args[-1], (ast.Constant, ast.UnaryOp))) else ast.Constant(None))


def mixed(spot: Spot, node: Any) -> Change | None:
    """Both values of a ``where``, weighted by how far its comparison is from turning over."""
    if not is_call(node, "where") or len(node.args) != 3 or node.keywords:
        return None
    condition, yes, no = node.args
    soft = between(spot, condition)
    return None if soft is None else f"({slim(no)} + ({unparse(yes)} - {slim(no)}) * {soft})"


def masked_before(spot: Spot, node: Any) -> Change | None:
    """``where`` around what a function takes that is masked after it: ``where(m, f(where(m, x, 1.0)), 0.0)``."""
    entry, where = spot.entry, spot.spelled(spot.dialect.where)
    choice = next((n for s in [spot.statement, *spot.readers()] for n in s.walk() if is_call(n, "where") and len(n.args) == 3 and _holds(spot, s, n, node)), None)
    if entry is None or where is None or choice is None:
        return None
    condition, yes, _ = choice.args
    op = entry.op.lower().rstrip("_0123456789")
    within = yes if any(n is node for n in ast.walk(yes)) or _holds_name(yes, spot) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and "div" in op:
        x = node.right
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and "pow" in op:
        x = node.left
    elif isinstance(node, ast.Call) and (last_name(node.func) in (op, f"arc{op[1:]}") or (op == "sqrt" and last_name(node.func) == "norm")) and (operand := spot.operand(node)) is not None:
        x = operand
    else:
        return None
    if last_name(getattr(x, "func", x)) == "where":
        return None
    safe = f"{unparse(x)}, 1.0" if within is not None else f"1.0, {unparse(x)}"
    return x, f"{where}({unparse(condition)}, {safe})"


def _holds(spot: Spot, statement: Statement, choice: ast.Call, node: Any) -> bool:
    """Whether a ``where`` chooses between what a node computes and something else, by a condition that is known at the node."""
    if any(n is node for branch in choice.args[1:] for n in ast.walk(branch)):
        return True
    if statement is spot.statement or not any(_holds_name(branch, spot) for branch in choice.args[1:]):
        return False
    made = {unparse(t) for s in spot.statements if s.function is statement.function and spot.statement.order <= s.order < statement.order for t in s.targets()}
    return not made & {n.id for n in ast.walk(choice.args[0]) if isinstance(n, ast.Name)}


def _holds_name(branch: ast.expr, spot: Spot) -> bool:
    shaped = [n for part in ast.walk(branch) if isinstance(part, ast.Call) and last_name(part.func).endswith("_like") for n in ast.walk(part)]
    return any(isinstance(n, ast.Name) and n.id in spot.statement.binds() and n not in shaped for n in ast.walk(branch))


def probabilities(spot: Spot, node: Any) -> Change | None:
    """A sigmoid before a clip to what is left of 0 to 1."""
    if not is_call(node, "clip_by_value", "clip", "clamp") or (x := spot.operand(node)) is None or (sigmoid := spot.spelled(spot.dialect.sigmoid)) is None:
        return None
    bounds = [unparse(a) for a in [*node.args, *(k.value for k in node.keywords)] if numbers(a)]
    made = spot.source.last_binding(spot.source.key(unparse(x), spot.statement.function), spot.statement) if isinstance(x, ast.Name) else None
    known = made is not None and made.calls("sigmoid", "softmax", "exp")
    return (x, f"{sigmoid}({unparse(x)})") if not known and any(0 < float(bound) < 0.01 for bound in bounds) else None


def scaled(*names: str) -> Edit:
    """The input of a curve divided by how far out it lies."""

    def edit(spot: Spot, node: Any) -> Change | None:
        if not is_call(node, *names) or (x := spot.operand(node)) is None or spot.entry is None:
            return None
        found = [numbers_of(spot.inquiry.entries[row].value) for row in (*spot.entry.inputs, *(i for row in spot.entry.inputs for i in spot.inquiry.entries[row].inputs))]
        largest = max((float(np.abs(a).max()) for a in found if a is not None and a.size and np.isfinite(a).all()), default=0.0)
        return (x, f"{slim(x)} / {float(f'{largest / 2:.0e}')!r}") if largest > 4 else None

    return edit


def apart(diagonal: str) -> Edit:
    """Different small numbers on the diagonal of a matrix whose eigenvalues are equal."""

    def edit(spot: Spot, node: Any) -> Change | None:
        if not is_call(node, "eigh", "eigvalsh", "svd", "eig") or (x := spot.operand(node)) is None or spot.entry is None or not spot.entry.inputs:
            return None
        shape, functions = spot.inquiry.entries[spot.entry.inputs[0]].shape, [spot.spelled(path) for path in diagonal.split()]
        if len(shape) < 2 or shape[-1] != shape[-2] or None in functions:
            return None
        return x, f"{slim(x)} + {functions[0]}({functions[1]}(0.0, 0.001, {shape[-1]}))"

    return edit


def away(spot: Spot, node: Any) -> Change | None:
    """The second argument of an angle away from zero."""
    return (node.args[1], f"{slim(node.args[1])} + 1e-06") if is_call(node, "arctan2", "atan2") and len(node.args) == 2 else None
