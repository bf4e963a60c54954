"""Choose the sentence for a tape's finding, and fill in the sentence's fields.

Each function reads the program's text for one cause and returns the fields of the cause's sentence. The field ``kind``
selects one of the sentences in the cause's record.
"""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...recording.graph_nodes import ValueNode, is_variable_state, to_site
from ...recording.sites import NOWHERE
from ..caller import format_place_suffix
from ..fixes.edits import format_variable_assign_call_or_empty
from ..fixes.host_conversion_fixes import CONVERSION_NAMES
from ..translated_sentences import fill
from .checks import SETUP_METHODS, is_assigned_name_bound_to_variable_elsewhere, is_escape_only_control_flow
from .object_names import find_name_bound_at_site
from .program_text import (
    collect_own_names_and_attributes_of_nodes,
    find_expression_at_placed_site,
    find_last_name_of_dotted_path,
    find_statement,
    read_program,
    unparse,
)
from .question import Finding, Question

if TYPE_CHECKING:
    from ...engine.types import TextPair
    from .tape_adapter import TapeAdapter

Fields = dict[str, str]
MAX_CODE_LENGTH = 40  # Expressions that are longer than this are not quoted.
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


@dataclass(eq=False)
class BlamedPlace:
    """A finding, with the statement and expression to blame.

    Attributes:
        adapter: The adapter for the tape.
        question: The question that the finding answers.
        finding: The finding.
        statement: The statement to blame, or `program_text.NO_STATEMENT` if the text is unknown.
        place: The exact code location, if known.
        row: The row to blame, if any.
        node: The node of that row.
        call: The expression at the code location, if known, which is not necessarily a call.
        function_text: The text of the called function, or "" if `call` is not a call.
    """

    adapter: TapeAdapter
    question: Question
    finding: Finding

    def __post_init__(self) -> None:
        """Look up the statement and the expression that the finding blames."""
        site, row = self.finding.site, self.finding.row
        self.statement = find_statement(site)
        self.place = getattr(site, "place", None)
        self.row = None if row is None else self.question.rows[row]
        self.node: ValueNode | None = None if self.row is None else self.row.extra
        self.call: Any = find_expression_at_placed_site(site)
        self.function_text = unparse(self.call.func) if isinstance(self.call, ast.Call) else ""

    def calls_module_function(self) -> bool:
        """Return whether the blamed expression calls a function of a module, such as ``tf.math.round``."""
        root = self.function_text.partition(".")[0]
        is_imported = root in read_program(self.statement.file).imported_modules
        root_value = dict(self.adapter.list_program_variable_names_and_values()).get(root)
        return "." in self.function_text and (is_imported or root == "tf" or hasattr(root_value, "__loader__"))

    def format_operation(self, is_whole_call: bool = False) -> str:
        """Return the source text of the blamed operation, or its name if the text is too long.

        Args:
            is_whole_call: Whether the text must represent all operations that ran inside the call.
        """
        name = self.finding.detail
        if self.calls_module_function():
            return self.function_text
        text = "" if self.call is None else unparse(self.call)
        if isinstance(self.call, ast.Call):
            if is_whole_call and len(text) <= 30:
                return text
            if len(self.function_text) > MAX_CODE_LENGTH:
                return name
            if is_whole_call:
                return f"{self.function_text}(...)"
            return fill("{operation} in {function}(...)", operation=name, function=self.function_text)
        is_operator = isinstance(self.call, (ast.Compare, ast.BinOp, ast.UnaryOp, ast.Subscript))
        return text if is_operator and len(text) <= MAX_CODE_LENGTH else name


def build_finding_sentence_fields(adapter: TapeAdapter, question: Question, finding: Finding) -> Fields:
    """Return the fields of a finding's sentence.

    Args:
        adapter: The adapter for the tape.
        question: The question that the finding answers.
        finding: The finding.
    """
    watch_fields = {}
    if question.is_source_unwatched_tensor:
        watch_fields = {"watched": fill(", after tape.watch({x})", x=question.name)}
    describe = DESCRIBE_BY_CAUSE.get(finding.cause)
    if describe is None or finding.variant not in ("", "again", "trained"):
        return watch_fields
    return watch_fields | describe(BlamedPlace(adapter, question, finding))


def describe_nondifferentiable_op(blamed: BlamedPlace) -> Fields:
    """Describe an operation without a derivative, such as a step function, Python's ``max`` or a shape query."""
    if blamed.function_text in ("max", "min"):
        return {"kind": "python", "what": blamed.function_text, "instead": f"tf.{blamed.function_text}imum"}
    return {"kind": VARIANT_OF_OP.get(blamed.finding.detail, ""), "what": blamed.format_operation()}


def describe_unregistered_operation(blamed: BlamedPlace) -> Fields:
    """Describe an operation with no registered gradient."""
    return {"what": blamed.format_operation()}


def describe_escape(blamed: BlamedPlace) -> Fields:
    """Describe how a value left the framework.

    Args:
        blamed: The finding, with the location at which the value left the framework.

    Returns:
        The sentence fields.
    """
    method = blamed.finding.detail
    name = find_last_name_of_dotted_path(blamed.call.func) if blamed.function_text else ""
    if method == "bool" or is_escape_only_control_flow(blamed.question, blamed.finding):
        return {"kind": "choice"}
    if name in ("numpy_function", "py_func") or method in ("tf.numpy_function", "tf.py_function"):
        return {"kind": "function", "code": blamed.function_text or method}
    if name == "constant" and method == "numpy":
        return {"kind": "copy", "code": blamed.function_text}
    is_named = (
        name
        and name not in CONVERSION_NAMES
        and not hasattr(builtins, blamed.function_text)
        and len(blamed.function_text) <= MAX_CODE_LENGTH
    )
    kind = method if method in ("index", "text") else ""
    return {"kind": kind, "what": blamed.function_text if is_named else fill(ESCAPE_WORDS.get(method, method))}


def describe_value_stored_in_variable(blamed: BlamedPlace) -> Fields:
    """Describe the call that stored a value in a variable, and what to write instead."""
    origin = None if blamed.node is None else blamed.node.origin
    was_before_block = origin is not None and not blamed.adapter.is_after_block_begin(origin.clock)
    names = blamed.statement.bound_names
    if blamed.finding.detail == "variable" or (origin is not None and origin.kind == "variable"):
        if not names:
            return {"kind": "variable", "code": ""}
        return {"kind": "variable before" if was_before_block else "variable", "code": names[0]}
    call = blamed.call
    is_method = blamed.function_text and not blamed.calls_module_function()
    if not is_method or not find_last_name_of_dotted_path(call.func).startswith("assign"):
        return {"what": f"{blamed.function_text}(...)"} if blamed.function_text else {}
    variable = unparse(call.func.value)
    value = unparse(call.args[0]) if call.args else ""
    fields = {"what": f"{variable}.{call.func.attr}", "code": variable}
    prefix = {"assign": "", "assign_add": f"{variable} + ", "assign_sub": f"{variable} - "}.get(call.func.attr)
    if was_before_block or prefix is None or not 0 < len(value) <= MAX_CODE_LENGTH:
        return fields | {"kind": "before" if was_before_block else ""}
    reads_variable = prefix or variable in collect_own_names_and_attributes_of_nodes(ast.walk(call.args[0]))
    return fields | {"kind": "changed" if reads_variable else "expression", "instead": f"{prefix}{value}"}


def describe_operation_outside_block(blamed: BlamedPlace) -> Fields:
    """Describe an operation that ran outside the tape's block, for example under another tape or during set-up."""
    adapter = blamed.adapter
    node = blamed.node
    if blamed.finding.detail in ("gradient", "reset") or node is None:
        return {"kind": blamed.finding.detail}
    kind = ""
    begins = adapter.reachability.block_begins
    if node.origin is not None and begins:
        block = find_statement(adapter.find_block_site())
        is_behind_block = blamed.place is not None and blamed.place.line > block.last_line
        if not adapter.is_after_block_begin(node.origin.clock):
            is_setup = blamed.statement.enclosing_function_name in SETUP_METHODS
            kind = "setup" if is_setup else "before"
        elif len(begins) == 1 and is_behind_block:
            kind = "after"
    elif node.record is not None and node.record is not adapter.reachability.record:
        kind = "another"
    return {
        "what": blamed.format_operation(is_whole_call=True),
        "kind": kind,
        "function": blamed.statement.enclosing_function_name,
    }


def describe_pause(blamed: BlamedPlace) -> Fields:
    """Describe the block in which recording is paused."""
    pause_statement = blamed.statement.find_enclosing_with_or_function_using("stop_recording", "init_scope")
    is_init_scope = pause_statement is not None and "init_scope" in collect_own_names_and_attributes_of_nodes(
        pause_statement.nodes
    )
    return {"function": "init_scope" if is_init_scope else "stop_recording"}


def describe_rebinding(blamed: BlamedPlace) -> Fields:
    """Describe a rebound name, and how to change the variable instead."""
    names = blamed.statement.bound_names
    old_name = blamed.finding.detail
    if len(names) > 1:
        old_name = find_name_bound_at_site(blamed.finding.site)
    elif names and old_name == "of the variable":
        old_name = names[0]
    is_tensor = not blamed.question.is_source_variable
    is_new_object = isinstance(blamed.statement.value, ast.Call) and not {*names} & blamed.statement.read_names
    name, instead = find_assigned_name_and_update_call(blamed)
    source_is_new_tensor = (
        is_tensor
        and blamed.question.used_source_rows
        and blamed.row is not None
        and blamed.row.index in blamed.question.source_rows
    )
    kind_prefix = "replaced " if source_is_new_tensor else ""
    if (blamed.row is not None and blamed.finding.variant) or (is_new_object and not is_tensor and not instead):
        return {"kind": "new", "what": old_name}
    if instead:
        return {"kind": f"{kind_prefix}assign", "what": name, "instead": instead}
    held_variable = is_assigned_name_bound_to_variable_elsewhere(blamed.question, blamed.statement)
    return {
        "kind": kind_prefix.strip() if held_variable or not is_tensor else f"{kind_prefix}tensor",
        "what": name or old_name,
    }


def find_assigned_name_and_update_call(blamed: BlamedPlace) -> TextPair:
    """Return the name that a statement assigns, and the call that would update the variable in the same way.

    Args:
        blamed: The finding, with the location of the assignment.

    Returns:
        The name and the call, such as ("w", "w.assign_sub(g)"). The call is "" if the statement does not update a
        variable. Both are "" if the statement is not an assignment to a single name.
    """
    node = blamed.statement.node
    if not isinstance(node, (ast.Assign, ast.AugAssign)) or len(blamed.statement.bound_names) > 1:
        return "", ""
    name = blamed.statement.bound_names[0]
    value = node.value
    ancestors = blamed.question.find_rows_and_ancestors(blamed.question.source_rows)
    rows: list[ValueNode] = [blamed.question.rows[row].extra for row in ancestors]
    called_name = find_last_name_of_dotted_path(getattr(value, "func", node))
    if called_name.startswith("assign"):
        return name, unparse(value)
    changes_part = not name.isidentifier() and any(
        row.variable is not None or is_variable_state(row.origin) for row in rows
    )
    changes = changes_part or is_assigned_name_bound_to_variable_elsewhere(blamed.question, blamed.statement)
    if not changes or isinstance(value, LITERAL_NODES) or called_name in SHAPE_FUNCTIONS.split():
        return name, ""  # The assignment does not update a variable.
    assignment = format_variable_assign_call_or_empty(name, value, node.op if isinstance(node, ast.AugAssign) else None)
    return name, assignment if len(assignment) <= 70 else ""


def describe_last_use_of_unreached_source(blamed: BlamedPlace) -> Fields:
    """Describe the target and the last use of the source."""
    question = blamed.question
    if not question.target_rows:
        return {}
    target_row = question.first_target
    if not question.is_source_variable and any(
        row in question.find_rows_and_ancestors(question.source_rows) for row in question.target_rows
    ):
        return {"kind": "swapped"}
    statement = find_statement(target_row.site)
    if statement.find_call("gradient", "jacobian", "batch_jacobian", "gradients"):
        return {"kind": "derivative"}
    node: ValueNode = target_row.extra
    origin = node.origin
    if origin is not None and origin.kind in ("constant", "made") and not origin.inputs:
        return {"kind": "constant", "used": format_place_suffix(target_row.site)}
    reachability = blamed.adapter.reachability
    blamed.finding.site = to_site(reachability.find_last_computation_from_source_before_target(question.source))
    if blamed.finding.site is NOWHERE:
        return {}
    return {"kind": "used", "used": format_place_suffix(blamed.finding.site)}


DESCRIBE_BY_CAUSE = {
    "nondifferentiable_op": describe_nondifferentiable_op,
    "no_gradient_registered": describe_unregistered_operation,
    "left_through_numpy": describe_escape,
    "state": describe_value_stored_in_variable,
    "outside_tape": describe_operation_outside_block,
    "recording_paused": describe_pause,
    "rebound": describe_rebinding,
    "independent": describe_last_use_of_unreached_source,
}
