"""A few edits of the line to blame: a call is taken out, a keyword or a literal changes, a line comes before it.

An edit looks at one piece of the statement's syntax, and says what should be in its place.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from ..common.texts import paragraph
from ..engine.recording.frames import lines_of
from ..explain.sentences import fill
from ..explain.words import Explanation
from . import checks, text
from .model import Finding, Question

Edit = Callable[[Question, text.Statement, ast.AST], str | None]
LEAVES = ("item", "numpy", "tolist", "cpu")


def without(*names: str) -> Edit:
    """Leaves out a call: ``x.detach()``, ``tf.stop_gradient(x)``; or an attribute, ``x.data``."""

    def edit(q: Question, at: text.Statement, node: ast.AST) -> str | None:
        if isinstance(node, ast.Attribute) and node.attr in names and not _is_called(at, node):
            return ast.unparse(node.value)
        if not isinstance(node, ast.Call) or text.last_name(node.func) not in names or isinstance(at.node, ast.Expr):
            return None
        module = isinstance(node.func, ast.Name) or ast.unparse(node.func).partition(".")[0] in _modules(q)
        parts = node.args[:1] if module else [node.func.value]
        return _text(parts[0]) if parts else None

    return edit


def keyword(name: str, value: object, *calls: str) -> Edit:
    """Gives a call a keyword, or another value for it."""

    def edit(q: Question, at: text.Statement, node: ast.AST) -> str | None:
        known = [k for k in node.keywords if k.arg == name] if isinstance(node, ast.Call) else []
        if not isinstance(node, ast.Call) or (calls and text.last_name(node.func) not in calls) or not (known or calls):
            return None
        others = [ast.unparse(one) for one in (*node.args, *(k for k in node.keywords if k not in known))]
        return f"{ast.unparse(node.func)}({', '.join([*others, f'{name}={value}'])})"

    return edit


def renamed(old: str, new: str) -> Edit:
    """Calls another function."""

    def edit(q: Question, at: text.Statement, node: ast.AST) -> str | None:
        if not isinstance(node, ast.Call) or text.last_name(node.func) != old:
            return None
        head = ast.unparse(node.func).removesuffix(old) + new
        return f"{head}({', '.join(map(ast.unparse, (*node.args, *node.keywords)))})"

    return edit


def floats(q: Question, at: text.Statement, node: ast.AST) -> str | None:
    """Whole numbers of the call that makes a tensor, as floats."""
    if (
        not isinstance(node, ast.Call)
        or text.last_name(node.func) not in ("Variable", "tensor", "Parameter")
        or "trainable" in ast.unparse(node)
    ):
        return None
    said = ast.unparse(node)
    numbers = [n for n in ast.walk(node) if isinstance(n, ast.Constant) and type(n.value) is int]
    if any(k.arg == "dtype" for k in node.keywords):
        return said.replace("int32", "float32").replace("int64", "float32").replace("long", "float32")
    for n in numbers:
        n.value = float(n.value)
    new = ast.unparse(node) + ""
    for n in numbers:
        n.value = int(n.value)
    return new if numbers else None


def in_framework(q: Question, at: text.Statement, node: ast.AST) -> str | None:
    """A value that left and came back in one expression: with the framework's functions, and without the way out."""
    if not isinstance(node, ast.Call) or text.last_name(node.func) not in (
        "constant",
        "tensor",
        "as_tensor",
        "convert_to_tensor",
        "from_numpy",
        "array",
    ):
        return None
    inner = node.args[0] if node.args else None
    said = None if inner is None or isinstance(inner, (ast.List, ast.Name)) else _inside(q, inner)
    return None if said == (inner and ast.unparse(inner)) else said


def _inside(q: Question, node: ast.expr) -> str | None:
    """An expression of NumPy and numbers in the framework's functions; None where one is not known there."""
    if isinstance(node, ast.Call):
        name = text.last_name(node.func)
        if name in LEAVES and isinstance(node.func, ast.Attribute):
            return _inside(q, node.func.value)
        if isinstance(node.func, ast.Name) and name in ("float", "int") and node.args:
            return _inside(q, node.args[0])
        root = ast.unparse(node.func).partition(".")[0]
        args = [_inside(q, one) for one in node.args]
        if root in ("np", "numpy") and None not in args and not node.keywords:
            name = (
                {"mean": "reduce_mean", "sum": "reduce_sum", "max": "reduce_max"}.get(name, name)
                if q.adapter.module == "tf"
                else name
            )
            return f"{q.adapter.module}.{name}({', '.join(map(str, args))})"
        return ast.unparse(node) if root in _modules(q) and root not in ("np", "numpy") else None
    if isinstance(node, ast.BinOp):
        left, right = _inside(q, node.left), _inside(q, node.right)
        new = ast.parse(f"({left}) + ({right})", mode="eval").body if left and right else None
        if isinstance(new, ast.BinOp):
            new.op = node.op
        return None if new is None else ast.unparse(new)
    return ast.unparse(node) if isinstance(node, (ast.Name, ast.Constant, ast.Attribute, ast.Subscript)) else None


def stacked(q: Question, at: text.Statement, node: ast.AST) -> str | None:
    """``torch.stack([a, b])`` for ``torch.tensor([a, b])``."""
    name = text.last_name(node.func) if isinstance(node, ast.Call) else ""
    if (
        name not in ("tensor", "Tensor", "FloatTensor", "as_tensor")
        or not node.args
        or not isinstance(node.args[0], (ast.List, ast.ListComp, ast.Name))
    ):
        return None
    return f"{ast.unparse(node.func).removesuffix(name)}stack({ast.unparse(node.args[0])})"


def operand(form: str, *names: str) -> Edit:
    """Keeps what a function is applied to away from a point: ``sqrt(x + 1e-12)``."""

    def edit(q: Question, at: text.Statement, node: ast.AST) -> str | None:
        if not isinstance(node, ast.Call) or text.last_name(node.func) not in names:
            return None
        method = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value).partition(".")[
            0
        ] not in _modules(q)
        x = node.func.value if method else node.args[0]
        new = ast.unparse(ast.parse(form.format(x=f"({ast.unparse(x)})"), mode="eval"))
        rest = ", ".join(map(ast.unparse, (*node.args[not method :], *node.keywords)))
        return (
            f"({new}).{node.func.attr}({rest})"
            if method
            else f"{ast.unparse(node.func)}({', '.join(filter(None, (new, rest)))})"
        )

    return edit


def with_line(form: str, before: bool = True) -> Edit:
    """A line before the one that uses the source, or behind the one that makes it."""

    def edit(q: Question, at: text.Statement, node: ast.AST) -> str | None:
        tape = next((w for s in reversed(at.around) if isinstance(s.node, ast.With) for w in s.binds), "")
        if (
            node is not at.node
            or ("{tape}" in form and not tape)
            or hasattr(node, "body")
            or not q.name.replace(".", "").isidentifier()
        ):
            return None
        lines = [form.format(x=q.name, tape=tape), ast.unparse(node)]
        return "\n".join(lines if before else lines[::-1])

    return edit


def passed_on(q: Question, at: text.Statement, node: ast.AST) -> str | None:
    """The gradient of a step as if it were not there: ``x + tf.stop_gradient(tf.round(x) - x)``."""
    steps = ("round", "floor", "ceil", "sign", "rint", "trunc")
    if (
        not isinstance(node, ast.Call)
        or text.last_name(node.func) not in steps
        or len(node.args) != 1
        or sum(bool(one.why) for _, one in q.way) > 1
    ):
        return None
    x = _text(node.args[0])
    step = f"{ast.unparse(node)} - {x}"
    new = f"{x} + " + (
        f"({step}).detach()"
        if q.adapter.module == "torch"
        else f"{'lax' if q.adapter.module == 'jnp' else 'tf'}.stop_gradient({step})"
    )
    return new if node is at.value else f"({new})"


def assigned(q: Question, at: text.Statement, node: ast.AST) -> str | None:
    """``w.assign(w - g)`` for ``w = w - g``; of PyTorch ``w -= g``."""
    if node is not at.node or not isinstance(node, (ast.Assign, ast.AugAssign)) or len(at.targets) != 1 or not at.value:
        return None
    name, value = at.binds[0], at.value
    if q.adapter.module == "tf":
        if not checks.held_variable(q, at):
            return None
        new = (
            f"{name} {_sign(node.op)} ({ast.unparse(value)})" if isinstance(node, ast.AugAssign) else ast.unparse(value)
        )
        return (
            f"{name}.assign({ast.unparse(ast.parse(new))})"
            if name in at.reads and not isinstance(value, (ast.List, ast.ListComp))
            else None
        )
    if isinstance(value, ast.BinOp) and ast.unparse(value.left) == name:
        return f"{name} {_sign(value.op)}= {ast.unparse(value.right)}"
    return None


def not_in_place(q: Question, at: text.Statement, node: ast.AST) -> str | None:
    """``y = y + 1`` for ``y += 1``; a copy before one element is set."""
    if node is at.node and isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return f"{ast.unparse(node.target)} = {ast.unparse(node.target)} {_sign(node.op)} {_text(node.value)}"
    if node is at.node and isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        name = ast.unparse(node.targets[0].value)
        return f"{name} = {name}.clone()\n{ast.unparse(node)}"
    return None


def _sign(op: ast.operator) -> str:
    return ast.unparse(ast.BinOp(ast.Name("a"), op, ast.Name("b")))[1:-1].strip()


def _text(node: ast.expr) -> str:
    return (
        f"({ast.unparse(node)})"
        if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp))
        else ast.unparse(node)
    )


def _is_called(at: text.Statement, node: ast.AST) -> bool:
    return any(call.func is node for call in at.calls) or node in at.targets


def _modules(q: Question) -> set[str]:
    """The names of the program that are modules."""
    return {name for name, value in q.adapter.names() if type(value).__name__ == "module"} | {q.adapter.module, "np"}


EDITS: dict[str, list[Edit]] = {
    "detach": [without("detach", "detach_")],
    "data": [without("data")],
    "stop_gradient": [without("stop_gradient")],
    "copied": [stacked, without("tensor", "as_tensor")],
    "no_grad": [renamed("sample", "rsample"), keyword("use_reentrant", False, "checkpoint"), assigned],
    "create_graph": [keyword("create_graph", True, "grad")],
    "requires_grad": [
        keyword("requires_grad", True),
        keyword("requires_grad", True, "tensor", "randn", "ones", "zeros", "rand"),
    ],
    "non_leaf": [with_line("{x}.retain_grad()", before=False)],
    "integer_dtype": [floats],
    "not_watched": [with_line("{tape}.watch({x})")],
    "not_trainable": [keyword("trainable", True)],
    "not_accessed_watched": [keyword("watch_accessed_variables", True)],
    "left_through_numpy": [in_framework],
    "left_torch": [in_framework, stacked],
    "rebound": [assigned],
    "nondifferentiable_op": [passed_on],
    "nondifferentiable": [passed_on],
    "zero_derivative": [passed_on],
    "no_derivative": [passed_on],
    "in_place": [not_in_place],
    "not_scalar": [operand("{x}.mean()", "backward")],
    "nan_backward": [operand("{x} + 1e-12", "sqrt", "norm"), operand("{x} * 0.999999", "acos", "asin")],
}


def offer(q: Question, found: Finding, answer: Explanation) -> None:
    """Adds the line as it should be to an answer, where one line is enough."""
    at = text.at(found.site)
    lines = lines_of(found.site[0] or "")
    if (
        at is None
        or any(other.site != found.site and not other.beside for other in found.others)
        or (hasattr(at.node, "body") and found.cause != "not_accessed_watched")
    ):
        return
    for line, new in edits(q, found, at):
        old = lines[line - 1].rstrip("\n")
        answer.patch = "\n".join(one.strip() for one in new.split("\n"))
        answer.patch_line = line
        if answer.patch == old.strip():
            answer.patch = answer.patch_line = None
            continue
        answer.fix = paragraph(answer.fix, fill("Line {n} should be `{text}`.", n=line, text=answer.patch))
        return


def edits(q: Question, found: Finding, at: text.Statement) -> Iterator[tuple[int, str]]:
    """The lines that the edits of a cause give."""
    for edit in EDITS.get(found.cause, []):
        changed: dict[int, Any] = {}
        for node in at.nodes:
            new = edit(q, at, node)
            if new is not None and node.lineno == node.end_lineno:
                line = changed.setdefault(node.lineno, lines_of(at.file)[node.lineno - 1].rstrip("\n").encode())
                changed[node.lineno] = line[: node.col_offset] + new.encode() + line[node.end_col_offset :]
                break
        for line, text_ in changed.items():
            yield line, text_.decode()
