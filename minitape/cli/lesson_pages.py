"""Lessons as pages. Pictures that step or move do so there without a kernel; answers are never shown.

A lesson is saved with what it prints and with pictures that stand still. To get those that step, each lesson is run once
more (``minitape_widgets.lesson_views``), in a process of its own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from ..engine.read_data import NOTEBOOK, read_json
from .lessons import lesson_of, notebooks_in
from .rules import is_answers, is_exercise, is_folded

if TYPE_CHECKING:
    from .rules import Cell

Views: TypeAlias = dict[str, list[tuple[str, str]]]  # id of a cell -> the text of each view that it shows, and its file
PLACE = "notebooks/en"  # where the lessons lie among the pages
NOTE = """```{{note}}
This page shows the lesson as it is saved{without}. To run it, to predict, and to have the exercises checked, type `{command}`: it is
`{name}` there. Click into a picture of a tape and step with the arrow keys.
```
"""
VIEW = '<iframe class="tapeview" src="../../views/{view}" loading="lazy" title="A picture that steps or moves"></iframe>'
SLIDERS = '<p class="aside">The sliders of this picture need Python: they move in JupyterLab only.</p>'
FOLDED = '<details class="code"><summary title="The code of this cell">···</summary>\n\n{code}\n\n</details>'

# a link to a lesson, and to a cell of it: a cell of the glossary is its heading
LESSON = re.compile(r"(\]\((?!\w+:)[^()\s]+)\.ipynb(?:(#)cell-id=)?(?=[^()\s]*\))")
FILE = re.compile(r"\]\((?!\w+:)([^()\s#]+)|\bsrc=[\"'](?!\w+:)([^\"'#]+)")  # what a text shows or links to


def linked(text: str) -> str:
    """The text of a page with its links to lessons leading to their pages.

    >>> linked("A [tape](glossary.ipynb#cell-id=tape) of [lesson 2](02_inside_the_tape.ipynb).")
    'A [tape](glossary.md#tape) of [lesson 2](02_inside_the_tape.md).'
    """
    return LESSON.sub(r"\1.md\2", text)


def pages(folder: Path, extra: Path, command: str = "minitape lab") -> dict[str, str]:
    """Path -> text of the pages of all lessons in `folder`; their views, and the files that they show, are written below `extra`."""
    lessons = notebooks_in(folder)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda lesson: views_of(lesson, extra / "views"), lessons))
    texts = {}
    for lesson, views in zip(lessons, found, strict=True):
        cells = read_json(lesson, NOTEBOOK)["cells"]
        texts[f"{PLACE}/{lesson.stem}.md"] = page(lesson, cells, views, command)
        for cell in cells:
            if cell["cell_type"] == "markdown":
                _copy_files("".join(cell["source"]), folder, extra / PLACE)
    return texts


def _copy_files(text: str, folder: Path, target: Path) -> None:
    for found in FILE.finditer(text):
        name = found[1] or found[2]
        inside = (folder / name).resolve().is_relative_to(folder.resolve())
        if inside and not name.endswith(".ipynb") and (folder / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / name, target / name)


def views_of(lesson: Path, views: Path) -> Views:
    """Runs a lesson where it lies, as `minitape check` does."""
    with tempfile.TemporaryDirectory() as scratch:
        environment = {**os.environ, "IPYTHONDIR": scratch, "MINITAPE_PROGRESS": str(Path(scratch, "progress.json"))}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        program = [sys.executable, "-m", "minitape_widgets.lesson_views"]
        found = subprocess.run(
            [*program, str(lesson.absolute()), str(views.absolute() / lesson.stem)],
            cwd=lesson.absolute().parent, env=environment, capture_output=True, text=True,
        )  # fmt: skip
    if found.returncode:
        raise click.ClickException(f"{lesson} could not be run: {found.stderr.strip() or found.stdout}")
    shown: Views = json.loads(found.stdout)
    return shown


def page(lesson: Path, cells: list[Cell], views: Views, command: str = "minitape lab") -> str:
    """The text of one page."""
    parts = []
    without = ", without the solutions" if any(map(is_answers, cells)) else ""
    for number, cell in enumerate(cells):
        source = "".join(cell["source"])
        if is_answers(cell):
            continue
        if cell["cell_type"] == "markdown":
            # JupyterLab's link to a heading keeps its capitals
            parts.append(with_pictures(cell, re.sub(r"\]\(#[\w-]+\)", lambda link: link[0].lower(), source)))
        elif cell["cell_type"] == "code":
            shown = [(said, f"{lesson.stem}/{name}") for said, name in views.get(cell["id"], ())]
            parts += code(cell, source, shown)
            if shown:
                raise click.ClickException(f"{lesson}: cell {cell['id']} shows {shown[0][0]}, which is not saved in it: minitape save {lesson}")
        if number == 0 and lesson_of(lesson):
            parts.append(NOTE.format(name=lesson.name, command=command, without=without))
    return "\n\n".join(parts) + "\n"


def with_pictures(cell: Cell, source: str) -> str:
    """A text in which the pictures stand that its cell holds.

    >>> with_pictures({"attachments": {"a.png": {"image/png": "QUJD"}}}, "![a curve](attachment:a.png)")
    '<img alt="a curve" src="data:image/png;base64,QUJD">'
    """

    def picture(found: re.Match[str]) -> str:
        [(kind, data)] = cell["attachments"][found[2]].items()
        return f'<img alt="{escape(found[1])}" src="data:{kind};base64,{"".join(data)}">'

    return re.sub(r"!\[(.*?)\]\(attachment:(.*?)\)", picture, source)


def code(cell: Cell, source: str, views: list[tuple[str, str]]) -> Iterator[str]:
    """A cell of code and what it shows; the views that it shows are taken off the list."""
    yield f'<div class="cell {"exercise" if is_exercise(cell) else "code"}">'
    block = f"`````python\n{source}\n`````"
    yield FOLDED.format(code=block) if is_folded(cell) else block
    for output in cell["outputs"]:
        data = output.get("data", {})
        html, plain = ("".join(data.get(kind, "")) for kind in ("text/html", "text/plain"))
        if views and views[0][0] == plain:
            yield VIEW.format(view=views.pop(0)[1]) + f"<noscript>{html}</noscript>"
        elif html:
            whole = re.sub(r"\n\s*\n", "\n", html)  # an empty line would end it
            yield f'<div class="output">{whole}</div>'
        elif markdown := "".join(data.get("text/markdown", "")):
            yield from ('<div class="output">', markdown, "</div>")
        else:
            text = "".join(output.get("text") or plain or output.get("traceback", ""))
            yield f'<pre class="output">{escape(text, quote=False)}</pre>'
    if "TapeView.interact(" in source:
        yield SLIDERS
    yield "</div>"
