"""The user's text: statements, what they bind, read and call, and where a value goes from one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from ...engine.record.user_frames import is_minitape_or_library_file
from ...recording.sites import NOWHERE, Site, map_cell_files_to_numbers, read_source_lines, suppress_syntax_warnings

unparse = lru_cache(10_000)(ast.unparse)

FUNCTION_NODES = (ast.FunctionDef, ast.AsyncFunctionDef)
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
BINDABLE_NODES = (ast.Name, ast.Attribute, ast.Subscript)  # what can be bound and read
LOOP_NODES = (ast.For, ast.While, ast.AsyncFor)
BRANCH_NODES = (ast.If, ast.While, ast.For, ast.Match)
CALL_RESULTS = "()"  # the entry for a call among the names that a statement mentions; the scope of results of functions
ATTRIBUTES = "."  # the scope of attributes, whose objects are not told apart
FILLED_ARGUMENTS = "fills"  # the scope of functions that fill one of their arguments
CALL_METHODS = ("__call__", "call", "forward")
STORING_METHODS = set("append appendleft extend insert add update setdefault put push write fill set".split())
ScopedName = tuple[object, str]


@dataclass(eq=False)
class Statement:
    """One statement, and the compound statements around it."""

    node: ast.stmt
    file: str
    enclosing: tuple[Statement, ...]
    order: int
    block: int  # the same for statements that run one after the other

    def __bool__(self) -> bool:
        return bool(self.file)

    @property
    def line(self) -> int:
        """Its first line."""
        return self.node.lineno

    @property
    def last_line(self) -> int:
        """Its last line."""
        return self.node.end_lineno or self.node.lineno

    @property
    def site(self) -> Site:
        """Its place."""
        return self.file, self.node.lineno

    def covers_site(self, site: Site) -> bool:
        """Return whether a place is in it."""
        return site[0] == self.file and site[1] is not None and self.line <= site[1] <= self.last_line

    @property
    def enclosing_functions(self) -> list[FunctionNode]:
        """The functions around it, the innermost first."""
        return [statement.node for statement in reversed(self.enclosing) if isinstance(statement.node, FUNCTION_NODES)]

    @property
    def function_name(self) -> str:
        """The name of the innermost function around it; "" outside of functions."""
        return next((function.name for function in self.enclosing_functions), "")

    @property
    def class_name(self) -> str:
        """The class around it."""
        return next(
            (statement.node.name for statement in reversed(self.enclosing) if isinstance(statement.node, ast.ClassDef)),
            "",
        )

    @property
    def enclosing_loops(self) -> list[Statement]:
        """The loops around it, in the same function."""
        return [
            statement
            for statement in self.enclosing
            if isinstance(statement.node, LOOP_NODES) and statement.enclosing_functions == self.enclosing_functions
        ]

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """The syntax of its own expressions, the outer ones first: of a compound statement its header."""
        nodes: list[ast.AST] = [self.node]
        for node in nodes:
            block_types = (ast.stmt, ast.ExceptHandler, ast.match_case) if node is self.node else ()
            nodes += [child for child in ast.iter_child_nodes(node) if not isinstance(child, block_types)]
        return nodes

    @cached_property
    def targets(self) -> list[ast.expr]:
        """What it binds, tuples taken apart."""
        comprehension_ids = {
            id(n)
            for comprehension in self.nodes
            if isinstance(comprehension, ast.comprehension)
            for n in ast.walk(comprehension.target)
        }
        stores = [n for n in self.nodes if isinstance(n, BINDABLE_NODES) and isinstance(n.ctx, ast.Store)]
        return [n for n in stores if id(n) not in comprehension_ids]

    @cached_property
    def bound_names(self) -> list[str]:
        """The texts of `targets`, such as ``w`` and ``self.b``."""
        return [unparse(n) for n in self.targets]

    @cached_property
    def value(self) -> ast.expr | None:
        """The right of an assignment."""
        return self.node.value if isinstance(self.node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) else None

    @cached_property
    def read_names(self) -> set[str]:
        """The names, attributes and items that it reads."""
        updated_names = self.bound_names if isinstance(self.node, ast.AugAssign) else []
        return {unparse(n) for n in self.nodes if isinstance(n, BINDABLE_NODES) and isinstance(n.ctx, ast.Load)} | {
            *updated_names
        }

    @property
    def calls(self) -> list[ast.Call]:
        """Its calls, the outermost first."""
        return [n for n in self.nodes if isinstance(n, ast.Call)]

    def find_call(self, *names: str) -> ast.Call | None:
        """Find its first call of something with one of these last names."""
        return next((n for n in self.calls if find_last_name(n.func) in names), None)

    def find_expression(self, span: tuple[int | None, ...]) -> ast.expr | None:
        """The expression whose text has a span (first and last line, first and last column).

        Of a chain of calls over several lines Python only knows where it ends.
        """
        first_line, last_line, first_column, last_column = span
        candidates = [
            n
            for n in self.nodes
            if isinstance(n, ast.expr) and (n.end_lineno, n.end_col_offset) == (last_line, last_column)
        ]
        exact = [n for n in candidates if (n.lineno, n.col_offset) == (first_line, first_column)]
        return next((n for n in (*exact, *candidates) if n in exact or isinstance(n, ast.Call)), None)

    def find_enclosing_block(self, *names: str) -> Statement | None:
        """Find the innermost block or decorated function around it that names one of these."""
        block_types = (ast.With, *FUNCTION_NODES)
        return next(
            (
                statement
                for statement in reversed(self.enclosing)
                if isinstance(statement.node, block_types) and collect_names_and_attributes(statement.nodes) & {*names}
            ),
            None,
        )


def collect_names_and_attributes(nodes: Iterable[ast.AST]) -> set[str]:
    """Collect the names and attributes among syntax nodes."""
    return {name for n in nodes for name in (getattr(n, "id", ""), getattr(n, "attr", "")) if name}


def find_last_name(node: ast.AST) -> str:
    """``f`` of ``f``, ``a.b.f``; empty for anything else."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def find_root_name(node: ast.AST) -> str:
    """``a`` of ``a.b.f``."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return find_last_name(node)


@dataclass(eq=False)
class ProgramText:
    """The text of a file, or of all cells of a notebook in their order."""

    statements: list[Statement] = field(default_factory=list)
    statement_by_site: dict[Site, Statement] = field(default_factory=dict)  # the innermost statement of each
    definitions: dict[str, list[FunctionNode]] = field(default_factory=dict)
    imported_modules: dict[str, str] = field(default_factory=dict)  # name -> its module
    mentioning_statements: dict[str, list[Statement]] = field(default_factory=dict)  # by name or attribute


class CachedProgram(NamedTuple):
    """The text of a file or a notebook, with the cells and the lines that it was parsed from."""

    cells: dict[str, int]
    lines: list[str]
    text: ProgramText


_programs: dict[str, CachedProgram] = {}


def read_program(file: str | None) -> ProgramText:
    """The text that a file is, or is a cell of; empty where there is none."""
    name, notebook_cells = file or "", map_cell_files_to_numbers()
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
def _parse_program(texts: tuple[tuple[str, str], ...]) -> ProgramText:
    program_text = ProgramText()

    def visit_body(body: Iterable[ast.stmt], file: str, enclosing: tuple[Statement, ...]) -> None:
        block = len(program_text.statements) if enclosing else -1  # the cells of a notebook run one after the other
        for node in body:
            statement = Statement(node, file, enclosing, len(program_text.statements), block)
            program_text.statements.append(statement)
            first_line = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
            program_text.statement_by_site.update(
                dict.fromkeys(((file, line) for line in range(first_line, statement.last_line + 1)), statement)
            )
            for name in collect_names_and_attributes(statement.nodes) | ({CALL_RESULTS} if statement.calls else set()):
                program_text.mentioning_statements.setdefault(name, []).append(statement)
            if isinstance(node, FUNCTION_NODES):
                for name in {node.name, statement.class_name if node.name == "__init__" else node.name}:
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


def list_statements(file: str | None) -> list[Statement]:
    """The statements of a file, or of all cells of a notebook in their order; none where there is no text."""
    return read_program(file).statements


NO_STATEMENT = Statement(ast.Pass(lineno=0, end_lineno=0), "", (), -1, -1)


def find_statement(site: Site) -> Statement:
    """The innermost statement at a place; one that has nothing, and is false, where none is known."""
    return read_program(site[0]).statement_by_site.get((site[0], site[1]), NO_STATEMENT)


def find_called_name(site: Site) -> str:
    """The last name of what is called at a place whose columns are known."""
    statement, place = find_statement(site), getattr(site, "place", None)
    call = None if place is None else statement.find_expression(place.span)
    return find_last_name(call.func) if isinstance(call, ast.Call) else ""


def find_operand_expressions(site: Site, operation: str) -> list[ast.expr]:
    """Find the two sides of the operator, or the first two arguments of the function, that ran an operation; none
    where the text of a place has several.
    """
    statement = find_statement(site)
    nodes = [] if statement is None else statement.nodes
    operator_sides = [
        [n.left, n.right]
        for n in nodes
        if isinstance(n, ast.BinOp) and type(n.op).__name__.lower()[:3] in operation.lower()
    ]
    candidates = operator_sides or [n.args[:2] for n in nodes if isinstance(n, ast.Call) and len(n.args) > 1]
    return candidates[0] if len(candidates) == 1 else []


def parse_expression(text: str) -> Any:
    """The syntax of an expression."""
    return ast.parse(text, mode="eval").body


def rewrite_tree(node: ast.AST, find_replacement: Callable[[ast.AST], ast.AST | None]) -> Any:
    """A copy of a syntax tree with some of its nodes swapped for others."""
    replacement = find_replacement(node)
    if replacement is not None:
        return replacement
    new_node = copy(node)
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            value = rewrite_tree(value, find_replacement)
        elif isinstance(value, list):
            value = [rewrite_tree(item, find_replacement) if isinstance(item, ast.AST) else item for item in value]
        setattr(new_node, name, value)
    return new_node


def find_binding_statements(name: str, scope_statement: Statement) -> list[Statement]:
    """The statements that bind a name in the scope of another one; an attribute of ``self`` in its class."""
    scoped_name = to_scoped_name(name, scope_statement)
    is_attribute = name.startswith("self.")
    return [
        statement
        for statement in list_statements(scope_statement.file)
        if name in statement.bound_names
        and (not is_attribute or statement.class_name == scope_statement.class_name)
        and (not name.isidentifier() or to_scoped_name(name, statement) == scoped_name)
    ]


def find_attribute_assignment_site(owner: object, name: str) -> Site:
    """Find the line that gives an object an attribute, in the text of its class."""
    for cls in type(owner).__mro__:
        codes = (getattr(value, "__code__", None) for value in vars(cls).values())
        for statement in list_statements(next((code.co_filename for code in codes if code is not None), None)):
            self_names = [arg.arg for function in statement.enclosing_functions[:1] for arg in function.args.args[:1]]
            if (
                statement.class_name == cls.__name__
                and self_names
                and f"{self_names[0]}.{name}" in statement.bound_names
            ):
                return statement.site
    return NOWHERE


@lru_cache(512)
def _find_local_names(function: ast.FunctionDef) -> set[str]:
    stored_names = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    outer_names = {name for n in ast.walk(function) if isinstance(n, (ast.Global, ast.Nonlocal)) for name in n.names}
    return {n.arg for n in ast.walk(function.args) if isinstance(n, ast.arg)} | stored_names - outer_names


def to_scoped_name(name: str, statement: Statement) -> ScopedName:
    """Return a name with the function whose local it is; with None for a name of the file."""
    return next(
        ((function, name) for function in statement.enclosing_functions if name in _find_local_names(function)),
        (None, name),
    )


def split_key_lookup(node: ast.AST) -> tuple[ast.expr | None, str]:
    """Split ``d["key"]`` or ``d.get("key")`` into ``d`` and ``"key"``.

    Returns (None, "") unless d is a name, and the key is a text that is written there.
    """
    base: Any = getattr(node, "value", None) if isinstance(node, ast.Subscript) else None
    key: Any = getattr(node, "slice", None)
    if isinstance(node, ast.Call) and find_last_name(node.func) in ("get", "pop") and node.args:
        base, key = getattr(node.func, "value", None), node.args[0]
    is_known = isinstance(base, ast.Name) and isinstance(key, ast.Constant) and isinstance(key.value, str)
    return (base, key.value) if is_known else (None, "")


def find_scoped_names_and_parts(node: ast.AST, statement: Statement) -> set[tuple[ScopedName, str]]:
    """Find what a name, an attribute or an item is known by where values go, each with the part that it is.

    A part is the item of a dictionary, or the class that has the attribute; empty where it may be any.
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
                _find_standalone_class_name(statement.file, statement.class_name) if is_own else "",
            )
        }
    if isinstance(node, ast.Subscript):
        return find_scoped_names_and_parts(node.value, statement)
    return set()


def list_assigned_values(statement: Statement) -> list[ast.expr | None]:
    """The value of each of the targets of an assignment."""
    values = getattr(statement.value, "elts", [])
    return values if len(values) == len(statement.targets) > 1 else [statement.value] * len(statement.targets)


def _find_standalone_class_name(file: str, name: str) -> str:
    """Return the name of a class if the text defines it without a base, and no class has it as a base; else ""."""
    classes = [statement.node for statement in list_statements(file) if isinstance(statement.node, ast.ClassDef)]
    own_classes = [definition for definition in classes if definition.name == name and not definition.bases]
    return (
        name if own_classes and not any(name in map(find_last_name, definition.bases) for definition in classes) else ""
    )


# -- where a value goes ----------------------------------------------------------------------------


class ValueFlow(NamedTuple):
    """Where a value goes: functions and classes by name, and what has the value, by which statement, as a part of
    what.
    """

    definitions: dict[str, list[FunctionNode]]
    carriers: dict[ScopedName, dict[Statement, set[str]]]


def trace_value_to_statements(
    start: Statement, files: Iterable[str | None], follow_branches: bool = True
) -> set[Statement]:
    """Find the statements that may read what left in one, or that run because of it.

    A value goes through names, attributes, items, arguments, also those that a function fills, results of functions,
    exceptions and branches.
    """
    file_names = [
        start.file,
        *sorted({file for file in files if file and not is_minitape_or_library_file(file)} - {start.file}),
    ]
    return _trace_value(
        start, tuple({id(program): program for program in map(read_program, file_names)}.values()), follow_branches
    )[0]


def reads_result_of_statement(source_statement: Statement, statement: Statement, parts: Iterable[ast.AST]) -> bool:
    """Return whether some expressions of a statement read what another statement of its file computes.

    If both are the same statement, returns whether a name or a call is in the expressions.
    """
    nodes = [n for part in parts for n in ast.walk(part)]
    if statement is source_statement:
        return any(isinstance(n, (ast.Call, ast.Name)) for n in nodes)
    return _does_code_read_value(
        _trace_value(source_statement, (read_program(source_statement.file),), True)[1], nodes, statement
    )


@lru_cache(256)
def _trace_value(
    start: Statement, programs: tuple[ProgramText, ...], follow_branches: bool
) -> tuple[set[Statement], ValueFlow]:
    flow = ValueFlow({}, {})
    for program in programs:
        for name, definitions in program.definitions.items():
            flow.definitions.setdefault(name, []).extend(definitions)
    reached, waiting = set[Statement](), [start]
    while waiting:
        reached.update(waiting)
        new_names, branch_body = set[str](), list[Statement]()
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


def _does_code_read_value(flow: ValueFlow, nodes: Iterable[ast.AST], statement: Statement) -> bool:
    nodes = list(nodes)
    item_bases = {id(split_key_lookup(n)[0]) for n in nodes}  # of an item not the whole
    for n in nodes:
        is_read = isinstance(getattr(n, "ctx", None), ast.Load) and id(n) not in item_bases
        for key, part in (
            find_scoped_names_and_parts(n, statement)
            if is_read or (isinstance(n, ast.Call) and split_key_lookup(n)[1])
            else ()
        ):
            for carrier, parts in flow.carriers.get(key, {}).items():
                if (not part or parts & {part, ""}) and not _is_rebound_between(key, carrier, statement):
                    return True
        if isinstance(n, ast.Name) and n.id in flow.definitions and is_read and (CALL_RESULTS, n.id) in flow.carriers:
            return True  # it is called elsewhere: ``pool.map(f, ...)``
        if isinstance(n, ast.Call):
            name, is_foreign_method = (
                find_last_name(n.func),
                isinstance(n.func, ast.Attribute) and find_root_name(n.func) != "self",
            )
            if (CALL_RESULTS, name) in flow.carriers or (FILLED_ARGUMENTS, name) in flow.carriers:
                return True
            if not is_foreign_method and name not in flow.definitions and (CALL_RESULTS, "") in flow.carriers:
                return True
    return False


def _is_rebound_between(key: ScopedName, carrier: Statement, reader: Statement) -> bool:
    """Whether a name is certainly bound anew between the statement that gave it a value and one that reads it."""
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
    """Find the names and parts that get the value in a statement that reads it."""
    receivers: set[tuple[ScopedName, str]] = set()
    whole_receivers = set[ScopedName]()
    for target in statement.targets:
        receivers |= find_scoped_names_and_parts(target, statement)
    if isinstance(statement.node, FUNCTION_NODES):
        whole_receivers |= {
            (statement.node, argument.arg) for argument in (*statement.node.args.args, *statement.node.args.kwonlyargs)
        }
    if isinstance(statement.node, ast.Return) or any(
        isinstance(n, (ast.Yield, ast.YieldFrom)) for n in statement.nodes
    ):
        whole_receivers |= {(CALL_RESULTS, statement.function_name)} | (
            {(CALL_RESULTS, "")} if statement.function_name in CALL_METHODS else set()
        )
        receivers.add(((ATTRIBUTES, statement.function_name), ""))
    for call in statement.calls:
        values = [*call.args, *(keyword.value for keyword in call.keywords)]
        read_values = [value for value in values if is_start or _does_code_read_value(flow, ast.walk(value), statement)]
        name = find_last_name(call.func)
        if isinstance(call.func, ast.Attribute) and name in STORING_METHODS and read_values:
            receivers |= find_scoped_names_and_parts(call.func.value, statement)
        for function in flow.definitions.get(name, ()):
            names = [argument.arg for argument in function.args.args]
            names = names[1:] if names[:1] == ["self"] else names
            pairs = [*zip(names, call.args, strict=False), *((keyword.arg, keyword.value) for keyword in call.keywords)]
            whole_receivers |= {(function, str(name)) for name, value in pairs if value in read_values}
            filled_names = {
                key[1]
                for key in flow.carriers
                if key[0] is function and (FILLED_ARGUMENTS, function.name) in flow.carriers
            }
            receivers |= {
                key
                for name, value in pairs
                if name in filled_names
                for key in find_scoped_names_and_parts(value, statement)
            }
    changed_names = {find_root_name(target) for target in statement.targets if not isinstance(target, ast.Name)}
    changed_names |= {find_root_name(c.func) for c in statement.calls if find_last_name(c.func) in STORING_METHODS}
    if statement.enclosing_functions and changed_names & {
        argument.arg for argument in statement.enclosing_functions[0].args.args
    } - {"self"}:
        whole_receivers.add((FILLED_ARGUMENTS, statement.function_name))
    return receivers | {(key, "") for key in whole_receivers}
