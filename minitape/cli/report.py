"""What the commands show on the terminal: progress bars, and what `minitape check` found."""

from __future__ import annotations

import base64
import binascii
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

from .check import Result, check_notebooks, count_runs
from .messages import column_names, failure, say
from .rules import NOT_REPEATABLE, CheckFinding, place_in, remedy

LONGEST_LINE = 200
PICTURE = re.compile(r'<img src="data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)"[^>]*>')
STYLES = {"-": "red", "+": "green", "@": "cyan"}


def bar(console: Console) -> Progress:
    """A progress bar, which a terminal shows, and nothing else does."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def with_progress(paths: Sequence[Path], variants: Sequence[str], jobs: int, timeout: float) -> list[Result]:
    """Check notebooks with a progress bar on stderr (none where stderr is no terminal)."""
    console = Console(stderr=True)
    with bar(console) as shown:
        task = shown.add_task("checking", total=sum(count_runs(path, variants) for path in paths))

        def ran_one(path: Path) -> None:
            shown.update(task, advance=1, description=path.name)

        return check_notebooks(paths, variants, jobs, timeout, ran_one)


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
        for line in _lines(result) if result.exit_code or not quiet else ():
            console.print(line)
    for line in _remedies(results):
        console.print(line)
    wrong = sum(result.exit_code > 0 for result in results)
    if quiet and not wrong:
        return
    findings = sum(len(result.findings) for result in results)
    told = "{findings} found in {wrong}" if findings else "{wrong} could not be checked" if wrong else "all well"
    checked = "{count} notebook checked: {told}" if len(results) == 1 else "{count} notebooks checked: {told}"
    outcome = say(told, findings=findings, wrong=wrong)
    summary = say(checked, count=len(results), told=outcome)
    console.print(Text(summary, style="bold red" if wrong else "bold green"))


def state_of(result: Result) -> str:
    """What a result is, in a word."""
    return column_names("ok", "failed", "broken")[result.exit_code]


def _remedies(results: Sequence[Result]) -> Iterator[Text]:
    """What to do about each rule that was broken, once."""
    rules = dict.fromkeys(finding.rule for result in results for finding in result.findings)
    if rules:
        yield Text(say("how to fix it"))
    for rule in rules:
        yield Text(f"    [{rule}] {remedy(rule)}")


def as_text(result: Result) -> str:
    """One notebook's findings as plain text."""
    return "\n".join(line.plain for line in _lines(result))


def _lines(result: Result) -> Iterator[Text]:
    cells = len({run.cell for run in result.runs})
    yield Text.assemble(
        (f"{state_of(result):6}", "red" if result.exit_code else "green"),
        say(" {path}  ({cells} cells, {seconds:.1f} s)", path=result.name, cells=cells, seconds=result.seconds),
    )
    if result.uncompared:
        yield Text(f"    {_uncompared(result)}")
    if result.broken:
        yield Text(f"    {result.broken}")
    if result.unsaved:
        yield Text("    " + say("not saved yet: type minitape save {path} first. Found meanwhile:", path=result.name))
    for finding in result.findings:
        yield Text(f"    {where(finding, result)}: {finding.message} [{finding.rule}]")
        for line in [] if _only_a_picture(finding, result) else _difference(finding):
            yield Text(f"        {line}", style=STYLES.get(line[:1], ""))


def _uncompared(result: Result) -> str:
    numbers = ", ".join(str(place + 1) for place in result.uncompared)
    return say("not compared (nbval-ignore-output or another mark), by cell: {numbers}", numbers=numbers)


def where(finding: CheckFinding, result: Result) -> str:
    """A finding's place in words: the cell, and that its solutions were put in where only that run showed it."""
    solved = say(" with the solutions") if finding.variant == "solved" else ""
    return place_in(result.sources, finding.cell) + solved


def _only_a_picture(finding: CheckFinding, result: Result) -> bool:
    """Whether what differs is a picture of a notebook that is not saved yet: its elements say
    nothing to a reader.
    """
    return result.unsaved and bool(PICTURE.search((finding.saved or "") + (finding.new or "")))


def _difference(finding: CheckFinding) -> Iterator[str]:
    if finding.saved is None and finding.new is None:
        return
    saved, new = (
        [shorten(line, LONGEST_LINE) for line in _with_svg_source(text or "").splitlines()]
        for text in (finding.saved, finding.new)
    )
    yield from difflib.unified_diff(saved, new, *sides(finding), lineterm="", n=2)


def sides(finding: CheckFinding) -> tuple[str, str]:
    """What the two texts of a finding are."""
    if finding.rule == NOT_REPEATABLE:
        return say("one run"), say("another")
    return say("saved"), say("new")


def _with_svg_source(text: str) -> str:
    """A text with each embedded picture as its SVG source, one element in a line, so that a difference can be read."""

    def elements(image: re.Match[str]) -> str:
        try:
            return base64.b64decode(image[1], validate=True).decode().replace("><", ">\n<")
        except (binascii.Error, UnicodeDecodeError):
            return image[0]

    return PICTURE.sub(elements, text)


def shorten(line: str, longest: int) -> str:
    """A line cut to a length; what is cut stays recognisable by its checksum."""
    if len(line) <= longest:
        return line
    checksum = hashlib.sha256(line.encode()).hexdigest()[:8]
    return f"{line[: longest - 30]} ... ({len(line)} characters, {checksum})"
