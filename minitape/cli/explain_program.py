"""``minitape explain train.py``: runs a training program unchanged, and reports what is wrong with its gradients."""

from __future__ import annotations

import json
import traceback
from pathlib import Path

import click

from ..bridges.model_page import ModelPage
from ..bridges.program import examine, framework_of
from .messages import misuse, say


def explain_program(
    program: Path, arguments: tuple[str, ...], framework: str | None, options: dict[str, int], as_json: bool
) -> int:
    """Runs the program and reports; returns the exit status."""
    try:
        which = framework or framework_of(program)
    except SyntaxError as error:
        raise click.ClickException("".join(traceback.format_exception_only(error))) from error
    if not which:
        raise misuse(
            "{program} imports neither torch nor tensorflow nor jax; --framework names what it is written in",
            program=program.name,
        )

    def tell(page: ModelPage) -> None:
        if not as_json:
            click.echo(f"\n{page}\n", err=True)

    done = examine(program, arguments, which, tell, **options)
    if done.error is not None and not isinstance(done.error, SystemExit):
        inner = done.error.__traceback__
        while inner is not None and inner.tb_frame.f_code.co_filename != str(program):
            inner = inner.tb_next
        said = traceback.TracebackException.from_exception(done.error.with_traceback(inner))
        own = str(Path(__file__).parent.parent / "bridges")
        said.stack = traceback.StackSummary.from_list([f for f in said.stack if not f.filename.startswith(own)])
        click.echo("".join(said.format()), err=True, nl=False)
    if as_json:
        click.echo(json.dumps({"program": str(program), "answers": done.page.as_json()}, indent=1))
    elif not done.page.problems:
        click.echo(f"\n{done.page}", err=True)
        if "first" in options:
            click.echo(
                say("Only the first steps were recorded, {n} at most; --steps N records N.", n=options["first"]),
                err=True,
            )
    return int(bool(done.page.problems) or done.error is not None)
