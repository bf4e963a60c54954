"""Unicode: characters of strings, code points, other encodings."""

from __future__ import annotations

import codecs
import unicodedata
from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.convert import convert_to_tensor
from ...engine.invalid import invalid
from ...engine.opdefs import accept, accept_text
from ...engine.operands import deferred, strict
from ...engine.tensor import Tensor, wrap
from .values import each, rows, strings_of, texts

ENCODINGS = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}
REPLACEMENT = 0xFFFD
_WITH_OFFSETS = "UnicodeDecodeWithOffsets"
# ICU's numbers of scripts, by the first word of a character's name
_SCRIPTS = """
LATIN 25 GREEK 14 CYRILLIC 8 ARMENIAN 3 HEBREW 19 ARABIC 2 DEVANAGARI 10 BENGALI 4 THAI 38 LAO 24 TIBETAN 39
GEORGIAN 12 HANGUL 18 ETHIOPIC 11 CHEROKEE 6 KHMER 23 MONGOLIAN 27 HIRAGANA 20 KATAKANA 22 BOPOMOFO 5 CJK 17
TAMIL 35 TELUGU 36 KANNADA 21 MALAYALAM 26 SINHALA 33 MYANMAR 28 GUJARATI 15 GURMUKHI 16 ORIYA 31 SYRIAC 34
""".split()
SCRIPTS = dict(zip(_SCRIPTS[::2], map(int, _SCRIPTS[1::2]), strict=True))


def characters(s: bytes) -> list[bytes]:
    """The UTF-8 characters of a string, as bytes."""
    out: list[bytes] = []
    for i in range(len(s)):
        if s[i] & 0xC0 == 0x80 and out:
            out[-1] += s[i : i + 1]
        else:
            out.append(s[i : i + 1])
    return out


def _codec(encoding: str, op: str) -> str:
    """Python's name of an encoding; InvalidArgumentError for one that it does not know."""
    name = ENCODINGS.get(encoding, encoding)
    try:
        codecs.lookup(name)
    except LookupError:
        raise invalid(f"Could not create converter for input encoding: {encoding}", op) from None
    return name


def _points(s: bytes, codec: str, errors: str, replacement: int, replace_control: bool) -> list[tuple[int, int, int]]:
    """(code point, where it begins, how many bytes) of each character."""
    found, at = [], 0
    while at < len(s):
        size, char = _next(s, at, codec)
        if char is None:
            if errors == "strict":
                raise invalid("Invalid formatting on input string", "UnicodeDecode")
            if errors == "replace":
                found.append((replacement, at, size))
        else:
            point = ord(char)
            control = replace_control and point < 32
            found.append((replacement if control else point, at, size))
        at += size
    return found


def _next(s: bytes, at: int, codec: str) -> tuple[int, str | None]:
    """How many bytes the next character takes, and which it is; None for bytes that are none."""
    for size in range(1, 5):
        try:
            text = s[at : at + size].decode(codec)
        except UnicodeDecodeError:
            continue
        if len(text) == 1 and at + size <= len(s):
            return size, text
    return 1, None


# what is made of a character, given as _points has it, and of which dtype
_PARTS: dict[str, tuple[Any, Any]] = {
    "point": (lambda character, codec: character[0], np.int32),
    "offset": (lambda character, codec: character[1], np.int64),
    "bytes": (lambda character, codec: chr(character[0]).encode(codec), object),
}


def _decoded(
    op: str, part: str, input: Any, encoding: str, errors: str, replacement: int, control: bool = False
) -> Any:
    """A part of each character: a tensor for one string, else ragged with one more axis."""
    accept_text(op, "errors", errors)
    array, codec = strings_of(input, op), _codec(encoding, op)
    made, dtype = _PARTS[part]
    return rows(array, lambda s: [made(c, codec) for c in _points(s, codec, errors, replacement, control)], dtype)


@strict
def unicode_decode(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = REPLACEMENT,
    replace_control_characters: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """The code points of each string, int32: a tensor for one string, else ragged with one more axis.

    ``input_encoding`` is "UTF-8", "UTF-16-BE", "UTF-32-BE" or another that Python knows. Bytes that are no character
    become ``replacement_char``, are left out with ``errors="ignore"``, or raise InvalidArgumentError with "strict".
    InvalidArgumentError also for an unknown encoding and for a tensor that holds no strings.

    >>> import minitape as tf
    >>> tf.strings.unicode_decode("hi", "UTF-8").numpy()
    array([104, 105], dtype=int32)
    """
    given = (input, input_encoding, errors, replacement_char, replace_control_characters)
    return _decoded("UnicodeDecode", "point", *given)


@strict
def unicode_decode_with_offsets(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = REPLACEMENT,
    replace_control_characters: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """The code points (int32), and at which byte each begins (int64); arguments and errors of ``unicode_decode``.

    >>> import minitape as tf
    >>> points, places = tf.strings.unicode_decode_with_offsets('aé', 'UTF-8')
    >>> print(points.numpy(), places.numpy())
    [ 97 233] [0 1]
    """
    given = (input, input_encoding, errors, replacement_char, replace_control_characters)
    return _decoded(_WITH_OFFSETS, "point", *given), _decoded(_WITH_OFFSETS, "offset", *given)


@strict
def unicode_split(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = REPLACEMENT, name: str | None
    = None,
) -> Any:  # fmt: skip
    """The characters of each string, as strings: a tensor for one string, else ragged with one more axis.

    Arguments and errors are those of ``tf.strings.unicode_decode``.

    >>> import minitape as tf
    >>> tf.strings.unicode_split(["hi", "a"], "UTF-8")
    <tf.RaggedTensor [[b'h', b'i'], [b'a']]>
    """
    return _decoded("UnicodeDecode", "bytes", input, input_encoding, errors, replacement_char)


@strict
def unicode_split_with_offsets(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = REPLACEMENT, name: str | None
    = None,
) -> Any:  # fmt: skip
    """The characters, and at which byte each begins (int64); arguments and errors of ``unicode_decode``.

    >>> import minitape as tf
    >>> parts, places = tf.strings.unicode_split_with_offsets('aé', 'UTF-8')
    >>> print(places.numpy())
    [0 1]
    """
    given = (input, input_encoding, errors, replacement_char)
    return _decoded(_WITH_OFFSETS, "bytes", *given), _decoded(_WITH_OFFSETS, "offset", *given)


@strict
def unicode_encode(
    input: Any, output_encoding: str, errors: str = "replace", replacement_char: int = REPLACEMENT, name: str | None
    = None,
) -> Any:  # fmt: skip
    """Strings from code points (int32): the last axis, which may be ragged, is joined.

    What is no code point becomes ``replacement_char``, is left out with ``errors="ignore"``, or raises
    InvalidArgumentError with "strict", as do an output encoding other than UTF-8, UTF-16-BE and UTF-32-BE, and other
    dtypes.

    >>> import minitape as tf
    >>> tf.strings.unicode_encode([104, 105], "UTF-8").numpy()
    b'hi'
    """
    from ..ragged.tensor import RaggedTensor, make

    accept_text("UnicodeEncode", "errors", errors)
    accept_text("UnicodeEncode", "output_encoding", output_encoding)
    codec = ENCODINGS[output_encoding]

    def one(points: Any) -> bytes:
        out = []
        for p in points:
            if 0 <= p <= 0x10FFFF and not 0xD800 <= p < 0xE000:
                out.append(chr(p))
            elif errors == "strict":
                raise invalid("Code point is out of range for Unicode, or is a surrogate.", "UnicodeEncode")
            elif errors == "replace":
                out.append(chr(replacement_char))
        return "".join(out).encode(codec)

    if isinstance(input, RaggedTensor):
        if isinstance(input.values, RaggedTensor):
            return make(
                unicode_encode(input.values, output_encoding, errors, replacement_char), input._splits, input._uniform
            )
        return texts([one(row) for row in input.to_list()])
    tensor = convert_to_tensor(input)
    accept("UnicodeEncode", tensor.dtype)
    array = np.asarray(tensor.array)
    return texts([one(row.tolist()) for row in array.reshape((-1, array.shape[-1]))], array.shape[:-1])


@deferred
def unicode_transcode(
    input: Any, input_encoding: str, output_encoding: str, errors: str = "replace", replacement_char: int =
    REPLACEMENT, replace_control_characters: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Strings from one encoding in another (UTF-8, UTF-16-BE or UTF-32-BE), in the shape of ``input``.

    The other arguments and the errors are those of ``tf.strings.unicode_decode``.

    >>> import minitape as tf
    >>> print(tf.strings.unicode_transcode('é', 'UTF-8', 'UTF-16-BE').numpy() == b'\\x00\\xe9')
    True
    """
    op = "UnicodeTranscode"
    accept_text(op, "errors", errors)
    accept_text(op, "output_encoding", output_encoding)
    array, before, after = strings_of(input, op), _codec(input_encoding, op), ENCODINGS[output_encoding]

    def one(s: bytes) -> bytes:
        points = _points(s, before, errors, replacement_char, replace_control_characters)
        return "".join(chr(p[0]) for p in points).encode(after)

    return each(one, array)


@deferred
def unicode_script(input: Any, name: str | None = None) -> Tensor:
    """ICU's number of the script that each code point belongs to (0 for common ones, 1 for marks), int32.

    The result has the shape of ``input``, which is int32 (else InvalidArgumentError); -1 for what is no code point.

    >>> import minitape as tf
    >>> print(tf.strings.unicode_script([97]).numpy())
    [25]
    """
    tensor = convert_to_tensor(input) if isinstance(input, Tensor) else convert_to_tensor(input, dtypes.int32)
    accept("UnicodeScript", tensor.dtype)
    array = np.asarray(tensor.array)

    def one(point: int) -> int:
        if not 0 <= point <= 0x10FFFF:
            return -1
        char = chr(point)
        if unicodedata.combining(char):
            return 1
        word = unicodedata.name(char, "").split(" ")[0].split("-")[0]
        return SCRIPTS.get(word, 0) if char.isalpha() or word == "CJK" else 0

    return wrap(np.array([one(int(p)) for p in array.reshape(-1)], np.int32).reshape(array.shape))
