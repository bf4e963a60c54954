"""The operators of tensors: what ``a + b``, ``2 * a`` or ``a < b`` do.

Arithmetic on floats of one dtype is written out once, from the text of the table of derivatives, for it runs most
often: compute, append a row, make a tensor. Everything else goes through
:func:`minitape.engine.tensor.operation.binary` and its checks.
"""

from __future__ import annotations

from sys import _getframe
from typing import TYPE_CHECKING

import numpy as np

from ..hooks import hooks
from ..table.accelerator import fast
from ..table.primitives import TABLE, Primitive
from ..values import dtypes
from ..values.invalid import invalid
from .convert import convert_operand, convert_to_tensor
from .functions import number
from .operation import apply, binary, check_same_dtype
from .tensor import EagerTensor, Tensor, new_tensor

if TYPE_CHECKING:
    from ..types import Function, Result, Value

# Python's name -> the primitive's
ARITHMETIC = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "pow": "pow",
    "floordiv": "floordiv",
    "mod": "mod",
}


def _other(x: Tensor, y: Value, strict: bool = True) -> Value:
    """The right operand of an operator as a tensor, or NotImplemented when its own class must decide."""
    kind = type(y)
    if kind is float or kind is int:
        y = number(x, y)
    if isinstance(y, Tensor):  # one that waits for a session has operators of its own
        return y if type(y) is EagerTensor else NotImplemented
    if hasattr(y, "_read"):
        return y._read()

    return convert_operand(y, x.dtype, strict)


def _left_to_other(name: str, a: Value, b: Value, error: Exception) -> Value:
    """An operand that is no tensor gets its turn before the error is raised: 3 * "ab" repeats, as in TensorFlow."""
    if isinstance(b, (np.ndarray, np.generic)) or (name != "or" and not hasattr(b, f"__r{name}__")):
        raise error
    method = getattr(b, f"__r{name}__")  # "or" does not ask whether there is one
    try:
        out = method(a)
    except TypeError:
        out = NotImplemented
    if out is NotImplemented:
        raise error
    return out


def _pair(
    name: str, primitive: Primitive, prepare: Function | None = None, strict: bool = True
) -> tuple[Function, Function]:
    """An operator and its reflection for operands of any kind."""

    def run(a: Value, b: Value) -> Result:
        return binary(primitive, a, b) if prepare is None else prepare(primitive, a, b)

    def direct(a: Value, b: Value) -> Result:
        if type(b) is not EagerTensor:
            try:
                b = _other(a, b, strict and not (prepare is _multiply and _is_bool(a)))
            except (TypeError, ValueError) as error:
                return _left_to_other(name, a, b, error)
            if b is NotImplemented:
                return b
        return run(a, b)

    def reflected(a: Value, b: Value) -> Result:
        if type(b) is float or type(b) is int:
            b = number(a, b)
        if not isinstance(b, Tensor):
            b = convert_to_tensor(b, a.dtype)
        return run(b, a)

    return direct, reflected


def float_quotient(a: Tensor, b: Tensor, op: str = "__truediv__") -> tuple[Tensor, Tensor]:
    """The operands of ``/``: integers are divided as floats (float32 for 8 and 16 bits, else float64).

    Raises TypeError when the dtypes differ or are no numbers.
    """
    if a.dtype is not b.dtype:
        raise TypeError(f"`x` and `y` must have the same dtype, got {a.dtype!r} != {b.dtype!r}.")
    if a.dtype.is_integer:
        wide = dtypes.float32 if a.dtype.size <= 2 else dtypes.float64
        cast = TABLE["cast"]
        return cast(a, dtype=wide), cast(b, dtype=wide)
    if a.dtype.kind in "bs":
        names = (
            "uint8 int8 uint16 int16 uint32 int32 uint64 int64 bfloat16 float16 float32 float64 complex64 complex128"
        ).split()
        raise TypeError(
            f"Invalid dtype {a.dtype!r} in {op}. Expected one of {{{', '.join('tf.' + n for n in names)}}}."
        )
    return a, b


def _multiply(primitive: Primitive, a: Tensor, b: Tensor) -> Tensor:
    """Products; with a bool among the factors the result is their logical and, as in TensorFlow."""
    if not (_is_bool(a) or _is_bool(b)):
        return binary(primitive, a, b)
    return binary(TABLE["logical_and"], *(t if _is_bool(t) else TABLE["cast"](t, dtype=dtypes.bool) for t in (a, b)))


def _is_bool(t: Tensor) -> bool:
    return t.dtype is dtypes.bool


def fit_matrices(a: Value, b: Value) -> bool:
    """Whether two tensors are matrices of one native dtype that can be multiplied, so that no other check is needed."""
    if type(a) is not EagerTensor or type(b) is not EagerTensor:
        return False
    x, y = a._value, b._value
    return len(x.shape) == len(y.shape) == 2 and x.shape[1] == y.shape[0] and x.dtype is y.dtype


def _matmul(primitive: Primitive, a: Value, b: Value) -> Tensor:
    if fit_matrices(a, b):
        return apply(primitive, (a, b), {})
    return hooks.matmul(a, b)


def _matmul_operator(general: Function) -> None:
    """Installs ``@``: two matrices that fit are multiplied without more questions."""
    primitive = TABLE["matmul"]

    def __matmul__(a: EagerTensor, b: Value) -> Result:
        if type(b) is not EagerTensor:
            if not hasattr(b, "_read"):
                return general(a, b)
            b = b._read()
        if type(b) is EagerTensor:
            x, y = a._value, b._value
            if x.ndim == y.ndim == 2 and x.shape[1] == y.shape[0] and x.dtype is y.dtype:
                return apply(primitive, (a, b), {}, _getframe(1))
        return general(a, b)

    setattr(EagerTensor, __matmul__.__name__, __matmul__)


def _abs_of(a: Tensor) -> Primitive:
    if a.dtype.kind == "c":
        from ..table.primitives import special  # noqa: F401 - fills the table

        return TABLE["complex_abs"]
    return TABLE["abs"]


def _logical(primitive: Primitive, a: Tensor, b: Tensor) -> Tensor:
    """Bools are combined as truth values, integers bit by bit."""
    if primitive.name == "logical_xor" and a.dtype.kind == "b":
        check_same_dtype("LogicalOr", a, b)  # TensorFlow has no kernel for it: it says what it makes it of
    return binary(primitive if a.dtype.kind == "b" else TABLE[primitive.name.replace("logical", "bitwise")], a, b)


def _comparison(name: str, primitive: Primitive) -> None:
    def compare(a: Tensor, b: Value) -> Result:
        b = _other(a, b)
        return b if b is NotImplemented else binary(primitive, a, b)

    setattr(Tensor, name, compare)


def _equality(name: str, primitive: Primitive, unlike: bool) -> None:
    def compare(a: Tensor, b: Value) -> Result:
        if b is None:
            return unlike
        b = _other(a, b)
        if b is NotImplemented:
            return b
        try:
            return binary(primitive, a, b)
        except (type(invalid("")), ValueError) as error:
            if str(error).startswith(("Incompatible shapes", "Dimensions must be equal")):
                return new_tensor(np.bool_(unlike))
            raise

    setattr(Tensor, name, compare)


def install() -> None:
    """Gives the classes of tensors their operators, once the table of primitives is filled."""
    for name, primitive_name in ARITHMETIC.items():
        primitive = TABLE[primitive_name]
        prepare = {"mul": _multiply, "truediv": lambda primitive, a, b: binary(primitive, *float_quotient(a, b))}.get(
            name
        )
        pair = _pair(name, primitive, prepare, strict=name not in ("add", "truediv"))
        setattr(Tensor, f"__{name}__", pair[0])
        setattr(Tensor, f"__r{name}__", pair[1])
        for label, general, exchanged in ((f"__{name}__", pair[0], False), (f"__r{name}__", pair[1], True)):
            operator = fast.function(general, primitive, label, reflected=exchanged)
            operator.__qualname__ = label
            operator.__doc__ = f"{primitive.texts[0]}, elementwise." if not exchanged or name == "sub" else None
            setattr(EagerTensor, label, operator)
    for name, primitive_name, prepare in (
        ("matmul", "matmul", _matmul),
        ("and", "logical_and", _logical),
        ("or", "logical_or", _logical),
        ("xor", "logical_xor", _logical),
    ):
        direct, reflected = _pair(name, TABLE[primitive_name], prepare, strict=name != "matmul")
        setattr(Tensor, f"__{name}__", direct)
        setattr(Tensor, f"__r{name}__", reflected)
    _matmul_operator(Tensor.__matmul__)
    negative, negation = TABLE["negative"], "__neg__"
    setattr(EagerTensor, negation, fast.function(lambda a: apply(negative, (a,), {}), negative, negation))
    methods: dict[str, Function] = {
        "__neg__": lambda a: apply(negative, (a,), {}),
        "__abs__": lambda a: apply(_abs_of(a), (a,), {}),
        "__invert__": lambda a: apply(TABLE["logical_not" if a.dtype.kind == "b" else "bitwise_not"], (a,), {}),
    }
    for name, method in methods.items():
        setattr(Tensor, name, method)
    for name, primitive_name in (("lt", "less"), ("le", "less_equal"), ("gt", "greater"), ("ge", "greater_equal")):
        _comparison(f"__{name}__", TABLE[primitive_name])
    _equality("__eq__", TABLE["equal"], False)
    _equality("__ne__", TABLE["not_equal"], True)
    setattr(Tensor, EagerTensor.__hash__.__name__, EagerTensor.__hash__)
