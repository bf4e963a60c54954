"""Where the text of a program has what was recorded of JAX: the function, the call of ``jax.grad``, and what made an
argument.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from ...engine.recording.frames import own_file
from ...explain.reasons import text
from ...explain.reasons.text import FUNCTIONS, Statement, last_name, names_in, root_name, unparse
from ...recording.sites import NOWHERE, Site

GRADIENTS = {"grad", "value_and_grad", "filter_grad", "filter_value_and_grad"}
COMPILERS = {"jit", "pmap", "vmap", "shard_map", "filter_jit"}  # under which a value is not known in Python


class JaxLeaf(NamedTuple):
    """A leaf of an argument."""

    value: Any
    row: int
    argument: int


class JaxOrigin:
    """The texts behind a recorded function and its arguments."""

    def __init__(self, function: Any, args: tuple, call: Site) -> None:
        self.function, self.args, self.call = plain(function), args, call
        self.owner = getattr(function, "__self__", None)
        self.definition = definition(self.function)

    # -- the function ------------------------------------------------------------------------------

    @property
    def head(self) -> Site:
        """The line of its ``def`` or ``lambda``; without a text the call."""
        code = getattr(self.function, "__code__", None)
        if code is None or own_file(code.co_filename):
            return self.call
        return code.co_filename, code.co_firstlineno if self.definition is None else self.definition.line

    def result(self, made: Site) -> Site:
        """The line that returns its result, which the line ``made`` has computed; without a ``return`` its last."""
        if self.definition is None:
            return self.head
        inside = [s for s in text.statements(self.definition.file) if _function(s) is self.definition.node]
        ends = returns(self.definition)
        best = next((s for s in ends if made[1] and s.covers(made)), (ends or inside or [self.definition])[-1])
        return best.site

    @property
    def _called(self) -> set[str]:
        """What the program calls the function: its own name, and what it gives ``record``."""
        calls = (call for call in text.at(self.call).calls if last_name(call.func) == "record")
        return {getattr(self.function, "__name__", "<lambda>"), *(unparse(part) for c in calls for part in c.args[:1])}

    @property
    def gradient_line(self) -> Site:
        """The line of the program that computes the gradient; the line of the call if there is none."""
        names = self._called
        for statement in (s for file in (self.call[0], self.head[0]) for s in text.statements(file)):
            for call in statement.calls:
                asked = call.args[0] if last_name(call.func) in GRADIENTS and call.args else None
                if asked is not None and names & {unparse(asked), last_name(asked)}:
                    return statement.file, call.lineno
        return self.call

    @property
    def compiled(self) -> str:
        """How the program's text compiles the function: "itself", or as a "part" of what it compiles, also where some
        arguments are not traced; empty where it does not.
        """
        where, found = text.at(self.call), ""
        scopes = [None, *(_function(s) for s in (where, self.definition) if s)]
        for file in dict.fromkeys((self.call[0], self.head[0])):
            functions = text.program(file).functions
            for statement, node in [(one, node) for one in text.statements(file) for node in _compilers(one)]:
                own = {node.name} if isinstance(node, FUNCTIONS) else names_in(ast.walk(node))
                names = {name for name in own if text.key_of(name, statement)[0] in scopes}
                if names & self._called and "static_arg" not in unparse(node):
                    return "itself"
                reached = set[str]()
                while names - reached:  # through the functions that it calls
                    reached |= names
                    called = [made for known in names for made in functions.get(known, [])]
                    names = names.union(*(names_in(ast.walk(made)) for made in called))
                found = "part" if reached & self._called else found
        return found

    # -- its arguments -----------------------------------------------------------------------------

    def leaf_line(self, leaf: JaxLeaf) -> Site:
        """The line that created a leaf of an argument; the line of the call if it is not found."""
        space, statements = getattr(self.function, "__globals__", {}), text.statements(self.head[0])
        tree = self.args[leaf.argument]
        names = (ast.Name(name) for name, value in space.items() if statements and value is tree)
        given = [*self.expressions_of(leaf), *((name, statements[-1]) for name in names)]
        return next(filter(None, (self._behind(*one) for one in given)), self.call)

    def expressions_of(self, leaf: JaxLeaf) -> list[tuple[ast.expr, Statement]]:
        """What the statement that takes the gradient passes for an argument, in each call of as many."""
        where = text.at(self.call)
        calls = [(c.args[last_name(c.func) == "record" :], where) for c in where.calls]
        return [(args[leaf.argument], where) for args, where in calls if len(args) == len(self.args)]

    def steps_of(self, leaf: JaxLeaf) -> list[Statement]:
        """The statements that make of what is passed for an argument a new one of its name."""
        names = {root_name(given) for given, _ in self.expressions_of(leaf)}
        return [s for s in text.statements(self.call[0]) if names & {*s.binds} & s.reads]

    def _behind(self, node: ast.expr, where: Statement) -> Site | None:
        """The line that made an expression that is in ``where``; None where only that says it."""
        while isinstance(node, ast.Subscript):
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        bound = [s for s in text.bound_by(node.id, where) if s.order < where.order]
        made = [s for s in bound if s.reads.isdisjoint(s.binds)] or bound  # not what updates it in training
        if not made:
            return None
        parts = zip(made[-1].targets, text.parts_of(made[-1]), strict=True)
        value = next((part for target, part in parts if last_name(target) == node.id), None)
        return (None if value is None else self._behind(value, made[-1])) or made[-1].site

    # -- what it reads -----------------------------------------------------------------------------

    def reads(self, wanted: Callable[[str, Any], bool]) -> tuple[Site, str]:
        """The first line of the function, or of those that it calls, that reads such a global or name of a function
        around it, or such an attribute of one, and how that is written.
        """
        for function in functions(self.function):
            where, space = definition(function), {"self": self.owner} | outside(function)
            for node in () if where is None else ast.walk(where.node):
                value = value_of(node, space)
                if isinstance(node, ast.expr) and value is not None and wanted(name := unparse(node), value):
                    return (function.__code__.co_filename, node.lineno), name
        return NOWHERE, ""


def value_of(node: ast.AST, space: Mapping[str, Any]) -> Any:
    """What a name, or an attribute of one, that is read has in a space of names; None where that is not known.

    >>> from types import SimpleNamespace
    >>> value_of(ast.parse("state.params", mode="eval").body, {"state": SimpleNamespace(params=2.0)})
    2.0
    """
    if isinstance(node, ast.Name):
        return space.get(node.id) if isinstance(node.ctx, ast.Load) else None
    if not isinstance(node, ast.Attribute):
        return None
    owner = value_of(node.value, space)
    return (owner._asdict() if hasattr(owner, "_asdict") else getattr(owner, "__dict__", {})).get(node.attr)


def _compilers(statement: Statement) -> Iterator[ast.AST]:
    """What compiles a function in a statement: a call, or a decorator together with what it is above."""
    node = statement.node
    if any(names_in(ast.walk(decorator)) & COMPILERS for decorator in getattr(node, "decorator_list", [])):
        yield node
    elif not isinstance(node, FUNCTIONS):
        yield from (call for call in statement.calls if last_name(call.func) in COMPILERS)


def _function(statement: Statement) -> text.Def | None:
    """The innermost function that a statement is in."""
    return next(iter(statement.functions), None)


def plain(function: Any) -> Any:
    """The function of the program's behind partials and transforms.

    >>> import jax
    >>> def f(x): return x
    >>> plain(jax.jit(partial(f, 1.0))) is f
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
            inside = outside(function).values() if own_file(function.__code__.co_filename) else ()
            own = [of for given in inside if _is_own(of := getattr(given, "__wrapped__", given))]
            if not own:
                return function
            function = own[0]
        else:
            called = vars(type(function)).get("__call__")
            if not inspect.isfunction(called):
                return function
            function = called


def _is_own(function: Any) -> bool:
    """Whether it is a function that the program has written."""
    return inspect.isfunction(function) and not own_file(function.__code__.co_filename)


def definition(function: Any) -> Statement | None:
    """The statement that defines a function; None for a lambda, and without a text."""
    code = getattr(function, "__code__", None)
    return None if code is None else defined(code.co_filename, code.co_name, code.co_firstlineno)


def defined(file: str, name: str, line: int) -> Statement | None:
    """The statement on a line, or below decorators that begin there, that defines a function."""
    for statement in () if own_file(file) else text.statements(file):
        node = statement.node
        if (
            statement.file == file
            and isinstance(node, FUNCTIONS)
            and node.name == name
            and line in (node.lineno, *(d.lineno for d in node.decorator_list))
        ):
            return statement
    return None


def returns(made: Statement) -> list[Statement]:
    """The statements that return from a function."""
    return [s for s in text.statements(made.file) if _function(s) is made.node and isinstance(s.node, ast.Return)]


def returned(told: str) -> Site:
    """The line on which a function of the program returns: JAX reports it as "name at file:line", or only its line for
    a lambda.
    """
    name, _, place = told.partition(" at ")
    file, _, line = place.rpartition(":")
    if own_file(file) or not line.isdigit():
        return NOWHERE
    made = defined(file, name, int(line))
    return file, int(line) if made is None else (returns(made) or [made])[-1].line


def outside(function: Any) -> dict:
    """The values that a function, and those inside of it, read from outside, by name."""
    if not inspect.isfunction(function):
        return {}
    names: set[str] = set()
    waiting = [function.__code__]
    while waiting:
        code = waiting.pop()
        names.update(code.co_names)
        waiting += [const for const in code.co_consts if inspect.iscode(const)]
    space = {name: function.__globals__[name] for name in sorted(names) if name in function.__globals__}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            space[name] = cell.cell_contents
        except ValueError:  # it is empty
            continue
    return space


def functions(function: Any) -> Iterator:
    """A function of the program's, and those that it calls by name."""
    waiting, seen = [function], set()
    while waiting:
        at = plain(waiting.pop(0))
        if _is_own(at) and at not in seen:
            seen.add(at)
            yield at
            waiting += [value for value in outside(at).values() if callable(value)]
