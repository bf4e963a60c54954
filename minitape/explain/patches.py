"""The line to blame as it should be, where one changed line is enough: ``Explanation.patch``.

A patch is the statement rewritten, made of its syntax: what the fix says in words, applied to what stands there.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from ..engine.evidence import Exit
from ..engine.tensor import EagerTensor
from .asking import asking_frame
from .connection import operations
from .remedies import LEAVES, OF_ARRAYS, STEPS
from .source import last_name, unparse
from .trace import Node, Place

if TYPE_CHECKING:
    from ..engine.evidence import Stack
    from .advice import Advice

Tree: TypeAlias = Any  # a node of a syntax tree, whose kind its place decides
Swap = Callable[[ast.AST], "ast.AST | None"]
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return)
_MAKERS = ("Variable", "constant", "convert_to_tensor", "range", "zeros", "ones", "fill", "add_weight")
_TURNED = "left_through_numpy"
_TENSOR = ("constant", "array", "asarray", "convert_to_tensor")
_WHOLE_AGAIN = ("cast", "equal", "not_equal")  # what stands around a rounding and cuts the way once more
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
        return advice.fields["instead"] or None
    swap = None if kind in _NO_PATCH else _SWAPS.get(cause, lambda advice: None)(advice)
    if swap is None:
        return None
    tree = ast.fix_missing_locations(rewritten(statement.node, swap))
    new = ast.unparse(tree)
    if new == ast.unparse(statement.node) or "\n" in new or (cause == _TURNED and not _tensors_will_do(advice, tree)):
        return None
    return new


def _tensors_will_do(advice: Advice, tree: ast.AST) -> bool:
    """Whether nothing asks a tensor for what only arrays have, in the new statement or by a name that it binds."""
    if any(_of_arrays(node) for node in ast.walk(tree)):
        return False
    made = advice.stands
    if isinstance(made.node, ast.AugAssign) or made.calls("append", "extend", "insert"):
        return False
    names = made.binds()
    uses = [node for s in made.source.statements if s is not made for node in s.walk()]
    return not any(_of_arrays(node) and unparse(cast("ast.Attribute", node).value) in names for node in uses)


def _of_arrays(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and hasattr(np.ndarray, node.attr) and not hasattr(EagerTensor, node.attr)


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


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _in_place_of(old: ast.AST | None, text: str) -> Swap | None:
    return None if old is None else lambda node: _parsed(text) if node is old else None


# -- one for each cause -----------------------------------------------------------------------------------------------


def _begun(advice: Advice) -> int:
    """When the tape's block began."""
    return max((note[2] for note in advice.inquiry.tape.notes if note[0] == "enter"), default=0)


def _watched(advice: Advice, place: Place, node: ast.AST, name: str) -> str | None:
    """The line with a watch before it: where it stands in the block itself, and the names are known there."""
    enters = [note[3] for note in advice.inquiry.tape.notes if note[0] == "enter"]
    tape = _name_of_tape(advice)
    if not tape or not name.replace(".", "").isidentifier() or name == "the source" or not enters or not _beside(place, enters[-1]):
        return None
    return f"{tape}.watch({name})\n{ast.unparse(node)}"


def _beside(place: Place, frames: Stack) -> bool:
    return bool(frames) and place.frames[0][0] is frames[0][0]


def _name_of_tape(advice: Advice) -> str:
    frame = asking_frame()
    names = {} if frame is None else {**frame.f_globals, **frame.f_locals}
    return next((name for name, value in names.items() if value is advice.inquiry.tape), "")


def _without_stop(advice: Advice) -> Swap | None:
    call = advice.call
    if not isinstance(call, ast.Call) or last_name(call.func) != "stop_gradient" or len(call.args) != 1:
        return None
    inner = call.args[0]
    return lambda node: inner if node is call else None


def _past_step(advice: Advice) -> Swap | None:
    """A rounding that passes the gradient on as if nothing was rounded."""
    call, hard = advice.call, advice.what in (*STEPS, "Round", "Rint")
    if not hard or any(isinstance(node, ast.Call) and last_name(node.func) in _WHOLE_AGAIN for node in advice._around()):
        return None
    if isinstance(call, ast.BinOp) and isinstance(call.op, ast.FloorDiv):
        smooth = f"{_inner(call.left)} / {_inner(call.right)}"
    elif isinstance(call, ast.Call) and len(call.args) == 1 and isinstance(call.func, ast.Attribute):
        smooth = _inner(call.args[0])
    else:
        return None
    return _in_place_of(call, f"({smooth} + tf.stop_gradient({unparse(call)} - {smooth}))")


def _inner(node: ast.expr) -> str:
    return unparse(node) if isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Constant, ast.Subscript)) else f"({unparse(node)})"


def _as_floats(advice: Advice) -> Swap | None:
    if advice.subject is advice.source:
        return _float_source(advice)
    call = advice.call
    if not isinstance(call, ast.Call) or last_name(call.func) not in ("cast", "saturate_cast") or not call.args:
        return None
    if not isinstance(advice.subject, Node) or advice.kind not in ("cast", "cast through"):
        return None
    if not _read_as_floats(advice, advice.subject):
        return None
    smooth = _inner(call.args[0])
    return _in_place_of(call, f"({smooth} + tf.stop_gradient(tf.cast({unparse(call)}, tf.float32) - {smooth}))")


def _read_as_floats(advice: Advice, node: Node) -> bool:
    """Whether all that reads whole numbers makes floats of them again: then floats will do in their place."""
    record, trace = node.record, advice.inquiry.trace
    if record is None:
        return False
    readers = [row for row, inputs in operations(record, node.row) if node.row in inputs]
    return bool(readers) and all(trace.label(trace.of_row(record, row)) == "cast" for row in readers)


def _float_source(advice: Advice) -> Swap | None:
    """The call that makes the source, with ``dtype=tf.float32``."""
    value = None if advice.statement is None else advice.statement.value()
    if not isinstance(value, ast.Call) or last_name(value.func) not in _MAKERS or advice.kind != "source":
        return None
    first = 2 if last_name(value.func) == "fill" else 1
    if last_name(value.func) in ("fill", "zeros", "ones", "range"):
        return _in_place_of(value, f"tf.cast({unparse(value)}, tf.float32)")
    given = value.args[:first] + [a for a in value.args[first:] if "int" not in unparse(a)]
    keywords = [k for k in value.keywords if k.arg != "dtype"] + [ast.keyword("dtype", _parsed("tf.float32"))]
    new = ast.Call(value.func, given, keywords)
    return lambda node: new if node is value else None


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


def _in_tensors(advice: Advice) -> Swap | None:
    """A statement without what leads out to NumPy and Python, and with tf's functions in place of theirs."""
    call, kind = advice.call, advice.kind
    if any(isinstance(node, (ast.ListComp, ast.List, ast.Tuple, ast.Dict)) for node in ast.walk(advice.stands.node)):
        return None  # what becomes of the parts stands elsewhere

    def swap(node: ast.AST) -> ast.AST | None:
        if not isinstance(node, (ast.Call, ast.Attribute)):
            return None
        if isinstance(node, ast.Attribute):
            gone = _left(node.value) is not None and node.attr == "T"
            return ast.Call(_parsed("tf.transpose"), [rewritten(node.value, swap)], []) if gone else None
        if kind == "predict" and node is call and isinstance(node.func, ast.Attribute) and node.func.attr.startswith("predict"):
            return ast.Call(node.func.value, [rewritten(a, swap) for a in node.args[:1]], [])
        inner = _left(node)
        if inner is not None:
            return rewritten(inner, swap)
        return _of_tf(advice, node, swap)

    return swap


def _left(node: ast.AST) -> ast.expr | None:
    """What an expression lets out: ``h`` of ``h.numpy()``, ``float(h)``, ``h.numpy().item()``; None for any other."""
    if not isinstance(node, ast.Call) or last_name(node.func) not in LEAVES or node.keywords:
        return None
    if isinstance(node.func, ast.Attribute):
        return node.func.value if not node.args else None
    return node.args[0] if len(node.args) == 1 and last_name(node.func) != "int" else None


def _of_tf(advice: Advice, node: ast.Call, swap: Swap) -> ast.AST | None:
    """A call of NumPy's, math's or of an array's method as one of tf's."""
    function = node.func
    if isinstance(function, ast.Attribute) and _left(function.value) is not None and function.attr in OF_ARRAYS:
        shape = [_parsed("[-1]")] if function.attr in ("flatten", "ravel") else [rewritten(a, swap) for a in node.args]
        of = OF_ARRAYS[function.attr]
        return ast.Call(_parsed(of), [rewritten(function.value, swap), *shape], [rewritten(k, swap) for k in node.keywords])
    instead = "tf.convert_to_tensor" if last_name(function) in _TENSOR else advice._in_tensorflow(function)
    if not instead or (isinstance(function, ast.Name) and instead == "tf.convert_to_tensor"):
        return None
    args = [rewritten(a, swap) for a in node.args]
    if instead == "tf.tensordot" and len(args) == 2:
        args.append(ast.Constant(1))
    elif instead in ("tf.concat", "tf.tensordot", "tf.einsum") or instead.startswith("tf.random"):
        return None
    return ast.Call(_parsed(instead), args, [rewritten(k, swap) for k in node.keywords])


_SWAPS: dict[str, Callable[[Advice], Swap | None]] = {
    "stop_gradient": _without_stop,
    "nondifferentiable_op": _past_step,
    "integer_dtype": _as_floats,
    "not_trainable": _trainable,
    "state": _tensor_kept,
    _TURNED: _in_tensors,
}
