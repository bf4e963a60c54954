"""Tensors: immutable values, and how an operation on them is run and recorded.

A tensor holds a NumPy array or NumPy scalar, or it is a *scalar row* of an open recording: then it only knows the
recording (``_lane``) and its row, and its value is computed when somebody looks. Operators on scalar rows write their
row and return; everything else goes through :func:`apply`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from sys import _getframe
from typing import Any

import numpy as np

from . import dtypes
from .dtypes import DType
from .errors import invalid
from .evidence import EAGER, born, left
from .primitives import _TENSOR, TABLE, Primitive, declare, elementwise
from .quiet import hush, restore
from .record import FAST, Lane, Record, state
from .shape import TensorShape

SCALAR_DTYPES = {np.float32: dtypes.float32, np.float64: dtypes.float64}


class Tensor:
    """A multi-dimensional array of elements of one type; immutable.

    Make one with ``tf.constant`` or any operation. ``shape`` is a TensorShape, ``dtype`` a DType, ``numpy()`` the value.
    Operators broadcast as NumPy's do; both sides must have the same dtype.
    See https://www.tensorflow.org/api_docs/python/tf/Tensor.

    >>> import minitape as tf
    >>> x = tf.constant([[1.0, 2.0]])
    >>> x * 2 + 1
    <tf.Tensor: shape=(1, 2), dtype=float32, numpy=array([[3., 5.]], dtype=float32)>
    """

    __slots__ = ()
    __array_priority__ = 100
    __module__ = "tensorflow.python.framework.tensor"

    OVERLOADABLE_OPERATORS: frozenset[str] = frozenset()


_MODULE = "tensorflow.python.framework.ops"


_NUMPY_ONLY = ("T", "astype", "ravel", "transpose", "reshape", "clip", "size", "tolist", "data")


class _Named(type):
    """Gives a class the full name of TensorFlow's in Python's own error texts, as classes written in C have it."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
        return super().__new__(cls, f"{_MODULE}.{name}", bases, {**body, "__qualname__": name})

    __name__ = property(lambda cls: type.__dict__["__name__"].__get__(cls).rpartition(".")[2])  # type: ignore[assignment]


class EagerTensor(Tensor, metaclass=_Named):
    """A tensor with a value."""

    __slots__ = ("_lane", "_row", "_value", "_home", "_made", "__weakref__")
    __module__ = _MODULE

    def __init__(self, lane: Record, row: int) -> None:
        self._lane = lane
        self._row = row

    def __getattr__(self, name: str) -> Any:
        # slots that were never set: a scalar row has no value yet, a plain value no place in a recording
        if name == "_home":
            lane = self._lane
            return lane.home if type(lane) is Lane else None
        if name in ("_value", "_made"):
            return None
        if name == "assign":
            from .updates import sliced

            found = sliced(self)
            if found is not None:
                return found
        if name in _NUMPY_ONLY:
            raise AttributeError(
                f"{type(self).__name__} object has no attribute '{name}'. \n        If you are looking for numpy-related "
                "methods, please run the following:\n        tf.experimental.numpy.experimental_enable_numpy_behavior()\n      "
            )
        if name in ("name", "op", "graph", "value_index"):
            raise AttributeError(f"Tensor.{name} is undefined when eager execution is enabled.")
        raise AttributeError(f"'{_MODULE}.EagerTensor' object has no attribute '{name}'")

    # -- value --------------------------------------------------------------------------------------------------------

    @property
    def array(self) -> Any:
        """The value as minitape holds it: a NumPy scalar or an array that nobody may change."""
        value = self._value
        if value is None:
            lane = self._lane
            value = self._value = lane.value(self._row)
            if type(lane) is Lane and lane.home is None:
                self._lane = None  # the recording is gone: nothing to hold on to
        return value

    def numpy(self) -> Any:
        """The value as a NumPy array (a copy) or, for a tensor without axes, a NumPy scalar.

        >>> import minitape as tf
        >>> tf.constant([1.0, 2.0]).numpy()
        array([1., 2.], dtype=float32)
        """
        value = self._numpy()
        left(self, "numpy", value)
        return value

    def _numpy(self) -> Any:
        value = self.array
        if type(value) is np.ndarray:
            return value.copy() if value.ndim else value[()]
        return value

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        lane = self._lane
        return dtypes.of(self._value) if lane is None else SCALAR_DTYPES[lane.real]

    @property
    def shape(self) -> TensorShape:
        """The sizes of the axes."""
        return TensorShape.of(self._dims)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._dims)

    @property
    def _dims(self) -> tuple[int, ...]:
        lane = self._lane
        return self._value.shape if lane is None else lane.shape

    def get_shape(self) -> TensorShape:
        """The same as ``shape``."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Raises ValueError unless ``shape`` is compatible with the tensor's own."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"Tensor's shape {self.shape} is not compatible with supplied shape {TensorShape(shape)}.")

    def ref(self) -> Any:
        """A hashable reference to this very tensor (tensors themselves are unhashable)."""
        return Reference(self)

    experimental_ref = ref

    def consumers(self) -> Any:
        """Is of graphs only: NotImplementedError."""
        raise NotImplementedError("Tensor.consumers is undefined when eager execution is enabled.")

    @property
    def device(self) -> str:
        """Where the value lives: always the CPU."""
        return "/job:localhost/replica:0/task:0/device:CPU:0"

    backing_device = device

    def cpu(self) -> EagerTensor:
        """The tensor itself: it lives on the CPU."""
        return self

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Not there in eager mode: NotImplementedError."""
        raise NotImplementedError(
            "eval is not supported when eager execution is enabled, is .numpy() what you're looking for?"
        )

    @property
    def _id(self) -> int:
        return id(self)

    # -- Python's protocols -------------------------------------------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = np.asarray(self.array, dtype)
        if copy or (copy is None and array.ndim):
            array = array.copy()
        left(self, "asarray", array)
        return array

    def __float__(self) -> float:
        left(self, "float")
        return float(self._only_scalar())

    def __int__(self) -> int:
        left(self, "int")
        return int(self._only_scalar())

    def __complex__(self) -> complex:
        left(self, "complex")
        return complex(self._only_scalar())

    def __index__(self) -> int:
        return self.array.__index__()

    def __round__(self, digits: int = 0) -> Any:
        return self.astype(int)  # NumPy's protocol, which tensors refuse with its own words

    def __bool__(self) -> bool:
        left(self, "bool")
        value = self.array
        return bool(value) if value.size else False

    def _only_scalar(self) -> Any:
        value = self.array
        if value.ndim:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return value[()]

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("Scalar tensor has no `len()`")
        return self.array.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in range(len(self)))

    def __contains__(self, item: Any) -> bool:
        return any(bool(item == element) for element in self)

    def __getitem__(self, key: Any) -> Any:
        from .indexing import getitem  # takes this method's place

        return getitem(self, key)

    def __hash__(self) -> int:
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    def __copy__(self) -> EagerTensor:
        return self

    def __deepcopy__(self, memo: Any) -> EagerTensor:
        return self  # tensors never change

    def __reduce__(self) -> tuple[Any, ...]:
        left(self, "pickle")
        return _unpickle, (self._numpy(),)

    def __format__(self, spec: str) -> str:
        return self._numpy().__format__(spec)

    def __str__(self) -> str:
        return f"tf.Tensor({self._text()}, shape={self.shape}, dtype={self.dtype.name})"

    def __repr__(self) -> str:
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={self._text(repr)}>"

    def _text(self, show: Any = str) -> str:
        value = self._numpy()
        if not self.ndim:
            return repr(value.item()) if show is repr and hasattr(value, "item") else str(value)
        text = show(value)
        return "\n" + text if "\n" in text else text

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.startswith("_value")]


class Reference:
    """A hashable handle on a tensor or variable; equal when it is the very same object."""

    __slots__ = ("_referent",)

    def __init__(self, referent: Any) -> None:
        self._referent = referent

    def deref(self) -> Any:
        """The object itself."""
        return self._referent

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and other._referent is self._referent

    def __lt__(self, other: Reference) -> bool:
        return id(self._referent) < id(other._referent)

    def __hash__(self) -> int:
        return id(self._referent)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._referent!r}>"


def _unpickle(value: Any) -> EagerTensor:
    return wrap(np.asarray(value))


EAGER.append(EagerTensor)
_new = EagerTensor.__new__


def wrap(value: Any) -> EagerTensor:
    """A tensor around a NumPy scalar or an array that nobody else will change."""
    tensor = bare(value)
    if state.record is None:
        tensor._made = born("made")
    return tensor


def bare(value: Any) -> EagerTensor:
    """The same as ``wrap`` without a note of where the tensor was made: for results whose row says so."""
    if type(value) is np.ndarray:
        if not value.ndim and value.dtype != object:
            value = value[()]
    elif not isinstance(value, np.generic):
        value = np.asarray(value, object if isinstance(value, bytes) else None)
        if not value.ndim and value.dtype != object:
            value = value[()]
    tensor = _new(EagerTensor)
    tensor._value = value
    tensor._lane = tensor._home = tensor._made = None
    return tensor


# -- running an operation ---------------------------------------------------------------------------------------------


def apply(primitive: Primitive, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """Runs ``primitive`` on tensors, and writes its row when a tape is open.

    Returns one tensor, or a tuple when the forward function returned several arrays.
    """
    if state.graph is not None:
        return _symbolic(primitive, inputs, attrs)
    record = state.record
    if record is not None and primitive.code and not attrs:
        made = _fast_row(record, primitive, inputs)
        if made is not None:
            return made
    for t in inputs:
        if type(t) is not EagerTensor:
            return _symbolic(primitive, inputs, attrs)
    arrays = [t._value if t._lane is None else t.array for t in inputs]
    kinds = tuple([a.dtype for a in arrays])
    if kinds not in primitive.accepted:
        _accept(primitive, kinds)
    before = hush()
    try:
        out = primitive.forward(*arrays, **attrs)
    finally:
        restore(before)
    if type(out) is tuple:
        tensors = tuple([bare(o) for o in out])
        finish(primitive, inputs, attrs, tensors)
        return tensors
    tensor = bare(out)
    if record is not None and not record.watchers:
        record.call(primitive, inputs, attrs, (tensor,), bool(state.tapes))
    else:
        finish(primitive, inputs, attrs, (tensor,))
    return tensor


def _symbolic(primitive: Primitive, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    from .graphs.build import apply as build

    return build(primitive, inputs, attrs)


def _accept(primitive: Primitive, kinds: tuple[Any, ...]) -> None:
    """Raises what TensorFlow raises when its kernel does not take inputs of these dtypes; remembers them when it does."""
    from .opdefs import accept

    accept(primitive.op, *[dtypes.of_numpy(k) for k in kinds])
    primitive.accepted.add(kinds)


def finish(primitive: Primitive, inputs: tuple[Any, ...], attrs: dict[str, Any], tensors: tuple[Any, ...]) -> None:
    """Records an operation that has just computed ``tensors``."""
    record = state.record
    if record is not None:
        record.call(primitive, inputs, attrs, tensors, bool(state.tapes))
        if record.watchers:
            record.notify()
        return
    origin = born("op", inputs, primitive)  # outside any tape: a note for `explain`
    for tensor in tensors:
        tensor._made = origin


def _fast_row(record: Record, primitive: Primitive, inputs: tuple[Any, ...]) -> EagerTensor | None:
    """The row of an elementwise operation on scalars, or on small arrays of one shape; None for any other."""
    rows, lane = [], record
    for t in inputs:
        if type(t) is not EagerTensor:
            return None
        own = t._lane
        if own is None or (own is not record and own.home is not record):
            value = t._value if own is None else t.array
            if value.size > FAST:
                return None
            own = record if record.is_scalar(value) else record.lane_of(value)
            if own is None:
                return None
            rows.append(record.enter(t))
        else:
            rows.append(t._row)
        if own is not record:
            if lane is not record and lane is not own:
                return None
            lane = own
    return EagerTensor(lane, lane.append(primitive.code, rows[0], rows[-1], record.here()))


# -- operands ---------------------------------------------------------------------------------------------------------


def operand_tensors(inputs: Iterable[Any]) -> tuple[Any, ...]:
    """The inputs of a primitive as tensors; numbers and arrays take the dtype of the first tensor among them."""
    from .convert import convert_to_tensor

    inputs = tuple(inputs)
    like = next(t for t in inputs if isinstance(t, Tensor)).dtype
    return tuple([t if isinstance(t, Tensor) else convert_to_tensor(t, like) for t in inputs])


_TENSOR[:] = [Tensor, apply, operand_tensors]


def check_same_dtype(op: str, x: Any, y: Any) -> None:
    """Raises InvalidArgumentError when two operands have different dtypes, or one that the operation does not take."""
    if x.dtype is not y.dtype:
        from .opdefs import accept

        accept(op, x.dtype, y.dtype)
        raise invalid(
            f"cannot compute {op} as input #1(zero-based) was expected to be a {x.dtype.kernel_name} tensor "
            f"but is a {y.dtype.kernel_name} tensor", op,
        )  # fmt: skip


def check_broadcast(op: str, x: Any, y: Any) -> None:
    """Raises InvalidArgumentError when two shapes do not broadcast."""
    a, b = x.shape.as_list(), y.shape.as_list()
    for m, n in zip(reversed(a), reversed(b), strict=False):
        if m != n and m != 1 and n != 1:
            from .opdefs import accept

            accept(op, x.dtype, y.dtype)  # TensorFlow looks at the types first
            show = [",".join(map(str, s)) for s in (a, b)]
            raise invalid(f"Incompatible shapes: [{show[0]}] vs. [{show[1]}]", op)


def _fit_lanes(x: Any, y: Any) -> bool:
    """Whether two operands are rows of one recording that broadcast: of one lane, or one of them scalar."""
    if x is None or y is None:
        return False
    return x is y or (x.home is y.home and x.home is not None and (x is x.home or y is y.home))


def binary(primitive: Primitive, x: Any, y: Any) -> Any:
    """An elementwise operation on two tensors, after the checks that TensorFlow makes."""
    if type(x) is EagerTensor and type(y) is EagerTensor:
        if not _fit_lanes(x._lane, y._lane):
            a, b = x.array, y.array
            if a.dtype == object and primitive.op == "AddV2":
                primitive = TABLE["string_add"]
            if a.dtype is not b.dtype:
                check_same_dtype(primitive.op, x, y)
            if a.shape != b.shape and a.ndim and b.ndim:
                check_broadcast(primitive.op, x, y)
        if primitive.op in CHECKS:
            CHECKS[primitive.op](primitive, x, y)
    return apply(primitive, (x, y), {})


def _number(x: Tensor, y: float) -> Any:
    """A Python number as an operand of a float tensor; a recording meets the same number as the same tensor."""
    dtype, record = x.dtype, state.record
    if not dtype.differentiable:
        return y
    if record is None or y == 0:  # 0.0 and -0.0 are one key
        return bare(dtype.as_numpy_dtype(y))
    numbers, key = record.numbers, (y, dtype.name)
    if key not in numbers:
        numbers[key] = bare(dtype.as_numpy_dtype(y))
    return numbers[key]


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
        return NotImplemented
    from .convert import convert_operand

    return convert_operand(y, x.dtype, strict)


def _no_zero_division(primitive: Primitive, x: Any, y: Any) -> None:
    if x.dtype.is_integer and not np.all(y.array):
        raise invalid("Integer division by zero", primitive.op)


def _no_negative_power(primitive: Primitive, x: Any, y: Any) -> None:
    if x.dtype.is_integer and np.any(y.array < 0):
        raise invalid("Integers to negative integer powers are not allowed", primitive.op)


# what an operation must refuse before it runs, by TensorFlow's kernel name; the modules of operations add theirs
CHECKS: dict[str, Any] = {
    "FloorDiv": _no_zero_division, "FloorMod": _no_zero_division, "Pow": _no_negative_power,
}  # fmt: skip


# -- operators --------------------------------------------------------------------------------------------------------


def _fast_operator(name: str, primitive: Primitive, slow: Any, slow_reversed: Any) -> None:
    """Installs a binary operator and its reflection. On scalar rows they only write a row; the rest is ``slow``."""
    code, new = primitive.code, object.__new__

    def operator(a: EagerTensor, b: Any) -> Any:
        lane = a._lane
        if lane is not None:
            if type(b) is EagerTensor:
                if b._lane is not lane:
                    return slow(a, b)
                other = b._row
            elif type(b) is float or type(b) is int:
                other = lane.constants.get(b)
                if other is None:
                    if not lane.open or lane.home is not state.record:
                        return slow(a, b)
                    other = lane.constant(float(b))
            else:
                return slow(a, b)
            frame = _getframe(1)
            if frame is not lane.frame and not lane.move(frame):
                return slow(a, b)
            try:
                row = lane.take()
            except StopIteration:
                lane.pack()
                row = lane.take()
            lane.put((code, a._row, other, frame.f_lasti))
            made = new(EagerTensor)  # a third faster than calling the class
            made._lane, made._row = lane, row
            return made
        return slow(a, b)

    def reflected(a: EagerTensor, b: Any) -> Any:
        lane = a._lane
        if lane is not None and (type(b) is float or type(b) is int):
            other = lane.constants.get(b)
            if other is None:
                if not lane.open or lane.home is not state.record:
                    return slow_reversed(a, b)
                other = lane.constant(float(b))
            frame = _getframe(1)
            if frame is not lane.frame and not lane.move(frame):
                return slow_reversed(a, b)
            return EagerTensor(lane, lane.append(code, other, a._row, frame.f_lasti))
        return slow_reversed(a, b)

    for function, label in ((operator, f"__{name}__"), (reflected, f"__r{name}__")):
        function.__name__ = function.__qualname__ = label
        function.__doc__ = f"{primitive.texts[0]}, elementwise." if label[2] != "r" or name == "rsub" else None
        setattr(EagerTensor, label, function)


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


def _slow_pair(name: str, primitive: Primitive, prepare: Any = None, strict: bool = True) -> tuple[Any, Any]:
    from .convert import convert_to_tensor

    def slow(a: Any, b: Any) -> Any:
        try:
            b = _other(a, b, strict and not (prepare is _multiply and a.dtype.kind == "b"))
        except (TypeError, ValueError) as error:
            return _left_to_other(name, a, b, error)
        if b is NotImplemented:
            return b
        return binary(primitive, a, b) if prepare is None else prepare(primitive, a, b)

    def slow_reversed(a: Any, b: Any) -> Any:
        if hasattr(b, "_composite"):
            return NotImplemented
        if type(b) is float or type(b) is int:
            b = _number(a, b)
        if not isinstance(b, Tensor):
            b = convert_to_tensor(b, a.dtype)
        return binary(primitive, b, a) if prepare is None else prepare(primitive, b, a)

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
    if "b" not in (a.dtype.kind, b.dtype.kind):
        return binary(primitive, a, b)
    return binary(
        TABLE["logical_and"], *(t if t.dtype.kind == "b" else TABLE["cast"](t, dtype=dtypes.bool) for t in (a, b))
    )


def _matmul(primitive: Primitive, a: Any, b: Any) -> Any:
    from . import api

    return api.find("matmul")(a, b)


def _install_operators() -> None:
    for name, primitive_name, prepare, strict in (
        ("add", "add", None, False), ("sub", "subtract", None, True), ("mul", "multiply", _multiply, True),
        ("truediv", "divide", _divide, False), ("pow", "pow", None, True), ("floordiv", "floordiv", None, True),
        ("mod", "mod", None, True),
    ):  # fmt: skip
        primitive = TABLE[primitive_name]
        slow, slow_reversed = _slow_pair(name, primitive, prepare, strict)
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
    Tensor.__neg__ = lambda a: apply(TABLE["negative"], (a,), {})  # type: ignore[attr-defined]
    Tensor.__abs__ = lambda a: apply(_abs_of(a), (a,), {})  # type: ignore[attr-defined]
    Tensor.__invert__ = lambda a: apply(TABLE["logical_not" if a.dtype.kind == "b" else "bitwise_not"], (a,), {})  # type: ignore[attr-defined]


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


# -- primitives that the core itself needs ----------------------------------------------------------------------------


def _cast(x: Any, *, dtype: DType) -> Any:
    wanted = dtype.as_numpy_dtype
    if x.dtype.kind == "c" and dtype.kind in "fiub":
        x = x.real
    return x.astype(wanted)


def warn_discarded(have: DType, wanted: DType) -> None:
    """Logs that a cast drops the imaginary parts, in TensorFlow's words."""
    if have.is_complex and wanted.is_floating:
        logging.getLogger("tensorflow").warning(
            "You are casting an input of type %s to an incompatible dtype %s.  This will discard the imaginary part and "
            "may not be what you intended.", have.name, wanted.name,
        )  # fmt: skip


def _cast_rule(g: Any, z: Any, x: Any, *, dtype: DType) -> Any:
    if not dtype.differentiable:
        return None
    wanted = dtypes.of_any(x)
    warn_discarded(dtype, wanted)
    return TABLE["cast"](g, dtype=wanted)


declare("cast", _cast, [_cast_rule], op="Cast", keep="",
        example=lambda rng: ((rng.random((2, 3)),), {"dtype": dtypes.float64}))  # fmt: skip


def recorded_select(condition: Any, x: Any, y: Any) -> Any:
    """``select`` of the formulas as a recorded operation."""
    like = x if isinstance(x, Tensor) else y
    x, y = (v if isinstance(v, Tensor) else wrap(like.dtype.as_numpy_dtype(v)) for v in (x, y))
    return apply(TABLE["select"], (condition, x, y), {})


def zeros_like_tensor(x: Any) -> Any:
    """Zeros in the shape and dtype of a tensor, as a constant."""
    return apply(TABLE["zeros_like"], (x,), {})


declare(
    "select", lambda c, x, y: np.where(c, x, y),
    [None, lambda g, z, c, x, y: _select(c, g, 0), lambda g, z, c, x, y: _select(c, 0, g)],
    op="SelectV2", label="where", keep="x",
    example=lambda rng: ((rng.random((2, 3)) > 0.5, rng.random((2, 3)), rng.random(3)), {}),
)  # fmt: skip
declare("zeros_like", lambda x: np.zeros_like(x), [None], op="ZerosLike", keep="")
declare("ones_like", lambda x: np.ones_like(x), [None], op="OnesLike", keep="")


def _select(condition: Any, x: Any, y: Any) -> Any:
    if isinstance(condition, Tensor) or isinstance(x, Tensor) or isinstance(y, Tensor):
        condition = condition if isinstance(condition, Tensor) else wrap(condition)
        return recorded_select(condition, x, y)
    return TABLE["select"](condition, x, y)


def _boolean(name: str, kernel: str, label: str, forward: Any) -> Primitive:
    return declare(name, forward, [None, None], op=kernel, label=label, keep="")


_boolean("less", "Less", "<", lambda x, y: np.less(x, y))
_boolean("less_equal", "LessEqual", "<=", lambda x, y: np.less_equal(x, y))
_boolean("greater", "Greater", ">", lambda x, y: np.greater(x, y))
_boolean("greater_equal", "GreaterEqual", ">=", lambda x, y: np.greater_equal(x, y))
_boolean("equal", "Equal", "==", lambda x, y: np.equal(x, y))
_boolean("not_equal", "NotEqual", "!=", lambda x, y: np.not_equal(x, y))
_boolean("logical_and", "LogicalAnd", "and", lambda x, y: np.logical_and(x, y))
_boolean("logical_or", "LogicalOr", "or", lambda x, y: np.logical_or(x, y))
_boolean("logical_xor", "LogicalXor", "xor", lambda x, y: np.logical_xor(x, y))
declare("logical_not", lambda x: np.logical_not(x), [None], op="LogicalNot", label="not", keep="")
_boolean("bitwise_and", "BitwiseAnd", "&", lambda x, y: np.bitwise_and(x, y))
_boolean("bitwise_or", "BitwiseOr", "|", lambda x, y: np.bitwise_or(x, y))
_boolean("bitwise_xor", "BitwiseXor", "^", lambda x, y: np.bitwise_xor(x, y))
declare("bitwise_not", lambda x: np.invert(x), [None], op="Invert", label="~", keep="")
declare("string_add", lambda x, y: np.add(x, y, dtype=object), [None, None], op="Add", label="+", keep="")


def _comparison(name: str, primitive: Primitive) -> None:
    def compare(a: Any, b: Any) -> Any:
        b = _other(a, b)
        return b if b is NotImplemented else binary(primitive, a, b)

    setattr(Tensor, name, compare)


def _equality(name: str, primitive: Primitive, unlike: bool) -> None:
    def compare(a: Any, b: Any) -> Any:
        if b is None:
            return unlike
        b = _other(a, b)
        if b is NotImplemented:
            return b
        try:
            return binary(primitive, a, b)
        except type(invalid("")) as error:
            if "Incompatible shapes" in str(error):
                return wrap(np.bool_(unlike))
            raise

    setattr(Tensor, name, compare)


for _name, _primitive in (
    ("__lt__", "less"),
    ("__le__", "less_equal"),
    ("__gt__", "greater"),
    ("__ge__", "greater_equal"),
):
    _comparison(_name, TABLE[_primitive])
_equality("__eq__", TABLE["equal"], False)
_equality("__ne__", TABLE["not_equal"], True)
Tensor.__hash__ = EagerTensor.__hash__  # type: ignore[method-assign]
elementwise_primitives = elementwise.BY_CODE
