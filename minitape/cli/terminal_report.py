"""Print progress bars and the findings of `minitape check` on the terminal."""

import os
import re
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from hashlib import sha256

from click import echo
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from ..engine.types import OptionalText, PathSequence, TextList, TextSequence
from .check_notebooks import CheckResult, check_notebooks
from .messages import create_failed_action_error, say, translate_column_names
from .notebook_rules import NOT_REPEATABLE, REMEDIES, CheckFinding, describe_cell

MAX_LINE_LENGTH = 200
PICTURE_DATA = re.compile(r"(?<=base64,)[A-Za-z0-9+/=]{60,}")
LINE_STYLES = {"-": "red", "+": "green", "@": "cyan"}


def create_progress_bar() -> Progress:
    """Create a progress bar that appears on stderr only if that is a terminal, and disappears at the end.

    Returns:
        The progress bar, a context manager. The bar shows a description, a count and the time.
    """
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def check_notebooks_with_progress_bar(
    paths: PathSequence, variants: TextSequence, job_count: int, cell_timeout: float
) -> list[CheckResult]:
    """Check notebooks, with a progress bar if stderr is a terminal.

    Args:
        paths: The notebooks.
        variants: The variants of the exercises to run: "blank", "solved" or both.
        job_count: The number of notebooks to run in parallel.
        cell_timeout: The time limit per cell, in seconds.

    Returns:
        The results in the order of `paths`.
    """
    with create_progress_bar() as progress_bar:
        task = progress_bar.add_task("checking", total=len(paths))
        return check_notebooks(paths, variants, job_count, cell_timeout, lambda: progress_bar.advance(task))


def warm_up_kernels(is_shared: bool) -> None:
    """Compile the kernels with a progress bar on stderr, and print how long the compilation took.

    Args:
        is_shared: Whether to compile for all users of this Python installation rather than for the current user.

    Raises:
        click.ClickException: If the kernels cannot be compiled. The message contains the reason.
    """
    import time

    from minitape.speed import code_cache
    from minitape.speed.kernels import warm_up

    if is_shared:
        os.environ["MINITAPE_CACHE"] = str(code_cache.get_shared_cache_folder())

    start_time = time.perf_counter()
    with create_progress_bar() as progress_bar:
        task = progress_bar.add_task("compiling", total=None)
        problem = warm_up(
            lambda name, completed, total: progress_bar.update(task, completed=completed, total=total, description=name)
        )
    if problem:  # The log on stderr has already described the problem and its fix.
        raise create_failed_action_error(
            "the kernels are not ready: {error}. Long tapes still work, but they take longer.", error=problem
        )
    echo(say("the kernels are ready ({seconds:.1f} s)", seconds=time.perf_counter() - start_time))


def print_check_results(results: Sequence[CheckResult], is_quiet: bool) -> None:
    """Print each finding with its notebook and cell, then the remedies, then a one-line summary.

    Args:
        results: The results of `check_notebooks`.
        is_quiet: Whether to print only notebooks with findings.
    """
    console = Console(highlight=False, soft_wrap=True)
    for result in results:
        if is_quiet and not result.exit_code:
            continue
        for line in iter_result_lines(result):
            console.print(line)
    if rules := dict.fromkeys(finding.rule for result in results for finding in result.findings):
        console.print(say("how to fix it"))
    for rule in rules:
        console.print(f"    [{rule}] {say(REMEDIES[rule])}", markup=False)
    failed_count = sum(result.exit_code > 0 for result in results)
    if failed_count or not is_quiet:
        summary = _summarize_check_results(results, failed_count)
        console.print(Text(summary, style="bold red" if failed_count else "bold green"))


def _summarize_check_results(results: Sequence[CheckResult], failed_count: int) -> str:
    """Return a line with the number of notebooks and the number of findings.

    Args:
        results: The results of `check_notebooks`.
        failed_count: The number of notebooks that have findings or could not be checked.
    """
    finding_count = sum(len(result.findings) for result in results)
    outcome_template = "all well"
    if finding_count:
        outcome_template = "{findings} problem(s) found in {wrong} notebook(s)"
    elif failed_count:
        outcome_template = "{wrong} notebook(s) could not be checked"
    summary_template = "{count} notebook checked: {told}" if len(results) == 1 else "{count} notebooks checked: {told}"
    outcome = say(outcome_template, findings=finding_count, wrong=failed_count)
    return say(summary_template, count=len(results), told=outcome)


def iter_result_lines(result: CheckResult) -> Iterator[Text]:
    """Yield the lines for one notebook.

    Args:
        result: The result of the notebook.

    Yields:
        The notebook's status, the cells that were not compared, and the findings. Each finding is followed by the
        difference between the saved and the new output, if any.
    """
    cell_count = len({cell for cell, _ in result.runs})
    status = translate_column_names("ok", "failed", "broken")[result.exit_code]
    status_style = "red" if result.exit_code else "green"
    yield Text.assemble(
        (f"{status:6}", status_style),
        say(" {path}  ({cells} cells, {seconds:.1f} s)", path=result.name, cells=cell_count, seconds=result.seconds),
    )
    if result.uncompared_cells:
        numbers = ", ".join(str(cell_index + 1) for cell_index in result.uncompared_cells)
        message = say(
            "cells that were not compared (marked nbval-ignore-output or similar): {numbers}", numbers=numbers
        )
        yield Text(f"    {message}")
    if result.failure_reason:
        yield Text(f"    {result.failure_reason}")
    if result.is_unsaved:
        yield Text(
            "    " + say("not saved yet: type minitape save {path} first. Problems found so far:", path=result.name)
        )
    for finding in result.findings:
        cell = describe_cell(result.cell_sources, finding.cell)
        solved_note = say(" with the solutions") if finding.variant == "solved" else ""
        yield Text(f"    {cell}{solved_note}: {finding.message} [{finding.rule}]")
        for line in _iter_difference_lines(finding):
            yield Text(f"        {line}", style=LINE_STYLES.get(line[:1], ""))


def _iter_difference_lines(finding: CheckFinding) -> Iterator[str]:
    labels = say("saved"), say("new")
    if finding.rule == NOT_REPEATABLE:
        labels = say("one run"), say("another run")
    saved_lines = _split_into_short_lines(finding.saved)
    new_lines = _split_into_short_lines(finding.new)
    yield from unified_diff(saved_lines, new_lines, *labels, lineterm="", n=2)


def _split_into_short_lines(output_text: OptionalText) -> TextList:
    """Split an output into lines, with pictures and the ends of long lines replaced with checksums."""
    text = PICTURE_DATA.sub(lambda picture: _compute_checksum(picture[0]), output_text or "")
    return [*map(shorten_line_with_checksum, text.splitlines())]


def _compute_checksum(text: str) -> str:
    """Return a short checksum that stands in for a long text in a diff."""
    return sha256(text.encode()).hexdigest()[:8]


def shorten_line_with_checksum(line: str) -> str:
    """Shorten a line to about MAX_LINE_LENGTH characters.

    Args:
        line: The line.

    Returns:
        The line. A shortened line ends with its full length and a checksum, so different lines still look different.
    """
    if len(line) <= MAX_LINE_LENGTH:
        return line
    return f"{line[: MAX_LINE_LENGTH - 30]} ... ({len(line)} characters, {_compute_checksum(line)})"
