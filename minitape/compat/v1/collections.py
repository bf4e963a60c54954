"""The collections of a graph, above all those of its variables, and what is done to the variables in them."""

from __future__ import annotations

from typing import Any

from ...graphs.session import get_default_graph
from ...graphs.variables import initializer_of


def global_variables(scope: str | None = None) -> list[Any]:
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


def trainable_variables(scope: str | None = None) -> list[Any]:
    """The trainable variables of the default graph.

    A list in the order in which they were made; ``scope`` is a regular expression that names must match.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     v = tf.compat.v1.get_variable("v", initializer=1.0)
    ...     print(tf.compat.v1.trainable_variables()[0] is v)
    True
    """
    return get_collection("trainable_variables", scope)


def get_collection(key: str, scope: str | None = None) -> list[Any]:
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
    return initializer_of(global_variables())


initialize_all_variables = global_variables_initializer


def assign(ref: Any, value: Any) -> Any:
    """Sets a variable to ``value``; the result has the new value.

    ``value`` has the variable's dtype and its shape: else ValueError. No gradient passes from the result to ``value``.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     v = tf.compat.v1.get_variable("v", initializer=1.0)
    ...     step = tf.compat.v1.assign(v, 4.0)
    ...     with tf.compat.v1.Session() as session:
    ...         session.run(v.initializer)
    ...         print(session.run(step))
    4.0
    """
    return ref.assign(value)
