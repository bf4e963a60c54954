"""The functions of ``tf.strings``: case, length, pieces and characters, joining, numbers read and written."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.recording.evidence import note_escape, origin_of_new, with_influences
from ...engine.recording.state import state
from ...engine.tensor.convert import convert_to_tensor
from ...engine.tensor.opdefs import accept_attr, accept_text
from ...engine.tensor.tensor import EagerTensor, Tensor, new_tensor
from ...engine.values import dtypes
from ...engine.values.errors import OutOfRangeError
from ...engine.values.invalid import invalid, mismatch, shape_text
from ...ops.arrays import broadcast_static_shape
from ...ops.operands import postpone
from ..ragged.tensor import RaggedTensor


@postpone
def lower(input: Any, name: str | None = None) -> Tensor:
    """ASCII letters in lower case; other letters stay.

    The result has the shape of ``input``. InvalidArgumentError for a tensor that holds no strings.

    >>> import minitape as tf
    >>> tf.strings.lower("HeLLo").numpy()
    b'hello'
    """
    array = strings_of(input, "StringLower")
    return texts([s.lower() for s in array.flat], array.shape)


@postpone
def upper(input: Any, name: str | None = None) -> Tensor:
    """ASCII letters in upper case; other letters stay.

    The result has the shape of ``input``. InvalidArgumentError for a tensor that holds no strings.

    >>> import minitape as tf
    >>> print(tf.strings.upper('abc').numpy())
    b'ABC'
    """
    array = strings_of(input, "StringUpper")
    return texts([s.upper() for s in array.flat], array.shape)


@postpone
def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """The number of bytes, or of characters with unit "UTF8_CHAR"; int32, in the shape of ``input``.

    InvalidArgumentError for another ``unit`` and for a tensor that holds no strings.

    >>> import minitape as tf
    >>> tf.strings.length(["é", "abc"]).numpy()
    array([2, 3], dtype=int32)
    """
    array = strings_of(input, "StringLength")
    accept_text("StringLength", "unit", unit)
    counts = [len(s) if unit == "BYTE" else sum(byte & 0xC0 != 0x80 for byte in s) for s in array.flat]
    return new_tensor(np.array(counts, np.int32).reshape(array.shape))


@postpone
def substr(input: Any, pos: Any, len: Any, name: str | None = None) -> Tensor:
    """The piece of each string that begins at ``pos`` (from the end if negative) and has up to ``len`` bytes.

    InvalidArgumentError when ``pos`` lies outside a string.

    >>> import minitape as tf
    >>> tf.strings.substr(["hello", "world"], 2, 2).numpy().tolist()
    [b'll', b'rl']
    """
    array = strings_of(input, "Substr")
    starts, sizes = (np.asarray(convert_to_tensor(v).array) for v in (pos, len))
    if starts.shape != sizes.shape:
        raise invalid(
            f"pos and len should have the same shape, got: {shape_text(starts.shape)} vs. {shape_text(sizes.shape)}",
            "Substr",
        )
    try:
        array, starts, sizes = np.broadcast_arrays(array, starts, sizes)
    except ValueError:
        raise invalid(
            f"Incompatible shapes: {shape_text(array.shape)} vs. {shape_text(starts.shape)}", "Substr"
        ) from None
    all_of_them = enumerate(zip(array.flat, starts.flat, sizes.flat, strict=True))
    return texts([_piece(s, p, n, i) for i, (s, p, n) in all_of_them], array.shape)


def _piece(s: bytes, start: int, size: int, index: int) -> bytes:
    if not -len(s) <= start <= len(s):
        text = s.decode("utf-8", "backslashreplace")
        raise invalid(f"pos {start} out of range for string b'{text}' at index {index}", "Substr")
    rest = s[start:]
    return rest if size < 0 else rest[:size]


@postpone
def split(input: Any, sep: str | None = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """The pieces between separators (white space by default): a tensor for one string, a ragged tensor for a list of
    them.

    After ``maxsplit`` pieces (-1 for all) the rest is one piece.
    ValueError for a tensor that holds no strings.

    >>> import minitape as tf
    >>> tf.strings.split(["a b", "c"])
    <tf.RaggedTensor [[b'a', b'b'], [b'c']]>
    """
    array, given = converted(input, "input: "), strings_of("" if sep is None else sep, "StringSplitV2")
    if given.ndim:
        raise invalid(f"sep must be a scalar, got shape: {shape_text(given.shape)}", "StringSplitV2")
    return rows(array, lambda s: [s] if maxsplit == 0 else s.split(given[()] or None, maxsplit))


@postpone
def bytes_split(input: Any, name: str | None = None) -> Any:
    """The single bytes: a tensor for one string, a ragged tensor for a list of them.

    ValueError for a tensor that holds no strings.

    >>> import minitape as tf
    >>> tf.strings.bytes_split("ab").numpy().tolist()
    [b'a', b'b']
    """
    return rows(converted(input), lambda s: [s[i : i + 1] for i in range(len(s))])


@postpone
def unicode_decode(input: Any, input_encoding: str, errors: str = "replace", *, name: str | None = None) -> Any:
    """The code points of each string, int32: a tensor for one string, a ragged one for a list.

    ``input_encoding`` is "UTF-8", "UTF-16-BE", "UTF-32-BE" or another that Python knows. Bytes that are no character
    become U+FFFD, are left out with ``errors="ignore"``, or raise InvalidArgumentError with "strict".
    InvalidArgumentError also for an unknown encoding and for a tensor that holds no strings.

    >>> import minitape as tf
    >>> tf.strings.unicode_decode("hi", "UTF-8").numpy()
    array([104, 105], dtype=int32)
    """
    array = strings_of(input, "UnicodeDecode")
    return rows(array, lambda s: [ord(c) for c in _decoded(s, input_encoding, errors)], np.int32)


@postpone
def unicode_split(input: Any, input_encoding: str, errors: str = "replace", *, name: str | None = None) -> Any:
    """The characters of each string, as strings: a tensor for one string, a ragged one for a list.

    Arguments and errors are those of ``tf.strings.unicode_decode``.

    >>> import minitape as tf
    >>> tf.strings.unicode_split(["hi", "a"], "UTF-8")
    <tf.RaggedTensor [[b'h', b'i'], [b'a']]>
    """
    array = strings_of(input, "UnicodeDecode")
    return rows(array, lambda s: [c.encode(input_encoding) for c in _decoded(s, input_encoding, errors)])


def _decoded(s: bytes, encoding: str, errors: str) -> str:
    accept_text("UnicodeDecode", "errors", errors)
    try:
        codecs.lookup(encoding)
        return s.decode(encoding, errors)
    except LookupError:
        raise invalid(f"Could not create converter for input encoding: {encoding}", "UnicodeDecode") from None
    except UnicodeDecodeError:
        raise invalid("Invalid formatting on input string", "UnicodeDecode") from None


def strings_of(x: Any, op: str) -> Any:
    """``x`` as an array of bytes; InvalidArgumentError for a tensor of another type."""
    is_tensor = isinstance(x, Tensor) or hasattr(x, "_read")
    is_empty = isinstance(x, (list, tuple)) and not len(x)
    tensor = convert_to_tensor(x) if is_tensor or is_empty else convert_to_tensor(x, dtypes.string)
    if tensor.dtype != dtypes.string:
        raise mismatch(op, 0, dtypes.string.kernel_name, tensor.dtype)
    if is_tensor and type(tensor) is EagerTensor:
        note_escape(tensor, "text")
    return np.asarray(tensor.array, object)


def converted(x: Any, label: str = "") -> Any:
    """The same where TensorFlow converts first: ValueError (which names the argument) for a tensor of another type."""
    try:
        tensor = convert_to_tensor(x, dtypes.string)
    except ValueError as error:
        raise ValueError(f"{label}{error}") from None
    if tensor is x and type(x) is EagerTensor:
        note_escape(x, "text")
    return np.asarray(tensor.array, object)


def texts(values: list[bytes], shape: tuple[int, ...] | None = None) -> Any:
    """A tensor of strings from a list of bytes."""
    array = np.empty(len(values), object)
    array[:] = values
    tensor = new_tensor(array if shape is None else array.reshape(shape))
    tensor._origin = origin_of_new("made")
    return tensor


def rows(array: Any, function: Callable[[bytes], list], dtype: Any = object) -> Any:
    """A list for each string: a tensor for a single string, a ragged tensor for a list of them."""
    found = [function(s) for s in array.flat]
    flat = [item for row in found for item in row]
    values = texts(flat) if dtype is object else new_tensor(np.array(flat, dtype))
    if not array.ndim:
        return values
    if array.ndim > 1:
        raise ValueError("minitape cuts a string or a list of strings to pieces: a ragged tensor has no rows of rows.")
    return RaggedTensor.from_row_lengths(values, np.array([len(row) for row in found], np.int64))


def _glue(separator: Any) -> bytes:
    separator = "" if separator is None else separator
    if not isinstance(separator, (str, bytes)):
        raise TypeError(f"Expected string for argument 'separator' not {separator!r}.")
    return separator.encode() if isinstance(separator, str) else separator


@postpone
def join(inputs: Any, separator: str = "", name: str | None = None) -> Tensor:
    """Tensors of strings joined element by element; scalars go with each element.

    InvalidArgumentError when shapes differ, TypeError unless ``inputs`` is a list and ``separator`` a string.

    >>> import minitape as tf
    >>> tf.strings.join([["a", "b"], "!"], separator=" ").numpy().tolist()
    [b'a !', b'b !']
    """
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"Expected list for 'inputs' argument to 'string_join' Op, not {inputs!r}.")
    glue = _glue(separator)
    arrays = [strings_of(i, "StringJoin") for i in inputs]
    shape: tuple[int, ...] = next((a.shape for a in arrays if a.ndim), ())
    for a in arrays:
        if a.ndim and a.shape != shape:
            raise invalid(f"Input shapes do not match: {shape_text(shape)} vs. {shape_text(a.shape)}", "StringJoin")
    full = [np.broadcast_to(a, shape).reshape(-1) for a in arrays]
    return texts([glue.join(parts) for parts in zip(*full, strict=True)], shape)


@postpone
def reduce_join(
    inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "", name: str | None = None
) -> Tensor:
    """The strings along the axes (all by default) joined, in the order of the axes.

    With ``keepdims`` the axes stay, with size 1. OutOfRangeError for an axis that is not there, InvalidArgumentError
    for a tensor that holds no strings.

    >>> import minitape as tf
    >>> tf.strings.reduce_join([["a", "b"], ["c", "d"]], axis=-1, separator="+").numpy().tolist()
    [b'a+b', b'c+d']
    """
    glue, array = _glue(separator), strings_of(inputs, "ReduceJoin")
    rank = array.ndim
    axes = list(range(rank))[::-1]
    if axis is not None:
        axes = np.atleast_1d(np.asarray(convert_to_tensor(axis).array)).tolist()
    for a in axes:
        if not -rank <= a < rank:
            what = f"Invalid reduction dimension {a} for input with {rank} dimension(s) [Op:ReduceJoin] name: "
            raise OutOfRangeError(None, None, what)
    axes = [a % rank for a in axes]
    kept = [i for i in range(rank) if i not in axes]
    moved = array.transpose((*kept, *axes[::-1])).reshape((*[array.shape[i] for i in kept], -1))
    shape = [1 if i in axes else n for i, n in enumerate(array.shape)] if keepdims else [array.shape[i] for i in kept]
    return texts([glue.join(row) for row in moved.reshape((-1, moved.shape[-1]))], tuple(shape))


_FLOAT = re.compile(r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf(inity)?|nan)\Z", re.ASCII | re.IGNORECASE)


@postpone
def to_number(input: Any, out_type: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """The numbers that the strings spell, in the shape of ``input``.

    ``out_type`` is float32, float64, int32, int64, uint32 or uint64. InvalidArgumentError for another type and for a
    string that spells no such number.

    >>> import minitape as tf
    >>> tf.strings.to_number(["1.5", "2"]).numpy()
    array([1.5, 2. ], dtype=float32)
    """
    kind = dtypes.as_dtype(out_type)
    accept_attr("StringToNumber", "out_type", kind)
    array = strings_of(input, "StringToNumber")
    found = np.array([_number(s.decode("utf-8", "replace"), kind) for s in array.reshape(-1)], kind.as_numpy_dtype)
    return with_influences(new_tensor(found.reshape(array.shape)), (input,), "StringToNumber")


def _number(text: str, dtype: Any) -> Any:
    stripped = text.strip()
    if dtype.is_floating and _FLOAT.match(stripped):
        return float(stripped)
    if dtype.is_integer and re.fullmatch(r"[+-]?\d+", stripped, re.ASCII):
        value = int(stripped)
        if dtype.min <= value <= dtype.max:
            return value
    raise invalid(f"StringToNumberOp could not correctly convert string: {text}", "StringToNumber")


@postpone
def as_string(input: Any, precision: int = -1, scientific: bool = False, *, name: str | None = None) -> Tensor:
    """Numbers as text, as C's printf writes them, in the shape of ``input``.

    Floats have ``precision`` digits after the point. InvalidArgumentError for a ``precision`` of whole numbers, and
    for ``scientific`` ones. Strings stay.

    >>> import minitape as tf
    >>> tf.strings.as_string([1.5, 2.0]).numpy().tolist()
    [b'1.500000', b'2.000000']
    """
    tensor = convert_to_tensor(input)
    kind, array = tensor.dtype.kind, np.asarray(tensor.array)
    if (scientific or precision > -1) and kind not in "fc":
        what = "scientific and shortest format" if scientific else "precision"
        raise invalid(f"{what} not supported for datatype {tensor.dtype.name}", "AsString")
    spec = "%" + (f".{precision}" if precision > -1 else "") + ("d" if kind in "iu" else "e" if scientific else "f")

    def one(value: Any) -> bytes:
        if kind == "s":
            return bytes(value)
        if kind == "b":
            return b"true" if value else b"false"
        return (f"({spec % value.real},{spec % value.imag})" if kind == "c" else spec % value).encode()

    return with_influences(
        texts([one(value) for value in array.reshape(-1).tolist()], array.shape), (tensor,), "AsString"
    )
