"""A program runs under the block of its framework, unchanged, and is asked about when it has ended."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from .model_page import ModelPage


def run_program(path: Path, arguments: Sequence[str], framework: str, **options: Any) -> tuple[Any, ModelPage]:
    """Runs a file as the main program in the block of a framework: the recording, and the page of all that was
    trained. An error of the program is an error here, behind the page in ``recording.ended``.
    """
    bridge = import_module(f"minitape.bridges.{framework}")
    main = ModuleType("__main__")
    main.__file__ = str(path)
    loader = SourceFileLoader("__main__", str(path))
    code = loader.source_to_code(loader.get_data(str(path)), str(path))
    ended: BaseException | None = None
    with _as_main(main, path, arguments):
        with bridge.record(**options) as recording:
            try:
                exec(code, vars(main))
            except (Exception, SystemExit) as error:
                ended = error
        page = recording.explain()
    recording.ended = ended
    return recording, page


@contextmanager
def _as_main(main: ModuleType, path: Path, arguments: Sequence[str]) -> Iterator[None]:
    """While a program runs it is the module ``__main__``, with its own arguments, and imports what is beside it."""
    before = sys.modules["__main__"], sys.argv, sys.path[:]
    sys.modules["__main__"], sys.argv = main, [str(path), *arguments]
    sys.path.insert(0, str(path.parent))
    try:
        yield
    finally:
        sys.modules["__main__"], sys.argv, sys.path[:] = before
