"""Run a program unchanged in the block of its framework, for ``minitape explain train.py``."""

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

from ..explain.caller import warn_at_user_line
from .model_page import ModelPage

PACKAGES_BY_FRAMEWORK = {
    "torch": {"torch", "lightning", "pytorch_lightning", "transformers"},
    "tensorflow": {"tensorflow", "keras"},
    "jax": {"jax"},
}


class ProgramResult(NamedTuple):
    """The result of running a program.

    Attributes:
        recording: The recording of the program.
        page: The explanations of all that the program trained; empty if explaining them failed.
        error: The error that ended the program; None if it ended normally.
    """

    recording: Any
    page: ModelPage
    error: BaseException | None


def find_imported_framework(path: Path) -> str:
    """Return the framework that a file imports.

    The search also reads imported files in the folder of the file and in the current directory.

    Args:
        path: The Python file.

    Returns:
        "torch", "tensorflow" or "jax"; "" if none of these is imported.
    """
    waiting, seen = [path], set[Path]()
    while waiting:
        file = waiting.pop()
        seen.add(file)
        names = list(_iter_imported_modules(file))
        for framework, packages in PACKAGES_BY_FRAMEWORK.items():
            if not packages.isdisjoint(name.partition(".")[0] for name in names):
                return framework
        module_paths = [folder.joinpath(*name.split(".")) for folder in (path.parent, Path.cwd()) for name in names]
        files = [
            file
            for module_path in module_paths
            for file in (module_path.with_suffix(".py"), module_path / "__init__.py")
        ]
        waiting += [file for file in files if file.is_file() and file not in seen]
    return ""


def _iter_imported_modules(path: Path) -> Iterator[str]:
    loader = SourceFileLoader(path.stem, str(path))
    for node in ast.walk(ast.parse(loader.get_data(str(path)), str(path))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from [node.module] if node.module else (name.name for name in node.names)


def run_program(
    path: Path,
    arguments: Sequence[str],
    framework: str,
    on_problem: Callable[[ModelPage], object] = lambda page: None,
    module_spec: ModuleSpec | None = None,
    **options: Any,
) -> ProgramResult:
    """Run a file as the main program in the block of a framework.

    Args:
        path: The file of the program.
        arguments: The arguments of the program, without its name.
        framework: The name of the bridge: "torch", "tensorflow" or "jax".
        on_problem: Called with the first page that shows a problem, while the program still runs. It is called only if
            there are ``options``.
        module_spec: The spec of the module, to run it as ``python -m`` does; None to run it as ``python FILE`` does.
        **options: The options of ``record`` that choose the steps, ``every`` or ``first``.

    Returns:
        The recording, the page of all that the program trained, and the error that ended the program.
    """
    bridge = import_module(f"minitape.bridges.{framework}")
    record = import_module("minitape.bridges.jax.program").FirstGradients if framework == "jax" else bridge.record
    main = ModuleType("__main__")
    main.__file__, main.__spec__ = str(path), module_spec
    main.__package__ = None if module_spec is None else module_spec.parent
    loader = SourceFileLoader("__main__", str(path))
    code = loader.source_to_code(loader.get_data(str(path)), str(path))
    error: BaseException | None = None
    pages: list[ModelPage] = []
    folder = path.parent if module_spec is None else Path.cwd()
    with _install_as_main(main, folder, arguments), getattr(bridge, "keep_models_alive", nullcontext)():
        with record(**options) as recording:

            def explain_until_first_problem(notify: Any = on_problem) -> None:
                if pages and pages[0].problems:
                    return
                try:
                    pages[:] = [recording.explain()]
                    if pages[0].problems:
                        notify(pages[0])
                except Exception as error:  # An error while explaining must not end the training.
                    warn_at_user_line(f"The gradients were not explained: {type(error).__name__}: {error}")

            if options:
                recording.on_recorded = explain_until_first_problem
            try:
                exec(code, vars(main))
            except (Exception, SystemExit, KeyboardInterrupt) as program_error:
                error = None if isinstance(program_error, SystemExit) and not program_error.code else program_error
        explain_until_first_problem(bool)  # The caller reports this page, so it is not passed to on_problem.
    return ProgramResult(recording, pages[0] if pages else ModelPage(), error)


@contextmanager
def _install_as_main(main: ModuleType, folder: Path, arguments: Sequence[str]) -> Iterator[None]:
    """Install a module as ``__main__`` during a block, with its own arguments and a folder to import from."""
    saved_state = sys.modules["__main__"], sys.argv, sys.path[:]
    sys.modules["__main__"], sys.argv = main, [str(main.__file__), *arguments]
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.modules["__main__"], sys.argv, sys.path[:] = saved_state
