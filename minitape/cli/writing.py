"""How notebooks are written: beside the old file, which the new one then replaces; and which version is still whole."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ..engine.beside import beside
from .lessons import notebooks_in


@contextmanager
def replacing(path: Path, text: bool = True, encoding: str = "utf-8", newline: str = "\n") -> Iterator[IO[Any]]:  # of str or bytes, as `text` says
    """A file to write to, which takes the place of `path` at the end, with its mode; a link goes on leading there.

    What breaks off leaves the old file. Raises OSError where it cannot be written, also where the old file may not be.
    """
    target = Path(os.path.realpath(path))
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    if mode is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    with beside(target) as part:
        with open(part, "x", encoding=encoding, newline=newline) if text else open(part, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            part.chmod(mode)


def last_whole(path: Path) -> Path | None:
    """The last version of a notebook that can still be read, if that is another file: a copy that JupyterLab made."""
    copies = (path.with_name(f".~{path.name}"), path.parent / ".ipynb_checkpoints" / f"{path.stem}-checkpoint.ipynb")
    whole = [copy for copy in copies if _is_whole(copy)]
    return max(whole, key=lambda copy: copy.stat().st_mtime, default=None)


def advice(path: Path) -> str:
    """What to do about a notebook that cannot be read, to be put behind the sentence that says so."""
    whole = last_whole(path)
    return "" if whole is None else f". The last version of it that can be read is {whole}"


def broken_notebooks(folder: Path) -> list[Path]:
    """The notebooks in `folder` that are no JSON: a save that was broken off, say."""
    return [path for path in notebooks_in(folder) if not _is_whole(path)]


def _is_whole(path: Path) -> bool:
    try:
        return isinstance(json.loads(path.read_bytes()), dict)
    except (OSError, ValueError, RecursionError):
        return False
