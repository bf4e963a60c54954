"""What the commands show on the terminal: progress bars, and what `minitape check` found."""

from __future__ import annotations

import difflib
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from .check_notebooks import CheckResult, check_notebooks
from .messages import create_failure, say, translate_column_names
from .notebook_rules import NOT_REPEATABLE, REMEDIES, CheckFinding, describe_cell

MAX_LINE_LENGTH = 200
PICTURE_DATA = re.compile(r"(?<=base64,)[A-Za-z0-9+/=]{60,}")
LINE_STYLES = {"-": "red", "+": "green", "@": "cyan"}


def create_progress_bar(console: Console) -> Progress:
    """Create a progress bar, which a terminal shows, and nothing else does."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def check_notebooks_with_progress_bar(
    paths: Sequence[Path], variants: Sequence[str], job_count: int, cell_timeout: float
) -> list[CheckResult]:
    """Check notebooks with a progress bar on stderr (none where stderr is no terminal)."""
    console = Console(stderr=True)
    with create_progress_bar(console) as progress_bar:
        task = progress_bar.add_task("checking", total=len(paths))
        return check_notebooks(paths, variants, job_count, cell_timeout, lambda: progress_bar.advance(task))


def warm_up_kernels(is_shared: bool = False) -> None:
    """Compile the kernels with a progress bar, for all users of this Python if ``is_shared``.

    It says how long that took; click.ClickException says what is wrong.
    """
    import time

    from minitape.speed import code_cache
    from minitape.speed.kernels import warm_up

    if is_shared:
        os.environ["MINITAPE_CACHE"] = str(code_cache.get_shared_cache_folder())

    start_time = time.perf_counter()
    with create_progress_bar(Console(stderr=True)) as progress_bar:
        task = progress_bar.add_task("compiling", total=None)
        problem = warm_up(
            lambda name, completed, total: progress_bar.update(task, completed=completed, total=total, description=name)
        )
    if problem:  # the log says on stderr what, and how to fix it
        raise create_failure("the kernels are not ready: {error}. Long tapes work, and take longer.", error=problem)
    click.echo(say("kernels are ready ({seconds:.1f} s)", seconds=time.perf_counter() - start_time))


def print_check_results(results: Sequence[CheckResult], is_quiet: bool = False) -> None:
    """Print each finding with its notebook and cell, then one line of summary; if `is_quiet` nothing where all is
    well.
    """
    console = Console(highlight=False, soft_wrap=True)
    for result in results:
        for line in iter_result_lines(result) if result.exit_code or not is_quiet else ():
            console.print(line)
    if rules := dict.fromkeys(finding.rule for result in results for finding in result.findings):
        console.print(say("how to fix it"))
    for rule in rules:
        console.print(f"    [{rule}] {say(REMEDIES[rule])}", markup=False)
    failed_count = sum(result.exit_code > 0 for result in results)
    if is_quiet and not failed_count:
        return
    finding_count = sum(len(result.findings) for result in results)
    outcome_template = (
        "{findings} found in {wrong}"
        if finding_count
        else "{wrong} could not be checked"
        if failed_count
        else "all well"
    )
    summary_template = "{count} notebook checked: {told}" if len(results) == 1 else "{count} notebooks checked: {told}"
    outcome = say(outcome_template, findings=finding_count, wrong=failed_count)
    summary = say(summary_template, count=len(results), told=outcome)
    console.print(Text(summary, style="bold red" if failed_count else "bold green"))


def iter_result_lines(result: CheckResult) -> Iterator[Text]:
    """Yield one notebook's result and findings, line by line."""
    cell_count = len({cell for cell, _ in result.runs})
    yield Text.assemble(
        (
            f"{translate_column_names('ok', 'failed', 'broken')[result.exit_code]:6}",
            "red" if result.exit_code else "green",
        ),
        say(" {path}  ({cells} cells, {seconds:.1f} s)", path=result.name, cells=cell_count, seconds=result.seconds),
    )
    if result.uncompared_cells:
        numbers = ", ".join(str(cell_index + 1) for cell_index in result.uncompared_cells)
        message = say("not compared (nbval-ignore-output or another mark), by cell: {numbers}", numbers=numbers)
        yield Text(f"    {message}")
    if result.failure_reason:
        yield Text(f"    {result.failure_reason}")
    if result.is_unsaved:
        yield Text("    " + say("not saved yet: type minitape save {path} first. Found meanwhile:", path=result.name))
    for finding in result.findings:
        yield Text(f"    {describe_finding_place(finding, result)}: {finding.message} [{finding.rule}]")
        for line in _iter_difference_lines(finding):
            yield Text(f"        {line}", style=LINE_STYLES.get(line[:1], ""))


def describe_finding_place(finding: CheckFinding, result: CheckResult) -> str:
    """Describe a finding's place: the cell, and that its solutions were put in where only that run showed it."""
    solved_note = say(" with the solutions") if finding.variant == "solved" else ""
    return describe_cell(result.cell_sources, finding.cell) + solved_note


def _iter_difference_lines(finding: CheckFinding) -> Iterator[str]:
    if finding.saved is None and finding.new is None:
        return
    saved, new = (
        [
            shorten_line_with_checksum(line, MAX_LINE_LENGTH)
            for line in PICTURE_DATA.sub(_compute_picture_checksum, text or "").splitlines()
        ]
        for text in (finding.saved, finding.new)
    )
    yield from difflib.unified_diff(saved, new, *get_difference_labels(finding), lineterm="", n=2)


def get_difference_labels(finding: CheckFinding) -> tuple[str, str]:
    """Return what the two texts of a finding are called."""
    if finding.rule == NOT_REPEATABLE:
        return say("one run"), say("another")
    return say("saved"), say("new")


def _compute_picture_checksum(picture_match: re.Match[str]) -> str:
    """Return what stands for the letters of a picture; the words beside it say what it shows."""
    return hashlib.sha256(picture_match[0].encode()).hexdigest()[:8]


def shorten_line_with_checksum(line: str, max_length: int) -> str:
    """Return a line cut to a length; what is cut stays recognizable by its checksum."""
    if len(line) <= max_length:
        return line
    return f"{line[: max_length - 30]} ... ({len(line)} characters, {hashlib.sha256(line.encode()).hexdigest()[:8]})"
