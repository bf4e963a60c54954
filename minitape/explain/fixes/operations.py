"""What fixes a line, in words, chosen by the operation that is there and by what its result is used for.

One table for every framework. The words of a cause (``*_texts``) count where no row of it fits. A row tries each
expression of the line to blame that is called by one of its names; it writes the program's own expressions into its
words, and returns None where it cannot.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from ...recording.values import numbers_of
from ..sentences import fill
from ..statement import form, last_name, parsed, unparse
from .edit_site import Spot, lines_said
from .leaving import FLAT, parts_inside

_DRAWN = ("p", "probs", "lam", "rate", "input", "logits")
_LOW = (ast.Lt, ast.LtE)


class OperationFix(NamedTuple):
    """Of which causes it is a row, how the operation is called (lower case, without underscores; empty: any), and the
    words or what writes them.

    In words {it} is the expression, {x} what it is applied to, {lines} where it is, {softmax} the framework's
    function.
    """

    causes: str
    names: str
    write: str | Callable[[Spot, Any], str | None]


def words(spot: Spot) -> str | None:
    """What the table has for a line; rows, and parts of the line, with the name of the recorded operation first."""
    done, cause = spot.entry, spot.cause
    if done is not None and done.op == "function":
        return None
    rows = [row for row in TABLE if cause in row.causes.split()]
    rows.sort(key=lambda row: done is None or not re.fullmatch(row.names, _plain(done.op)))
    parts: list = [n for n in spot.statement.walk() if isinstance(n, (ast.expr, ast.stmt))] if spot.blamed else []
    parts.sort(key=lambda node: (node is not spot.call, done is None or called(node) != _plain(done.op)))
    for row in rows:
        nodes: list = parts if row.names else [None]
        for node in nodes:
            if not row.names or re.fullmatch(row.names, called(node)):
                found = _filled(spot, node, row.write) if isinstance(row.write, str) else row.write(spot, node)
                if found is not None:
                    return found
    return None


def _filled(spot: Spot, node: Any, text: str) -> str | None:
    x = _x(spot, node) if "{x}" in text else ""
    return (
        None
        if x is None
        else fill(
            text,
            x=x,
            it=unparse(node),
            lines=lines_said(spot.statement.line, spot.statement.last),
            softmax=_of(spot, spot.dialect.softmax),
        )
    )


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def called(node: ast.AST) -> str:
    """The function that an expression calls, or what it is.

    >>> [called(ast.parse(text, mode="eval").body) for text in ("tf.math.top_k(x)", "a // b", "a < b")]
    ['topk', 'floordiv', 'compare']
    """
    if isinstance(node, ast.Call):
        return _plain(last_name(node.func))
    return type(getattr(node, "op", node)).__name__.lower()


# -- what the words are made of --------------------------------------------------------------------


def operand(spot: Spot, node: Any) -> ast.expr | None:
    """What an operation is applied to; of a draw, with what it was drawn, and of ``a // b`` the quotient."""
    if isinstance(node, ast.BinOp):
        return ast.BinOp(node.left, ast.Div(), node.right)
    if called(node) == "floordiv" and len(node.args) == 2:
        return ast.BinOp(node.args[0], ast.Div(), node.args[1])
    given = [k.value for k in node.keywords if k.arg in _DRAWN]
    if not given and unparse(node.func).split(".")[-2:-1] == ["random"]:  # the first argument is a shape or a key
        given = node.args[1:2]
    return given[0] if given else spot.operand(node)


def _x(spot: Spot, node: Any) -> str | None:
    found = operand(spot, node)
    return None if found is None else unparse(found)


def _of(spot: Spot, path: str) -> str:
    """A function as the program writes it."""
    return spot.spelled(path) or path


def _axis(spot: Spot) -> str:
    return "dim" if _torch(spot) else "axis"


def _torch(spot: Spot) -> bool:
    return spot.dialect.name == "torch"


def _made(spot: Spot, name: str) -> str:
    """The line where a name gets its value, in brackets, if there is one."""
    found = [s for s in spot.statements if name in s.binds()]
    return fill(" ({place})", place=lines_said(found[0].line, found[0].last)) if len(found) == 1 else ""


def is_integer(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether an expression makes whole numbers."""
    if not isinstance(node, ast.Call) or called(node) not in ("long", "int", "short", "astype", "cast", "to", "type"):
        return False
    return called(node) in ("long", "int", "short") or "int" in "".join(
        map(unparse, [*node.args[-1:], *(k.value for k in node.keywords)])
    )


# -- operations without a derivative ---------------------------------------------------------------


def _draw(spot: Spot, node: Any) -> str | None:
    new = spot.through(node, operand(spot, node))
    return new and fill(
        "A draw has no derivative by its probability. Pass the gradient as if it were the probability: "
        "`{new}` for `{it}`.",
        new=new,
        it=unparse(node),
    )


def _argmax(spot: Spot, node: Any) -> str | None:
    x, shown = _x(spot, node), unparse(node)
    # of whose two results the places are taken: max(x, 1)[1], max(x, 1).indices, _, i = max(x, 1)
    if called(node) in ("max", "min"):
        places = [
            n
            for n in spot.statement.walk()
            if getattr(n, "value", None) is node and unparse(n)[len(shown) :] in ("[1]", ".indices")
        ]
        if not places and not (node is spot.statement.value() and len(spot.statement.binds()) == 2):
            return None
        shown = unparse(places[0]) if places else spot.statement.binds()[1]
    given = [k.value for k in node.keywords if k.arg in ("axis", "dim")] or [
        a for a in node.args if isinstance(a, (ast.Constant, ast.UnaryOp))
    ]
    shape = spot.inquiry.entries[spot.entry.inputs[0]].shape if spot.entry is not None and spot.entry.inputs else ()
    at = ast.literal_eval(given[0]) if given else 0 if len(shape) == 1 or spot.dialect.name == "tf" else None
    if x is None or not isinstance(at, int) or not -len(shape) <= at < len(shape):
        return None
    axis, behind = f"{_axis(spot)}={at}", len(shape) - 1 - at % len(shape)
    given_to = operand(spot, node)
    share = (
        x
        if given_to is not None and called(given_to) == "softmax"
        else f"{_of(spot, spot.dialect.softmax)}({'-' if 'min' in called(node) else ''}{x}, {axis})"
    )
    hot = next(
        (
            n
            for n in spot.statement.walk()
            if isinstance(n, ast.Call) and called(n) in ("onehot", "scatter") and node in n.args
        ),
        None,
    )
    if hot is not None:
        made = spot.source.last_binding(spot.source.key(x, spot.statement.function), spot.statement)
        share = x if made is not None and made.calls("softmax") else share
        passed = spot.through(hot, ast.parse(share, mode="eval").body)
        return fill(
            "Weigh all the choices, instead of taking one: `{share}` for `{it}`.", share=share, it=unparse(hot)
        ) + (fill(" Or take one, and pass on the gradient of all: `{passed}`.", passed=passed) if passed else "")
    if spot.is_index():
        return fill(
            "Weigh all that `{it}` chooses from, instead of taking one: `{share} @ table`, where the index "
            "was used as `table[...]`.",
            it=unparse(node),
            share=share,
        )
    whole = _of(spot, spot.dialect.sums.partition(".")[0] + (".range" if spot.dialect.name == "tf" else ".arange"))
    numbers = f"{whole}({shape[at]}.0)" + (f"[:{', None' * behind}]" if behind else "")
    return fill(
        "It gives a whole number. Take the expected index: `{function}({share} * {numbers}, {axis})` "
        "for `{shown}`, without a cast; or give `{x}` itself to a cross entropy.",
        function=_of(spot, spot.dialect.sums),
        share=share,
        numbers=numbers,
        axis=axis,
        shown=shown,
        x=x,
    )


def _ranks(spot: Spot, node: Any) -> str | None:
    inner: Any = spot.operand(node)
    twice = isinstance(inner, ast.Call) and called(inner) == "argsort"
    while isinstance(inner, ast.Call) and called(inner) == "argsort":
        inner = spot.operand(inner)
    if inner is None:
        return None
    x = unparse(inner)
    soft = (
        f"{_of(spot, spot.dialect.sums)}({_of(spot, spot.dialect.sigmoid)}(({x}[..., :, None] - {x}[..., None, :]) "
        f"/ 0.1), {_axis(spot)}=-1)"
    )
    sort = (
        ""
        if twice
        else fill(" If the sorted values are intended, sort `{x}` itself: the gradient passes a sort of values.", x=x)
    )
    return fill(
        "Ranks jump. Take soft ones: `{soft}` for `{it}`{more}; 0.1 is how near two values count as one.{sort}",
        soft=soft,
        it=unparse(node),
        more="" if twice else fill(", where ranks are meant"),
        sort=sort,
    )


def _comparison(spot: Spot, node: Any) -> str | None:
    soft, total = _weight(spot, node), _of(spot, spot.dialect.sums)
    count = next(
        (
            n
            for n in spot.statement.walk()
            if isinstance(n, ast.Call) and called(n) == "countnonzero" and node in n.args
        ),
        None,
    )
    if soft and count is not None:
        return fill(
            "A count jumps. Add up numbers between 0 and 1: `{total}({code})` for `{it}`, where 0.1 is the "
            "width of the step.",
            total=total,
            code=", ".join([soft, *map(unparse, [*count.args[1:], *count.keywords])]),
            it=unparse(count),
        )
    width = fill(", where 0.1 is the width of the step") if soft and "/ 0.1" in soft else ""
    return soft and fill(
        "Take a number between 0 and 1: `{soft}` for `{it}`{width}. To choose between a and b by that "
        "number p, write `p * a + (1 - p) * b` instead of a where.",
        soft=soft,
        it=unparse(node),
        width=width,
    )


def _weight(spot: Spot, node: Any) -> str | None:
    """A number between 0 and 1 for a comparison."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (*_LOW, ast.Gt, ast.GtE)):
        left, right, less = node.left, node.comparators[0], isinstance(node.ops[0], _LOW)
    elif isinstance(node, ast.Call) and re.match("greater|less", called(node)) and len(node.args) == 2:
        left, right, less = *node.args, called(node).startswith("less")
    else:
        return None
    above, below = (right, left) if less else (left, right)
    # it is between 0 and 1 as it is
    if isinstance(above, ast.Call) and called(above) == "sigmoid" and isinstance(below, ast.Constant):
        return unparse(above)
    height = "{above}" if unparse(below) in ("0", "0.0") else "({above} - {below})"
    return form(f"{_of(spot, spot.dialect.sigmoid)}({height} / 0.1)", above=above, below=below)


def _steps(spot: Spot, node: Any) -> str | None:
    compared = [n for n in spot.statement.walk() if isinstance(n, ast.Compare) or called(n) in ("equal", "notequal")]
    if any(node in ast.walk(n) for n in compared):
        return None
    casts = [n for n in spot.statement.walk() if is_integer(n) and node is not n and node in ast.walk(n)]
    if casts and spot.is_index():
        return _cast(spot, casts[0])
    x, new = _x(spot, node), spot.through(node, operand(spot, node))
    if new is None and x is not None:  # it is not to run twice
        new = spot.through(ast.parse(unparse(node).replace(x, "x"), mode="eval").body, ast.Name("x"))
        return new and fill(
            "Leave it out while training (`{x}` for `{it}`), or pass the gradient as if it were not there: "
            "with `x = {x}` above, write `{new}`.",
            x=x,
            it=unparse(node),
            new=new,
        )
    more = (
        fill(
            " `{code}` blocks the gradient a second time: leave the cast to whole numbers out, too.",
            code=called(casts[0]),
        )
        if casts
        else ""
    )
    return new and fill(
        "Leave it out while training (`{x}` for `{it}`), or pass the gradient as if it were not there: `{new}`.{more}",
        x=x,
        it=unparse(node),
        new=new,
        more=more,
    )


def _cast(spot: Spot, node: Any) -> str | None:
    x = _x(spot, node)
    if (
        not is_integer(node)
        or x is None
        or any(spot.inquiry.entries[row].dtype.startswith(("int", "uint")) for row in spot.inquiry.rows[:1])
    ):
        return None
    inner: Any = spot.operand(node)
    while isinstance(inner, ast.Call) and called(inner) in ("round", "floor", "ceil", "trunc", "rint"):
        inner = spot.operand(inner)
    x = x if inner is None else unparse(inner)
    whole, sampled = (
        unparse(node),
        fill(", or torch.nn.functional.grid_sample in two and three dimensions") if _torch(spot) else "",
    )
    if spot.is_index():
        return fill(
            "An index must stay a whole number, so interpolate between its neighbours: `low = {whole}` (at "
            "most the size - 2), `part = ({x}) - low`, and `(1 - part) * table[low] + part * table[low + "
            "1]` for `table[...]`; so in each dimension{sampled}.",
            whole=whole,
            x=x,
            sampled=sampled,
        )
    return fill("Leave out the cast, and compute with `{x}`, or pass the gradient as if the cast were not there.", x=x)


def _place(spot: Spot, node: Any) -> str | None:
    if len(node.args) < 2:
        return None
    steps, x = map(unparse, node.args[:2] if called(node) == "searchsorted" else node.args[1::-1])
    return fill(
        "A place in a list jumps. Interpolate what is looked up there: with `k = {it} - 1`, kept "
        "between 0 and the size - 2, `part = ({x} - {steps}[k]) / ({steps}[k + 1] - {steps}[k])`, and "
        "`(1 - part) * table[k] + part * table[k + 1]` for `table[...]`.",
        it=unparse(node),
        x=x,
        steps=steps,
    )


# -- Python's choices, and what leaves the framework -----------------------------------------------


def _branch(spot: Spot, node: Any) -> str | None:
    soft = _weight(spot, node)
    if (
        soft is None
        or spot.dialect.name == "jax"
        or not any(isinstance(n, (ast.If, ast.IfExp)) for n in (spot.statement.node, *spot.statement.walk()))
    ):
        return None
    return fill(
        "The value acts through the condition only, so {function} does not help. Mix both branches: compute the "
        "results of both, with `w = {soft}` in place of the `if`, and take `w * a + (1 - w) * b` for each result; "
        "0.1 is the width of the step.",
        function=_of(spot, spot.dialect.where),
        soft=soft,
    )


def _positions(spot: Spot, node: Any) -> str:
    more = [ast.keyword("size", ast.Name("N")), ast.keyword("fill_value", ast.Constant(0))]
    fixed = unparse(ast.Call(node.func, node.args, [*node.keywords, *more]))
    return fill(
        "Where a later line needs the positions, `{fixed}`, with N the number of them that you expect; "
        "where only a sum or mean follows, {function}(condition, x, 0.0) keeps the shape.",
        fixed=fixed,
        function=_of(spot, "jnp.where"),
    )


# -- zeros and NaNs --------------------------------------------------------------------------------


def _clip(spot: Spot, node: Any) -> str | None:
    x = (
        None
        if spot.entry is not None and re.search("sigmoid|logistic|tanh|softmax|erf|exp", _plain(spot.entry.op))
        else _x(spot, node)
    )
    return x and fill(
        "What matters of `{x}`{place} lies outside of the limits of `{it}`: begin with values inside of "
        "them, or widen the limits. If it should stay at the limit, nothing is wrong.",
        x=x,
        place=_made(spot, x),
        it=unparse(node),
    )


def _one_element(spot: Spot, node: Any) -> str | None:
    shape = spot.inquiry.entries[spot.entry.inputs[0]].shape if spot.entry is not None and spot.entry.inputs else (2,)
    if any(size != 1 for size in shape):
        return None
    new = [k for k in node.keywords if k.arg not in ("correction", "unbiased", "ddof")] + [
        ast.keyword("correction" if _torch(spot) else "ddof", ast.Constant(0))
    ]
    return fill(
        "Of a single element it divides 0 by 0: write `{code}` for `{it}`, or leave groups of one element out.",
        code=unparse(ast.Call(node.func, node.args, new)),
        it=unparse(node),
    )


def _of_nothing(spot: Spot, node: Any) -> str | None:
    given = [] if spot.entry is None else [spot.inquiry.entries[row].shape for row in spot.entry.inputs]
    return (
        fill(
            "There is no element here, and the mean of nothing is 0 / 0. Take the sum and divide it by the "
            "number of elements, at least 1; or leave this term out where there are none: `{it}`.",
            it=unparse(node),
        )
        if any(0 in shape for shape in given)
        else None
    )


def _at_zero(spot: Spot, node: Any) -> str | None:
    x = node.left if isinstance(node, ast.BinOp) else spot.operand(node)
    if isinstance(x, ast.Call) and called(x) in ("softmax", "sigmoid"):
        return fill("`{x}` is rounded to zero here: compute its logarithm in one function with it.", x=unparse(x))
    what = fill("is not finite") if spot.cause == "nan_forward" else fill("has no finite slope")
    if x is None or spot.least() != 0:
        return None
    return fill(
        "`{it}` {what} where `{x}` is zero: add a small number there, such as 1e-6. Where a later line "
        "masks such elements, replace them before, too.",
        it=unparse(node),
        what=what,
        x=unparse(x),
    )


def _divided(spot: Spot, node: Any) -> str | None:
    below = (
        node.right
        if isinstance(node, ast.BinOp)
        else node.args[1]
        if isinstance(node, ast.Call) and len(node.args) > 1
        else None
    )
    return (
        None
        if below is None
        else fill(
            "`{below}` is zero somewhere: add a small number to it, such as 1e-6, or leave out what is "
            "divided by zero before the division.",
            below=unparse(below),
        )
    )


def _none_counts(spot: Spot, node: Any) -> str | None:
    given = [] if spot.entry is None else [spot.numbers(row) for row in spot.entry.inputs]
    finite = bool(given) and all(array is not None and np.isfinite(array).all() for array in given)
    return (
        fill(
            "No label of this batch counts (all are ignore_index), and the mean of nothing is 0 / 0. Leave "
            "such a batch out, or let a label count."
        )
        if finite
        else None
    )


def _none_left(spot: Spot, node: Any) -> str | None:
    given = None if spot.entry is None or not spot.entry.inputs else spot.numbers(spot.entry.inputs[0])
    masked = given is not None and np.isneginf(given).any() and not (np.isnan(given) | np.isposinf(given)).any()
    return (
        fill(
            "All elements of a row are -inf, and softmax divides 0 by 0 there. Let each row keep an "
            "element, or mask with a large negative number, such as -1e9."
        )
        if masked
        else None
    )


def _margin(spot: Spot, node: Any) -> str | None:
    kept = spot.entry is not None and re.search("margin|hinge|cosineembedding", _plain(spot.entry.op))
    return (
        fill(
            "This loss is zero: each example keeps its margin, and none is left to learn from. Give it "
            "harder examples, or a larger margin."
        )
        if kept
        else None
    )


def _smaller(spot: Spot, node: Any) -> str | None:
    if len(node.args) != 2 or isinstance(node.args[1], ast.Constant):
        return None
    a, b = map(unparse, node.args)
    return fill(
        "If only one of the two is intended, nothing is wrong: with other data `{it}` takes the other. To give "
        "both a gradient each time, compute the loss once with `{a}` and once with `{b}` in its place, "
        "and add the two.",
        it=unparse(node),
        a=a,
        b=b,
    )


def _index(spot: Spot, node: Any) -> str | None:
    if isinstance(node, ast.Subscript) and (
        spot.entry is None or not re.search("item|slice|gather|index|unpack|unbind", _plain(spot.entry.op))
    ):
        return None
    mix = ""
    if (
        isinstance(node, ast.Call)
        and called(node) == "where"
        and len(node.args) == 3
        and (soft := _weight(spot, node.args[0])) is not None
    ):
        mix = fill(
            " To mix both, write `{code}`; 0.1 is the width of the step.",
            code=form("{no} + ({yes} - {no}) * {p}", yes=node.args[1], no=node.args[2], p=parsed(soft)),
        )
    return fill(
        "If the choice is intended, nothing is wrong: with other data (other indices or conditions) "
        "`{it}` takes other elements. Else use data that take these, or use all elements.{mix}",
        it=unparse(node),
        mix=mix,
    )


# -- lines elsewhere -------------------------------------------------------------------------------


def _by_numpy(spot: Spot, node: Any) -> str | None:
    """A function of the program's own that computes outside of the framework."""
    outside = spot.source.aliases("numpy", "scipy", "math")
    for function in spot.source.functions.get(last_name(getattr(node, "func", node)), []):
        line = next((n.lineno for n in ast.walk(function) if isinstance(n, ast.Name) and n.id in outside), None)
        if line is not None:
            return fill(
                "`{function}` computes with NumPy (line {line}). Write it with functions of the framework, and "
                "give it the tensor itself.",
                function=function.name,
                line=line,
            )
    return None


def _in_framework(spot: Spot, node: Any) -> str | None:
    """The part of the line that leaves, written with functions of the framework."""
    found = next(parts_inside(spot), None)
    return found and fill(
        "Write `{new}` for `{it}`, and stay with tensors all the way.", new=found[1], it=unparse(found[0])
    )


def _cut_twice(spot: Spot, node: Any) -> str | None:
    """A detach that two backward passes meet: one of them needs it."""
    if spot.entry is None or not spot.meets_again():
        return None
    return fill(
        "This line runs more than once for the same tensor, for example for two losses. `{it}` belongs "
        "to one of them: take the detach out of here, and write it where that one hands the tensor over.",
        it=unparse(node),
    )


def _written(spot: Spot, node: Any) -> str | None:
    """Values that are copied into a parameter."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr != "copy_":
        return None
    call = _of(spot, "torch.func.functional_call")
    return fill(
        "`{function}` writes values into a leaf, and no gradient comes back from there. Compute with "
        "the tensor itself: as a weight of a module, `{call}(module, {{name: tensor}}, (x,))`.",
        function=unparse(node.func),
        call=call,
    )


def _thrown_away(spot: Spot, node: Any) -> str | None:
    """A value that is not used, or whose name gets another one before it is read."""
    if not spot.blamed:
        return None
    here, names = spot.statement, spot.statement.binds()
    if isinstance(here.node, ast.Expr) and ".at[" in (text := unparse(here.node)):
        return fill(
            "Arrays of JAX do not change. Take what this gives: `{code} = {text}`.",
            code=text.partition(".at[")[0],
            text=text,
        )
    later = [
        s
        for s in spot.statements
        if s.block == here.block and s.order > here.order and {*names} & {*s.binds(), *map(unparse, s.reads())}
    ]
    if len(names) != 1 or not later or names != later[0].binds() or later[0].reads_itself():
        return None
    return fill(
        "{lines} gives `{x}` another value before anything reads this one: compute with both there, or "
        "name one of them differently.",
        lines=lines_said(later[0].line, later[0].last).capitalize(),
        x=names[0],
    )


def _of_one(spot: Spot, node: Any) -> str | None:
    """A softmax over one value."""
    inquiry = spot.inquiry
    shares = [
        e.row
        for e in inquiry.entries
        if spot.entry is not None and "softmax" in " ".join([e.op, *e.scope]).lower() and e.site == spot.entry.site
    ]
    values = map(spot.numbers, shares)
    if not any(value is not None and value.size and np.all(value == 1) for value in values):
        return None
    softmax: Any = next((n for n in spot.statement.walk() if called(n) == "softmax"), None) if spot.blamed else None
    x = None if softmax is None else spot.operand(softmax)
    sigmoid = _of(spot, spot.dialect.sigmoid)
    written = (
        fill("{function} instead", function=sigmoid)
        if x is None
        else fill("`{new}` for `{it}`", new=f"{sigmoid}({unparse(x)})", it=unparse(softmax))
    )
    return fill(
        "The softmax of a single value is always 1. For yes or no with one output write {written}; or "
        "give it one output for each class.",
        written=written,
    )


def _zero_factor(spot: Spot, node: Any) -> str | None:
    """The line that made a factor which is zero wherever a gradient comes back."""
    sweep, done = spot.inquiry.sweep, spot.entry
    if sweep is None or done is None or (came := numbers_of(sweep.adjoints.get(done.row))) is None:
        return None
    for row in done.inputs:
        value, (file, line) = spot.numbers(row), spot.inquiry.entries[row].site
        if value is None or file != spot.filename or line in (None, done.site[1]):
            continue
        if not (value[came != 0] if value.shape == came.shape else value).any():
            return fill(
                "Look at the factor of line {line} (`{code}`), which is zero wherever a gradient comes back: a weight "
                "that begins at zero, a mask without ones, or a coefficient of 0.",
                line=line,
                code=spot.lines[line - 1].strip(),
            )
    return None


def _index_asked(spot: Spot, node: Any) -> str | None:
    """A source that only says which elements are taken."""
    found = next((row for e in spot.inquiry.entries if (row := spot.looked_up(e)) is not None), None)
    name = (
        None
        if found is None
        else getattr(spot.inquiry, "called_by_program", lambda row: spot.inquiry.entries[row].name)(found)
    )
    return (
        fill(
            "{code} is an index, which has no gradient. Ask about what it takes elements of: {name}.",
            code=spot.inquiry.path or spot.inquiry.name,
            name=name,
        )
        if name
        else None
    )


_NONE = "no_derivative nondifferentiable zero_derivative no_gradient_registered"
_INTEGER = "integer_cast integer_dtype"
TABLE = [
    OperationFix("integer_dtype", "", _index_asked),
    OperationFix("detach", "detach", _cut_twice),
    OperationFix("no_grad data", "copy", _written),
    OperationFix("left_torch left_through_numpy", r"\w+", _by_numpy),
    OperationFix(
        "left_torch left_through_numpy",
        "joinedstr|str|format|dumps",
        "Keep the number as well as the text, and compute with the number.",
    ),
    OperationFix(
        "left_torch left_through_numpy",
        "|".join(FLAT),
        "`{it}` jumps, with tensors as well: weigh all that it chooses or counts (`{softmax}`), or leave it out, and "
        "compute with the values.",
    ),
    OperationFix("left_torch left_through_numpy", "", _in_framework),
    OperationFix(_NONE, "bernoulli|binomial|poisson|statelessbinomial|statelesspoisson", _draw),
    OperationFix(
        f"{_NONE} {_INTEGER}",
        "multinomial|categorical|choice|statelesscategorical",
        "A drawn index has no derivative. Weigh what it would choose from by the probabilities (`{softmax}` of the "
        "logits), or multiply the log probability of `{it}` by what the draw has brought.",
    ),
    OperationFix(f"{_NONE} {_INTEGER}", "argmax|argmin|max|min", _argmax),
    OperationFix(f"{_NONE} {_INTEGER}", "argsort|sort", _ranks),
    OperationFix(
        _NONE,
        "topk|topkv2",
        "The indices of `{it}` have no derivative, its values have one: compute with the values, or weigh all "
        "elements with `{softmax}({x}, -1)`.",
    ),
    OperationFix(
        "no_gradient_registered",
        "bincount",
        "tf.math.unsorted_segment_sum(weights, values, bins) gives the same sums, with a gradient of the weights.",
    ),
    OperationFix(
        _NONE,
        "histogram|histogramfixedwidth|histc|bincount",
        "Counts jump. For `{it}` give each element a share of every bin: `{softmax}(-(({x})[..., None] - centres) "
        "** 2 / width ** 2, -1)`, summed over the elements.",
    ),
    OperationFix(
        _NONE, "range|arange", "Use a fixed number of points, and scale them: whole numbers as floats, times the step."
    ),
    OperationFix(
        f"{_NONE} {_INTEGER}",
        "asstring|tonumber|stringformat",
        "Compute with the number itself: what was a text has no connection to it.",
    ),
    OperationFix(f"{_NONE} {_INTEGER}", "searchsorted|digitize|bucketize", _place),
    OperationFix(f"{_NONE} {_INTEGER}", "round|rint|floor|ceil|trunc|fix|sign|floordiv|floordivide", _steps),
    OperationFix(_INTEGER, "long|int|short|astype|cast|to|type", _cast),
    OperationFix(_NONE, "compare|greater|greaterequal|less|lessequal", _comparison),
    OperationFix(
        _NONE,
        r"compare|equal|notequal|countnonzero|intopk|\w*accuracy",
        "No gradient passes what is true or false, nor a count of it. Train on a loss of the values themselves, such "
        "as a cross entropy, and keep the accuracy for reports.",
    ),
    OperationFix(
        "branch python_branch left_jax",
        "assert",
        "An assert cannot ask a traced value: delete {lines}, or check outside of the traced function (inside one "
        "of JAX: jax.experimental.checkify).",
    ),
    OperationFix("branch python_branch", "compare", _branch),
    OperationFix(
        "left_jax",
        "joinedstr|print",
        "A number that is not there yet cannot be written as text: delete {lines}, or write "
        "`jax.debug.print('{{}}', value)` in its place, or return the value and write it outside.",
    ),
    OperationFix("boolean_index", "nonzero|argwhere|flatnonzero", _positions),
    OperationFix("saturated", "clip|clamp|clipbyvalue|clampmin|clampmax|hardtanh", _clip),
    OperationFix("nan_forward", "std|var", _one_element),
    OperationFix("nan_forward", "mean|reducemean", _of_nothing),
    OperationFix("nan_forward", "crossentropy|nllloss|crossentropyloss|nllloss2d", _none_counts),
    OperationFix("nan_forward", "softmax", _none_left),
    OperationFix(
        "nan_forward nan_backward",
        "exp|exp2|cosh|sinh",
        "`{it}` is too large for its type. Where it is divided by its sum, `{softmax}({x}, -1)` is the same without "
        "it; else subtract the largest element before, or compute in a wider type.",
    ),
    OperationFix(
        "nan_forward nan_backward",
        "log|log2|log10|log1p|rsqrt|reciprocal|sqrt|pow|power|norm|vectornorm|reducestd|std",
        _at_zero,
    ),
    OperationFix("nan_forward nan_backward", "div|truediv|realdiv|divide", _divided),
    OperationFix(
        "nan_backward",
        "acos|asin|arccos|arcsin",
        "`{it}` has no finite slope at -1 and 1: keep `{x}` a little inside, `({x}) * 0.999999`.",
    ),
    OperationFix(
        "nan_backward",
        "eigh|eig|svd",
        "`{it}` has no finite derivative where two of its values are equal: make them differ a little, or use the "
        "values alone, whose derivative is finite.",
    ),
    OperationFix("saturated", "", _margin),
    OperationFix("not_selected", "minimum|maximum|min|max|fmin|fmax", _smaller),
    OperationFix("not_selected", "gather|gathernd|take|where|subscript|indexselect|takealongaxis", _index),
    OperationFix("unused", "", _thrown_away),
    OperationFix("zero_cancels saturated", "", _of_one),
    OperationFix("zero_factor", "", _zero_factor),
]
