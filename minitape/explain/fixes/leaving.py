"""A line that takes a value to NumPy or Python, written with the framework's functions."""

from __future__ import annotations

import ast
import builtins
from types import ModuleType
from typing import Any

import numpy as np

from ...engine.tensor.tensor import from_array
from ..reasons.text import PLACES, last_name, parsed, rewritten, unparse
from .numbers import STEPS
from .site import REBUILDS, SIMPLE, Fix, Spot, is_call, replaced, spelled

LEAVES = ("numpy", "float", "int", "item", "tolist")
_OF_ARRAYS = {"flatten": "reshape", "ravel": "reshape", "astype": "cast", "copy": "identity"}
_OF_ARRAYS |= {f: f for f in ("transpose", "reshape", "squeeze")}
_OF_ARRAYS |= {f: f"reduce_{f}" for f in ("mean", "sum", "max", "min")}
# functions of NumPy that no gradient passes in another framework either, and those with other arguments
FLAT = [*STEPS, *"argmax argmin argsort nonzero searchsorted digitize around histogram bincount unique".split()]
_NOT_ALIKE = "vstack hstack concatenate tensordot inner outer normal uniform randn".split()
_TAKE_TENSORS = "abs sum pow max min print float range zip enumerate isinstance repr bool list".split()
_TENSORS = ("minitape", "tensorflow", "keras", "torch", "jax", "functools")
_NUMBERS = set("float16 float32 float64 int32 int64 pi inf newaxis e".split())
_PARTS = (ast.ListComp, ast.GeneratorExp, ast.List, ast.Dict, ast.Lambda, ast.JoinedStr)
_A_TENSOR = from_array(np.ones(1, np.float32))


def bare(node: Any) -> ast.expr:
    """The tensor behind what takes it out: ``h`` of ``float(h)`` and ``h.detach().numpy()``; else the expression."""
    if not is_call(node, *LEAVES, "detach", "cpu") or node.keywords or unparse(node.func) == "int":
        return node
    method = isinstance(node.func, ast.Attribute)
    if bool(node.args) == method:
        return node
    return bare(node.func.value if isinstance(node.func, ast.Attribute) else node.args[0])


def _leaves(node: ast.AST) -> bool:
    """Whether a value leaves in an expression."""
    return any(bare(n) is not n for n in ast.walk(node))


def _module(spot: Spot, function: ast.AST) -> str:
    """The package whose function it is; empty where it is no module's."""
    root = unparse(function).partition(".")[0] if isinstance(function, ast.Attribute) else ""
    held = spot.names.get(root) if root else None
    known = held.__name__ if isinstance(held, ModuleType) else ""
    return (spot.program.imported.get(root) or known).partition(".")[0]


def _is_foreign(spot: Spot, node: ast.AST) -> bool:
    """Whether something is a function that knows nothing of tensors: of Python's, of another library, of the program's
    own that computes with NumPy; or a method of arrays alone.
    """
    node = node.func if isinstance(node, ast.Call) else node
    functions = spot.program.functions.get(last_name(node), [])
    if any(_module(spot, n) in ("numpy", "math", "scipy") for f in functions for n in ast.walk(f)):
        return True
    if isinstance(node, ast.Name):
        return callable(getattr(builtins, node.id, None)) and node.id not in _TAKE_TENSORS
    if not isinstance(node, ast.Attribute) or node.attr in _NUMBERS:
        return False
    if module := _module(spot, node):
        return module not in _TENSORS
    return spot.dialect.name == "tf" and hasattr(np.ndarray, node.attr) and not hasattr(_A_TENSOR, node.attr)


def inside(spot: Spot, node: ast.AST) -> ast.expr | None:
    """An expression that stays in the framework; None where it does, or where that cannot be written."""
    for part in ast.walk(node):
        if isinstance(part, _PARTS) and any(_swapped(spot, n) is not None for n in ast.walk(part)):
            return None  # another statement uses the parts
    new = ast.fix_missing_locations(rewritten(node, lambda n: _swapped(spot, n)))
    text = any(
        isinstance(n, (ast.JoinedStr, ast.Compare, ast.Mod)) or is_call(n, *FLAT, "format", "predict")
        for n in ast.walk(new)
    )
    foreign = any(_is_foreign(spot, n) for n in ast.walk(new) if isinstance(n, (ast.Call, ast.Attribute)))
    return None if text or foreign or unparse(new) == unparse(node) else new


def _swapped(spot: Spot, node: ast.AST) -> ast.AST | None:
    """What is in the place of a value that leaves, of a function of NumPy's, and of a tensor that is made anew."""

    def further(part: Any) -> Any:
        return rewritten(part, lambda n: _swapped(spot, n))

    tf = spot.dialect.name == "tf"
    if not isinstance(node, ast.Call):
        return None
    function, inner = node.func, bare(node)
    if inner is not node:
        return further(inner)
    arguments, keywords = [further(a) for a in node.args], [further(k) for k in node.keywords]
    if is_call(node, "predict") and isinstance(function, ast.Attribute):
        return ast.Call(further(function.value), arguments, [])
    if tf and isinstance(function, ast.Attribute) and _leaves(function.value):
        name = _OF_ARRAYS.get(function.attr)
        shape = [parsed("[-1]")] if function.attr in ("flatten", "ravel") else arguments
        return ast.Call(parsed(f"tf.{name}"), [further(function.value), *shape], keywords) if name else None
    jax = spot.dialect.name == "jax"
    if is_call(node, *REBUILDS) and node.args and not jax:
        return _made_anew(spot, node, arguments, keywords)
    name = last_name(function)
    known = _module(spot, function) in ("numpy", "math") and name not in (*FLAT, *([] if jax else _NOT_ALIKE))
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


def part_inside(spot: Spot) -> tuple[ast.expr, str] | None:
    """The outermost call in the statement to blame that can stay in the framework, and its new text; not inside of
    another one that takes arrays alone.
    """
    calls = [n for n in spot.statement.nodes if isinstance(n, ast.Call)]
    for call in [n for n in calls if spot.call is None or spot.call in ast.walk(n)]:
        new = inside(spot, call)
        if new is not None or _is_foreign(spot, call):
            return None if new is None else (call, unparse(new))
    return None


def line_in_framework(spot: Spot) -> Fix | None:
    """The line with the framework's functions in place of those of NumPy and Python; None where it cannot be, or where
    what reads its result may need an array.
    """
    made, names = spot.statement, {last_name(t) or unparse(t) for t in spot.statement.targets}
    value: Any = made.node.value if isinstance(made.node, SIMPLE) else None
    new = None if value is None else inside(spot, value)
    lists = made.call_of("extend", "insert", "assign", "assign_add", "assign_sub")
    item = any(isinstance(t, ast.Subscript) and not isinstance(t.slice, ast.Constant) for t in made.targets)
    appends = is_call(value, "append") and isinstance(value.func, ast.Attribute)
    dropped = isinstance(made.node, ast.Expr) and not isinstance(value, ast.Yield) and not appends
    if new is None or [unparse(new)] == made.binds or lists or item or dropped:
        return None
    names |= {last_name(value.func.value) or unparse(value.func.value)} if appends else set()
    # it may be the variable itself, or a list of such
    variable = appends or isinstance(new, PLACES)
    nodes = [n for s in spot.readers(*names) for n in s.nodes]
    arrays = any(_needs_an_array(spot, n, names, variable) for n in nodes)
    return None if arrays else replaced(spot, value, unparse(new))


def _needs_an_array(spot: Spot, node: ast.AST, names: set[str], variable: bool) -> bool:
    """Whether something is done with one of these names that may not be done with a tensor, or that leaves again."""
    if isinstance(node, ast.AugAssign):
        return variable and last_name(node.target) in names
    if isinstance(node, ast.Subscript):
        part: ast.AST = node if isinstance(node.ctx, ast.Store) else node.slice
    elif isinstance(node, ast.Call):
        lists = any(isinstance(n, (ast.List, ast.Tuple)) for n in node.args)
        anew = is_call(node, *REBUILDS, "clamp", "clip") and (variable or lists or spot.dialect.name != "tf")
        part = node if anew or bare(node) is not node or _is_foreign(spot, node) else ast.Pass()
    elif isinstance(node, ast.Attribute) and _is_foreign(spot, node):
        part = node.value
    else:
        return False
    return any((last_name(n) or unparse(n)) in names for n in ast.walk(part) if isinstance(n, ast.expr))
