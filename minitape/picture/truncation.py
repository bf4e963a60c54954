"""What keeps a picture small and legible whatever a program is called, says and computes: names, texts and lists are
cut.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import islice

from .picture_texts import translate

MAX_NAME_LETTERS = 200  # letters of a name in a snapshot; a box of the picture has room for fewer
MAX_TEXT_LETTERS = 10_000  # of a value's text
MAX_LINE_LETTERS = 1_000  # of a line of source
MAX_LINES = 20_000  # of a file


def replace_unprintable(text: str) -> str:
    """Return the text, such as a name, with blanks for characters that are invisible or reverse their neighbours.

    >>> replace_unprintable("a\\x1b[31m\\u202eb")
    'a [31m b'
    """
    return "".join(letter if letter.isprintable() else " " for letter in text)


def measure_width(text: str) -> int:
    """Return how wide a text is, in letters: a Chinese, Japanese or Korean character takes the room of two.

    >>> measure_width("w1"), measure_width("权重")
    (2, 4)
    """
    return len(text) + (0 if text.isascii() else sum(unicodedata.east_asian_width(letter) in "WF" for letter in text))


def elide_text(text: str, max_width: int) -> str:
    """Return as much of a text as fits, with a sign for what is left out.

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
    """Return a name that fits: of a path the last parts, the first of them with both its ends.

    They tell names apart better than the beginning.

    >>> names = "w", "sequential/conv2d_1/kernel", "layers.0.linear.bias", "params['dense']['w']", "name_of_the_ball"
    >>> [shorten_name(name, 12) for name in names]
    ['w', 'co…_1/kernel', '…linear.bias', "…['w']", 'name_o…_ball']
    """
    if measure_width(name) <= max_width:
        return name
    if measure_width(name) > len(name):
        return elide_text(name, max_width)
    ending = name[-max_width - 2 :]  # all that may fit: a name may have a million parts
    tails = [ending[match.start() :].removeprefix(".") for match in re.finditer(r"[/.[]", ending)]
    candidates = (candidate for tail in tails if tail for candidate in (f"…{tail}", tail.removeprefix("/")))
    fitting_name = next((candidate for candidate in candidates if len(candidate) <= max_width), "")
    last_parts = re.search(r"([^/.]+)([/.][^/.]+)$", name[-MAX_NAME_LETTERS:])
    if (
        fitting_name
        and last_parts
        and not re.search(r"\w[/.]", fitting_name)
        and (remaining_width := max_width - len(last_parts[2])) > 3
    ):
        return _elide_middle(last_parts[1], remaining_width) + last_parts[2]
    return fitting_name or _elide_middle(last_parts[2][1:] if last_parts else name, max_width)


def _elide_middle(text: str, max_width: int) -> str:
    return f"{text[: max_width // 2]}…{text[-((max_width - 1) // 2) :]}"


def shorten_text(text: str, max_letters: int = MAX_TEXT_LETTERS) -> str:
    """Return the beginning of a long text, and how long it is.

    >>> shorten_text("abcdefgh", 3)
    'abc… (8 characters)'
    """
    return text if len(text) <= max_letters else f"{text[:max_letters]}… ({len(text):,} characters)"


def join_shortened_lines(lines: Iterable[str]) -> str:
    """Return the text of a file without what is too long to be shown; lines keep their numbers."""
    first_lines = [*islice(lines, MAX_LINES + 1)]
    first_lines[MAX_LINES:] = ["… (the file is longer)\n"] * len(first_lines[MAX_LINES:])
    return "".join(
        line if len(line) <= MAX_LINE_LETTERS else shorten_text(line.rstrip("\r\n"), MAX_LINE_LETTERS) + "\n"
        for line in first_lines
    )


def join_first_items(items: Sequence[object], limit: int) -> str:
    """Return the first items, and how many more there are.

    >>> join_first_items([3, 1, 4, 1, 5], 3)
    '3, 1, 4 and 2 more'
    """
    first_items = translate(", ").join(map(str, items[:limit]))
    return (
        translate("{items} and {n} more", items=first_items, n=len(items) - limit)
        if len(items) > limit
        else first_items
    )
