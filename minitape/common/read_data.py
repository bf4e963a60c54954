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

MAX_FILE_SIZE = 20_000_000  # bytes of a file
MAX_NOTEBOOK_SIZE = 200_000_000  # ... of a notebook that is run here, whose outputs may be pictures


def read_bytes(path: str | os.PathLike[str], limit: int = MAX_FILE_SIZE) -> bytes:
    """Return what a file holds. Raises OSError where it cannot be read, also of a pipe or a device, which might never
    end; ValueError where it is too large.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "is no file, but a folder, a pipe or a device", os.fspath(path))
    with open(path, "rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"is larger than {limit / 1_000_000:g} MB")
    return content


def read_text(path: str | os.PathLike[str], limit: int = MAX_FILE_SIZE) -> str:
    """Return the text of a file. Raises OSError and ValueError as :func:`read_bytes` does, and ValueError where it is
    no UTF-8. A mark of the order of bytes, as Notepad writes it, is no text.
    """
    return read_bytes(path, limit).decode("utf-8-sig")


def read_json(path: str | os.PathLike[str], limit: int = MAX_FILE_SIZE) -> Any:
    """Return what a file of JSON holds. Raises OSError and ValueError as :func:`read_text` does, and ValueError where
    it is no JSON.
    """
    try:
        return json.loads(read_text(path, limit))
    except RecursionError:
        raise ValueError("is nested too deeply") from None
