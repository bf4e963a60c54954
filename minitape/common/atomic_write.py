"""Write files atomically by completing a new file next to the old one and then replacing the old one with it.

minitape writes all files through :func:`open_replacement_file`. If a full disk, Ctrl-C or the end of the process
interrupts the write, the old file remains unchanged.
"""

import errno
import glob
import os
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

from .read_data import AnyPath

try:
    from fcntl import LOCK_EX, flock
except ImportError:
    flock = None  # type: ignore[assignment]

# A part file that has not been written for this many seconds is considered abandoned.
ABANDONED_AFTER_SECONDS = 3600
# The name of a part file contains at most this many characters of the original name.
# File systems limit names to 255 bytes.
MAX_NAME_LENGTH = 60
ERROR_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your disk quota is used up",
    errno.EACCES: "you do not have permission to write there",
    errno.EPERM: "you do not have permission to write there",
    errno.EROFS: "the disk is read-only",
    errno.ENOENT: "the folder does not exist",
    errno.ENOTDIR: "part of its path is a file, not a folder",
    errno.EISDIR: "a folder with this name already exists",
    errno.ENAMETOOLONG: "the name is too long",
    errno.EIO: "the disk reported an error",
    errno.ESTALE: "the network folder has become unavailable",
}


def write_file(path: AnyPath, content: str | bytes) -> None:
    """Write a whole file.

    Args:
        path: The file to write.
        content: Bytes, or text to write in UTF-8 without changing its line endings.

    Raises:
        OSError: If the file cannot be written. A note on the error states the reason.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp(), "note")
    >>> write_file(target, "whole")
    >>> target.read_text(), len(list(target.parent.iterdir()))
    ('whole', 1)
    """
    with open_replacement_file(path, text=isinstance(content, str)) as file:
        file.write(content)


@contextmanager
def open_replacement_file(
    path: AnyPath,
    text: bool = True,
    encoding: str = "utf-8",
    newline: str = "\n",
    private: bool = False,
) -> Iterator[IO[Any]]:
    """Open a new file that replaces the file at ``path`` when the block ends.

    The new file has the permissions of the old file. If ``path`` is a symbolic link, its target is replaced. If the
    block raises an exception, the old file is kept. Pipes and other special files are written directly, as are files in
    folders that do not allow new files.

    Args:
        path: The file to replace or create.
        text: Whether to write text rather than bytes.
        encoding: The encoding of the text.
        newline: The line ending of the text, as in ``open``.
        private: Whether to let only the owner and the group read the file.

    Yields:
        The open file.

    Raises:
        OSError: If the file cannot be written. A note on the error states the reason.
    """
    target = Path(os.path.realpath(path))
    open_options = {"encoding": encoding, "newline": newline} if text else {}
    is_replaced = True
    try:
        exists = os.path.exists(path)
        if exists and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if exists and not (target.is_file() and os.access(target.parent, os.W_OK)):
            is_replaced = False
            with open(path, "w" if text else "wb", **open_options) as file:  # type: ignore[call-overload]
                yield file
            return
        _remove_abandoned_part_files(target)
        # The random name prevents other users from creating the file in advance.
        partial_file = target.with_name(f".{target.name[:MAX_NAME_LENGTH]}.{os.urandom(8).hex()}.part")
        try:
            with open(
                partial_file,
                "x" if text else "xb",
                opener=partial(os.open, mode=0o600) if private else None,
                **open_options,
            ) as file:  # type: ignore[call-overload]
                yield file
                file.flush()
                os.fsync(file.fileno())
            if exists:
                _copy_file_permissions(target, partial_file, private)
            os.replace(partial_file, target)
        except BaseException:
            with suppress(OSError):
                partial_file.unlink(missing_ok=True)
            raise
    except OSError as error:
        error.filename = os.fspath(path)
        # After a failed rename, the error has a second file name.
        # The message would show this name even if it were None.
        del error.filename2
        kept_sentence = " The existing file is unchanged." if is_replaced and target.is_file() else ""
        error.add_note(f"{path} was not written: {get_error_reason(error)}.{kept_sentence}")
        raise


def get_error_reason(error: OSError) -> str:
    """Return the reason why a file could not be written, as a clause.

    Args:
        error: The system error.
    """
    return ERROR_REASONS.get(error.errno or 0, error.strerror or type(error).__name__)


def _copy_file_permissions(target: Path, partial_file: Path, private: bool) -> None:
    """Give a new file the permissions of the old file.

    On a file system where all files have the same permissions, such as on a USB stick, nothing is changed, because the
    system would refuse the change.
    """
    mode = stat.S_IMODE(target.stat().st_mode)
    mode = mode & ~stat.S_IRWXO if private else mode
    if stat.S_IMODE(partial_file.stat().st_mode) != mode:
        partial_file.chmod(mode)


@contextmanager
def lock_file(target_path: AnyPath) -> Iterator[None]:
    """Lock a file while a block runs. Other processes wait for the lock.

    The lock applies to a separate file, ``<target_path>.lock``, which is never removed. If the system does not support
    locks (Windows, some network folders) or the lock file cannot be created, the block runs without a lock.

    Args:
        target_path: The file that the block changes.
    """
    with ExitStack() as stack:
        if flock is not None:
            with suppress(OSError):
                file = stack.enter_context(open(f"{target_path}.lock", "ab"))
                flock(file, LOCK_EX)
        yield


def _remove_abandoned_part_files(target: Path) -> None:
    """Remove the part files that killed processes left behind."""
    for part_file in target.parent.glob(f".{glob.escape(target.name[:MAX_NAME_LENGTH])}.{'[0-9a-f]' * 16}.part"):
        with suppress(OSError):
            status = part_file.lstat()
            is_abandoned = time.time() - status.st_mtime > ABANDONED_AFTER_SECONDS
            if stat.S_ISREG(status.st_mode) and is_abandoned:
                part_file.unlink()
