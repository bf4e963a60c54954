"""Case, length, pieces and characters of strings."""

from __future__ import annotations

import codecs
from typing import Any

import numpy as np

from ...engine.tensor.tensor import Tensor, wrap
from ...engine.values import dtypes
from ...engine.values.invalid import invalid, shown
from ...ops.arrays import broadcast_static_shape
from ...ops.convert import convert_to_tensor
from ...ops.opdefs import accept_text
from ...ops.operands import deferred
from .values import converted, is_later, rows, strings_of, texts, when_run


@deferred
def lower(input: Any, name: str | None = None) -> Tensor:
    """ASCII letters in lower case; other letters stay.

    The result has the shape of ``input``. InvalidArgumentError for a tensor that holds no strings.

    >>> import minitape as tf
    >>> tf.strings.lower("HeLLo").numpy()
    b'hello'
    """
    array = strings_of(input, "StringLower")
    return texts([s.lower() for s in array.flat], array.shape)


@deferred
def upper(input: Any, name: str | None = None) -> Tensor:
    """ASCII letters in upper case; other letters stay.

    The result has the shape of ``input``. InvalidArgumentError for a tensor that holds no strings.

    >>> import minitape as tf
    >>> print(tf.strings.upper('abc').numpy())
    b'ABC'
    """
    array = strings_of(input, "StringUpper")
    return texts([s.upper() for s in array.flat], array.shape)


@deferred
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
    return wrap(np.array(counts, np.int32).reshape(array.shape))


@deferred
def substr(input: Any, pos: Any, len: Any, name: str | None = None) -> Tensor:
    """The piece of each string that begins at ``pos`` (from the end if negative) and has up to ``len`` bytes.

    InvalidArgumentError when ``pos`` lies outside a string.

    >>> import minitape as tf
    >>> tf.strings.substr(["hello", "world"], 2, 2).numpy().tolist()
    [b'll', b'rl']
    """
    if is_later(input):  # stand-ins for the strings may be too short to be tried
        given = [input, convert_to_tensor(pos), convert_to_tensor(len)]
        shape = broadcast_static_shape(input.shape, given[1].shape)
        return when_run(lambda s, p, n: substr(s, p, n), given, shape, dtypes.string)
    array = strings_of(input, "Substr")
    starts, sizes = (np.asarray(convert_to_tensor(v).array) for v in (pos, len))
    if starts.shape != sizes.shape:
        raise invalid(f"pos and len should have the same shape, got: {shown(starts.shape)} vs. {shown(sizes.shape)}", "Substr")
    try:
        array, starts, sizes = np.broadcast_arrays(array, starts, sizes)
    except ValueError:
        raise invalid(f"Incompatible shapes: {shown(array.shape)} vs. {shown(starts.shape)}", "Substr") from None
    all_of_them = enumerate(zip(array.flat, starts.flat, sizes.flat, strict=True))
    return texts([_piece(s, p, n, i) for i, (s, p, n) in all_of_them], array.shape)


def _piece(s: bytes, start: int, size: int, index: int) -> bytes:
    if not -len(s) <= start <= len(s):
        text = s.decode("utf-8", "backslashreplace")
        raise invalid(f"pos {start} out of range for string b'{text}' at index {index}", "Substr")
    rest = s[start:]
    return rest if size < 0 else rest[:size]


@deferred
def split(input: Any, sep: str | None = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """The pieces between separators (white space by default): a tensor for one string, a ragged tensor for a list of them.

    After ``maxsplit`` pieces (-1 for all) the rest is one piece.
    ValueError for a tensor that holds no strings.

    >>> import minitape as tf
    >>> tf.strings.split(["a b", "c"])
    <tf.RaggedTensor [[b'a', b'b'], [b'c']]>
    """
    array, given = converted(input, "input: "), strings_of("" if sep is None else sep, "StringSplitV2")
    if given.ndim:
        raise invalid(f"sep must be a scalar, got shape: {shown(given.shape)}", "StringSplitV2")
    return rows(array, lambda s: _pieces(s, given[()], maxsplit))


def _pieces(s: bytes, sep: bytes, most: int) -> list[bytes]:
    return [s] if most == 0 else s.split(sep or None, most)


@deferred
def bytes_split(input: Any, name: str | None = None) -> Any:
    """The single bytes: a tensor for one string, a ragged tensor for a list of them.

    ValueError for a tensor that holds no strings.

    >>> import minitape as tf
    >>> tf.strings.bytes_split("ab").numpy().tolist()
    [b'a', b'b']
    """
    return rows(converted(input), lambda s: [s[i : i + 1] for i in range(len(s))])


@deferred
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


@deferred
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
