"""``minitape explain train.py``: a training program that runs unchanged, and a report of what is wrong with its
gradients.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import traceback
from importlib.machinery import ModuleSpec
from pathlib import Path

import click

from ..bridges.model_page import ModelPage
from ..bridges.program import find_imported_framework, run_program
from ..common.atomic_write import write_file
from .messages import convert_write_errors, create_usage_error, say


def find_runnable_module_spec(module_name: str) -> ModuleSpec:
    """Find the module that ``python -m NAME`` runs: of a package its ``__main__``. The current folder comes first from
    now on.

    Raises click.UsageError where there is none.
    """
    sys.path.insert(0, os.getcwd())  # as Python does
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
) -> int:
    """Run the program, a file or a module, and report on its gradients; return the exit status.

    The answers are also written as JSON to ``answers_file``, if there is one.
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
    except ImportError as error:  # it says what to install
        raise click.ClickException(str(error)) from error

    shown_pages: list[ModelPage] = []

    def show_page(page: ModelPage) -> None:
        shown_pages.append(page)
        click.echo(f"\n{page}\n", err=True)

    examination = run_program(path, arguments, framework_name, show_page, spec, **recording_options)
    if isinstance(examination.error, (Exception, KeyboardInterrupt)):
        user_traceback = examination.error.__traceback__
        while user_traceback and user_traceback.tb_frame.f_code.co_filename != str(path):
            user_traceback = user_traceback.tb_next
        error_report = traceback.TracebackException.from_exception(examination.error.with_traceback(user_traceback))
        bridges_folder = str(Path(__file__).parent.parent / "bridges")
        error_report.stack = traceback.StackSummary.from_list(
            [frame for frame in error_report.stack if not frame.filename.startswith(bridges_folder)]
        )
        click.echo("".join(error_report.format()), err=True, nl=False)
    if not shown_pages:
        click.echo(f"\n{examination.page}", err=True)
        if "first" in recording_options and not examination.page.problems:
            click.echo(
                say(
                    "Only the first steps were recorded, {n} at most; --steps N records N.",
                    n=recording_options["first"],
                ),
                err=True,
            )
    if answers_file:
        with convert_write_errors(answers_file):
            write_file(
                answers_file, json.dumps({"program": program, "answers": examination.page.as_json()}, indent=1) + "\n"
            )
    return 1 if examination.page.problems or examination.error else 0
