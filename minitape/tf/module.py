"""``tf.Module``: an object that finds the variables and modules among its attributes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..engine.recording.evidence import note_creation
from ..engine.tensor.variable import ResourceVariable
from ..engine.values import nest

_WORD_STARTS = re.compile(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))")
_IDENTIFIER = re.compile(r"^[a-zA-Z_]([a-zA-Z0-9_])*$")


def camel_to_snake(name: str) -> str:
    """``MyDense2D`` as ``my_dense2d``.

    >>> camel_to_snake("MyDenseLayer")
    'my_dense_layer'
    """
    return _WORD_STARTS.sub(r"_\1", name).lower()


class Module:
    """A named container of variables and other modules, found among its attributes by reflection.

    ``variables``, ``trainable_variables``, ``non_trainable_variables`` and ``submodules`` are tuples: first the
    module's own attributes in the order of their names (lists, tuples and dictionaries included), then those of its
    submodules, level by level. Raises ValueError for a name that is no Python identifier.
    See https://www.tensorflow.org/api_docs/python/tf/Module.

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

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = camel_to_snake(type(self).__name__)
        elif not _IDENTIFIER.match(name):
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python identifiers (e.g. a valid "
                "class name)."
            )
        self._name = name
        note_creation(self)

    @property
    def name(self) -> str:
        """The name given to the constructor, or the class's name in snake case."""
        return self._name

    @property
    def variables(self) -> tuple:
        """The variables of this module and its submodules."""
        return tuple(self._flatten(predicate=lambda value: isinstance(value, ResourceVariable)))

    @property
    def trainable_variables(self) -> tuple:
        """The trainable ones among ``variables``."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def submodules(self) -> tuple:
        """The modules among the attributes, theirs, and so on."""
        return tuple(self._flatten(predicate=lambda value: isinstance(value, Module)))

    def _flatten(self, recursive: bool = True, predicate: Callable[[Any], bool] | None = None) -> Iterator:
        """The leaves among the attributes (of the submodules too if ``recursive``) that ``predicate`` accepts, each
        once.
        """
        return _flatten(self, recursive, predicate or (lambda leaf: True), {id(self)})


def _flatten(module: Module, recursive: bool, wanted: Callable[[Any], bool], seen: set[int]) -> Iterator:
    inner: list[Module] = []
    for leaf in _leaves(module):
        if id(leaf) in seen:
            continue
        seen.add(id(leaf))
        if wanted(leaf):
            yield leaf
        if recursive and isinstance(leaf, Module):
            inner.append(leaf)
    for submodule in inner:
        yield from _flatten(submodule, recursive, wanted, seen)


def _leaves(module: Module) -> Iterator:
    """The leaves of each attribute, in the order of the attributes' names."""
    attributes = vars(module)
    for name in sorted(attributes):
        yield from _walk(attributes[name])


def _walk(value: Any) -> Iterator:
    """The leaves of lists, tuples and dictionaries; keys of a dictionary are sorted."""
    if isinstance(value, Mapping):
        value = [value[key] for key in sorted(value)]
    if nest.is_nested(value):
        for item in value:
            yield from _walk(item)
    else:
        yield value
