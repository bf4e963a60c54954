"""What fixes the line to blame: each edit says what should be in the place of a piece of its syntax, or None."""

from __future__ import annotations

import ast
import re
from typing import Any

from ..reasons.text import last_name, parsed, unparse
from .dialects import TAPE
from .site import REBUILDS, SIMPLE, Change, Edit, Spot, is_call, is_index, is_module, operand, spelled

MAKERS = (
    "Variable constant convert_to_tensor tensor array asarray randn rand zeros ones full fill range arange linspace"
).split()


def without(*names: str) -> Edit:
    """``x`` for ``x.name()``, ``name(x)`` and ``x.name``."""

    def edit(spot: Spot, node: Any) -> Change | None:
        if any(is_call(n, *REBUILDS) and n is not node for n in spot.statement.nodes) or _twice(spot):
            return None  # what is made anew of the value, or what another path needs
        if isinstance(node, ast.Attribute) and node.attr in names and not is_module(spot, node.value):
            changes = [n for n in spot.statement.nodes if isinstance(n, ast.Attribute) and n.value is node]
            return None if changes or spot.statement.targets[:1] == [node] else unparse(node.value)
        x = operand(spot, node) if is_call(node, *names) else None
        return None if x is None or any(a is not x for a in node.args) else unparse(x)

    return edit


def _twice(spot: Spot) -> bool:
    """Whether the row to blame has another beside it, of the same line and the same input: what one of them needs the
    other must not have.
    """
    one = spot.entry
    return (
        one is not None
        and sum((e.op, e.site, e.inputs) == (one.op, one.site, one.inputs) for e in spot.question.rows) > 1
    )


def keyword(name: str, value: object, *functions: str) -> Edit:
    """``name=value`` in a call that says something else; with ``functions``, added to a call of those."""

    def edit(spot: Spot, node: Any) -> Change | None:
        if not isinstance(node, ast.Call):
            return None
        said = next((k for k in node.keywords if k.arg == name), None)
        if said is not None:
            return None if unparse(said.value) == str(value) else (said.value, str(value))
        more = ast.keyword(name, parsed(str(value)))
        return unparse(ast.Call(node.func, node.args, [*node.keywords, more])) if is_call(node, *functions) else None

    return edit


def on_operand(template: str, *names: str) -> Edit:
    """``name(x)`` and ``x.name()`` of another operand: the template of {x}."""

    def edit(spot: Spot, node: Any) -> Change | None:
        x = operand(spot, node) if is_call(node, *names) else None
        return None if x is None else (x, template.format(x=f"({unparse(x)})"))

    return edit


def on_source(template: str) -> Edit:
    """A line before the use of the source by its name, with which the source has a gradient."""

    def edit(spot: Spot, node: Any) -> Change | None:
        if node is not spot.statement.node or not isinstance(node, SIMPLE):
            return None
        read = {unparse(n) for n in spot.statement.nodes if isinstance(getattr(n, "ctx", None), ast.Load)}
        name = next((name for name in source_names(spot) if name in read), None)
        return None if name is None else f"{template.format(x=name)}\n{unparse(node)}"

    return edit


def behind(template: str) -> Edit:
    """A line behind the one that binds the source."""

    def edit(spot: Spot, node: Any) -> Change | None:
        binds = spot.statement.binds
        once = isinstance(node, ast.Assign) and node is spot.statement.node and len(binds) == 1
        return f"{unparse(node)}\n{template.format(x=binds[0])}" if once and not spot.statement.loops else None

    return edit


def source_names(spot: Spot) -> list[str]:
    """What the program calls the source: no name that is another object's where the question is asked."""
    q = spot.question
    here = spot.names
    found = dict.fromkeys((spot.path, q.name))
    return [n for n in found if n and q.adapter.handle(here.get(n, q.source)) is q.adapter.handle(q.source)]


def unfrozen(spot: Spot, node: Any) -> Change | None:
    """``True`` where ``requires_grad`` is set to False, of one thing and not of all in a loop."""
    if spot.statement.loops:
        return None
    if is_call(node, "requires_grad_") and node.args and unparse(node.args[0]) == "False":
        return node.args[0], "True"
    frozen = isinstance(node, ast.Assign) and last_name(node.targets[0]) in ("requires_grad", "trainable")
    return (node.value, "True") if frozen and unparse(node.value) == "False" else None


def as_float(spot: Spot, node: Any) -> Change | None:
    """Floats for the whole numbers of the call that makes the source: ``2.0`` for ``2``, or a dtype."""
    value = spot.statement.value
    own = node is spot.call or {spot.path.partition("[")[0], spot.question.name} & set(spot.statement.binds)
    made = is_call(node, *MAKERS) or (isinstance(node, ast.Constant) and node is value)
    if not made or not (own or spot.dialect.name != "tf") or is_index(spot) or _beside_integers(spot):
        return None
    if any("int" in unparse(a) for a in getattr(node, "args", ())[1:]):
        return None  # its type
    typed = [k for k in getattr(node, "keywords", ()) if k.arg == "dtype" and "int" in unparse(k.value)]
    text = unparse(node)
    if typed:
        text = re.sub(r"\b(u?int\d+|long|int)\b", "float32", text)
    elif re.search(r"(?<![\w.])\d+(?![\w.])", text):
        text = re.sub(r"(?<![\w.])(\d+)(?![\w.])", r"\1.0", text)
    elif isinstance(node, ast.Call) and (like := spelled(spot, f"{spot.dialect.places[0]}.float32")):
        text = unparse(ast.Call(node.func, node.args, [*node.keywords, ast.keyword("dtype", parsed(like))]))
    if spot.dialect.name == "torch" and "requires_grad" not in text:
        text = f"{text[:-1]}, requires_grad=True)"
    return None if text == unparse(node) else text


def _beside_integers(spot: Spot) -> bool:
    """Whether the source is an index, or taken together with other whole numbers, which must be of its type."""
    q = spot.question
    after = q.after
    beside = (
        (q.rows[other], e.site)
        for e in q.rows
        if after & set(e.inputs) and not re.search("(?i)cast|reshape|slice|sum|mean|expand|transpose", e.op)
        for other in e.inputs
        if other not in after
    )
    whole = [(one, site) for one, site in beside if "int" in str(one.dtype)]
    numbers = [one for one, site in whole if one.kind == "constant" and one.site == site and not one.shape]
    return looked_up(spot) is not None or len(whole) > len(numbers)  # a number of Python's becomes a float, too


def looked_up(spot: Spot) -> int | None:
    """What an operation takes elements of, where the source tells which."""
    q = spot.question
    for entry in q.rows:
        floats = [row for row in entry.inputs if "float" in str(q.rows[row].dtype)]
        chosen = re.search("(?i)gather|embedding|index_?select|take", entry.op)
        if chosen and floats and not q.after.isdisjoint({*entry.inputs} - {*floats}):
            return floats[0]
    return None


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


def rebound(spot: Spot, node: Any) -> Change | None:
    """``x -= g`` for ``x = x - g``, or the variable's own assignment in TensorFlow."""
    if node is not spot.statement.node:
        return None
    if spot.instead:
        gone = {unparse(t) for s in spot.statements if isinstance(s.node, ast.Delete) for t in s.node.targets}
        return None if gone & set(spot.statement.binds) else spot.instead
    value, names = getattr(node, "value", None), spot.statement.binds
    if not isinstance(node, ast.Assign) or not isinstance(value, ast.BinOp) or names != [unparse(value.left)]:
        return None
    sign = {ast.Sub: "-", ast.Add: "+"}.get(type(value.op))
    tf = spot.dialect.name == "tf"
    if spot.dialect is TAPE:
        return None  # its words know it
    return None if sign is None else assigned(names[0], value) if tf else f"{names[0]} {sign}= {unparse(value.right)}"


def itself(spot: Spot, node: Any) -> Change | None:
    """``v`` for ``tf.identity(v)``, ``tf.convert_to_tensor(v)`` and ``v.value()``, where that made the source."""
    own = {spot.path.partition("[")[0], spot.question.name} & set(spot.statement.binds)
    if node is not spot.call and not own:
        return None
    if is_call(node, "value", "read_value") and not node.args and isinstance(node.func, ast.Attribute):
        return unparse(node.func.value)
    if not is_call(node, "identity", "convert_to_tensor") or len(node.args) != 1:
        return None
    given, numpy = unparse(node.args[0]), spot.aliases("numpy")
    made = (n for s in spot.statements if given in s.binds for n in s.nodes)
    return None if any(isinstance(n, ast.Name) and n.id in numpy for n in made) else given


def not_in_place(spot: Spot, node: Any) -> Change | None:
    """A new tensor instead of a changed one: ``y = y + 1`` for ``y += 1``, a copy before an item is set."""
    target: ast.expr
    if isinstance(node, ast.AugAssign):
        target = node.target
        new = unparse(ast.Assign([target], ast.BinOp(node.target, node.op, node.value), lineno=0))
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        target = node.targets[0].value
        again = [s for s in spot.statements if any(t.startswith(f"{unparse(target)}[") for t in s.binds)]
        reads = [s for s in again if unparse(target) in {unparse(n) for n in ast.walk(s.value or s.node)}]
        new = "" if len(again) > 1 and reads else f"{unparse(target)} = {unparse(target)}.clone()\n{unparse(node)}"
    else:
        return None
    return new if new and isinstance(target, ast.Name) and target.id != spot.question.name else None


def rebuilt(spot: Spot, node: Any) -> Change | None:
    """The tensor itself, or ``torch.stack`` of several, for a new one that is made of their values."""
    if not is_call(node, "tensor", "as_tensor", "Variable", "FloatTensor", "Tensor") or not node.args:
        return None
    given, stack = node.args[0], spelled(spot, "torch.stack")
    if any(k.arg not in ("requires_grad", "device", "dtype") for k in node.keywords) or stack is None:
        return None
    parts = getattr(given, "elts", None) or ([given.elt] if isinstance(given, ast.ListComp) else [])
    if parts:
        numbers = any(isinstance(n, ast.Constant) or _inner(n) is not n for n in parts)
        return None if numbers else f"{stack}({unparse(given)})"
    entry = spot.entry
    made = [spot.question.rows[row] for row in (entry.extra.came or entry.inputs)] if entry else []
    if entry and len(made) == 1 and made[0].shape == entry.shape:
        return unparse(_inner(given))
    return f"{stack}({unparse(given)})" if made and isinstance(given, ast.Name) else None


def _inner(node: Any) -> ast.expr:
    """What a value was taken from: ``loss`` of ``loss.detach().item()`` and ``loss.data``."""
    while is_call(node, "detach", "item", "clone") or (isinstance(node, ast.Attribute) and node.attr == "data"):
        node = node.func.value if isinstance(node, ast.Call) else node.value  # type: ignore[attr-defined]
    return node


def tensor_kept(spot: Spot, node: Any) -> Change | None:
    """``h`` for ``tf.Variable(h)``."""
    if not is_call(node, "Variable") or not node.args:
        return None
    whole = isinstance(node.args[0], (ast.Call, ast.BinOp, ast.UnaryOp))  # else it may be a list
    return unparse(node.args[0]) if whole else f"tf.convert_to_tensor({unparse(node.args[0])})"


def sampled(spot: Spot, node: Any) -> Change | None:
    """A draw through which a gradient passes, where no block of the program's own has switched autograd off."""
    if not is_call(node, "sample") or not isinstance(node.func, ast.Attribute) or is_module(spot, node.func):
        return None
    rows = [row for row in spot.question.rows if spot.entry is not None and row.site == spot.entry.site]
    whole = any(row.op in ("bernoulli", "poisson", "binomial", "multinomial") for row in rows)
    paused = spot.statement.within("no_grad", "inference_mode")
    return (node.func, f"{unparse(node.func.value)}.rsample") if not whole and not paused else None
