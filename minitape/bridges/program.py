"""Run an unchanged program in its framework's block, for ``minitape explain train.py``."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from importlib import import_module
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import decode_source
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
        page: The explanations of everything that the program trained. Empty if explaining failed.
        error: The error that ended the program, or None if it ended normally.
    """

    recording: Any
    page: ModelPage
    error: BaseException | None


def find_imported_framework(path: Path) -> str:
    """Return the name of the framework that a file imports.

    The search also reads imported files in the file's folder and in the current directory.

    Args:
        path: The Python file.

    Returns:
        "torch", "tensorflow" or "jax", or "" if none of these is imported.
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
    """Run a file as the main program in a framework's block.

    Args:
        path: The program's file.
        arguments: The program's arguments, without its name.
        framework: The name of the bridge: "torch", "tensorflow" or "jax".
        on_problem: Called with the first page that shows a problem, while the program is still running. Called only if
            ``options`` are given.
        module_spec: The module's spec, to run it like ``python -m``, or None to run it like ``python FILE``.
        **options: The option of ``record`` that selects the steps, ``every`` or ``first``.

    Returns:
        The recording, the page for everything that the program trained, and the error that ended the program.
    """
    bridge = import_module(f"minitape.bridges.{framework}")
    record = import_module("minitape.bridges.jax.program").FirstGradients if framework == "jax" else bridge.record
    error: BaseException | None = None
    pages: list[ModelPage] = []
    with getattr(bridge, "keep_models_alive", nullcontext)(), record(**options) as recording:

        def explain_until_first_problem(notify: Any = on_problem) -> None:
            if pages and pages[0].problems:
                return
            try:
                pages[:] = [recording.explain()]
                if pages[0].problems:
                    notify(pages[0])
            except Exception as error:  # An error in an explanation must not end the training.
                warn_at_user_line(f"The gradients were not explained: {type(error).__name__}: {error}")

        if options:
            recording.on_recorded = explain_until_first_problem

        def finish_recording(program_error: BaseException | None) -> None:
            nonlocal error
            error = program_error
            recording.__exit__(None, None, None)
            # The caller reports this page, so on_problem need not report the same page.
            explain_until_first_problem(bool)

        execute_program(RunnableProgram(path, tuple(arguments), module_spec), finish_recording)
    return ProgramResult(recording, pages[0] if pages else ModelPage(), error)


class RunnableProgram(NamedTuple):
    """A program that can be executed.

    Attributes:
        path: The program's file.
        arguments: The program's arguments, without its name.
        module_spec: The module's spec, to run it like ``python -m``, or None to run it like ``python FILE``.
        source: The text to execute, or None to execute the text of the file.
    """

    path: Path
    arguments: tuple[str, ...]
    module_spec: ModuleSpec | None = None
    source: str | None = None

    def read_source(self) -> str:
        """Return the program's text.

        Returns:
            The text to be executed.
        """
        if self.source is not None:
            return self.source
        return decode_source(SourceFileLoader("__main__", str(self.path)).get_data(str(self.path)))


def execute_program(program: RunnableProgram, finish: Callable[[BaseException | None], object]) -> None:
    """Execute a program as ``__main__``.

    Args:
        program: The program.
        finish: Called with the error that ended the program, or with None, while the program's names still exist.
    """
    main = ModuleType("__main__")
    main.__file__, main.__spec__ = str(program.path), program.module_spec
    main.__package__ = None if program.module_spec is None else program.module_spec.parent
    loader = SourceFileLoader("__main__", str(program.path))
    source = loader.get_data(str(program.path)) if program.source is None else program.source.encode()
    code = loader.source_to_code(source, str(program.path))
    folder = program.path.parent if program.module_spec is None else Path.cwd()
    error: BaseException | None = None
    with _install_as_main(main, folder, program.arguments):
        try:
            exec(code, vars(main))
        except (Exception, SystemExit, KeyboardInterrupt) as program_error:
            error = None if isinstance(program_error, SystemExit) and not program_error.code else program_error
        finish(error)


@contextmanager
def _install_as_main(main: ModuleType, folder: Path, arguments: Sequence[str]) -> Iterator[None]:
    """Install a module as ``__main__`` for a block, and set the program's arguments and import folder."""
    saved_state = sys.modules["__main__"], sys.argv, sys.path[:]
    sys.modules["__main__"], sys.argv = main, [str(main.__file__), *arguments]
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.modules["__main__"], sys.argv, sys.path[:] = saved_state
