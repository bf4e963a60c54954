"""Text as bytes and back."""

from __future__ import annotations

from typing import Any


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Text as bytes; TypeError for anything else.

    >>> import minitape as tf
    >>> tf.compat.as_bytes("abc")
    b'abc'
    """
    if isinstance(bytes_or_text, bytearray):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Bytes as text; TypeError for anything else.

    >>> import minitape as tf
    >>> tf.compat.as_text(b"abc")
    'abc'
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """Any value as text.

    Bytes are decoded (UnicodeDecodeError if they are not of the ``encoding``), other values become their ``str``.

    >>> import minitape as tf
    >>> tf.compat.as_str_any(3)
    '3'
    """
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)
