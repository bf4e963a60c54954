"""``get_variable`` and ``variable_scope``: variables that are found again by their names."""

from __future__ import annotations

import inspect
import re
import threading
from typing import Any
from weakref import WeakKeyDictionary

from ...engine import dtypes
from ...engine.block import block
from ...engine.invalid import unsupported
from ...engine.shape import TensorShape
from ...engine.state import state
from ...engine.variable import Variable
from ...graphs.session import get_default_graph
from .collections import get_collection
from .legacy import name_scope

AUTO_REUSE = "auto_reuse"

_stores: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()  # graph -> name -> variable
_entered: WeakKeyDictionary[Any, dict[str, int]] = WeakKeyDictionary()  # graph -> scope -> how often it was entered


class VariableScope:
    """A prefix for the names of variables, and whether they must exist already."""

    def __init__(self, name: str = "", reuse: Any = False, initializer: Any = None, regularizer: Any = None,
                 dtype: Any = dtypes.float32, constraint: Any = None) -> None:  # fmt: skip
        self.name, self.reuse, self.dtype = name, reuse, dtype
        self.initializer, self.regularizer, self.constraint = initializer, regularizer, constraint
        self.original_name_scope = name + "/" if name else ""

    def reuse_variables(self) -> None:
        """From now on ``get_variable`` finds variables instead of making them."""
        self.reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """Sets the default initializer of the variables."""
        self.initializer = initializer

    def set_regularizer(self, regularizer: Any) -> None:
        """Sets the default regularizer of the variables."""
        self.regularizer = regularizer

    def set_dtype(self, dtype: Any) -> None:
        """Sets the default dtype of the variables."""
        self.dtype = dtype

    def get_collection(self, name: str) -> list[Any]:
        """What a collection of the graph holds of this scope."""
        return get_collection(name, f"{re.escape(self.name)}/" if self.name else None)

    def global_variables(self) -> list[Any]:
        """The variables of this scope."""
        return self.get_collection("variables")

    def trainable_variables(self) -> list[Any]:
        """The variables of this scope that are trained."""
        return self.get_collection("trainable_variables")


class _Open(threading.local):
    """The blocks that are open in this thread: of each graph its own, functions belong to the graph around them."""

    def __init__(self) -> None:
        self._eager = [VariableScope()]
        self._of: WeakKeyDictionary[Any, list[VariableScope]] = WeakKeyDictionary()

    @property
    def scopes(self) -> list[VariableScope]:
        """The scopes of the current graph, the innermost last."""
        graph = state.graph
        while graph is not None and graph.is_function():
            graph = graph.outer
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
def variable_scope(
    name_or_scope: Any = None,
    default_name: str | None = None,
    values: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    reuse: Any = None,
    dtype: Any = None,
    use_resource: Any = None,
    constraint: Any = None,
    auxiliary_name_scope: bool = True,
) -> Any:
    """``get_variable`` in the block prefixes names with the scope's; ``reuse`` finds variables instead of making them.

    ``initializer``, ``regularizer``, ``constraint`` and ``dtype`` are defaults for the variables of the block;
    ``values`` are as for ``tf.compat.v1.name_scope``. There is one device, so ``caching_device`` has no effect.
    NotImplementedError for ``partitioner``, ``custom_getter`` and, in a graph, ``use_resource=False``.

    >>> import minitape as tf
    >>> with tf.Graph().as_default():
    ...     with tf.compat.v1.variable_scope("a"):
    ...         print(tf.compat.v1.get_variable("w", [2]).name)
    a/w:0
    """
    refused = {"partitioner": partitioner, "custom_getter": custom_getter}
    unsupported("variable_scope", **refused, **{"use_resource=False": _by_reference(use_resource)})
    outer = get_variable_scope()
    if isinstance(name_or_scope, VariableScope):
        name, full = name_or_scope.name.rsplit("/", 1)[-1], name_or_scope.name
        inherited = name_or_scope
    else:
        name = _unused(outer.name, default_name) if name_or_scope is None else name_or_scope
        full = _below(outer.name, name)
        inherited = outer
    scope = VariableScope(full, inherited.reuse if reuse is None else reuse, initializer or inherited.initializer,
                          regularizer or inherited.regularizer, dtype or inherited.dtype,
                          constraint or inherited.constraint)  # fmt: skip
    scopes, before = _open.scopes, _enter(full)
    scopes.append(scope)
    try:
        if state.graph is not None and auxiliary_name_scope and name:
            with name_scope(name, values=values):
                yield scope
        else:
            yield scope
    finally:
        scopes.pop()
        _leave(full, before if inherited is name_or_scope else None)


def _below(scope: str, name: Any) -> str:
    return f"{scope}/{name}" if scope else name


def _unused(scope: str, name: Any) -> Any:
    """A default name with the first number that makes it one of a scope that was not entered yet."""
    entered = _entered.get(get_default_graph(), {})
    found, number = name, 0
    while entered.get(_below(scope, found)):
        number += 1
        found = f"{name}_{number}"
    return found


def _enter(scope: str) -> dict[str, int]:
    """Counts an entry into a scope; the counts before it."""
    counts = _entered.setdefault(get_default_graph(), {})
    before = dict(counts)
    counts[scope] = counts.get(scope, 0) + 1
    return before


def _leave(scope: str, before: dict[str, int] | None) -> None:
    """Forgets the scopes within one that is left; the counts of ``before`` come back where it was entered again."""
    counts = _entered[get_default_graph()]
    for name in counts:
        if not scope or name.startswith(f"{scope}/"):
            counts[name] = 0
    if before is not None:
        _entered[get_default_graph()] = before


def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: Any = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: Any = None,
    aggregation: Any = None,
) -> Any:
    """Makes the variable of that name, or finds it again in a scope with ``reuse``.

    ``initializer`` is a value, a tensor or a function of (shape, dtype); by default Glorot's uniform one. What
    ``regularizer`` makes of the variable joins the collection "regularization_losses"; with ON_READ as
    ``synchronization`` it is not trainable by default. There is one device, so ``caching_device`` has no effect.
    In a graph a name that is taken raises ValueError. NotImplementedError for ``partitioner``, ``custom_getter``,
    ``collections``, ``validate_shape=False`` and, in a graph, ``use_resource=False``. See
    https://www.tensorflow.org/api_docs/python/tf/compat/v1/get_variable.

    >>> import minitape as tf
    >>> tf.compat.v1.get_variable("w", initializer=3.0)
    <tf.Variable 'w:0' shape=() dtype=float32, numpy=3.0>
    """
    refused = {"partitioner": partitioner, "custom_getter": custom_getter, "collections": collections}
    refused |= {"validate_shape=False": not validate_shape, "use_resource=False": _by_reference(use_resource)}
    unsupported("get_variable", **refused)
    scope = get_variable_scope()
    full = _below(scope.name, name)
    store = _stores.setdefault(get_default_graph(), {}) if state.graph is not None else {}
    if full in store:
        if not scope.reuse:
            raise ValueError(f"Variable {full} already exists, disallowed. Did you mean to set reuse=True or "
                             "reuse=tf.AUTO_REUSE in VarScope?")  # fmt: skip
        return _fitting(full, store[full], shape, dtype)
    if scope.reuse is True and state.graph is not None:
        raise ValueError(
            f"Variable {full} does not exist, or was not created with tf.get_variable(). Did you mean to set "
            "reuse=tf.AUTO_REUSE in VarScope?"
        )
    initializer = initializer if initializer is not None else scope.initializer
    value = _initial(
        full, shape, dtype or (scope.dtype if initializer is None or callable(initializer) else None), initializer
    )
    made = _variable(value, trainable=trainable, name=full, dtype=dtype, constraint=constraint or scope.constraint,
                     synchronization=synchronization, aggregation=aggregation)  # fmt: skip
    store[full] = made
    _regularize(made, regularizer or scope.regularizer)
    return made


def _fitting(name: str, variable: Any, shape: Any, dtype: Any) -> Any:
    """A variable that was found; ValueError unless it has the shape and the type that are asked for."""
    if shape is not None and not variable.shape.is_compatible_with(shape):
        raise ValueError(f"Trying to share variable {name}, but specified shape {TensorShape(shape)} and found shape "
                         f"{variable.shape}.")  # fmt: skip
    if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(variable.dtype):
        raise ValueError(f"Trying to share variable {name}, but specified dtype {dtypes.as_dtype(dtype).name} and found dtype "
                         f"{variable.dtype.name}.")  # fmt: skip
    return variable


def _by_reference(use_resource: bool | None) -> bool:
    """True when variables of TensorFlow 1 are asked for, which a graph may have and eager mode never has."""
    return use_resource is False and state.graph is not None


def _variable(value: Any, synchronization: Any, aggregation: Any, **settings: Any) -> Any:
    modes = {"synchronization": synchronization, "aggregation": aggregation}
    settings |= {argument: mode for argument, mode in modes.items() if mode is not None}
    if state.graph is None:
        before, state.scope = state.scope, ()
        try:
            return Variable(value, **settings)
        finally:
            state.scope = before
    with state.graph.name_scope(None):
        return Variable(value, **settings)


def _regularize(variable: Any, regularizer: Any) -> None:
    """Adds what a regularizer makes of the variable to the collection of losses."""
    if regularizer is None:
        return
    graph = get_default_graph()
    with name_scope(f"{variable.name.partition(':')[0]}/Regularizer/" if state.graph is not None else None):
        loss = regularizer(variable)
    if loss is not None:
        graph.add_to_collection("regularization_losses", loss)


def _initial(name: str, shape: Any, dtype: Any, initializer: Any) -> Any:
    from .initial import glorot_uniform_initializer, zeros_initializer

    if initializer is not None and not callable(initializer):
        if shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape.")
        return initializer
    if isinstance(initializer, type):
        initializer = initializer()
    if shape is None:
        if initializer is None:
            raise ValueError(f"Variable {name} did not get an initializer, so its `shape` argument must be specified.")
        if _takes_arguments(initializer):
            raise ValueError(
                "The initializer passed is not valid. It should be a callable with no arguments and the shape should not be "
                "provided or an instance of `tf.keras.initializers.*' and `shape` should be fully defined."
            )
        return initializer()
    if not TensorShape(shape).is_fully_defined():
        raise ValueError(
            f"Shape of a new variable ({name}) must be fully defined, but instead was {TensorShape(shape)}."
        )
    wanted = dtypes.as_dtype(dtype or dtypes.float32)
    usual = glorot_uniform_initializer if wanted.is_floating else zeros_initializer
    return (initializer or usual())(TensorShape(shape).as_list(), dtype=wanted)


def _takes_arguments(function: Any) -> bool:
    return any(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
               for p in inspect.signature(function).parameters.values())  # fmt: skip
