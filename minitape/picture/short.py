"""What keeps a picture small and legible whatever a program is called, says and computes: names, texts and lists are
cut.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import islice

from .words import word

NAME = 200  # letters of a name in a snapshot; a box of the picture has room for fewer
TEXT = 10_000  # of a value's text
LINE = 1_000  # of a line of source
LINES = 20_000  # of a file


def printable(text: str) -> str:
    """The text, such as a name, with blanks for characters that are invisible or reverse their neighbours.

    >>> printable("a\\x1b[31m\\u202eb")
    'a [31m b'
    """
    return "".join(c if c.isprintable() else " " for c in text)


def wide(text: str) -> int:
    """How wide a text is, in letters: a Chinese, Japanese or Korean character takes the room of two.

    >>> wide("w1"), wide("权重")
    (2, 4)
    """
    return len(text) + (0 if text.isascii() else sum(unicodedata.east_asian_width(letter) in "WF" for letter in text))


def elide(text: str, room: int) -> str:
    """As much of a text as fits, with a sign for what is left out.

    >>> elide("velocity", 5), elide("隐藏层的权重", 6), elide("w", 5)
    ('velo…', '隐藏…', 'w')
    """
    if wide(text) <= room:
        return text
    end = max(1, room - 1)
    while end > 1 and wide(text[:end]) >= room:
        end -= 1
    return text[:end] + "…"


def short_name(name: str, room: int = NAME) -> str:
    """A name that fits: of a path the last parts, the first of them with both its ends, which tell names apart better
    than the beginning.

    >>> names = "w", "sequential/conv2d_1/kernel", "layers.0.linear.bias", "params['dense']['w']", "name_of_the_ball"
    >>> [short_name(name, 12) for name in names]
    ['w', 'co…_1/kernel', '…linear.bias', "…['w']", 'name_o…_ball']
    """
    if wide(name) <= room:
        return name
    if wide(name) > len(name):
        return elide(name, room)
    near = name[-room - 2 :]  # all that may fit: a name may have a million parts
    tails = [near[at.start() :].removeprefix(".") for at in re.finditer(r"[/.[]", near)]
    forms = (form for tail in tails if tail for form in (f"…{tail}", tail.removeprefix("/")))
    fits = next((form for form in forms if len(form) <= room), "")
    path = re.search(r"([^/.]+)([/.][^/.]+)$", name[-NAME:])
    if fits and path and not re.search(r"\w[/.]", fits) and (left := room - len(path[2])) > 3:
        return _ends(path[1], left) + path[2]
    return fits or _ends(path[2][1:] if path else name, room)


def _ends(text: str, room: int) -> str:
    return f"{text[: room // 2]}…{text[-((room - 1) // 2) :]}"


def short_text(text: str, room: int = TEXT) -> str:
    """The beginning of a long text, and how long it is.

    >>> short_text("abcdefgh", 3)
    'abc… (8 characters)'
    """
    return text if len(text) <= room else f"{text[:room]}… ({len(text):,} characters)"


def short_lines(lines: Iterable[str]) -> str:
    """The text of a file without what is too long to be shown; lines keep their numbers."""
    first = [*islice(lines, LINES + 1)]
    first[LINES:] = ["… (the file is longer)\n"] * len(first[LINES:])
    return "".join(line if len(line) <= LINE else short_text(line.rstrip("\r\n"), LINE) + "\n" for line in first)


def some(items: Sequence[object], most: int) -> str:
    """The first items, and how many more there are.

    >>> some([3, 1, 4, 1, 5], 3)
    '3, 1, 4 and 2 more'
    """
    shown = word(", ").join(map(str, items[:most]))
    return word("{items} and {n} more", items=shown, n=len(items) - most) if len(items) > most else shown
