"""Strings as base64 and as raw numbers."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.invalid import invalid
from ...engine.opdefs import accept_attr
from ...engine.operands import worded
from ...engine.tensor import Tensor, wrap
from .values import each, strings_of


def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Tensor:
    """Base64 in its form for URLs, padded with ``=`` if ``pad``, in the shape of ``input``.

    InvalidArgumentError for a tensor that holds no strings.

    >>> import minitape as tf
    >>> tf.io.encode_base64("hello").numpy()
    b'aGVsbG8'
    """

    def one(s: bytes) -> bytes:
        out = base64.urlsafe_b64encode(s)
        return out if pad else out.rstrip(b"=")

    return each(one, strings_of(input, "EncodeBase64"))


def decode_base64(input: Any, name: str | None = None) -> Tensor:
    """What ``encode_base64`` made, back, with padding or without. InvalidArgumentError for other text.

    >>> import minitape as tf
    >>> tf.io.decode_base64("aGVsbG8").numpy()
    b'hello'
    """

    def one(s: bytes) -> bytes:
        bare = s.rstrip(b"=")
        if len(bare) % 4 == 1:
            raise invalid("Base64 string length cannot be 1 modulo 4.", "DecodeBase64")
        try:
            return base64.b64decode(bare + b"=" * (-len(bare) % 4), altchars=b"-_", validate=True)
        except ValueError:
            raise invalid("Invalid character found in base64.", "DecodeBase64") from None

    return each(one, strings_of(input, "DecodeBase64"))


@worded
def decode_raw(
    input_bytes: Any,
    out_type: Any,
    little_endian: bool = True,
    fixed_length: int | None = None,
    name: str | None = None,
) -> Tensor:
    """The bytes of each string as numbers of ``out_type``, along a new last axis.

    All strings must have the same length, or are cut and filled up with zero bytes to ``fixed_length``.
    InvalidArgumentError for strings of several lengths, for a length that is no multiple of the number's size, and for
    a type that is no number.

    >>> import minitape as tf
    >>> tf.io.decode_raw("ab", tf.uint8).numpy()
    array([97, 98], dtype=uint8)
    """
    array = strings_of(input_bytes, "DecodeRaw")
    dtype = dtypes.as_dtype(out_type)
    accept_attr("DecodeRaw" if fixed_length is None else "DecodePaddedRaw", "out_type", dtype)
    kind = np.dtype(dtype.as_numpy_dtype)
    if fixed_length is not None and fixed_length % kind.itemsize:
        raise invalid(
            f"fixed_length ({fixed_length}) must be a multiple of the size of out_type ({kind.itemsize})",
            "DecodePaddedRaw",
        )
    flat = list(array.reshape(-1))
    if fixed_length is not None:
        flat = [s[:fixed_length].ljust(fixed_length, b"\0") for s in flat]
    size = len(flat[0]) if flat else 0
    for s in flat[1:]:
        if len(s) != size:
            raise invalid(
                f"DecodeRaw requires input strings to all be the same size, but element 1 has size {size} != {len(s)}",
                "DecodeRaw",
            )
    if size % kind.itemsize:
        raise invalid(
            f"Input to DecodeRaw has length {size} that is not a multiple of {kind.itemsize}, the size of {dtype.name}",
            "DecodeRaw",
        )
    out = np.frombuffer(b"".join(flat), kind if little_endian or kind.itemsize == 1 else kind.newbyteorder(">")).astype(
        kind
    )
    return wrap(out.reshape((*array.shape, size // kind.itemsize)))
