"""Where the text of a program has what was recorded of JAX: the function, the call of ``jax.grad``, and what made an
argument.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from ...engine.record.user_frames import is_minitape_or_library_file
from ...explain.reasons import program_text
from ...explain.reasons.program_text import (
    FUNCTION_NODES,
    Statement,
    collect_names_and_attributes,
    find_last_name,
    find_root_name,
    unparse,
)
from ...recording.sites import NOWHERE, Site

GRADIENT_TRANSFORMS = {"grad", "value_and_grad", "filter_grad", "filter_value_and_grad"}
COMPILING_TRANSFORMS = {"jit", "pmap", "vmap", "shard_map", "filter_jit"}  # under which a value is not known in Python


class JaxLeaf(NamedTuple):
    """A leaf of an argument."""

    value: Any
    row: int
    argument_index: int


class RecordedCall(NamedTuple):
    """A function, its arguments, and the line that records them."""

    function: Any = None
    args: tuple = ()
    site: Site = NOWHERE


class OutsideRead(NamedTuple):
    """A line that reads a value from outside of a function, and how it writes that; nothing if there is none."""

    site: Site = NOWHERE
    expression: str = ""


class JaxOrigin:
    """The texts behind a recorded function and its arguments."""

    def __init__(self, function: Any, args: tuple, call_site: Site) -> None:
        self.function, self.args, self.call_site = unwrap_function(function), args, call_site
        self.owner = getattr(function, "__self__", None)
        self.definition = find_definition(self.function)

    # -- the function ------------------------------------------------------------------------------

    @property
    def definition_site(self) -> Site:
        """Return the line of its ``def`` or ``lambda``; without a text the call."""
        code = getattr(self.function, "__code__", None)
        if code is None or is_minitape_or_library_file(code.co_filename):
            return self.call_site
        return code.co_filename, code.co_firstlineno if self.definition is None else self.definition.line

    def find_return_site(self, computed_at: Site) -> Site:
        """Return the line that returns the result which ``computed_at`` has computed; without a ``return`` the last."""
        if self.definition is None:
            return self.definition_site
        own_statements = [
            statement
            for statement in program_text.list_statements(self.definition.file)
            if _find_enclosing_function(statement) is self.definition.node
        ]
        return_statements = list_return_statements(self.definition)
        best_statement = next(
            (statement for statement in return_statements if computed_at[1] and statement.covers_site(computed_at)),
            (return_statements or own_statements or [self.definition])[-1],
        )
        return best_statement.site

    @property
    def _function_names(self) -> set[str]:
        """Return what the program calls the function: its own name, and what it gives ``record``."""
        calls = (
            call for call in program_text.find_statement(self.call_site).calls if find_last_name(call.func) == "record"
        )
        return {
            getattr(self.function, "__name__", "<lambda>"),
            *(unparse(argument) for record_call in calls for argument in record_call.args[:1]),
        }

    @property
    def gradient_site(self) -> Site:
        """Return the line of the program that computes the gradient; the line of the call if there is none."""
        names = self._function_names
        for statement in (
            candidate
            for file in (self.call_site[0], self.definition_site[0])
            for candidate in program_text.list_statements(file)
        ):
            for call in statement.calls:
                differentiated = (
                    call.args[0] if find_last_name(call.func) in GRADIENT_TRANSFORMS and call.args else None
                )
                if differentiated is not None and names & {unparse(differentiated), find_last_name(differentiated)}:
                    return statement.file, call.lineno
        return self.call_site

    @property
    def compiled_as(self) -> str:
        """Return how the program's text compiles the function: "itself", as a "part" of what it compiles, or "".

        It is a part also where some arguments are not traced.
        """
        call_statement, result = program_text.find_statement(self.call_site), ""
        scopes = [
            None,
            *(
                _find_enclosing_function(scope_statement)
                for scope_statement in (call_statement, self.definition)
                if scope_statement
            ),
        ]
        for file in dict.fromkeys((self.call_site[0], self.definition_site[0])):
            functions = program_text.read_program(file).definitions
            for statement, node in [
                (candidate, node)
                for candidate in program_text.list_statements(file)
                for node in _iter_compiling_nodes(candidate)
            ]:
                own_names = (
                    {node.name} if isinstance(node, FUNCTION_NODES) else collect_names_and_attributes(ast.walk(node))
                )
                names = {name for name in own_names if program_text.to_scoped_name(name, statement)[0] in scopes}
                if names & self._function_names and "static_arg" not in unparse(node):
                    return "itself"
                reached_names = set[str]()
                while names - reached_names:  # through the functions that it calls
                    reached_names |= names
                    callee_definitions = [
                        callee_definition for callee in names for callee_definition in functions.get(callee, [])
                    ]
                    names = names.union(
                        *(
                            collect_names_and_attributes(ast.walk(callee_definition))
                            for callee_definition in callee_definitions
                        )
                    )
                result = "part" if reached_names & self._function_names else result
        return result

    # -- its arguments -----------------------------------------------------------------------------

    def find_leaf_creation_site(self, leaf: JaxLeaf) -> Site:
        """Return the line that created a leaf of an argument; the line of the call if it is not found."""
        namespace, statements = (
            getattr(self.function, "__globals__", {}),
            program_text.list_statements(self.definition_site[0]),
        )
        argument = self.args[leaf.argument_index]
        names = (ast.Name(name) for name, value in namespace.items() if statements and value is argument)
        expressions = [*self.list_argument_expressions(leaf), *((name, statements[-1]) for name in names)]
        return next(
            filter(None, (self._find_expression_creation_site(*expression) for expression in expressions)),
            self.call_site,
        )

    def list_argument_expressions(self, leaf: JaxLeaf) -> list[tuple[ast.expr, Statement]]:
        """Return what the statement that takes the gradient passes for an argument, in each call of as many."""
        statement = program_text.find_statement(self.call_site)
        calls = [(call.args[find_last_name(call.func) == "record" :], statement) for call in statement.calls]
        return [(args[leaf.argument_index], statement) for args, statement in calls if len(args) == len(self.args)]

    def list_update_statements(self, leaf: JaxLeaf) -> list[Statement]:
        """Return the statements that compute from what is passed for an argument a new one of its name."""
        names = {find_root_name(expression) for expression, _ in self.list_argument_expressions(leaf)}
        return [
            statement
            for statement in program_text.list_statements(self.call_site[0])
            if names & {*statement.bound_names} & statement.read_names
        ]

    def _find_expression_creation_site(self, node: ast.expr, statement: Statement) -> Site | None:
        """Return the line that created an expression in ``statement``; None where only that says it."""
        while isinstance(node, ast.Subscript):
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        bindings = [
            binding
            for binding in program_text.find_binding_statements(node.id, statement)
            if binding.order < statement.order
        ]
        creations = [
            binding for binding in bindings if binding.read_names.isdisjoint(binding.bound_names)
        ] or bindings  # not what updates it in training
        if not creations:
            return None
        parts = zip(creations[-1].targets, program_text.list_assigned_values(creations[-1]), strict=True)
        value = next((part for target, part in parts if find_last_name(target) == node.id), None)
        return (None if value is None else self._find_expression_creation_site(value, creations[-1])) or creations[
            -1
        ].site

    # -- what it reads -----------------------------------------------------------------------------

    def find_outside_read(self, is_wanted: Callable[[str, Any], bool]) -> OutsideRead:
        """Return the first read of a wanted value from outside of the function: the line, and how it is written.

        Functions that it calls are searched, too. The value is a global, a name of a function around it, or an
        attribute of one.
        """
        for function in iter_function_and_callees(self.function):
            definition_statement, namespace = (
                find_definition(function),
                {"self": self.owner} | read_outside_values(function),
            )
            for node in () if definition_statement is None else ast.walk(definition_statement.node):
                value = resolve_value(node, namespace)
                if isinstance(node, ast.expr) and value is not None and is_wanted(name := unparse(node), value):
                    return OutsideRead((function.__code__.co_filename, node.lineno), name)
        return OutsideRead()


def resolve_value(node: ast.AST, namespace: Mapping[str, Any]) -> Any:
    """Return the value that a name, or an attribute of one, has in a namespace; None where that is not known.

    >>> from types import SimpleNamespace
    >>> resolve_value(ast.parse("state.params", mode="eval").body, {"state": SimpleNamespace(params=2.0)})
    2.0
    """
    if isinstance(node, ast.Name):
        return namespace.get(node.id) if isinstance(node.ctx, ast.Load) else None
    if not isinstance(node, ast.Attribute):
        return None
    owner = resolve_value(node.value, namespace)
    return (owner._asdict() if hasattr(owner, "_asdict") else getattr(owner, "__dict__", {})).get(node.attr)


def _iter_compiling_nodes(statement: Statement) -> Iterator[ast.AST]:
    """Yield what compiles a function in a statement: a call, or a function with its decorator."""
    node = statement.node
    if any(
        collect_names_and_attributes(ast.walk(decorator)) & COMPILING_TRANSFORMS
        for decorator in getattr(node, "decorator_list", [])
    ):
        yield node
    elif not isinstance(node, FUNCTION_NODES):
        yield from (call for call in statement.calls if find_last_name(call.func) in COMPILING_TRANSFORMS)


def _find_enclosing_function(statement: Statement) -> program_text.FunctionNode | None:
    """Return the innermost function that a statement is in."""
    return next(iter(statement.enclosing_functions), None)


def unwrap_function(function: Any) -> Any:
    """Return the function of the program's behind partials and transforms.

    >>> import jax
    >>> def f(x): return x
    >>> unwrap_function(jax.jit(partial(f, 1.0))) is f
    True
    """
    while True:
        if isinstance(function, partial):
            function = function.func
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif inspect.ismethod(function):
            function = function.__func__
        elif hasattr(function, "__code__"):
            outside_values = (
                read_outside_values(function).values()
                if is_minitape_or_library_file(function.__code__.co_filename)
                else ()
            )
            user_functions = [
                candidate
                for value in outside_values
                if _is_user_function(candidate := getattr(value, "__wrapped__", value))
            ]
            if not user_functions:
                return function
            function = user_functions[0]
        else:
            call_method = vars(type(function)).get("__call__")
            if not inspect.isfunction(call_method):
                return function
            function = call_method


def _is_user_function(function: Any) -> bool:
    """Return whether the program has written a function."""
    return inspect.isfunction(function) and not is_minitape_or_library_file(function.__code__.co_filename)


def find_definition(function: Any) -> Statement | None:
    """Return the statement that defines a function; None for a lambda, and without a text."""
    code = getattr(function, "__code__", None)
    return None if code is None else find_definition_at(code.co_filename, code.co_name, code.co_firstlineno)


def find_definition_at(file: str, name: str, line: int) -> Statement | None:
    """Return the statement on a line, or below decorators that begin there, that defines a function."""
    for statement in () if is_minitape_or_library_file(file) else program_text.list_statements(file):
        node = statement.node
        if (
            statement.file == file
            and isinstance(node, FUNCTION_NODES)
            and node.name == name
            and line in (node.lineno, *(decorator.lineno for decorator in node.decorator_list))
        ):
            return statement
    return None


def list_return_statements(definition: Statement) -> list[Statement]:
    """Return the statements that return from a function."""
    return [
        statement
        for statement in program_text.list_statements(definition.file)
        if _find_enclosing_function(statement) is definition.node and isinstance(statement.node, ast.Return)
    ]


def find_return_site_by_description(function_description: str) -> Site:
    """Return the line on which the function that a description names returns.

    JAX describes a function as "name at file:line". Of a lambda, the result is its line.
    """
    name, _, location = function_description.partition(" at ")
    file, _, line = location.rpartition(":")
    if is_minitape_or_library_file(file) or not line.isdigit():
        return NOWHERE
    definition = find_definition_at(file, name, int(line))
    return file, int(line) if definition is None else (list_return_statements(definition) or [definition])[-1].line


def read_outside_values(function: Any) -> dict:
    """Return the values that a function, and those inside of it, read from outside, by name."""
    if not inspect.isfunction(function):
        return {}
    names: set[str] = set()
    pending = [function.__code__]
    while pending:
        code = pending.pop()
        names.update(code.co_names)
        pending += [constant for constant in code.co_consts if inspect.iscode(constant)]
    values = {name: function.__globals__[name] for name in sorted(names) if name in function.__globals__}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            values[name] = cell.cell_contents
        except ValueError:  # it is empty
            continue
    return values


def iter_function_and_callees(function: Any) -> Iterator:
    """Yield a function of the program's, and those that it calls by name."""
    pending, visited = [function], set()
    while pending:
        current = unwrap_function(pending.pop(0))
        if _is_user_function(current) and current not in visited:
            visited.add(current)
            yield current
            pending += [value for value in read_outside_values(current).values() if callable(value)]
