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

from .check import Result, check_notebooks
from .messages import column_names, failure, say
from .rules import NOT_REPEATABLE, REMEDIES, CheckFinding, place_in

LONGEST_LINE = 200
PICTURE = re.compile(r"(?<=base64,)[A-Za-z0-9+/=]{60,}")
STYLES = {"-": "red", "+": "green", "@": "cyan"}


def bar(console: Console) -> Progress:
    """A progress bar, which a terminal shows, and nothing else does."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def with_progress(paths: Sequence[Path], variants: Sequence[str], jobs: int, timeout: float) -> list[Result]:
    """Check notebooks with a progress bar on stderr (none where stderr is no terminal)."""
    console = Console(stderr=True)
    with bar(console) as shown:
        task = shown.add_task("checking", total=len(paths))
        return check_notebooks(paths, variants, jobs, timeout, lambda: shown.advance(task))


def warm_up(shared: bool = False) -> None:
    """Compile the kernels with a progress bar, for all users of this Python if ``shared``, and say how long it took, or
    what is wrong.
    """
    import time

    from minitape.speed import cache
    from minitape.speed.kernels import warmup

    if shared:
        os.environ["MINITAPE_CACHE"] = str(cache.shared())

    begin = time.perf_counter()
    with bar(Console(stderr=True)) as shown:
        task = shown.add_task("compiling", total=None)
        wrong = warmup(lambda name, done, total: shown.update(task, completed=done, total=total, description=name))
    if wrong:  # the log says on stderr what, and how to fix it
        raise failure("the kernels are not ready: {error}. Long tapes work, and take longer.", error=wrong)
    click.echo(say("kernels are ready ({seconds:.1f} s)", seconds=time.perf_counter() - begin))


def print_results(results: Sequence[Result], quiet: bool = False) -> None:
    """Print each finding with its notebook and cell, then one line of summary; with `quiet` nothing where all is
    well.
    """
    console = Console(highlight=False, soft_wrap=True)
    for result in results:
        for line in lines(result) if result.exit_code or not quiet else ():
            console.print(line)
    if rules := dict.fromkeys(finding.rule for result in results for finding in result.findings):
        console.print(say("how to fix it"))
    for rule in rules:
        console.print(f"    [{rule}] {say(REMEDIES[rule])}", markup=False)
    wrong = sum(result.exit_code > 0 for result in results)
    if quiet and not wrong:
        return
    findings = sum(len(result.findings) for result in results)
    told = "{findings} found in {wrong}" if findings else "{wrong} could not be checked" if wrong else "all well"
    checked = "{count} notebook checked: {told}" if len(results) == 1 else "{count} notebooks checked: {told}"
    outcome = say(told, findings=findings, wrong=wrong)
    summary = say(checked, count=len(results), told=outcome)
    console.print(Text(summary, style="bold red" if wrong else "bold green"))


def lines(result: Result) -> Iterator[Text]:
    """One notebook's findings, line by line."""
    cells = len({cell for cell, _ in result.runs})
    yield Text.assemble(
        (f"{column_names('ok', 'failed', 'broken')[result.exit_code]:6}", "red" if result.exit_code else "green"),
        say(" {path}  ({cells} cells, {seconds:.1f} s)", path=result.name, cells=cells, seconds=result.seconds),
    )
    if result.uncompared:
        numbers = ", ".join(str(place + 1) for place in result.uncompared)
        told = say("not compared (nbval-ignore-output or another mark), by cell: {numbers}", numbers=numbers)
        yield Text(f"    {told}")
    if result.broken:
        yield Text(f"    {result.broken}")
    if result.unsaved:
        yield Text("    " + say("not saved yet: type minitape save {path} first. Found meanwhile:", path=result.name))
    for finding in result.findings:
        yield Text(f"    {where(finding, result)}: {finding.message} [{finding.rule}]")
        for line in _difference(finding):
            yield Text(f"        {line}", style=STYLES.get(line[:1], ""))


def where(finding: CheckFinding, result: Result) -> str:
    """A finding's place in words: the cell, and that its solutions were put in where only that run showed it."""
    solved = say(" with the solutions") if finding.variant == "solved" else ""
    return place_in(result.sources, finding.cell) + solved


def _difference(finding: CheckFinding) -> Iterator[str]:
    if finding.saved is None and finding.new is None:
        return
    saved, new = (
        [shorten(line, LONGEST_LINE) for line in PICTURE.sub(_checksum, text or "").splitlines()]
        for text in (finding.saved, finding.new)
    )
    yield from difflib.unified_diff(saved, new, *sides(finding), lineterm="", n=2)


def sides(finding: CheckFinding) -> tuple[str, str]:
    """What the two texts of a finding are."""
    if finding.rule == NOT_REPEATABLE:
        return say("one run"), say("another")
    return say("saved"), say("new")


def _checksum(picture: re.Match[str]) -> str:
    """What stands for the letters of a picture; the words beside it say what it shows."""
    return hashlib.sha256(picture[0].encode()).hexdigest()[:8]


def shorten(line: str, longest: int) -> str:
    """A line cut to a length; what is cut stays recognisable by its checksum."""
    if len(line) <= longest:
        return line
    return f"{line[: longest - 30]} ... ({len(line)} characters, {hashlib.sha256(line.encode()).hexdigest()[:8]})"
