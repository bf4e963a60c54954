"""What fixes the line to blame: each edit says what should be in the place of a piece of its syntax, or None."""

from __future__ import annotations

import ast
import re
from typing import Any

from ..reasons.text import last_name, names_in, operands, parsed, unparse
from .dialects import TAPE
from .leaving import bare
from .site import REBUILDS, SIMPLE, Change, Edit, Spot, is_call, is_index, is_module, operand, spelled

GRADIENTS = ("grad", "value_and_grad", "filter_grad", "filter_value_and_grad")
MAKERS = (
    "Variable constant convert_to_tensor tensor array asarray randn rand zeros ones full fill range arange linspace"
).split()


def without(*names: str) -> Edit:
    """``x`` for ``x.name()``, ``name(x)`` and ``x.name``."""

    def edit(spot: Spot, node: Any) -> Change:
        one, rows = spot.entry, spot.question.rows
        alike = [e for e in rows if one is not None and (e.op, e.site, e.inputs) == (one.op, one.site, one.inputs)]
        if alike[1:] or any(is_call(n, *REBUILDS) and n is not node for n in spot.statement.nodes):
            return None  # the line blocks another use on purpose; or it makes something anew of the value
        if isinstance(node, ast.Attribute) and node.attr in names and not is_module(spot, node.value):
            changes = [n for n in spot.statement.nodes if isinstance(n, ast.Attribute) and n.value is node]
            return None if changes or spot.statement.targets[:1] == [node] else unparse(node.value)
        x = operand(spot, node) if is_call(node, *names) else None
        return None if x is None or any(a is not x for a in node.args) else unparse(x)

    return edit


def keyword(name: str, value: object, *functions: str) -> Edit:
    """``name=value`` in a call that says something else; with ``functions``, added to a call of those."""

    def edit(spot: Spot, node: Any) -> Change:
        if not isinstance(node, ast.Call):
            return None
        said = next((k for k in node.keywords if k.arg == name), None)
        if said is not None:
            return None if unparse(said.value) == str(value) else (said.value, str(value))
        if not is_call(node, *functions):
            return None
        return unparse(ast.Call(node.func, node.args, [*node.keywords, ast.keyword(name, parsed(str(value)))]))

    return edit


def alone(edit: Edit) -> Edit:
    """An edit that is not offered where another line of the block needs it, too."""

    def once(spot: Spot, node: Any) -> Change:
        near = (n for s in spot.statements if s.block == spot.statement.block for n in s.nodes)
        return edit(spot, node) if sum(edit(spot, n) is not None for n in near) == 1 else None

    return once


def argument(spot: Spot, node: Any, names: tuple[str, ...]) -> ast.expr | None:
    """x of ``name(x)`` and ``x.name()``, of ``a / x`` ("div") and of ``x ** 0.5`` ("pow")."""
    if isinstance(node, ast.BinOp) and type(node.op).__name__.lower() in names:
        whole = isinstance(node.op, ast.Pow) and re.fullmatch(r"[1-9][\d.]*", unparse(node.right))
        return node.right if isinstance(node.op, ast.Div) else None if whole else node.left
    return operand(spot, node) if is_call(node, *names) else None


def on_operand(template: str, *names: str) -> Edit:
    """Another operand of an operation."""

    def edit(spot: Spot, node: Any) -> Change:
        x = argument(spot, node, names)
        return None if x is None else (x, template.format(x=f"({unparse(x)})"))

    return edit


def masked_before(*names: str) -> Edit:
    """``where`` also around what an operation takes that a where hides: ``where(m, f(where(m, x, 1.0)), 0.0)``."""

    def edit(spot: Spot, node: Any) -> Change:
        x = argument(spot, node, names)
        masks = [n for n in spot.statement.nodes if is_call(n, "where") and len(n.args) == 3]
        mask = next((n for n in masks if node in ast.walk(n)), None)
        # the mask is of the shape of the norms, not of the vectors
        vectors = is_call(node, "norm") and (node.keywords or node.args[1:])
        if mask is None or x is None or vectors or is_call(x, "where"):
            return None
        kept = f"{unparse(x)}, 1.0" if node in ast.walk(mask.args[1]) else f"1.0, {unparse(x)}"
        return x, f"{unparse(mask.func)}({unparse(mask.args[0])}, {kept})"

    return edit


def before(template: str) -> Edit:
    """A line before the use of the source by its name, with which the source has a gradient."""

    def edit(spot: Spot, node: Any) -> Change:
        if node is not spot.statement.node or not isinstance(node, SIMPLE):
            return None
        read = {unparse(n) for n in spot.statement.nodes if isinstance(getattr(n, "ctx", None), ast.Load)}
        name = next((name for name in source_names(spot) if name in read), None)
        return None if name is None else f"{template.format(x=name)}\n{unparse(node)}"

    return edit


def source_names(spot: Spot) -> list[str]:
    """What the program calls the source: no name that is another object's where the question is asked."""
    question = spot.question
    here = spot.names
    return [
        n
        for n in dict.fromkeys((spot.path, question.name))
        if n and question.adapter.to_handle(here.get(n, question.source)) is question.adapter.to_handle(question.source)
    ]


def leaf(spot: Spot, node: Any) -> Change:
    """What is trained is computed first, and requires grad then; what the program goes on with keeps its gradient."""
    name = next((name for name in source_names(spot) if spot.statement.binds == [name]), None)
    if name is None or not isinstance(node, ast.Assign):
        return None
    cut = "" if "requires_grad" in unparse(node) else ".detach()"
    if cut and name not in spot.statement.reads:
        return f"{unparse(node)}\n{name}.retain_grad()"
    made = re.sub(r",? ?requires_grad=True", "", unparse(node.value))
    return node.value, f"({made}){cut}.requires_grad_()"


def reduced(spot: Spot, node: Any) -> Change:
    """The mean of all that a function of JAX returns."""
    mean = spelled(spot, "jnp.mean") if isinstance(node, ast.Return) and spot.dialect.name == "jax" else None
    mapped = {unparse(n.args[0]) for s in spot.statements for n in s.calls if is_call(n, "vmap") and n.args}
    if spot.statement.function in mapped:  # it is one number for each example
        return None
    return (node.value, f"{mean}({unparse(node.value)})") if mean and node.value is not None else None


def masked(spot: Spot, node: Any) -> Change:
    """``jnp.where(m, x, 0.0)`` for ``x[m]`` that is summed, here or where it is read."""
    known = isinstance(node, ast.Subscript) and isinstance(node.slice, (ast.Compare, ast.Name))
    sums = [call for s in (spot.statement, *spot.readers()) for call in s.calls if is_call(call, "sum")]
    fits = known and sums and not re.search("exp|log|cos", "".join(map(unparse, sums)))
    return f"{spelled(spot, 'jnp.where')}({unparse(node.slice)}, {unparse(node.value)}, 0.0)" if fits else None


def differentiated(spot: Spot, node: Any) -> Change:
    """``argnums=`` in the call that asks for the gradient, as the question has it."""
    if not is_call(node, *GRADIENTS):
        return None
    given = [ast.keyword("argnums", parsed(spot.instead)), *(k for k in node.keywords if k.arg != "argnums")]
    return unparse(ast.Call(node.func, node.args[:1], given))


def unfrozen(spot: Spot, node: Any) -> Change:
    """``True`` where ``requires_grad`` is set to False, of one thing and not of all in a loop."""
    if spot.statement.loops:
        return None
    if is_call(node, "requires_grad_") and node.args and unparse(node.args[0]) == "False":
        return node.args[0], "True"
    frozen = isinstance(node, ast.Assign) and last_name(node.targets[0]) in ("requires_grad", "trainable")
    return (node.value, "True") if frozen and unparse(node.value) == "False" else None


def as_float(spot: Spot, node: Any) -> Change:
    """Floats for the whole numbers of the call that makes the source: ``2.0`` for ``2``, or another dtype."""
    own = node is spot.call or {spot.path.partition("[")[0], spot.question.name} & set(spot.statement.binds)
    if (
        not (is_call(node, *MAKERS) or (isinstance(node, ast.Constant) and node is spot.statement.value))
        or not (own or spot.dialect.name != "tf")
        or is_index(spot)
    ):
        return None
    text = unparse(node)
    new = re.sub(r"(?<![\w.])(\d+)(?![\w.])", r"\1.0", text)
    if re.search(r"\b(u?int\d*|long)\b", text):
        new = re.sub(r"(?<=dtype=)([\w.]*\.)?(u?int\d+|long|int)\b", r"\1float32", text)
    if new != text and spot.dialect.name == "torch" and "requires_grad" not in text:
        new = f"{new[:-1]}, requires_grad=True)"
    return None if new == text else new


def assigned(name: str, value: ast.expr, step: ast.operator | None = None) -> str:
    """A name given to a new value, written as a change of TensorFlow's variable; empty where that has none.

    >>> assigned("w", parsed("w - 0.1 * g")), assigned("w", parsed("tf.Variable(2.0)"))
    ('w.assign_sub(0.1 * g)', 'w.assign(2.0)')
    """
    steps = (ast.Sub, ast.Add)
    if step is None and isinstance(value, ast.BinOp) and unparse(value.left) == name and isinstance(value.op, steps):
        step, value = value.op, value.right
    if isinstance(step, steps):
        return f"{name}.assign_{'sub' if isinstance(step, ast.Sub) else 'add'}({unparse(value)})"
    if is_call(value, "Variable") and value.args:
        value = value.args[0]
    return "" if step is not None else f"{name}.assign({unparse(value)})"


def rebound(spot: Spot, node: Any) -> Change:
    """``x -= g`` for ``x = x - g``, or the variable's own assignment in TensorFlow."""
    if node is not spot.statement.node:
        return None
    if spot.instead:
        return spot.instead
    value, names = getattr(node, "value", None), spot.statement.binds
    if not isinstance(value, ast.BinOp) or names != [unparse(value.left)] or spot.dialect is TAPE:
        return None  # of a tape the words know it
    sign = {ast.Sub: "-", ast.Add: "+"}.get(type(value.op))
    tf = spot.dialect.name == "tf"
    return None if sign is None else assigned(names[0], value) if tf else f"{names[0]} {sign}= {unparse(value.right)}"


def not_in_place(spot: Spot, node: Any) -> Change:
    """A new tensor instead of a changed one: ``y = y + 1`` for ``y += 1``, a copy before an item is set."""
    target: ast.expr
    if isinstance(node, ast.AugAssign):
        target = node.target
        new = unparse(ast.Assign([target], ast.BinOp(node.target, node.op, node.value), lineno=0))
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        target = node.targets[0].value
        new = f"{unparse(target)} = {unparse(target)}.clone()\n{unparse(node)}"
    else:
        return None
    again = isinstance(node, ast.Assign) and unparse(target) in names_in(ast.walk(node.value))
    return new if isinstance(target, ast.Name) and target.id != spot.question.name and not again else None


def rebuilt(spot: Spot, node: Any) -> Change:
    """The tensor itself, or ``torch.stack`` of several, for a new one that is made of their values."""
    stack, entry = spelled(spot, "torch.stack"), spot.entry
    if not is_call(node, "tensor", "as_tensor", "Variable", "FloatTensor", "Tensor") or not node.args or stack is None:
        return None
    given = node.args[0]
    parts = getattr(given, "elts", None) or ([given.elt] if isinstance(given, ast.ListComp) else [])
    if any(isinstance(n, ast.Constant) or bare(n) is not n for n in parts):
        return None
    made = [spot.question.rows[row] for row in (entry.extra.came or entry.inputs)] if entry else []
    if entry and len(made) == 1 and made[0].shape == entry.shape and not parts:
        return unparse(bare(given))
    return f"{stack}({unparse(given)})" if parts or (made and isinstance(given, ast.Name)) else None


def squeezed(spot: Spot, node: Any) -> Change | None:
    """The column of an operation that combines a column and a row, as a row."""
    entry: Any = spot.entry
    columns = [k for k, row in enumerate(entry.inputs[:2]) if len(spot.question.rows[row].shape) == 2]
    sides = operands(entry.site, entry.op)
    known = len(columns) == 1 and sides and node is sides[columns[0]]
    return spot.dialect.squeezed.format(x=f"({unparse(node)})") if known else None


def cleared(spot: Spot, node: Any) -> Change | None:
    """``zero_grad()`` behind a step."""
    whole = isinstance(spot.statement.node, ast.Expr) and node is spot.statement.node.value
    step = whole and is_call(node, "step") and isinstance(node.func, ast.Attribute) and not node.args
    return f"{unparse(node)}\n{unparse(node.func.value)}.zero_grad()" if step else None


def sampled(spot: Spot, node: Any) -> Change | None:
    """A draw through which a gradient passes, where no block of the program's own has switched autograd off."""
    paused = spot.statement.within("no_grad", "inference_mode")
    if not is_call(node, "sample") or not isinstance(node.func, ast.Attribute) or paused:
        return None
    rows = [row for row in spot.question.rows if spot.entry is not None and row.site == spot.entry.site]
    whole = any(row.op in ("bernoulli", "poisson", "binomial", "multinomial") for row in rows)
    return None if whole else (node.func, f"{unparse(node.func.value)}.rsample")
