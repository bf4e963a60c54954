"""The one place where files of others are read: progress, hand-ins, notebooks, translations.

A file is text or JSON and no more: nothing that it says is looked up, imported or run, and it takes no more room than
is allowed.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

MOST = 20_000_000  # bytes of a file
NOTEBOOK = 200_000_000  # ... of a notebook that is run here, whose outputs may be pictures


def read_bytes(path: str | os.PathLike[str], most: int = MOST) -> bytes:
    """What a file holds. Raises OSError where it cannot be read, also of a pipe or a device, which might never end;
    ValueError where it is too large.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "is no file, but a folder, a pipe or a device", os.fspath(path))
    with open(path, "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise ValueError(f"is larger than {most / 1_000_000:g} MB")
    return content


def read_text(path: str | os.PathLike[str], most: int = MOST) -> str:
    """The text of a file. Raises OSError and ValueError as :func:`read_bytes` does, and ValueError where it is no
    UTF-8. A mark of the order of bytes, as Notepad writes it, is no text.
    """
    return read_bytes(path, most).decode("utf-8-sig")


def read_json(path: str | os.PathLike[str], most: int = MOST) -> Any:
    """What a file of JSON holds. Raises OSError and ValueError as :func:`read_text` does, and ValueError where it is no
    JSON.
    """
    try:
        return json.loads(read_text(path, most))
    except RecursionError:
        raise ValueError("is nested too deeply") from None
