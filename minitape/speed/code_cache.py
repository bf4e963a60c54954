"""Store generated code on disk, together with its machine code (:mod:`minitape.speed.machine_code`).

Each folder keeps only the most recently used modules.
"""

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from os import environ
from pathlib import Path
from tempfile import gettempdir
from types import ModuleType

from ..common.atomic_write import write_file
from ..engine.table.generated_code import execute_definitions

MAX_MODULES = 128  # A folder keeps at most this many modules.


def describe_error(error: Exception) -> str:
    """Return the class and the first line of the message of an error in numba or in a cache folder.

    Args:
        error: The error.
    """
    return " ".join([type(error).__name__, *str(error).splitlines()[:1]])


def load_generated_module(text: str, label: str) -> ModuleType:
    """Run generated source code and return its module.

    The source is also written to the first cache folder that accepts files, so that tracebacks can show the lines.

    Args:
        text: The source.
        label: A word that becomes part of the module's name.

    Returns:
        The module. Its name is unique to the source and the Python version.
    """
    name = f"minitape_kernels_{label}_{sha256((text + sys.version).encode()).hexdigest()[:16]}"
    module = sys.modules[name] = ModuleType(name)
    module.__file__ = f"<{name}>"
    for folder in iter_cache_folders():
        with suppress(OSError):
            module.__file__ = str(write_source_if_changed(folder, name, text))
            break
    execute_definitions(text, module.__file__, module.__dict__)  # The file may have been changed, so it is not read.
    return module


def write_source_if_changed(folder: Path, module_name: str, text: str) -> Path:
    """Write the source of a module to a folder unless the file already contains it.

    Args:
        folder: The cache folder, which need not exist.
        module_name: The name of the module.
        text: The source.

    Returns:
        The path of the file.

    Raises:
        OSError: If the file cannot be written.
        PermissionError: If other users could write to the folder.
    """
    if not is_private_folder(folder):
        raise PermissionError(f"other users own {folder} or can write to it or to one of its parent folders")
    for directory in (*reversed(folder.parents), folder, folder / "__pycache__"):
        directory.mkdir(mode=0o755, exist_ok=True)
    path = folder / f"{module_name}.py"
    is_unchanged = False
    with suppress(OSError):  # The file may be missing.
        is_unchanged = path.read_bytes() == text.encode()
    if is_unchanged:
        with suppress(OSError):  # This user may only have permission to read the folder.
            os.utime(path)
        return path
    write_file(path, text)  # This replaces the file atomically, because two processes may write it at the same time.
    _remove_least_used_modules(folder)
    return path


def _remove_least_used_modules(folder: Path) -> None:
    """Remove the least recently used modules and their machine code."""
    with suppress(OSError):  # Another process may be removing the same files.
        sources = sorted(folder.glob("minitape_kernels_*.py"), key=lambda path: path.stat().st_mtime)
        for source in sources[:-MAX_MODULES]:
            for file in (source, *folder.glob(f"__pycache__/{source.stem}.*")):
                file.unlink(missing_ok=True)


def iter_cache_folders() -> Iterator[Path]:
    """Yield the folders in which code may be stored, in order of preference.

    If the environment variable ``MINITAPE_CACHE`` is set, only the folder it names is used. Otherwise, the folders
    are the shared folder, if it exists, the user's cache folder and a temporary folder.

    Code is never stored in the package itself. Pip does not remove files that it did not install, so Python could still
    import a leftover folder.

    Numba stores machine code as a pickle, and a pickle can run any code in the process that reads it. Therefore,
    callers must only use folders for which :func:`is_private_folder` is true.
    """
    chosen_folder = environ.get("MINITAPE_CACHE")
    if chosen_folder:
        yield Path(chosen_folder)
        return
    if (shared_folder := get_shared_cache_folder()).is_dir():
        yield shared_folder
    user_cache = Path(environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"))
    if user_cache.is_absolute():  # The path is relative if the user does not have a home folder.
        yield user_cache / "minitape"
    yield from iter_temporary_folders()


def get_shared_cache_folder() -> Path:
    """Return the folder for all users of this Python installation. ``minitape warmup --shared`` creates it."""
    return Path(sys.prefix, "var", "cache", "minitape")


def collect_trusted_owner_ids() -> set[int]:
    """Return the ids of trusted folder owners: the current user, root and the owner of this package's files."""
    return {os.getuid(), 0, Path(__file__).stat().st_uid}


def is_private_folder(folder: Path) -> bool:
    """Return whether only trusted users can add files to a folder or replace the folder.

    :func:`collect_trusted_owner_ids` returns the trusted users. The folder, its parents and all links on its path must
    belong to trusted users. Groups and other users must not be able to write to the folder. They may write to a parent
    only if its sticky bit is set, as for the system's temporary folder. Users cannot rename each other's files there.

    Args:
        folder: The folder. It need not exist. On systems without user ids, such as Windows, all folders are considered
            private.
    """
    if not hasattr(os, "getuid"):
        return True
    cache_places = {folder / "__pycache__", folder.absolute(), Path(os.path.realpath(folder))}
    owners = collect_trusted_owner_ids()
    for directory in cache_places.union(*(directory.parents for directory in cache_places)):
        with suppress(FileNotFoundError):
            status = directory.stat()
            is_group_writable = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            if {status.st_uid, directory.lstat().st_uid} - owners:
                return False
            if is_group_writable and (directory in cache_places or not status.st_mode & stat.S_ISVTX):
                return False
    return True


def iter_temporary_folders() -> Iterator[Path]:
    """Yield a subfolder of the system's temporary folder if it can be created and only the user can write to it."""
    user = os.getuid() if hasattr(os, "getuid") else None
    with suppress(OSError):
        folder = Path(gettempdir()) / f"minitape-{'user' if user is None else user}"
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        if stat.S_ISDIR(status.st_mode) and (user is None or (status.st_uid == user and not status.st_mode & 0o022)):
            yield folder
