"""Find the lines that define a recorded JAX function, call ``jax.grad``, and create the arguments."""

import ast
from collections.abc import Callable, Iterator, Mapping
from itertools import starmap
from typing import Any, Literal, NamedTuple

from ...engine.record.user_frames import is_minitape_or_library_file
from ...engine.types import NameSet, OptionalExpression
from ...explain.reasons.program_text import (
    FUNCTION_NODES,
    FunctionNode,
    Statement,
    StatementList,
    collect_own_names_and_attributes_of_nodes,
    find_binding_statements,
    find_last_name_of_dotted_path,
    find_root_name,
    find_statement,
    list_statements,
    pair_targets_with_own_or_whole_value,
    read_program,
    to_scoped_name,
    unparse,
)
from ...recording.sites import NOWHERE, CallStack, Site
from ..framework_adapter import is_any_name_read_later
from ..outside_values import iter_function_and_callees, read_outside_values, unwrap_function

GRADIENT_TRANSFORMS = {"grad", "value_and_grad", "filter_grad", "filter_value_and_grad"}
# Under these transforms, Python code cannot read the values of arrays.
COMPILING_TRANSFORMS = {"jit", "pmap", "vmap", "shard_map", "filter_jit"}


class JaxLeaf(NamedTuple):
    """An argument leaf.

    Attributes:
        value: The array or number.
        row: The leaf's row.
        argument_index: The argument's position.
    """

    value: Any
    row: int
    argument_index: int


class RecordedCall(NamedTuple):
    """A recorded function call.

    Attributes:
        function: The function.
        args: Its arguments.
        site: The line that recorded the call.
    """

    function: Any = None
    args: tuple = ()
    site: Site = NOWHERE


class OutsideRead(NamedTuple):
    """An expression that reads a value from outside its function, or an empty instance if none was found.

    Attributes:
        site: The line that reads the value.
        expression: The expression that reads the value.
    """

    site: Site = NOWHERE
    expression: str = ""


class JaxOrigin:
    """Finds the program lines that define a recorded function and its arguments.

    Attributes:
        function: The program's function, with partials and transforms removed.
        args: Its arguments.
        call_site: The line that recorded the function.
        owner: The bound method's object, or None if the function is not a bound method.
        definition: The statement that defines the function, or None if it was not found.
    """

    def __init__(self, function: Any, args: tuple, call_site: Site):
        """Find the definition of a function called with `args`."""
        self.function = unwrap_function(function)
        self.args = args
        self.call_site = call_site
        self.owner = getattr(function, "__self__", None)
        self.definition = find_def_statement(self.function)

    # -- the function ------------------------------------------------------------------------------

    @property
    def function_definition_or_call_site(self) -> Site:
        """Return the line of the function's ``def`` or ``lambda``.

        If the program does not define the function, return the line of the call.
        """
        code = getattr(self.function, "__code__", None)
        if code is None or is_minitape_or_library_file(code.co_filename):
            return self.call_site
        return code.co_filename, code.co_firstlineno if self.definition is None else self.definition.line

    def find_return_or_last_statement_site(self, result_site: Site) -> Site:
        """Return the line that returns a result.

        Args:
            result_site: The line that computed the result.

        Returns:
            The line of the ``return`` statement that contains the given line or, failing that, of the function's last
            ``return`` statement or of its last statement.
        """
        if self.definition is None:
            return self.function_definition_or_call_site
        own_statements = [
            statement
            for statement in list_statements(self.definition.file)
            if _find_enclosing_function(statement) is self.definition.node
        ]
        return_statements = list_return_statements(self.definition)
        best_statement = next(
            (statement for statement in return_statements if result_site[1] and statement.covers_site(result_site)),
            (return_statements or own_statements)[-1],
        )
        return best_statement.site

    @property
    def _own_name_and_expression_passed_to_record(self) -> NameSet:
        """Return the names of the function in the program: its own name, and the expression passed to ``record``."""
        names = {getattr(self.function, "__name__", "<lambda>")}
        for call in find_statement(self.call_site).calls:
            if find_last_name_of_dotted_path(call.func) == "record" and call.args:
                names.add(unparse(call.args[0]))
        return names

    @property
    def gradient_or_call_site(self) -> Site:
        """Return the program line that computes the gradient, or the line of the call if no such line exists."""
        names = self._own_name_and_expression_passed_to_record
        files = (self.call_site[0], self.function_definition_or_call_site[0])
        for statement in (candidate for file in files for candidate in list_statements(file)):
            for call in statement.calls:
                if find_last_name_of_dotted_path(call.func) not in GRADIENT_TRANSFORMS or not call.args:
                    continue
                differentiated = call.args[0]
                if names & {unparse(differentiated), find_last_name_of_dotted_path(differentiated)}:
                    return statement.file, call.lineno
        return self.call_site

    @property
    def compiled_as(self) -> Literal["itself", "part", ""]:
        """Return how the program compiles the function.

        The result is "itself" if the function is compiled and all of its arguments are traced. The result is "part" if
        a compiled function calls this function, or if the function itself is compiled with static arguments. Otherwise,
        the result is "".
        """
        result: Literal["part", ""] = ""
        scopes: list[FunctionNode | None] = [None]
        for scope_statement in (find_statement(self.call_site), self.definition):
            if scope_statement:
                scopes.append(_find_enclosing_function(scope_statement))
        for file in dict.fromkeys((self.call_site[0], self.function_definition_or_call_site[0])):
            functions = read_program(file).definitions
            for statement, node in [
                (candidate, node) for candidate in list_statements(file) for node in _iter_compiling_nodes(candidate)
            ]:
                own_names = (
                    {node.name}
                    if isinstance(node, FUNCTION_NODES)
                    else collect_own_names_and_attributes_of_nodes(ast.walk(node))
                )
                names = {name for name in own_names if to_scoped_name(name, statement)[0] in scopes}
                if names & self._own_name_and_expression_passed_to_record and "static_arg" not in unparse(node):
                    return "itself"
                if _collect_reached_names(names, functions) & self._own_name_and_expression_passed_to_record:
                    result = "part"
        return result

    # -- its arguments -----------------------------------------------------------------------------

    def find_leaf_creation_or_call_site(self, leaf: JaxLeaf) -> Site:
        """Return the line that created an argument leaf, or the line of the call if no such line is found.

        Args:
            leaf: The leaf.
        """
        namespace = getattr(self.function, "__globals__", {})
        statements = list_statements(self.function_definition_or_call_site[0])
        argument = self.args[leaf.argument_index]
        names = (ast.Name(name) for name, value in namespace.items() if statements and value is argument)
        expressions = [*self.list_argument_expressions(leaf), *((name, statements[-1]) for name in names)]
        return next(
            filter(None, starmap(self._find_creation_site_of_named_value, expressions)),
            self.call_site,
        )

    def list_argument_expressions(self, leaf: JaxLeaf) -> list[tuple[ast.expr, Statement]]:
        """Return the expressions passed for an argument by the statement that computes the gradient.

        Only calls with as many arguments as the recorded call are considered. Each expression is paired with its
        statement.
        """
        statement = find_statement(self.call_site)
        calls = [
            (call.args[find_last_name_of_dotted_path(call.func) == "record" :], statement) for call in statement.calls
        ]
        return [(args[leaf.argument_index], statement) for args, statement in calls if len(args) == len(self.args)]

    def list_statements_updating_argument(self, leaf: JaxLeaf) -> StatementList:
        """Return the statements that read an argument's variable and assign a new value to it.

        Args:
            leaf: One of the argument's leaves.
        """
        names = {find_root_name(expression) for expression, _ in self.list_argument_expressions(leaf)}
        return [
            statement
            for statement in list_statements(self.call_site[0])
            if names & {*statement.bound_names} & statement.read_names
        ]

    def _find_creation_site_of_named_value(self, node: OptionalExpression, statement: Statement) -> Site | None:
        """Return the line that created the value of a name, or None if no earlier statement binds the name."""
        if not isinstance(node, ast.Name):
            return None
        bindings = [
            binding for binding in find_binding_statements(node.id, statement) if binding.order < statement.order
        ]
        # A statement that both reads and binds a name merely updates the value, as a training step does.
        creations = [binding for binding in bindings if binding.read_names.isdisjoint(binding.bound_names)] or bindings
        if not creations:
            return None
        parts = pair_targets_with_own_or_whole_value(creations[-1])
        value = next((part for target, part in parts if find_last_name_of_dotted_path(target) == node.id), None)
        return self._find_creation_site_of_named_value(value, creations[-1]) or creations[-1].site

    # -- outside reads -----------------------------------------------------------------------------

    def find_first_outside_read_or_empty(self, is_wanted: Callable[[str, Any], bool]) -> OutsideRead:
        """Return the first expression that reads a wanted value from outside the function.

        The search also covers the functions that the recorded function calls. The value may be a global, a name in an
        enclosing function, or an attribute of either.

        Args:
            is_wanted: A function that receives an expression and its value, and returns whether the value is wanted.
        """
        for function in iter_function_and_callees(self.function):
            definition_statement = find_def_statement(function)
            if definition_statement is None:
                continue
            namespace = {"self": self.owner} | read_outside_values(function)
            for node in ast.walk(definition_statement.node):
                value = resolve_value(node, namespace)
                if isinstance(node, ast.expr) and value is not None and is_wanted(name := unparse(node), value):
                    return OutsideRead((function.__code__.co_filename, node.lineno), name)
        return OutsideRead()


def find_site_with_unread_name_or_innermost(call_stack: CallStack) -> Site:
    """Return the innermost line that drops a part of its result, or simply the innermost line if none does.

    Args:
        call_stack: The lines that led to a call, outermost first.
    """
    for site in reversed(call_stack):
        statement = find_statement(site)
        # In a loop, the next iteration of the statement reads the names that it reads itself.
        read_again = statement.read_names if statement.enclosing_loops else ()
        if not all(
            is_any_name_read_later(statement, [name]) for name in {*statement.bound_names}.difference(read_again)
        ):
            return site
    return call_stack[-1]


def resolve_value(node: ast.AST, namespace: Mapping[str, Any]) -> Any:
    """Return the value that a name or attribute has in a namespace, or None if the value is unknown.

    >>> from types import SimpleNamespace
    >>> resolve_value(ast.parse("state.params", mode="eval").body, {"state": SimpleNamespace(params=2.0)})
    2.0
    """
    if isinstance(node, ast.Name):
        return namespace.get(node.id) if isinstance(node.ctx, ast.Load) else None
    if not isinstance(node, ast.Attribute):
        return None
    return getattr(resolve_value(node.value, namespace), "__dict__", {}).get(node.attr)


def _iter_compiling_nodes(statement: Statement) -> Iterator[ast.AST]:
    """Yield the definition of a function with a compiling decorator, or the compiling calls in any other statement."""
    node = statement.node
    if any(
        collect_own_names_and_attributes_of_nodes(ast.walk(decorator)) & COMPILING_TRANSFORMS
        for decorator in getattr(node, "decorator_list", [])
    ):
        yield node
    elif not isinstance(node, FUNCTION_NODES):
        yield from (
            call for call in statement.calls if find_last_name_of_dotted_path(call.func) in COMPILING_TRANSFORMS
        )


def _collect_reached_names(names: NameSet, functions: Mapping[str, list[FunctionNode]]) -> NameSet:
    """Return the given names, and all names in the functions that they refer to, directly or indirectly."""
    names = set(names)
    reached_names = set[str]()
    while names - reached_names:  # Each round adds the names in the functions found in the previous round.
        reached_names |= names
        definitions = [definition for callee in names for definition in functions.get(callee, [])]
        for definition in definitions:
            names |= collect_own_names_and_attributes_of_nodes(ast.walk(definition))
    return reached_names


def _find_enclosing_function(statement: Statement) -> FunctionNode | None:
    """Return the innermost function that contains a statement."""
    return next(iter(statement.enclosing_functions), None)


def find_def_statement(function: Any) -> Statement | None:
    """Return the statement that defines a function, or None if it is a lambda or the text is not available."""
    code = getattr(function, "__code__", None)
    return None if code is None else find_function_definition_at(code.co_filename, code.co_name, code.co_firstlineno)


def find_function_definition_at(file: str, name: str, line: int) -> Statement | None:
    """Return the function definition that, including its decorators, begins on a given line."""
    if is_minitape_or_library_file(file):
        return None
    for statement in list_statements(file):
        node = statement.node
        if (
            statement.file == file
            and isinstance(node, FUNCTION_NODES)
            and node.name == name
            and line in (node.lineno, *(decorator.lineno for decorator in node.decorator_list))
        ):
            return statement
    return None


def list_return_statements(definition: Statement) -> StatementList:
    """Return the ``return`` statements of a function."""
    return [
        statement
        for statement in list_statements(definition.file)
        if _find_enclosing_function(statement) is definition.node and isinstance(statement.node, ast.Return)
    ]


def find_return_site_by_description(function_description: str) -> Site:
    """Return the line of a function's return statement, given JAX's description of the function.

    Args:
        function_description: A string of the form "name at file:line".

    Returns:
        The line of the last ``return`` statement or of the lambda, or NOWHERE if the function is not in the program.
    """
    name, _, location = function_description.partition(" at ")
    file, _, line = location.rpartition(":")
    if is_minitape_or_library_file(file) or not line.isdigit():
        return NOWHERE
    definition = find_function_definition_at(file, name, int(line))
    if definition is None:
        return file, int(line)
    return file, (list_return_statements(definition) or [definition])[-1].line
