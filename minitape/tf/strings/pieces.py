"""Case, length and pieces of strings."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.convert import convert_to_tensor
from ...engine.invalid import invalid, shown
from ...engine.operands import generated, strict
from ...engine.tensor import Tensor, wrap
from ...ops.arrays import broadcast_static_shape
from .unicode import characters
from .values import converted, each, is_later, rows, strings_of, texts, when_run


def _coded(op: str, encoding: str) -> bool:
    if encoding not in ("", "utf-8"):
        raise invalid(f"only utf-8 or '' (no encoding) is supported, received {encoding}", op)
    return encoding == "utf-8"


@generated("string_lower")
def lower(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Lower case: of ASCII letters, or of all letters with encoding "utf-8".

    The result has the shape of ``input``. InvalidArgumentError for another ``encoding`` and for a tensor that holds no
    strings.

    >>> import minitape as tf
    >>> tf.strings.lower("HeLLo").numpy()
    b'hello'
    """
    if _coded("StringLower", encoding):
        return each(lambda s: s.decode("utf-8", "replace").lower().encode(), strings_of(input, "StringLower"))
    return each(bytes.lower, strings_of(input, "StringLower"))


@generated("string_upper")
def upper(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Upper case: of ASCII letters, or of all letters with encoding "utf-8".

    The result has the shape of ``input``. InvalidArgumentError for another ``encoding`` and for a tensor that holds no
    strings.

    >>> import minitape as tf
    >>> print(tf.strings.upper('abc').numpy())
    b'ABC'
    """
    if _coded("StringUpper", encoding):
        return each(lambda s: s.decode("utf-8", "replace").upper().encode(), strings_of(input, "StringUpper"))
    return each(bytes.upper, strings_of(input, "StringUpper"))


@generated("string_strip")
def strip(input: Any, name: str | None = None) -> Tensor:
    """Without white space at both ends, in the shape of ``input``.

    InvalidArgumentError for a tensor that holds no strings.

    >>> import minitape as tf
    >>> tf.strings.strip("  a b ").numpy()
    b'a b'
    """
    return each(bytes.strip, strings_of(input, "StringStrip"))


def _unit(unit: str, op: str, signature: str) -> bool:
    """True for characters, False for bytes."""
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise invalid(
            f'Value for attr \'unit\' of "{unit}" is not in the list of allowed values: "BYTE", "UTF8_CHAR"\n\t; '
            f'NodeDef: {{{{node {op}}}}}; Op<name={op}; signature={signature}; attr=unit:string,default="BYTE",'
            'allowed=["BYTE", "UTF8_CHAR"]>',
            op,
        )
    return unit == "UTF8_CHAR"


@strict
def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """The number of bytes, or of characters with unit "UTF8_CHAR"; int32, in the shape of ``input``.

    InvalidArgumentError for another ``unit`` and for a tensor that holds no strings.

    >>> import minitape as tf
    >>> tf.strings.length(["é", "abc"]).numpy()
    array([2, 3], dtype=int32)
    """
    array = strings_of(input, "StringLength")
    by_character = _unit(unit, "StringLength", "input:string -> output:int32")
    counts = [sum(b & 0xC0 != 0x80 for b in s) if by_character else len(s) for s in array.reshape(-1)]
    return wrap(np.array(counts, np.int32).reshape(array.shape))


@strict
def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """The piece of each string that begins at ``pos`` (from the end if negative) and has up to ``len`` bytes.

    InvalidArgumentError when ``pos`` lies outside a string.

    >>> import minitape as tf
    >>> tf.strings.substr(["hello", "world"], 2, 2).numpy().tolist()
    [b'll', b'rl']
    """
    if is_later(input):  # stand-ins for the strings may be too short to be tried
        given = [input, convert_to_tensor(pos), convert_to_tensor(len)]
        shape = broadcast_static_shape(input.shape, given[1].shape)
        return when_run(lambda s, p, n: substr(s, p, n, unit), given, shape, dtypes.string)
    array = strings_of(input, "Substr")
    by_character = _unit(
        unit, "Substr", "input:string, pos:T, len:T -> output:string; attr=T:type,allowed=[DT_INT32, DT_INT64]"
    )
    starts, sizes = (np.asarray(convert_to_tensor(v).array) for v in (pos, len))
    if starts.shape != sizes.shape:
        show = [",".join(map(str, v.shape)) for v in (starts, sizes)]
        raise invalid(f"pos and len should have the same shape, got: [{show[0]}] vs. [{show[1]}]", "Substr")
    try:
        array, starts, sizes = np.broadcast_arrays(array, starts, sizes)
    except ValueError:
        show = [",".join(map(str, v.shape)) for v in (array, starts)]
        raise invalid(f"Incompatible shapes: [{show[0]}] vs. [{show[1]}]", "Substr") from None
    out = []
    for i, (s, p, n) in enumerate(
        zip(array.reshape(-1), starts.reshape(-1).tolist(), sizes.reshape(-1).tolist(), strict=True)
    ):
        parts = characters(s) if by_character else s
        total = parts.__len__()
        if not -total <= p <= total:
            raise invalid(
                f"pos {p} out of range for string b'{s.decode('utf-8', 'backslashreplace')}' at index {i}", "Substr"
            )
        p = p + total if p < 0 else p
        piece = parts[p:] if n < 0 else parts[p : p + n]
        out.append(b"".join(piece) if by_character else piece)
    return texts(out, array.shape)


@strict
def split(input: Any, sep: str | None = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """The pieces between separators (white space by default): a tensor for one string, else a ragged tensor.

    The result has one more axis than ``input``. After ``maxsplit`` pieces (-1 for all) the rest is one piece.
    ValueError for a tensor that holds no strings.

    >>> import minitape as tf
    >>> tf.strings.split(["a b", "c"])
    <tf.RaggedTensor [[b'a', b'b'], [b'c']]>
    """
    array, given = converted(input, "input: "), strings_of("" if sep is None else sep, "StringSplitV2")
    if given.ndim:
        raise invalid(f"sep must be a scalar, got shape: {shown(given.shape)}", "StringSplitV2")
    separator = given[()]
    return rows(array, lambda s: _pieces(s, separator, maxsplit))


def _pieces(s: bytes, sep: bytes, most: int) -> list[bytes]:
    if most == 0:
        return [s]
    if sep:
        return s.split(sep, most)
    if most < 0:
        return s.split()
    parts, rest = [], s.lstrip()
    while rest and not rest.isspace():
        head = rest.split(None, 1)
        parts.append(head[0])
        rest = head[1] if head[1:] else b""
        if len(parts) == most:
            return [*parts, rest]
    return parts


@strict
def bytes_split(input: Any, name: str | None = None) -> Any:
    """The single bytes: a tensor for one string, else a ragged tensor with one more axis.

    ValueError for a tensor that holds no strings.

    >>> import minitape as tf
    >>> tf.strings.bytes_split("ab").numpy().tolist()
    [b'a', b'b']
    """
    return rows(converted(input), lambda s: [s[i : i + 1] for i in range(len(s))])
