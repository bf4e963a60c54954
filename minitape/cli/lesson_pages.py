"""The lessons as pages. Where a lesson shows a ``TapeView``, its page holds a picture that steps without a kernel.

A lesson is saved with what it prints and with pictures that stand still. To get those that step, each lesson is run once
more (``minitape_widgets.lesson_views``), in a process of its own.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .lessons import lesson_of, notebooks_in

if TYPE_CHECKING:
    from .rules import Cell

NOTE = """```{{note}}
This page shows the lesson as it is saved. To run it, and to have the exercises checked, type `minitape lab`: it is
`{name}` there. Click into a picture and step with the arrow keys.
```
"""
VIEW = '<iframe class="tapeview" src="../../views/{view}" loading="lazy" title="A tape, step by step"></iframe>'
SLIDERS = '<p class="aside">The sliders of this picture need Python: they move in JupyterLab only.</p>'


# a link to a lesson, and to a cell of it: a cell of the glossary is its heading
LESSON = re.compile(r"(\]\((?!\w+:)[^()\s]+)\.ipynb(?:(#)cell-id=)?(?=[^()\s]*\))")


def linked(text: str) -> str:
    """The text of a page with its links to lessons leading to their pages.

    >>> linked("A [tape](glossary.ipynb#cell-id=tape) of [lesson 2](02_inside_the_tape.ipynb).")
    'A [tape](glossary.md#tape) of [lesson 2](02_inside_the_tape.md).'
    """
    return LESSON.sub(r"\1.md\2", text)


def pages(folder: Path, views: Path) -> dict[str, str]:
    """Path -> text of the pages of all lessons; their views are written to the folder ``views``."""
    lessons = notebooks_in(folder)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda lesson: views_of(lesson, views), lessons))
    return {f"notebooks/en/{lesson.stem}.md": page(lesson, cells) for lesson, cells in zip(lessons, found, strict=True)}


def views_of(lesson: Path, views: Path) -> dict[str, list[str]]:
    """Runs a lesson; id of a cell -> the files with the views that it showed."""
    with tempfile.TemporaryDirectory() as folder:  # for the learner's progress
        found = subprocess.run(
            [sys.executable, "-m", "minitape_widgets.lesson_views", str(lesson.absolute()), str(views.absolute() / lesson.stem)],
            cwd=folder, env={**os.environ, "IPYTHONDIR": folder, "MINITAPE_PROGRESS": "", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
    if found.returncode:
        raise click.ClickException(f"{lesson} could not be run: {found.stdout}")
    views_by_cell: dict[str, list[str]] = json.loads(found.stdout)
    return views_by_cell


def page(lesson: Path, views: dict[str, list[str]]) -> str:
    """The text of one page."""
    cells = json.loads(lesson.read_text(encoding="utf-8"))["cells"]
    parts = []
    for number, cell in enumerate(cells):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            # JupyterLab's link to a heading keeps its capitals
            parts.append(re.sub(r"\]\(#[\w-]+\)", lambda link: link[0].lower(), source))
        else:
            shown = [f"{lesson.stem}/{name}" for name in views.get(cell["id"], ())]
            saved = sum("".join(o.get("data", {}).get("text/plain", "")).startswith("TapeView(") for o in cell["outputs"])
            if len(shown) != saved:
                raise click.ClickException(f"{lesson}: cell {cell['id']} shows {len(shown)} views, and {saved} are saved in it")
            parts += code(cell, source, shown)
        if number == 0 and lesson_of(lesson):
            parts.append(NOTE.format(name=lesson.name))
    return "\n\n".join(parts) + "\n"


def code(cell: Cell, source: str, views: list[str]) -> Iterator[str]:
    """A cell of code and what it shows."""
    kind = "exercise" if "exercise" in cell["metadata"].get("tags", ()) else "code"
    yield f'<div class="cell {kind}">'
    yield f"`````python\n{source}\n`````"
    for output in cell["outputs"]:
        data = output.get("data", {})
        html, plain = ("".join(data.get(kind, "")) for kind in ("text/html", "text/plain"))
        if plain.startswith("TapeView("):
            yield VIEW.format(view=views.pop(0)) + f"<noscript>{html}</noscript>"
        elif html:
            whole = re.sub(r"\n\s*\n", "\n", html)  # an empty line would end it
            yield f'<div class="output">{whole}</div>'
        else:
            text = "".join(output.get("text") or plain or output.get("traceback", ""))
            yield f'<pre class="output">{escape(text, quote=False)}</pre>'
    if "TapeView.interact(" in source:
        yield SLIDERS
    yield "</div>"
