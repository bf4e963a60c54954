"""Classes that print under the names that they have in TensorFlow: ``print(type(x))``."""

from __future__ import annotations


class Shown(type):
    """The metaclass of such classes: ``_shown`` in the body of the class is the module that its name is printed with.

    Classes derived from them print as any other class does.

    >>> from minitape.shown import Shown
    >>> class Point(metaclass=Shown):
    ...     _shown = "geometry"
    >>> Point
    <class 'geometry.Point'>
    """

    def __repr__(cls) -> str:
        module = vars(cls).get("_shown")
        return super().__repr__() if module is None else f"<class '{module}.{cls.__name__}'>"
