"""Choose the sentence of a tape's finding, and find the values for its fields.

Each function reads the program's text for one cause and returns the fields of its sentence. The field ``kind`` chooses
among the sentences of ``minitape/explain/texts.py``.
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
from .names import find_bound_name
from .question import Finding, Question

Fields = dict[str, str]
MAX_CODE_LENGTH = 40  # the longest text of an expression in a sentence
OPS_BY_VARIANT = {"step": "Round Floor Ceil Rint FloorDiv Sign", "shape": "Shape Size Rank ZerosLike OnesLike"}
VARIANT_OF_OP = {op: kind for kind, ops in OPS_BY_VARIANT.items() for op in ops.split()}
ESCAPE_WORDS = {
    "": "no",
    "numpy": ".numpy()",
    "asarray": "NumPy",
    "float": "float()",
    "int": "int()",
    "complex": "complex()",
    "bool": "bool()",
    "index": "an index",
}
SHAPE_FUNCTIONS = (
    "reshape transpose expand_dims squeeze concat stack tile cast identity convert_to_tensor value read_value"
)
LITERAL_NODES = (
    ast.Subscript,
    ast.ListComp,
    ast.List,
    ast.Tuple,
    ast.Dict,
    ast.DictComp,
    ast.GeneratorExp,
    ast.Constant,
)


class BlamedPlace:
    """A finding with the statement and the expression that it is about."""

    def __init__(self, question: Question, found: Finding) -> None:
        self.question, self.finding, self.statement = question, found, text.at(found.site)
        self.place = getattr(found.site, "place", None)
        self.row = None if found.row is None else question.rows[found.row]
        self.call: Any = None if self.place is None else self.statement.expression(self.place.span)
        self.function = text.unparse(self.call.func) if isinstance(self.call, ast.Call) else ""

    def calls_module_function(self) -> bool:
        """Return whether the blamed call is one of a module's function: ``tf.math.round``."""
        root = self.function.partition(".")[0]
        known = root in text.program(self.statement.file).imported
        held = dict(self.question.adapter.names()).get(root)
        return "." in self.function and (known or root == self.question.adapter.module or hasattr(held, "__loader__"))

    def format_operation(self, whole: bool = False) -> str:
        """Return the blamed operation as the program writes it.

        Args:
            whole: Whether the call stands for everything that ran in it.
        """
        name = self.finding.detail or ("" if self.row is None else self.row.op) or fill("the value")
        if self.calls_module_function():
            return self.function
        written = "" if self.call is None else text.unparse(self.call)
        if isinstance(self.call, ast.Call):
            if whole and len(written) <= 30:
                return written
            if len(self.function) > MAX_CODE_LENGTH:
                return name
            within = fill("{operation} in {function}(...)", operation=name, function=self.function)
            return f"{self.function}(...)" if whole else within
        fits = (
            isinstance(self.call, (ast.Compare, ast.BinOp, ast.UnaryOp, ast.Subscript))
            and len(written) <= MAX_CODE_LENGTH
        )
        return written if fits else name


def find_sentence_fields(question: Question, found: Finding) -> Fields:
    """Return the fields of a finding's sentence."""
    look, late = DESCRIBE_BY_CAUSE.get(found.cause), {}
    if question.is_unwatched:
        late = {"watched": fill(", after tape.watch({x})", x=question.name)}
    return (
        late
        if look is None or found.variant not in ("", "again", "trained")
        else late | look(BlamedPlace(question, found))
    )


def describe_nondifferentiable(blamed: BlamedPlace) -> Fields:
    """Describe an operation without a derivative: a step, Python's max, or a shape."""
    if blamed.function in ("max", "min"):
        return {"kind": "python", "what": blamed.function, "instead": f"tf.{blamed.function}imum"}
    return {
        "kind": VARIANT_OF_OP.get(blamed.finding.detail or (blamed.row.op if blamed.row else ""), ""),
        "what": blamed.format_operation(),
    }


def describe_unregistered(blamed: BlamedPlace) -> Fields:
    """Describe an operation for which no gradient is registered."""
    return {"what": blamed.format_operation()}


def describe_escape(blamed: BlamedPlace) -> Fields:
    """Describe how a value left."""
    how, name = blamed.finding.detail, text.last_name(blamed.call.func) if blamed.function else ""
    if how == "bool" or checks.only_controls_flow(blamed.question, blamed.finding):
        return {"kind": "choice"}
    if name in ("numpy_function", "py_func") or how in ("tf.numpy_function", "tf.py_function"):
        return {"kind": "function", "code": blamed.function or how}
    if name == "constant" and how == "numpy":
        return {"kind": "copy", "code": blamed.function}
    named = (
        name
        and name not in LEAVES
        and not hasattr(builtins, blamed.function)
        and len(blamed.function) <= MAX_CODE_LENGTH
    )
    kind = how if how in ("index", "text") else ""
    return {"kind": kind, "what": blamed.function if named else fill(ESCAPE_WORDS.get(how, how))}


def describe_stored_value(blamed: BlamedPlace) -> Fields:
    """Describe a value that was stored in a variable: by which call, and what to write instead."""
    origin = None if blamed.row is None else blamed.row.extra.origin
    early = " before" * (origin is not None and not blamed.question.adapter.in_block(origin.when))
    names = blamed.statement.binds
    if blamed.finding.detail == "variable" or (origin is not None and origin.kind == "variable"):
        return {"kind": f"variable{early * bool(names)}", "code": names[0] if names else ""}
    assigns = [c for c in blamed.statement.calls if text.last_name(c.func).startswith("assign")]
    call: Any = blamed.call if blamed.call in assigns else assigns[0] if len(assigns) == 1 else None
    if call is None or blamed.calls_module_function() or len(text.unparse(call.func)) > MAX_CODE_LENGTH:
        return {"what": f"{blamed.function}(...)"} if 0 < len(blamed.function) <= MAX_CODE_LENGTH else {}
    variable, value = text.unparse(call.func.value), text.unparse(call.args[0]) if call.args else ""
    said = {"what": f"{variable}.{call.func.attr}", "code": variable}
    sign = {"assign": "", "assign_add": f"{variable} + ", "assign_sub": f"{variable} - "}.get(call.func.attr)
    if early or sign is None or not 0 < len(value) <= MAX_CODE_LENGTH:
        return said | {"kind": early.strip()}
    changed = sign or variable in text.names_in(ast.walk(call.args[0]))
    return said | {"kind": "changed" if changed else "expression", "instead": f"{sign}{value}"}


def describe_outside(blamed: BlamedPlace) -> Fields:
    """Describe an operation that ran outside of the block, under another tape, or during set-up."""
    adapter, row = blamed.question.adapter, None if blamed.row is None else blamed.row.extra
    if blamed.finding.detail in ("gradient", "reset") or row is None:
        return {"kind": blamed.finding.detail}
    kind, begins, block = "", adapter.rules.begins, text.at(adapter.find_block())
    if row.origin is not None and begins:
        once = blamed.statement.function in checks.SETUP_METHODS
        behind = blamed.place is not None and blamed.place.line > block.last
        late = adapter.in_block(row.origin.when)
        kind = ("after" if len(begins) == 1 and behind else "") if late else "setup" if once else "before"
    elif row.record is not None and row.record is not adapter.rules.record:
        kind = "another"
    return {"what": blamed.format_operation(whole=True), "kind": kind, "function": blamed.statement.function}


def describe_pause(blamed: BlamedPlace) -> Fields:
    """Describe the block in which nothing is recorded."""
    around = blamed.statement.within("stop_recording", "init_scope")
    scope = around is not None and "init_scope" in text.names_in(around.nodes)
    return {"function": "init_scope" if scope else "stop_recording"}


def describe_rebinding(blamed: BlamedPlace) -> Fields:
    """Describe a name that was bound again, and how to change the variable instead."""
    names = blamed.statement.binds
    said = names[0] if blamed.finding.detail == "of the variable" and names else blamed.finding.detail
    said = find_bound_name(blamed.finding.site) if names[1:] else said
    tensor = not blamed.question.adapter.is_variable(blamed.question.source)
    made = isinstance(blamed.statement.value, ast.Call) and not {*names} & blamed.statement.reads
    name, instead = parse_assignment(blamed)
    replaced = (
        "replaced "
        if tensor
        and blamed.question.used_source_rows
        and blamed.row is not None
        and blamed.row.index in blamed.question.source_rows
        else ""
    )
    if (blamed.row is not None and blamed.finding.variant) or (made and not tensor and not instead):
        return {"kind": "new", "what": said}
    if instead:
        return {"kind": f"{replaced}assign", "what": name, "instead": instead}
    held = checks.held_variable_before(blamed.question, blamed.statement)
    return {"kind": replaced.strip() if held or not tensor else f"{replaced}tensor", "what": name or said}


def parse_assignment(blamed: BlamedPlace) -> tuple[str, str]:
    """Return the name that an assignment binds, and the assignment as a change of the variable.

    Returns:
        Empty texts if the statement is not an assignment, or cannot be written as a change of a variable.
    """
    node = blamed.statement.node
    if not isinstance(node, (ast.Assign, ast.AugAssign)):
        return "", ""
    if len(blamed.statement.binds) > 1:
        return "", ""
    name, value, rows = (
        blamed.statement.binds[0],
        node.value,
        (blamed.question.rows[row].extra for row in blamed.question.ancestors_of(blamed.question.source_rows)),
    )
    called = text.last_name(getattr(value, "func", node))
    if called.startswith("assign"):
        return name, text.unparse(value)
    known = not name.isidentifier() and any(row.variable is not None or is_state(row.origin) for row in rows)
    changes = known or checks.held_variable_before(blamed.question, blamed.statement)
    if not changes or isinstance(value, LITERAL_NODES) or called in SHAPE_FUNCTIONS.split():
        return name, ""  # The assignment does not change a variable.
    new = assigned(name, value, node.op if isinstance(node, ast.AugAssign) else None)
    return name, new if len(new) <= 70 else ""


def describe_unreached_source(blamed: BlamedPlace) -> Fields:
    """Describe how far the source got, and what the target is."""
    question = blamed.question
    if not question.target_rows:
        return {}
    end = question.rows[question.target_rows[0]]
    if not question.adapter.is_variable(question.source) and any(
        row in question.ancestors_of(question.source_rows) for row in question.target_rows
    ):
        return {"kind": "swapped"}
    at = text.at(end.site)
    if at.call_of("gradient", "jacobian", "batch_jacobian", "gradients"):
        return {"kind": "derivative"}
    origin = end.extra.origin
    if origin is not None and origin.kind in ("constant", "made") and not origin.inputs:
        return {"kind": "constant", "used": in_brackets(*end.site)}
    blamed.finding.site = next(reversed(question.adapter.find_use_sites(question.source)), NOWHERE)
    return {} if blamed.finding.site is NOWHERE else {"kind": "used", "used": in_brackets(*blamed.finding.site)}


DESCRIBE_BY_CAUSE = {
    "nondifferentiable_op": describe_nondifferentiable,
    "no_gradient_registered": describe_unregistered,
    "left_through_numpy": describe_escape,
    "state": describe_stored_value,
    "outside_tape": describe_outside,
    "recording_paused": describe_pause,
    "rebound": describe_rebinding,
    "independent": describe_unreached_source,
}
