"""The one function through which files are written: next to the old one, whose place the new one takes when complete.

Whatever breaks a save off, a full disk, Ctrl-C or the end of the process, the old file is there as it was.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import stat
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # Windows, where a file that is open cannot be removed: no lock is needed
    flock = None  # type: ignore[assignment]

MAX_NAME_LENGTH = 60  # characters of a name that the name beside it repeats: file systems allow 255 bytes
ERROR_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your share of the disk is used up",
    errno.EACCES: "you may not write there",
    errno.EPERM: "you may not write there",
    errno.EROFS: "the disk can only be read",
    errno.ENOENT: "there is no such folder",
    errno.ENOTDIR: "what should be its folder is a file",
    errno.EISDIR: "there is a folder of this name",
    errno.ENAMETOOLONG: "the name is too long",
}


def write_file(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file as a whole; text as it is, without other ends of lines.

    Raises OSError as :func:`open_replacement_file` does.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp(), "note")
    >>> write_file(target, "whole")
    >>> target.read_text(), len(list(target.parent.iterdir()))
    ('whole', 1)
    """
    with open_replacement_file(path, text=isinstance(content, str)) as file:
        file.write(content)


@contextlib.contextmanager
def open_replacement_file(
    path: str | os.PathLike[str],
    text: bool = True,
    encoding: str = "utf-8",
    newline: str = "\n",
    private: bool = False,
) -> Iterator[IO[Any]]:  # of str or bytes, as `text` says
    """Open a file to write to, which takes the place of ``path`` at the end, with its mode; a link goes on leading
    there.

    What breaks off leaves the old file. ``private``: others than its owner and group cannot read it. What is no file (a
    pipe), and a file in a folder where no other can be made, is written itself. Raises OSError, with a note that says
    what is wrong, where it cannot be written.
    """
    target, open_options = Path(os.path.realpath(path)), {"encoding": encoding, "newline": newline} if text else {}
    try:
        exists = os.path.exists(path)
        if exists and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if exists and not (target.is_file() and os.access(target.parent, os.W_OK)):
            with open(path, "w" if text else "wb", **open_options) as file:  # type: ignore[call-overload]
                yield file
            return
        _remove_abandoned_part_files(target)
        partial_file = target.with_name(
            f".{target.name[:MAX_NAME_LENGTH]}.{os.urandom(8).hex()}.part"
        )  # its name cannot be foreseen
        try:
            with open(
                partial_file,
                "x" if text else "xb",
                opener=partial(os.open, mode=0o600) if private else None,
                **open_options,
            ) as file:  # type: ignore[call-overload]
                _lock_open_file(file.fileno())
                yield file
                file.flush()
                os.fsync(file.fileno())
            if exists:
                partial_file.chmod(stat.S_IMODE(target.stat().st_mode) & ~(stat.S_IRWXO if private else 0))
            os.replace(partial_file, target)
        except BaseException:
            with contextlib.suppress(OSError):
                partial_file.unlink(missing_ok=True)
            raise
    except OSError as error:
        error.filename = os.fspath(path)
        del error.filename2  # of a rename: None would be shown
        kept_sentence = " The file that was there is as it was." if target.is_file() else ""
        error.add_note(f"{path} was not written: {ERROR_REASONS.get(error.errno or 0, error.strerror)}.{kept_sentence}")
        raise


@contextlib.contextmanager
def lock_file(target_path: str | os.PathLike[str]) -> Iterator[None]:
    """Run a block in which no other process, which asks for the same, changes a file.

    What is locked is a file beside it, which stays. Where there are no such locks (Windows, some network folders), or
    none can be made, the block runs all the same.
    """
    with contextlib.ExitStack() as stack:
        if flock is not None:
            with contextlib.suppress(OSError):
                file = stack.enter_context(open(f"{target_path}.lock", "ab"))
                flock(file, LOCK_EX)
        yield


def _lock_open_file(file_descriptor: int) -> None:
    """Mark a file as one that is being written; raises OSError where another process does that."""
    if flock is not None:
        flock(file_descriptor, LOCK_EX | LOCK_NB)


def _remove_abandoned_part_files(target: Path) -> None:
    """Remove what a process left that was killed while it wrote: no process holds it."""
    for part_file in target.parent.glob(f".{glob.escape(target.name[:MAX_NAME_LENGTH])}.{'[0-9a-f]' * 16}.part"):
        with contextlib.suppress(OSError):
            status = part_file.lstat()
            if stat.S_ISREG(status.st_mode) and time.time() - status.st_mtime > 1:
                with open(part_file, "rb") as file:
                    _lock_open_file(file.fileno())
                part_file.unlink()
