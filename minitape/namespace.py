"""Namespaces of ``tf``: which names they offer, and what they say of a name that is not there.

``lazy`` is for a namespace whose names live in several modules, each loaded when it is first asked for; ``public`` for
a module that holds its names itself, beside imports and helpers that are nobody's business.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection
from typing import Any


def public(namespace: str, names: Collection[str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of the module behind ``namespace``, which offers ``names`` (its ``__all__``).

    Only these are listed and completed. A name that is not there raises AttributeError with the nearest one that is.

    >>> import minitape as tf
    >>> dir(tf.keras.constraints)[:3]
    ['Constraint', 'MaxNorm', 'MinMaxNorm']
    """

    def find(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        from .api import missing

        raise AttributeError(missing(namespace, name, names))

    return find, lambda: sorted(names)


def lazy(
    namespace: str, homes: dict[str, str], space: dict[str, Any]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a module that stands for ``namespace``.

    ``homes`` maps modules of minitape to the names they give; ``space`` is the module's globals, where found names
    stay. A name that is not there raises AttributeError with the nearest one that is.

    >>> import minitape as tf
    >>> try:
    ...     tf.math.reduce_sums
    ... except AttributeError as error:
    ...     print(error)
    minitape has no 'tf.math.reduce_sums' (did you mean 'tf.math.reduce_sum'?)
    """
    home = {name: module for module, names in homes.items() for name in names.split()}
    refuse, listed = public(namespace, home)

    def find(name: str) -> Any:
        if name not in home:
            return refuse(name)
        space[name] = found = getattr(importlib.import_module(f"minitape.{home[name]}"), name)
        return found

    return find, listed


class Namespace:
    """A namespace below one that is a module, such as ``tf.math.special``.

    >>> import minitape as tf
    >>> tf.math.special
    <namespace tf.math.special>
    """

    def __init__(self, name: str, homes: dict[str, str]) -> None:
        self.__name = name
        self.__find, self.__names = lazy(name, homes, self.__dict__)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self.__find(name)

    def __dir__(self) -> list[str]:
        return self.__names()

    def __repr__(self) -> str:
        return f"<namespace {self.__name}>"
