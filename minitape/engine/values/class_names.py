"""Classes that print under the names that they have in TensorFlow: ``print(type(x))``."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TypeVar

_Class = TypeVar("_Class")


class PrintName(type):
    """The metaclass of such classes: ``_module`` in the body of the class is the module that its name is printed with.

    Classes derived from them print as any other class does.
    """

    def __repr__(cls) -> str:
        module = vars(cls).get("_module")
        return super().__repr__() if module is None else f"<class '{module}.{cls.__name__}'>"


def methods_of(owner: str, *names: str) -> Callable[[type[_Class]], type[_Class]]:
    """Decorator of classes: Python's errors for wrong calls of the methods (some of them, or all) name ``owner``."""

    def decorate(cls: type[_Class]) -> type[_Class]:
        for name, member in vars(cls).items():
            function = getattr(member, "__func__", member)
            if isinstance(function, FunctionType) and (not names or name in names) and function.__name__ == name:
                function.__qualname__ = f"{owner}.{name}"
        return cls

    return decorate
