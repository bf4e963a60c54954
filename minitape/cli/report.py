"""What the commands show: progress bars, findings on the terminal, and the page of `minitape check --html`."""

from __future__ import annotations

import base64
import binascii
import difflib
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from .check import Result, check_notebooks, count_runs
from .html_page import header_cells, page
from .messages import column_names, failure, say
from .rules import NOT_REPEATABLE, CheckFinding, place_in, remedy

LONGEST_LINE = 200
PICTURE = re.compile(r'<img src="data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)"[^>]*>')
STATES = ("ok", "failed", "broken")  # by a result's exit code
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


def print_results(results: Sequence[Result], html: Path | None, quiet: bool = False) -> None:
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
    if html:
        console.print(say("report: {path}", path=html), markup=False)


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
    told = (
        "not compared (nbval-ignore-output or another mark, or a picture that grows after its cell has run), by "
        "cell: {numbers}"
    )
    return say(told, numbers=numbers)


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


def as_html(results: Sequence[Result]) -> str:
    """A page, complete in itself, with what ran, how long it took, and each difference side by side."""
    wrong = sum(result.exit_code > 0 for result in results)
    seconds, told = sum(r.seconds for r in results), "{count} checked, {wrong} with findings, {seconds:.1f} s"
    summary = say(told, count=len(results), wrong=wrong, seconds=seconds)
    body = "\n".join(_section(result) for result in results)
    return page("minitape check", STYLE, summary, body)


def _section(result: Result) -> str:
    state = STATES[result.exit_code]
    parts = [f"<section><h2><span class='{state}'>{state_of(result)}</span> {escape(result.name)}</h2>"]
    if result.uncompared:
        parts.append(f"<p>{escape(_uncompared(result))}</p>")
    if result.broken:
        parts.append(f"<pre>{escape(result.broken)}</pre>")
    if result.unsaved:
        unsaved = say("not saved yet: type minitape save {path} first. Found meanwhile:", path=result.name)
        parts.append(f"<p>{escape(unsaved)}</p>")
    for finding in result.findings:
        parts.append(f"<h3>{escape(where(finding, result))}</h3><p>{escape(finding.message)} <i>{finding.rule}</i></p>")
        parts.append(f"<p>{escape(say('how to fix it'))}: {escape(remedy(finding.rule))}</p>")
        if finding.saved is not None or finding.new is not None:
            parts.append(_side_by_side(finding.saved or "", finding.new or "", sides(finding)))
    parts.append(_runs_table(result))
    return "".join(parts) + "</section>"


def _side_by_side(saved: str, new: str, names: tuple[str, str]) -> str:
    """Two texts in two columns; lines that differ are marked."""
    left, right = saved.splitlines(), new.splitlines()
    rows = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        height = max(b - a, d - c)
        lefts, rights = left[a:b] + [""] * (height - (b - a)), right[c:d] + [""] * (height - (d - c))
        kind = "" if tag == "equal" else " class='differs'"
        rows += [
            f"<tr{kind}><td>{_shown(one)}</td><td>{_shown(two)}</td></tr>"
            for one, two in zip(lefts, rights, strict=True)
        ]
    return f"<table class='sides'><tr><th>{names[0]}</th><th>{names[1]}</th></tr>{''.join(rows)}</table>"


def _shown(line: str) -> str:
    """A line of an output on the page; a picture is shown as one."""
    image = PICTURE.fullmatch(line.strip())
    if image:
        return f'<img src="data:image/svg+xml;base64,{image[1]}" alt="picture">'
    return f"<pre>{escape(shorten(line, LONGEST_LINE))}</pre>"


def _runs_table(result: Result) -> str:
    rows = "".join(
        f"<tr><td>{run.cell + 1}</td><td>{run.variant}</td>"
        f"<td>{say('skipped') if run.skipped else f'{run.seconds:.2f} s'}</td>"
        f"<td><code>{escape(shorten(run.first_line, 80))}</code></td></tr>"
        for run in result.runs
    )
    head = header_cells(*column_names("cell", "variant", "time", "first line"))
    title = say("{count} cells ran in {seconds:.1f} s", count=len(result.runs), seconds=result.seconds)
    return f"<details><summary>{title}</summary><table><tr>{head}</tr>{rows}</table></details>"


STYLE = """
h2 { font-size: 1.1rem; margin-bottom: 0.3rem; overflow-wrap: anywhere; }
h3 { font-size: 1rem; margin-bottom: 0; }
.sides { width: 100%; table-layout: fixed; border: 1px solid var(--line); }
.sides pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 0.85rem; }
.sides img { max-width: 100%; }
.differs { background: light-dark(#fde8e8, #4a2020); }
.ok, .failed, .broken { color: white; border-radius: 0.3rem; padding: 0 0.5rem; background: #1a7f37; }
.failed, .broken { background: #b3261e; }
"""
