"""Describe the statement that edits should change, and replace text in the program's lines."""

from __future__ import annotations

import ast
import re
from ast import AST
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from ...common.shared_results import get_or_build_shared_result
from ...common.syntax import select_nodes
from ...engine.table.generated_code import parse_expression
from ...engine.types import OptionalExpression, OptionalText, TextList
from ...recording.sites import read_source_lines
from ..reasons.object_names import find_access_path
from ..reasons.program_text import (
    ProgramText,
    Statement,
    StatementList,
    find_last_name_of_dotted_path,
    find_last_name_or_text,
    read_program,
    unparse,
)

if TYPE_CHECKING:
    from ...engine.types import Attributes
    from ...recording.recorded_rows import OptionalArray, RecordedRow
    from ..reasons.question import Question
    from .dialects import Dialect

SIMPLE_STATEMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return)
TENSOR_BUILDERS = set("tensor as_tensor from_numpy Variable Parameter constant array asarray FloatTensor".split())
_OPERATOR_NODES = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Attribute, ast.Subscript)
_find_index_op = re.compile("(?i)embedding|gather|getitem|slice|index|take|one_?hot|range|cross_?entropy|nll").search


class Fix(NamedTuple):
    """A change to one line of a program.

    Attributes:
        line: The line number.
        text: The replacement lines, or "" to delete the line.
        sentence: A sentence that describes the change if `text` cannot be shown as a patch.
    """

    line: int
    text: str
    sentence: str = ""


@dataclass
class FaultSite:
    """A cause, the statement to blame, and the operation in it.

    Attributes:
        question: The question that the finding answers.
        cause: The cause, under the name that the bridges use for it.
        statement: The statement to blame.
        row: The recorded operation, if known.
        call: The expression that ran the operation, if known.
    """

    question: Question
    cause: str
    statement: Statement
    row: RecordedRow | None = None
    call: OptionalExpression = None

    @property
    def dialect(self) -> Dialect:
        """How the functions that fixes use are written in the program's framework."""
        return self.question.adapter.dialect

    @cached_property
    def program_values_by_name(self) -> Attributes:
        """The values of the program's variables, keyed by name."""
        return dict(reversed([*self.question.adapter.list_program_variable_names_and_values()]))

    @cached_property
    def source_access_path_or_name(self) -> str:
        """The expression through which the program accesses the source, or the name of the source."""
        handle = self.question.adapter.to_handle_for_comparison(self.question.source)
        return find_access_path(self.question, handle) or self.question.name

    @property
    def program(self) -> ProgramText:
        """The text of the program that contains the statement: a file, or all cells of a notebook."""
        return read_program(self.statement.file)

    @property
    def statements(self) -> StatementList:
        """The statements in the file or cell that contains the statement to blame."""
        return [statement for statement in self.program.statements if statement.file == self.statement.file]

    @property
    def lines(self) -> TextList:
        """The lines of the file or cell, without their line endings."""
        return [line.rstrip("\n") for line in read_source_lines(self.statement.file)]

    def list_input_arrays(self) -> list[OptionalArray]:
        """Return the elements of each input as float64, or None in place of the elements that no longer exist."""
        return [self.question.rows[index].array for index in (self.row.inputs if self.row else [])]

    def find_result_array(self) -> OptionalArray:
        """Return the elements of the operation's result as float64, or None if they no longer exist."""
        return None if self.row is None else self.row.array

    def find_other_readers_of_assigned_names(self, *further_names: str) -> StatementList:
        """Return the other statements that use a name or an attribute assigned by this statement.

        Attributes are compared only by the part after the last dot, so the name of the object does not matter.

        Args:
            *further_names: Additional names to treat as assigned.
        """
        assigned_names = {
            *further_names,
            *map(find_last_name_or_text, self.statement.targets),
        }
        return [
            statement
            for statement in self.program.statements
            if statement is not self.statement
            and assigned_names & {*map(find_last_name_or_text, select_nodes(statement.nodes, ast.expr))}
        ]


# The replacement text of a node, or another node together with its replacement text, or None if nothing changes.
Change = str | tuple[AST, str] | None
# An edit receives one syntax node of the statement to blame and returns its change.
Edit = Callable[[FaultSite, Any], Change]
# A plan examines the whole program and returns a fix for it.
Plan = Callable[[FaultSite], Fix | None]


# -- reading the program ---------------------------------------------------------------------------


def is_call_of(node: AST | None, *names: str) -> TypeGuard[ast.Call]:
    """Return whether a node calls a function or method with one of the given names.

    Args:
        node: The syntax node, or None.
        *names: The names, without the module or object in front.
    """
    return isinstance(node, ast.Call) and find_last_name_of_dotted_path(node.func) in names


def is_module(fault: FaultSite, node: AST) -> bool:
    """Return whether an expression is a module or submodule, such as ``np`` or ``tf.math``.

    Args:
        fault: The fault site, which provides the names that the program uses.
        node: The expression.
    """
    root, _, suffix = unparse(node).partition(".")
    is_known = root in fault.program.imported_modules or root in fault.dialect.modules
    return "(" not in suffix and (is_known or isinstance(fault.program_values_by_name.get(root), ModuleType))


def find_receiver_or_first_argument(fault: FaultSite, call: AST | None) -> OptionalExpression:
    """Return the operand of a call: ``x`` in ``f(x)``, ``module.f(x)``, ``x.f()`` and ``self.f(x)``.

    Args:
        fault: The fault site, which provides the names that the program uses.
        call: The syntax node. If the node is not a call, the result is None.
    """
    if not isinstance(call, ast.Call):
        return None
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
    if receiver is not None and unparse(receiver) != "self" and not is_module(fault, receiver):
        return receiver
    return call.args[0] if call.args and not isinstance(call.args[0], ast.Starred) else None


def spell_function_path_as_imported(fault: FaultSite, path: str) -> OptionalText:
    """Return a function's path as it would be written in the program.

    Args:
        fault: The fault site, which provides the names and imports of the program.
        path: The path as most programs write it, such as ``jnp.log``.

    Returns:
        The path, possibly with the full name of the module, or None if the program does not import the module.
    """
    root, _, suffix = path.partition(".")
    module = fault.dialect.modules.get(root, root)
    imported = fault.program.imported_modules
    used_names = {
        n.id for statement in fault.program.statements for n in select_nodes(statement.nodes, ast.Name)
    } | set(imported)
    if root in used_names and imported.get(root, module) in (module, module.rpartition(".")[0]):
        return path
    return f"{module}.{suffix}" if module.partition(".")[0] in used_names else None


def is_result_used_as_index(fault: FaultSite) -> bool:
    """Return whether the operation's result is used as an index, directly or through other integers.

    Args:
        fault: The fault site, which holds the operation.
    """
    rows = fault.question.rows
    index_rows = {fault.row.index} if fault.row else set()
    for row in rows[min(index_rows, default=len(rows)) :]:
        if not index_rows.isdisjoint(row.inputs):
            if _find_index_op(row.op):
                return True
            index_rows |= {row.index} if "int" in row.dtype else set()
    return False


# -- changing the program --------------------------------------------------------------------------


def replace_node_in_line(fault: FaultSite, node: Any, text: str) -> Fix | None:
    """Replace a statement or an expression in its line.

    Args:
        fault: The fault site, which provides the lines of the program.
        node: The statement or expression.
        text: The new text. Brackets are added if the surrounding operation requires them.

    Returns:
        The changed line, or "" if the line became ``h = h``. The result is None if the node spans several lines, if
        nothing changes, or if the changed program cannot be parsed.
    """
    lines = fault.lines
    line = lines[node.lineno - 1]
    if node.lineno != node.end_lineno:
        return None
    text = _add_needed_brackets(fault, node, text)
    if '"' in line and "'" not in line:
        text = re.sub(r"'([^'\"\\]*)'", r'"\1"', text)
    prefix = line.encode()[: node.col_offset]
    suffix = line.encode()[node.end_col_offset :]
    indent = line[: len(line) - len(line.lstrip())]
    new_line = (prefix + text.replace("\n", "\n" + indent).encode() + suffix).decode()
    left, equals, right = new_line.strip().partition(" = ")
    if equals and left == right and left.isidentifier():
        new_line = ""
    try:
        program = "\n".join([*lines[: node.lineno - 1], new_line, *lines[node.lineno :]])
        get_or_build_shared_result(program, lambda: ast.parse(program))
    except SyntaxError:
        return None
    return None if new_line == line else Fix(node.lineno, new_line)


def _add_needed_brackets(fault: FaultSite, node: ast.expr, text: str) -> str:
    """Return the text of an expression, with brackets if the surrounding operation would otherwise split it."""
    try:
        parsed_node = parse_expression(text)
    except SyntaxError:  # The text may contain several arguments of a call, as in ``x, dim=0``.
        return text
    parents = (n for n in fault.statement.nodes for part in ast.iter_child_nodes(n) if part is node)
    splits_text = any(isinstance(n, _OPERATOR_NODES) or (isinstance(n, ast.Call) and n.func is node) for n in parents)
    is_atomic = isinstance(parsed_node, (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.Constant, ast.List))
    return f"({unparse(parsed_node)})" if splits_text and not is_atomic else unparse(parsed_node)


def apply_edit_to_only_fitting_node(fault: FaultSite, edit: Edit) -> Fix | None:
    """Apply an edit to the only node in the statement that the edit can change.

    If the edit can change several nodes, it is applied to the node that ran, or else to the node that contains all the
    others.

    Args:
        fault: The fault site, which holds the statement.
        edit: The edit.

    Returns:
        The changed line. The result is None if the edit changes no node, or if none of the nodes contains all the
        others.
    """
    changes = [(node, replacement) for node in fault.statement.nodes if (replacement := edit(fault, node)) is not None]
    changes = [change for change in changes if change[0] is fault.call] or changes
    if not changes or not all(other in ast.walk(changes[0][0]) for other, _ in changes):
        return None
    node, replacement = changes[0]
    if isinstance(replacement, str):
        return replace_node_in_line(fault, node, replacement)
    return replace_node_in_line(fault, *replacement)
