"""The line to blame as it should be, where one changed line is enough: ``Explanation.patch``.

A patch is the statement rewritten, made of its syntax: what the fix says in words, applied to what stands there.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from ..engine.recording.evidence import Exit
from ..engine.tensor.tensor import bare
from .asking import asking_frame
from .connection import operations
from .nodes import Node, Place
from .remedies import LEAVES, OF_ARRAYS, STEPS, rounded
from .sentences import fill
from .statement import last_name, unparse

if TYPE_CHECKING:
    from ..engine.recording.evidence import Stack
    from .advice import Advice

Tree: TypeAlias = Any  # a node of a syntax tree, whose kind its place decides
Swap = Callable[[ast.AST], "ast.AST | None"]
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return)
_MAKERS = ("Variable", "constant", "convert_to_tensor", "range", "zeros", "ones", "fill", "add_weight")
_TURNED = "left_through_numpy"
_TENSOR = ("constant", "array", "asarray", "convert_to_tensor")
_TAKE_TENSORS = ("abs", "sum", "pow", "max", "min", "print", "float", "range", "zip", "enumerate", "isinstance", "str", "repr", "bool")
_NOT_ALIKE = ("concatenate", "stack", "tensordot", "einsum", "normal", "uniform", "randn")  # whose arguments tf's take in another way
_A_TENSOR = bare(np.ones(1, np.float32))
_NO_PATCH = ("left_through_numpy rounded", "left_through_numpy whole", "left_through_numpy text", "left_through_numpy draw",
             "left_through_numpy places", "left_through_numpy counted", "left_through_numpy choice", "left_through_numpy index",
             "left_through_numpy function", "left_through_numpy library", "left_through_numpy by library",
             "left_through_numpy weights", "left_through_numpy put")  # fmt: skip


def patch_of(advice: Advice, cause: str, name: str) -> str | None:
    """The statement to blame rewritten, without its indentation; None where one line is not enough."""
    statement, place = advice.statement, advice.place
    if statement is None or place is None or not isinstance(statement.node, _SIMPLE) or statement.line != statement.last:
        return None
    if any(s is not statement and s.line == statement.line and s.filename == statement.filename for s in statement.source.statements):
        return None  # several statements on one line
    if cause in ("not_watched", "not_accessed_watched"):
        return _watched(advice, place, statement.node, name)
    kind = f"{cause} {advice.kind}".strip()
    if isinstance(advice.subject, Exit) and advice.subject.when < _begun(advice):
        return None  # before the block: the line has to move as well
    if kind in ("rebound assign", "rebound replaced assign"):
        gone = [unparse(target) for s in statement.source.statements if isinstance(s.node, ast.Delete) for target in s.node.targets]
        return None if set(gone) & set(statement.binds()) else advice.fields["instead"] or None
    swap = None if kind in _NO_PATCH else _SWAPS.get(cause, lambda advice: None)(advice)
    if swap is None:
        return None
    tree = ast.fix_missing_locations(rewritten(statement.node, swap))
    new = ast.unparse(tree)
    if new == ast.unparse(statement.node) or "\n" in new or (cause == _TURNED and not _tensors_will_do(advice, tree)):
        return None
    return new


def _tensors_will_do(advice: Advice, tree: ast.AST) -> bool:
    """Whether a tensor can stand where the array or number stood, in the new statement and by each name that it binds."""
    made = advice.stands
    if helper_in_numpy(advice):
        return False
    if isinstance(made.node, ast.AugAssign) or made.calls("extend", "insert", "assign", "assign_add", "assign_sub"):
        return False
    if made.calls("append") and not _only_summed(advice):
        return False
    if any(isinstance(target, ast.Subscript) for target in made.targets()):  # the item of an array or a list
        return False
    nodes = list(ast.walk(tree))
    of_tf = [node for node in nodes if isinstance(node, ast.Attribute) and unparse(node.value) in ("tf", "tf.math")]
    if any((of_arrays(node) and node not in of_tf) or isinstance(node, ast.Compare) or _wants_arrays(advice, node) for node in nodes):
        return False
    names = made.binds()
    alias = isinstance(getattr(tree, "value", None), (ast.Name, ast.Attribute))  # of the variable itself
    others = (s for s in made.source.statements if s is not made and not s.mentions().isdisjoint(made.mentions()))
    return not any(_asks_an_array(advice, node, names, alias) for s in others for node in [*s.walk(), s.node])


def _only_summed(advice: Advice) -> bool:
    """Whether what is appended goes into a list that is handed to functions of tf alone, or to ``sum``."""
    node = getattr(advice.stands.node, "value", None)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not isinstance(node.func.value, ast.Name):
        return False
    name = node.func.value.id
    nodes = [n for s in advice.stands.source.statements if s is not advice.stands and name in s.mentions() for n in s.walk()]
    read = [n for n in nodes if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
    given = [a for n in nodes if isinstance(n, ast.Call) and _takes_lists(advice, n.func) for a in n.args]
    return all(n in given for n in read)


def _takes_lists(advice: Advice, function: ast.expr) -> bool:
    if isinstance(function, ast.Name):
        return function.id in ("sum", "len")
    takes_values = last_name(function) in ("constant", "Variable")  # of tensors it takes none, or cuts the way
    return advice._in_namespace(function) and not takes_values and not advice._of_another_library(function)


def _asks_an_array(advice: Advice, node: ast.AST, names: list[str], alias: bool) -> bool:
    """Whether something is done with one of these names that no tensor lets be done with it."""

    def named(part: ast.AST | None) -> bool:
        return isinstance(part, (ast.Name, ast.Attribute, ast.Subscript)) and unparse(part) in names

    if isinstance(node, ast.Subscript):
        stored = node.value
        while isinstance(stored, ast.Subscript):
            stored = stored.value
        return named(node.slice) or (named(stored) and isinstance(node.ctx, ast.Store))
    if isinstance(node, ast.AugAssign):
        return named(node.target) and alias
    if isinstance(node, ast.Compare):
        return named(node.left) and any(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops)
    if isinstance(node, ast.Call):
        parts = [part for arg in node.args for part in (getattr(arg, "elts", None) or [arg])]
        return any(map(named, parts)) and (_wants_arrays(advice, node) or advice._of_another_library(node.func))
    if not of_arrays(node):
        return False
    of = cast("ast.Attribute", node).value
    return any(map(named, ast.walk(of))) if isinstance(of, (ast.BinOp, ast.UnaryOp)) else named(of)


def changed_in_place(advice: Advice) -> str:
    """Says that what a statement binds is changed in place afterwards, which no tensor allows; empty where it is not."""
    made = advice.statement
    if made is None:
        return ""
    names = made.binds()
    for s in made.source.statements:
        targets = [s.node.target] if isinstance(s.node, ast.AugAssign) else s.targets()
        for target in targets:
            stored = target
            while isinstance(stored, ast.Subscript):
                stored = stored.value
            if stored is not target and s.line > made.line and s.function is made.function and unparse(stored) in names:
                return fill("Line {line} changes {code} in place, which no tensor allows: use tf.where or tf.tensor_scatter_nd_update.", line=s.line, code=unparse(target))
    return ""


def helper_in_numpy(advice: Advice) -> str:
    """Says that a function of the user's own that is given the value computes with arrays itself; empty where none does."""
    call = advice.call
    nodes = [] if call is None or advice.statement is None else advice.statement.walk()
    for outer in [n for n in nodes if isinstance(n, ast.Call) and any(part is call for a in n.args for part in ast.walk(a))]:
        for s in advice.stands.source.statements:
            if s.function is None or s.function.name != unparse(outer.func):
                continue
            for node in s.walk():
                if _wants_arrays(advice, node) or (of_arrays(node) and not advice._module_of(cast("ast.Attribute", node))):
                    named = unparse(node.func if isinstance(node, ast.Call) else node)
                    return fill("Write {function} with tf as well: it uses {name} (line {line}).", function=s.function.name, name=named, line=s.line)
    return ""


def _wants_arrays(advice: Advice, node: ast.AST) -> bool:
    """Whether a call is of a function that takes arrays and numbers alone, and that tf has not as well."""
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    if isinstance(function, ast.Name):
        return hasattr(builtins, function.id) and function.id not in _TAKE_TENSORS
    return advice._of_another_library(function) and (not advice._in_tensorflow(function) or last_name(function) in _NOT_ALIKE)


def of_arrays(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and hasattr(np.ndarray, node.attr) and not hasattr(_A_TENSOR, node.attr)


def rewritten(node: ast.AST, swap: Swap) -> Tree:
    """A copy of a syntax tree with some of its nodes swapped for others."""
    found = swap(node)
    if found is not None:
        return found
    new = type(node)()
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            value = rewritten(value, swap)
        elif isinstance(value, list):
            value = [rewritten(v, swap) if isinstance(v, ast.AST) else v for v in value]
        setattr(new, field, value)
    return new


def parsed(text: str) -> ast.expr:
    """The syntax of an expression."""
    return ast.parse(text, mode="eval").body


def _in_place_of(old: ast.AST | None, text: str) -> Swap | None:
    return None if old is None else lambda node: parsed(text) if node is old else None


# -- one for each cause -----------------------------------------------------------------------------------------------


def _begun(advice: Advice) -> int:
    """When the tape's block began."""
    return max((note[2] for note in advice.inquiry.tape.notes if note[0] == "enter"), default=0)


def _watched(advice: Advice, place: Place, node: ast.AST, name: str) -> str | None:
    """The line with a watch before it: where it stands in the block itself, and the names are known there."""
    enters = [note[3] for note in advice.inquiry.tape.notes if note[0] == "enter"]
    if not enters or not enters[-1] or not _beside(place, enters[-1]):
        return None
    tape, known = _name_of_tape(advice, Place(enters[-1])), _named_there(advice, place, node, name)
    return f"{tape}.watch({known})\n{ast.unparse(node)}" if tape and known else None


def _beside(place: Place, frames: Stack) -> bool:
    return bool(frames) and place.frames[0][0] is frames[0][0]


def _named_there(advice: Advice, place: Place, node: ast.AST, name: str) -> str:
    """What the source is called where it is used; empty where nobody can tell."""
    read = [unparse(part) for part in ast.walk(node) if isinstance(part, (ast.Name, ast.Attribute))]
    frame = asking_frame()
    if frame is None or frame.f_code is not place.frames[0][0]:  # its names are not known any more
        return name if name in read else ""
    names = {**frame.f_globals, **frame.f_locals}
    return next((text for text in [*read, name] if _named(text, names) is advice.source), "")


def _named(text: str, names: dict[str, object]) -> object:
    """What a name or an attribute is, without running any code of the user's."""
    first, *attributes = text.split(".")
    found = names.get(first)
    for attribute in attributes:
        found = getattr(found, "__dict__", {}).get(attribute)
    return found


def _name_of_tape(advice: Advice, entered: Place) -> str:
    """What the with statement of the tape calls it."""
    found = next(advice.inquiry.statements(entered), None)
    items = found[0].node.items if found is not None and isinstance(found[0].node, (ast.With, ast.AsyncWith)) else []
    named = [item.optional_vars or item.context_expr for item in items if "Tape" in unparse(item) or len(items) == 1]
    return unparse(named[0]) if len(named) == 1 and isinstance(named[0], (ast.Name, ast.Attribute)) else ""


def _without_stop(advice: Advice) -> Swap | None:
    call = advice.call
    if not isinstance(call, ast.Call) or last_name(call.func) != "stop_gradient" or len(call.args) != 1:
        return None
    inner = call.args[0]
    return lambda node: inner if node is call else None


def _past_step(advice: Advice) -> Swap | None:
    """A rounding that passes the gradient on as if nothing was rounded."""
    call, x = advice.call, rounded(advice.call)
    function = isinstance(call, ast.Call) and not isinstance(call.func, ast.Attribute)
    if advice.what not in (*STEPS, "Round", "Rint") or advice.kind != "step" or call is None or x is None or function:
        return None
    return _past(call, x)


def _past(call: ast.expr, x: ast.expr, hard: str = "") -> Swap | None:
    """``x + tf.stop_gradient(round(x) - x)`` in place of a call."""
    smooth = unparse(x) if isinstance(x, ast.BinOp) and isinstance(x.op, ast.Div) else slim(x)
    return _in_place_of(call, f"({smooth} + tf.stop_gradient({hard or unparse(call)} - {smooth}))")


def slim(node: ast.expr) -> str:
    """An expression as an operand: in brackets where it needs them."""
    return unparse(node) if isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Constant, ast.Subscript)) else f"({unparse(node)})"


def _as_floats(advice: Advice) -> Swap | None:
    if advice.subject is advice.source:
        return _float_source(advice)
    call = advice.call
    if not isinstance(call, ast.Call) or last_name(call.func) not in ("cast", "saturate_cast") or not call.args:
        return None
    if advice.kind not in ("cast", "cast through") or not isinstance(advice.subject, Node) or not advice._read_as_floats():
        return None
    return _past(call, call.args[0], f"tf.cast({unparse(call)}, tf.float32)")


def _float_source(advice: Advice) -> Swap | None:
    """The call that makes the source, with ``dtype=tf.float32``."""
    value = advice.call if isinstance(advice.call, ast.Call) and last_name(advice.call.func) in _MAKERS else advice.stands.value()
    if not isinstance(value, ast.Call) or last_name(value.func) not in _MAKERS or advice.kind != "source" or _among_integers(advice):
        return None
    others = [] if advice.statement is None else advice.statement.source.statements
    if any("input_signature" in s.mentions() or s.calls("TensorSpec") for s in others):
        return None  # which has to name the type as well
    first = 2 if last_name(value.func) == "fill" else 1
    if last_name(value.func) in ("fill", "zeros", "ones", "range"):
        return _in_place_of(value, f"tf.cast({unparse(value)}, tf.float32)")
    given = value.args[:first] + [a for a in value.args[first:] if "int" not in unparse(a)]
    keywords = [k for k in value.keywords if k.arg != "dtype"] + [ast.keyword("dtype", parsed("tf.float32"))]
    new = ast.Call(value.func, given, keywords)
    return lambda node: new if node is value else None


def _among_integers(advice: Advice) -> bool:
    """Whether an operation takes the source together with other whole numbers: they would have to be floats as well."""
    trace, source = advice.inquiry.trace, advice.source
    record, rows = trace.record, set(advice.inquiry.tape._rows_of(source))
    beside = (
        [row for row in inputs if row not in rows] for _, inputs in (() if record is None else operations(record, 0)) if rows.intersection(inputs)
    )
    wholes = [trace.dtype(trace.of_row(record, row)) for others in beside for row in others] if record is not None else []
    return any(dtype is not None and dtype.is_integer for dtype in wholes)


def _trainable(advice: Advice) -> Swap | None:
    def swap(node: ast.AST) -> ast.AST | None:
        if isinstance(node, ast.keyword) and node.arg == "trainable":
            return ast.keyword("trainable", ast.Constant(True))
        return None

    return swap


def _tensor_kept(advice: Advice) -> Swap | None:
    """``tf.Variable(h)`` as ``h``."""
    call = advice.call
    if advice.kind != "variable" or not isinstance(call, ast.Call) or last_name(call.func) != "Variable" or not call.args:
        return None
    inner = call.args[0]
    return _in_place_of(call, unparse(inner) if isinstance(inner, ast.Call) else f"tf.convert_to_tensor({unparse(inner)})")


def _itself(advice: Advice) -> Swap | None:
    """``tf.identity(v)`` and ``v.value()`` as ``v``, where that made the source."""
    call = advice.call
    if advice.kind != "copy" or not isinstance(call, ast.Call):
        return None
    name = last_name(call.func)
    of_tensor = name == "identity" or (name == "convert_to_tensor" and advice.inquiry.relatives(advice.inquiry.trace.of(advice.source)[0]))
    if of_tensor and len(call.args) == 1:
        return lambda node: call.args[0] if node is call else None
    if name in ("value", "read_value") and not call.args and isinstance(call.func, ast.Attribute):
        return lambda node: cast("ast.Attribute", call.func).value if node is call else None
    return None


def _in_tensors(advice: Advice) -> Swap | None:
    """A statement without what leads out to NumPy and Python, and with tf's functions in place of theirs."""
    call, kind = advice.call, advice.kind
    nodes = list(ast.walk(advice.stands.node))
    taken = [node.slice for node in nodes if isinstance(node, ast.Subscript)]
    lists = [node for node in nodes if isinstance(node, (ast.ListComp, ast.List, ast.Tuple, ast.Dict))]
    if any(node in taken or any(part is call or left(part) for part in ast.walk(node)) for node in lists):
        return None  # what becomes of the parts stands elsewhere; a list of places is no index of a tensor

    def swap(node: ast.AST) -> ast.AST | None:
        if not isinstance(node, (ast.Call, ast.Attribute)):
            return None
        if isinstance(node, ast.Attribute):
            gone = left(node.value) is not None and node.attr == "T"
            return ast.Call(parsed("tf.transpose"), [rewritten(node.value, swap)], []) if gone else None
        if kind == "predict" and node is call and isinstance(node.func, ast.Attribute) and node.func.attr.startswith("predict"):
            return ast.Call(node.func.value, [rewritten(a, swap) for a in node.args[:1]], [])
        inner = left(node)
        if inner is not None:
            return rewritten(inner, swap)
        return _of_tf(advice, node, swap)

    return swap


def left(node: ast.AST) -> ast.expr | None:
    """What an expression lets out: ``h`` of ``h.numpy()``, ``float(h)``, ``h.numpy().item()``; None for any other."""
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    if last_name(node.func) in ("convert_to_numpy", "get_value") and len(node.args) == 1:
        return node.args[0]
    if last_name(node.func) not in LEAVES:
        return None
    if isinstance(node.func, ast.Attribute):
        return node.func.value if not node.args else None
    return node.args[0] if len(node.args) == 1 and last_name(node.func) != "int" else None


def _of_tf(advice: Advice, node: ast.Call, swap: Swap) -> ast.AST | None:
    """A call of NumPy's, math's or of an array's method as one of tf's."""
    function = node.func
    if isinstance(function, ast.Attribute) and left(function.value) is not None and function.attr in OF_ARRAYS:
        shape = [parsed("[-1]")] if function.attr in ("flatten", "ravel") else [rewritten(a, swap) for a in node.args]
        of = OF_ARRAYS[function.attr]
        return ast.Call(parsed(of), [rewritten(function.value, swap), *shape], [rewritten(k, swap) for k in node.keywords])
    instead = "tf.convert_to_tensor" if last_name(function) in _TENSOR else advice._in_tensorflow(function)
    if not instead or (isinstance(function, ast.Name) and instead == "tf.convert_to_tensor"):
        return None
    args = [rewritten(a, swap) for a in node.args]
    if instead == "tf.tensordot" and len(args) == 2:
        args.append(ast.Constant(1))
    elif instead in ("tf.concat", "tf.tensordot", "tf.einsum") or instead.startswith("tf.random"):
        return None
    return ast.Call(parsed(instead), args, [rewritten(k, swap) for k in node.keywords])


_SWAPS: dict[str, Callable[[Advice], Swap | None]] = {
    "stop_gradient": _without_stop,
    "nondifferentiable_op": _past_step,
    "integer_dtype": _as_floats,
    "not_trainable": _trainable,
    "state": _tensor_kept,
    "wrong_object": _itself,
    _TURNED: _in_tensors,
}
