"""A line that takes a value to NumPy or Python, written with the framework's functions."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from ...engine.recording.frames import own_file
from ...engine.tensor.tensor import from_array
from ..reasons.text import last_name, parsed, rewritten, unparse
from .numbers import STEPS
from .site import REBUILDS, SIMPLE, Fix, Spot, is_call, is_module, replaced, spelled

LEAVES = ("numpy", "float", "int", "item", "tolist")
_OF_ARRAYS = {"flatten": "reshape", "ravel": "reshape", "astype": "cast", "copy": "identity"}
_OF_ARRAYS |= {f: f for f in ("transpose", "reshape", "squeeze")}
_OF_ARRAYS |= {f: f"reduce_{f}" for f in ("mean", "sum", "max", "min")}
# functions of NumPy that no gradient passes in another framework either, and those with other arguments
FLAT = [*STEPS, *"argmax argmin argsort nonzero searchsorted digitize around histogram bincount unique".split()]
_NOT_ALIKE = "vstack hstack concatenate tensordot inner outer normal uniform randn".split()
_TAKE_TENSORS = "abs sum pow max min print float range zip enumerate isinstance str repr bool len list".split()
_TENSORS = ("minitape", "tensorflow", "keras", "torch", "jax", "functools")
_NUMBERS = set("float16 float32 float64 int32 int64 pi inf newaxis e".split())
_PARTS = (ast.ListComp, ast.GeneratorExp, ast.List, ast.Dict, ast.Lambda, ast.JoinedStr)
_A_TENSOR = from_array(np.ones(1, np.float32))


def left_value(node: ast.AST) -> ast.expr | None:
    """The tensor that an expression converts: ``h`` of ``h.numpy()``, ``float(h)``, ``h.detach().numpy()``."""
    if not is_call(node, *LEAVES) or node.keywords or unparse(node.func) == "int":
        return None
    method = isinstance(node.func, ast.Attribute)
    inner = node.func.value if method and not node.args else node.args[0] if not method and node.args else None  # type: ignore[attr-defined]
    while is_call(inner, "detach", "cpu") and isinstance(inner.func, ast.Attribute):
        inner = inner.func.value
    return inner


def _holds_one_that_left(node: ast.AST) -> bool:
    return any(left_value(n) is not None for n in ast.walk(node))


def _module(spot: Spot, function: ast.AST) -> str:
    """The package whose function it is; empty where it is no module's."""
    root = unparse(function).partition(".")[0] if isinstance(function, ast.Attribute) else ""
    held = spot.names.get(root) if root else None
    known = held.__name__ if isinstance(held, ModuleType) else ""
    return (spot.program.imported.get(root) or known).partition(".")[0]


def _is_foreign(spot: Spot, node: ast.AST) -> bool:
    """Whether something is a function of a library that knows nothing of tensors, or a method of arrays alone."""
    node = node.func if isinstance(node, ast.Call) else node
    if isinstance(node, ast.Name):
        return hasattr(builtins, node.id) and callable(getattr(builtins, node.id)) and node.id not in _TAKE_TENSORS
    if not isinstance(node, ast.Attribute) or node.attr in _NUMBERS:
        return False
    module = _module(spot, node)
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    if module:
        return module not in _TENSORS and (own_file(file) or module == "math")
    if spot.dialect.name != "tf" or is_module(spot, node.value):
        return False
    return hasattr(np.ndarray, node.attr) and not hasattr(_A_TENSOR, node.attr)


def _is_text(node: ast.AST) -> bool:
    """Whether something becomes a text."""
    percent = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant)
    return percent or isinstance(node, ast.JoinedStr) or is_call(node, "str", "format")


def inside(spot: Spot, node: ast.AST) -> ast.expr | None:
    """An expression that stays in the framework; None where it does, or where that cannot be written."""
    for part in ast.walk(node):
        if isinstance(part, _PARTS) and any(_swapped(spot, n) is not None for n in ast.walk(part)):
            return None  # another statement uses the parts
    new = ast.fix_missing_locations(rewritten(node, lambda n: _swapped(spot, n)))
    stays = unparse(new) != unparse(node) and not any(
        _is_foreign(spot, n)
        or _is_text(n)
        or isinstance(n, ast.Compare)
        or is_call(n, *FLAT, "len")
        or (isinstance(n, ast.Call) and _computes_with_numpy(spot, n))
        for n in ast.walk(new)
    )
    return new if stays else None


def _swapped(spot: Spot, node: ast.AST) -> ast.AST | None:
    """What is in the place of a value that leaves, of a function of NumPy's, and of a tensor that is made anew."""

    def further(part: Any) -> Any:
        return rewritten(part, lambda n: _swapped(spot, n))

    tf = spot.dialect.name == "tf"
    if tf and isinstance(node, ast.Attribute) and node.attr == "T" and _holds_one_that_left(node.value):
        return ast.Call(parsed("tf.transpose"), [further(node.value)], [])
    if not isinstance(node, ast.Call):
        return None
    function, inner = node.func, left_value(node)
    if inner is not None:
        return further(inner)
    if tf and isinstance(function, ast.Attribute) and function.attr.startswith("predict"):
        return ast.Call(function.value, [further(a) for a in node.args[:1]], [])
    arguments, keywords = [further(a) for a in node.args], [further(k) for k in node.keywords]
    if tf and isinstance(function, ast.Attribute) and _holds_one_that_left(function.value):
        name = _OF_ARRAYS.get(function.attr)
        shape = [parsed("[-1]")] if function.attr in ("flatten", "ravel") else arguments
        return name and ast.Call(parsed(f"tf.{name}"), [further(function.value), *shape], keywords)  # type: ignore[return-value]
    if is_call(node, *REBUILDS) and node.args:
        return _made_anew(spot, node, arguments, keywords)
    name = last_name(function)
    known = _module(spot, function) in ("numpy", "math") and name not in (*FLAT, *_NOT_ALIKE)
    path = spelled(spot, spot.dialect.function(unparse(function).partition(".")[2]) or "?") if known else None
    if path is None or "?" in path:
        return None
    more = [ast.Constant(1)] if tf and name == "dot" else []
    return ast.Call(parsed(path), [*arguments, *more], keywords)


def _made_anew(spot: Spot, node: ast.Call, new: list[Any], keywords: list[Any]) -> ast.AST | None:
    """What a call like ``constant(h.numpy())`` makes anew, as it is; of TensorFlow's a tensor, where it may be a list
    or a variable.
    """
    given, made = node.args[0], new[0]
    changed = unparse(made) != unparse(given)
    if spot.dialect.name != "tf":
        return made if changed and len(new) == 1 else None
    if not changed and node is not spot.call and _module(spot, node.func) != "numpy":
        return None
    bare = isinstance(made, (ast.Name, ast.Attribute, ast.Subscript, ast.List, ast.Tuple)) or keywords or new[1:]
    return ast.Call(parsed("tf.convert_to_tensor"), new, keywords) if bare else made


def parts_inside(spot: Spot) -> Iterator[tuple[ast.expr, str]]:
    """The calls in the statement to blame that can stay in the framework, the outermost first, and their new texts."""
    calls = [n for n in spot.statement.nodes if isinstance(n, ast.Call)]
    within = {part for n in calls if _is_foreign(spot, n) and inside(spot, n) is None for part in ast.walk(n)}
    for call in calls:
        if call not in within and (spot.call is None or spot.call in ast.walk(call)):
            new = inside(spot, call)
            if new is not None:
                yield call, unparse(new)


def line_in_framework(spot: Spot) -> Fix | None:
    """The line with the framework's functions in place of those of NumPy and Python; None where it cannot be, or where
    what follows needs an array.
    """
    value = spot.statement.node.value if isinstance(spot.statement.node, SIMPLE) else None
    several = spot.dialect.name == "tf" and isinstance(value, ast.Tuple)
    new = None if value is None or several else inside(spot, value)
    if value is None or new is None or [unparse(new)] == spot.statement.binds or not _takes_tensors(spot, new):
        return None
    return replaced(spot, list(_outermost(spot, value)))


def collected(spot: Spot) -> Fix | None:
    """The tensors themselves in a list of their values, of which ``torch.stack`` then makes a tensor."""
    stack, value = spelled(spot, "torch.stack"), getattr(spot.statement.node, "value", None)
    added = unparse(value.func).removesuffix(".append") if is_call(value, "append") else ""
    names = {added} if added else set(spot.statement.binds)
    made: list[Any] = [
        n
        for s in spot.statements
        for n in s.nodes
        if is_call(n, "tensor", "as_tensor", "FloatTensor") and n.args and unparse(n.args[0]) in names
    ]
    axes = "" if spot.entry is not None and not spot.entry.shape else ".squeeze()"
    left = [(n, unparse(x) + axes) for n in spot.statement.nodes if (x := left_value(n)) is not None]
    if stack is None or not made or len(left) != 1 or not (added or isinstance(value, ast.ListComp)):
        return None
    return replaced(spot, [*left, *((n, f"{stack}({unparse(n.args[0])})") for n in made)])


def _outermost(spot: Spot, node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """The outermost parts of an expression that change, and what they become."""
    new = _swapped(spot, node)
    if new is not None:
        yield node, unparse(new)
    for part in ast.iter_child_nodes(node) if new is None else ():
        yield from _outermost(spot, part)


def _takes_tensors(spot: Spot, new: ast.expr) -> bool:
    """Whether a tensor can be where the array or number was, by each name that the statement binds."""
    made = spot.statement
    names = {last_name(t) or unparse(t) for t in made.targets}
    lists = made.call_of("append")
    if made.call_of("extend", "insert", "assign", "assign_add", "assign_sub") or (lists and not _only_summed(spot)):
        return False
    if isinstance(made.node, ast.Expr) and not lists and not isinstance(made.node.value, ast.Yield):
        return False
    if any(isinstance(t, ast.Subscript) and not isinstance(t.slice, ast.Constant) for t in made.targets):
        return False  # the item of an array
    bare = isinstance(new, (ast.Name, ast.Attribute, ast.Subscript))  # it may be the variable itself
    steps = [s for s in spot.statements if isinstance(s.node, ast.AugAssign)]
    changed = bare and any(set(made.binds) & set(s.binds) for s in steps)
    return not changed and not any(_asks_an_array(spot, n, names, bare) for s in spot.readers() for n in s.nodes)


def _asks_an_array(spot: Spot, node: ast.AST, names: set[str], bare: bool) -> bool:
    """Whether something is done with one of these names that no tensor lets be done with it, or that leaves again."""

    def contains_name(part: ast.AST | None) -> bool:
        return part is not None and any(
            (last_name(n) or unparse(n)) in names for n in ast.walk(part) if isinstance(n, ast.expr)
        )

    if isinstance(node, ast.Subscript):
        return contains_name(node.slice) or (isinstance(node.ctx, ast.Store) and contains_name(node.value))
    if isinstance(node, ast.Compare):
        return any(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops) and contains_name(node.left)
    if isinstance(node, ast.Call):
        given = [*node.args, *(k.value for k in node.keywords)]
        torch = spot.dialect.name != "tf" and is_call(node, *REBUILDS, "clamp", "clip")
        leaves = torch or (bare and is_call(node, *REBUILDS)) or left_value(node) is not None
        named = any(map(contains_name, given))
        return named and (leaves or _is_foreign(spot, node) or _computes_with_numpy(spot, node))
    return isinstance(node, ast.Attribute) and _is_foreign(spot, node) and contains_name(node.value)


def _computes_with_numpy(spot: Spot, call: ast.Call) -> bool:
    """Whether a call is of a function of the program's that computes with NumPy."""
    functions = spot.program.functions.get(last_name(call.func), [])
    return any(_module(spot, n) in ("numpy", "math", "scipy") for f in functions for n in ast.walk(f))


def _only_summed(spot: Spot) -> bool:
    """Whether what is appended goes into a list that is handed to functions of the framework alone, or to ``sum``."""
    call: Any = getattr(spot.statement.node, "value", None)
    name = unparse(call.func).removesuffix(".append") if is_call(call, "append") else ""
    nodes = [n for s in spot.program.statements if s is not spot.statement for n in s.nodes]
    read = [n for n in nodes if isinstance(n, ast.expr) and unparse(n) == name]
    rebuilds = ("constant", "Variable", "tensor")
    given = [
        a
        for n in nodes
        if isinstance(n, ast.Call)
        and (is_module(spot, n.func) or unparse(n.func) in ("sum", "len"))
        and last_name(n.func) not in rebuilds
        and not _is_foreign(spot, n)
        for a in n.args
    ]
    return name.isidentifier() and all(n in given for n in read if isinstance(getattr(n, "ctx", None), ast.Load))
