"""The operators of tensors: what ``a + b``, ``2 * a`` or ``a < b`` do.

Arithmetic on floats of one dtype is written out once, from the text of the table of derivatives, for it runs most
often: compute, append a row, make a tensor. Everything else goes through :func:`minitape.engine.operation.binary` and its checks.
"""

from __future__ import annotations

from functools import lru_cache
from sys import _getframe
from typing import TYPE_CHECKING

import numpy as np

from . import dtypes
from .above import above
from .code import define
from .evidence import computed
from .invalid import invalid
from .opdefs import refused_operand
from .operation import apply, binary, check_same_dtype
from .primitives import TABLE, Primitive
from .primitives.elementwise import LARGE, form_of
from .quiet import hush, restore
from .rows import FLOATS, FULL, REALS, WIDTH
from .slices import IndexedSlices
from .state import state
from .tensor import EagerTensor, Tensor, wrap

if TYPE_CHECKING:
    from .typed import Array, Function, NumPyType, Object, Result, Value

# Python's name -> the primitive's
ARITHMETIC = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "pow", "floordiv": "floordiv",
    "mod": "mod",
}  # fmt: skip


def _number(x: Tensor, y: float) -> Value:
    """A Python number as an operand of a float tensor; a recording meets the same number as the same tensor."""
    dtype, record = x.dtype, state.record
    if not dtype.differentiable:
        return y
    kind = dtype._numpy
    if record is not None and y != 0 and (found := record.numbers.get((y, kind))) is not None:
        return found
    try:
        value = _converted(y, kind) if y != 0 else kind(y)  # 0.0 and -0.0 are one key
    except OverflowError:
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.") from None
    made = EagerTensor()
    made._value, made._record, made._origin = value, None, None
    if record is not None:
        record.enter_number(made, y)
    return made


@lru_cache(1024, typed=True)
def _converted(y: float, kind: NumPyType) -> Array:
    before = hush()
    try:
        return kind(y)
    finally:
        restore(before)


def _other(x: Tensor, y: Value, strict: bool = True) -> Value:
    """The right operand of an operator as a tensor, or NotImplemented when its own class must decide."""
    kind = type(y)
    if kind is float or kind is int:
        y = _number(x, y)
    if isinstance(y, Tensor):
        return y
    if hasattr(y, "_read"):
        return y._read()
    if hasattr(y, "_composite"):
        return y._to_tensor() if type(y) is IndexedSlices else NotImplemented
    from .convert import convert_operand

    return convert_operand(y, x.dtype, strict)


# What runs most often, written out once for each operator: both operands are floats of one dtype that fit. A number whose
# inputs the recording knows is one row more; an array is written by ``record.write``; where nothing records, the tensor gets
# a note for `explain` (see minitape.engine.evidence.read). All else is left to ``general``.
_FLOATS = """
def {name}(a, b):
    record, frame = a._record, _getframe(1)
    if record is not None:
        site = frame.f_lasti if frame is record.frame else record.site_of(frame)
        if site is not None:
            if type(b) is EagerTensor:
                other = b if b._record is record else None
            else:
                other = record.numbers.get(b) if type(b) is float or type(b) is int else None
            if other is not None:
                {x}, {y} = a._value, other._value
                kind = type(x)
                if kind is type(y) and (kind is float32 or kind is float64):
                    place = len(record.rows)
                    if place < FULL:
                        before = hush()
                        try:
                            value = {formula}
                        finally:
                            restore(before)
                        record.put(({code}, {a}._row, {b}._row, site, value))
                        made = EagerTensor()
                        made._value, made._record, made._origin = value, record, None
                        made._row = record.base + place // WIDTH
                        return made
    other = b
    if type(b) is not EagerTensor:
        other = number(a, b) if type(b) is float or type(b) is int else b._read() if hasattr(b, "_read") else b
        if type(other) is not EagerTensor:
            return general(a, other)
    {x}, {y} = a._value, other._value
    if type(x) is not type(y) or type(x) not in REALS:
        if x.dtype is not y.dtype or x.dtype not in FLOATS or x.size >= LARGE or y.size >= LARGE:
            return general(a, other)
        if x.shape != y.shape and x.shape and y.shape and x.shape[x.ndim - y.ndim :] != y.shape:
            return general(a, other)
    record = state.record
    if record is not None and record.lasting:  # a graph
        return general(a, other)
    before = hush()
    try:
        value = {formula}
    finally:
        restore(before)
    made = EagerTensor()
    made._value, made._record, made._origin = value, None, None
    if record is None:
        made._origin = computed(primitive, frame, a, None if type(b) is float or type(b) is int else other)
    else:
        record.pair(primitive, {a}, {b}, made, frame)
    return made
"""


def _float_operator(name: str, primitive: Primitive, general: tuple[Function, Function]) -> None:
    """Installs a binary operator and its reflection."""
    formula, code = primitive.texts[0], primitive.code

    def compute(x: Array, y: Array) -> Array:
        return form_of(code, x if type(y) is not np.ndarray else y).forward(None, None, x, y)

    if "(" in formula:  # more than an operator of Python's: the functions differ by the kind of value
        formula = "compute(x, y)"
    for label, x, y in ((f"__{name}__", "x", "y"), (f"__r{name}__", "y", "x")):
        first, second = ("a", "other") if x == "x" else ("other", "a")
        text = _FLOATS.format(name=label, x=x, y=y, a=first, b=second, code=code, formula=formula)
        space: dict[str, Object] = {"general": general[0] if x == "x" else general[1], "number": _number, "primitive": primitive,
                 "EagerTensor": EagerTensor, "REALS": REALS, "FLOATS": FLOATS, "LARGE": LARGE, "FULL": FULL,
                 "WIDTH": WIDTH, "compute": compute, "hush": hush, "restore": restore, "state": state, "computed": computed,
                 "float32": np.float32, "float64": np.float64, "_getframe": _getframe}  # fmt: skip
        function = define(text, "<formula operator>", space)[label]
        function.__qualname__ = label
        function.__doc__ = f"{primitive.texts[0]}, elementwise." if x == "x" or name == "rsub" else None
        setattr(EagerTensor, label, function)


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


def _pair(name: str, primitive: Primitive, prepare: Function | None = None, strict: bool = True) -> tuple[Function, Function]:
    """An operator and its reflection for operands of any kind."""
    from .convert import convert_to_tensor

    def run(a: Value, b: Value) -> Result:
        return binary(primitive, a, b) if prepare is None else prepare(primitive, a, b)

    def direct(a: Value, b: Value) -> Result:
        if type(b) is not EagerTensor:
            try:
                b = _other(a, b, strict and not (prepare is _multiply and _is_bool(a)))
            except (TypeError, ValueError) as error:
                asked = strict and state.graph is not None and not (prepare is _multiply and _is_bool(a))
                refused = refused_operand(primitive.op, a, b, error) if asked else error
                return _left_to_other(name, a, b, refused)
            if b is NotImplemented:
                return b
        return run(a, b)

    def reflected(a: Value, b: Value) -> Result:
        if type(b) is float or type(b) is int:
            b = _number(a, b)
        elif hasattr(b, "_composite") and type(b) is not IndexedSlices:
            return NotImplemented
        if not isinstance(b, Tensor):
            b = convert_to_tensor(b, a.dtype)
        return run(b, a)

    return direct, reflected


def float_quotient(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
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
        names = ("uint8 int8 uint16 int16 uint32 int32 uint64 int64 bfloat16 float16 float32 float64 complex64 "
                 "complex128").split()  # fmt: skip
        raise TypeError(
            f"Invalid dtype {a.dtype!r} in __truediv__. Expected one of {{{', '.join('tf.' + n for n in names)}}}."
        )
    return a, b


def _divide(primitive: Primitive, a: Tensor, b: Tensor) -> Tensor:
    return binary(primitive, *float_quotient(a, b))


def _multiply(primitive: Primitive, a: Tensor, b: Tensor) -> Tensor:
    """Products; with a bool among the factors the result is their logical and, as in TensorFlow."""
    if not (_is_bool(a) or _is_bool(b)):
        return binary(primitive, a, b)
    return binary(TABLE["logical_and"], *(t if _is_bool(t) else TABLE["cast"](t, dtype=dtypes.bool) for t in (a, b)))


def _is_bool(t: Tensor) -> bool:
    return t.dtype is dtypes.bool


def fit_matrices(a: Value, b: Value) -> bool:
    """Whether two tensors are matrices of one (native) dtype that can be multiplied: nothing more is to be asked then."""
    if type(a) is not EagerTensor or type(b) is not EagerTensor:
        return False
    x, y = a._value, b._value
    return len(x.shape) == len(y.shape) == 2 and x.shape[1] == y.shape[0] and x.dtype is y.dtype


def _matmul(primitive: Primitive, a: Value, b: Value) -> Tensor:
    if fit_matrices(a, b):
        return apply(primitive, (a, b), {})
    return above.matmul(a, b)


def _matmul_operator(general: Function) -> None:
    """Installs ``@``: two matrices that fit are multiplied without more questions."""
    primitive = TABLE["matmul"]

    def __matmul__(a: EagerTensor, b: Value) -> Result:
        b = b._read() if hasattr(b, "_read") else b
        return apply(primitive, (a, b), {}, _getframe(1)) if fit_matrices(a, b) else general(a, b)

    setattr(EagerTensor, __matmul__.__name__, __matmul__)


def _abs_of(a: Tensor) -> Primitive:
    if a.dtype.kind == "c":
        from .primitives import special  # noqa: F401 - fills the table

        return TABLE["complex_abs"]
    return TABLE["abs"]


def _logical(primitive: Primitive, a: Tensor, b: Tensor) -> Tensor:
    """Bools are combined as truth values, integers bit by bit."""
    if primitive.name == "logical_xor" and a.dtype.kind == "b":
        check_same_dtype("LogicalOr", a, b)  # TensorFlow has no kernel for it: it says what it makes it of
    return binary(primitive if a.dtype.kind == "b" else TABLE[primitive.name.replace("logical", "bitwise")], a, b)


def _compared(a: Tensor, b: Value, op: str) -> Value:
    try:
        return _other(a, b)
    except (TypeError, ValueError) as error:
        raise error if state.graph is None else refused_operand(op, a, b, error) from None


def _comparison(name: str, primitive: Primitive) -> None:
    def compare(a: Tensor, b: Value) -> Result:
        b = _compared(a, b, primitive.op)
        return b if b is NotImplemented else binary(primitive, a, b)

    setattr(Tensor, name, compare)


def _equality(name: str, primitive: Primitive, unlike: bool) -> None:
    def compare(a: Tensor, b: Value) -> Result:
        if b is None:
            return unlike
        b = _compared(a, b, primitive.op)
        if b is NotImplemented:
            return b
        try:
            return binary(primitive, a, b)
        except (type(invalid("")), ValueError) as error:
            if str(error).startswith(("Incompatible shapes", "Dimensions must be equal")):
                return wrap(np.bool_(unlike))
            raise

    setattr(Tensor, name, compare)


def install() -> None:
    """Gives the classes of tensors their operators, once the table of primitives is filled."""
    for name, primitive_name in ARITHMETIC.items():
        primitive = TABLE[primitive_name]
        prepare = {"mul": _multiply, "truediv": _divide}.get(name)
        pair = _pair(name, primitive, prepare, strict=name not in ("add", "truediv"))
        setattr(Tensor, f"__{name}__", pair[0])
        setattr(Tensor, f"__r{name}__", pair[1])
        _float_operator(name, primitive, pair)
    for name, primitive_name, prepare in (
        ("matmul", "matmul", _matmul), ("and", "logical_and", _logical), ("or", "logical_or", _logical),
        ("xor", "logical_xor", _logical),
    ):  # fmt: skip
        direct, reflected = _pair(name, TABLE[primitive_name], prepare, strict=name != "matmul")
        setattr(Tensor, f"__{name}__", direct)
        setattr(Tensor, f"__r{name}__", reflected)
    _matmul_operator(Tensor.__matmul__)
    methods: dict[str, Function] = {
        "__neg__": lambda a: apply(TABLE["negative"], (a,), {}),
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
