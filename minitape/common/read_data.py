"""Read files that other people wrote: progress, hand-ins, notebooks and translations.

All such files are read here, as text or JSON of limited size. Nothing in them is imported or run.
"""

import errno
import json
import os
import stat
from typing import Any

AnyPath = str | os.PathLike[str]
# The limits are in bytes. Notebooks that minitape runs have a higher limit, because they may contain pictures.
MAX_FILE_SIZE = 20_000_000
MAX_NOTEBOOK_SIZE = 200_000_000


def read_bytes(path: AnyPath, limit: int = MAX_FILE_SIZE) -> bytes:
    """Return the content of a file.

    Args:
        path: The file.
        limit: The largest allowed size in bytes.

    Raises:
        OSError: If the file cannot be read or is not a regular file. (Reading a pipe or a device might never end.)
        ValueError: If the file is too large.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "is a folder, a pipe or a device instead of a file", os.fspath(path))
    with open(path, "rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"is larger than {limit / 1_000_000:g} MB")
    return content


def read_text(path: AnyPath, limit: int = MAX_FILE_SIZE) -> str:
    """Return the text of a UTF-8 file, without the byte order mark that Notepad writes.

    Args:
        path: The file.
        limit: The largest allowed size in bytes.

    Raises:
        OSError: If the file cannot be read or is not a regular file.
        ValueError: If the file is too large or is not valid UTF-8.
    """
    return read_bytes(path, limit).decode("utf-8-sig")


def read_json(path: AnyPath, limit: int = MAX_FILE_SIZE) -> Any:
    """Return the data in a JSON file.

    Args:
        path: The file.
        limit: The largest allowed size in bytes.

    Raises:
        OSError: If the file cannot be read or is not a regular file.
        ValueError: If the file is too large, or is not valid UTF-8 or JSON.
    """
    try:
        return json.loads(read_text(path, limit))
    except RecursionError:
        raise ValueError("is nested too deeply") from None
