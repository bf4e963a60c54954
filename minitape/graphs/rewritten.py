"""Functions as ``tf.function`` runs them, with their control flow rewritten."""

from __future__ import annotations

import ast
from typing import Any

from ..engine.invalid import unsupported
from .autograph import convert_entry
from .rewrite import Rewriter, rewritten_expression
from .sources import definition_of, parsed, source_lines


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Has no effect: the conversion logs nothing, whatever ``level`` and ``alsologtostdout`` say.

    >>> import minitape as tf
    >>> tf.autograph.set_verbosity(0)
    """


def to_code(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> str:
    """The source of a function as ``tf.function`` runs it; ``recursive`` does not change it.

    NotImplementedError for ``experimental_optional_features``.

    >>> import minitape as tf
    >>> print(tf.autograph.to_code(lambda x: x))
    lambda x: x
    """
    unsupported("tf.autograph.to_code", experimental_optional_features=experimental_optional_features)
    function = getattr(entity, "python_function", entity)
    lines, _ = source_lines(function)
    node = definition_of(parsed(lines), function.__code__)
    if isinstance(node, ast.Lambda):
        node.body = rewritten_expression(node.body)
    else:
        node.decorator_list = []
        node = Rewriter().function(node)
    return ast.unparse(ast.fix_missing_locations(node))


def to_graph(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> Any:
    """A function as ``tf.function`` runs it: its control flow may depend on symbolic tensors.

    NotImplementedError for ``recursive=False`` and ``experimental_optional_features``.

    >>> import minitape as tf
    >>> tf.autograph.to_graph(lambda x: x + 1)(1)
    2
    """
    refused = {"recursive=False": not recursive, "experimental_optional_features": experimental_optional_features}
    unsupported("tf.autograph.to_graph", **refused)
    return convert_entry(getattr(entity, "python_function", entity))
