"""Functions as ``tf.function`` runs them, with their control flow rewritten."""

from __future__ import annotations

import ast
from typing import Any

from .sources import rewritten_definition


def to_code(entity: Any) -> str:
    """The source of a function as ``tf.function`` runs it.

    >>> import minitape as tf
    >>> print(tf.autograph.to_code(lambda x: x))
    lambda x: x
    """
    node = rewritten_definition(getattr(entity, "python_function", entity))
    return ast.unparse(ast.fix_missing_locations(node))
