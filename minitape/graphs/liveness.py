"""Which names are read before they are bound again, in the next turn of a loop or after it: what the loop has to hand on."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from .syntax import blocks

_CLOSURES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class Liveness:
    """The names that are alive around each loop of a function's body.

    Names that nested functions read are always alive: they are read whenever those are called.
    """

    def __init__(self, body: list[ast.stmt]) -> None:
        self.always = {name for node in body for part in ast.walk(node) if isinstance(part, _CLOSURES)
                       for name in _reads(ast.iter_child_nodes(part))}  # fmt: skip
        self._before: dict[int, set[str]] = {}
        self._after: dict[int, set[str]] = {}
        self._block(body, set())

    def before(self, loop: ast.stmt) -> set[str]:
        """The names that are alive when a turn of a loop begins."""
        return self._before.get(id(loop), set()) | self.always

    def after(self, loop: ast.stmt) -> set[str]:
        """The names that are alive after a loop."""
        return self._after.get(id(loop), set()) | self.always

    def _block(self, body: list[ast.stmt], live: set[str]) -> set[str]:
        """The names that are alive before a block, given those after it."""
        for statement in reversed(body):
            live = self._statement(statement, live)
        return live

    def _statement(self, node: ast.stmt, live: set[str]) -> set[str]:
        if isinstance(node, ast.Return):
            return _reads([node])
        if isinstance(node, ast.If):
            return _reads([node.test]) | self._block(node.body, live) | self._block(node.orelse, live)
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
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)
            and isinstance(part.ctx, kinds)}  # fmt: skip


def _reads(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that are read; ``x += 1`` reads x."""
    nodes = list(nodes)
    added = {part.target.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.AugAssign)
             and isinstance(part.target, ast.Name)}  # fmt: skip
    return _names(nodes, (ast.Load,)) | added


def _bound(node: ast.stmt) -> set[str]:
    """The names that a plain statement binds for certain."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return _names(targets, (ast.Store,))
