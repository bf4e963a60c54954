"""``tf.strings``: functions of tensors of bytes.

Strings are never differentiated: these functions compute, and record nothing. Text is UTF-8 where characters matter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtypes
from .arrays import broadcast_static_shape
from .convert import convert_to_tensor
from .errors import OutOfRangeError, invalid  # type: ignore[attr-defined]
from .evidence import decided
from .operands import deferred
from .record import state
from .tensor import Tensor, wrap
from .texts import hashing, numbers, patterns, unicode
from .texts.unicode import (  # noqa: F401 - part of tf.strings
    unicode_decode,
    unicode_decode_with_offsets,
    unicode_encode,
    unicode_script,
    unicode_split,
    unicode_split_with_offsets,
    unicode_transcode,
)


def strings_of(x: Any, op: str) -> Any:
    """``x`` as an array of bytes; InvalidArgumentError for a tensor of another type."""
    if isinstance(x, Tensor) or hasattr(x, "_read"):
        tensor = convert_to_tensor(x)
        if tensor.dtype != dtypes.string:
            raise invalid(
                f"cannot compute {op} as input #0(zero-based) was expected to be a string tensor but is a "
                f"{tensor.dtype.kernel_name} tensor",
                op,
            )
    else:
        tensor = convert_to_tensor(x, dtypes.string) if not _empty(x) else convert_to_tensor(x)
        if tensor.dtype != dtypes.string:
            raise invalid(
                f"cannot compute {op} as input #0(zero-based) was expected to be a string tensor but is a "
                f"{tensor.dtype.kernel_name} tensor",
                op,
            )
    return np.asarray(tensor.array, object)


def _empty(x: Any) -> bool:
    return isinstance(x, (list, tuple)) and not len(x)


def texts(values: Any, shape: Any = None) -> Any:
    """A tensor of strings from a list of bytes."""
    values = list(values)
    array = np.empty(len(values), object)
    for i, value in enumerate(values):
        array[i] = value
    return wrap(array if shape is None else array.reshape(shape))


def each(function: Callable[[bytes], bytes], array: Any) -> Any:
    """A function of each string."""
    return texts([function(s) for s in array.reshape(-1)], array.shape)


def rows(array: Any, function: Callable[[bytes], list[Any]], dtype: Any = object) -> Any:
    """A list for each string: a tensor for a single string, else a ragged tensor with one more axis."""
    found = [function(s) for s in array.reshape(-1)]
    flat = [item for row in found for item in row]
    values = texts(flat) if dtype is object else wrap(np.array(flat, dtype))
    if not array.ndim:
        return values
    from .ragged.tensor import make, splits_of

    result = make(values, splits_of(np.array([len(row) for row in found], np.int64)))
    for size in reversed(array.shape[1:]):
        count = (len(result._splits) - 1) // size if size else 0
        result = make(result, np.arange(count + 1, dtype=np.int64) * size, size)
    return result


def _later(x: Any) -> bool:
    """True for a tensor of a graph that is being built: its strings are not known."""
    return state.graph is not None and isinstance(x, Tensor) and getattr(x, "graph", None) is state.graph


def _when_run(function: Callable[..., Any], tensors: list[Any], shape: Any, dtype: Any) -> Any:
    """The call of ``function`` when the graph runs."""
    from .graphs.effects import later

    return later(lambda *given: [function(*given)], tensors, [(shape, dtype)])[0]


# -- case, length, pieces ---------------------------------------------------------------------------------------------


def _coded(op: str, encoding: str) -> bool:
    if encoding not in ("", "utf-8"):
        raise invalid(f"only utf-8 or '' (no encoding) is supported, received {encoding}", op)
    return encoding == "utf-8"


def lower(input: Any, encoding: str = "", name: str | None = None) -> Any:
    """Lower case: of ASCII letters, or of all letters with encoding "utf-8".

    >>> import minitape as tf
    >>> tf.strings.lower("HeLLo").numpy()
    b'hello'
    """
    if _coded("StringLower", encoding):
        return each(lambda s: s.decode("utf-8", "replace").lower().encode(), strings_of(input, "StringLower"))
    return each(bytes.lower, strings_of(input, "StringLower"))


def upper(input: Any, encoding: str = "", name: str | None = None) -> Any:
    """Upper case: of ASCII letters, or of all letters with encoding "utf-8".

    >>> import minitape as tf
    >>> print(tf.strings.upper('abc').numpy())
    b'ABC'
    """
    if _coded("StringUpper", encoding):
        return each(lambda s: s.decode("utf-8", "replace").upper().encode(), strings_of(input, "StringUpper"))
    return each(bytes.upper, strings_of(input, "StringUpper"))


def strip(input: Any, name: str | None = None) -> Any:
    """Without white space at both ends.

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


def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Any:
    """The number of bytes, or of characters with unit "UTF8_CHAR"; int32.

    >>> import minitape as tf
    >>> tf.strings.length(["é", "abc"]).numpy()
    array([2, 3], dtype=int32)
    """
    array = strings_of(input, "StringLength")
    characters = _unit(unit, "StringLength", "input:string -> output:int32")
    counts = [sum(b & 0xC0 != 0x80 for b in s) if characters else len(s) for s in array.reshape(-1)]
    return wrap(np.array(counts, np.int32).reshape(array.shape))


def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Any:
    """The piece of each string that begins at ``pos`` (from the end if negative) and has up to ``len`` bytes.

    InvalidArgumentError when ``pos`` lies outside a string.

    >>> import minitape as tf
    >>> tf.strings.substr(["hello", "world"], 2, 2).numpy().tolist()
    [b'll', b'rl']
    """
    if _later(input):  # stand-ins for the strings may be too short to be tried
        given = [input, convert_to_tensor(pos), convert_to_tensor(len)]
        shape = broadcast_static_shape(input.shape, given[1].shape)
        return _when_run(lambda s, p, n: substr(s, p, n, unit), given, shape, dtypes.string)
    array = strings_of(input, "Substr")
    characters = _unit(
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
        parts = unicode.characters(s) if characters else s
        total = parts.__len__()
        if not -total <= p <= total:
            raise invalid(
                f"pos {p} out of range for string b'{s.decode('utf-8', 'backslashreplace')}' at index {i}", "Substr"
            )
        p = p + total if p < 0 else p
        piece = parts[p:] if n < 0 else parts[p : p + n]
        out.append(b"".join(piece) if characters else piece)
    return texts(out, array.shape)


def split(input: Any, sep: str | None = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """The pieces between separators (white space by default): a tensor for one string, else a ragged tensor.

    >>> import minitape as tf
    >>> tf.strings.split(["a b", "c"])
    <tf.RaggedTensor [[b'a', b'b'], [b'c']]>
    """
    array = strings_of(input, "StringSplitV2")
    separator = (sep or "").encode() if not isinstance(sep, bytes) else sep
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
        if len_of(parts) == most:
            return [*parts, rest]
    return parts


len_of = len  # the builtin, where an argument of that name hides it


def bytes_split(input: Any, name: str | None = None) -> Any:
    """The single bytes.

    >>> import minitape as tf
    >>> tf.strings.bytes_split("ab").numpy().tolist()
    [b'a', b'b']
    """
    return rows(strings_of(input, "StringSplit"), lambda s: [s[i : i + 1] for i in range(len_of(s))])


# -- joining ----------------------------------------------------------------------------------------------------------


def join(inputs: Any, separator: str = "", name: str | None = None) -> Any:
    """Tensors of strings joined element by element; scalars go with each element.

    InvalidArgumentError when shapes differ.

    >>> import minitape as tf
    >>> tf.strings.join([["a", "b"], "!"], separator=" ").numpy().tolist()
    [b'a !', b'b !']
    """
    arrays = [strings_of(i, "StringJoin") for i in inputs]
    shape: tuple[int, ...] = next((a.shape for a in arrays if a.ndim), ())
    for a in arrays:
        if a.ndim and a.shape != shape:
            show = [",".join(map(str, s)) for s in (shape, a.shape)]
            raise invalid(f"Input shapes do not match: [{show[0]}] vs. [{show[1]}]", "StringJoin")
    glue = separator.encode() if isinstance(separator, str) else separator
    full = [np.broadcast_to(a, shape).reshape(-1) for a in arrays]
    count = int(np.prod(shape)) if shape else 1
    return texts([glue.join(a[i] for a in full) for i in range(count)], shape)


def reduce_join(
    inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "", name: str | None = None
) -> Any:
    """The strings along the axes (all by default) joined.

    >>> import minitape as tf
    >>> tf.strings.reduce_join([["a", "b"], ["c", "d"]], axis=-1, separator="+").numpy().tolist()
    [b'a+b', b'c+d']
    """
    array = strings_of(inputs, "ReduceJoin")
    rank, glue = array.ndim, separator.encode()
    if axis is None:
        axes = list(range(rank))[::-1]
    else:
        axes = []
        for a in np.atleast_1d(np.asarray(axis.array if isinstance(axis, Tensor) else axis)).tolist():
            if not -rank <= a < rank:
                raise OutOfRangeError(
                    None,
                    None,
                    f"Invalid reduction dimension {a} for input with {rank} dimension(s) [Op:ReduceJoin] name: ",
                )
            axes.append(a % rank)
    kept = [i for i in range(rank) if i not in axes]
    moved = array.transpose((*kept, *axes[::-1])).reshape((*[array.shape[i] for i in kept], -1))
    flat = moved.reshape((-1, moved.shape[-1])) if kept else moved.reshape(1, -1)
    shape = (
        tuple(1 if i in axes else n for i, n in enumerate(array.shape))
        if keepdims
        else tuple(array.shape[i] for i in kept)
    )
    return texts([glue.join(row) for row in flat], shape)


def unsorted_segment_join(
    inputs: Any, segment_ids: Any, num_segments: Any, separator: str = "", name: str | None = None
) -> Any:
    """The strings with the same number joined.

    >>> import minitape as tf
    >>> print(tf.strings.unsorted_segment_join(['a', 'b', 'c'], [0, 1, 0], 2, '-').numpy())
    [b'a-c' b'b']
    """
    array = strings_of(inputs, "UnsortedSegmentJoin")
    ids = np.asarray(convert_to_tensor(segment_ids).array).reshape(-1)
    found: list[list[bytes]] = [[] for _ in range(int(num_segments))]
    for s, i in zip(array.reshape(-1), ids, strict=True):
        found[i].append(s)
    return texts([separator.encode().join(f) for f in found])


def ngrams(
    data: Any,
    ngram_width: Any,
    separator: str = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """Each run of ``ngram_width`` neighbours, joined; several widths one after the other.

    >>> import minitape as tf
    >>> tf.strings.ngrams(["a", "b", "c"], 2).numpy().tolist()
    [b'a b', b'b c']
    """
    from . import ragged
    from .ragged.tensor import RaggedTensor

    widths = [ngram_width] if isinstance(ngram_width, int) else list(ngram_width)
    pads = (
        None
        if pad_values is None
        else (pad_values, pad_values)
        if isinstance(pad_values, (str, bytes))
        else tuple(pad_values)
    )
    glue = separator.encode()

    def grams(row: list[bytes]) -> list[bytes]:
        found: list[bytes] = []
        for width in widths:
            items = list(row)
            if pads is not None:
                each_side = width - 1 if padding_width is None else min(padding_width, width - 1)
                left, right = (p if isinstance(p, bytes) else p.encode() for p in pads)
                items = [left] * each_side + items + [right] * each_side
            found += [glue.join(items[i : i + width]) for i in range(len_of(items) - width + 1)]
        if preserve_short_sequences and not found and row:
            found = [glue.join(row)]
        return found

    if isinstance(data, RaggedTensor):
        return ragged.constant([grams(row) for row in data.to_list()], dtypes.string, ragged_rank=1)
    array = strings_of(data, "StringNGrams")
    flat = [grams(list(row)) for row in array.reshape((-1, array.shape[-1]))]
    if array.ndim == 1:
        return texts(flat[0])
    return texts([g for row in flat for g in row], (*array.shape[:-1], -1))


# -- numbers ----------------------------------------------------------------------------------------------------------


def to_number(input: Any, out_type: Any = dtypes.float32, name: str | None = None) -> Any:
    """The numbers that the strings spell. InvalidArgumentError for one that spells none.

    >>> import minitape as tf
    >>> tf.strings.to_number(["1.5", "2"]).numpy()
    array([1.5, 2. ], dtype=float32)
    """
    kind = dtypes.as_dtype(out_type)
    if _later(input):  # stand-ins may spell no number
        return _when_run(lambda t: to_number(t, kind), [input], input.shape, kind)
    return decided(numbers.parse(strings_of(input, "StringToNumber"), kind), (input,), "StringToNumber")


def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Any:
    """Numbers as text, as C's printf writes them.

    >>> import minitape as tf
    >>> tf.strings.as_string([1.5, 2.0]).numpy().tolist()
    [b'1.500000', b'2.000000']
    """
    tensor = convert_to_tensor(input)
    return decided(numbers.spell(tensor, precision, scientific, shortest, width, fill), (tensor,), "AsString")


def format(template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None) -> Any:
    """The template with tensors in place of the placeholders; long axes show ``summarize`` elements at each end.

    ValueError when the numbers of placeholders and tensors differ.

    >>> import minitape as tf
    >>> tf.strings.format("x is {}", tf.constant([1, 2])).numpy()
    b'x is [1 2]'
    """
    if isinstance(inputs, (Tensor, str, bytes)) or hasattr(inputs, "_read"):
        inputs = [inputs]
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"object of type {type(inputs).__name__!r} has no len()")
    tensors = [convert_to_tensor(i) for i in inputs]
    holes = template.count(placeholder)
    if holes != len_of(inputs):
        raise ValueError(
            f"The template expects {holes} tensors, but the inputs only has {len_of(inputs)}. Please ensure the "
            "number of placeholders in template matches inputs length."
        )
    for tensor in tensors:
        template = template.replace(placeholder, numbers.summary(tensor, summarize), 1)
    return texts([template.encode()], ())


# -- patterns and hashes ----------------------------------------------------------------------------------------------


def regex_replace(input: Any, pattern: str, rewrite: str, replace_global: bool = True, name: str | None = None) -> Any:
    """What matches the pattern (RE2's syntax) replaced; ``\\1`` is the first group, ``\\0`` all of the match.

    InvalidArgumentError for a pattern that is none.

    >>> import minitape as tf
    >>> tf.strings.regex_replace("a1b22", "[0-9]+", "#").numpy()
    b'a#b#'
    """
    array = strings_of(input, "RegexReplace")
    return each(patterns.replacer(pattern, rewrite, replace_global), array)


def regex_full_match(input: Any, pattern: str, name: str | None = None) -> Any:
    """True where all of the string matches the pattern.

    >>> import minitape as tf
    >>> tf.strings.regex_full_match(["a1", "b"], "[a-z][0-9]").numpy()
    array([ True, False])
    """
    array = strings_of(input, "RegexFullMatch")
    match = patterns.matcher(pattern)
    return wrap(np.array([match(s) for s in array.reshape(-1)], bool).reshape(array.shape))


def _buckets(op: str, input: Any, num_buckets: int, function: Callable[[bytes], int]) -> Any:
    array = strings_of(input, op)
    if num_buckets < 1:
        raise invalid(
            f"Value for attr 'num_buckets' of {num_buckets} must be at least minimum 1\n\t; NodeDef: {{{{node "
            f"{op}}}}}; "
            f"Op<name={op}; signature=input:string -> output:int64; attr=num_buckets:int,min=1>",
            op,
        )
    return wrap(np.array([function(s) % num_buckets for s in array.reshape(-1)], np.int64).reshape(array.shape))


def to_hash_bucket_fast(input: Any, num_buckets: int, name: str | None = None) -> Any:
    """FarmHash's 64-bit fingerprint of each string, modulo ``num_buckets``; int64.

    >>> import minitape as tf
    >>> tf.strings.to_hash_bucket_fast(["a", "b"], 10).numpy()
    array([9, 2])
    """
    return _buckets("StringToHashBucketFast", input, num_buckets, hashing.farm64)


def to_hash_bucket(input: Any, num_buckets: int, name: str | None = None) -> Any:
    """Another hash (MurmurHash64A) of each string, modulo ``num_buckets``; int64.

    >>> import minitape as tf
    >>> print(0 <= int(tf.strings.to_hash_bucket('a', 5)) < 5)
    True
    """
    return _buckets("StringToHashBucket", input, num_buckets, hashing.murmur64)


def to_hash_bucket_strong(input: Any, num_buckets: int, key: Any, name: str | None = None) -> Any:
    """A hash with a key of two integers (SipHash-2-4), modulo ``num_buckets``; int64.

    >>> import minitape as tf
    >>> print(0 <= int(tf.strings.to_hash_bucket_strong('a', 5, [1, 2])) < 5)
    True
    """
    if len_of(key) != 2:
        raise invalid("Key must have 2 elements", "StringToHashBucketStrong")
    return _buckets(
        "StringToHashBucketStrong", input, num_buckets, lambda s: hashing.sip64(s, int(key[0]), int(key[1]))
    )


# in a graph they are called when it runs: their results depend on the bytes of every element
for _name in ("as_string bytes_split format join length lower ngrams reduce_join regex_full_match regex_replace split "
              "strip substr to_hash_bucket to_hash_bucket_fast to_hash_bucket_strong to_number unicode_decode "
              "unicode_decode_with_offsets unicode_encode unicode_script unicode_split unicode_split_with_offsets "
              "unicode_transcode unsorted_segment_join upper").split():  # fmt: skip
    globals()[_name] = deferred(globals()[_name])


def __getattr__(name: str) -> Any:
    from .api import missing

    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(missing("tf.strings", name, [n for n in globals() if not n.startswith("_")]))
