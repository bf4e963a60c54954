"""``get_variable`` and ``variable_scope``: variables that are found again by their names; the collections of a
graph.
"""

from __future__ import annotations

import threading
from typing import Any
from weakref import WeakKeyDictionary

from ...engine.recording.block import During, block
from ...engine.recording.state import state
from ...engine.tensor.variable import Variable
from ...engine.values import dtypes
from ...engine.values.shape import TensorShape
from ...functions.deferred import DeferredVariable, get_default_graph
from ...keras import initializers
from .legacy import name_scope

AUTO_REUSE = "auto_reuse"

_stores: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()  # graph -> name -> variable


class VariableScope:
    """A prefix for the names of variables, and whether they must exist already."""

    def __init__(self, name: str = "", reuse: Any = False, initializer: Any = None) -> None:
        self.name, self.reuse, self.initializer = name, reuse, initializer

    def reuse_variables(self) -> None:
        """From now on ``get_variable`` finds variables instead of making them."""
        self.reuse = True


class _Open(threading.local):
    """The blocks that are open in this thread: of each graph its own, functions belong to the graph around them."""

    def __init__(self) -> None:
        self._eager = [VariableScope()]
        self._of: WeakKeyDictionary[Any, list[VariableScope]] = WeakKeyDictionary()

    @property
    def scopes(self) -> list[VariableScope]:
        """The scopes of the current graph, the innermost last."""
        graph = state.graph
        return self._eager if graph is None else self._of.setdefault(graph, [VariableScope()])


_open = _Open()


def get_variable_scope() -> VariableScope:
    """The scope of the innermost ``variable_scope`` block.

    >>> import minitape as tf
    >>> with tf.Graph().as_default(), tf.compat.v1.variable_scope("layer"):
    ...     print(tf.compat.v1.get_variable_scope().name)
    layer
    """
    return _open.scopes[-1]


@block
def variable_scope(name_or_scope: Any, *, initializer: Any = None, reuse: Any = None) -> Any:
    """``get_variable`` in the block prefixes names with the scope's; ``reuse`` finds variables instead of making them.

    ``initializer`` is the default for the variables of the block. A scope that was yielded before is entered again.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     with tf.compat.v1.variable_scope("a"):
    ...         print(tf.compat.v1.get_variable("w", [2]).name)
    a/w:0
    """
    outer = get_variable_scope()
    if isinstance(name_or_scope, VariableScope):
        name, full = name_or_scope.name.rsplit("/", 1)[-1], name_or_scope.name
        inherited = name_or_scope
    else:
        name, full, inherited = name_or_scope, _below(outer.name, name_or_scope), outer
    scope = VariableScope(full, inherited.reuse if reuse is None else reuse, initializer or inherited.initializer)
    scopes = _open.scopes
    scopes.append(scope)
    try:
        if state.graph is not None and name:
            with name_scope(name):
                yield scope
        else:
            yield scope
    finally:
        scopes.pop()


def _below(scope: str, name: Any) -> str:
    return f"{scope}/{name}" if scope else name


def get_variable(
    name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, *, trainable: bool | None = None
) -> Any:
    """Makes the variable of that name, or finds it again in a scope with ``reuse``.

    ``initializer`` is a value, a tensor or a function of (shape, dtype); by default Glorot's uniform one. In a graph a
    name that is taken raises ValueError. See https://www.tensorflow.org/api_docs/python/tf/compat/v1/get_variable.

    >>> import minitape as tf
    >>> tf.compat.v1.get_variable("w", initializer=3.0)
    <tf.Variable 'w:0' shape=() dtype=float32, numpy=3.0>
    """
    scope = get_variable_scope()
    full = _below(scope.name, name)
    store = _stores.setdefault(get_default_graph(), {}) if state.graph is not None else {}
    if full in store:
        if not scope.reuse:
            raise ValueError(
                f"Variable {full} already exists, disallowed. Did you mean to set reuse=True or "
                "reuse=tf.AUTO_REUSE in VarScope?"
            )
        found = store[full]
        if not found.shape.is_compatible_with(shape) or dtype not in (None, found.dtype):
            raise ValueError(
                f"Trying to share variable {full}, but specified shape {shape} and dtype {dtype}, and found shape "
                f"{found.shape} and dtype {found.dtype.name}."
            )
        return found
    if scope.reuse is True and state.graph is not None:
        raise ValueError(
            f"Variable {full} does not exist, or was not created with tf.get_variable(). Did you mean to set "
            "reuse=tf.AUTO_REUSE in VarScope?"
        )
    value = _initial(full, shape, dtype, initializer if initializer is not None else scope.initializer)
    store[full] = made = _variable(value, trainable=trainable, name=full, dtype=dtype)
    return made


def _variable(value: Any, **settings: Any) -> Any:
    """A variable whose name is whole: the open name scopes give it no prefix."""
    if state.graph is not None:
        return DeferredVariable(value, **settings)
    with During(state, scope=()):
        return Variable(value, **settings)


def _initial(name: str, shape: Any, dtype: Any, initializer: Any) -> Any:
    """The first value of a variable."""
    if initializer is not None and not callable(initializer):
        if shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape.")
        return initializer
    if isinstance(initializer, type):
        initializer = initializer()
    if shape is None:
        if initializer is None:
            raise ValueError(f"Variable {name} did not get an initializer, so its `shape` argument must be specified.")
        return initializer()
    if not TensorShape(shape).is_fully_defined():
        raise ValueError(
            f"Shape of a new variable ({name}) must be fully defined, but instead was {TensorShape(shape)}."
        )
    wanted = dtypes.as_dtype(dtype or dtypes.float32)
    usual = initializers.GlorotUniform if wanted.is_floating else initializers.Zeros
    return (initializer or usual())(TensorShape(shape).as_list(), dtype=wanted)


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


def trainable_variables(scope: str | None = None) -> list:
    """The trainable variables of the default graph.

    A list in the order in which they were made; ``scope`` is a regular expression that names must match.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     v = tf.compat.v1.get_variable("v", initializer=1.0)
    ...     print(tf.compat.v1.trainable_variables()[0] is v)
    True
    """
    return get_collection("trainable_variables", scope)


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
