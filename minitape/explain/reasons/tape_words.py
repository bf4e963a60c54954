"""What a break of a tape is called in its sentence, and which of the sentences of its cause fits.

Each function looks at the text of one cause, and gives the fields of its sentence; ``kind`` chooses among the sentences
of ``minitape/explain/texts.py``.
"""

from __future__ import annotations

import ast
import builtins
from typing import Any

from ...recording.nodes import is_state
from ...recording.sites import NOWHERE
from ..caller import in_brackets
from ..fixes.edits import assigned
from ..fixes.leaving import LEAVES
from ..sentences import fill
from . import checks, text
from .names import bound_at
from .question import Finding, Question

Fields = dict[str, str]
SHORT = 40  # the longest text of an expression in a sentence
OPS = {"step": "Round Floor Ceil Rint FloorDiv Sign", "shape": "Shape Size Rank ZerosLike OnesLike"}
KIND_OF_OP = {op: kind for kind, ops in OPS.items() for op in ops.split()}
EXITS = {
    "": "no",
    "numpy": ".numpy()",
    "asarray": "NumPy",
    "float": "float()",
    "int": "int()",
    "complex": "complex()",
    "bool": "bool()",
    "index": "an index",
}
SHAPED = "reshape transpose expand_dims squeeze concat stack tile cast identity convert_to_tensor value read_value"
LISTS = (ast.Subscript, ast.ListComp, ast.List, ast.Tuple, ast.Dict, ast.DictComp, ast.GeneratorExp, ast.Constant)


class BlamedPlace:
    """A finding with the statement and the expression that it is about."""

    def __init__(self, q: Question, found: Finding) -> None:
        self.q, self.found, self.at = q, found, text.at(found.site)
        self.place = getattr(found.site, "place", None)
        self.row = None if found.row is None else q.rows[found.row]
        self.call: Any = None if self.place is None else self.at.expression(self.place.span)
        self.function = text.unparse(self.call.func) if isinstance(self.call, ast.Call) else ""

    def of_module(self) -> bool:
        """Whether what is called is a function of a module: ``tf.math.round``."""
        root = self.function.partition(".")[0]
        known = root in text.program(self.at.file).imported
        held = dict(self.q.adapter.names()).get(root)
        return "." in self.function and (known or root == self.q.adapter.module or hasattr(held, "__loader__"))

    def operation(self, whole: bool = False) -> str:
        """The operation as the program writes it; with ``whole`` the call stands for all that ran in it."""
        name = self.found.what or ("" if self.row is None else self.row.op) or fill("the value")
        if self.of_module():
            return self.function
        written = "" if self.call is None else text.unparse(self.call)
        if isinstance(self.call, ast.Call):
            if whole and len(written) <= 30:
                return written
            if len(self.function) > SHORT:
                return name
            within = fill("{operation} in {function}(...)", operation=name, function=self.function)
            return f"{self.function}(...)" if whole else within
        fits = isinstance(self.call, (ast.Compare, ast.BinOp, ast.UnaryOp, ast.Subscript)) and len(written) <= SHORT
        return written if fits else name


def details(q: Question, found: Finding) -> Fields:
    """The fields of the sentence of a finding."""
    look, late = LOOKS.get(found.cause), {}
    if q.is_unwatched:
        late = {"watched": fill(", after tape.watch({x})", x=q.name)}
    return late if look is None or found.kind not in ("", "again", "trained") else late | look(BlamedPlace(q, found))


def nondifferentiable(b: BlamedPlace) -> Fields:
    """No derivative: of a step, of Python's max, of a shape."""
    if b.function in ("max", "min"):
        return {"kind": "python", "what": b.function, "instead": f"tf.{b.function}imum"}
    return {"kind": KIND_OF_OP.get(b.found.what or (b.row.op if b.row else ""), ""), "what": b.operation()}


def registered(b: BlamedPlace) -> Fields:
    """No gradient is registered."""
    return {"what": b.operation()}


def left(b: BlamedPlace) -> Fields:
    """How a value left."""
    how, name = b.found.what, text.last_name(b.call.func) if b.function else ""
    if how == "bool" or checks.only_decides(b.q, b.found):
        return {"kind": "choice"}
    if name in ("numpy_function", "py_func") or how in ("tf.numpy_function", "tf.py_function"):
        return {"kind": "function", "code": b.function or how}
    if name == "constant" and how == "numpy":
        return {"kind": "copy", "code": b.function}
    named = name and name not in LEAVES and not hasattr(builtins, b.function) and len(b.function) <= SHORT
    kind = how if how in ("index", "text") else ""
    return {"kind": kind, "what": b.function if named else fill(EXITS.get(how, how))}


def state(b: BlamedPlace) -> Fields:
    """A value that was stored in a variable: by which call, and what to write instead."""
    origin = None if b.row is None else b.row.extra.origin
    early = " before" * (origin is not None and not b.q.adapter.in_block(origin.when))
    names = b.at.binds
    if b.found.what == "variable" or (origin is not None and origin.kind == "variable"):
        return {"kind": f"variable{early * bool(names)}", "code": names[0] if names else ""}
    assigns = [c for c in b.at.calls if text.last_name(c.func).startswith("assign")]
    call: Any = b.call if b.call in assigns else assigns[0] if len(assigns) == 1 else None
    if call is None or b.of_module() or len(text.unparse(call.func)) > SHORT:
        return {"what": f"{b.function}(...)"} if 0 < len(b.function) <= SHORT else {}
    variable, value = text.unparse(call.func.value), text.unparse(call.args[0]) if call.args else ""
    said = {"what": f"{variable}.{call.func.attr}", "code": variable}
    sign = {"assign": "", "assign_add": f"{variable} + ", "assign_sub": f"{variable} - "}.get(call.func.attr)
    if early or sign is None or not 0 < len(value) <= SHORT:
        return said | {"kind": early.strip()}
    changed = sign or variable in text.names_in(ast.walk(call.args[0]))
    return said | {"kind": "changed" if changed else "expression", "instead": f"{sign}{value}"}


def outside(b: BlamedPlace) -> Fields:
    """What ran outside of the block: before or after it, under another tape, in a function that ran once."""
    adapter, row = b.q.adapter, None if b.row is None else b.row.extra
    if b.found.what in ("gradient", "reset") or row is None:
        return {"kind": b.found.what}
    kind, begins, block = "", adapter.rules.begins, text.at(adapter.block())
    if row.origin is not None and begins:
        once = b.at.function in checks.RUN_ONCE
        behind = b.place is not None and b.place.line > block.last
        late = adapter.in_block(row.origin.when)
        kind = ("after" if len(begins) == 1 and behind else "") if late else "setup" if once else "before"
    elif row.record is not None and row.record is not adapter.rules.record:
        kind = "another"
    return {"what": b.operation(whole=True), "kind": kind, "function": b.at.function}


def paused(b: BlamedPlace) -> Fields:
    """The block in which nothing is recorded."""
    around = b.at.within("stop_recording", "init_scope")
    scope = around is not None and "init_scope" in text.names_in(around.nodes)
    return {"function": "init_scope" if scope else "stop_recording"}


def rebound(b: BlamedPlace) -> Fields:
    """What was bound again, and how it is written as a change of the variable."""
    names = b.at.binds
    said = names[0] if b.found.what == "of the variable" and names else b.found.what
    said = bound_at(b.found.site) if names[1:] else said
    tensor = not b.q.adapter.is_variable(b.q.source)
    made = isinstance(b.at.value, ast.Call) and not {*names} & b.at.reads
    name, instead = assignment(b)
    replaced = "replaced " if tensor and b.q.used and b.row is not None and b.row.row in b.q.own else ""
    if (b.row is not None and b.found.kind) or (made and not tensor and not instead):
        return {"kind": "new", "what": said}
    if instead:
        return {"kind": f"{replaced}assign", "what": name, "instead": instead}
    held = checks.held_variable(b.q, b.at)
    return {"kind": replaced.strip() if held or not tensor else f"{replaced}tensor", "what": name or said}


def assignment(b: BlamedPlace) -> tuple[str, str]:
    """What an assignment bound, and the assignment as a change of the variable; empty where it cannot be one."""
    node = b.at.node
    if not isinstance(node, (ast.Assign, ast.AugAssign)):
        return "", ""
    if len(b.at.binds) > 1:
        return "", ""
    name, value, rows = b.at.binds[0], node.value, (b.q.rows[row].extra for row in b.q.back(b.q.own))
    called = text.last_name(getattr(value, "func", node))
    if called.startswith("assign"):
        return name, text.unparse(value)
    known = not name.isidentifier() and any(row.variable is not None or is_state(row.origin) for row in rows)
    changes = known or checks.held_variable(b.q, b.at)
    if not changes or isinstance(value, LISTS) or called in SHAPED.split():
        return name, ""  # it is no change of a variable
    new = assigned(name, value, node.op if isinstance(node, ast.AugAssign) else None)
    return name, new if len(new) <= 70 else ""


def absent(b: BlamedPlace) -> Fields:
    """How far the source got, and what the target is."""
    q = b.q
    if not q.ends:
        return {}
    end = q.rows[q.ends[0]]
    if not q.adapter.is_variable(q.source) and any(row in q.back(q.own) for row in q.ends):
        return {"kind": "swapped"}
    at = text.at(end.site)
    if at.call_of("gradient", "jacobian", "batch_jacobian", "gradients"):
        return {"kind": "derivative"}
    origin = end.extra.origin
    if origin is not None and origin.kind in ("constant", "made") and not origin.inputs:
        return {"kind": "constant", "used": in_brackets(*end.site)}
    b.found.site = next(reversed(q.adapter.used_at(q.source)), NOWHERE)
    return {} if b.found.site is NOWHERE else {"kind": "used", "used": in_brackets(*b.found.site)}


LOOKS = {
    "nondifferentiable_op": nondifferentiable,
    "no_gradient_registered": registered,
    "left_through_numpy": left,
    "state": state,
    "outside_tape": outside,
    "recording_paused": paused,
    "rebound": rebound,
    "independent": absent,
}
