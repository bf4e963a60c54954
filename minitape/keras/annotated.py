"""Classes that annotate the arguments with which they are made, as dataclasses do: losses and metrics of a function."""

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

    A class that a user derives from one of these has its arguments, or an ``__init__`` of its own.
    """

    _function: Any

    def __init_subclass__(cls, function: Any = None, **more: Any) -> None:
        super().__init_subclass__(**more)
        if function is None:
            return
        cls._function = staticmethod(function)
        kinds = inspect.get_annotations(cls)
        space: dict[str, Any] = {"defaults": {name: vars(cls)[name] for name in kinds}}
        parameters = ", ".join(f"{name}: {kind} = defaults['{name}']" for name, kind in kinds.items())
        arguments = ", ".join(f"{name}={name}" for name in kinds)
        text = _INIT.format(parameters=parameters, arguments=arguments)
        cls.__init__ = made = define(text, "<tf.keras>", space)["__init__"]
        made.__module__, made.__qualname__ = cls.__module__, f"{cls.__qualname__}.__init__"
        for name in kinds:
            delattr(cls, name)
