"""Parse the user's program into statements, and trace how values flow between the statements."""

from __future__ import annotations

import ast
from ast import AST
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import CodeType
from typing import Any, NamedTuple, TypeAlias

from ...common.syntax import list_nodes, select_nodes
from ...engine.record.user_frames import is_minitape_or_library_file
from ...engine.types import (
    CountsByName,
    NameList,
    NameSet,
    OptionalExpression,
    OptionalNumber,
    OptionalText,
    TextList,
    TextPair,
    TextsByName,
)
from ...recording.recorded_rows import RecordedRow, collect_rows_and_ancestors
from ...recording.sites import (
    NOWHERE,
    Site,
    map_cell_files_to_execution_counts,
    read_source_lines,
    suppress_syntax_warnings,
)

unparse = lru_cache(10_000)(ast.unparse)

FUNCTION_NODES = (ast.FunctionDef, ast.AsyncFunctionDef)
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
# Expressions of these kinds can be both assigned and read.
BINDABLE_NODES = (ast.Name, ast.Attribute, ast.Subscript)
LOOP_NODES = (ast.For, ast.While, ast.AsyncFor)
BRANCH_NODES = (ast.If, ast.While, ast.For, ast.Match)
CALL_RESULTS = "()"  # The scope of function results, and the name under which statements with calls are listed.
ATTRIBUTES = "."  # The scope of all attributes, regardless of the object that they belong to.
FILLED_ARGUMENTS = "fills"  # The scope of functions that modify one of their arguments.
CALL_METHODS = ("__call__", "call", "forward")
STORING_METHODS = set("append appendleft extend insert add update setdefault put push write fill set".split())
# A scope and a name. A scope is a function, None for a file, or one of the three scopes above.
ScopedName = tuple[object, str]


@dataclass(eq=False)
class Statement:
    """A statement of a program. `NO_STATEMENT` stands for an unknown statement and is falsy.

    Attributes:
        node: The syntax node of the statement.
        file: The name of the file or notebook cell that contains the statement.
        enclosing: The compound statements around this statement, outermost first.
        order: The statement's position in the program.
    """

    node: ast.stmt
    file: str
    enclosing: tuple[Statement, ...]
    order: int

    def __bool__(self) -> bool:
        """Return whether the statement is known."""
        return bool(self.file)

    @property
    def line(self) -> int:
        """The first line of the statement."""
        return self.node.lineno

    @property
    def last_line(self) -> int:
        """The last line of the statement."""
        return self.node.end_lineno or self.node.lineno

    @property
    def site(self) -> Site:
        """The file and the first line of the statement."""
        return self.file, self.node.lineno

    def covers_site(self, site: Site) -> bool:
        """Return whether a site lies on one of the statement's lines.

        Args:
            site: The (file, line) pair.
        """
        return site[0] == self.file and site[1] is not None and self.line <= site[1] <= self.last_line

    @property
    def enclosing_functions(self) -> list[FunctionNode]:
        """The functions around the statement, innermost first."""
        return [statement.node for statement in reversed(self.enclosing) if isinstance(statement.node, FUNCTION_NODES)]

    @property
    def enclosing_function_name(self) -> str:
        """The name of the innermost function around the statement, or "" outside functions."""
        return next((function.name for function in self.enclosing_functions), "")

    @property
    def enclosing_class_name(self) -> str:
        """The name of the innermost class around the statement, or "" outside classes."""
        return next(
            (statement.node.name for statement in reversed(self.enclosing) if isinstance(statement.node, ast.ClassDef)),
            "",
        )

    @property
    def enclosing_loops(self) -> StatementList:
        """The loops around the statement in the same function."""
        return [
            statement
            for statement in self.enclosing
            if isinstance(statement.node, LOOP_NODES) and statement.enclosing_functions == self.enclosing_functions
        ]

    @cached_property
    def nodes(self) -> list[AST]:
        """The syntax nodes of the statement, or of a compound statement's header, with outer nodes first."""
        nodes: list[AST] = [self.node]
        for node in nodes:
            block_types = (ast.stmt, ast.ExceptHandler, ast.match_case) if node is self.node else ()
            nodes += [child for child in ast.iter_child_nodes(node) if not isinstance(child, block_types)]
        return nodes

    @cached_property
    def targets(self) -> list[ast.expr]:
        """The names, attributes and items that the statement assigns, with tuples unpacked."""
        comprehension_ids = {
            id(n)
            for comprehension in select_nodes(self.nodes, ast.comprehension)
            for n in ast.walk(comprehension.target)
        }
        stores = [n for n in self.nodes if isinstance(n, BINDABLE_NODES) and isinstance(n.ctx, ast.Store)]
        return [n for n in stores if id(n) not in comprehension_ids]

    @property
    def does_set_item_at_nonconstant_index(self) -> bool:
        """Whether the statement assigns to an item whose key or index is computed, as in ``weights[i] = w``."""
        items = select_nodes(self.targets, ast.Subscript)
        return any(not isinstance(item.slice, ast.Constant) for item in items)

    @cached_property
    def bound_names(self) -> NameList:
        """The source text of each target, such as "w" and "self.b"."""
        return [unparse(n) for n in self.targets]

    @cached_property
    def value(self) -> OptionalExpression:
        """The right-hand side of an assignment, or None for other statements."""
        return self.node.value if isinstance(self.node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) else None

    @cached_property
    def read_names(self) -> NameSet:
        """The texts of the names, attributes and items that the statement reads."""
        names = {unparse(n) for n in self.nodes if isinstance(n, BINDABLE_NODES) and isinstance(n.ctx, ast.Load)}
        if isinstance(self.node, ast.AugAssign):
            names.update(self.bound_names)
        return names

    @property
    def calls(self) -> list[ast.Call]:
        """The calls in the statement, outermost first."""
        return select_nodes(self.nodes, ast.Call)

    def find_call(self, *names: str) -> ast.Call | None:
        """Return the first call to a function or method with one of the given names, or None.

        Args:
            *names: The names, without a module or object prefix.
        """
        return next((n for n in self.calls if find_last_name_of_dotted_path(n.func) in names), None)

    def find_expression(self, span: tuple[OptionalNumber, ...]) -> OptionalExpression:
        """Return the expression at a position in the statement.

        If calls are chained over several lines, Python reports only the end of the expression. Therefore, if no
        expression matches exactly, a call with the same end is returned.

        Args:
            span: The first line, last line, first column and last column of the expression.
        """
        first_line, last_line, first_column, last_column = span
        candidates = [
            n
            for n in select_nodes(self.nodes, ast.expr)
            if (n.end_lineno, n.end_col_offset) == (last_line, last_column)
        ]
        exact = [n for n in candidates if (n.lineno, n.col_offset) == (first_line, first_column)]
        return next((n for n in exact + candidates if n in exact or isinstance(n, ast.Call)), None)

    def find_enclosing_with_or_function_using(self, *header_names: str) -> Statement | None:
        """Return the innermost surrounding ``with`` statement or function whose header uses one of the given names.

        Args:
            *header_names: The names and attributes to look for.

        Returns:
            The statement, or None.
        """
        block_types = (ast.With, *FUNCTION_NODES)
        return next(
            (
                statement
                for statement in reversed(self.enclosing)
                if isinstance(statement.node, block_types)
                and collect_own_names_and_attributes_of_nodes(statement.nodes) & {*header_names}
            ),
            None,
        )


# The statements of a file or of a part of it.
StatementList: TypeAlias = list[Statement]


def collect_own_names_and_attributes_of_nodes(nodes: Iterable[AST]) -> NameSet:
    """Return the names and attributes among the given syntax nodes.

    Args:
        nodes: The nodes. Child nodes are not visited.
    """
    return {name for n in nodes for name in (getattr(n, "id", ""), getattr(n, "attr", "")) if name}


def find_last_name_of_dotted_path(node: AST) -> str:
    """Return the last part of a dotted name: "f" for ``f`` and ``a.b.f``, or "" for other expressions.

    Args:
        node: The expression.
    """
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def find_last_name_or_text(node: AST) -> str:
    """Return the name or the last attribute of a path such as ``a.b``, or the source text of any other expression.

    Args:
        node: The expression.
    """
    return find_last_name_of_dotted_path(node) or unparse(node)


def find_root_name(node: AST) -> str:
    """Return the name with which an expression begins: "a" for ``a.b.f``, ``a[0].f`` and ``a(x).f``.

    Args:
        node: The expression.
    """
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return find_last_name_of_dotted_path(node)


@dataclass(eq=False)
class ProgramText:
    """The parsed text of a file, or of all cells of a notebook in the order of their execution.

    Attributes:
        statements: All statements, in source order.
        statement_by_site: The innermost statement on each line of code.
        definitions: The functions defined under each name. A class name maps to the class's ``__init__``.
        imported_modules: The module that each imported name comes from.
        mentioning_statements: The statements that mention each name or attribute. Statements with calls are also listed
            under `CALL_RESULTS`.
    """

    statements: StatementList = field(default_factory=list)
    statement_by_site: dict[Site, Statement] = field(default_factory=dict)
    definitions: dict[str, list[FunctionNode]] = field(default_factory=dict)
    imported_modules: TextsByName = field(default_factory=dict)
    mentioning_statements: dict[str, StatementList] = field(default_factory=dict)


class CachedProgram(NamedTuple):
    """A parsed program in the cache.

    Attributes:
        cells: The notebook's cells at the time of parsing, as returned by `map_cell_files_to_execution_counts`.
        lines: The lines of the file or cell at the time of parsing.
        text: The parsed program.
    """

    cells: CountsByName
    lines: TextList
    text: ProgramText


_programs: dict[str, CachedProgram] = {}


def read_program(file: OptionalText) -> ProgramText:
    """Return the parsed program to which a file belongs, parsing it again if the text or notebook has changed.

    Args:
        file: The name of a file or notebook cell. A cell belongs to the program formed by all cells of its notebook.

    Returns:
        The program, or an empty program if the text is unknown or cannot be parsed.
    """
    name = file or ""
    notebook_cells = map_cell_files_to_execution_counts()
    lines = read_source_lines(name)
    cached = _programs.get(name)
    if cached is None or cached.lines is not lines or cached.cells != notebook_cells:
        files = sorted(notebook_cells, key=notebook_cells.__getitem__) if name in notebook_cells else [name]
        cached = CachedProgram(
            notebook_cells, lines, _parse_program(tuple((name, "".join(read_source_lines(name))) for name in files))
        )
        _programs[name] = cached
    return cached.text


@lru_cache(64)
def _parse_program(texts: tuple[TextPair, ...]) -> ProgramText:
    """Parse the (file, text) pairs of a program."""
    program_text = ProgramText()

    def visit_body(body: Iterable[ast.stmt], file: str, enclosing: tuple[Statement, ...]) -> None:
        for node in body:
            statement = Statement(node, file, enclosing, len(program_text.statements))
            program_text.statements.append(statement)
            first_line = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
            program_text.statement_by_site.update(
                dict.fromkeys(((file, line) for line in range(first_line, statement.last_line + 1)), statement)
            )
            for name in collect_own_names_and_attributes_of_nodes(statement.nodes) | (
                {CALL_RESULTS} if statement.calls else set()
            ):
                program_text.mentioning_statements.setdefault(name, []).append(statement)
            if isinstance(node, FUNCTION_NODES):
                for name in {node.name, statement.enclosing_class_name if node.name == "__init__" else node.name}:
                    program_text.definitions.setdefault(name, []).append(node)
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                module = getattr(node, "module", None)
                program_text.imported_modules.update(
                    (alias.asname or (alias.name if module else alias.name.split(".")[0]), module or alias.name)
                    for alias in node.names
                )
            for name in ("body", "orelse", "finalbody"):
                visit_body(getattr(node, name, None) or (), file, (*enclosing, statement))
            for handler in getattr(node, "handlers", ()) or getattr(node, "cases", ()):
                visit_body(handler.body, file, (*enclosing, statement))

    for file, text in texts:
        try:
            with suppress_syntax_warnings():
                visit_body(ast.parse(text).body, file, ())
        except (SyntaxError, ValueError, RecursionError):
            pass
    return program_text


def list_statements_of_code(code: CodeType) -> StatementList:
    """Return the statements of a function, including the statements of its inner functions.

    Args:
        code: The function's code.
    """
    last_line = max((line for *_, line in code.co_lines() if line is not None), default=code.co_firstlineno)
    statements = list_statements(code.co_filename)
    return [statement for statement in statements if code.co_firstlineno < statement.line <= last_line]


def list_statements(file: OptionalText) -> StatementList:
    """Return the statements of a file, or of all cells of a notebook, or an empty list if the text is unknown.

    Args:
        file: The name of a file or notebook cell.
    """
    return read_program(file).statements


NO_STATEMENT = Statement(ast.Pass(lineno=0, end_lineno=0), "", (), -1)


def list_call_sites(file: OptionalText, *names: str) -> list[Site]:
    """Return the lines of a program that call one of the given functions.

    Args:
        file: One of the program's files.
        *names: The last parts of the functions' names, such as "compile" for ``model.compile``.
    """
    return [statement.site for statement in list_statements(file) if statement.find_call(*names)]


def list_binding_sites(file: OptionalText, *name_endings: str) -> list[Site]:
    """Return the lines of a program that bind a name with one of the given endings.

    Args:
        file: One of the program's files.
        *name_endings: The endings, such as ".trainable" for an attribute that any object may have.
    """
    return [
        statement.site
        for statement in list_statements(file)
        if any(name.endswith(name_endings) for name in statement.bound_names)
    ]


def find_statement(site: Site) -> Statement:
    """Return the innermost statement at a site, or `NO_STATEMENT`, which is falsy, if the statement is unknown.

    Args:
        site: The (file, line) pair.
    """
    return read_program(site[0]).statement_by_site.get((site[0], site[1]), NO_STATEMENT)


def find_expression_at_placed_site(site: Site) -> OptionalExpression:
    """Return the expression that ran at a site, or None if the expression's exact position is unknown.

    Args:
        site: The site, which must store its position, like a `PlacedSite`.
    """
    place = getattr(site, "place", None)
    return None if place is None else find_statement(site).find_expression(place.span)


def find_last_name_of_call_at_placed_site(site: Site) -> str:
    """Return the last part of a called function's name, or "" if the call's exact position is unknown.

    Args:
        site: The site, which must store its position, like a `PlacedSite`.
    """
    call = find_expression_at_placed_site(site)
    return find_last_name_of_dotted_path(call.func) if isinstance(call, ast.Call) else ""


def find_both_operand_expressions(rows: Sequence[RecordedRow], row: RecordedRow) -> list[ast.expr]:
    """Return the two expressions that an operation combines, in the order of its inputs.

    Args:
        rows: The rows of the recording.
        row: The row of the operation. The name of the operation must contain the first three letters of the operator's
            syntax node, such as "mul" for ``Mult``.

    Returns:
        The operands of the operator, or the first two arguments of the call. The list is empty unless the line has
        exactly one candidate.
    """
    nodes = find_statement(row.site).nodes
    operator_sides = [
        [n.left, n.right] for n in select_nodes(nodes, ast.BinOp) if type(n.op).__name__.lower()[:3] in row.op.lower()
    ]
    candidates = operator_sides or [n.args[:2] for n in select_nodes(nodes, ast.Call) if len(n.args) > 1]
    if len(candidates) != 1:
        return []
    first, second = candidates[0]
    # A called function may combine its arguments in the opposite order.
    left, right = (
        {rows[index].name for index in collect_rows_and_ancestors(rows, [start])} for start in row.inputs[:2]
    )
    is_swapped = unparse(second) in left - right or unparse(first) in right - left
    return [second, first] if is_swapped and not operator_sides else [first, second]


def copy_tree_with_replacements(node: AST, find_replacement: Callable[[AST], AST | None]) -> Any:
    """Return a copy of a syntax tree in which some nodes are replaced.

    Args:
        node: The root of the tree.
        find_replacement: Returns the replacement of a node, or None to keep the node and visit its children.
    """
    replacement = find_replacement(node)
    if replacement is not None:
        return replacement
    new_node = copy(node)
    for name, value in ast.iter_fields(node):
        if isinstance(value, AST):
            value = copy_tree_with_replacements(value, find_replacement)
        elif isinstance(value, list):
            value = [
                copy_tree_with_replacements(item, find_replacement) if isinstance(item, AST) else item for item in value
            ]
        setattr(new_node, name, value)
    return new_node


def find_binding_statements(name: str, scope_statement: Statement) -> StatementList:
    """Return the statements that assign a name in the scope of another statement.

    Args:
        name: The name, or the text of an attribute or item. An attribute of ``self`` is looked up in its class.
        scope_statement: The statement whose scope and file are searched.
    """
    scoped_name = to_scoped_name(name, scope_statement)
    is_attribute = name.startswith("self.")
    return [
        statement
        for statement in list_statements(scope_statement.file)
        if name in statement.bound_names
        and (not is_attribute or statement.enclosing_class_name == scope_statement.enclosing_class_name)
        and (not name.isidentifier() or to_scoped_name(name, statement) == scoped_name)
    ]


def find_attribute_assignment_site(owner: object, name: str) -> Site:
    """Return the line that sets an attribute in the text of an object's class.

    Args:
        owner: The object.
        name: The name of the attribute.

    Returns:
        The site, or `NOWHERE` if no statement in the object's classes sets the attribute.
    """
    for cls in type(owner).__mro__:
        codes = (getattr(value, "__code__", None) for value in vars(cls).values())
        for statement in list_statements(next((code.co_filename for code in codes if code is not None), None)):
            self_names = [arg.arg for function in statement.enclosing_functions[:1] for arg in function.args.args[:1]]
            if (
                statement.enclosing_class_name == cls.__name__
                and self_names
                and f"{self_names[0]}.{name}" in statement.bound_names
            ):
                return statement.site
    return NOWHERE


@lru_cache(512)
def _find_local_names(function: ast.FunctionDef) -> NameSet:
    """Return the names of a function's parameters and other local variables."""
    stored_names = {n.id for n in list_nodes(function, ast.Name) if isinstance(n.ctx, ast.Store)}
    outer_names = {name for n in ast.walk(function) if isinstance(n, (ast.Global, ast.Nonlocal)) for name in n.names}
    return {n.arg for n in list_nodes(function.args, ast.arg)} | stored_names - outer_names


def to_scoped_name(name: str, statement: Statement) -> ScopedName:
    """Return a name with its scope.

    Args:
        name: The name.
        statement: The statement that uses the name.

    Returns:
        (function, name) if the name is local to a function around the statement, otherwise (None, name).
    """
    return next(
        ((function, name) for function in statement.enclosing_functions if name in _find_local_names(function)),
        (None, name),
    )


def split_key_lookup(node: AST) -> tuple[OptionalExpression, str]:
    """Split ``d["key"]`` or ``d.get("key")`` into ``d`` and ``"key"``.

    Args:
        node: The expression.

    Returns:
        The two parts, or (None, "") unless ``d`` is a name and the key is a string literal.
    """
    base: Any = getattr(node, "value", None) if isinstance(node, ast.Subscript) else None
    key: Any = getattr(node, "slice", None)
    if isinstance(node, ast.Call) and find_last_name_of_dotted_path(node.func) in ("get", "pop") and node.args:
        base = getattr(node.func, "value", None)
        key = node.args[0]
    is_known = isinstance(base, ast.Name) and isinstance(key, ast.Constant) and isinstance(key.value, str)
    return (base, key.value) if is_known else (None, "")


def identify_expression_by_scoped_names(node: AST, statement: Statement) -> set[tuple[ScopedName, str]]:
    """Return the scoped names under which `ValueFlow` tracks an expression, each with the accessed part of its value.

    A part is a dictionary key, or the class that defines an attribute, or "" if neither is known.

    Args:
        node: The expression. The result is empty unless the expression is a name, an attribute or an item.
        statement: The statement that contains the expression.
    """
    base, item = split_key_lookup(node)
    if isinstance(base, ast.Name):
        return {(to_scoped_name(base.id, statement), item)}
    if isinstance(node, ast.Name):
        return {(to_scoped_name(node.id, statement), "")}
    if isinstance(node, ast.Attribute):
        is_own = isinstance(node.value, ast.Name) and node.value.id == "self"
        return {
            (
                (ATTRIBUTES, node.attr),
                _get_name_if_class_without_base_or_subclass(statement.file, statement.enclosing_class_name)
                if is_own
                else "",
            )
        }
    if isinstance(node, ast.Subscript):
        return identify_expression_by_scoped_names(node.value, statement)
    return set()


def pair_targets_with_own_or_whole_value(statement: Statement) -> Iterator[tuple[ast.expr, OptionalExpression]]:
    """Return each target of an assignment with the value that the target receives.

    Args:
        statement: The statement. For statements other than assignments, each value is None.
    """
    values = getattr(statement.value, "elts", [])
    if len(statement.targets) == 1 or len(values) != len(statement.targets):
        values = [statement.value] * len(statement.targets)
    return zip(statement.targets, values, strict=True)


def _get_name_if_class_without_base_or_subclass(file: str, name: str) -> str:
    """Return a class's name if the file defines the class without base classes or subclasses, or "" otherwise."""
    classes = [statement.node for statement in list_statements(file) if isinstance(statement.node, ast.ClassDef)]
    own_classes = [definition for definition in classes if definition.name == name and not definition.bases]
    if not own_classes or any(name in map(find_last_name_of_dotted_path, definition.bases) for definition in classes):
        return ""
    return name


# -- the flow of a value ---------------------------------------------------------------------------


class ValueFlow(NamedTuple):
    """The flow of one value through a program.

    Attributes:
        definitions: The functions defined under each name. A class name maps to the class's ``__init__``.
        carriers: For each scoped name that receives the value, the statements that pass the value to it, each with the
            parts that receive the value.
    """

    definitions: dict[str, list[FunctionNode]]
    carriers: dict[ScopedName, dict[Statement, NameSet]]


def collect_statements_using_value(
    start: Statement, files: Iterable[OptionalText], follow_branches: bool = True
) -> set[Statement]:
    """Return the statements that may read the value of a statement, or that run because of that value.

    The value is followed through names, attributes, items, arguments, modified arguments, function results, exceptions
    and branches.

    Args:
        start: The statement whose value is followed.
        files: Further files to search. Library files are ignored.
        follow_branches: Whether to include the bodies of branches and loops whose condition depends on the value.
    """
    other_files = {file for file in files if file and not is_minitape_or_library_file(file)} - {start.file}
    programs = {id(program): program for program in map(read_program, [start.file, *sorted(other_files)])}
    return _trace_value(start, tuple(programs.values()), follow_branches)[0]


def may_depend_on_statement(source_statement: Statement, statement: Statement, parts: Iterable[AST]) -> bool:
    """Return whether expressions in a statement read a value that another statement computes.

    If the two statements are the same, return whether the expressions contain a name or a call.

    Args:
        source_statement: The statement that computes the value.
        statement: The statement in the same program that contains the expressions.
        parts: The expressions.
    """
    nodes = [n for part in parts for n in ast.walk(part)]
    if statement is source_statement:
        return any(select_nodes(nodes, ast.Call, ast.Name))
    _, flow = _trace_value(source_statement, (read_program(source_statement.file),), True)
    return _does_code_read_value(flow, nodes, statement)


@lru_cache(256)
def _trace_value(
    start: Statement, programs: tuple[ProgramText, ...], follow_branches: bool
) -> tuple[set[Statement], ValueFlow]:
    """Return the statements that the value of `start` reaches, and how the value flows through the programs."""
    flow = ValueFlow({}, {})
    for program in programs:
        for name, definitions in program.definitions.items():
            flow.definitions.setdefault(name, []).extend(definitions)
    reached = set[Statement]()
    waiting = [start]
    while waiting:
        reached.update(waiting)
        new_names = set[str]()
        branch_body = list[Statement]()
        for statement in waiting:
            for key, part in _find_value_receivers(flow, statement, statement is start):
                flow.carriers.setdefault(key, {}).setdefault(statement, set()).add(part)
                new_names.add(key[1] or CALL_RESULTS)
            if follow_branches and isinstance(statement.node, BRANCH_NODES):
                branch_body += [
                    later
                    for later in list_statements(statement.file)[statement.order + 1 :]
                    if statement in later.enclosing
                ]
        mentioning = {
            statement: None
            for name in new_names
            for program in programs
            for statement in program.mentioning_statements.get(name, ())
        }
        waiting = [
            statement
            for statement in mentioning
            if statement not in reached and _does_code_read_value(flow, statement.nodes, statement)
        ]
        waiting = [*dict.fromkeys([*waiting, *(statement for statement in branch_body if statement not in reached)])]
    return reached, flow


def _does_code_read_value(flow: ValueFlow, nodes: Iterable[AST], statement: Statement) -> bool:
    """Return whether any of the given syntax nodes of a statement reads the value that a flow traces."""
    nodes = list(nodes)
    # In ``d["key"]``, only the item is read, not all of ``d``.
    item_bases = {id(split_key_lookup(n)[0]) for n in nodes}
    for n in nodes:
        is_read = isinstance(getattr(n, "ctx", None), ast.Load) and id(n) not in item_bases
        reads_item_by_call = isinstance(n, ast.Call) and bool(split_key_lookup(n)[1])
        scoped_parts = identify_expression_by_scoped_names(n, statement) if is_read or reads_item_by_call else set()
        for key, part in scoped_parts:
            for carrier, parts in flow.carriers.get(key, {}).items():
                if (not part or parts & {part, ""}) and not _is_rebound_between(key, carrier, statement):
                    return True
        if isinstance(n, ast.Name) and n.id in flow.definitions and is_read and (CALL_RESULTS, n.id) in flow.carriers:
            return True  # The function is passed as an argument and called elsewhere, as in ``pool.map(f, ...)``.
        if isinstance(n, ast.Call):
            name = find_last_name_of_dotted_path(n.func)
            is_foreign_method = isinstance(n.func, ast.Attribute) and find_root_name(n.func) != "self"
            if (CALL_RESULTS, name) in flow.carriers or (FILLED_ARGUMENTS, name) in flow.carriers:
                return True
            if not is_foreign_method and name not in flow.definitions and (CALL_RESULTS, "") in flow.carriers:
                return True
    return False


def _is_rebound_between(key: ScopedName, carrier: Statement, reader: Statement) -> bool:
    """Return whether a name is certain to be rebound between two statements: one that sets it and one that reads it."""
    statements_between = (
        statement
        for statement in list_statements(carrier.file)[carrier.order + 1 : reader.order]
        if key[1] in statement.bound_names
    )
    return (carrier.enclosing_functions == reader.enclosing_functions and key[0] != ATTRIBUTES) and any(
        {*statement.enclosing} <= {*reader.enclosing} and not isinstance(statement.node, ast.AugAssign)
        for statement in statements_between
    )


def _find_value_receivers(flow: ValueFlow, statement: Statement, is_start: bool) -> set[tuple[ScopedName, str]]:
    """Return the names and parts that receive the value from a statement that reads it."""
    receivers = {
        name_and_part for n in statement.targets for name_and_part in identify_expression_by_scoped_names(n, statement)
    }
    node, function_name = statement.node, statement.enclosing_function_name
    if isinstance(node, FUNCTION_NODES):
        receivers |= {((node, argument.arg), "") for argument in node.args.args + node.args.kwonlyargs}
    if isinstance(node, ast.Return) or any(select_nodes(statement.nodes, ast.Yield, ast.YieldFrom)):
        receivers |= {((CALL_RESULTS, function_name), ""), ((ATTRIBUTES, function_name), "")}
        if function_name in CALL_METHODS:
            receivers.add(((CALL_RESULTS, ""), ""))
    for call in statement.calls:
        receivers.update(_iter_names_receiving_value_in_call(flow, statement, call, is_start))
    if _does_modify_part_of_own_parameter(statement):
        receivers.add(((FILLED_ARGUMENTS, function_name), ""))
    return receivers


def _iter_names_receiving_value_in_call(
    flow: ValueFlow, statement: Statement, call: ast.Call, is_value_origin: bool
) -> Iterator[tuple[ScopedName, str]]:
    """Yield what receives the value in a call: a container, the function's parameters, and modified arguments."""
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    read_values = [
        value for value in values if is_value_origin or _does_code_read_value(flow, ast.walk(value), statement)
    ]
    called_name = find_last_name_of_dotted_path(call.func)
    if isinstance(call.func, ast.Attribute) and called_name in STORING_METHODS and read_values:
        yield from identify_expression_by_scoped_names(call.func.value, statement)
    for function in flow.definitions.get(called_name, ()):
        names = [argument.arg for argument in function.args.args]
        names = names[1:] if names[:1] == ["self"] else names
        pairs = [*zip(names, call.args, strict=False), *((keyword.arg, keyword.value) for keyword in call.keywords)]
        fills_arguments = (FILLED_ARGUMENTS, function.name) in flow.carriers
        for name, value in pairs:
            parameter = (function, str(name))
            if value in read_values:
                yield parameter, ""
            if fills_arguments and parameter in flow.carriers:
                yield from identify_expression_by_scoped_names(value, statement)


def _does_modify_part_of_own_parameter(statement: Statement) -> bool:
    """Return whether a statement changes a part, such as an item, of an argument of the enclosing function."""
    changed_names = {find_root_name(target) for target in statement.targets if not isinstance(target, ast.Name)}
    changed_names |= {
        find_root_name(c.func) for c in statement.calls if find_last_name_of_dotted_path(c.func) in STORING_METHODS
    }
    arguments = (argument.arg for function in statement.enclosing_functions[:1] for argument in function.args.args)
    return not changed_names.isdisjoint({*arguments} - {"self"})
