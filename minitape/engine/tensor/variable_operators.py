"""Define the operators of variables, which compute with the variable's current state.

In-place operators such as ``v += 1`` raise RuntimeError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..table.accelerator import fast
from ..table.primitives import TABLE
from ..types import Function, Result, Value
from .operators import ARITHMETIC
from .tensor import Tensor


class VariableOperators:
    """A mixin that adds Python's operators to variables.

    A class that uses this mixin has a method ``_read_and_watch``, which returns the current state as a tensor.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        def _read_and_watch(self) -> Tensor: ...


def _add_operator(method: str, operator: Function) -> None:
    operator.__name__ = method
    operator.__qualname__ = f"VariableOperators.{method}"
    setattr(VariableOperators, method, operator)


def _build_operator_on_state(method: str) -> Function:
    """Build an operator that applies the same operator to the variable's state.

    ``minitape.speed`` passes the state itself instead of the variable.
    """

    def call_on_state(self: Value, *operands: Value) -> Result:
        tensor = self._read_and_watch() if isinstance(self, VariableOperators) else self
        return getattr(tensor, method)(*operands)

    return call_on_state


def _build_refusing_operator(text: str) -> Function:
    def refuse_operator(self: object, other: object) -> Result:
        raise RuntimeError(text)

    return refuse_operator


_FORWARDED = "bool int float complex neg abs invert eq ne lt le gt ge matmul and or xor rmatmul rand ror rxor"
for _name in _FORWARDED.split():
    _add_operator(f"__{_name}__", _build_operator_on_state(f"__{_name}__"))
for _name, _primitive in ARITHMETIC.items():
    for _method in (f"__{_name}__", f"__r{_name}__"):
        _add_operator(
            _method,
            fast.get_fast_operation_function(
                _build_operator_on_state(_method),
                TABLE[_primitive],
                _method,
                reflected=_method.startswith("__r"),
                reads=True,
            ),
        )
for _name, _symbol in (("add", "+"), ("sub", "-"), ("mul", "*"), ("truediv", "/"), ("pow", "**")):
    _call = f"_{_name}(value)" if _symbol in "+-" else f"(variable {_symbol} value)"
    _text = (
        f"`variable {_symbol}= value` with `tf.Variable`s is not supported. Use `variable.assign{_call}` to modify the "
        f"variable, or `out = variable {_symbol} value` if you need to get a new output Tensor."
    )
    _add_operator(f"__i{_name}__", _build_refusing_operator(_text))
