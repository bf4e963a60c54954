"""Files of arrays: NumPy archives, which checkpoints and saved models are.

A file may come from a stranger. Its arrays are read into memory and nothing else is done with it: pickles are refused, and
the names of its members are keys, no paths. minitape writes them without compression, so a file that unpacks to more than its
own size is none of minitape's, and reading one takes no more memory than the file is large.
"""

from __future__ import annotations

import math
import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ..engine.beside import beside


def write(path: Any, arrays: dict[str, Any]) -> None:
    """Writes arrays into a file by their names; ValueError for one that only a pickle could hold. An older file stays until this one is whole."""
    with beside(Path(path)) as part, open(part, "wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def arrays_in(path: Any, what: str) -> dict[str, np.ndarray]:
    """The arrays in a file by their names; ValueError, which says that it is no ``what``, for a file of another kind."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            size = os.fstat(file.fileno()).st_size
            members = archive.zip.infolist()
            if sum(member.file_size for member in members) > size or sum(_told(archive.zip, member) for member in members) > size:
                raise ValueError("It unpacks to more than its own size.")
            found = {key: archive[key] for key in archive.files}
    except (EOFError, KeyError, MemoryError, NotImplementedError, OverflowError, RuntimeError, TypeError, ValueError, zipfile.BadZipFile,
            zlib.error) as error:  # fmt: skip
        raise ValueError(
            f"{os.fspath(path)} is no {what}. (It must be an archive of arrays, undamaged, and without compression and pickles.)"
        ) from error
    return found


def _told(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> int:
    """How many bytes a member's array takes, as its header tells: NumPy reserves them before it reads. ValueError for what is no array."""
    with archive.open(member) as file:
        shape, _, dtype = _HEADERS[np.lib.format.read_magic(file)](file)
    return math.prod(shape) * max(dtype.itemsize, 1)


_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
