"""``get_variable`` and ``variable_scope``: variables that are found again by their names; the collections of a
graph.
"""

from __future__ import annotations

import threading
from typing import Any
from weakref import WeakKeyDictionary

from ...engine.recording.state import state
from ...functions.deferred import get_default_graph

AUTO_REUSE = "auto_reuse"


class VariableScope:
    """A prefix for the names of variables, and whether they must exist already."""

    def __init__(self, name: str = "", reuse: Any = False, initializer: Any = None) -> None:
        self.name, self.reuse, self.initializer = name, reuse, initializer


class _Open(threading.local):
    """The blocks that are open in this thread: of each graph its own, functions belong to the graph around them."""

    def __init__(self) -> None:
        self._eager = [VariableScope()]
        self._of: WeakKeyDictionary[Any, list[VariableScope]] = WeakKeyDictionary()


_open = _Open()


def global_variables(scope: str | None = None) -> list:
    """The variables of the default graph.

    A list in the order in which they were made; ``scope`` is a regular expression that names must match.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     v = tf.compat.v1.get_variable("v", initializer=1.0)
    ...     print([u.name for u in tf.compat.v1.global_variables()])
    ['v:0']
    """
    return get_collection("variables", scope)


all_variables = global_variables


def get_collection(key: str, scope: str | None = None) -> list:
    """The members of a collection of the default graph whose names match ``scope``, a regular expression.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     v = tf.compat.v1.get_variable("v", initializer=1.0)
    ...     print(len(tf.compat.v1.get_collection("variables")))
    1
    """
    return get_default_graph().get_collection(key, scope)


def global_variables_initializer() -> Any:
    """An operation that gives all variables of the graph their initial values.

    None in eager mode, where variables have their values from the start.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     v = tf.compat.v1.get_variable("v", initializer=1.0)
    ...     with tf.compat.v1.Session() as session:
    ...         session.run(tf.compat.v1.global_variables_initializer())
    ...         print(session.run(v))
    1.0
    """
    from ...functions.deferred import Deferred

    return None if state.graph is None else Deferred(lambda *made: None, [v.initializer for v in global_variables()])


initialize_all_variables = global_variables_initializer
