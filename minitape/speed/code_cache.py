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

from ..common.atomic_write import write_file
from ..engine.table.generated_code import execute_definitions

MAX_MODULES = 128  # modules of a folder


def load_generated_module(text: str, label: str) -> ModuleType:
    """Run a generated text and return its module. The text is also written to a folder, where there is one, for who
    reads an error.
    """
    name = f"minitape_kernels_{label}_{hashlib.sha256((text + sys.version).encode()).hexdigest()[:16]}"
    module = sys.modules[name] = ModuleType(name)
    module.__file__ = f"<{name}>"
    for folder in iter_cache_folders():
        with contextlib.suppress(OSError):
            module.__file__ = str(write_source_if_changed(folder, name, text))
            break
    execute_definitions(text, module.__file__, module.__dict__)  # the text itself: the file may have become anything
    return module


def write_source_if_changed(folder: Path, module_name: str, text: str) -> Path:
    """Write a module's source, where the file has another text, and return its path.

    OSError if it cannot be written, or if others could write to it.
    """
    if not is_private_folder(folder):
        raise PermissionError(f"others than you own {folder} or can write there, or to a folder around it")
    for directory in (*reversed(folder.parents), folder, folder / "__pycache__"):
        directory.mkdir(mode=0o755, exist_ok=True)
    path = folder / f"{module_name}.py"
    if _read_bytes(path) == text.encode():
        with contextlib.suppress(OSError):  # a folder that only others may write
            os.utime(path)
        return path
    write_file(path, text)  # two processes may write at once: each file is whole
    _remove_least_used_modules(folder)
    return path


def _read_bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _remove_least_used_modules(folder: Path) -> None:
    """Remove the least recently used modules and their machine code."""
    with contextlib.suppress(OSError):  # another process is at it
        sources = sorted(folder.glob("minitape_kernels_*.py"), key=lambda path: path.stat().st_mtime)
        for source in sources[:-MAX_MODULES]:
            for file in (source, *folder.glob(f"__pycache__/{source.stem}.*")):
                file.unlink(missing_ok=True)


def iter_cache_folders() -> Iterator[Path]:
    """Yield the folders in which code may be kept, best first: that which the user chose; else the usual ones.

    Never in the package: what pip did not put there it does not remove, and a folder that is left can be imported.

    numba keeps machine code as a pickle, and who can write a pickle that we read can run what he likes in our process.
    So a folder must be one that only the user can write to, or who installed the package: nothing is read from a
    folder, or written to it, that is not :func:`is_private_folder`.
    """
    chosen_folder = os.environ.get("MINITAPE_CACHE")
    if chosen_folder:
        yield Path(chosen_folder)
        return
    if (shared_folder := get_shared_cache_folder()).is_dir():
        yield shared_folder
    user_cache = Path(os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"))
    if user_cache.is_absolute():  # a user without a home has none
        yield user_cache / "minitape"
    yield from _iter_temporary_folders()


def get_shared_cache_folder() -> Path:
    """Return the folder for all users of this Python, which ``minitape warmup --shared`` creates."""
    return Path(sys.prefix, "var", "cache", "minitape")


def collect_trusted_owner_ids() -> set[int]:
    """Return the ids of the users whose folders code is read from: the user, root, and who installed the package."""
    return {os.getuid(), 0, Path(__file__).stat().st_uid}


def is_private_folder(folder: Path) -> bool:
    """Whether only the users of :func:`collect_trusted_owner_ids` can put files into a folder, or another folder in its
    place: no one else owns it, a parent or a link on the path, and no group can write there (to a parent only as to the
    system's temporary folder, where no caller renames what others own).
    """
    if not hasattr(os, "getuid"):
        return True
    cache_places, owners = (
        {folder / "__pycache__", folder.absolute(), Path(os.path.realpath(folder))},
        collect_trusted_owner_ids(),
    )
    for directory in cache_places.union(*(directory.parents for directory in cache_places)):
        with contextlib.suppress(FileNotFoundError):
            status = directory.stat()
            is_group_writable = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            if {status.st_uid, directory.lstat().st_uid} - owners:
                return False
            if is_group_writable and (directory in cache_places or not status.st_mode & stat.S_ISVTX):
                return False
    return True


def _iter_temporary_folders() -> Iterator[Path]:
    """Yield a folder in the system's temporary one into which no one else can have put code, if there is one."""
    user = os.getuid() if hasattr(os, "getuid") else None
    with contextlib.suppress(OSError):
        folder = Path(tempfile.gettempdir()) / f"minitape-{'user' if user is None else user}"
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        if stat.S_ISDIR(status.st_mode) and (user is None or (status.st_uid == user and not status.st_mode & 0o022)):
            yield folder
