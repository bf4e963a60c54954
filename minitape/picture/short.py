"""What keeps a picture small and legible whatever a program is called, says and computes: names, texts and lists are cut."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

NAME = 200  # letters of a name in a snapshot; a box of the picture has room for fewer
TEXT = 10_000  # of a value's text
LINE = 1_000  # of a line of source
LINES = 20_000  # of a file


def printable(text: str) -> str:
    """The text with blanks in the place of what does not show, or turns around what stands beside it: in names, say.

    >>> printable("a\\x1b[31m\\u202eb")
    'a [31m b'
    """
    return "".join(c if c.isprintable() else " " for c in text)


def short_name(name: str, room: int = NAME) -> str:
    """A name that fits: of a path the last parts, else both ends, which tell names apart better than the beginning.

    >>> [short_name(name, 12) for name in ("w", "sequential/dense/kernel", "layers.0.linear.bias", "params['dense']['w']", "velocity_of_the_ball")]
    ['w', '…/kernel', '…linear.bias', "…['w']", 'veloci…_ball']
    """
    if len(name) <= room:
        return name
    near = name[-room:]
    tails = (near[at.start() :].removeprefix(".") for at in re.finditer(r"[/.[]", near))
    fits = next((tail for tail in tails if 0 < len(tail) < room), "")
    if fits:
        return "…" + fits
    last = name[1 + max(map(name.rfind, "/.")) :]
    if len(last) <= room:
        return last
    end = (room - 1) // 2
    return f"{last[: room - 1 - end]}…{last[-end:]}"


def short_text(text: str, room: int = TEXT) -> str:
    """The beginning of a long text, and how long it is.

    >>> short_text("abcdefgh", 3)
    'abc… (8 characters)'
    """
    return text if len(text) <= room else f"{text[:room]}… ({len(text):,} characters)"


def short_lines(lines: Iterable[str]) -> str:
    """The text of a file without what is too long to be shown; lines keep their numbers."""
    found = []
    for number, line in enumerate(lines):
        if number == LINES:
            found.append("… (the file is longer)\n")
            break
        found.append(line if len(line) <= LINE else short_text(line.rstrip("\r\n"), LINE) + "\n")
    return "".join(found)


def some(items: Sequence[object], most: int) -> str:
    """The first items, and how many more there are.

    >>> some([3, 1, 4, 1, 5], 3)
    '3, 1, 4 and 2 more'
    """
    more = f" and {len(items) - most:,} more" if len(items) > most else ""
    return ", ".join(map(str, items[:most])) + more
