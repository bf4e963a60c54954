"""Text as bytes and back, paths as text, and which types count as numbers and text."""

from __future__ import annotations

import numbers
import os
from typing import Any

import numpy as np

bytes_or_text_types = (bytes, str)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)


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


def path_to_str(path: Any) -> Any:
    """A path as text; anything else as it is.

    >>> import minitape as tf, pathlib
    >>> tf.compat.path_to_str(pathlib.PurePosixPath("a/b")), tf.compat.path_to_str(3)
    ('a/b', 3)
    """
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path
