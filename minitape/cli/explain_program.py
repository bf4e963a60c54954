"""Implement `minitape explain`, which runs an unchanged training program and reports problems with its gradients."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import traceback
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..bridges.model_page import ModelPage
from ..bridges.program import find_imported_framework, run_program
from ..common.atomic_write import write_file
from .messages import convert_write_errors, create_usage_error, say

if TYPE_CHECKING:
    from ..bridges.run_watch.report import RunReport


def find_runnable_module_spec(module_name: str) -> ModuleSpec:
    """Find the module that ``python -m NAME`` would run. For a package, this is its ``__main__`` module.

    The current folder is inserted at the start of Python's search path.

    Args:
        module_name: The dotted name of a module or package.

    Returns:
        The module's spec.

    Raises:
        click.UsageError: If the module does not exist.
    """
    sys.path.insert(0, os.getcwd())  # Python does the same when it is run with -m.
    try:
        spec = importlib.util.find_spec(module_name)
        if spec and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{module_name}.__main__")
    except (ImportError, ValueError):
        spec = None
    if not (spec and spec.has_location):
        raise create_usage_error("there is no module {name} to run", name=module_name)
    return spec


def run_and_explain_program(
    program: str,
    arguments: tuple[str, ...],
    is_module: bool,
    framework: str | None,
    recording_options: dict[str, int],
    answers_file: Path | None,
    may_repeat: bool = False,
) -> int:
    """Run a program and report problems with its gradients.

    Args:
        program: The path of a file, or the name of a module.
        arguments: The program's arguments.
        is_module: Whether `program` is a module name.
        framework: "torch", "tensorflow" or "jax". If it is None, the program's imports determine the framework.
        recording_options: Keyword arguments for `run_program` that select the steps to record.
        answers_file: A file that also receives the answers as JSON, or None.
        may_repeat: Whether a PyTorch program that writes files or takes long may run a second time.

    Returns:
        The exit status: 1 if there are findings or the program raised an exception, otherwise 0.

    Raises:
        click.UsageError: If the program does not exist, or its framework cannot be determined.
        click.ClickException: If the program is not valid Python, the framework is not installed, or `answers_file`
            cannot be written.
    """
    spec = find_runnable_module_spec(program) if is_module else None
    path = Path(str(spec.origin) if spec else program)
    if not path.is_file():
        raise create_usage_error("there is no file {program}; a module is run with -m", program=program)
    try:
        framework_name = framework or find_imported_framework(path)
    except SyntaxError as error:
        raise click.ClickException("".join(traceback.format_exception_only(error))) from error
    if not framework_name:
        raise create_usage_error(
            "{program} imports neither torch nor tensorflow nor jax: --framework names what it is written in. A "
            "program in minitape itself asks with print(tape.explain(y, x))",
            program=path.name,
        )
    try:
        importlib.import_module(f"minitape.bridges.{framework_name}")
    except ImportError as error:  # The message includes the command that installs the framework.
        raise click.ClickException(str(error)) from error

    if framework_name == "torch":
        return _explain_torch_program(path, arguments, spec, recording_options, may_repeat, answers_file)
    shown_pages: list[ModelPage] = []

    def show_page(page: ModelPage) -> None:
        shown_pages.append(page)
        click.echo(f"\n{page}\n", err=True)

    examination = run_program(path, arguments, framework_name, show_page, spec, **recording_options)
    print_program_error(examination.error, path)
    if not shown_pages:
        click.echo(f"\n{examination.page}", err=True)
        if "first" in recording_options and not examination.page.problems:
            note = "Only the first steps were recorded, {n} at most; --steps N records N."
            click.echo(say(note, n=recording_options["first"]), err=True)
    write_answers(answers_file, program, {"answers": examination.page.as_json()})
    return 1 if examination.page.problems or examination.error else 0


def _explain_torch_program(
    path: Path,
    arguments: tuple[str, ...],
    spec: ModuleSpec | None,
    recording_options: dict[str, int],
    may_repeat: bool,
    answers_file: Path | None,
) -> int:
    """Watch the whole run of a PyTorch program, report on it, and return the exit status.

    Args:
        path: The file of the program.
        arguments: The arguments of the program.
        spec: The spec of the module if the program runs as a module, otherwise None.
        recording_options: Keyword arguments that select the steps to record.
        may_repeat: Whether the program may run a second time in any case.
        answers_file: The file for the answers as JSON, or None.
    """
    from ..bridges.program import RunnableProgram
    from ..bridges.torch.program import WatchedProgram

    def show_first_problems(report: RunReport) -> None:
        click.echo(f"\n{report}\n", err=True)

    watched = WatchedProgram(RunnableProgram(path, arguments, spec), may_repeat, recording_options)
    report = watched.run_program(show_first_problems)
    print_program_error(report.error, path)
    click.echo(f"\n{report}", err=True)
    write_answers(answers_file, str(path), report.to_json())
    return 1 if report.has_findings else 0


def print_program_error(error: BaseException | None, path: Path) -> None:
    """Print the error that ended a program, without the frames of minitape.

    Args:
        error: The error, or None if the program ended normally.
        path: The file of the program.
    """
    if not isinstance(error, (Exception, KeyboardInterrupt)):
        return
    user_traceback = error.__traceback__
    while user_traceback and user_traceback.tb_frame.f_code.co_filename != str(path):
        user_traceback = user_traceback.tb_next
    error_report = traceback.TracebackException.from_exception(error.with_traceback(user_traceback))
    bridges_folder = str(Path(__file__).parent.parent / "bridges")
    error_report.stack = traceback.StackSummary.from_list(
        [frame for frame in error_report.stack if not frame.filename.startswith(bridges_folder)]
    )
    click.echo("".join(error_report.format()), err=True, nl=False)


# The answers are JSON, hence Any.
def write_answers(answers_file: Path | None, program: str, answers: dict[str, Any]) -> None:
    """Write the answers as JSON if a file was specified.

    Args:
        answers_file: The file, or None if no file was specified.
        program: The program that was run.
        answers: The answers, whose values are JSON.

    Raises:
        click.ClickException: If the file cannot be written.
    """
    if answers_file:
        with convert_write_errors(answers_file):
            write_file(answers_file, json.dumps({"program": program, **answers}, indent=1) + "\n")
