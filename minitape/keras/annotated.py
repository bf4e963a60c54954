"""Classes that annotate the arguments with which they are made, as dataclasses do: losses, metrics and schedules."""

from __future__ import annotations

import inspect
from typing import Any, dataclass_transform

from ..engine.code import define

_INIT = """
def __init__(self, {parameters}) -> None:
    self._take({arguments})
"""


@dataclass_transform()
class Annotated:
    """What ``class Name(Base, function=...)`` annotates are its arguments; they go to ``_take`` of the base, by their names.

    What stands beside the base becomes an attribute, ``_function``. A class without it, as users derive them, has the
    arguments of the one that it is derived from, or an ``__init__`` of its own. A base annotates what is no argument as a
    ``ClassVar``.

    >>> class Told(Annotated):
    ...     def _take(self, **arguments):
    ...         print(self._colour, arguments)
    >>> class Point(Told, colour="red"):
    ...     x: float
    ...     y: float = 0.5
    >>> _ = Point(1.0)
    red {'x': 1.0, 'y': 0.5}
    """

    def __init_subclass__(cls, **beside: Any) -> None:
        super().__init_subclass__()
        if not beside:
            return
        for name, value in beside.items():
            setattr(cls, f"_{name}", staticmethod(value) if callable(value) else value)
        kinds = inspect.get_annotations(cls)
        defaults = {name: vars(cls)[name] for name in kinds if name in vars(cls)}
        begin = {name: f" = defaults[{name!r}]" if name in defaults else "" for name in kinds}
        parameters = ", ".join(f"{name}: {kind}{begin[name]}" for name, kind in kinds.items())
        arguments = ", ".join(f"{name}={name}" for name in kinds)
        text = _INIT.format(parameters=parameters, arguments=arguments)
        cls.__init__ = made = define(text, "<tf.keras>", {"defaults": defaults})["__init__"]
        made.__module__, made.__qualname__ = cls.__module__, f"{cls.__qualname__}.__init__"
        for name in defaults:
            delattr(cls, name)
