"""Syntax trees of functions: what is looked up in them (also which names are read before they are bound again), and the
pieces that are put into them."""

from __future__ import annotations

import ast
import copy
import textwrap
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

Block: TypeAlias = list[ast.stmt]  # statements that are run one after the other

SCOPES = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.Lambda,
    ast.ClassDef,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)
LOOPS = (ast.For, ast.While)
RARE = (ast.Match, ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)


class CanNotConvert(Exception):
    """The source is not there, or uses what cannot be rewritten."""


class RareStatement(CanNotConvert):
    """A statement that AutoGraph leaves as it is, and all of its function: which it is, and its line."""



# -- looking at code -------------------------------------------------------------------------------


def walk(nodes: Iterable[ast.AST]) -> Iterable[ast.AST]:
    """The nodes of this scope: nested functions and classes are not entered."""
    for node in nodes:
        yield node
        if not isinstance(node, SCOPES):
            yield from walk(ast.iter_child_nodes(node))


def has(nodes: Iterable[ast.AST], *kinds: type) -> bool:
    """Whether a node of these kinds is in this scope."""
    return any(isinstance(n, kinds) for n in walk(nodes))


def blocks(node: ast.AST) -> list[Block]:
    """The blocks of statements of a compound statement, those of its handlers too."""
    found: list[Block] = []

    def note(block: Block) -> Block:
        found.append(block)
        return block

    per_block(node, note)
    return found


def per_block(node: Any, function: Callable[[Block], Block]) -> Any:
    """A copy of a compound statement with ``function`` of each of its blocks in the block's place."""
    made = copy.copy(node)
    for field, value in ast.iter_fields(node):
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            setattr(made, field, function(value))
        elif isinstance(value, list) and value and isinstance(value[0], ast.ExceptHandler):
            setattr(made, field, [per_block(part, function) for part in value])
    return made


def refuse_rare(nodes: Iterable[ast.AST]) -> None:
    """RareStatement for a scope with statements that are left as they are."""
    nodes = list(nodes)
    for node in walk(nodes):
        if isinstance(node, RARE):
            raise RareStatement(f"`{type(node).__name__.lower()}`", node)
        if isinstance(node, LOOPS) and node.orelse:
            raise RareStatement(f"the `else` of a `{type(node).__name__.lower()}`", node)
    for part in (part for node in nodes for part in ast.walk(node)):
        if isinstance(part, ast.NamedExpr):
            raise RareStatement("`:=`", part)


def assigned_names(nodes: Iterable[ast.AST]) -> list[str]:
    """The names that are bound in this scope by the nodes, in order; not those of exceptions, which end with
    handlers.
    """
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






# -- making code -----------------------------------------------------------------------------------


def parse(text: str) -> Block:
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


def at(place: ast.stmt, statements: Block) -> Block:
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




_CLOSURES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class Liveness:
    """The names that are alive around each branch and loop of a function's body.

    Names that nested functions read are ``always`` alive beside them: they are read whenever those are called.
    """

    def __init__(self, body: Block) -> None:
        self.always = {
            name
            for node in body
            for part in ast.walk(node)
            if isinstance(part, _CLOSURES)
            for name in _reads(ast.iter_child_nodes(part))
        }
        self._before: dict[int, set[str]] = {}
        self._after: dict[int, set[str]] = {}
        self._block(body, set())

    def before(self, node: ast.stmt) -> set[str]:
        """The names that are alive before an ``if``, or when a turn of a loop begins."""
        return self._before.get(id(node), set())

    def after(self, loop: ast.stmt) -> set[str]:
        """The names that are alive after a loop."""
        return self._after.get(id(loop), set())

    def _block(self, body: Block, live: set[str]) -> set[str]:
        """The names that are alive before a block, given those after it."""
        for statement in reversed(body):
            live = self._statement(statement, live)
        return live

    def _statement(self, node: ast.stmt, live: set[str]) -> set[str]:
        if isinstance(node, ast.Return):
            return _reads([node])
        if isinstance(node, ast.If):
            live = _reads([node.test]) | self._block(node.body, live) | self._block(node.orelse, live)
            self._before[id(node)] = live
            return live
        if isinstance(node, (ast.For, ast.While)):
            return self._loop(node, live)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            return (self._block(node.body, live) - _names(node.items, (ast.Store,))) | _reads(node.items)
        parts = [] if isinstance(node, _CLOSURES) else list(blocks(node))
        if parts:  # try: what comes next may follow from anywhere in it
            everything = live | _reads([node])
            for block in parts:
                self._block(block, everything)
            return everything
        return (live - _bound(node)) | _reads([node])

    def _loop(self, node: ast.For | ast.While, live: set[str]) -> set[str]:
        self._after[id(node)] = live
        flag = getattr(node, "flag", None)  # that a ``break`` sets
        test = (set() if isinstance(node, ast.For) else _reads([node.test])) | ({flag} if flag else set())
        target = _names([node.target], (ast.Store,)) if isinstance(node, ast.For) else set()
        head = live | test
        for _ in range(2):  # what one turn leaves to the next
            head = head | (self._block(node.body, head) - target)
        self._before[id(node)] = head
        return head | (_reads([node.iter]) if isinstance(node, ast.For) else set())


def _names(nodes: Iterable[ast.AST], kinds: tuple[type, ...]) -> set[str]:
    return {
        part.id
        for node in nodes
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, kinds)
    }


def _reads(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that are read; ``x += 1`` reads x."""
    nodes = list(nodes)
    added = {
        part.target.id
        for node in nodes
        for part in ast.walk(node)
        if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name)
    }
    return _names(nodes, (ast.Load,)) | added


def _bound(node: ast.stmt) -> set[str]:
    """The names that a plain statement binds for certain."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return _names(targets, (ast.Store,))
