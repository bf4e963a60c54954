"""Where the text of a program has what was recorded of JAX: the function, the call of ``jax.grad``, and what made an
argument.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from ...engine.recording.frames import own_file
from ...explain.reasons import text
from ...explain.reasons.text import FUNCTIONS, Statement, last_name, names_in, unparse
from ...recording.sites import NOWHERE, Site

GRADIENTS = {"grad", "value_and_grad", "filter_grad", "filter_value_and_grad"}
COMPILERS = {"jit", "pmap", "vmap", "shard_map", "filter_jit"}  # under which a value is not known in Python


class JaxLeaf(NamedTuple):
    """A leaf of an argument."""

    value: Any
    row: int
    argument: int
    path: tuple  # its keys within the argument


def keys(path: Sequence) -> tuple:
    """The keys of a path of ``jax.tree_util``.

    >>> import jax
    >>> [keys(path) for path, _ in jax.tree_util.tree_flatten_with_path({"a": [1.0, 2.0]})[0]]
    [('a', 0), ('a', 1)]
    """
    return tuple(
        next((getattr(key, field) for field in ("key", "idx", "name") if hasattr(key, field)), None) for key in path
    )


class JaxOrigin:
    """The texts behind a recorded function and its arguments."""

    def __init__(self, function: Any, args: tuple, call: Site) -> None:
        self.function, self.args, self.call = plain(function), args, call
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
    def gradient_line(self) -> Site:
        """The line of the program that computes the gradient; the line of the call if there is none."""
        found = self._gradient()
        return self.call if found is None else found

    @property
    def _called(self) -> set[str]:
        """What the program calls the function: its own name, and what it gives ``record``."""
        return {
            getattr(self.function, "__name__", "<lambda>"),
            *(unparse(call.args[0]) for call in self._records() if call.args),
        }

    def _gradient(self) -> Site | None:
        names = self._called
        for statement in (s for file in (self.call[0], self.head[0]) for s in text.statements(file)):
            for call in statement.calls:
                asked = call.args[0] if last_name(call.func) in GRADIENTS and call.args else None
                if asked is not None and names & {unparse(asked), last_name(asked)}:
                    return statement.file, call.lineno
        return None

    @property
    def compiled(self) -> str:
        """How the program's text compiles the function: "itself", or as a "part" of what it compiles, also where some
        arguments are not traced; empty where it does not.
        """
        where, found = self._statement(), ""
        scopes = [None, *(_function(s) for s in (where, self.definition) if s is not None)]
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
        given, where = self._given()[1:], self._statement()
        if where is not None and len(given) > leaf.argument:
            return self._behind(given[leaf.argument], leaf.path, where) or self.call
        space, statements = getattr(self.function, "__globals__", {}), text.statements(self.head[0])
        names = [name for name, value in space.items() if value is self.args[leaf.argument]]
        found = (self._behind(ast.Name(name), leaf.path, statements[-1]) for name in names if statements)
        return next(filter(None, found), self.call)

    def _statement(self) -> Statement | None:
        """The statement that calls ``record``."""
        return text.at(self.call)

    def _records(self) -> list[ast.Call]:
        """The calls of ``record`` in that statement."""
        where = self._statement()
        return [call for call in (where.calls if where is not None else []) if last_name(call.func) == "record"]

    def _given(self) -> list[ast.expr]:
        """What that statement gives ``record``: the function and its arguments, as far as they are written there."""
        given = [part for call in self._records()[:1] for part in call.args]
        return given[: next((k for k, part in enumerate(given) if isinstance(part, ast.Starred)), len(given))]

    def _behind(self, node: ast.expr, path: tuple, where: Statement) -> Site | None:
        """The line that made the part ``path`` of an expression that is in ``where``; None where only that says it."""
        while isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            path = node.slice.value, *path
            node = node.value
        if isinstance(node, ast.Name):
            bound = [s for s in text.bound_by(node.id, where) if s.order < where.order]
            made = [s for s in bound if s.reads.isdisjoint(s.binds)] or bound  # not what updates it in training
            if not made:
                return None
            parts = zip(made[-1].targets, text.parts_of(made[-1]), strict=True)
            value = next((part for target, part in parts if last_name(target) == node.id), None)
            return (None if value is None else self._behind(value, path, made[-1])) or made[-1].site
        inside = part_of(node, path[0]) if path else None
        return None if inside is None else self._behind(inside, path[1:], where) or (where.file, inside.lineno)

    # -- what it reads -----------------------------------------------------------------------------

    def read(self, leaf: JaxLeaf) -> Site | None:
        """The line on which it reads a leaf of its arguments by the name of a global or of a function around it."""
        argument, given = self.args[leaf.argument], self._given()[1:]
        called = unparse(given[leaf.argument]) if len(given) > leaf.argument else ""
        number = isinstance(argument, (bool, int, float, complex))
        return self.reads(lambda name, value: name == called or (value is argument and not number), leaf.path[:1])

    def reads(self, wanted: Callable[[str, Any], bool], path: tuple = ()) -> Site | None:
        """The first line of the function, or of those that it calls, that reads such a name from outside; of a tree the
        first key.
        """
        for function in functions(self.function):
            where, space = definition(function), outside(function)
            names = {name for name, value in space.items() if wanted(name, value)}
            for node in ast.walk(where.node) if where is not None and names else ():
                item = node.slice if isinstance(node, ast.Subscript) and path else None
                read = node.value if isinstance(node, ast.Subscript) and path else node
                right = (
                    not path
                    or not isinstance(space.get(getattr(read, "id", "")), (dict, list, tuple))
                    or (isinstance(item, ast.Constant) and item.value == path[0])
                )
                if (
                    where is not None
                    and isinstance(read, ast.Name)
                    and isinstance(read.ctx, ast.Load)
                    and read.id in names
                    and right
                ):
                    return where.file, read.lineno
        return None


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


def part_of(node: ast.expr, key: Any) -> ast.expr | None:
    """The element that a dict, list or tuple that is written out has for a key.

    >>> ast.unparse(part_of(ast.parse("dict(a=1, b=2 + x)", mode="eval").body, "b"))
    '2 + x'
    """
    if isinstance(node, ast.Dict):
        return next(
            (v for k, v in zip(node.keys, node.values, strict=True) if isinstance(k, ast.Constant) and k.value == key),
            None,
        )
    if isinstance(node, ast.Call):
        return next((word.value for word in node.keywords if word.arg == key), None)
    if isinstance(node, (ast.Tuple, ast.List)) and isinstance(key, int) and key < len(node.elts):
        return node.elts[key]
    return None


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
