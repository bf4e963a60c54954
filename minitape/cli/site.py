"""`minitape site`: lessons as pages with pictures that step, which need neither a kernel nor a network."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path
from posixpath import dirname, join, normpath

import click

from ..common.read_data import NOTEBOOK, read_json
from ..common.texts import ENGLISH, language
from ..common.write_beside import write
from .lesson_pages import linked, pages, place_of, say_in
from .lessons import lesson_of, lessons_folder, notebooks_in
from .parts import require_packages
from .site_folder import new_site

NEEDS = ("sphinx", "myst_parser", "furo", "IPython", "anywidget")
SETTINGS = Path(__file__).with_name("site_settings")
LITE = "run"  # the folder of a site in which JupyterLite is
CONTENTS = """
```{{toctree}}
:hidden:
:caption: {title}

{pages}
```
"""
LINK = re.compile(r"\[([^\[\]]*)\]\(([^()\s#:]+\.md)(#[^()\s]*)?\)")
OPTIONS = "-b html -W --keep-going -q -j 2".split()  # Sphinx's: each warning is an error
SPHINX = {"zh": "zh_CN"}  # what Sphinx calls a language, where it is another code


@dataclass(frozen=True)
class Edition:
    """The pages of a site in one language: the lessons' folder, path -> text of each page, and where they lie in the
    site, "" or such as "zh/".
    """

    lessons: Path
    texts: dict[str, str]
    root: str = ""


def contents(title: str, *names: str) -> str:
    """A part of the list of pages at the left."""
    return CONTENTS.format(title=title, pages="\n".join(names))


def lesson_list(folder: Path) -> str:
    """The lessons in their order, each with its time and with what one can do after it; then the pages beside them."""
    say = say_in(folder)
    can, takes = (
        r"\s+".join(map(re.escape, text.split()))
        for text in (say("After this lesson you can"), say("takes about {n} minutes"))
    )
    goals_said = re.compile(can + r"\s*((?:^- .*\n(?:^  .*\n)*)+)", re.MULTILINE)
    minutes_said = re.compile(takes.replace(r"\{n\}", r"(\d+)"))
    rows: dict[bool, list[str]] = {True: [], False: []}
    for path in notebooks_in(folder):
        cells = read_json(path, NOTEBOOK)["cells"]
        text = "".join(cells[0]["source"]) + "\n" if cells else ""
        title = re.sub(r"^#\s*", "", text.partition("\n")[0]) or path.stem
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)  # links of the lesson do not lead from here
        goals, minutes = goals_said.search(text), minutes_said.search(text)
        time = f" · {say('{n} minutes', n=minutes[1])}" if minutes else ""
        learnt = (
            [" ".join(goal.split()).rstrip(",;.，；。") for goal in re.split(r"^- ", goals[1], flags=re.MULTILINE)[1:]]
            if goals
            else []
        )
        after = f"\\\n  {say('; ').join(learnt)}" if learnt else ""
        rows[bool(lesson_of(path))].append(f"- [{title}]({place_of(folder)}/{path.stem}.md){time}{after}")
    heading = f"\n\n{say('Beside the lessons:')}\n\n" if rows[True] and rows[False] else ""
    return "\n".join(rows[True]) + heading + "\n".join(rows[False])


def index(folder: Path, own: bool) -> str:
    """The text of a site's first page."""
    say = say_in(folder)
    title = say("Lessons") if own else say("minitape: a course on automatic differentiation")
    text = say(
        "Each lesson is shown as it is saved, with pictures that step: click into one, and use the arrow keys. To "
        "run the lessons, and to have "
        "the exercises checked, install minitape and type `{command}`.",
        command=command_for(folder, own),
    )
    return f"# {title}\n\n{text}\n\n{lesson_list(folder)}\n"


def command_for(folder: Path, own: bool) -> str:
    """What opens these lessons in JupyterLab."""
    code = language(folder)
    return "minitape lab --own FOLDER" if own else "minitape lab" + (f" --language {code}" if code != ENGLISH else "")


def link_editions(editions: Sequence[Edition]) -> None:
    """Rewrite links to notebooks as links to their pages, in the same edition or else in another, and add to each page
    links to it in other languages.
    """
    for here in editions:
        others = [edition for edition in editions if edition is not here]
        for page, text in here.texts.items():
            twins = [(there, page.replace(place_of(here.lessons), place_of(there.lessons))) for there in others]
            links = [
                _link(here, page, there, twin, say_in(there.lessons)("English"))
                for there, twin in twins
                if twin in there.texts
            ]
            title, line, rest = text.partition("\n")
            text = f"{title}\n\n{' · '.join(links)}\n{rest}" if links and line else text
            here.texts[page] = (
                LINK.sub(partial(_across, here, others, page), linked(text)) if page.endswith(".md") else text
            )


def _across(here: Edition, others: Sequence[Edition], page: str, link: re.Match[str]) -> str:
    target = normpath(join(dirname(page), link[2]))
    there = next((edition for edition in others if target in edition.texts), None)
    return (
        link[0] if target in here.texts or there is None else _link(here, page, there, target, link[1], link[3] or "")
    )


def _link(here: Edition, page: str, there: Edition, target: str, words: str, place: str = "") -> str:
    """A link from a page of one edition to one of another: Sphinx, which makes one edition at a time, does not know
    it.
    """
    up = "../" * (page.count("/") + here.root.count("/"))
    return (
        f'<a href="{escape(up + there.root + target.removesuffix(".md"))}.html{place}" '
        f'hreflang="{language(there.lessons)}">{words}</a>'
    )


def write_site(out: Path, folder: Path | None = None, codes: Sequence[str] = ()) -> int:
    """Write the site of the lessons in `folder`, or of the course's own in these languages, to the folder `out`; give
    back how many pages it has.

    Raises click.ClickException where `out` holds something else, there are no lessons, one cannot be run, or a link is
    broken.
    """
    require_packages(*NEEDS)
    folders = (
        [folder] if folder and not codes else [lessons_folder(code, folder) for code in dict.fromkeys(codes) or [None]]
    )
    if folder and not notebooks_in(folder):
        raise click.ClickException(f"there are no notebooks in {folder}")
    with new_site(out) as new, tempfile.TemporaryDirectory(prefix="minitape-site-") as scratch:
        editions = [
            Edition(lessons, {}, f"{language(lessons)}/" if number else "") for number, lessons in enumerate(folders)
        ]
        for edition in editions:
            say = say_in(edition.lessons)
            edition.texts.update(
                pages(edition.lessons, extra(Path(scratch), edition), command_for(edition.lessons, own=bool(folder)))
            )
            names = sorted(page.removesuffix(".md") for page in edition.texts)
            edition.texts["index.md"] = index(edition.lessons, own=bool(folder)) + contents(say("The lessons"), *names)
        # a site of one's own has neither minitape's name nor its authors
        own = [f"-Dhtml_title={say_in(folder)('Lessons')}", "-Dhtml_show_copyright=0"] if folder else []
        if not build(editions, Path(scratch), new, settings=own):
            raise click.ClickException("Sphinx ended with an error, see above")
    return sum(len(edition.texts) for edition in editions)


def extra(scratch: Path, edition: Edition) -> Path:
    """The folder of files that the pages of an edition show or link to."""
    return scratch / "extra" / language(edition.lessons)


def build(
    editions: Sequence[Edition],
    scratch: Path,
    html: Path,
    prepare: Callable[[Edition, Path], object] = lambda edition, source: None,
    settings: Sequence[str] = (),
) -> bool:
    """Have Sphinx make pages of the texts of each edition, with the files in its `extra` folder; give back whether it
    found nothing wrong with them, which it says itself.

    `prepare` is called with each edition and the folder of its texts, to put other files there; `settings` are options
    of Sphinx's.
    """
    from sphinx.cmd.build import build_main

    link_editions(editions)
    failed = False
    for number, edition in enumerate(editions):
        source, files, place = scratch / f"source{number}", extra(scratch, edition), place_of(edition.lessons)
        for page, text in edition.texts.items():
            path = source / page
            path.parent.mkdir(parents=True, exist_ok=True)
            write(path, text)
        if (files / place).exists():  # files of the lessons: Sphinx looks for pictures beside the texts
            shutil.copytree(files / place, source / place, dirs_exist_ok=True)
        prepare(edition, source)
        code = language(edition.lessons)
        options = ["-c", str(SETTINGS), "-d", str(scratch / f"doctrees{number}"), *OPTIONS]
        options += [f"-Dlanguage={SPHINX.get(code, code)}", f"-Dhtml_extra_path={files}"]
        failed |= bool(build_main([*options, *settings, str(source), str(html / edition.root)]))
    return not failed
