"""Where generated code is kept, next to the machine code that numba makes of it (:mod:`minitape.speed.machine_code`).

Of each folder the modules that were used last stay.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from ..common.write_beside import write
from ..engine.table.code import define

KEPT = 128  # modules of a folder


def module_of(text: str, label: str) -> ModuleType:
    """The module with this generated text, which is also written to a folder, where there is one, for who reads an
    error.
    """
    name = f"minitape_kernels_{label}_{hashlib.sha256((text + sys.version).encode()).hexdigest()[:16]}"
    module = sys.modules[name] = ModuleType(name)
    module.__file__ = f"<{name}>"
    for folder in folders():
        with contextlib.suppress(OSError):
            module.__file__ = str(write_source(folder, name, text))
            break
    define(text, module.__file__, module.__dict__)  # the text itself: the file may have become anything
    return module


def write_source(folder: Path, name: str, text: str) -> Path:
    """Writes a source file and returns its path. OSError if it cannot be written, or if others could write to it."""
    if not private(folder):
        raise PermissionError(f"others than you own {folder} or can write there, or to a folder around it")
    for place in (*reversed(folder.parents), folder, folder / "__pycache__"):
        place.mkdir(mode=0o755, exist_ok=True)
    path = folder / f"{name}.py"
    if _bytes(path) == text.encode():
        with contextlib.suppress(OSError):  # a folder that only others may write
            os.utime(path)
        return path
    write(path, text)  # two processes may write at once: each file is whole
    _thin(folder)
    return path


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _thin(folder: Path) -> None:
    """Releases the least recently used modules and their machine code."""
    with contextlib.suppress(OSError):  # another process is at it
        known = sorted(folder.glob("minitape_kernels_*.py"), key=lambda path: path.stat().st_mtime)
        for old in known[:-KEPT]:
            for file in (old, *folder.glob(f"__pycache__/{old.stem}.*")):
                file.unlink(missing_ok=True)


def folders() -> Iterator[Path]:
    """Where code may be kept, best first: the folder that the user chose, and no other; else the usual ones.

    Never in the package: what pip did not put there it does not remove, and a folder that is left can be imported.

    numba keeps machine code as a pickle, and who can write a pickle that we read can run what he likes in our process.
    So a folder must be one that only the user can write to, or who installed the package: nothing is read from a
    folder, or written to it, that is not :func:`private`.
    """
    chosen = os.environ.get("MINITAPE_CACHE")
    if chosen:
        yield Path(chosen)
        return
    if (common := shared()).is_dir():
        yield common
    base = Path(os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"))
    if base.is_absolute():  # a user without a home has none
        yield base / "minitape"
    yield from _temporary()


def shared() -> Path:
    """The folder for all users of this Python. It is there once its owner has said ``minitape warmup --shared``."""
    return Path(sys.prefix, "var", "cache", "minitape")


def trusted() -> set[int]:
    """Whose folders code is read from: the user's, root's, and those of who installed the package."""
    return {os.getuid(), 0, Path(__file__).stat().st_uid}


def private(folder: Path) -> bool:
    """Whether only the :func:`trusted` can put files into a folder, or another folder in its place: no other code owns
    it, a parent or a link on the path, and no group can write there (to a parent only as to the system's temporary
    folder, where no caller renames what others own).
    """
    if not hasattr(os, "getuid"):
        return True
    inside, owners = {folder / "__pycache__", folder.absolute(), Path(os.path.realpath(folder))}, trusted()
    for place in inside.union(*(place.parents for place in inside)):
        with contextlib.suppress(FileNotFoundError):
            found = place.stat()
            loose = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            if {found.st_uid, place.lstat().st_uid} - owners:
                return False
            if loose and (place in inside or not found.st_mode & stat.S_ISVTX):
                return False
    return True


def _temporary() -> Iterator[Path]:
    """A folder in the system's temporary one that no other code can have put machine code into; else none."""
    user = os.getuid() if hasattr(os, "getuid") else None
    with contextlib.suppress(OSError):
        folder = Path(tempfile.gettempdir()) / f"minitape-{'user' if user is None else user}"
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if stat.S_ISDIR(found.st_mode) and (user is None or (found.st_uid == user and not found.st_mode & 0o022)):
            yield folder
