"""Lessons as pages. Pictures that step or move do so there without a kernel; answers are never shown.

A lesson is saved with what it prints and with still pictures. To get pictures that step, each lesson is run
once more (``minitape_widgets.lesson_views``), in a process of its own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from ..common.read_data import NOTEBOOK, read_json
from ..common.texts import CLI, language, say
from .lessons import lesson_of, notebooks_in
from .rules import is_answers, is_exercise, is_folded

if TYPE_CHECKING:
    from .rules import Cell

Views: TypeAlias = dict[str, list[tuple[str, str]]]  # id of a cell -> the text of each view that it shows, and its file
VIEW = '<iframe class="tapeview" src="{view}" loading="lazy" title="{title}"></iframe>'
FOLDED = '<details class="code"><summary title="{title}">···</summary>\n\n{code}\n\n</details>'

LESSON = re.compile(r"(\]\((?!\w+:)[^()\s]+)\.ipynb(?=(?:#[^()\s]*)?\))")
CELL = re.compile(r"(\]\(([\w.-]+\.ipynb)#)cell-id=([\w-]+)(?=\))")
CHOICES = "\n  - "  # of a prediction, in its text
CHOICE = re.compile(r"^  - (.*)$", re.MULTILINE)
FILE = re.compile(r"\]\((?!\w+:)([^()\s#]+)|\bsrc=[\"'](?!\w+:)([^\"'#]+)")  # what a text shows or links to


def linked(text: str) -> str:
    """The text of a page with its links to lessons leading to their pages.

    >>> linked("A [tape](glossary.ipynb#tape) of [lesson 2](02_inside_the_tape.ipynb).")
    'A [tape](glossary.md#tape) of [lesson 2](02_inside_the_tape.md).'
    """
    return LESSON.sub(r"\1.md", text)


def to_headings(text: str, headings: dict[str, dict[str, str]]) -> str:
    """The text of a page with its links to cells leading to the headings of these cells: a page knows no cells.

    >>> to_headings("一条[磁带](glossary.ipynb#cell-id=tape)", {"glossary.ipynb": {"tape": "磁带tape"}})
    '一条[磁带](glossary.ipynb#磁带tape)'
    """
    return CELL.sub(lambda link: link[1] + headings.get(link[2], {}).get(link[3], link[3]), text)


def headings_of(cells: list[Cell]) -> dict[str, str]:
    """Cell -> the name by which a link finds the heading with which it begins.

    >>> headings_of([{"id": "tape", "source": ["## 磁带（Tape）\\n", "它记录运算。"]}])
    {'tape': '磁带tape'}
    """
    found = {cell["id"]: re.match(r"#+ (.*)", "".join(cell["source"])) for cell in cells}
    return {name: re.sub(r"[^\w -]", "", head[1].lower()).replace(" ", "-") for name, head in found.items() if head}


def say_in(folder: Path) -> Callable[..., str]:
    """A function that says what pages have around the lessons in `folder` in their language, with values for names in
    braces.
    """
    return partial(_say, language(folder))


def _say(code: str, text: str, **values: object) -> str:
    return say(text, CLI, code, **values)


def place_of(folder: Path) -> str:
    """Where the lessons of a folder lie among the pages: the course's own as in its repository."""
    code = language(folder)
    return f"notebooks/{code}" if folder.name == code else "lessons"


def pages(folder: Path, extra: Path, command: str = "minitape lab", lite: str = "") -> dict[str, str]:
    """Path -> text of the pages of all lessons in `folder`; their views, and the files that they show, are written
    below `extra`. Each page says what `command` runs the lesson, and links to it in `lite`, the address of a site
    that runs the lessons, if there is one.
    """
    place = place_of(folder)
    lessons = notebooks_in(folder)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda lesson: views_of(lesson, extra / "views"), lessons))
    cells_of = {lesson.name: read_json(lesson, NOTEBOOK)["cells"] for lesson in lessons}
    headings = {name: headings_of(cells) for name, cells in cells_of.items()}
    made = {}
    for lesson, views in zip(lessons, found, strict=True):
        cells = cells_of[lesson.name]
        made[f"{place}/{lesson.stem}.md"] = to_headings(page(lesson, cells, views, command, lite), headings)
        for cell in cells:
            if cell["cell_type"] == "markdown":
                _copy_files("".join(cell["source"]), folder, extra / place)
    return made


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
            cwd=lesson.absolute().parent,
            env=environment,
            capture_output=True,
            text=True,
        )
    if found.returncode:
        raise click.ClickException(f"{lesson} could not be run: {found.stderr.strip() or found.stdout}")
    shown: Views = json.loads(found.stdout)
    return shown


def page(lesson: Path, cells: list[Cell], views: Views, command: str = "minitape lab", lite: str = "") -> str:
    """The text of one page."""
    parts = []
    say = say_in(lesson.parent)
    views_at = "../" * (place_of(lesson.parent).count("/") + 1) + f"views/{lesson.stem}"
    without = say(", without the solutions") if any(map(is_answers, cells)) else ""
    for number, cell in enumerate(cells):
        source = "".join(cell["source"])
        if is_answers(cell):
            continue
        if cell["cell_type"] == "markdown":
            # JupyterLab's link to a heading keeps its capitals
            parts.append(with_pictures(cell, re.sub(r"\]\(#[\w-]+\)", lambda link: link[0].lower(), source)))
        elif cell["cell_type"] == "code":
            shown = [(said, f"{views_at}/{name}") for said, name in views.get(cell["id"], ())]
            parts += code(cell, source, shown, say)
            if shown:
                raise click.ClickException(
                    f"{lesson}: cell {cell['id']} shows {shown[0][0]}, which is not saved in it: minitape save {lesson}"
                )
        if number == 0 and lesson_of(lesson):
            note = say(
                "This page shows the lesson as it is saved{without}. Click into a picture of a tape and step with the "
                "arrow keys. To run the lesson, and to have the exercises checked, type `{command}`: it is `{name}` "
                "there.",
                name=lesson.name,
                command=command,
                without=without,
            )
            if lite:
                address = f"{lite}/lab/index.html?path={language(lesson.parent)}/{lesson.name}"
                words = say("Run this lesson in your browser, with nothing installed")
                note += f'\n\n<a class="run" href="{escape(address)}">{escape(words)}</a>'
            parts.append(f"```{{note}}\n{note}\n```\n")
    return "\n\n".join(parts) + "\n"


def with_pictures(cell: Cell, source: str) -> str:
    """The text of a cell, with the pictures that are attached to the cell.

    >>> with_pictures({"attachments": {"a.png": {"image/png": "QUJD"}}}, "![a curve](attachment:a.png)")
    '<img alt="a curve" src="data:image/png;base64,QUJD">'
    """

    def picture(found: re.Match[str]) -> str:
        [(kind, data)] = cell["attachments"][found[2]].items()
        return f'<img alt="{escape(found[1])}" src="data:{kind};base64,{"".join(data)}">'

    return re.sub(r"!\[(.*?)\]\(attachment:(.*?)\)", picture, source)


def code(cell: Cell, source: str, views: list[tuple[str, str]], say: Callable[[str], str]) -> Iterator[str]:
    """A cell of code and what it shows; the views that it shows are taken off the list. `say` gives a text in the
    lesson's language.
    """
    label = escape(say("Exercise: replace the ..."))
    yield f'<div class="cell exercise" data-label="{label}">' if is_exercise(cell) else '<div class="cell code">'
    block = f"`````python\n{source}\n`````"
    yield FOLDED.format(code=block, title=say("The code of this cell")) if is_folded(cell) else block
    for output in cell["outputs"]:
        data = output.get("data", {})
        html, plain = ("".join(data.get(kind, "")) for kind in ("text/html", "text/plain"))
        if views and views[0][0] == plain:
            yield (
                VIEW.format(view=views.pop(0)[1], title=say("A picture that steps or moves"))
                + f"<noscript>{html}</noscript>"
            )
        elif choices := CHOICE.findall(plain) if "predict(" in source else []:
            buttons = "".join(f'<button type="button">{escape(choice)}</button>' for choice in choices)
            yield f'<div class="output predict"><p>{escape(plain.partition(CHOICES)[0])}</p>{buttons}</div>'
        elif html:
            whole = re.sub(r"\n\s*\n", "\n", html)  # an empty line would end it
            yield f'<div class="output">{whole}</div>'
        elif markdown := "".join(data.get("text/markdown", "")):
            yield from ('<div class="output">', markdown, "</div>")
        else:
            text = "".join(output.get("text") or plain or output.get("traceback", ""))
            yield f'<pre class="output">{escape(text, quote=False)}</pre>'
    if "TapeView.interact(" in source:
        yield f'<p class="aside">{say("The sliders of this picture need Python: they move in JupyterLab only.")}</p>'
    yield "</div>"
