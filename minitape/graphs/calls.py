"""Calls in rewritten functions: the user's own functions are rewritten as well, those of Python take tensors."""

from __future__ import annotations

import functools
import inspect
import types
from typing import TYPE_CHECKING, Any

from ..engine.hooks import hooks
from ..engine.recording.frames import traced_file
from ..engine.recording.state import state
from ..engine.table.primitives import TABLE
from ..engine.tensor.tensor import Tensor
from ..engine.values import dtypes
from ..engine.values.dtypes import DType
from ..ops import elementwise
from ..ops.filling import range as range_of_tensors
from .loops import refuse_scalar
from .slicing import size_of
from .sources import convert_function
from .symbolic import is_symbolic
from .syntax import CanNotConvert
from .values import current

if TYPE_CHECKING:
    from ..engine.types import Function
    from .types import Arguments, Names

_NOT_CONVERTED = tuple(
    "numpy tensorflow functools itertools collections operator math random inspect typing contextlib logging warnings "
    "copy threading abc builtins".split()
)
_maximum = vars(elementwise)["maximum"]  # which a table makes


def call(function: Function, /, *args: Any, **kwargs: Any) -> Any:
    """A call inside a rewritten function: the user's own functions are rewritten as well."""
    replaced = _BUILTINS.get(function) if isinstance(function, (type, types.BuiltinFunctionType)) else None
    if replaced is not None and any(isinstance(a, Tensor) or hasattr(a, "_read") for a in args):
        return replaced(*args, **kwargs)
    if state.graph is None:
        return function(*args, **kwargs)
    if _own(function):
        return _own_call(function, args, kwargs)
    return rewritten(function)(*args, **kwargs)


def _own(function: Function) -> bool:
    module = getattr(function, "__module__", None) or ""
    return isinstance(module, str) and module.split(".")[0] in ("minitape", "tensorflow")


def _own_call(function: Function, args: Arguments, kwargs: Names) -> Any:
    """A function of minitape. One that needs values which only a run of the graph has is put off until then."""
    return function(*args, **kwargs)





def rewritten(function: Function) -> Any:
    """The rewritten form of a user's function; anything else as it is."""
    from . import autograph  # whose functions the rewritten ones call

    if isinstance(function, functools.partial):
        inner = rewritten(function.func)
        return functools.partial(inner, *function.args, **function.keywords)
    if isinstance(function, types.MethodType):
        if not isinstance(function.__func__, types.FunctionType):
            return function
        return types.MethodType(rewritten(function.__func__), function.__self__)
    if not isinstance(function, (types.FunctionType, type, types.BuiltinFunctionType)):
        method = getattr(type(function), "__call__", None)  # noqa: B004 - the function itself is wanted
        if isinstance(method, types.FunctionType) and not _library(method):
            return types.MethodType(rewritten(method), function)
        return function
    if not isinstance(function, types.FunctionType) or _library(function) or inspect.isgeneratorfunction(function):
        return function
    if inspect.iscoroutinefunction(function):
        return function
    try:
        return convert_function(function, autograph)
    except CanNotConvert:
        return function


def _library(function: types.FunctionType) -> bool:
    if not traced_file(function.__code__.co_filename):
        return True
    module = function.__module__ or ""
    return module.split(".")[0] in _NOT_CONVERTED


def _as_number(dtype: DType) -> Any:
    """Python's ``int`` or ``float`` for a symbolic tensor."""

    def convert(x: Any, base: Any = 10) -> Any:
        if base != 10:
            raise NotImplementedError(f"base {base} not supported for int")
        if x.dtype == dtypes.string:
            return hooks.to_number(x, dtype)
        return x if x.dtype == dtype else TABLE["cast"](x, dtype=dtype)

    return convert


def _length(x: Any) -> Any:
    refuse_scalar(x)
    return x.shape[0] if x.shape.rank and x.shape[0] is not None else size_of(x)


def _range(*args: Any) -> Any:
    if len(args) < 3:  # a limit under the start makes an empty range, as Python has it
        start, limit = (0, args[0]) if len(args) == 1 else args
        args = (start, _maximum(limit, start) if len(args) == 1 else _maximum(start, limit))
    return call(range_of_tensors, *args)


def _on_symbolic(name: Any, function: Function) -> Any:
    """A function of Python's with a way of its own for symbolic tensors and variables of a graph."""

    def replaced(*args: Any, **kwargs: Any) -> Any:
        args = tuple(map(current, args)) if state.graph is not None else args
        return (function if any(map(is_symbolic, args)) else name)(*args, **kwargs)

    return replaced


_BUILTINS: dict = {
    int: _on_symbolic(int, _as_number(dtypes.int32)),
    float: _on_symbolic(float, _as_number(dtypes.float32)),
    len: _on_symbolic(len, _length),
    range: _on_symbolic(range, _range),
}
