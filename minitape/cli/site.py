"""`minitape site`: lessons as pages with pictures that step, which need neither a kernel nor a network."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import click

from ..engine.read_data import NOTEBOOK, read_json
from ..engine.write_beside import write
from . import page_links
from .lesson_pages import PLACE, linked, pages
from .lessons import lesson_of, lessons_folder, notebooks_in
from .parts import need

NEEDS = ("sphinx", "myst_parser", "furo", "IPython", "anywidget")
SETTINGS = Path(__file__).with_name("site_settings")
CONTENTS = """
```{{toctree}}
:hidden:
:caption: {title}

{pages}
```
"""
INDEX = """\
# {title}

Each lesson is shown as it is saved, with pictures that step: click into one, and use the arrow keys. To run the lessons, and to have
the exercises checked, install minitape and type `{command}`.

{lessons}
"""
GOALS = re.compile(r"After this lesson you can\s*((?:^- .*\n(?:^  .*\n)*)+)", re.MULTILINE)
MINUTES = re.compile(r"takes about\s+(\d+) minutes")


def contents(title: str, *names: str) -> str:
    """A part of the list of pages at the left."""
    return CONTENTS.format(title=title, pages="\n".join(names))


def lesson_list(folder: Path) -> str:
    """The lessons in their order, each with its time and with what one can do after it; then the pages beside them."""
    rows: dict[bool, list[str]] = {True: [], False: []}
    for path in notebooks_in(folder):
        cells = read_json(path, NOTEBOOK)["cells"]
        text = "".join(cells[0]["source"]) + "\n" if cells else ""
        title = re.sub(r"^#\s*", "", text.partition("\n")[0]) or path.stem
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)  # links of the lesson do not lead from here
        goals, minutes = GOALS.search(text), MINUTES.search(text)
        time = f" · {minutes[1]} minutes" if minutes else ""
        learnt = [" ".join(goal.split()).rstrip(",;.") for goal in re.split(r"^- ", goals[1], flags=re.MULTILINE)[1:]] if goals else []
        after = f"\\\n  {'; '.join(learnt)}" if learnt else ""
        rows[bool(lesson_of(path))].append(f"- [{title}]({PLACE}/{path.stem}.md){time}{after}")
    beside = "\n\nBeside the lessons:\n\n" if rows[True] and rows[False] else ""
    return "\n".join(rows[True]) + beside + "\n".join(rows[False])


def write_site(out: Path, folder: Path | None = None) -> int:
    """Write the site of the lessons in `folder` (the course's own, unless one is named) to the folder `out`; give back how many pages it has.

    Raises click.ClickException where `out` holds something else, there are no lessons, one cannot be run, or a link is broken.
    """
    need(*NEEDS)
    own = folder is not None
    folder = folder or lessons_folder()
    if not notebooks_in(folder):
        raise click.ClickException(f"there are no notebooks in {folder}")
    if out.exists() and any(out.iterdir()) and not (out / ".buildinfo").exists():
        raise click.ClickException(f"{out} holds files that are no site; name another folder")
    with tempfile.TemporaryDirectory(prefix="minitape-site-") as scratch:
        command = "minitape lab --own FOLDER" if own else "minitape lab"
        texts = pages(folder, Path(scratch) / "extra", command)
        names = sorted(page.removesuffix(".md") for page in texts)
        title = "Lessons" if own else "minitape: a course on automatic differentiation"
        index = INDEX.format(title=title, command=command, lessons=lesson_list(folder))
        texts["index.md"] = index + contents("The lessons", *names)
        shutil.rmtree(out, ignore_errors=True)
        problems = build(texts, Path(scratch), out)
    if problems:
        raise click.ClickException("the site is broken:\n" + "\n".join(problems))
    return len(texts)


def build(
    texts: Mapping[str, str], scratch: Path, html: Path, prepare: Callable[[Path], object] = lambda source: None
) -> list[str]:
    """Have Sphinx make pages of texts, with the files that lie in `scratch`/extra; give back what is wrong with them.

    `prepare` is called with the folder of the texts, to put other files beside them.
    """
    from sphinx.cmd.build import build_main

    source = scratch / "source"
    for page, text in texts.items():
        path = source / page
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, linked(text) if page.endswith(".md") else text)
    if (scratch / "extra" / PLACE).exists():  # files of the lessons: Sphinx looks for pictures beside the texts
        shutil.copytree(scratch / "extra" / PLACE, source / PLACE, dirs_exist_ok=True)
    prepare(source)
    options = ["-b", "html", "-c", str(SETTINGS), "-D", f"html_extra_path={scratch / 'extra'}", "-d", str(scratch / "doctrees")]
    code = build_main([*options, "-W", "--keep-going", "-q", "-j", "2", str(source), str(html)])
    return [*(["Sphinx ended with an error, see above"] if code else []), *page_links.broken(html)]
