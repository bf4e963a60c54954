"""The operators of tensors: what ``a + b``, ``2 * a`` or ``a < b`` do.

On scalar rows, and on rows of small arrays, an arithmetic operator only writes its row. Everything else goes through
:func:`minitape.operation.binary` and its checks.
"""

from __future__ import annotations

from functools import lru_cache
from sys import _getframe
from types import FrameType
from typing import Any

import numpy as np

from . import dtypes
from .columns import number_leaf
from .evidence import born
from .invalid import invalid
from .lane import Wide
from .late import put_off
from .opdefs import refused_operand
from .operation import apply, binary, check_same_dtype
from .primitives import TABLE, Primitive
from .primitives.blocks import LARGE as BLOCKS
from .quiet import hush, restore
from .record import REALS, Record
from .slices import IndexedSlices
from .state import state
from .tensor import EagerTensor, Tensor, bare, tensor_of_row, wrap

# the operators that write rows: Python's name -> the primitive's
ARITHMETIC = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "pow", "floordiv": "floordiv",
    "mod": "mod",
}  # fmt: skip
LARGE = float(np.finfo(np.float32).max)  # numbers beyond it are infinite in float32, or too large for any float


def _number(x: Tensor, y: float) -> Any:
    """A Python number as an operand of a float tensor; a recording meets the same number as the same tensor."""
    dtype, record = x.dtype, state.record
    if not dtype.differentiable:
        return y
    kind = dtype.as_numpy_dtype
    if record is None and state.graph is None and y != 0:  # 0.0 and -0.0 are one key
        return _known_number(y, kind)
    key = (y, dtype.name)
    if record is not None and key in record.numbers:
        return record.numbers[key]
    made = _made_number(y, kind)
    if record is not None and y != 0:
        record.numbers[key] = made
    return made


def _made_number(y: float, kind: Any) -> EagerTensor:
    before = hush()
    try:
        return bare(kind(y))
    except OverflowError:
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.") from None
    finally:
        restore(before)


_known_number = lru_cache(256, typed=True)(_made_number)  # outside a recording, where no tensor gets a row


def _beside(primitive: Primitive, x: Any, y: Any) -> Any:
    """A Python number beside plain floats, outside any recording: the usual case of what is not to be differentiated.

    It comes as NumPy combines it fastest with the value of ``x``; None for what needs more thought.
    """
    if (type(y) is not float and type(y) is not int) or type(x) is not EagerTensor or x._lane is not None:
        return None
    value = x._value
    kind = value.dtype.type
    if kind not in REALS or y == 0 or abs(y) > LARGE or state.record is not None or state.graph is not None:
        return None
    leaf, number = number_leaf(y, kind)
    return leaf.array if value.ndim and primitive.name != "pow" else number  # an exponent is looked at


def _other(x: Tensor, y: Any, strict: bool = True) -> Any:
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


def write(lane: Any, code: int, a: int, b: int, frame: FrameType) -> EagerTensor | None:
    """Writes the row of an operation on rows of ``lane`` that the caller in ``frame`` asked for; its result.

    Returns None when nothing may be recorded now: the recording is closed, or another thread's.
    """
    if type(lane) is Wide:
        return write_wide(lane, code, a, b, frame)
    home = lane if type(lane) is Record else lane.home
    if home is None or (frame is not home.frame and not home.move(frame)):
        return None
    try:
        row = next(home.ahead)
    except StopIteration:
        home.pack()
        row = next(home.ahead)
    if home is not lane:
        home.meta[row] = lane.spec
    put = home.put
    put((code, a, b, frame.f_lasti))
    made = EagerTensor()  # as tensor_of_row() makes it
    made._lane, made._row = lane, row
    made._value = made._home = made._made = None
    return made


def write_wide(lane: Wide, code: int, a: int, b: int, frame: FrameType) -> EagerTensor | None:
    """The same on large arrays, which are only put off while a tape records."""
    record = lane.home
    if record is None or record is not state.record or record.watchers or not state.tapes:
        return None
    with record.lock:
        if not all(r in record.wide or r in record.arrays or r not in record.meta for r in (a, b)):
            return None  # computed meanwhile by another thread, and not kept
        if frame is not record.frame and not record.move(frame):
            return None
        row = lane.append(code, a, b, frame.f_lasti)
        lane.awaits(row)
        return tensor_of_row(lane, row)


def row_of(lane: Any, b: Any) -> int | None:
    """The row of the other operand of an operation on a row of ``lane``; None for one that needs more thought.

    Rows of the same lane, scalar rows beside a lane of arrays, Python numbers, variables, and tensors of such shapes
    that the recording did not meet before have one.
    """
    kind = type(b)
    if kind is float or kind is int:
        row = lane.constants.get(b)
        if row is None and not abs(b) > LARGE:
            home = _open(lane)
            return None if home is None else home.constant(float(b))
        return row
    if kind is not EagerTensor:
        if not hasattr(b, "_read"):
            return None
        b = b._read()
        if type(b) is not EagerTensor:  # of a graph that is being built
            return None
    own, home = b._lane, lane if type(lane) is Record else lane.home
    if own is not None and (own is lane or own is home):
        return b._row
    if own is None:
        shape, real = b._value.shape, b._value.dtype.type
    else:
        shape, real = own.shape, own.real
    if real is not lane.real or (shape and (shape != lane.shape or type(lane) is Wide)) or _open(lane) is None:
        return None
    return home.enter(b, level=4)


def _open(lane: Any) -> Any:
    """The recording of a lane, where it takes rows of this thread now; else None."""
    home = lane if type(lane) is Record else lane.home
    return home if home is not None and home.open and home is state.record else None


def _fast_operator(name: str, primitive: Primitive, slow: Any, slow_reversed: Any) -> None:
    """Installs a binary operator and its reflection. On scalar rows they only write a row; the rest is ``slow``."""
    code = primitive.code

    def operator(a: EagerTensor, b: Any) -> Any:
        lane = a._lane
        if lane is not None:
            if type(b) is EagerTensor and b._lane is lane:
                other: int | None = b._row
            elif (type(b) is float or type(b) is int) and b in lane.constants:
                other = lane.constants[b]
            else:
                other = row_of(lane, b)
            if other is not None:
                frame = _getframe(1)
                if frame is lane.frame:  # of scalar rows: what write() does, without the calls
                    try:
                        row = next(lane.ahead)
                    except StopIteration:
                        lane.pack()
                        row = next(lane.ahead)
                    put = lane.put  # found faster than a method is
                    put((code, a._row, other, frame.f_lasti))
                    made = EagerTensor()
                    made._lane, made._row = lane, row
                    made._value = made._home = made._made = None
                    return made
                made = write(lane, code, a._row, other, frame)
                if made is not None:
                    return made
        own = b._lane if type(b) is EagerTensor else None
        if own is not None and own is not lane:  # a number or a tensor that is new here, and a row
            other = row_of(own, a)
            made = None if other is None else write(own, code, other, b._row, _getframe(1))
            if made is not None:
                return made
        return slow(a, b)

    def reflected(a: EagerTensor, b: Any) -> Any:
        lane = a._lane
        if lane is not None:
            other = row_of(lane, b)
            if other is not None:
                made = write(lane, code, other, a._row, _getframe(1))
                if made is not None:
                    return made
        return slow_reversed(a, b)

    for function, label in ((operator, f"__{name}__"), (reflected, f"__r{name}__")):
        function.__name__ = function.__qualname__ = label
        function.__doc__ = f"{primitive.texts[0]}, elementwise." if label[2] != "r" or name == "rsub" else None
        setattr(EagerTensor, label, function)


def _fast_unary(name: str, primitive: Primitive, slow: Any) -> None:
    """The same for an operator of one operand."""
    code = primitive.code

    def operator(a: EagerTensor) -> Any:
        lane = a._lane
        made = None if lane is None else write(lane, code, a._row, a._row, _getframe(1))
        return slow(a) if made is None else made

    operator.__name__ = operator.__qualname__ = name
    operator.__doc__ = f"{primitive.texts[0]}, elementwise."
    setattr(EagerTensor, name, operator)


def _left_to_other(name: str, a: Any, b: Any, error: Exception) -> Any:
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


def _alike(a: Any, b: Any) -> bool:
    """Whether two tensors are floats of one dtype and shape, or ``a`` is a number, or ``b`` has the last axes of ``a``.

    Arithmetic has nothing to check about such: this is the usual case, a few times faster than the checks.
    """
    if type(a) is not EagerTensor or type(b) is not EagerTensor or a._lane is not None or b._lane is not None:
        return False
    x, y = a._value, b._value
    if x.dtype is not y.dtype or x.dtype.type not in REALS:
        return False
    return x.shape[x.ndim - y.ndim :] == y.shape if x.ndim else True


def _broadcast(primitive: Primitive, a: Any, b: Any) -> EagerTensor | None:
    """The result of an operation on float arrays of unlike shapes that is put off; None where more is to be asked."""
    record = state.record
    if state.graph is not None or type(a) is not EagerTensor or type(b) is not EagerTensor or record.watchers:
        return None
    x = a._value if a._lane is None else a._lane
    y = b._value if b._lane is None else b._lane
    if x.shape == y.shape or not x.shape or not y.shape or x.dtype is not y.dtype or x.dtype.type not in REALS:
        return None
    place = put_off(record, primitive, (a, b), {})
    return None if place is None else tensor_of_row(*place)


def _computed(primitive: Primitive, x: Any, y: Any, inputs: tuple[EagerTensor, ...]) -> EagerTensor:
    """The result of an operation on plain floats outside any recording: what ``apply`` does, without its questions."""
    before = hush()
    try:
        small = x.size < BLOCKS > y.size
        made = bare(primitive.plain[0](None, None, x, y) if small else primitive.forward(x, y))
    finally:
        restore(before)
    made._made = born("op", inputs, primitive, 5)  # the user called an operator, that `slow`, that perhaps `run`
    return made


def _slow_pair(name: str, primitive: Primitive, prepare: Any = None, strict: bool = True) -> tuple[Any, Any]:
    from .convert import convert_to_tensor

    arithmetic = name in ARITHMETIC

    def run(a: Any, b: Any) -> Any:
        made = _broadcast(primitive, a, b) if arithmetic and state.record is not None else None
        if made is not None:
            return made
        if arithmetic and _alike(a, b):
            outside = state.record is None and state.graph is None
            return _computed(primitive, a._value, b._value, (a, b)) if outside else apply(primitive, (a, b), {})
        return binary(primitive, a, b) if prepare is None else prepare(primitive, a, b)

    def slow(a: Any, b: Any) -> Any:
        if type(b) is not EagerTensor:
            number = _beside(primitive, a, b) if arithmetic else None
            if number is not None:
                return _computed(primitive, a._value, number, (a,))
            try:
                b = _other(a, b, strict and not (prepare is _multiply and _is_bool(a)))
            except (TypeError, ValueError) as error:
                asked = strict and state.graph is not None and not (prepare is _multiply and _is_bool(a))
                refused = refused_operand(primitive.op, a, b, error) if asked else error
                return _left_to_other(name, a, b, refused)
            if b is NotImplemented:
                return b
        return run(a, b)

    def slow_reversed(a: Any, b: Any) -> Any:
        number = _beside(primitive, a, b) if arithmetic else None
        if number is not None:
            return _computed(primitive, number, a._value, (a,))
        if type(b) is float or type(b) is int:
            b = _number(a, b)
        elif hasattr(b, "_composite") and type(b) is not IndexedSlices:
            return NotImplemented
        if not isinstance(b, Tensor):
            b = convert_to_tensor(b, a.dtype)
        return run(b, a)

    return slow, slow_reversed


def float_quotient(a: Any, b: Any) -> tuple[Any, Any]:
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


def _divide(primitive: Primitive, a: Any, b: Any) -> Any:
    return binary(primitive, *float_quotient(a, b))


def _multiply(primitive: Primitive, a: Any, b: Any) -> Any:
    """Products; with a bool among the factors the result is their logical and, as in TensorFlow."""
    if not (_is_bool(a) or _is_bool(b)):
        return binary(primitive, a, b)
    return binary(TABLE["logical_and"], *(t if _is_bool(t) else TABLE["cast"](t, dtype=dtypes.bool) for t in (a, b)))


def _is_bool(t: Any) -> bool:
    return t._lane is None and t.dtype is dtypes.bool  # the rows of lanes are floats


def fit_matrices(a: Any, b: Any) -> bool:
    """Whether two tensors are matrices of one (native) dtype that can be multiplied: nothing more is to be asked then."""
    if type(a) is not EagerTensor or type(b) is not EagerTensor:
        return False
    x = a._value if a._lane is None else a._lane
    y = b._value if b._lane is None else b._lane
    return len(x.shape) == len(y.shape) == 2 and x.shape[1] == y.shape[0] and x.dtype is y.dtype


def _matmul(primitive: Primitive, a: Any, b: Any) -> Any:
    if fit_matrices(a, b):
        return apply(primitive, (a, b), {})
    from .linalg.products import matmul

    return matmul(a, b)


def _abs_of(a: Any) -> Primitive:
    if a.dtype.kind == "c":
        from .primitives import special  # noqa: F401 - fills the table

        return TABLE["complex_abs"]
    return TABLE["abs"]


def _logical(primitive: Primitive, a: Any, b: Any) -> Any:
    """Bools are combined as truth values, integers bit by bit."""
    if primitive.name == "logical_xor" and a.dtype.kind == "b":
        check_same_dtype("LogicalOr", a, b)  # TensorFlow has no kernel for it: it says what it makes it of
    return binary(primitive if a.dtype.kind == "b" else TABLE[primitive.name.replace("logical", "bitwise")], a, b)


def _compared(a: Any, b: Any, op: str) -> Any:
    try:
        return _other(a, b)
    except (TypeError, ValueError) as error:
        raise error if state.graph is None else refused_operand(op, a, b, error) from None


def _comparison(name: str, primitive: Primitive) -> None:
    def compare(a: Any, b: Any) -> Any:
        b = _compared(a, b, primitive.op)
        return b if b is NotImplemented else binary(primitive, a, b)

    setattr(Tensor, name, compare)


def _equality(name: str, primitive: Primitive, unlike: bool) -> None:
    def compare(a: Any, b: Any) -> Any:
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
        slow, slow_reversed = _slow_pair(name, primitive, prepare, strict=name not in ("add", "truediv"))
        _fast_operator(name, primitive, slow, slow_reversed)
        setattr(Tensor, f"__{name}__", slow)
        setattr(Tensor, f"__r{name}__", slow_reversed)
    for name, primitive_name, prepare in (
        ("matmul", "matmul", _matmul), ("and", "logical_and", _logical), ("or", "logical_or", _logical),
        ("xor", "logical_xor", _logical),
    ):  # fmt: skip
        slow, slow_reversed = _slow_pair(name, TABLE[primitive_name], prepare, strict=name != "matmul")
        setattr(Tensor, f"__{name}__", slow)
        setattr(Tensor, f"__r{name}__", slow_reversed)
    Tensor.__neg__ = lambda a: apply(TABLE["negative"], (a,), {})
    Tensor.__abs__ = lambda a: apply(_abs_of(a), (a,), {})
    _fast_unary("__neg__", TABLE["negative"], Tensor.__neg__)
    _fast_unary("__abs__", TABLE["abs"], Tensor.__abs__)
    Tensor.__invert__ = lambda a: apply(TABLE["logical_not" if a.dtype.kind == "b" else "bitwise_not"], (a,), {})
    for name, primitive_name in (("lt", "less"), ("le", "less_equal"), ("gt", "greater"), ("ge", "greater_equal")):
        _comparison(f"__{name}__", TABLE[primitive_name])
    _equality("__eq__", TABLE["equal"], False)
    _equality("__ne__", TABLE["not_equal"], True)
    Tensor.__hash__ = EagerTensor.__hash__
