"""Where generated code is kept, so that numba can keep its machine code beside it.

A module is written once: next to the package, else into the user's cache, else into a temporary folder of the user's own.
Of each folder the modules that were used last stay.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

KEPT = 128  # modules of a folder


def module_of(text: str, label: str) -> ModuleType:
    """The module with this generated text, kept in a cache folder so that its machine code is kept, too."""
    digest = hashlib.sha256((text + sys.version).encode()).hexdigest()[:16]
    module_name = f"minitape_kernels_{label}_{digest}"
    for folder in _folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{module_name}.py"
            if not path.exists() or path.read_text() != text:
                handle, temporary = tempfile.mkstemp(dir=folder, suffix=".tmp")
                with os.fdopen(handle, "w") as file:
                    file.write(text)
                os.replace(temporary, path)  # two processes may write at once: each file is whole
                _thin(folder)
            else:
                with contextlib.suppress(OSError):  # a folder that only others may write
                    os.utime(path)
            spec = importlib.util.spec_from_file_location(module_name, path)
            module = importlib.util.module_from_spec(spec)
            sys.modules[module_name] = module
            spec.loader.exec_module(module)
            return module
        except OSError:
            continue
    module = ModuleType(module_name)
    exec(compile(text.replace("cache=True", "cache=False"), f"<{module_name}>", "exec"), module.__dict__)
    return module


def _thin(folder: Path) -> None:
    """Lets go of the modules that were not used for longest, and of their machine code."""
    with contextlib.suppress(OSError):  # another process is at it
        known = sorted(folder.glob("minitape_kernels_*.py"), key=lambda path: path.stat().st_mtime)
        for old in known[:-KEPT]:
            for file in (old, *folder.glob(f"__pycache__/{old.stem}.*")):
                file.unlink(missing_ok=True)


def _folders() -> Iterator[Path]:
    """Where the generated code may live, best first; numba's own cache goes beside it."""
    chosen = os.environ.get("MINITAPE_CACHE")
    if chosen:
        yield Path(chosen)
    yield Path(__file__).parent / "__pycache__"
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    yield Path(base) / "minitape"
    yield from _temporary()


def _temporary() -> Iterator[Path]:
    """A folder in the system's temporary one that nobody else can have put machine code into; else none."""
    user = os.getuid() if hasattr(os, "getuid") else None
    folder = Path(tempfile.gettempdir()) / f"minitape-{'user' if user is None else user}"
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if stat.S_ISDIR(found.st_mode) and (user is None or (found.st_uid == user and not found.st_mode & 0o022)):
            yield folder
