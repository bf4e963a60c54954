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

from ..common.atomic_write import write_file
from ..common.read_data import MAX_NOTEBOOK_SIZE, read_json
from ..common.translation import ENGLISH, detect_language
from .lesson_files import find_lessons_folder, get_lesson_prefix, list_notebook_files
from .lesson_pages import build_lesson_pages, build_page_translator, choose_page_folder, link_lessons_to_pages
from .optional_packages import require_packages
from .site_folder import replace_site_folder

REQUIRED_PACKAGES = ("sphinx", "myst_parser", "furo", "IPython", "anywidget")
SETTINGS_FOLDER = Path(__file__).with_name("site_settings")
LITE_FOLDER = "run"  # the folder of a site in which JupyterLite is
CONTENTS_TEMPLATE = """
```{{toctree}}
:hidden:
:caption: {title}

{pages}
```
"""
PAGE_LINK = re.compile(r"\[([^\[\]]*)\]\(([^()\s#:]+\.md)(#[^()\s]*)?\)")
SPHINX_OPTIONS = "-b html -W --keep-going -q -j 2".split()  # Sphinx's: each warning is an error
SPHINX_LANGUAGES = {"zh": "zh_CN"}  # what Sphinx calls a language, where it is another code


@dataclass(frozen=True)
class Edition:
    """The pages of a site in one language: the lessons' folder, path -> text of each page, and where they lie in the
    site, "" or such as "zh/".
    """

    lessons_folder: Path
    texts: dict[str, str]
    root: str = ""


def format_toctree(title: str, *page_names: str) -> str:
    """Format a part of the list of pages at the left."""
    return CONTENTS_TEMPLATE.format(title=title, pages="\n".join(page_names))


def format_lesson_list(lessons_folder: Path) -> str:
    """Format the lessons in their order, each with its time and its goals; then the pages beside them."""
    say = build_page_translator(lessons_folder)
    goals_phrase, duration_phrase = (
        r"\s+".join(map(re.escape, text.split()))
        for text in (say("After this lesson you can"), say("takes about {n} minutes"))
    )
    goals_pattern = re.compile(goals_phrase + r"\s*((?:^- .*\n(?:^  .*\n)*)+)", re.MULTILINE)
    minutes_pattern = re.compile(duration_phrase.replace(r"\{n\}", r"(\d+)"))
    rows: dict[bool, list[str]] = {True: [], False: []}
    for path in list_notebook_files(lessons_folder):
        cells = read_json(path, MAX_NOTEBOOK_SIZE)["cells"]
        text = "".join(cells[0]["source"]) + "\n" if cells else ""
        title = re.sub(r"^#\s*", "", text.partition("\n")[0]) or path.stem
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)  # links of the lesson do not lead from here
        goals, minutes = goals_pattern.search(text), minutes_pattern.search(text)
        time = f" · {say('{n} minutes', n=minutes[1])}" if minutes else ""
        goal_texts = (
            [" ".join(goal.split()).rstrip(",;.，；。") for goal in re.split(r"^- ", goals[1], flags=re.MULTILINE)[1:]]
            if goals
            else []
        )
        goals_line = f"\\\n  {say('; ').join(goal_texts)}" if goal_texts else ""
        rows[bool(get_lesson_prefix(path))].append(
            f"- [{title}]({choose_page_folder(lessons_folder)}/{path.stem}.md){time}{goals_line}"
        )
    heading = f"\n\n{say('Beside the lessons:')}\n\n" if rows[True] and rows[False] else ""
    return "\n".join(rows[True]) + heading + "\n".join(rows[False])


def format_index_page(lessons_folder: Path, is_own: bool) -> str:
    """Format the text of a site's first page."""
    say = build_page_translator(lessons_folder)
    title = say("Lessons") if is_own else say("minitape: a course on automatic differentiation")
    text = say(
        "Each lesson is shown as it is saved, with pictures that step: click into one, and use the arrow keys. To "
        "run the lessons, and to have "
        "the exercises checked, install minitape and type `{command}`.",
        command=format_lab_command(lessons_folder, is_own),
    )
    return f"# {title}\n\n{text}\n\n{format_lesson_list(lessons_folder)}\n"


def format_lab_command(lessons_folder: Path, is_own: bool) -> str:
    """Return the command that opens these lessons in JupyterLab."""
    code = detect_language(lessons_folder)
    return (
        "minitape lab --own FOLDER" if is_own else "minitape lab" + (f" --language {code}" if code != ENGLISH else "")
    )


def link_editions(editions: Sequence[Edition]) -> None:
    """Rewrite links to notebooks as links to their pages, in the same edition or else in another, and add to each page
    links to it in other languages.
    """
    for current in editions:
        other_editions = [edition for edition in editions if edition is not current]
        for page, text in current.texts.items():
            counterparts = [
                (
                    other,
                    page.replace(choose_page_folder(current.lessons_folder), choose_page_folder(other.lessons_folder)),
                )
                for other in other_editions
            ]
            links = [
                _format_edition_link(
                    current, page, other, counterpart, build_page_translator(other.lessons_folder)("English")
                )
                for other, counterpart in counterparts
                if counterpart in other.texts
            ]
            title, line, remaining_text = text.partition("\n")
            text = f"{title}\n\n{' · '.join(links)}\n{remaining_text}" if links and line else text
            current.texts[page] = (
                PAGE_LINK.sub(
                    partial(_replace_link_to_other_edition, current, other_editions, page), link_lessons_to_pages(text)
                )
                if page.endswith(".md")
                else text
            )


def _replace_link_to_other_edition(
    current: Edition, other_editions: Sequence[Edition], page: str, link_match: re.Match[str]
) -> str:
    """Return what replaces a link in a page: itself, or one to another edition where only that has the page."""
    target = normpath(join(dirname(page), link_match[2]))
    other = next((edition for edition in other_editions if target in edition.texts), None)
    return (
        link_match[0]
        if target in current.texts or other is None
        else _format_edition_link(current, page, other, target, link_match[1], link_match[3] or "")
    )


def _format_edition_link(
    current: Edition, page: str, other: Edition, target_page: str, link_text: str, anchor: str = ""
) -> str:
    """Format a link from a page of one edition to one of another.

    Sphinx, which makes one edition at a time, does not know it.
    """
    relative_root = "../" * (page.count("/") + current.root.count("/"))
    return (
        f'<a href="{escape(relative_root + other.root + target_page.removesuffix(".md"))}.html{anchor}" '
        f'hreflang="{detect_language(other.lessons_folder)}">{link_text}</a>'
    )


def write_lesson_site(
    target_folder: Path, own_lessons_folder: Path | None = None, language_codes: Sequence[str] = ()
) -> int:
    """Write the site of the lessons in `own_lessons_folder`, or of the course's own in these languages, to
    `target_folder`; return how many pages it has.

    Raises click.ClickException where `target_folder` holds something else, there are no lessons, one cannot be run, or
    a link is broken.
    """
    require_packages(*REQUIRED_PACKAGES)
    folders = (
        [own_lessons_folder]
        if own_lessons_folder and not language_codes
        else [find_lessons_folder(code, own_lessons_folder) for code in dict.fromkeys(language_codes) or [None]]
    )
    if own_lessons_folder and not list_notebook_files(own_lessons_folder):
        raise click.ClickException(f"there are no notebooks in {own_lessons_folder}")
    with (
        replace_site_folder(target_folder) as new_folder,
        tempfile.TemporaryDirectory(prefix="minitape-site-") as scratch,
    ):
        editions = [
            Edition(lessons, {}, f"{detect_language(lessons)}/" if number else "")
            for number, lessons in enumerate(folders)
        ]
        for edition in editions:
            say = build_page_translator(edition.lessons_folder)
            edition.texts.update(
                build_lesson_pages(
                    edition.lessons_folder,
                    get_extra_folder(Path(scratch), edition),
                    format_lab_command(edition.lessons_folder, is_own=bool(own_lessons_folder)),
                )
            )
            names = sorted(page.removesuffix(".md") for page in edition.texts)
            edition.texts["index.md"] = format_index_page(
                edition.lessons_folder, is_own=bool(own_lessons_folder)
            ) + format_toctree(say("The lessons"), *names)
        # a site of one's own has neither minitape's name nor its authors
        own_settings = (
            [f"-Dhtml_title={build_page_translator(own_lessons_folder)('Lessons')}", "-Dhtml_show_copyright=0"]
            if own_lessons_folder
            else []
        )
        if not build_html_pages(editions, Path(scratch), new_folder, sphinx_settings=own_settings):
            raise click.ClickException("Sphinx ended with an error, see above")
    return sum(len(edition.texts) for edition in editions)


def get_extra_folder(scratch_folder: Path, edition: Edition) -> Path:
    """Return the folder of the files that the pages of an edition show or link to."""
    return scratch_folder / "extra" / detect_language(edition.lessons_folder)


def build_html_pages(
    editions: Sequence[Edition],
    scratch_folder: Path,
    html_folder: Path,
    on_sources_written: Callable[[Edition, Path], object] = lambda edition, source: None,
    sphinx_settings: Sequence[str] = (),
) -> bool:
    """Have Sphinx write pages of the texts of each edition, with the files in its `get_extra_folder`, to `html_folder`.

    Returns whether it found nothing wrong with them, which it says itself. `on_sources_written` is called with each
    edition and the folder of its texts, to put other files there; `sphinx_settings` are options of Sphinx's.
    """
    from sphinx.cmd.build import build_main

    link_editions(editions)
    has_failed = False
    for number, edition in enumerate(editions):
        source_folder, extra_folder, page_folder = (
            scratch_folder / f"source{number}",
            get_extra_folder(scratch_folder, edition),
            choose_page_folder(edition.lessons_folder),
        )
        for page, text in edition.texts.items():
            path = source_folder / page
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, text)
        if (extra_folder / page_folder).exists():  # files of the lessons: Sphinx looks for pictures beside the texts
            shutil.copytree(extra_folder / page_folder, source_folder / page_folder, dirs_exist_ok=True)
        on_sources_written(edition, source_folder)
        code = detect_language(edition.lessons_folder)
        options = ["-c", str(SETTINGS_FOLDER), "-d", str(scratch_folder / f"doctrees{number}"), *SPHINX_OPTIONS]
        options += [f"-Dlanguage={SPHINX_LANGUAGES.get(code, code)}", f"-Dhtml_extra_path={extra_folder}"]
        has_failed |= bool(
            build_main([*options, *sphinx_settings, str(source_folder), str(html_folder / edition.root)])
        )
    return not has_failed
