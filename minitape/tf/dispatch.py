"""Functions of ``tf`` that also take ragged or sparse tensors.

Plain tensors must not pay for them: only when the first composite value is made, the modules of composites give the
functions their own versions (``install``). A function that was taught looks at its arguments and calls the composite
version when one of them is composite, else its plain self. It is the same object as before: in
``tf.reduce_sum(tf.ragged.constant(...))`` Python has fetched the function before the first ragged tensor is there.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from .. import tf
from ..engine.code import define

_installed: dict[str, dict[type, Callable[..., Any]]] = {}  # name of tf -> class -> version


def install(kind: type, versions: dict[str, Callable[..., Any]]) -> None:
    """Gives functions of ``tf`` (named "add", "strings.lower", ...) a version for a class of composite values.

    A version is called as ``version(plain_function, *args, **kwargs)``. A name stands for the function of ``tf`` and
    that of ``tf.math``, where there are two; LookupError where there is none.
    """
    for given, version in versions.items():
        found = [(name, function) for name in (given, f"math.{given}") if (function := _find(name)) is not None]
        if not found:
            raise LookupError(f"There is no tf.{given} that could have a version for {kind.__name__}.")
        for name, function in found:
            _give(name, function, kind, version)


def _give(name: str, function: Any, kind: type, version: Callable[..., Any]) -> None:
    if name in _installed:
        _installed[name][kind] = version
        return
    if not hasattr(function, "_versions"):  # else it is another name of one that was taught already
        _installed[name] = {}
        _teach(function, _installed[name])
    function._versions[kind] = version


def plain(function: Any) -> Any:
    """The function as it is for plain tensors."""
    return getattr(function, "_plain", function)


def _find(name: str) -> Any:
    found: Any = tf
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except (AttributeError, ImportError):
            return None
    return found


def _teach(function: FunctionType, versions: dict[type, Callable[..., Any]]) -> None:
    """Makes a function choose among versions of itself; what it was until now stays as ``_plain``."""
    before = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    before.__kwdefaults__ = function.__kwdefaults__
    functools.update_wrapper(before, function)
    vars(before).pop("__wrapped__")
    vars(before).update(vars(function))

    def choose(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for value in (*args, *kwargs.values()):
            kind = _kind(value, versions)
            if kind is not None:
                return versions[kind](before, *args, **kwargs)
        return before(*args, **kwargs)

    function.__code__ = _choosing(len(function.__code__.co_freevars)).replace(co_name=function.__name__)
    function.__defaults__, function.__kwdefaults__ = None, {"_choose": choose}
    vars(function).setdefault("__wrapped__", before)
    function._plain, function._versions = before, versions


@functools.cache
def _choosing(free: int) -> CodeType:
    """The code of a function that was taught; it must have as many free variables as the code in whose place it is."""
    names = ", ".join(f"v{i}" for i in range(free))
    source = (f"def outer({names}):\n def taught(*args, _choose, **kwargs):\n  return _choose(args, kwargs)\n"
              f"  {names or 'None'}\n return taught")  # fmt: skip
    return define(source, "<tf.dispatch>", {})["outer"](*range(free)).__code__


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
