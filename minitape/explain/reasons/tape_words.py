"""What a break of a tape is called in its sentence, and which of the sentences of its cause fits.

Each function looks at the text of one cause, and gives the fields of its sentence; ``kind`` chooses among the sentences
of ``minitape/explain/texts.py``.
"""

from __future__ import annotations

import ast
import builtins
from typing import Any

import numpy as np

from ...recording.nodes import CodePlace, is_state
from ..caller import in_brackets, where
from ..fixes.edits import assigned
from ..fixes.leaving import LEAVES
from ..owners import variables_of
from ..sentences import fill
from . import checks, text
from .names import bound_at, path_to
from .question import Finding, Question, RecordedRow

Fields = dict[str, str]
SHORT = 40  # the longest text of an expression in a sentence
OPS = {"step": "Round Floor Ceil Rint FloorDiv Sign", "shape": "Shape Size Rank ZerosLike OnesLike"}
KIND_OF_OP = {op: kind for kind, ops in OPS.items() for op in ops.split()}
EXITS = {
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
DERIVES = ("gradient", "jacobian", "batch_jacobian", "gradients")


class BlamedPlace:
    """A finding with the statement and the expression that it is about."""

    def __init__(self, q: Question, found: Finding) -> None:
        self.q, self.found, self.at = q, found, text.at(found.site)
        self.place: CodePlace | None = getattr(found.site, "place", None)
        self.row: RecordedRow | None = None if found.row is None else q.rows[found.row]
        self.call: Any = None if self.at is None or self.place is None else self.at.expression(self.place.span)
        self.function = text.unparse(self.call.func) if isinstance(self.call, ast.Call) else ""

    def of_module(self) -> bool:
        """Whether what is called is a function of a module: ``tf.math.round``."""
        root = self.function.partition(".")[0]
        known = self.at is not None and root in text.program(self.at.file).imported
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
    if not q.adapter.is_variable(q.source) and not any(q.rows[row].tracked for row in q.own):
        late = {"watched": fill(", after tape.watch({x})", x=q.name)}
    return late if look is None or found.kind not in ("", "again", "trained") else late | look(BlamedPlace(q, found))


MAKERS = set(
    "Variable add_weight constant convert_to_tensor ones zeros fill range eye linspace normal uniform cast".split()
)


def leaf(b: BlamedPlace) -> Fields:
    """What a value that was there before is called."""
    made = text.last_name(b.call.func) if b.function else ""
    name = bound_at(b.found.site) if b.call is None or made in MAKERS else ""
    if b.call is not None and not name and b.row is not None:  # an array that came in here
        names = dict(b.q.adapter.names())
        held = ((n.id, names.get(n.id)) for n in ast.walk(b.call) if isinstance(n, ast.Name))
        array = b.row.array
        nan = array is not None and array.dtype.kind == "f"
        alike = (n for n, value in held if isinstance(value, np.ndarray) and array is not None)
        name = next((n for n in alike if np.array_equal(names[n], array, equal_nan=nan)), "")  # type: ignore[arg-type]
    variable = None if b.row is None else b.row.extra.variable
    return {"other": (path_to(b.q, variable) if variable is not None else "") or name or b.found.other}


def nondifferentiable(b: BlamedPlace) -> Fields:
    """No derivative: of a rule of the program's own, of a step, of Python's max, of a shape."""
    if b.row is not None and b.q.adapter.label(b.row) == "custom_gradient":
        return {"kind": "custom", "code": b.function or "tf.custom_gradient"}
    if b.function in ("max", "min"):
        return {"kind": "python", "what": b.function, "instead": f"tf.{b.function}imum"}
    return {"kind": KIND_OF_OP.get(b.found.what or (b.row.op if b.row else ""), ""), "what": b.operation()}


def registered(b: BlamedPlace) -> Fields:
    """No gradient is registered."""
    return {"what": b.operation()}


def whole(b: BlamedPlace) -> Fields:
    """Whole numbers, or a text."""
    return {"what": fill("text")} if b.found.what in ("AsString", "StringToNumber", "string") else {}


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
    kind = b.found.what if origin is None else origin.kind
    early = origin is not None and not b.q.adapter.in_block(origin.when)
    names = b.at.binds if b.at is not None else []
    if kind == "variable":
        return {"kind": "variable before" if early and names else "variable", "code": names[0] if names else ""}
    assigns = [] if b.at is None else [c for c in b.at.calls if text.last_name(c.func).startswith("assign")]
    call = b.call if isinstance(b.call, ast.Call) else assigns[0] if len(assigns) == 1 else None
    if call is not None and isinstance(call.func, ast.Attribute) and not b.of_module() and call in assigns:
        return stored(b, call, early)
    steps = b.at is not None and b.at.call_of("apply_gradients", "minimize", "apply") is not None
    function = "" if call is None else text.unparse(call.func)
    what = {"what": function if b.of_module() else f"{function}(...)"} if 0 < len(function) <= SHORT else {}
    return {"kind": "optimizer" if steps else "", **what}


def stored(b: BlamedPlace, call: Any, early: bool) -> Fields:
    """What to write where a variable is read that assign, assign_add or assign_sub changed."""
    held, value = call.func.value, text.unparse(call.args[0]) if call.args else ""
    variable, sign = text.unparse(held), {"assign": "", "assign_add": "+", "assign_sub": "-"}.get(call.func.attr)
    said = {"what": f"{variable}.{call.func.attr}", "code": variable}
    if len(variable) > SHORT:
        return {}
    if early:
        return {**said, "kind": "before"}
    if isinstance(held, ast.Subscript):
        return {**said, "kind": "part", "code": text.unparse(held.value), "instead": "tf.tensor_scatter_nd_update"}
    detail = None if b.row is None or b.row.extra.origin is None else b.row.extra.origin.detail
    changed = detail() if callable(detail) else None
    if changed is not None and b.q.adapter.owners.in_layer(changed) and changed.trainable:
        return {**said, "kind": "layer"}
    if sign is None or not 0 < len(value) <= SHORT:
        return said
    itself = any(text.unparse(n) == variable for n in ast.walk(call.args[0]) if isinstance(n, ast.expr))
    kind = "changed" if sign or itself else "expression"
    return {**said, "kind": kind, "instead": f"{variable} {sign} {value}" if sign else value}


def outside(b: BlamedPlace) -> Fields:
    """What ran outside of the block: before or after it, in another round, in a function that ran once."""
    fields = {"what": b.operation(whole=True), "kind": "", "used": "", "function": ""}
    adapter, origin = b.q.adapter, None if b.row is None else b.row.extra.origin
    begins, block = adapter.rules.begins, text.at(adapter.block())
    if b.found.what == "gradient":
        tape = getattr(b.call.func, "value", None) if b.function else None
        itself = isinstance(tape, ast.Name) and dict(adapter.names()).get(tape.id) is adapter.rules.tape
        return {"kind": "itself" if itself else "gradient"}
    lines = [] if b.place is None or block is None else [line for name, line in b.place.outer() if name == block.file]
    within = block is not None and any(block.line < line <= block.last for line in lines)
    behind = block is not None and any(line > block.last for line in lines)
    record = None if b.row is None else b.row.extra.record
    if origin is not None and begins:
        if adapter.in_block(origin.when):
            fields["kind"] = "after" if len(begins) == 1 and behind else "elsewhere" if within else ""
        else:
            fields |= {"kind": "earlier"} if within else before(b, block)
    elif record is not None and record is not adapter.rules.record:
        fields["kind"] = "earlier" if within else "another"
    elif record is not None and b.row is not None and (spans := adapter.rules.trace.spans):
        row = b.row.extra.row
        fields["kind"] = "before" if row < spans[0][0] else "after" if row >= spans[-1][1] else ""
    if fields["kind"] in ("", "before", "after"):
        fields["used"] = until(b)
    return fields


def before(b: BlamedPlace, block: text.Statement | None) -> Fields:
    """How a function that ran before the block is called, and why it ran only once."""
    functions = [] if b.at is None else b.at.functions
    if not functions or (block is not None and functions[0] in block.functions):
        return {"kind": "before"}
    cached = any("cache" in text.last_name(getattr(d, "func", d)) for d in functions[0].decorator_list)
    name = functions[0].name
    return {"kind": "cached" if cached else "setup" if name in checks.RUN_ONCE else "called", "function": name}


def until(b: BlamedPlace) -> str:
    """That a run of operations outside the tape ends further down in the same function."""
    if b.row is None or b.at is None:
        return ""
    ends = [
        at
        for row, one in b.q.way
        if row >= b.row.row and (one.why == b.found.cause or row == b.row.row)
        for site in b.q.rows[row].way
        if (at := text.at(site)) is not None and at.file == b.at.file and at.functions == b.at.functions
    ]
    last = max(ends, key=lambda at: at.order, default=b.at)
    if last.order <= b.at.order:
        return ""
    return fill(", together with everything that uses its result (up to {used})", used=where("", last.line))


def paused(b: BlamedPlace) -> Fields:
    """The block in which nothing is recorded."""
    around = None if b.at is None else b.at.within("stop_recording", "init_scope")
    scope = around is not None and "init_scope" in text.names_in(around.nodes)
    return {"function": "init_scope" if scope else "stop_recording"}


def of_layer(b: BlamedPlace) -> Fields:
    """A variable of a layer: the layer, and how to reach the variable."""
    path = path_to(b.q, b.q.adapter.handle(b.q.source))
    names = dict(b.q.adapter.names())
    models = (
        name
        for name, thing in names.items()
        if not name.startswith("_")
        and not isinstance(thing, type)
        and hasattr(type(thing), "trainable_variables")
        and any(v is b.q.source for v in variables_of(thing))
    )
    model = path.partition(".")[0] or next(models, "model")
    made = b.at is not None and b.at.call_of("Variable", "add_weight") is not None
    layer = b.q.adapter.owners.in_layer(b.q.source) or (b.found.cause == "not_trainable" and not made)
    return {"kind": "layer" if layer else "", "code": model, "used": f"{path or 'variable'}.value"}


def rebound(b: BlamedPlace) -> Fields:
    """What was bound again, and how it is written as a change of the variable."""
    names = b.at.binds if b.at is not None else []
    said = names[0] if b.found.what == "of the variable" and names else b.found.what
    tensor = not b.q.adapter.is_variable(b.q.source)
    own = b.row is not None and b.row.row in b.q.own
    if b.row is not None and b.found.kind:
        later = b.row.when > b.q.adapter.birth(b.q.source)[0]
        return {"kind": "inside" if later else "new", "what": said}
    name, instead = assignment(b)
    replaced = "replaced " if tensor and own and b.q.used else ""
    held = of_variables(b)
    if instead:
        return {"kind": f"{replaced}assign", "what": name, "instead": instead}
    if tensor:
        return {"kind": replaced.strip() if held else f"{replaced}tensor", "what": name or said}
    made = b.at is not None and isinstance(b.at.value, ast.Call) and not {*names} & b.at.reads
    return {"kind": "new" if made else "", "what": name or said}


def of_variables(b: BlamedPlace) -> bool:
    """Whether the source was computed from variables, or its name held one before."""
    rows = b.q.back(b.q.own)
    return (b.at is not None and checks.held_variable(b.q, b.at)) or any(
        b.q.rows[row].extra.variable is not None or is_state(b.q.rows[row].extra.origin) for row in rows
    )


def assignment(b: BlamedPlace) -> tuple[str, str]:
    """What an assignment bound, and the assignment as a change of the variable; empty where it cannot be one."""
    node = None if b.at is None else b.at.node
    if b.at is None or not isinstance(node, (ast.Assign, ast.AugAssign)):
        return "", ""
    targets, given = b.at.targets, getattr(node.value, "elts", [node.value])
    column = -1 if b.place is None else b.place.column
    at = [
        k for k, part in enumerate(given) if len(given) == 1 or part.col_offset <= column < (part.end_col_offset or 0)
    ]
    if len(targets) != len(given) or len(at) != 1:
        return "", ""
    name, value = text.unparse(targets[at[0]]), given[at[0]]
    called = text.last_name(value.func) if isinstance(value, ast.Call) else ""
    if called.startswith("assign"):
        return name, text.unparse(value)
    own = name in {text.unparse(n) for n in ast.walk(value)} or isinstance(node, ast.AugAssign)
    held = checks.held_variable(b.q, b.at) or (own and not name.isidentifier() and of_variables(b))
    if isinstance(value, LISTS) or called in SHAPED.split() or not held:
        return name, ""
    written = assigned(name, value, node.op if isinstance(node, ast.AugAssign) else None)
    return name, written if len(written) <= 70 else ""


def wrong(b: BlamedPlace) -> Fields:
    """What was used in place of the source."""
    born = b.q.adapter.made_at(b.q.source)
    if born and born[-1] == b.found.site:
        return {"kind": "copy"}
    taken = [] if b.at is None else [*b.at.binds, *sorted(text.names_in(b.at.nodes))]
    names, ours = dict(b.q.adapter.names()), b.q.adapter.numbers(b.q.source)
    for name in taken:
        held = names.get(name)
        array = held if isinstance(held, np.ndarray) else b.q.adapter.numbers(held) if held is not b.q.source else None
        if array is not None and ours is not None and np.array_equal(array, ours):
            return {"kind": "named", "code": name}
    return {}


def absent(b: BlamedPlace) -> Fields:
    """How far the source got, and what the target is."""
    q = b.q
    if not q.ends:
        return {}
    end = q.rows[q.ends[0]]
    if not q.adapter.is_variable(q.source) and any(row in q.back(q.own) for row in q.ends):
        return {"kind": "swapped"}
    at = text.at(end.site)
    if at is not None and at.call_of(*DERIVES):
        return {"kind": "derivative"}
    origin = end.extra.origin
    if origin is not None and origin.kind in ("constant", "made") and not origin.inputs:
        return {"kind": "constant", "used": in_brackets(*end.site)}
    uses = q.adapter.used_rows(q.source)
    if uses:
        b.found.site = dropped_at(uses[-1])
        return {"kind": "used", "used": in_brackets(*b.found.site)}
    branch = read_in_a_branch(b)
    return {} if branch is None else {"kind": "branch", "used": where(branch.file, branch.line)}


def dropped_at(site: Any) -> Any:
    """The line that drops what a place computes: the only call of its function whose result nothing reads."""
    at = text.at(site)
    if at is None or not at.functions or not isinstance(at.node, ast.Return):
        return site
    program = text.statements(at.file)
    read = {"_"}.union(*(s.reads for s in program))
    drops = [
        s.site
        for s in program
        if isinstance(s.value, ast.Call)
        and not read.issuperset(s.binds)
        and (text.last_name(s.value.func) == at.function or at.function in text.CALLED)
    ]
    return drops[0] if len(drops) == 1 else site


def unused(b: BlamedPlace) -> Fields:
    """Whether the layer is called in a branch that did not run."""
    names = b.at.binds if b.at is not None else []
    program = [] if b.at is None or not names else text.statements(b.at.file)
    calls = [s for s in program if any(text.unparse(c.func) == names[0] for c in s.calls)]
    branch = read_in_a_branch(b) or (calls[0] if calls and all(in_branch(s, names[0]) for s in calls) else None)
    if branch is not None:
        b.found.site = branch.site
        return {"kind": "branch"}
    own = type(b.q.adapter.layer_of(b.q.source)).__module__.startswith("minitape.")
    return {"kind": "" if own else "own"}


def in_branch(s: text.Statement, name: str) -> bool:
    """Whether a statement runs under a condition alone, or what reads a name in it does."""
    if any(isinstance(o.node, (ast.If, ast.Match)) and o.functions == s.functions for o in s.around):
        return True
    chosen = {n for e in s.nodes if isinstance(e, ast.IfExp) for part in (e.body, e.orelse) for n in ast.walk(part)}
    read = [n for n in s.nodes if isinstance(n, ast.expr) and text.unparse(n) == name]
    return bool(read) and all(n in chosen for n in read)


def read_in_a_branch(b: BlamedPlace) -> text.Statement | None:
    """Where the text computes with a variable that no operation read, if that is in a branch alone."""
    if not b.q.adapter.is_variable(b.q.source) or b.q.adapter.used_rows(b.q.source):
        return None
    sites = b.q.adapter.made_at(b.q.source)[::-1]
    made = [(at, bound_at(site)) for site in sites if (at := text.at(site)) is not None and at.binds]
    if not made or not made[0][1].removeprefix("self.").isidentifier():
        return None
    (first, name), asks = made[0], {*DERIVES, "explain", "apply_gradients", "watch", "print", "append"}
    found = []
    for s in text.statements(first.file):
        inside = s.functions or any(isinstance(o.node, ast.With) for o in s.around)
        listed = {e for n in s.nodes if isinstance(n, (ast.List, ast.Tuple)) for e in n.elts}
        reads = any(text.unparse(n) == name and n not in listed for n in s.nodes if isinstance(n, ast.expr))
        if inside and s is not first and reads and not any(text.last_name(c.func) in asks for c in s.calls):
            if not in_branch(s, name):
                return None
            found.append(s)
    return found[0] if found else None


LOOKS = {
    "nondifferentiable_op": nondifferentiable,
    "no_gradient_registered": registered,
    "integer_dtype": whole,
    "left_through_numpy": left,
    "state": state,
    "outside_tape": outside,
    "recording_paused": paused,
    "not_trainable": of_layer,
    "not_accessed_watched": of_layer,
    "rebound": rebound,
    "wrong_object": wrong,
    "independent": absent,
    "unused_layer": unused,
    "nan_input": leaf,
}
