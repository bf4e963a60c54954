"""A program runs under the block of its framework, unchanged: what ``minitape explain train.py`` does."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from importlib import import_module
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from ..explain.caller import warn_user
from .model_page import ModelPage

FRAMEWORKS = {
    "torch": {"torch", "lightning", "pytorch_lightning", "transformers"},
    "tensorflow": {"tensorflow", "keras"},
    "jax": {"jax"},
}


class Examined(NamedTuple):
    """What a program left behind: its recording, the page of all that it trained, and the error in which it ended."""

    recording: Any
    page: ModelPage
    error: BaseException | None


def framework_of(path: Path) -> str:
    """Which framework a file imports, or what it imports from its folder or the current one; empty where none does."""
    waiting, seen = [path], set[Path]()
    while waiting:
        file = waiting.pop()
        seen.add(file)
        names = list(_imported(file))
        for framework, packages in FRAMEWORKS.items():
            if not packages.isdisjoint(name.partition(".")[0] for name in names):
                return framework
        inner = [folder.joinpath(*name.split(".")) for folder in (path.parent, Path.cwd()) for name in names]
        files = [file for part in inner for file in (part.with_suffix(".py"), part / "__init__.py")]
        waiting += [file for file in files if file.is_file() and file not in seen]
    return ""


def _imported(path: Path) -> Iterator[str]:
    loader = SourceFileLoader(path.stem, str(path))
    for node in ast.walk(ast.parse(loader.get_data(str(path)), str(path))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from [node.module] if node.module else (name.name for name in node.names)


def examine(
    path: Path,
    arguments: Sequence[str],
    framework: str,
    found: Callable[[ModelPage], object] = lambda page: None,
    module: ModuleSpec | None = None,
    **options: Any,
) -> Examined:
    """Runs a file as the main program in the block of a framework: as ``python FILE`` does, or as ``python -m`` does
    the ``module`` that it is. ``options`` choose the steps, as those of ``record`` do; ``found`` is given the first
    page that has something wrong, as soon as it is known while the program runs.
    """
    bridge = import_module(f"minitape.bridges.{framework}")
    record = import_module("minitape.bridges.jax.program").FirstGradients if framework == "jax" else bridge.record
    main = ModuleType("__main__")
    main.__file__, main.__spec__ = str(path), module
    main.__package__ = None if module is None else module.parent
    loader = SourceFileLoader("__main__", str(path))
    code = loader.source_to_code(loader.get_data(str(path)), str(path))
    error: BaseException | None = None
    pages: list[ModelPage] = []
    folder = path.parent if module is None else Path.cwd()
    with _as_main(main, folder, arguments), getattr(bridge, "holding", nullcontext)():
        with record(**options) as recording:

            def look(tell: Any = found) -> None:
                if pages and pages[0].problems:
                    return
                try:
                    pages[:] = [recording.explain()]
                    if pages[0].problems:
                        tell(pages[0])
                except Exception as error:  # a mistake of its own ends no training
                    warn_user(f"The gradients were not explained: {type(error).__name__}: {error}")

            if options:
                recording.recorded = look
            try:
                exec(code, vars(main))
            except (Exception, SystemExit, KeyboardInterrupt) as ended:
                error = None if isinstance(ended, SystemExit) and not ended.code else ended
        look(bool)  # this page is the caller's to tell
    return Examined(recording, pages[0] if pages else ModelPage(), error)


@contextmanager
def _as_main(main: ModuleType, folder: Path, arguments: Sequence[str]) -> Iterator[None]:
    """While a program runs it is the module ``__main__``, with its own arguments, and imports what is in a folder."""
    before = sys.modules["__main__"], sys.argv, sys.path[:]
    sys.modules["__main__"], sys.argv = main, [str(main.__file__), *arguments]
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.modules["__main__"], sys.argv, sys.path[:] = before
