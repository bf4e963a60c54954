"""Where generated code is kept, so that numba can keep its machine code beside it.

A module is written once: next to the package, else into the user's cache, else into a temporary folder.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType


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


def _folders() -> Iterator[Path]:
    """Where the generated code may live, best first; numba's own cache goes beside it."""
    chosen = os.environ.get("MINITAPE_CACHE")
    if chosen:
        yield Path(chosen)
    yield Path(__file__).parent / "__pycache__"
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    yield Path(base) / "minitape"
    yield Path(tempfile.gettempdir()) / f"minitape-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
