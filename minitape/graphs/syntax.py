"""Syntax trees of functions: what is looked up in them, and the pieces that are put into them."""

from __future__ import annotations

import ast
import copy
import textwrap
from collections.abc import Callable, Iterable, Iterator
from typing import Any

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp,
          ast.GeneratorExp)  # fmt: skip
LOOPS = (ast.For, ast.While)
RARE = (ast.Match, ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)


class CanNotConvert(Exception):
    """The source is not there, or uses what cannot be rewritten."""


# -- looking at code --------------------------------------------------------------------------------------------------


def walk(nodes: Iterable[ast.AST]) -> Iterable[ast.AST]:
    """The nodes of this scope: nested functions and classes are not entered."""
    for node in nodes:
        yield node
        if not isinstance(node, SCOPES):
            yield from walk(ast.iter_child_nodes(node))


def has(nodes: Iterable[ast.AST], *kinds: type) -> bool:
    """Whether a node of these kinds is in this scope."""
    return any(isinstance(n, kinds) for n in walk(nodes))


def blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of statements of a compound statement, those of its handlers too."""
    for _, value in ast.iter_fields(node):
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            yield value
        elif isinstance(value, list) and value and isinstance(value[0], ast.ExceptHandler):
            for part in value:
                yield part.body


def mapped(node: Any, function: Callable[[list[ast.stmt]], list[ast.stmt]]) -> Any:
    """A copy of a compound statement with ``function`` of each of its blocks in the block's place."""
    made = copy.copy(node)
    for field, value in ast.iter_fields(node):
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            setattr(made, field, function(value))
        elif isinstance(value, list) and value and isinstance(value[0], ast.ExceptHandler):
            setattr(made, field, [mapped(part, function) for part in value])
    return made


def refuse_rare(nodes: Iterable[ast.AST]) -> None:
    """CanNotConvert for a scope with statements that are left as they are."""
    nodes = list(nodes)
    for node in walk(nodes):
        if isinstance(node, RARE) or (isinstance(node, LOOPS) and node.orelse):
            raise CanNotConvert(f"`{type(node).__name__}` is not converted")
    if any(isinstance(part, ast.NamedExpr) for node in nodes for part in ast.walk(node)):
        raise CanNotConvert("a name that is bound in an expression")


def assigned(nodes: Iterable[ast.AST]) -> list[str]:
    """The names that are bound in this scope by the nodes, in order; not those of exceptions, which end with handlers."""
    names: dict[str, None] = {}
    for node in walk(nodes):
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            names[node.id] = None
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names[node.name] = None
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                names[(alias.asname or alias.name).split(".")[0]] = None
    return list(names)


def stored_parts(nodes: Iterable[ast.AST]) -> Iterator[ast.Attribute | ast.Subscript]:
    """The attributes and items that get values assigned: ``c.v = x``, ``d["k"] += x``."""
    for node in walk(nodes):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            yield node


def container(part: ast.expr) -> str | None:
    """The name of the container of which ``part`` is an item, or an item of an item; None for any other expression."""
    while isinstance(part, ast.Subscript):
        part = part.value
    return part.id if isinstance(part, ast.Name) else None


def falls_through(body: list[ast.stmt]) -> bool:
    """Whether the statement after ``body`` can be reached; a ``with`` may swallow what is raised in it."""
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        return falls_through(last.body) or falls_through(last.orelse)
    return not isinstance(last, (ast.Return, ast.Raise))


# -- making code ------------------------------------------------------------------------------------------------------


def parse(text: str) -> list[ast.stmt]:
    """Statements that have no place yet."""
    body = ast.parse(textwrap.dedent(text)).body
    for node in body:
        for part in ast.walk(node):
            for name in part._attributes:
                delattr(part, name)
    return body


def locate(node: Any, line: int, column: int) -> None:
    """Gives what was made the place of what is around it: one line, so that tracebacks show where it begins."""
    if "lineno" in node._attributes:
        if not hasattr(node, "lineno"):
            node.lineno = node.end_lineno = line
            node.col_offset = node.end_col_offset = column
        line, column = node.lineno, node.col_offset
    for child in ast.iter_child_nodes(node):
        locate(child, line, column)


def at(place: ast.stmt, statements: list[ast.stmt]) -> list[ast.stmt]:
    """The statements that were made of one, where that one is."""
    for statement in statements:
        locate(statement, place.lineno, place.col_offset)
    return statements


def name(identifier: str) -> ast.expr:
    """A name that is read."""
    return ast.Name(identifier, ast.Load())


def assign(identifier: str, value: ast.expr) -> ast.stmt:
    """``identifier = value``."""
    return ast.Assign([ast.Name(identifier, ast.Store())], value)


def unless(flag: str, body: list[ast.stmt]) -> list[ast.stmt]:
    """``if not flag: body``; nothing where there is no body."""
    return [ast.If(ast.UnaryOp(ast.Not(), name(flag)), body, [])] if body else []
