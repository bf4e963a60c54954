"""Format numbers with four digits, and arrays as shapes and blue-and-vermilion thumbnails.

widgets/frontend/src/value.ts and heatmap.ts apply the same rules to the live picture.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from math import inf, isfinite, log10, nan

import numpy as np
from numpy import where

from ..engine.types import OptionalText
from .picture_texts import translate
from .snapshot_types import OptionalValue, Plain, ValueFields
from .truncation import elide_text, measure_width

DIGITS = 4
MIN_PLAIN = 1e-4  # Smaller numbers have an exponent.
MAX_EXACT_LETTERS = 6  # Numbers up to this length are not rounded.
TIES_UP = 1 + 2**-52  # Rounds 0.03125 to 0.0313, as browsers do, and not to the even digit.
MAX_ELEMENTS = 8  # Larger arrays are not written out.
NEGATIVE_COLOR = (0, 114, 178)
ZERO_COLOR = (242, 242, 242)
POSITIVE_COLOR = (213, 94, 0)
NONFINITE_COLOR = (168, 68, 127)
MIN_SIZE = 5  # The minimum width and height of a thumbnail, in pixels.
CELL_SIZE = 1.6  # The minimum width and height of a thumbnail cell, in pixels.
COLOR_LEVELS = 5  # The number of colors on each side of zero.


def shorten_number_text(text: str, digits: int = DIGITS, min_plain: float = MIN_PLAIN) -> str:
    """Return a number rounded to ``digits`` significant digits.

    A short text is returned unchanged, as is a text that is not a finite real number with a point or exponent.

    Args:
        text: The number as printed by NumPy or Python.
        digits: The number of significant digits.
        min_plain: The smallest magnitude without an exponent.

    >>> texts = "0.10000000149011612", "-1.7e-05", "123456.78", "3.0", "12345678.0", "nan", "-0.0"
    >>> [shorten_number_text(text) for text in texts]
    ['0.1', '-1.7e-5', '123457', '3.0', '1.235e7', 'nan', '0.0']
    """
    if not any(sign in text for sign in ".e"):
        return text
    try:
        number = float(text)
    except ValueError:
        return text
    if not number:
        return text.removeprefix("-")  # Only a division by a zero shows its sign.
    if not isfinite(number) or (len(text) <= MAX_EXACT_LETTERS and digits == DIGITS):
        return text
    rounded_up = number * TIES_UP
    if not min_plain <= abs(number) < 1e6:
        mantissa, power = f"{rounded_up:.{digits - 1}e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(power)}"
    whole_digits = int(log10(abs(number))) + 1 if abs(number) >= 1 else 0
    short_text = repr(float(f"{rounded_up:.{max(digits, whole_digits)}g}"))
    return short_text if number.is_integer() else short_text.removesuffix(".0")  # "2.0" is exact, and "2" is rounded.


def format_value(value: ValueFields, max_letters: int) -> OptionalText:
    """Return a number or a small array on one line, with as many digits as fit.

    Args:
        value: The value.
        max_letters: The maximum number of characters.

    Returns:
        The text, or None if it does not fit or the array has more than MAX_ELEMENTS elements.

    >>> format_value({"text": "[0.5 2.  18.25]", "data": [0.5, 2.0, 18.25]}, 15)
    '[0.5 2. 18.25]'
    """
    text = value.get("text", "")
    data = value.get("data", "")
    if "thumb" in value or np.size(data) > MAX_ELEMENTS:
        return None
    texts = _iter_ever_shorter_number_texts(text, DIGITS)
    if isinstance(data, list):
        texts = (_format_elements(data, digits) for digits in range(DIGITS, 1, -1))
    return next((candidate for candidate in texts if len(candidate) <= max_letters), None)


def _iter_ever_shorter_number_texts(text: str, digits: int) -> Iterator[str]:
    """Yield a number with ``digits`` significant digits and with fewer, each time also with an exponent."""
    for count in range(digits, 0, -1):
        for min_plain in (MIN_PLAIN, inf):
            yield shorten_number_text(text, count, min_plain)


def format_shape(shape: Iterable[int], max_width: int = 1000) -> str:
    """Return a shape as text.

    Args:
        shape: The length of each axis.
        max_width: The maximum width in letters. If the text is wider, only the first and last axes are shown.

    >>> format_shape([16]), format_shape([4, 12, 12, 3], 10)
    ('(16,)', '(4, …, 3)')
    """
    lengths = tuple(shape)
    text = str(lengths)
    if len(text) > max_width and len(lengths) > 2:
        text = f"({lengths[0]}, …, {lengths[-1]})"
    return elide_text(text, max_width)


def format_magnitude(value: ValueFields, max_letters: int) -> str:
    """Write out a number or a small array, or return the largest magnitude in a larger array.

    ``sizeOf`` in value.ts does the same.

    Args:
        value: The value.
        max_letters: The maximum number of characters.

    Returns:
        The text of ``format_value`` if it fits. Otherwise "±2" for a largest magnitude of 2, "each 0" if all elements
        are equal, "NaN", or "inf" for an array with infinities. A value that is not numeric is shortened.

    >>> array, number = {"text": "", "data": [[0.5, -2.0]] * 5}, {"text": "0.25", "data": 0.25}
    >>> format_magnitude(array, 9), format_magnitude(number, 9)
    ('±2', '0.25')
    >>> format_magnitude({"text": "", "data": [0.0] * 9}, 9), format_magnitude({"text": "", "data": [0.5, "-inf"]}, 5)
    ('each 0', 'inf')
    >>> [format_magnitude({"text": text, "data": float(text)}, 8) for text in ("0.0015954", "-0.00013589")]
    ['0.001595', '-1.36e-4']
    """
    text = format_value(value, max_letters)
    if text is not None or ("stats" not in value and not _to_thumbnail_lines(value).size):
        return text or elide_text(value.get("text", ""), max_letters)
    size = compute_largest_magnitude(value)
    low, high = _read_minimum_and_maximum(value)
    if low == high:
        number = shorten_number_text(repr(low + 0.0)).removesuffix(".0")
        if measure_width(description := translate("each {0}").format(number)) <= max_letters:
            return description
    if not isfinite(size):
        return "inf" if size == inf else "NaN"
    sign, size = ("", low) if np.size(value.get("data", ())) == 1 else ("±", size)
    # The size is rounded once, because 0.00435439 is 0.0044 although 0.00435 is not. A whole number keeps three digits.
    number = repr(size) if size < 1000 else f"{size:.3g}"
    texts = [sign + text.removesuffix(".0") for text in _iter_ever_shorter_number_texts(number, 3)]
    return next((candidate for candidate in texts if len(candidate) <= max_letters), texts[-1])


def format_magnitude_and_shape(value: ValueFields, shape: Sequence[int], max_letters: int) -> str:
    """Return the text of ``format_magnitude``, followed by the shape of an array that is not written out.

    Args:
        value: The value.
        shape: The length of each axis.
        max_letters: The maximum number of characters of each part.
    """
    text = format_magnitude(value, max_letters)
    return f"{text}  {format_shape(shape, max_letters)}" if shape and not text.startswith("[") else text


def compute_largest_magnitude(value: ValueFields) -> float:
    """Return the largest magnitude of the elements of a value.

    Args:
        value: The value in snapshot form.

    Returns:
        The largest absolute value, or NaN if the value contains NaN or is not numeric.

    >>> compute_largest_magnitude({"text": "", "data": [1.0, -3.0]})
    3.0
    """
    with suppress(ValueError):
        return nan if value.get("stats", {}).get("nans") else max(map(abs, _read_minimum_and_maximum(value)))
    return nan


def _read_minimum_and_maximum(value: ValueFields) -> tuple[float, float]:
    """Return the minimum and maximum of a value, or raise ValueError if it contains no real numbers."""
    stats = value.get("stats")
    lines = _to_thumbnail_lines(value)
    if stats is None and lines.size:
        return float(lines.min()), float(lines.max())
    minimum, maximum = (stats["min"], stats["max"]) if stats else (value.get("text", ""),) * 2
    return float(str(minimum)), float(str(maximum))


def _format_elements(data: Plain, digits: int) -> str:
    if isinstance(data, list):
        return f"[{' '.join(_format_elements(item, digits) for item in data)}]"
    if not isinstance(data, float):
        return str(data)
    text = shorten_number_text(repr(data), digits)
    return text.removesuffix("0") if text.endswith(".0") else text


# -- thumbnails ------------------------------------------------------------------------------------


def draw_thumbnail(value: OptionalValue, x: float, y: float, max_width: float, max_height: float) -> str:
    """Draw an array as a small SVG image with the array's proportions.

    If the image has fewer cells than the array has elements, each cell shows the element of largest magnitude in its
    area.

    Args:
        value: The value.
        x: The left edge of the image, in pixels.
        y: The top edge of the available space, in which the image is centered vertically.
        max_width: The width of that space.
        max_height: The height of that space.

    Returns:
        The SVG, or "" for a value that is not an array of at least two real numbers.

    >>> draw_thumbnail({"text": "", "data": [1.0, -1.0]}, 0, 0, 20, 10).count("fill=")
    3
    """
    lines = _to_thumbnail_lines(value)
    if value is None or lines.size < 2:
        return ""
    relative_width = lines.shape[1] * value.get("cell", 1.0)
    unit = min(max_width / relative_width, max_height / len(lines))
    width = max(MIN_SIZE, relative_width * unit)
    height = max(MIN_SIZE, len(lines) * unit)
    y += (max_height - height) / 2
    rows = min(len(lines), int(height / CELL_SIZE))
    columns = min(lines.shape[1], int(width / CELL_SIZE))
    row_starts, column_starts = (
        np.arange(count) * length // count for count, length in zip((rows, columns), lines.shape, strict=True)
    )
    maxima, minima = (
        reduce.reduceat(reduce.reduceat(lines, row_starts), column_starts, 1) for reduce in (np.maximum, np.minimum)
    )
    strongest = where(maxima < -minima, minima, maxima)
    largest = abs(lines[np.isfinite(lines)]).max(initial=0.0) or 1.0
    share = strongest / largest
    dx = width / columns
    dy = height / rows
    levels = where(np.isfinite(share), np.rint(COLOR_LEVELS * np.sign(share) * abs(share) ** 0.5), inf)
    cells = ""
    for level in np.unique(levels):
        path = "".join(
            f"M{x + column * dx} {y + row * dy}h{dx}v{dy}h{-dx}z" for row, column in np.argwhere(levels == level)
        )
        cells += f'<path d="{path}" fill="{_choose_cell_color(level)}"/>'
    place = f'x="{x}" y="{y}" width="{width}" height="{height}"'
    return f'{cells}<rect {place} fill="none" stroke="#b3bac2" stroke-width="0.6"/>'


def _choose_cell_color(signed_color_level: float) -> str:
    share = min(1.0, abs(signed_color_level) / COLOR_LEVELS) ** 0.7
    if signed_color_level == inf:
        end = NONFINITE_COLOR
    else:
        end = NEGATIVE_COLOR if signed_color_level < 0 else POSITIVE_COLOR
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(ZERO_COLOR, end, strict=True))


def _to_thumbnail_lines(value: OptionalValue) -> np.ndarray:
    """Return the elements of a value as a two-dimensional array for a thumbnail.

    A vector becomes a single line. If an array has more than two axes, all but the last are stacked. A value that is
    not an array of real numbers becomes an array without elements.
    """
    data = None if value is None else value.get("thumb", value.get("data"))
    if isinstance(data, list) and data:
        with suppress(TypeError, ValueError):
            array = np.array(data, float)
            return array.reshape(-1, array.shape[-1] or 1)
    return np.zeros((0, 0))
