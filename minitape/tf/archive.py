"""Files of arrays: NumPy archives, which checkpoints and saved models are.

A file may come from a stranger. Its arrays are read into memory and nothing else is done with it: pickles are refused, and
the names of its members are keys, no paths. minitape writes them without compression, so a file that unpacks to more than its
own size is none of minitape's, and reading one takes no more memory than the file is large.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from typing import Any

import numpy as np


def arrays_in(path: Any, what: str) -> dict[str, np.ndarray]:
    """The arrays in a file by their names; ValueError, which says that it is no ``what``, for a file of another kind."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            size = os.fstat(file.fileno()).st_size
            if sum(member.file_size for member in archive.zip.infolist()) > size:
                raise ValueError("It unpacks to more than its own size.")
            found = {key: archive[key] for key in archive.files}
        if not all(isinstance(array, np.ndarray) and array.size <= size for array in found.values()):
            raise ValueError("It holds something that is no array, or one whose elements take no room.")
    except (EOFError, KeyError, MemoryError, NotImplementedError, OverflowError, RuntimeError, TypeError, ValueError, zipfile.BadZipFile,
            zlib.error) as error:  # fmt: skip
        raise ValueError(
            f"{os.fspath(path)} is no {what}. (It must be an archive of arrays, undamaged, and without compression and pickles.)"
        ) from error
    return found
