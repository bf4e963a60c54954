"""Convert arrays to the values of a snapshot (``ValueFields``), and pack them.

In packed form, a floating-point number is stored as text, with the prefix ``~`` for a float32. The form is compact
because the view of a long tape keeps and sends hundreds of thousands of numbers.
"""

from __future__ import annotations

import math
import threading
from typing import NamedTuple

import numpy as np
from numpy import float32, float64, ndarray

from ..engine.record.interrupt_safe import TemporaryAttributes
from ..engine.types import Array, NumberPair, Sizes
from .snapshot_types import OptionalValue, PackedValue, Plain, ValueFields
from .truncation import shorten_text


class TextOptions(threading.local):
    """How this thread writes the texts of arrays.

    Attributes:
        are_brief: Whether to leave out the elements of large arrays, and of small arrays that are finite. Writing the
            elements of a long recording takes several seconds, and a page of that length shows the numbers or the
            thumbnails.
    """

    are_brief = False


text_options = TextOptions()
MAX_ROWS_WITH_TEXTS = 5_000  # Pictures of recordings with more rows than this omit the texts of arrays.
MAX_STRING_LETTERS = 1000  # Longer strings in a tensor are shortened.


def leave_out_texts_if_long(row_count: int) -> TemporaryAttributes:
    """Return a block in which arrays are shown without the texts of their elements if the recording is long.

    Args:
        row_count: The number of rows in the recording.
    """
    return TemporaryAttributes(text_options, are_brief=row_count > MAX_ROWS_WITH_TEXTS)


def to_value_fields(value: Array) -> OptionalValue:
    """Return the snapshot's ``ValueFields`` for a NumPy scalar or array.

    Args:
        value: A NumPy scalar or array of any dtype, or None.

    Returns:
        The text and all elements of an array with up to 64 elements, or the statistics and a thumbnail of a larger
        numeric array. The result is None for None.

    >>> to_value_fields(np.float32(0.1))
    {'text': '0.1', 'data': 0.10000000149011612}
    """
    if value is None:
        return None
    array = np.asarray(value)
    if array.size <= 64:
        text = "" if array.ndim and text_options.are_brief and _is_finite(array) else shorten_text(str(value))
        return {"text": text, "data": _to_json_list(array)}
    if array.dtype.kind not in "biufV":
        return {"text": shorten_text(np.array2string(array, threshold=24, edgeitems=2))}
    with np.errstate(invalid="ignore"):  # Uninitialized memory may contain signaling NaNs, which cause warnings.
        return ArraySummary.summarize_array(array).shown()


def pack_value(value: Array) -> PackedValue:
    """Return a value in packed form, which is the text of a floating-point scalar or else the ``ValueFields``.

    Args:
        value: A NumPy scalar or array of any dtype, or None.

    >>> pack_value(np.float32(0.1)), pack_value(np.float64(0.1)), pack_value(np.array([1, 2]))
    ('~0.1', '0.1', {'text': '[1 2]', 'data': [1, 2]})
    """
    if type(value) is float32:
        return "~" + str(value)
    return str(value) if type(value) is float64 else to_value_fields(value)


def unpack_value(packed: PackedValue) -> OptionalValue:
    """Return the ``ValueFields`` of a packed value.

    Args:
        packed: The result of ``pack_value``. ``ValueFields`` and None are returned unchanged.

    >>> unpack_value("~0.1")
    {'text': '0.1', 'data': 0.10000000149011612}
    """
    if not isinstance(packed, str):
        return packed
    text = packed.removeprefix("~")
    return {"text": text, "data": _to_short_json_data(float(text if packed is text else float32(text)))}


def _to_json_list(array: ndarray) -> Plain:
    """Return the elements of an array as JSON types, in nested lists."""
    elements = array.tolist()
    return elements if _is_finite(array) else _to_short_json_data(elements)


def _is_finite(array: ndarray) -> bool:
    """Return whether the elements of an array are real numbers, without NaN and infinity."""
    return array.dtype.kind in "biuf" and bool(np.isfinite(array).all())


def _to_short_json_data(data: object) -> Plain:
    """Convert data to JSON types, with NaN, infinities, complex numbers and bytes as text."""
    if isinstance(data, list):
        return [_to_short_json_data(item) for item in data]
    if isinstance(data, float):
        return data if math.isfinite(data) else str(data)
    if isinstance(data, int):
        return data
    return shorten_text(data.decode("utf-8", "replace") if isinstance(data, bytes) else str(data), MAX_STRING_LETTERS)


class ArraySummary(NamedTuple):
    """The summary of a large array of real numbers, which outlives the array itself.

    ``summarize_array`` computes it in one pass. ``shown`` converts it to texts and lists when a picture needs them.

    Attributes:
        edges: The first three and last two elements along each axis, which are printed in the array's text, or None if
            they were not kept.
        thumb: The thumbnail as a two-dimensional array, and the width of a cell relative to its height.
        stats: The minimum and maximum without NaN, the mean and standard deviation of the finite elements, and the
            numbers of zeros and NaNs. Summaries from a device contain only the minimum, the maximum and the norm of all
            elements.
        facts: Whether all elements are zero, and whether all are finite.
    """

    edges: ndarray | None
    thumb: tuple[ndarray, float]
    stats: dict[str, float]
    facts: tuple[bool, bool]

    @classmethod
    def summarize_array(cls, array: ndarray) -> ArraySummary:
        """Return the summary of an array.

        Args:
            array: An array of real numbers, of any shape with more than 64 elements.

        >>> values = np.arange(300.0).reshape(3, 100)
        >>> ArraySummary.summarize_array(values).shown()["stats"]["mean"]
        149.5
        """
        edges = array
        for axis, length in enumerate(array.shape):
            if length > 5:
                edges = edges.take([0, 1, 2, length - 2, length - 1], axis)
        if array.dtype.kind == "V" or array.dtype.itemsize < 4:
            array = array.astype(float32)
        thumb = _shrink_to_thumbnail(array)
        count = array.size
        nans = 0
        zeros = int(np.count_nonzero(array == 0))
        low = float(array.min())
        high = float(array.max())
        if not np.isfinite([low, high]).all():
            nans = int(np.isnan(array).sum())
            low = float(np.fmin.reduce(array, None))
            high = float(np.fmax.reduce(array, None))
            array = array[np.isfinite(array)]
            array = array if array.size else np.array([np.nan])
        flat = array.reshape(-1)
        if array.dtype.kind != "f":
            flat = flat.astype(float64)
        with np.errstate(all="ignore"):
            mean = float(flat.sum()) / flat.size
            variance = float(np.dot(flat, flat)) / flat.size - mean * mean
        if mean * mean / 50 < variance < np.inf:
            std = math.sqrt(variance)
        else:
            # The difference has lost most of its digits, or the squares overflow. Scale by the largest element instead.
            unit = float(abs(flat).max()) or 1.0
            flat = flat.astype(float64) / unit
            mean = float(flat.mean()) * unit
            std = float(flat.std()) * unit
        facts = zeros == count, array.size == count
        stats = {"min": low, "max": high, "mean": mean, "std": std, "zeros": zeros, "nans": nans}
        return cls(edges, thumb, stats, facts)

    def shown(self) -> ValueFields:
        """Return the ``ValueFields`` of the array."""
        lines, cell = self.thumb
        text = "[{min} … {max}]".format_map(self.stats)
        if self.edges is not None and not text_options.are_brief:
            text = np.array2string(self.edges, threshold=0, edgeitems=2)
        return {
            "text": shorten_text(text),
            "stats": {name: _to_short_json_data(number) for name, number in self.stats.items()},
            "thumb": _to_json_list(lines),
            "cell": cell,
        }


def _shrink_to_thumbnail(array: ndarray) -> tuple[ndarray, float]:
    """Return a thumbnail as a two-dimensional array, and the width of a cell relative to its height.

    A vector becomes a single line. If an array has more axes, its last axis runs along the lines and all others are
    stacked.

    >>> lines, cell = _shrink_to_thumbnail(np.zeros([320, 16]))
    >>> lines.shape, cell
    ((32, 16), 0.1)
    """
    lines = array.reshape(-1, array.shape[-1])
    row_step, column_step = compute_thumbnail_steps(array.shape)
    return lines[::row_step, ::column_step].astype(float64), column_step / row_step


def compute_thumbnail_steps(shape: Sizes) -> NumberPair:
    """Return the distances between the lines, and between the columns, that a thumbnail shows of an array.

    Args:
        shape: The shape of the array.

    >>> compute_thumbnail_steps((320, 16)), compute_thumbnail_steps((400,))
    ((10, 1), (1, 2))
    """
    line_count = math.prod(shape[:-1])
    width = shape[-1]
    return -(-line_count // 32), -(-width // (32 if len(shape) > 1 else 200))
