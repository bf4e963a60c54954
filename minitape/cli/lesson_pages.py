"""Convert lessons to pages whose pictures can be stepped through without a kernel. The pages never show answers.

A saved lesson contains its outputs and static pictures. To obtain interactive pictures,
``minitape_widgets.lesson_views`` reruns each lesson in a separate process.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from click import ClickException

from ..common.read_data import MAX_NOTEBOOK_SIZE, read_json
from ..common.translation import CLI, detect_language, say
from ..engine.types import TextPair, TextsByName
from .lesson_files import get_exercise_prefix, list_notebook_files
from .notebook_rules import Cell, has_answers, is_code_folded, is_exercise
from .run_places import RunPlaces, format_run_settings, iter_run_links

Views = dict[str, list[TextPair]]
"""The views that a lesson shows, as (text, file name) pairs keyed by cell ID."""
VIEW_TEMPLATE = '<iframe class="tapeview" src="{view}" loading="lazy" title="{title}"></iframe>'
FOLDED_CODE_TEMPLATE = '<details class="code"><summary title="{title}">···</summary>\n\n{code}\n\n</details>'

LESSON_LINK = re.compile(r"(\]\((?!\w+:)[^()\s]+)\.ipynb(?=(?:#[^()\s]*)?\))")
CELL_LINK = re.compile(r"(\]\(([\w.-]+\.ipynb)#)cell-id=([\w-]+)(?=\))")
CHOICE_SEPARATOR = "\n  - "
"""The text between the choices of a saved prediction."""
CHOICE_LINE = re.compile(r"^  - (.*)$", re.MULTILINE)
FILE_REFERENCE = re.compile(r"\]\((?!\w+:)([^()\s#]+)|\bsrc=[\"'](?!\w+:)([^\"'#]+)")
"""A reference to a file that a page displays or links to."""


def link_lessons_to_pages(page_text: str) -> str:
    """Replace links to notebooks with links to their pages.

    >>> link_lessons_to_pages("A [tape](glossary.ipynb#tape) of [lesson 2](02_inside_the_tape.ipynb).")
    'A [tape](glossary.md#tape) of [lesson 2](02_inside_the_tape.md).'

    Args:
        page_text: The text of a page, as Markdown.

    Returns:
        The text with the new links.
    """
    return LESSON_LINK.sub(r"\1.md", page_text)


def link_cells_to_headings(page_text: str, anchors_by_lesson: dict[str, TextsByName]) -> str:
    """Replace links to cells with links to headings, because a page has no cells.

    >>> link_cells_to_headings("一条[磁带](glossary.ipynb#cell-id=tape)", {"glossary.ipynb": {"tape": "磁带tape"}})
    '一条[磁带](glossary.ipynb#磁带tape)'

    Args:
        page_text: The text of a page, as Markdown.
        anchors_by_lesson: The anchor of each cell, keyed by notebook and cell ID (see `map_cells_to_heading_anchors`).

    Returns:
        The text with the new links.
    """
    return CELL_LINK.sub(lambda link: link[1] + anchors_by_lesson.get(link[2], {}).get(link[3], link[3]), page_text)


def map_cells_to_heading_anchors(cells: list[Cell]) -> TextsByName:
    r"""Return the anchors of all headings that begin a cell.

    >>> map_cells_to_heading_anchors([{"id": "tape", "source": ["## 磁带（Tape）\n", "它记录运算。"]}])
    {'tape': '磁带tape'}

    Args:
        cells: The cells of a notebook.

    Returns:
        A dict that maps cell IDs to the anchors of their headings. Cells without a heading are not included.
    """
    return {
        cell["id"]: re.sub(r"[^\w -]", "", heading[1].lower()).replace(" ", "-")
        for cell in cells
        if (heading := re.match(r"#+ (.*)", "".join(cell["source"])))
    }


def build_page_translator(lessons_folder: Path) -> Callable[..., str]:
    """Return a function that translates the messages on a lesson's page.

    Args:
        lessons_folder: The folder of the lessons, which determines the language.

    Returns:
        A function that takes an English message and the values for the names in braces.
    """
    language_code = detect_language(lessons_folder)
    return lambda text, **values: say(text, CLI, language_code, **values)


def choose_page_folder(lessons_folder: Path) -> str:
    """Return the folder for the pages of the given lessons.

    Args:
        lessons_folder: The folder of the lessons.

    Returns:
        `notebooks/CODE` for the course's own lessons, otherwise `lessons`.
    """
    code = detect_language(lessons_folder)
    return f"notebooks/{code}" if lessons_folder.name == code else "lessons"


def build_lesson_pages(lessons_folder: Path, extra_folder: Path, places: RunPlaces) -> TextsByName:
    """Build the pages of all lessons in a folder.

    Args:
        lessons_folder: The notebooks.
        extra_folder: The folder to write the lessons' views and files to.
        places: Where readers can run the lessons.

    Returns:
        A dict that maps the path of each page to its text.

    Raises:
        click.ClickException: If a lesson cannot be run or shows a view that is not saved in the notebook.
    """
    page_folder = choose_page_folder(lessons_folder)
    lessons = list_notebook_files(lessons_folder)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        lesson_views = list(pool.map(lambda lesson: run_lesson_for_views(lesson, extra_folder / "views"), lessons))
    cells_by_lesson = {lesson.name: read_json(lesson, MAX_NOTEBOOK_SIZE)["cells"] for lesson in lessons}
    anchors_by_lesson = {name: map_cells_to_heading_anchors(cells) for name, cells in cells_by_lesson.items()}
    texts = {}
    for lesson, views in zip(lessons, lesson_views, strict=True):
        cells = cells_by_lesson[lesson.name]
        texts[f"{page_folder}/{lesson.stem}.md"] = link_cells_to_headings(
            build_lesson_page(lesson, cells, views, places), anchors_by_lesson
        )
        for cell in cells:
            if cell["cell_type"] == "markdown":
                _copy_referenced_files("".join(cell["source"]), lessons_folder, extra_folder / page_folder)
    return texts


def _copy_referenced_files(page_text: str, lessons_folder: Path, target_folder: Path) -> None:
    for reference in FILE_REFERENCE.finditer(page_text):
        name = reference[1] or reference[2]
        is_inside = (lessons_folder / name).resolve().is_relative_to(lessons_folder.resolve())
        if is_inside and not name.endswith(".ipynb") and (lessons_folder / name).is_file():
            (target_folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(lessons_folder / name, target_folder / name)


def run_lesson_for_views(lesson: Path, views_folder: Path) -> Views:
    """Run a lesson in its own folder, as `minitape check` does, and write its views to files.

    Args:
        lesson: The notebook.
        views_folder: The folder to write to. A subfolder with the lesson's name receives the views.

    Returns:
        The text and the file name of each view, keyed by cell ID.

    Raises:
        click.ClickException: If the lesson cannot be run.
    """
    with TemporaryDirectory() as scratch:
        environment = {
            **os.environ,
            "IPYTHONDIR": scratch,
            "MINITAPE_PROGRESS": str(Path(scratch, "progress.json")),
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        program = [sys.executable, "-m", "minitape_widgets.lesson_views"]
        process = subprocess.run(
            [*program, str(lesson.absolute()), str(views_folder.absolute() / lesson.stem)],
            cwd=lesson.absolute().parent,
            env=environment,
            capture_output=True,
            text=True,
        )
    if process.returncode:
        raise ClickException(f"{lesson} could not be run: {process.stderr.strip() or process.stdout}")
    views: Views = json.loads(process.stdout)
    return views


def build_lesson_page(lesson: Path, cells: list[Cell], views: Views, places: RunPlaces) -> str:
    """Build the page for one lesson.

    Args:
        lesson: The notebook.
        cells: The cells of the notebook.
        views: The views of the lesson (see `run_lesson_for_views`).
        places: Where readers can run the lesson.

    Returns:
        The page as MyST Markdown.

    Raises:
        click.ClickException: If the lesson shows a view that is not saved in the notebook.
    """
    page_blocks = []
    say = build_page_translator(lesson.parent)
    views_address = "../" * (choose_page_folder(lesson.parent).count("/") + 1) + f"views/{lesson.stem}"
    without_note = say(", without the solutions") if any(map(has_answers, cells)) else ""
    for cell_number, cell in enumerate(cells):
        source = "".join(cell["source"])
        if has_answers(cell):
            continue
        if cell["cell_type"] == "markdown":
            # Links to headings keep their capital letters in JupyterLab, but not on a page.
            page_blocks.append(embed_attachments(cell, re.sub(r"\]\(#[\w-]+\)", lambda link: link[0].lower(), source)))
        elif cell["cell_type"] == "code":
            cell_views = [(plain_text, f"{views_address}/{name}") for plain_text, name in views.get(cell["id"], ())]
            page_blocks += iter_code_cell_blocks(cell, source, cell_views, say)
            if cell_views:
                unsaved_view = cell_views[0][0]
                raise ClickException(
                    f"{lesson}: cell {cell['id']} shows {unsaved_view}, but the notebook does not contain this view. "
                    f"Run minitape save {lesson}"
                )
        if cell_number == 0 and get_exercise_prefix(lesson):
            note = say(
                "This page shows the saved lesson{without}. Click a picture of a tape and step through it with the "
                "arrow keys. To run the lesson in JupyterLab and have the exercises checked, type `{command}` and "
                "open `{name}`.",
                name=lesson.name,
                command=places.lab_command,
                without=without_note,
            )
            note += "".join(f"\n\n{paragraph}" for paragraph in iter_run_links(lesson, places, say))
            page_blocks.append(f"```{{note}}\n{note}\n```\n")
            if places.python_url:
                page_blocks.append(format_run_settings(lesson, places.python_url, say))
    return "\n\n".join(page_blocks) + "\n"


def embed_attachments(cell: Cell, source: str) -> str:
    """Embed a cell's attached pictures.

    >>> embed_attachments({"attachments": {"a.png": {"image/png": "QUJD"}}}, "![a curve](attachment:a.png)")
    '<img alt="a curve" src="data:image/png;base64,QUJD">'

    Args:
        cell: The cell, with its attachments.
        source: The text of the cell.

    Returns:
        The text, in which each attached picture is an HTML element that contains its data.
    """

    def format_picture(attachment: re.Match[str]) -> str:
        [(kind, data)] = cell["attachments"][attachment[2]].items()
        return f'<img alt="{escape(attachment[1])}" src="data:{kind};base64,{"".join(data)}">'

    return re.sub(r"!\[(.*?)\]\(attachment:(.*?)\)", format_picture, source)


def iter_code_cell_blocks(
    cell: Cell, source: str, pending_views: list[TextPair], say: Callable[[str], str]
) -> Iterator[str]:
    """Yield the blocks of a page for a code cell and its outputs.

    Args:
        cell: The cell.
        source: The code of the cell.
        pending_views: The views of the cell, as (text, URL). Each view is removed from the list after it is shown.
        say: A function that translates a message into the lesson's language.

    Yields:
        Blocks of MyST Markdown and HTML.
    """
    if is_exercise(cell):
        label = escape(say("Exercise: replace the ... with your answer"))
        yield f'<div class="cell exercise" data-label="{label}">'
    else:
        yield '<div class="cell code">'
    block = f"`````python\n{source}\n`````"
    if is_code_folded(cell):
        block = FOLDED_CODE_TEMPLATE.format(code=block, title=say("This cell's code"))
    yield block
    for output in cell["outputs"]:
        data = output.get("data", {})
        html, plain = ("".join(data.get(kind, "")) for kind in ("text/html", "text/plain"))
        if pending_views and pending_views[0][0] == plain:
            yield (
                VIEW_TEMPLATE.format(
                    view=pending_views.pop(0)[1], title=say("A picture that you can step through or that moves")
                )
                + f"<noscript>{html}</noscript>"
            )
        elif choices := CHOICE_LINE.findall(plain) if "predict(" in source else []:
            buttons = "".join(f'<button type="button">{escape(choice)}</button>' for choice in choices)
            yield f'<div class="output predict"><p>{escape(plain.partition(CHOICE_SEPARATOR)[0])}</p>{buttons}</div>'
        elif html:
            compact_html = re.sub(r"\n\s*\n", "\n", html)  # An empty line would terminate the HTML block.
            yield f'<div class="output">{compact_html}</div>'
        elif markdown := "".join(data.get("text/markdown", "")):
            yield from ('<div class="output">', markdown, "</div>")
        else:
            text = "".join(output.get("text") or plain or output.get("traceback", ""))
            yield f'<pre class="output">{escape(text, quote=False)}</pre>'
    if "TapeView.interact(" in source:
        yield f'<p class="aside">{say("The sliders in this picture need Python, so they move only in JupyterLab.")}</p>'
    yield "</div>"
