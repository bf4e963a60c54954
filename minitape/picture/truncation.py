"""Shorten names, texts and lists, so that pictures of any program remain small and legible."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import islice

from .picture_texts import translate

MAX_NAME_LETTERS = 200  # The limit for a name in a snapshot. Boxes in the picture have room for fewer letters.
MAX_TEXT_LETTERS = 10_000  # The limit for the text of a value.
MAX_LINE_LETTERS = 1_000  # The limit for a line of source code.
MAX_LINES = 20_000  # The limit for a file.


def replace_unprintable(text: str) -> str:
    r"""Replace each unprintable character in a text with a space.

    Such characters may be invisible or reverse the order of adjacent letters.

    Args:
        text: The text, such as a name from the program.

    >>> replace_unprintable("a\x1b[31m\u202eb")
    'a [31m b'
    """
    return "".join(letter if letter.isprintable() else " " for letter in text)


def measure_width(text: str) -> int:
    """Return the width of a text in letters, where a Chinese, Japanese or Korean character counts as two.

    Args:
        text: The text.

    >>> measure_width("w1"), measure_width("权重")
    (2, 4)
    """
    if text.isascii():
        return len(text)
    return len(text) + sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)


def elide_text(text: str, max_width: int) -> str:
    """Shorten a text with an ellipsis if it is too wide, or return it unchanged.

    Args:
        text: The text.
        max_width: The maximum width, including the ellipsis, in letters as counted by ``measure_width``.

    >>> elide_text("velocity", 5), elide_text("隐藏层的权重", 6), elide_text("w", 5)
    ('velo…', '隐藏…', 'w')
    """
    if measure_width(text) <= max_width:
        return text
    end = max(1, max_width - 1)
    while end > 1 and measure_width(text[:end]) >= max_width:
        end -= 1
    return text[:end] + "…"


def shorten_name(name: str, max_width: int = MAX_NAME_LETTERS) -> str:
    """Return a name, shortened so that it fits into ``max_width`` letters.

    The last components of a path distinguish names better than the first ones, so the end of a path is kept. The first
    remaining component may lose its middle.

    Args:
        name: The name, which may be a path with dots, slashes or brackets.
        max_width: The maximum width, in letters as counted by ``measure_width``.

    >>> names = "w", "sequential/conv2d_1/kernel", "layers.0.linear.bias", "params['dense']['w']", "name_of_the_ball"
    >>> [shorten_name(name, 12) for name in names]
    ['w', 'co…_1/kernel', '…linear.bias', "…dense['w']", 'name_o…_ball']
    """
    if measure_width(name) <= max_width:
        return name
    name = re.sub(r"\['([^'.]*)'\](?=\[)", r".\1", name[-MAX_NAME_LETTERS:])  # The quotes of inner keys need room.
    if measure_width(name) > len(name):
        return elide_text(name, max_width)
    ending = name[-max_width - 2 :]  # Nothing else can fit, and a name may have a million components.
    tails = [ending[match.start() :].removeprefix(".") for match in re.finditer(r"[/.[]", ending)]
    candidates = (candidate for tail in tails if tail for candidate in (f"…{tail}", tail.removeprefix("/")))
    fitting_name = next((candidate for candidate in candidates if len(candidate) <= max_width), "")
    last_parts = re.search(r"([^/.]+)([/.[][^/.[]+)$", name)
    has_one_part = not re.search(r"\w[/.[]|\]\[", fitting_name)
    if fitting_name and last_parts and has_one_part:
        remaining_width = max_width - len(last_parts[2])
        if remaining_width > 3:
            return _elide_middle(last_parts[1], remaining_width) + last_parts[2]
    return fitting_name or _elide_middle(last_parts[2][1:] if last_parts else name, max_width)


def _elide_middle(text: str, max_width: int) -> str:
    return f"{text[: max_width // 2]}…{text[-((max_width - 1) // 2) :]}"


def shorten_text(text: str, max_letters: int = MAX_TEXT_LETTERS) -> str:
    """Return a text, or the beginning and length of a text with more than ``max_letters`` characters.

    Args:
        text: The text.
        max_letters: The number of characters to keep.

    >>> shorten_text("abcdefgh", 3)
    'abc… (8 characters)'
    """
    return text if len(text) <= max_letters else f"{text[:max_letters]}… ({len(text):,} characters)"


def join_and_truncate_lines(lines: Iterable[str]) -> str:
    """Return the text of a file, shortened to MAX_LINES lines of limited length, with line numbers unchanged.

    Args:
        lines: The lines of the file, with their line endings.
    """
    first_lines = [*islice(lines, MAX_LINES + 1)]
    if len(first_lines) > MAX_LINES:
        first_lines[MAX_LINES] = "… (the file is longer)\n"
    return "".join(
        line if len(line) <= MAX_LINE_LETTERS else shorten_text(line.rstrip("\r\n"), MAX_LINE_LETTERS) + "\n"
        for line in first_lines
    )


def join_first_items(items: Sequence[object], limit: int) -> str:
    """Return the first ``limit`` items as text, followed by the number of further items.

    Args:
        items: The items, which are converted to text with ``str``.
        limit: The number of items to write out.

    >>> join_first_items([3, 1, 4, 1, 5], 3)
    '3, 1, 4 and 2 more'
    """
    first_items = translate(", ").join(map(str, items[:limit]))
    if len(items) <= limit:
        return first_items
    return translate("{items} and {n} more", items=first_items, n=len(items) - limit)
