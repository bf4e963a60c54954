"""``tf.Module``, a container that collects the variables and modules among its attributes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import wraps

from ..engine.record.interrupt_safe import TemporaryAttributes
from ..engine.record.provenance import store_creation_stack
from ..engine.record.thread_state import state
from ..engine.tensor.variable import ResourceVariable
from ..engine.types import Decorated, Object, OptionalText
from ..engine.values import nest

_WORD_STARTS = re.compile(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))")
_IDENTIFIER = re.compile(r"^[a-zA-Z_]([a-zA-Z0-9_])*$")


def convert_to_snake_case(name: str) -> str:
    """Convert a class name such as ``MyDense`` to snake case, ``my_dense``.

    Args:
        name: A name in camel case.

    Returns:
        The name in snake case.

    >>> convert_to_snake_case("MyDenseLayer")
    'my_dense_layer'
    """
    return _WORD_STARTS.sub(r"_\1", name).lower()


class Module:
    """A named container for variables and other modules, which it finds among its attributes.

    ``variables``, ``trainable_variables``, ``non_trainable_variables`` and ``submodules`` are tuples. The tuples list
    the module's own attributes first, sorted by name, including the items of lists, tuples and dictionaries. The
    attributes of each submodule follow. The variables may have any shape and dtype. See
    https://www.tensorflow.org/api_docs/python/tf/Module.

    Args:
        name: The module's name, by default the class name in snake case. A name that is not a Python identifier raises
            ValueError.

    >>> import minitape as tf
    >>> class Dense(tf.Module):
    ...     def __init__(self, n, m, name=None):
    ...         super().__init__(name=name)
    ...         self.w = tf.Variable(tf.ones([n, m]), name="w")
    ...         self.b = tf.Variable(tf.zeros([m]), name="b")
    ...     def __call__(self, x):
    ...         return tf.matmul(x, self.w) + self.b
    >>> dense = Dense(2, 1)
    >>> dense.name, [v.name for v in dense.variables]
    ('dense', ['b:0', 'w:0'])
    """

    def __init__(self, name: OptionalText = None):
        """Check the name and store the name scope that is currently open.

        Args:
            name: The name, a Python identifier. None means the class name in snake case.

        Raises:
            ValueError: If the name is not a Python identifier.
        """
        if name is None:
            name = convert_to_snake_case(type(self).__name__)
        elif not _IDENTIFIER.match(name):
            raise ValueError(f"The name of a module must be a Python identifier, got {name!r}")
        self._name = name
        self._open_name_scope = (*state.scope, name)
        store_creation_stack(self)

    @property
    def name(self) -> str:
        """The name given to the constructor, or the class name in snake case."""
        return self._name

    @property
    def name_scope(self) -> AbstractContextManager[str]:
        """A context manager in which the names of new variables begin with the module's name.

        The ``with`` statement returns this prefix, such as "dense/".
        """
        return TemporaryAttributes(state, "/".join(self._open_name_scope) + "/", scope=self._open_name_scope)

    @classmethod
    def with_name_scope(cls, method: Decorated) -> Decorated:
        """Decorate a method so that it runs inside the module's name scope.

        Args:
            method: The method.

        Returns:
            The decorated method.

        >>> import minitape as tf
        >>> class Scaled(tf.Module):
        ...     @tf.Module.with_name_scope
        ...     def __call__(self, x):
        ...         if not hasattr(self, "w"):
        ...             self.w = tf.Variable(2.0)
        ...         return self.w * x
        >>> scaled = Scaled()
        >>> float(scaled(3.0)), scaled.w.name
        (6.0, 'scaled/Variable:0')
        """

        @wraps(method)
        def run_in_scope(self: Module, *args: Object, **kwargs: Object) -> Object:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return run_in_scope  # type: ignore[return-value]

    @property
    def variables(self) -> tuple[ResourceVariable, ...]:
        """The variables of this module and its submodules."""
        return tuple(leaf for leaf in _iter_leaves_of_module_tree(self) if isinstance(leaf, ResourceVariable))

    @property
    def trainable_variables(self) -> tuple[ResourceVariable, ...]:
        """The variables in ``variables`` that are trainable."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def non_trainable_variables(self) -> tuple[ResourceVariable, ...]:
        """The variables in ``variables`` that are not trainable."""
        return tuple(v for v in self.variables if not v.trainable)

    @property
    def submodules(self) -> tuple[Module, ...]:
        """The modules among the attributes, followed by their own submodules."""
        return tuple(leaf for leaf in _iter_leaves_of_module_tree(self) if isinstance(leaf, Module))


def _iter_leaves_of_module_tree(module: Module) -> Iterator[Object]:
    """Yield each leaf of a module's attributes once, followed by each leaf of its submodules' attributes."""
    seen_ids = {id(module)}
    pending = [module]
    while pending:
        current = pending.pop(0)
        inner_modules = []
        for leaf in nest.flatten(vars(current)):  # The attributes are sorted by name, and dictionaries by key.
            if id(leaf) in seen_ids:
                continue
            seen_ids.add(id(leaf))
            yield leaf
            if isinstance(leaf, Module):
                inner_modules.append(leaf)
        pending = inner_modules + pending
