"""Functions of ``tf`` that also take ragged or sparse tensors.

Plain tensors must not pay for them: only when the first composite value is made, the modules of composites put their
own versions around the functions (``install``). A wrapped function looks at its arguments and calls the composite
version when one of them is composite, else the plain one.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

_installed: dict[str, dict[type, Callable[..., Any]]] = {}  # name of tf -> class -> version


def install(kind: type, versions: dict[str, Callable[..., Any]]) -> None:
    """Gives functions of ``tf`` (named "add", "math.log", ...) a version for a class of composite values.

    A version is called as ``version(plain_function, *args, **kwargs)``. Names that ``tf`` does not have are left out.
    """
    fresh = {}
    for name, version in versions.items():
        if name in _installed:
            _installed[name][kind] = version
            continue
        function = _find(name)
        if function is None:
            continue
        if hasattr(function, "_versions"):  # another name of a function that is wrapped already
            function._versions[kind] = version
            continue
        if id(function) in fresh:
            fresh[id(function)][1]._versions[kind] = version
            continue
        table = _installed[name] = {kind: version}
        fresh[id(function)] = (function, _wrapped(function, table))
    _rebind(fresh)


def plain(function: Any) -> Any:
    """The function as it is for plain tensors."""
    return getattr(function, "_plain", function)


def _find(name: str) -> Any:
    import minitape as tf

    found: Any = tf
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except (AttributeError, ImportError):
            return None
    return found


def _wrapped(function: Any, versions: dict[type, Callable[..., Any]]) -> Any:
    @functools.wraps(function)
    def either(*args: Any, **kwargs: Any) -> Any:
        for value in (*args, *kwargs.values()):
            kind = _kind(value, versions)
            if kind is not None:
                return versions[kind](function, *args, **kwargs)
        return function(*args, **kwargs)

    either._plain = function  # type: ignore[attr-defined]
    either._versions = versions  # type: ignore[attr-defined]
    return either


def _kind(value: Any, versions: dict[type, Callable[..., Any]]) -> type | None:
    """The composite class of a value, or of an element of a list."""
    kind = type(value)
    if kind in versions:
        return kind
    if kind is list or kind is tuple:
        for item in value:
            if type(item) in versions:
                return type(item)
    return None


def _rebind(fresh: dict[int, tuple[Any, Any]]) -> None:
    """Puts the wrapped functions wherever minitape's modules hold the plain ones."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] != "minitape" or module is None:
            continue
        for key, value in list(vars(module).items()):
            found = fresh.get(id(value))
            if found is not None and found[0] is value:
                setattr(module, key, found[1])
