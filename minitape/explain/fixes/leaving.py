"""Where a value leaves its framework for NumPy or Python, and the same lines without that."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Container, Iterable, Iterator
from typing import Any

import numpy as np

from ...engine.recording.frames import own_file
from ...engine.tensor.tensor import from_array
from ..flow import Flow
from ..sentences import fill
from ..statement import Statement, last_name, parameters, parsed, rewritten, unparse
from .dialects import OF_NUMPY, TAPE, Dialect
from .edit_site import REBUILDS, SIMPLE, Fix, Spot, builds, is_call
from .edits import numbers

LEAVES = ("numpy", "float", "int", "item", "tolist")
OF_ARRAYS = {
    "T": "tf.transpose",
    "transpose": "tf.transpose",
    "astype": "tf.cast",
    "flatten": "tf.reshape",
    "ravel": "tf.reshape",
    "reshape": "tf.reshape",
    "squeeze": "tf.squeeze",
    "copy": "tf.identity",
    **{name: OF_NUMPY[name] for name in ("clip", "dot", "std", "var", "mean", "sum", "max", "min", "prod")},
}
# functions of NumPy that no gradient passes in another framework either
FLAT = (
    "argmax argmin argsort argpartition argwhere nonzero flatnonzero searchsorted digitize nanargmax nanargmin round "
    "around round_ rint floor ceil trunc fix sign histogram histogram2d histogramdd bincount count_nonzero unique"
).split()
# with other arguments
_NOT_ALIKE = ("vstack", "hstack", "concatenate", "tensordot", "inner", "outer", "normal", "uniform", "randn")
_TAKE_TENSORS = (
    "abs",
    "sum",
    "pow",
    "max",
    "min",
    "print",
    "float",
    "range",
    "zip",
    "enumerate",
    "isinstance",
    "str",
    "repr",
    "bool",
)
_TENSORS = ("minitape", "tensorflow", "keras", "functools")
_NUMBERS = set("float16 float32 float64 int32 int64 pi inf newaxis e".split())
_PARTS = (ast.ListComp, ast.GeneratorExp, ast.List, ast.Tuple, ast.Dict, ast.Lambda, ast.JoinedStr)
_A_TENSOR = from_array(np.ones(1, np.float32))


# -- whose function it is --------------------------------------------------------------------------


def module_of(statement: Statement, function: ast.expr) -> str:
    """The module, or the part of one, that an expression like ``np.linalg.norm`` begins with; else nothing."""
    root = unparse(function).partition(".")[0] if isinstance(function, ast.Attribute) else ""
    return statement.source.imported.get(root, "")


def in_framework(statement: Statement, function: ast.expr, dialect: Dialect) -> str:
    """The framework's function for one of NumPy or math; empty when there is none."""
    known = module_of(statement, function) in ("numpy", "math")
    return dialect.function(unparse(function).partition(".")[2]) if known else ""


def of_another_library(statement: Statement, function: ast.expr) -> bool:
    """Whether a function is that of an imported module which knows nothing of tensors."""
    module = module_of(statement, function).partition(".")[0]
    return (
        bool(module) and own_file(getattr(sys.modules.get(module), "__file__", None) or "") and module not in _TENSORS
    )


def is_foreign(spot: Spot, node: ast.AST) -> bool:
    """Whether a name is one of NumPy's, SciPy's or Python's functions of numbers."""
    if last_name(node) in _NUMBERS:
        return False
    if is_call(node, *_NUMBERS):  # np.float32(x)
        node = node.func
    return isinstance(node, ast.expr) and module_of(spot.statement, node).partition(".")[0] in (
        "numpy",
        "math",
        "scipy",
    )


def calls_foreign(spot: Spot, node: ast.AST) -> bool:
    """Whether an expression calls a function of the program's that computes with NumPy."""
    called = [
        function
        for n in ast.walk(node)
        if isinstance(n, ast.Call)
        for function in spot.source.functions.get(last_name(n.func), [])
    ]
    return any(is_foreign(spot, n) for function in called for n in ast.walk(function))


def of_arrays(node: ast.AST) -> bool:
    """Whether an attribute is one that arrays have, and tensors do not."""
    return isinstance(node, ast.Attribute) and hasattr(np.ndarray, node.attr) and not hasattr(_A_TENSOR, node.attr)


def _wants_arrays(statement: Statement, node: ast.AST, dialect: Dialect) -> bool:
    """Whether a call is of a function that takes arrays and numbers alone, and that the framework has not as well."""
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    if isinstance(function, ast.Name):
        return hasattr(builtins, function.id) and function.id not in _TAKE_TENSORS
    return of_another_library(statement, function) and (
        not in_framework(statement, function, dialect) or last_name(function) in _NOT_ALIKE
    )


# -- an expression ---------------------------------------------------------------------------------


def left_value(node: ast.AST | None) -> ast.expr | None:
    """The tensor that an expression converts: ``h`` of ``h.numpy()``, ``float(h)``, ``h.numpy().item()``; else None."""
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    if last_name(node.func) in ("convert_to_numpy", "get_value") and len(node.args) == 1:
        return node.args[0]
    if last_name(node.func) not in LEAVES:
        return None
    if isinstance(node.func, ast.Attribute):
        return node.func.value if not node.args else None
    return node.args[0] if len(node.args) == 1 and last_name(node.func) != "int" else None


def inside(spot: Spot, node: ast.AST, tensors: Container[str] = ()) -> str | None:
    """An expression that stays in the framework; None where it does, or where that cannot be written. ``tensors`` are
    names of such values, and ``f()`` a function that returns one."""
    built = spot.dialect.name != "tf" and any(
        is_call(n, *REBUILDS) and n.args and isinstance(n.args[0], ast.List) for n in ast.walk(node)
    )
    parts = [
        part
        for part in ast.walk(node)
        if isinstance(part, _PARTS) and not (part is node and isinstance(part, ast.Tuple))
    ]
    if built or any(_leaves(n) or _inside(spot, n, tensors) is not None for part in parts for n in ast.walk(part)):
        return None  # another statement uses the parts
    new = ast.fix_missing_locations(rewritten(node, lambda n: _inside(spot, n, tensors)))
    arrays = spot.dialect.name == "tf" and any(of_arrays(n) and not spot.is_module(n) for n in ast.walk(new))
    return (
        None
        if arrays or unparse(new) == unparse(node) or any(is_foreign(spot, n) for n in ast.walk(new))
        else unparse(new)
    )


def _leaves(node: ast.AST) -> bool:
    return left_value(node) is not None


def _inside(spot: Spot, node: ast.AST, tensors: Container[str]) -> ast.AST | None:
    def further(part: ast.AST) -> Any:
        return rewritten(part, lambda n: _inside(spot, n, tensors))

    of_tf = spot.dialect.name == "tf"
    if of_tf and isinstance(node, ast.Attribute) and node.attr == "T" and _leaves(node.value):
        return ast.Call(parsed("tf.transpose"), [further(node.value)], [])
    if not isinstance(node, ast.Call):
        return None
    function, keywords = node.func, [further(k) for k in node.keywords]
    if (
        of_tf
        and isinstance(function, ast.Attribute)
        and function.attr.startswith("predict")
        and not spot.is_module(function.value)
    ):
        return ast.Call(function.value, [further(a) for a in node.args[:1]], [])
    inner = left_value(node)
    if inner is not None:
        while is_call(inner, "detach", "cpu") and isinstance(inner.func, ast.Attribute):
            inner = inner.func.value
        return further(inner)
    if of_tf and isinstance(function, ast.Attribute) and _leaves(function.value) and function.attr in OF_ARRAYS:
        shape = [parsed("[-1]")] if function.attr in ("flatten", "ravel") else [further(a) for a in node.args]
        return ast.Call(parsed(OF_ARRAYS[function.attr]), [further(function.value), *shape], keywords)
    if is_call(node, *REBUILDS) and node.args:
        return _rebuilt(spot, node, further(node.args[0]), keywords, tensors)
    instead = spot.spelled(in_framework(spot.statement, function, spot.dialect) or "")
    if instead is None or last_name(function) in FLAT:
        return None
    args = [further(a) for a in node.args]
    if of_tf and last_name(function) == "dot" and len(args) == 2:
        args.append(ast.Constant(1))
    elif of_tf and last_name(function) == "concatenate" and len(args) == 1 and not keywords:
        keywords = [ast.keyword("axis", ast.Constant(0))]
    elif of_tf and last_name(function) in _NOT_ALIKE:
        return None
    return ast.Call(parsed(instead), args, keywords)


def _rebuilt(
    spot: Spot, node: ast.Call, made: ast.expr, keywords: list[ast.keyword], tensors: Container[str]
) -> ast.AST | None:
    """What a call like ``constant(h.numpy())`` makes anew, as it is; of TensorFlow's a tensor, where it may be a list
    or a variable.
    """
    given = node.args[0]
    if spot.dialect.name == "tf" and (
        node is spot.call or module_of(spot.statement, node.func) == "numpy" or unparse(made) != unparse(given)
    ):
        bare_value = (
            isinstance(made, (ast.Name, ast.Attribute, ast.Subscript, ast.List, ast.Tuple))
            or keywords
            or len(node.args) > 1
        )
        named = isinstance(node.func, ast.Name) and not isinstance(given, ast.Call)
        return (
            None
            if named
            else ast.Call(parsed("tf.convert_to_tensor"), [made, *node.args[1:]], keywords)
            if bare_value
            else made
        )
    if len(node.args) > 1 or isinstance(given, (ast.Constant, ast.List)):
        return None
    tensor = unparse(given) in tensors or (isinstance(given, ast.Call) and f"{last_name(given.func)}()" in tensors)
    return made if tensor or unparse(made) != unparse(given) else None


def parts_inside(spot: Spot) -> Iterator[tuple[ast.expr, str]]:
    """The calls in the statement to blame that can stay in the framework, the outermost first, and their new texts."""
    calls = [n for n in spot.statement.walk() if isinstance(n, ast.Call)]
    taken = {part for n in calls if _of_numbers(spot, [n]) for part in ast.walk(n)}
    for call in calls:
        new = None if call in taken or (spot.call and spot.call not in ast.walk(call)) else inside(spot, call)
        if new is not None and not _of_numbers(spot, ast.walk(parsed(new))):
            yield call, new


# -- lines -----------------------------------------------------------------------------------------


def line_in_framework(spot: Spot) -> Fix | None:
    """Rewrites the line with the framework's functions in place of those of NumPy and Python; None if it cannot be."""
    statement = spot.statement
    value = statement.node.value if isinstance(statement.node, SIMPLE) else None
    new = None if value is None else inside(spot, value)
    if (
        value is None
        or new is None
        or [new] == statement.binds()
        or (spot.dialect.name != "tf" and isinstance(statement.node, ast.Expr))
    ):
        return None
    if spot.dialect.name == "tf":
        readers = [n for s in spot.readers() for n in s.walk()]
        again = [unparse(part) for n in readers if (inner := left_value(n)) is not None for part in ast.walk(inner)]
        named = isinstance(parsed(new), (ast.Name, ast.Attribute, ast.Subscript))  # it may be the variable itself
        again += [
            unparse(part) for n in readers if named and builds(n) for part in ast.walk(n) if isinstance(part, ast.expr)
        ]
        if (
            isinstance(value, ast.Tuple)
            or not _tensors_will_do(spot, parsed(new))
            or set(again) & set(statement.binds())
        ):
            return None
        flow, near = (
            Flow(statement, None, [spot.source]),
            [s for s in spot.statements if s is not statement and s.function is statement.function is not None],
        )
        if any(
            is_foreign(spot, n.func) and any(flow.enters(s, part) for part in n.args)
            for s in near
            for n in s.walk()
            if isinstance(n, ast.Call)
        ):
            return None  # NumPy goes on with it
    changes = [(node, unparse(part)) for node, part in _swapped(spot, value)]
    return spot.replace([*changes, *_other_bounds(spot, {*statement.binds(), *(unparse(node) for node, _ in changes)})])


def _other_bounds(spot: Spot, tensors: set[str]) -> Iterator[tuple[ast.AST, str]]:
    """The bounds of PyTorch's clamp that are numbers beside one that is a tensor now: it takes two of a kind."""
    tensor = spot.spelled("torch.tensor")
    for call in (
        n for s in [spot.statement, *spot.readers()] for n in s.walk() if tensor and is_call(n, "clamp", "clip")
    ):
        bounds = {a: unparse(a) for a in (*call.args, *(k.value for k in call.keywords)) if a is not spot.operand(call)}
        if tensors & set(bounds.values()):
            yield from ((a, f"{tensor}({float(text)})") for a, text in bounds.items() if numbers(a))


def _swapped(spot: Spot, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """The outermost parts of an expression that change, and what they become."""
    new = _inside(spot, node, ())
    if new is not None:
        yield node, new
    for part in ast.iter_child_nodes(node) if new is None else ():
        yield from _swapped(spot, part)


def lines_in_framework(spot: Spot) -> Fix | None:
    """Rewrites each line that sends the value through NumPy with functions of the framework; None if one cannot be."""
    changes: list[tuple[Any, str]] = []
    waiting, seen = [spot.statement], {spot.statement}
    tensors: set[str] = set()
    while waiting:
        s = waiting.pop(0)
        value = s.node.value if isinstance(s.node, (ast.Assign, ast.Return)) else None
        new = None if value is None or calls_foreign(spot, value) else inside(spot.on(s), value, tensors)
        if new is None:
            if s is spot.statement or any(
                is_call(n, "numpy", "item", "extend", "append") or is_foreign(spot, n) for n in s.walk()
            ):
                return None
            continue
        changes.append((value, new))
        tensors |= {f"{s.function.name}()"} if isinstance(s.node, ast.Return) and s.function else set(s.binds())
        after = [r for r in spot.on(s).readers() if r not in seen and any(_reads(n, tensors) for n in r.walk())]
        seen |= set(after)
        waiting += after
    return spot.replace(changes) if len(changes) > 1 else None


def _reads(node: ast.AST, tensors: set[str]) -> bool:
    return (isinstance(node, ast.Call) and f"{last_name(node.func)}()" in tensors) or (
        isinstance(node, ast.expr) and unparse(node) in tensors
    )


def called_inside(spot: Spot) -> Fix | None:
    """A function of the program's own called as it is, for a callback that computes outside of the framework."""
    calls: list = [n for n in spot.statement.walk() if is_call(n, "pure_callback", "numpy_function", "py_function")]
    function = spot.source.functions.get(unparse(calls[0].args[0]), []) if len(calls) == 1 and calls[0].args else []
    if len(function) != 1:
        return None
    first = calls[0].args[2:] if last_name(calls[0].func) == "pure_callback" else getattr(calls[0].args[1], "elts", [])
    changes = [(calls[0], f"{function[0].name}({', '.join(map(unparse, first))})")]
    for s in spot.statements:
        value = (
            getattr(s.node, "value", None)
            if s.function is function[0] and isinstance(s.node, (ast.Assign, ast.Return))
            else None
        )
        new = None if value is None else inside(spot.on(s), value, parameters(function[0]))
        if new is None and s.function is function[0] and any(is_foreign(spot, n) for n in s.walk()):
            return None
        changes += [] if new is None else [(value, new)]
    return spot.replace(changes) if len(changes) > 1 else None


# -- whether a tensor can be there --------------------------------------------------------------


def _tensors_will_do(spot: Spot, new: ast.AST) -> bool:
    """Whether a tensor can replace the array or number, in the new expression and by each name that the
    statement binds.
    """
    made, nodes = spot.statement, list(ast.walk(new))
    if (
        isinstance(made.node, ast.AugAssign)
        or made.calls("extend", "insert", "assign", "assign_add", "assign_sub")
        or (made.calls("append") and not _only_summed(spot))
    ):
        return False
    if any(isinstance(target, ast.Subscript) and not _of_dictionary(made, target) for target in made.targets()):
        return False  # the item of an array or a list
    if any(isinstance(node, ast.Compare) for node in nodes) or _of_numbers(spot, nodes):
        return False
    if any(helper_in_numpy(made, node) for node in made.walk() if _leaves(node)):
        return False
    names = made.binds()
    alias = isinstance(new, (ast.Name, ast.Attribute))  # of the variable itself
    others = (s for s in made.source.statements if s is not made and not s.mentions().isdisjoint(made.mentions()))
    return not any(_asks_an_array(spot, node, names, alias) for s in others for node in [*s.walk(), s.node])


def _of_numbers(spot: Spot, nodes: Iterable[ast.AST]) -> bool:
    """Whether a text is among these expressions, or what takes arrays and numbers alone."""
    return any(
        isinstance(node, ast.JoinedStr)
        or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant))
        or is_call(node, *FLAT, "str", "repr", "format", "dumps")
        or _wants_arrays(spot.statement, node, spot.dialect)
        for node in nodes
    )


def _of_dictionary(made: Statement, item: ast.Subscript) -> bool:
    """Whether an item is one of a dictionary: by its key, or by what its name was bound to."""
    bound = [s.value() for s in made.source.statements if unparse(item.value) in s.binds()]
    return (isinstance(item.slice, ast.Constant) and isinstance(item.slice.value, str)) or (
        bool(bound) and all(isinstance(value, ast.Dict) for value in bound)
    )


def _only_summed(spot: Spot) -> bool:
    """Whether what is appended goes into a list that is handed to functions of the framework alone, or to ``sum``."""
    node = getattr(spot.statement.node, "value", None)
    if (
        not isinstance(node, ast.Call)
        or not isinstance(node.func, ast.Attribute)
        or not isinstance(node.func.value, ast.Name)
    ):
        return False
    name = node.func.value.id
    nodes = [n for s in spot.source.statements if s is not spot.statement and name in s.mentions() for n in s.walk()]
    read = [n for n in nodes if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
    given = [a for n in nodes if isinstance(n, ast.Call) and _takes_lists(spot, n.func) for a in n.args]
    return all(n in given for n in read)


def _takes_lists(spot: Spot, function: ast.expr) -> bool:
    if isinstance(function, ast.Name):
        return function.id in ("sum", "len")
    takes_values = last_name(function) in ("constant", "Variable")  # of tensors it takes none, or breaks the path
    return spot.is_module(function) and not takes_values and not of_another_library(spot.statement, function)


def _asks_an_array(spot: Spot, node: ast.AST, names: list[str], alias: bool) -> bool:
    """Whether something is done with one of these names that no tensor lets be done with it."""

    def named(part: ast.AST | None) -> bool:
        return isinstance(part, (ast.Name, ast.Attribute, ast.Subscript)) and unparse(part) in names

    if isinstance(node, ast.Subscript):
        return named(node.slice) or (named(stored_in(node.value)) and isinstance(node.ctx, ast.Store))
    if isinstance(node, ast.AugAssign):
        return named(node.target) and alias
    if isinstance(node, ast.Compare):
        return named(node.left) and any(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops)
    if isinstance(node, ast.Call):
        parts = [part for arg in node.args for part in (getattr(arg, "elts", None) or [arg])]
        return any(map(named, parts)) and (
            _wants_arrays(spot.statement, node, spot.dialect) or of_another_library(spot.statement, node.func)
        )
    if not isinstance(node, ast.Attribute) or not of_arrays(node):
        return False
    return (
        any(map(named, ast.walk(node.value))) if isinstance(node.value, (ast.BinOp, ast.UnaryOp)) else named(node.value)
    )


def stored_in(node: ast.expr) -> ast.expr:
    """What an item is stored in: ``a`` of ``a[0][1]``."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def helper_in_numpy(statement: Statement | None, left: ast.AST | None) -> str:
    """Says that a function of the user's own that is given a value which left computes with arrays itself; empty where
    none does.
    """
    if statement is None or left is None:
        return ""
    for outer in [
        n
        for n in statement.walk()
        if isinstance(n, ast.Call) and any(part is left for a in n.args for part in ast.walk(a))
    ]:
        for s in statement.source.statements:
            if s.function is None or s.function.name != unparse(outer.func):
                continue
            for node in _of_numpy(s, s.walk()):
                named = unparse(node.func if isinstance(node, ast.Call) else node)
                return fill(
                    "Write {function} with tf as well: it uses {name} (line {line}).",
                    function=s.function.name,
                    name=named,
                    line=s.line,
                )
    return ""


def _of_numpy(statement: Statement, nodes: Iterable[ast.AST]) -> Iterable[ast.expr]:
    for node in nodes:
        if isinstance(node, ast.expr) and (
            _wants_arrays(statement, node, TAPE) or (of_arrays(node) and not module_of(statement, node))
        ):
            yield node
