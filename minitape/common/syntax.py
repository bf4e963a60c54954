"""Find the nodes of a syntax tree."""

import ast
from ast import AST
from collections.abc import Iterable
from typing import TypeVar

Node = TypeVar("Node", bound=AST)


def list_nodes(tree: AST, *types: type[Node]) -> list[Node]:
    """Return the nodes of the given types in a syntax tree, with outer nodes first.

    >>> [name.id for name in list_nodes(ast.parse("a + b.c"), ast.Name)]
    ['a', 'b']
    """
    return select_nodes(ast.walk(tree), *types)


def select_nodes(nodes: Iterable[AST], *types: type[Node]) -> list[Node]:
    """Return those of the given nodes that have one of the given types, in the same order."""
    return [node for node in nodes if isinstance(node, types)]
