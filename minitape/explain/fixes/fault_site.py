"""The statement to blame, as an edit sees it, and how text is put into the lines of its program."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any, NamedTuple, TypeGuard

from ...recording.sites import read_source_lines
from ...recording.value_summary import to_float_array
from ..reasons.object_names import find_access_path
from ..reasons.program_text import ProgramText, Statement, find_last_name, parse_expression, read_program, unparse
from ..reasons.question import OptionalArray, Question, RecordedRow
from .dialects import Dialect

SIMPLE_STATEMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return)
TENSOR_BUILDERS = set("tensor as_tensor from_numpy Variable Parameter constant array asarray FloatTensor".split())
_OPERATOR_NODES = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Attribute, ast.Subscript)
_find_index_op = re.compile("(?i)embedding|gather|getitem|slice|index|take|one_?hot|range|cross_?entropy|nll").search


class Fix(NamedTuple):
    """A line of a program, and what is in its place, which may be several; no text: nothing. With words of its own it
    is no patch.
    """

    line: int
    text: str
    sentence: str = ""


@dataclass
class FaultSite:
    """What is to blame: the cause and the statement, and of its operation what is known."""

    question: Question
    cause: str
    statement: Statement
    row: RecordedRow | None = None  # the recorded operation
    call: ast.expr | None = None  # its expression
    replacement: str = ""  # the statement in its place, where the words know it

    @property
    def dialect(self) -> Dialect:
        """How the framework writes it."""
        return self.question.adapter.dialect

    @cached_property
    def names(self) -> dict[str, Any]:
        """The names of the program, and what they hold."""
        return dict(reversed([*self.question.adapter.list_names_and_values()]))

    @cached_property
    def source_path(self) -> str:
        """How the program reaches the source."""
        return (
            find_access_path(self.question, self.question.adapter.to_handle(self.question.source)) or self.question.name
        )

    @property
    def program(self) -> ProgramText:
        """The text of the program that it is in."""
        return read_program(self.statement.file)

    @property
    def statements(self) -> list[Statement]:
        """The statements of its file."""
        return [statement for statement in self.program.statements if statement.file == self.statement.file]

    @property
    def lines(self) -> list[str]:
        """The lines of its file."""
        return [line.rstrip("\n") for line in read_source_lines(self.statement.file)]

    def list_input_arrays(self) -> list[OptionalArray]:
        """The elements of what the operation took; None where they are gone."""
        return [to_float_array(self.question.rows[index].value) for index in (self.row.inputs if self.row else [])]

    def find_result_array(self) -> OptionalArray:
        """The elements of what the operation gave; None where they are gone."""
        return None if self.row is None else to_float_array(self.row.value)

    def find_reading_statements(self, *names: str) -> list[Statement]:
        """The other statements that read what this one binds, or these names; of an attribute by any name of its
        object.
        """
        bound_names = {*names, *(find_last_name(target) or unparse(target) for target in self.statement.targets)}
        others = [statement for statement in self.program.statements if statement is not self.statement]
        return [
            statement
            for statement in others
            if bound_names & {find_last_name(n) or unparse(n) for n in statement.nodes if isinstance(n, ast.expr)}
        ]


Change = str | tuple[ast.AST, str] | None  # what is in a node's place, or in another's; None: nothing changes
Edit = Callable[[FaultSite, Any], Change]  # of one piece of the statement's syntax
Plan = Callable[[FaultSite], Fix | None]  # of the whole program


# -- what is there ---------------------------------------------------------------------------------


def is_call(node: ast.AST | None, *names: str) -> TypeGuard[ast.Call]:
    """Whether a node calls a function of one of these names."""
    return isinstance(node, ast.Call) and find_last_name(node.func) in names


def is_module(fault: FaultSite, node: ast.AST) -> bool:
    """Whether an expression is a module, or a part of one: ``np``, ``tf.math``."""
    root, _, suffix = unparse(node).partition(".")
    is_known = root in fault.program.imported_modules or root in fault.dialect.modules
    return "(" not in suffix and (is_known or isinstance(fault.names.get(root), ModuleType))


def find_call_operand(fault: FaultSite, call: ast.AST | None) -> ast.expr | None:
    """``x`` of ``f(x)``, ``module.f(x)``, ``x.f()`` and of a layer ``self.f(x)``."""
    if not isinstance(call, ast.Call):
        return None
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
    if receiver is not None and unparse(receiver) != "self" and not is_module(fault, receiver):
        return receiver
    return call.args[0] if call.args and not isinstance(call.args[0], ast.Starred) else None


def spell_path_for_program(fault: FaultSite, path: str) -> str | None:
    """``jnp.log`` as the program would write it; None where it does not know the module."""
    root, _, suffix = path.partition(".")
    module, imported = fault.dialect.modules.get(root, root), fault.program.imported_modules
    used_names = {
        n.id for statement in fault.program.statements for n in statement.nodes if isinstance(n, ast.Name)
    } | set(imported)
    if root in used_names and imported.get(root, module) in (module, module.rpartition(".")[0]):
        return path
    return f"{module}.{suffix}" if module.partition(".")[0] in used_names else None


def is_result_used_as_index(fault: FaultSite) -> bool:
    """Return whether the operation's result says which elements are taken, by itself or by other whole numbers."""
    rows, index_rows = fault.question.rows, {fault.row.index} if fault.row else set()
    for row in rows[min(index_rows, default=len(rows)) :]:
        if not index_rows.isdisjoint(row.inputs):
            if _find_index_op(row.op):
                return True
            index_rows |= {row.index} if "int" in row.dtype else set()
    return False


# -- what is written -------------------------------------------------------------------------------


def replace_node_in_line(fault: FaultSite, node: Any, text: str) -> Fix | None:
    """Return the line with another text for one node, a statement or an expression.

    None where the node has several lines, where nothing changes, or where the program would not parse any more.
    """
    lines = fault.lines
    line = lines[node.lineno - 1]
    if node.lineno != node.end_lineno:
        return None
    if isinstance(node, ast.expr):
        text = _add_needed_brackets(fault, node, text)
    text = re.sub(r"'([^'\"\\]*)'", r'"\1"', text) if '"' in line and "'" not in line else text
    prefix, suffix = line.encode()[: node.col_offset], line.encode()[node.end_col_offset :]
    indent = line[: len(line) - len(line.lstrip())]
    new_line = (prefix + text.replace("\n", "\n" + indent).encode() + suffix).decode()
    left, equals, right = new_line.strip().partition(" = ")
    new_line = "" if equals and left == right and left.isidentifier() else new_line  # ``h = h`` goes
    try:
        ast.parse("\n".join([*lines[: node.lineno - 1], new_line, *lines[node.lineno :]]))
    except SyntaxError:
        return None
    return None if new_line == line else Fix(node.lineno, new_line)


def _add_needed_brackets(fault: FaultSite, node: ast.expr, text: str) -> str:
    """The text of an expression, in brackets where a part of the operation around it would take it apart."""
    try:
        parsed_node = parse_expression(text)
    except SyntaxError:  # a part of a call: ``x, dim=0``
        return text
    parents = (n for n in fault.statement.nodes for part in ast.iter_child_nodes(n) if part is node)
    splits_text = any(isinstance(n, _OPERATOR_NODES) or (isinstance(n, ast.Call) and n.func is node) for n in parents)
    is_atomic = isinstance(parsed_node, (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.Constant, ast.List))
    return f"({unparse(parsed_node)})" if splits_text and not is_atomic else unparse(parsed_node)


def apply_edit_to_statement(fault: FaultSite, edit: Edit) -> Fix | None:
    """Return the line with the one node changed that an edit changes; None where that is none, or several."""
    changes = [(node, replacement) for node in fault.statement.nodes if (replacement := edit(fault, node)) is not None]
    changes = [change for change in changes if change[0] is fault.call] or changes
    if not changes or not all(other in ast.walk(changes[0][0]) for other, _ in changes):
        return None
    node, replacement = changes[0]
    return (
        replace_node_in_line(fault, node, replacement)
        if isinstance(replacement, str)
        else replace_node_in_line(fault, *replacement)
    )
