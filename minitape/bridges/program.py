"""Run an unmodified program inside its frameworks' recording blocks, for ``minitape explain train.py``."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from importlib import import_module
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import decode_source
from os import environ
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from ..common.read_data import read_json
from ..common.translation import format_error
from ..engine.types import Names, OptionalError, OptionalText, TextList, TextSequence
from ..explain.caller import warn_at_user_line
from ..explain.explanation import OptionalExplanation, explain_cause
from .known_errors import explain_error_by_message
from .model_page import ModelPage, is_problem
from .run_watch.report import ProblemGroupList, build_problem_group

PACKAGES_BY_FRAMEWORK = {
    "torch": {"torch", "lightning", "pytorch_lightning", "transformers"},
    "tensorflow": {"tensorflow"},
    "jax": {"jax", "flax", "equinox", "optax", "haiku"},
}


def find_imported_frameworks(path: Path) -> TextList:
    """Return the names of the frameworks that a file imports.

    Imported files in the file's folder and in the current directory are searched as well.

    Args:
        path: The Python file.

    Returns:
        Whichever of "torch", "tensorflow" and "jax" the file imports, in this order. For a file that imports Keras,
        Keras's backend is included.
    """
    waiting = [path]
    seen = set[Path]()
    packages = set[str]()
    keras_backends = list[str]()
    while waiting:
        file = waiting.pop()
        seen.add(file)
        source = SourceFileLoader(file.stem, str(file)).get_data(str(file))
        names = list(_iter_imported_modules(ast.parse(source, str(file))))
        packages.update(name.partition(".")[0] for name in names)
        # The program may choose its backend through an environment variable.
        keras_backends += re.findall(r"""KERAS_BACKEND["'][^"'\n]*["'](\w+)["']""", source.decode(errors="replace"))
        module_paths = [folder.joinpath(*name.split(".")) for folder in (path.parent, Path.cwd()) for name in names]
        files = [
            file
            for module_path in module_paths
            for file in (module_path.with_suffix(".py"), module_path / "__init__.py")
        ]
        waiting += [file for file in files if file.is_file() and file not in seen]
    if "keras" in packages:
        keras_backends += [environ.get("KERAS_BACKEND") or _read_keras_backend_from_settings_file()]
        packages.add(keras_backends[0])
    return [framework for framework, names in PACKAGES_BY_FRAMEWORK.items() if not names.isdisjoint(packages)]


def _iter_imported_modules(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from [node.module] if node.module else (name.name for name in node.names)


def _read_keras_backend_from_settings_file() -> str:
    """Return the backend named in Keras's settings file, or else Keras's default backend."""
    file = Path(environ.get("KERAS_HOME") or Path.home() / ".keras") / "keras.json"
    try:
        return str(read_json(file)["backend"])
    except (OSError, ValueError, LookupError, TypeError):
        return "tensorflow"


class FrameworkBlock:
    """The block that records one framework's operations while a program runs.

    Attributes:
        framework: The name of the framework.
        recording: The recording, which exists as soon as the block is open.
        page: The explanations of everything that the program trained. The page is empty if the explanation failed.
        run_problems: Problems of the whole run that no single gradient reveals, such as a NaN loss.
        remarks: Further sentences about the run.
    """

    def __init__(
        self,
        framework: str,
        options: Mapping[str, int],
        on_problem: Callable[[ModelPage], object] = lambda page: None,
    ):
        """Prepare the block.

        Args:
            framework: The name of the bridge: "torch", "tensorflow" or "jax".
            options: The options of ``record`` that select the steps: ``every`` or ``first``.
            on_problem: A function that is called with the first page that shows a problem, while the program is still
                running. The function is called only if `options` is not empty.
        """
        self.framework = framework
        self.page = ModelPage()
        self.run_problems: ProblemGroupList = []
        self.remarks: TextList = []
        self.recording: Any = None  # Each bridge has its own class.
        self._options = options
        self._on_problem = on_problem
        self._blocks = ExitStack()

    def __enter__(self) -> FrameworkBlock:
        """Start recording."""
        bridge = import_module(f"minitape.bridges.{self.framework}")
        record = bridge.record
        if self.framework == "jax":
            record = import_module("minitape.bridges.jax.program").SampledGradients
        self._blocks.enter_context(getattr(bridge, "keep_used_models_and_optimizers_alive", nullcontext)())
        self.recording = self._blocks.enter_context(record(**self._options))
        if self._options:
            self.recording.on_recorded = lambda: self._explain_unless_problem_was_found(self._on_problem)
        return self

    def __exit__(self, *error: object) -> None:
        """Undo all changes to the framework."""
        self._blocks.close()

    def finish_recording_and_explain(self, program_error: OptionalError) -> None:
        """End the recording and explain it before the program's variables are deleted.

        Args:
            program_error: The error that ended the program, or None if it ended normally.
        """
        self._on_problem = bool  # The caller reports this page, so it is not passed to on_problem.
        self.recording.__exit__(None, None, None)
        self._explain_unless_problem_was_found(bool)
        bad_step = getattr(self.recording, "bad_step", None)
        if bad_step is not None and not self.has_problems:
            explanation = explain_cause(self.framework, "nonfinite_value", variant="step", fields={"n": bad_step})
            self.run_problems = [build_problem_group(explanation, [])]
        if isinstance(program_error, Exception):
            try:
                self._keep_only_explanations_about_error(program_error)
            except Exception as error:
                warn_at_user_line(f"The error could not be explained: {format_error(error)}")

    def _keep_only_explanations_about_error(self, program_error: Exception) -> None:
        """Keep only the explanation of the failed call, or of the requested gradients if the failed call is unknown.

        Args:
            program_error: The error that ended the program.
        """
        failed_call = getattr(self.recording, "failed_call", None)
        explanation = None
        if failed_call is not None and failed_call[2] is program_error:
            explanation = self.recording.explain_failed_gradient_or_compiled_step(*failed_call[:2])
        if explanation is None:
            for name in getattr(self.recording, "collect_names_of_unrequested_sources", set)():
                if name in self.page and is_problem(self.page[name]):
                    del self.page[name]
            if not self.page.problems:
                explanation = explain_error_by_message(self.framework, program_error)
        if explanation is not None:
            self.run_problems, self.page = [build_problem_group(explanation, [])], ModelPage()

    @property
    def has_problems(self) -> bool:
        """Whether there is a problem, or none of the computed gradients was recorded."""
        return bool(self.page.problems or self.run_problems or self.missed_all_gradients)

    @property
    def missed_all_gradients(self) -> bool:
        """Whether the program computed gradients but none of them could be recorded."""
        return self.has_gradients and not self.page

    @property
    def has_gradients(self) -> bool:
        """Whether the program has computed gradients with the framework."""
        counts = (getattr(self.recording, name, 0) for name in ("gradient_count", "steps"))
        latest = getattr(self.recording, "latest", self.recording)
        return any(counts) or bool(getattr(latest, "sweeps", ()))

    def _explain_unless_problem_was_found(self, notify: Callable[[ModelPage], object]) -> None:
        if self.page.problems:
            self.remarks = getattr(self.recording, "list_run_remarks", list)()
            return
        try:
            self.page = self.recording.explain()
            self.remarks = getattr(self.recording, "list_run_remarks", list)()
            if not any(explanation.kind in ("nonfinite", "error") for explanation in self.page.problems):
                explanations: Iterable[OptionalExplanation] = getattr(self.recording, "iter_run_problems", list)()
                self.run_problems = [build_problem_group(each, []) for each in explanations if each is not None]
            if self.page.problems:
                notify(self.page)
        except Exception as error:  # An error in an explanation must not end the training run.
            if self.has_gradients or not isinstance(error, RuntimeError):
                warn_at_user_line(f"The gradients could not be explained: {format_error(error)}")


class ProgramResult(NamedTuple):
    """The result of running a program.

    Attributes:
        blocks: The blocks of the frameworks that computed gradients, or the first framework's block if none did.
        error: The error that ended the program, or None if it ended normally.
    """

    blocks: list[FrameworkBlock]
    error: OptionalError


def run_program(program: RunnableProgram, blocks: Sequence[FrameworkBlock]) -> ProgramResult:
    """Run a file as the main program in the blocks of its frameworks.

    Args:
        program: The program.
        blocks: One or more blocks.

    Returns:
        The blocks whose results are worth reporting, and the error that ended the program.
    """
    error = None

    def finish_recordings(program_error: OptionalError) -> None:
        nonlocal error
        error = program_error
        for block in blocks:
            block.finish_recording_and_explain(program_error)

    with ExitStack() as stack:
        for block in blocks:
            stack.enter_context(block)
        execute_as_main_and_pass_error(program, finish_recordings)
    return ProgramResult([block for block in blocks if block.has_gradients] or [blocks[0]], error)


class RunnableProgram(NamedTuple):
    """A program that can be executed.

    Attributes:
        path: The program's file.
        arguments: The program's arguments, not including the program's name.
        module_spec: The spec of the module to run as ``python -m`` does, or None to run the file as ``python FILE``
            does.
        source: The text to execute, or None to execute the text of the file.
    """

    path: Path
    arguments: Names
    module_spec: ModuleSpec | None = None
    source: OptionalText = None

    def read_source(self) -> str:
        """Return the program's text.

        Returns:
            The text to be executed.
        """
        if self.source is not None:
            return self.source
        return decode_source(SourceFileLoader("__main__", str(self.path)).get_data(str(self.path)))


def execute_as_main_and_pass_error(program: RunnableProgram, receive_error: Callable[[OptionalError], object]) -> None:
    """Execute a program as ``__main__``, and pass the error that ended it to a function.

    Args:
        program: The program.
        receive_error: A function that is called with the error that ended the program, or with None, before the
            program's variables are deleted.
    """
    main = ModuleType("__main__")
    main.__file__ = str(program.path)
    main.__spec__ = program.module_spec
    main.__package__ = None if program.module_spec is None else program.module_spec.parent
    loader = SourceFileLoader("__main__", str(program.path))
    source = loader.get_data(str(program.path)) if program.source is None else program.source.encode()
    code = loader.source_to_code(source, str(program.path))
    folder = program.path.parent if program.module_spec is None else Path.cwd()
    error: OptionalError = None
    with _install_as_main(main, folder, program.arguments):
        try:
            exec(code, vars(main))
        except (Exception, SystemExit, KeyboardInterrupt) as program_error:
            error = None if isinstance(program_error, SystemExit) and not program_error.code else program_error
        receive_error(error)


@contextmanager
def _install_as_main(main: ModuleType, folder: Path, arguments: TextSequence) -> Iterator[None]:
    """Install a module as ``__main__`` for a block, and set the program's arguments and import folder."""
    saved_state = sys.modules["__main__"], sys.argv, sys.path[:]
    sys.modules["__main__"], sys.argv = main, [str(main.__file__), *arguments]
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.modules["__main__"], sys.argv, sys.path[:] = saved_state
