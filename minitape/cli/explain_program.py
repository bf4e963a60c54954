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
from ..bridges.program import examine, framework_of
from ..common.write_beside import write
from .messages import misuse, say, writing


def module_of(name: str) -> ModuleSpec:
    """The module that ``python -m NAME`` runs: of a package its ``__main__``.

    Raises click.UsageError where there is none.
    """
    sys.path.insert(0, os.getcwd())  # as Python does
    try:
        spec = importlib.util.find_spec(name)
        if spec and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except (ImportError, ValueError):
        spec = None
    if not (spec and spec.has_location):
        raise misuse("there is no module {name} to run", name=name)
    return spec


def explain_program(
    program: str,
    arguments: tuple[str, ...],
    as_module: bool,
    framework: str | None,
    options: dict[str, int],
    answers: Path | None,
) -> int:
    """Runs the program, a file or a module, and reports; returns the exit status. The answers are also written as JSON
    to the file ``answers``.
    """
    spec = module_of(program) if as_module else None
    path = Path(str(spec.origin) if spec else program)
    if not path.is_file():
        raise misuse("there is no file {program}; a module is run with -m", program=program)
    try:
        which = framework or framework_of(path)
    except SyntaxError as error:
        raise click.ClickException("".join(traceback.format_exception_only(error))) from error
    if not which:
        raise misuse(
            "{program} imports neither torch nor tensorflow nor jax: --framework names what it is written in. A "
            "program in minitape itself asks with print(tape.explain(y, x))",
            program=path.name,
        )
    try:
        importlib.import_module(f"minitape.bridges.{which}")
    except ImportError as error:  # it says what to install
        raise click.ClickException(str(error)) from error

    told: list[ModelPage] = []

    def tell(page: ModelPage) -> None:
        told.append(page)
        click.echo(f"\n{page}\n", err=True)

    done = examine(path, arguments, which, tell, spec, **options)
    if isinstance(done.error, (Exception, KeyboardInterrupt)):
        inner = done.error.__traceback__
        while inner and inner.tb_frame.f_code.co_filename != str(path):
            inner = inner.tb_next
        said = traceback.TracebackException.from_exception(done.error.with_traceback(inner))
        own = str(Path(__file__).parent.parent / "bridges")
        said.stack = traceback.StackSummary.from_list([f for f in said.stack if not f.filename.startswith(own)])
        click.echo("".join(said.format()), err=True, nl=False)
    if not told:
        click.echo(f"\n{done.page}", err=True)
        if "first" in options and not done.page.problems:
            click.echo(
                say("Only the first steps were recorded, {n} at most; --steps N records N.", n=options["first"]),
                err=True,
            )
    if answers:
        with writing(answers):
            write(answers, json.dumps({"program": program, "answers": done.page.as_json()}, indent=1) + "\n")
    return 1 if done.page.problems or done.error else 0
