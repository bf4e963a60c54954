"""The bytes of an event file: records with checksums, each an Event of TensorFlow's protocol buffers.

A record is its length, the checksum of that, the bytes, and the checksum of these:
https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details. An Event is
`event.proto`, its values are those of `summary.proto` and `tensor.proto`; only what is written here is spelled out.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

_POLYNOMIAL = 0x82F63B78  # of CRC-32C, its bits reversed
_CODES = {"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "object": 7, "int64": 9, "bool": 10}  # of DataType in types.proto


def _table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _table()


def crc32c(data: bytes) -> int:
    """The CRC-32C of bytes.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    crc, table = 0xFFFFFFFF, _TABLE
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def record(data: bytes) -> bytes:
    """Bytes as a record of a TFRecord file."""
    length = struct.pack("<Q", len(data))
    return length + _masked(length) + data + _masked(data)


def _masked(data: bytes) -> bytes:
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


# -- protocol buffers --------------------------------------------------------------------------------------------------


def _varint(number: int) -> bytes:
    number &= 0xFFFFFFFFFFFFFFFF  # a negative number takes ten bytes
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value) if value else b""


def _part(field: int, data: bytes) -> bytes:
    """A field that holds bytes: a text, or a message."""
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _message_of(array: np.ndarray) -> bytes:
    """A TensorProto."""
    shape = b"".join(_part(2, _number(1, size)) for size in array.shape)
    if array.dtype == object:
        content = b"".join(_part(8, one if isinstance(one, bytes) else str(one).encode()) for one in array.reshape(-1))
    else:
        content = _part(4, np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes())
    return _number(1, _CODES[array.dtype.name]) + _part(2, shape) + content


def metadata(plugin: str, kind: int, description: str | None) -> bytes:
    """A SummaryMetadata: which part of TensorBoard shows a value, and of which DataClass it is."""
    about = _part(3, description.encode()) if description else b""
    return _part(1, _part(1, plugin.encode())) + about + _number(4, kind)


def summary_event(when: float, step: int, tag: str, array: Any, about: bytes) -> bytes:
    """The Event of one value of a summary."""
    value = _part(1, tag.encode()) + _part(8, _message_of(np.asarray(array))) + _part(9, about)
    return _event(when) + _number(2, step) + _part(5, _part(1, value))


def first_event(when: float) -> bytes:
    """The Event with which every file begins."""
    return _event(when) + _part(3, b"brain.Event:2")


def _event(when: float) -> bytes:
    return _varint(1 << 3 | 1) + struct.pack("<d", when)
