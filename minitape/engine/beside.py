"""Files that are never half: written beside the old one, whose place they take when they are whole."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

LONGEST = 60  # characters of a name that the name beside it repeats: file systems allow 255 bytes


@contextlib.contextmanager
def beside(target: Path) -> Iterator[Path]:
    """Gives the path of a file to write, which takes the place of ``target`` at the end of the block.

    Where the block, or the last step, breaks off, ``target`` stays as it was and the file beside it is removed. Nobody
    can foresee its name. Raises OSError where the place cannot be taken.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp(), "note")
    >>> with beside(target) as part:
    ...     _ = part.write_text("whole")
    >>> target.read_text(), len(list(target.parent.iterdir()))
    ('whole', 1)
    """
    part = target.with_name(f".{target.name[:LONGEST]}.{os.urandom(8).hex()}.part")
    try:
        yield part
        os.replace(part, target)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise
