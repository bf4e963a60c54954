"""What fixes a line where nothing arrives: each edit says what should be in the place of a piece of syntax, or None;
see :mod:`patches`.
"""

from __future__ import annotations

import ast
import re
from typing import Any, TypeGuard

import numpy as np

from ..statement import form, last_name, parameters, parsed, rewritten, unparse
from .edit_site import REBUILDS, SIMPLE, Change, EditStep, Fix, Spot, builds, edit_with, is_call

_WHOLE_DRAWS = ("bernoulli", "poisson", "binomial", "multinomial")
_MAKERS = ("Variable", "constant", "convert_to_tensor", "range", "zeros", "ones", "fill", "add_weight")


@edit_with
def without(spot: Spot, node: Any, *names: str) -> Change | None:
    """``x`` for ``x.name()``, ``name(x)`` and ``tree.map(name, x)``."""
    if is_call(node, "map", "tree_map") and len(node.args) == 2 and last_name(node.args[0]) in names:
        return unparse(node.args[1])
    x = spot.operand(node) if is_call(node, *names) else None
    copied = (
        x is not None and x not in node.args and (any(builds(n) for n in spot.statement.walk()) or spot.meets_again())
    )
    return None if x is None or copied or any(a is not x for a in node.args) else unparse(x)


@edit_with
def attribute(spot: Spot, node: Any, name: str) -> Change | None:
    """``x`` for ``x.name``."""
    if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load):
        changed = any(
            isinstance(n, ast.Attribute) and n.value is node and n.attr.endswith("_") for n in spot.statement.walk()
        )
        changed |= any(last_name(target) == name for target in spot.statement.targets())
        return None if changed or any(builds(n) for n in spot.statement.walk()) else unparse(node.value)
    return None


@edit_with
def keyword(spot: Spot, node: Any, name: str, value: bool, *functions: str) -> Change | None:
    """``name=value`` in a call that says the opposite; with ``functions``, added to a call of those."""
    if not isinstance(node, ast.Call):
        return None
    said = next((k for k in node.keywords if k.arg == name), None)
    if said is not None:
        return None if isinstance(said.value, ast.Constant) and said.value.value is value else (said.value, str(value))
    if last_name(node.func) not in functions:
        return None
    if not node.args:
        return unparse(ast.Call(node.func, [], [*node.keywords, ast.keyword(name, ast.Constant(value))]))
    return node.args[-1], f"{unparse(node.args[-1])}, {name}={value}"


@edit_with
def renamed(spot: Spot, node: Any, **names: str) -> Change | None:
    """A call of another function with the same arguments."""
    if not isinstance(node, ast.Call) or (instead := names.get(last_name(node.func))) is None:
        return None
    if "." in instead:
        module = spot.is_module(node.func) or isinstance(node.func, ast.Name)
        spelled = spot.spelled(instead) if module else None
        return None if spelled is None else (node.func, spelled)
    return (node.func, f"{unparse(node.func.value)}.{instead}") if isinstance(node.func, ast.Attribute) else None


@edit_with
def texts(spot: Spot, node: Any, **names: str) -> Change | None:
    """Another name of a function, where it is given as a text: ``activation="leaky_relu"``."""
    known = isinstance(node, ast.keyword) and isinstance(node.value, ast.Constant) and node.value.value in names
    return (node.value, f'"{names[node.value.value]}"') if known else None


@edit_with
def on_operand(spot: Spot, node: Any, template: str, *names: str) -> Change | None:
    """``name(x)`` and ``x.name()`` with another operand: the template of {x}."""
    if not is_call(node, *names) or (x := spot.operand(node)) is None:
        return None
    return x, form(template, x=x)


def numbers(*nodes: ast.expr) -> bool:
    return all(re.fullmatch(r"-?[\d.]+(e-?\d+)?", unparse(node)) for node in nodes)


def larger_of_two(spot: Spot, node: Any) -> Change | None:
    """``jnp.maximum`` for Python's ``max``, ``jnp.where`` for an ``if`` in an expression."""
    if is_call(node, "max", "min") and isinstance(node.func, ast.Name) and len(node.args) == 2:
        instead = spot.spelled(f"jnp.{node.func.id}imum")
        return None if instead is None else f"{instead}({', '.join(map(unparse, node.args))})"
    if isinstance(node, ast.IfExp) and (where := spot.spelled("jnp.where")) is not None:
        return f"{where}({unparse(node.test)}, {unparse(node.body)}, {unparse(node.orelse)})"
    return None


def chosen(spot: Spot) -> Fix | None:
    """``x = jnp.where(condition, a, b)`` for an ``if`` whose branches both give ``x`` a value, or return one."""
    node, where = spot.statement.node, spot.spelled("jnp.where")
    if not isinstance(node, ast.If) or where is None or len(node.body) != 1:
        return None
    beside = [
        s.node
        for s in spot.statements
        if s.block == spot.statement.block and s.function is spot.statement.function and s.order > spot.statement.order
    ]
    after = [n for n in beside if n.lineno > (node.end_lineno or 0)][:1]
    (yes,), no = node.body, node.orelse if node.orelse else after
    if len(no) != 1 or type(yes) is not type(no[0]):
        return None
    last = max(node.end_lineno or 0, no[0].end_lineno or 0)
    if (
        isinstance(yes, ast.Return)
        and isinstance(no[0], ast.Return)
        and yes.value is not None
        and no[0].value is not None
    ):
        new = f"return {where}({unparse(node.test)}, {unparse(yes.value)}, {unparse(no[0].value)})"
    elif (
        isinstance(yes, ast.Assign)
        and isinstance(no[0], ast.Assign)
        and node.orelse
        and list(map(unparse, yes.targets)) == list(map(unparse, no[0].targets))
        and len(yes.targets) == 1
    ):
        new = f"{unparse(yes.targets[0])} = {where}({unparse(node.test)}, {unparse(yes.value)}, {unparse(no[0].value)})"
    else:
        return None
    return spot.checked([EditStep(node.lineno, last, " " * node.col_offset + new)])


def scanned(spot: Spot, node: Any) -> Change | None:
    """``lax.scan`` with a fixed number of steps for ``lax.while_loop``, whose state does not change when its condition
    has ended.
    """
    scan, tree, where = (spot.spelled(path) for path in ("lax.scan", "jax.tree.map", "jnp.where"))
    if not is_call(node, "while_loop") or len(node.args) != 3 or None in (scan, tree, where):
        return None
    go_on, step, begin = node.args
    bodies = [step, *spot.source.functions.get(unparse(step), [])]
    # a search, whose steps only choose: no gradient passes that
    if any(isinstance(n, ast.Compare) for body in bodies for n in ast.walk(body)):
        return None
    names = [n.arg for f in (go_on, step) if isinstance(f, ast.Lambda) for n in f.args.args]
    state, new, old = (next(c for c in (wish, f"{wish}_") if c not in names) for wish in ("state", "new", "old"))
    goes, steps = (f"({unparse(f)})" if isinstance(f, ast.Lambda) else unparse(f) for f in (go_on, step))
    chosen = f"{tree}(lambda {new}, {old}: {where}({goes}({state}), {new}, {old}), {steps}({state}), {state})"
    return f"{scan}(lambda {state}, _: ({chosen}, None), {unparse(begin)}, length=100)[0]"


def masked(spot: Spot, node: Any) -> Change | None:
    """``where=`` of a mean or sum for a condition as an index, or ``jnp.where`` that keeps the shape."""
    if is_call(node, "sum", "mean") and spot.is_module(node.func) and len(node.args) == 1 and not node.keywords:
        picks = [n for n in ast.walk(node.args[0]) if _picks(n)]
        conditions = {unparse(n.slice) for n in picks}
        if len(conditions) == 1:
            whole = rewritten(node.args[0], lambda n: n.value if isinstance(n, ast.Subscript) and n in picks else None)
            return f"{unparse(node.func)}({unparse(whole)}, where={conditions.pop()})"
    where = spot.spelled("jnp.where")
    return f"{where}({unparse(node.slice)}, {unparse(node.value)}, 0.0)" if _picks(node) and where else None


def _picks(node: ast.AST) -> TypeGuard[ast.Subscript]:
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and any(isinstance(n, (ast.Compare, ast.Invert)) for n in ast.walk(node.slice))
    )


def sampled(spot: Spot, node: Any) -> Change | None:
    """A draw through which a gradient passes, where no block of the program's own has switched autograd off."""
    whole = any(
        entry.op in _WHOLE_DRAWS
        for entry in spot.inquiry.entries
        if spot.entry is not None and entry.site == spot.entry.site
    )
    if (
        is_call(node, "sample")
        and isinstance(node.func, ast.Attribute)
        and not spot.is_module(node.func)
        and not spot.statement.within("no_grad", "inference_mode")
        and not whole
    ):
        return node.func, f"{unparse(node.func.value)}.rsample"
    return None


def assigned(name: str, value: ast.expr, step: ast.operator | None = None) -> str:
    """A name given to a new value, written as a change of TensorFlow's variable; empty where that has none.

    >>> assigned("w", parsed("w - 0.1 * g")), assigned("w", parsed("tf.Variable(2.0)"))
    ('w.assign_sub(0.1 * g)', 'w.assign(2.0)')
    """
    if (
        step is None
        and isinstance(value, ast.BinOp)
        and unparse(value.left) == name
        and isinstance(value.op, (ast.Sub, ast.Add))
    ):
        step, value = value.op, value.right
    if isinstance(step, (ast.Sub, ast.Add)):
        return f"{name}.assign_{'sub' if isinstance(step, ast.Sub) else 'add'}({unparse(value)})"
    if is_call(value, "Variable") and value.args:
        value = value.args[0]
    return "" if step is not None else f"{name}.assign({unparse(value)})"


def rebound(spot: Spot, node: Any) -> Change | None:
    """``x -= g`` for ``x = x - g``, and the assignment of the framework where the dialect has it."""
    if spot.instead:
        gone = [unparse(target) for s in spot.statements if isinstance(s.node, ast.Delete) for target in s.node.targets]
        return None if node is not spot.statement.node or set(gone) & set(spot.statement.binds()) else spot.instead
    if (
        not isinstance(node, ast.Assign)
        or len(node.targets) != 1
        or not isinstance(node.targets[0], (ast.Name, ast.Attribute))
    ):
        return None
    if spot.cause == "not_watched" and unparse(node.targets[0]) not in spot.names_of_source():
        return None
    name, value = unparse(node.targets[0]), node.value
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, (ast.Sub, ast.Add)) or unparse(value.left) != name:
        return None
    return (
        assigned(name, value)
        if spot.dialect.name == "tf"
        else f"{name} {'-' if isinstance(value.op, ast.Sub) else '+'}= {unparse(value.right)}"
    )


def itself(spot: Spot, node: Any) -> Change | None:
    """``v`` for ``tf.identity(v)``, ``tf.convert_to_tensor(v)`` and ``v.value()``, where that made the source."""
    if node is not spot.call and not {spot.inquiry.path.partition("[")[0], spot.inquiry.name} & set(
        spot.statement.binds()
    ):
        return None
    if is_call(node, "identity", "convert_to_tensor") and len(node.args) == 1:
        given = unparse(node.args[0])
        return None if _is_array(spot, given) else given
    return (
        unparse(node.func.value)
        if is_call(node, "value", "read_value") and not node.args and isinstance(node.func, ast.Attribute)
        else None
    )


def _is_array(spot: Spot, name: str) -> bool:
    """Whether a name of the program is NumPy's array, which no tape knows."""
    numpy = spot.source.aliases("numpy")
    made = (n for s in spot.source.statements if name in s.binds() for n in s.walk())
    return any(isinstance(n, ast.Name) and n.id in numpy for n in made) or any(
        isinstance(space.get(name), np.ndarray) for space in spot.inquiry._spaces()
    )


def retained_gradient(spot: Spot, node: Any) -> Change | None:
    """Makes a computed tensor keep its gradient: as a leaf that requires grad, or by ``retain_grad``."""
    if (
        isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], (ast.Name, ast.Attribute))
    ):
        made = [
            n
            for n in ast.walk(node.value)
            if n is not node.value
            and (is_call(n, "Parameter") or any(k.arg == "requires_grad" for k in getattr(n, "keywords", ())))
        ]
        if len(made) == 1 and isinstance(made[0], ast.Call):  # the leaf is made of what was computed with it
            leaf = made[0]
            inner = (
                leaf.args[0]
                if is_call(leaf, "Parameter") and leaf.args
                else ast.Call(leaf.func, leaf.args, [k for k in leaf.keywords if k.arg != "requires_grad"])
            )
            whole = ast.fix_missing_locations(rewritten(node.value, lambda n: inner if n is leaf else None))
            return (
                (node.value, f"{unparse(leaf.func)}({unparse(whole)})")
                if inner is not leaf and is_call(leaf, "Parameter")
                else (node.value, form("{x}.requires_grad_()", x=whole))
            )
        if spot.statement.reads_itself() and spot.statement.loops():  # each round begins with a leaf
            return f"{unparse(node.targets[0])} = " + form("{x}.detach().requires_grad_()", x=node.value)
        return f"{unparse(node)}\n{unparse(node.targets[0])}.retain_grad()"
    return None


def not_in_place(spot: Spot, node: Any) -> Change | None:
    """A new tensor instead of a changed one."""
    asked = spot.inquiry.name
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id != asked:
        return unparse(ast.Assign([node.target], ast.BinOp(node.target, node.op, node.value), lineno=0))
    if (
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Subscript)
        and isinstance(node.targets[0].value, ast.Name)
        and node.targets[0].value.id != asked
    ):
        name = node.targets[0].value.id
        values = [
            value
            for s in spot.statements
            if any(t.startswith(f"{name}[") for t in s.binds()) and (value := s.value()) is not None
        ]
        chained = len(values) > 1 and any(
            isinstance(n, ast.Name) and n.id == name for value in values for n in ast.walk(value)
        )
        return None if chained else f"{name} = {name}.clone()\n{unparse(node)}"
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        called = node.value.func
        if (
            isinstance(called.value, ast.Name)
            and called.attr.endswith("_")
            and not called.attr.startswith("_")
            and called.value.id != asked
        ):
            new = ast.Call(
                ast.Attribute(called.value, called.attr[:-1], ast.Load()), node.value.args, node.value.keywords
            )
            return f"{called.value.id} = {unparse(new)}"
    return None


def wrapped_again(spot: Spot, node: Any) -> Change | None:
    """``loss`` for ``Variable(loss.data, requires_grad=True)`` that is bound to ``loss``: the line goes."""
    if (
        not is_call(node, *REBUILDS)
        or node is not spot.statement.value()
        or not node.args
        or (spot.cause == "copied" and not _made_of_one(spot))
    ):
        return None
    given: Any = node.args[0]
    while (
        inner := getattr(given.func, "value", None)
        if is_call(given, "detach", "item", "clone")
        else given.value
        if isinstance(given, ast.Attribute) and given.attr == "data"
        else None
    ) is not None:
        given = inner
    return unparse(given) if [unparse(given)] == spot.statement.binds() else None


def stacked(spot: Spot, node: Any) -> Change | None:
    """``torch.stack`` of tensors, or the tensor itself, for a new one that is made of their values."""
    if (
        not is_call(node, "tensor", "as_tensor")
        or not node.args
        or any(k.arg not in ("requires_grad", "device") for k in node.keywords)
    ):
        return None
    given, stack = node.args[0], spot.spelled("torch.stack")
    if isinstance(given, (ast.List, ast.Tuple)):
        return None if stack is None else _stack(stack, given)
    return unparse(given) if _made_of_one(spot) else f"{stack}({unparse(given)})" if _made_of(spot) and stack else None


def _made_of(spot: Spot) -> list:
    """What was recorded of the tensors whose values a new one has."""
    return (
        [] if spot.entry is None else [spot.inquiry.entries[row] for row in spot.entry.extra.came or spot.entry.inputs]
    )


def _made_of_one(spot: Spot) -> bool:
    """Whether that is one tensor, and no list of such."""
    came = _made_of(spot)
    return len(came) == 1 and came[0].shape == spot.entry.shape


def _stack(stack: str, node: ast.expr) -> str:
    if isinstance(node, (ast.List, ast.Tuple)):
        return f"{stack}([{', '.join(_stack(stack, part) for part in node.elts)}])"
    return f"{stack.rpartition('.')[0]}.tensor({unparse(node)})" if numbers(node) else unparse(node)


def with_requires_grad(spot: Spot, node: Any) -> Change | None:
    """A leaf that was made without ``requires_grad``, or is used before it is set."""
    index = spot.cause == "integer_dtype" and spot.is_index()
    if (
        not index
        and isinstance(node, ast.Assign)
        and unparse(node.targets[0]) == spot.only_name()
        and isinstance(node.value, ast.Call)
        and spot.is_module(node.value.func)
    ):
        call = node.value
        if last_name(call.func) in (
            "tensor",
            "randn",
            "rand",
            "zeros",
            "ones",
            "full",
            "arange",
            "linspace",
            "empty",
            "eye",
        ):
            more = [
                k
                for k in call.keywords
                if k.arg not in ("requires_grad", *(["dtype"] if spot.cause == "integer_dtype" else []))
            ]
            if spot.cause == "integer_dtype":
                more.append(ast.keyword("dtype", parsed(spot.spelled("torch.float32") or "torch.float32")))
            return call, unparse(
                ast.Call(call.func, call.args, [*more, ast.keyword("requires_grad", ast.Constant(True))])
            )
        if last_name(call.func) == "randint":
            return call, f"{unparse(call)}.float().requires_grad_()"
    computed = spot.entry is not None and spot.entry.row in spot.inquiry.rows and spot.cause == "requires_grad"
    if computed and isinstance(node, ast.Assign) and [spot.only_name()] == list(spot.statement.binds()):
        return node.value, form("{x}.requires_grad_()", x=node.value)
    return None


def frozen(spot: Spot, node: Any) -> Change | None:
    """``True`` where ``requires_grad`` is set to False, of one thing and not of all in a loop."""
    if spot.statement.loops():
        return None
    if (
        is_call(node, "requires_grad_")
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and node.args[0].value is False
    ):
        return node.args[0], "True"
    if (
        isinstance(node, ast.Assign)
        and last_name(node.targets[0]) in ("requires_grad", "trainable")
        and unparse(node.value) == "False"
    ):
        return node.value, "True"
    return None


@edit_with
def before_use(spot: Spot, node: Any, template: str) -> Change | None:
    """A line before the use of the source by its name, with which the source has a gradient."""
    simple = node is spot.statement.node and isinstance(node, SIMPLE) and not spot.statement.calls("watch")
    read = {
        unparse(n)
        for n in spot.statement.walk()
        if isinstance(n, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(n.ctx, ast.Load)
    }
    name = next((name for name in spot.names_of_source() if name in read), None)
    tape = "" if "{tape}" not in template else _tape(spot)
    return (
        None if tape is None or name is None or not simple else f"{template.format(x=name, tape=tape)}\n{unparse(node)}"
    )


def _tape(spot: Spot) -> str | None:
    """What the one tape that is asked calls itself in the block around a statement: ``tape`` of ``with
    tf.GradientTape() as tape``.
    """
    entered, made = (
        getattr(spot.inquiry, "entered", None),
        {name for s in spot.statements if s.calls("GradientTape") for name in s.binds()},
    )
    tapes = [
        item.optional_vars or item.context_expr
        for s in spot.statement.around
        if isinstance(s.node, ast.With) and s.function is spot.statement.function
        for item in s.node.items
        if entered in (None, (s.filename, s.line))
        and ("tape" in unparse(item).lower() or unparse(item.context_expr) in made)
    ]
    return unparse(tapes[0]) if len(tapes) == 1 and isinstance(tapes[0], (ast.Name, ast.Attribute)) else None


def float_maker(spot: Spot, node: Any) -> Change | None:
    """``dtype=tf.float32`` in the call that makes the source of whole numbers."""
    like, cast = spot.spelled("tf.float32"), spot.spelled("tf.cast")
    if (
        not (
            is_call(node, *_MAKERS)
            and spot.makes_source(node)
            and "int" in str(getattr(spot.inquiry.source, "dtype", ""))
        )
        or like is None
    ):
        return None
    if (
        spot.is_index()
        or spot.among_integers()
        or any(spot.looked_up(entry) is not None for entry in spot.inquiry.entries)
        or any("input_signature" in s.mentions() or s.calls("TensorSpec") for s in spot.statements)
    ):
        return None  # which have to be of the same type as well
    if last_name(node.func) in ("fill", "zeros", "ones", "range"):
        return form(f"{cast}({{x}}, {like})", x=node)
    given = [a for number, a in enumerate(node.args) if not number or "int" not in unparse(a)]
    more = [k for k in node.keywords if k.arg != "dtype"]
    return unparse(ast.Call(node.func, given, [*more, ast.keyword("dtype", parsed(like))]))


def variable_kept(spot: Spot, node: Any) -> Change | None:
    """``h`` for ``tf.Variable(h)``; ``state = h`` for ``state.assign(h)``."""
    if is_call(node, "Variable") and node.args:
        whole = isinstance(node.args[0], (ast.Call, ast.BinOp, ast.UnaryOp))  # else it may be a list
        return unparse(node.args[0]) if whole else form("tf.convert_to_tensor({x})", x=node.args[0])
    call = node.value if isinstance(node, ast.Expr) else None
    if (
        is_call(call, "assign")
        and isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and len(call.args) == 1
    ):
        name = call.func.value.id
        # the others keep their values
        if name in {unparse(target) for loop in spot.statement.loops() for target in loop.targets()}:
            return None
        local = spot.source.key(name, spot.statement.function)[0] or (
            spot.statement.function is None and _tape(spot) is not None
        )
        return f"{name} = {unparse(call.args[0])}" if local else None
    return None


_WHOLE = re.compile(r"-?\d+|\[[][\d\s,-]*\d[][\d\s,-]*\]")  # a whole number, or a list of such


def one_float(spot: Spot, node: Any) -> Change | None:
    """``2.0`` for the one whole number, list or array of such, that a statement or a dictionary gives a name to."""
    values = (
        node.values
        if isinstance(node, ast.Dict)
        else [node.value]
        if isinstance(node, (ast.Assign, ast.keyword))
        else []
    )
    values = [
        value.args[0] if is_call(value, "array", "asarray") and len(value.args) == 1 and not value.keywords else value
        for value in values
    ]
    whole = [value for value in values if _WHOLE.fullmatch(unparse(value))]
    return (whole[0], re.sub(r"\d+", r"\g<0>.0", unparse(whole[0]))) if len(whole) == 1 else None


def with_argnums(spot: Spot, node: Any) -> Change | None:
    """``jax.grad(f, argnums=k)``, where ``f`` calls its argument ``k`` by the name of the source; beside those that
    argnums names.
    """
    grad = is_call(node, "grad", "value_and_grad") and len(node.args) == 1
    if not (grad or is_call(node, "record")) or not node.args or not isinstance(node.args[0], ast.Name):
        return None
    functions, name = (
        spot.source.functions.get(node.args[0].id, []),
        spot.inquiry.entries[spot.inquiry.rows[0]].name.partition("[")[0],
    )
    said = next((k for k in node.keywords if k.arg == "argnums"), None)
    if len(functions) != 1 or name not in parameters(functions[0]):
        return None
    number = parameters(functions[0]).index(name)
    if said is None:
        return node.args[-1], f"{unparse(node.args[-1])}, argnums={number}"
    chosen = ast.literal_eval(said.value)
    return said.value, str(tuple(sorted({*(chosen if isinstance(chosen, tuple) else (chosen,)), number})))


def reduced(spot: Spot, node: Any) -> Change | None:
    """The mean of what a function returns."""
    mean = spot.spelled("jnp.mean")
    return (
        (node.value, f"{mean}({unparse(node.value)})")
        if isinstance(node, ast.Return) and node.value is not None and mean
        else None
    )
