"""Classes that print under the names that they have in TensorFlow: ``print(type(x))``."""

from __future__ import annotations

from typing import TypeVar

_Class = TypeVar("_Class")


class PrintName(type):
    """The metaclass of such classes: ``_module`` in the body of the class is the module that its name is printed with.

    Classes derived from them print as any other class does.
    """

    def __repr__(cls) -> str:
        module = vars(cls).get("_module")
        return super().__repr__() if module is None else f"<class '{module}.{cls.__name__}'>"
