"""What AutoGraph needs to know of values: whether a tensor decides, and what a name is before its first assignment."""

from __future__ import annotations

import math
import sys
import traceback
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..engine.recording.state import state
from ..engine.table.primitives import TABLE
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.tensor import Tensor
from ..engine.values import dtypes, nest
from .symbolic import is_symbolic

if TYPE_CHECKING:
    from ..engine.types import Value
    from .types import Getter, Setter, Test

_PLAIN = (bool, int, float, complex, str, bytes, np.ndarray, np.generic)


LIMITS = (
    "https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/g3doc/reference/limitations.md"
)


class Undefined:
    """A local variable before its first assignment; using it raises what ``error`` makes, with the lines that made
    this.
    """

    __slots__ = ("_name", "_error", "_frames")

    def __init__(self, name: str, error: Callable[[], Exception] | None = None) -> None:
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_error", error)
        object.__setattr__(self, "_frames", None if error is None else _frames_of_trace())

    def fail(self) -> Exception:
        """The error for a use of the variable."""
        name = object.__getattribute__(self, "_name")
        error = object.__getattribute__(self, "_error")
        if error is not None:
            made = error()
            made._frames = object.__getattribute__(self, "_frames")  # of the statement, not of the use
            return made
        return UnboundLocalError(f"'{name}' is used before assignment")




def _frames_of_trace() -> list[traceback.FrameSummary]:
    """The frames below the function that is being traced, the outermost first."""
    frame: FrameType | None = sys._getframe(2)
    found = []
    while frame is not None and frame.f_code.co_name != "traced":  # the wrapper that convert_entry makes
        found.append(
            traceback.FrameSummary(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name, lookup_line=False)
        )
        frame = frame.f_back
    return found[::-1]


def _failing(name: str) -> None:
    def method(self: Undefined, *args: Any) -> Any:
        raise self.fail()

    setattr(Undefined, name, method)


for _method in (
    "add radd sub rsub mul rmul truediv rtruediv pow rpow getitem iter len call lt le gt ge neg matmul rmatmul bool "
    "float int str mod rmod floordiv rfloordiv abs round invert and rand or ror index contains setitem setattr"
).split():
    _failing(f"__{_method}__")




def copies(values: tuple) -> tuple:
    """The same values in containers of their own, so that a branch or loop may change them."""
    return tuple(nest.map_structure(lambda v: v, value) if nest.is_nested(value) else value for value in values)


class ChangedNames(NamedTuple):
    """The names that a branch or loop changes: how to get all of their values, how to put them back, what they are
    called; of a loop those that are ``alive`` when a turn begins, those that are alive ``later``, and its ``target``.
    """

    get: Getter
    put: Setter
    names: tuple[str, ...]
    alive: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    target: str | None = None


class _Missing:
    """What a branch without a return statement returns."""



MISSING = _Missing()


def decides(value: Value) -> bool:
    """Whether a tensor decides here: in a graph each does, also one that has a value already."""
    return state.graph is not None and isinstance(value, Tensor)


def is_value(value: Value) -> bool:
    """True for what can be a tensor of a graph."""
    return isinstance(value, (Tensor, *_PLAIN)) or hasattr(value, "_read")


def condition(test: Test, of: str) -> Any:
    """The scalar bool tensor that decides; ValueError for one of another dtype or of several elements."""
    test = convert_to_tensor(test)
    hint = "to check for None, use `is not None`"
    refused = f"condition of {of} expected to be `tf.bool` scalar, got {repr_of(test)}; "
    if test.dtype.kind != "b":
        raise ValueError(f"{refused}to use as boolean Tensor, use `tf.cast`; {hint}")
    if not test.shape.rank:
        return test
    if math.prod(n for n in test.shape.as_list() if n is not None) > 1:
        raise ValueError(refused + hint)
    return TABLE["reshape"](test, shape=())


def repr_of(tensor: Value) -> str:
    """A tensor as graphs print it; one with a value goes by a number, as what a function captures does."""
    if is_symbolic(tensor):
        return str(tensor)
    return f'Tensor("{id(tensor)}:0", shape={tensor.shape}, dtype={tensor.dtype.name})'


def boolean(value: Value) -> Any:
    """A tensor as a tensor of bools."""
    value = convert_to_tensor(value)
    return value if value.dtype.kind == "b" else TABLE["cast"](value, dtype=dtypes.bool)


def current(test: Test) -> Any:
    """A variable's value; anything else as it is."""
    return test._read() if hasattr(test, "_read") else test


def without_variables(value: Value) -> Any:
    """The same structure with the tensors that variables hold, where a loop or branch makes the names tensors."""
    leaves = nest.flatten(value)
    if any(not isinstance(v, Undefined) and hasattr(v, "_read") for v in leaves):
        return nest.map_structure(current, value)
    return value
