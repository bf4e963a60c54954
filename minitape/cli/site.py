"""Implement `minitape site`, which writes lessons as web pages whose pictures work without a kernel or a network."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path
from posixpath import dirname, join, normpath
from shutil import copytree
from tempfile import TemporaryDirectory

from click import ClickException

from ..common.atomic_write import write_file
from ..common.translation import ENGLISH, detect_language
from ..engine.types import OptionalPath, PathList, TextsByName, TextSequence
from .course_map import format_lessons_with_goals
from .lesson_files import LEARNER_FOLDER, find_lessons_folder, list_notebook_files
from .lesson_pages import build_lesson_pages, build_page_translator, choose_page_folder, link_lessons_to_pages
from .optional_packages import require_packages
from .run_places import RunPlaces
from .site_folder import replace_site_folder

REQUIRED_PACKAGES = "sphinx myst_parser furo IPython anywidget".split()
SETTINGS_FOLDER = Path(__file__).with_name("site_settings")
LITE_FOLDER = "run"
"""The folder of JupyterLite in a site."""
CONTENTS_TEMPLATE = """
```{{toctree}}
:hidden:
:caption: {title}

{pages}
```
"""
PAGE_LINK = re.compile(r"\[([^\[\]]*)\]\(([^()\s#:]+\.md)(#[^()\s]*)?\)")
SPHINX_OPTIONS = "-b html -W --keep-going -q -j 2".split()
"""Options that make Sphinx treat each warning as an error."""
SPHINX_LANGUAGES = {"zh": "zh_CN"}
"""Sphinx's codes for languages whose codes differ from ours."""


@dataclass(frozen=True)
class Edition:
    """The pages of a site in one language.

    Attributes:
        lessons_folder: The folder of the lessons.
        texts: A dict that maps the path of each page to its text.
        root: The folder of the pages within the site, such as "zh/", or "" for the first edition.
    """

    lessons_folder: Path
    texts: TextsByName
    root: str = ""


def format_toctree(title: str, *page_names: str) -> str:
    """Format one group of the page list in the sidebar, as a Sphinx toctree.

    Args:
        title: The heading of the group.
        page_names: The pages, without ".md".

    Returns:
        The toctree as MyST Markdown.
    """
    return CONTENTS_TEMPLATE.format(title=title, pages="\n".join(page_names))


def format_index_page(lessons_folder: Path, is_own: bool) -> str:
    """Format the text of a site's start page.

    Args:
        lessons_folder: The folder of the lessons.
        is_own: Whether the lessons are the user's own, in which case the page does not show the course's title.

    Returns:
        The page as Markdown: a title, an introduction and the list of lessons.
    """
    say = build_page_translator(lessons_folder)
    title = say("Lessons") if is_own else say("minitape: a course on automatic differentiation")
    text = say(
        "These pages show the saved lessons. To step through a picture, click it and use the arrow keys. To run the "
        "lessons and have the exercises checked, install minitape and type `{command}`.",
        command=format_lab_command(lessons_folder, is_own),
    )
    lesson_list = format_lessons_with_goals(lessons_folder, f"{choose_page_folder(lessons_folder)}/{{name}}.md")
    return f"# {title}\n\n{text}\n\n{lesson_list}\n"


def format_lab_command(lessons_folder: Path, is_own: bool) -> str:
    """Return the command that opens these lessons in JupyterLab.

    Args:
        lessons_folder: The folder of the lessons, which determines the language.
        is_own: Whether the lessons are the user's own rather than the course's.
    """
    if is_own:
        return "minitape lab --own FOLDER"
    code = detect_language(lessons_folder)
    return "minitape lab" if code == ENGLISH else f"minitape lab --language {code}"


def link_editions(editions: Sequence[Edition]) -> None:
    """Link the pages of all editions to each other.

    Links to notebooks become links to their pages. If the page exists only in another edition, the link leads to that
    edition. Links to a page's translations are inserted below its title.

    Args:
        editions: The editions. Their `texts` are changed in place.
    """
    for current in editions:
        other_editions = [edition for edition in editions if edition is not current]
        page_folder = choose_page_folder(current.lessons_folder)
        for page, text in current.texts.items():
            links = []
            for other in other_editions:
                counterpart = page.replace(page_folder, choose_page_folder(other.lessons_folder))
                if counterpart in other.texts:
                    language_name = build_page_translator(other.lessons_folder)("English")
                    links.append(_format_edition_link(current, page, other, counterpart, language_name))
            title, newline, remaining_text = text.partition("\n")
            if links and newline:
                text = f"{title}\n\n{' · '.join(links)}\n{remaining_text}"
            if page.endswith(".md"):
                replace_link = partial(_replace_link_to_other_edition, current, other_editions, page)
                text = PAGE_LINK.sub(replace_link, link_lessons_to_pages(text))
            current.texts[page] = text


def _replace_link_to_other_edition(
    current: Edition, other_editions: Sequence[Edition], page: str, link_match: re.Match[str]
) -> str:
    """Return the replacement for a link on a page.

    If only another edition has the page, the replacement leads to that edition. Otherwise, the link remains unchanged.
    """
    target = normpath(join(dirname(page), link_match[2]))
    other = next((edition for edition in other_editions if target in edition.texts), None)
    if target in current.texts or other is None:
        return link_match[0]
    return _format_edition_link(current, page, other, target, link_match[1], link_match[3] or "")


def _format_edition_link(
    current: Edition, page: str, other: Edition, target_page: str, link_text: str, anchor: str = ""
) -> str:
    """Format a link from a page of one edition to a page of another edition.

    The link is HTML, because Sphinx builds one edition at a time and would report links to other editions as broken.
    """
    relative_root = "../" * (page.count("/") + current.root.count("/"))
    return (
        f'<a href="{escape(relative_root + other.root + target_page.removesuffix(".md"))}.html{anchor}" '
        f'hreflang="{detect_language(other.lessons_folder)}">{link_text}</a>'
    )


def write_lesson_site(
    target_folder: Path,
    own_lessons_folder: OptionalPath,
    language_codes: TextSequence,
    hub_url: str,
    write_python_site: Callable[[Path], object] | None,
) -> int:
    """Write a site for the given lessons.

    Args:
        target_folder: The folder of the site. An older site in it is replaced.
        own_lessons_folder: The folder of the user's own lessons, or None for the course's lessons.
        language_codes: The languages of the course's lessons. An empty list means English.
        hub_url: The address of a JupyterHub that each lesson links to, or "".
        write_python_site: A function that writes a `minitape site --lite` site to a folder, or None. That site's
            Python runs the cells on the lessons' pages.

    Returns:
        The number of pages on the site.

    Raises:
        click.ClickException: If `target_folder` contains other files, there are no lessons, a lesson cannot be run, or
            a link is broken.
        click.UsageError: If a language has no lessons, or languages were chosen for the user's own lessons.
        ModuleNotFoundError: If a package needed to write sites is not installed.
    """
    require_packages(*REQUIRED_PACKAGES)
    folders = find_site_folders(own_lessons_folder, language_codes)
    with (
        replace_site_folder(target_folder) as new_folder,
        TemporaryDirectory(prefix="minitape-site-") as scratch,
    ):
        editions = [
            Edition(lessons, {}, f"{detect_language(lessons)}/" if number else "")
            for number, lessons in enumerate(folders)
        ]
        is_own = bool(own_lessons_folder)
        if write_python_site:  # Check first whether Pyodide is available, because building the pages takes longer.
            write_python_site(new_folder / LITE_FOLDER)
        for edition in editions:
            places = RunPlaces(
                lab_command=format_lab_command(edition.lessons_folder, is_own),
                python_url=find_python_url(edition) if write_python_site else "",
                is_in_lite=not is_own,
                hub_url=hub_url,
                hub_folder=edition.lessons_folder.resolve().name if is_own else LEARNER_FOLDER,
            )
            _write_edition_texts(edition, get_extra_folder(Path(scratch), edition), is_own, places)
        own_settings = []
        if own_lessons_folder:  # A user's own site shows neither minitape's name nor its authors.
            site_title = build_page_translator(own_lessons_folder)("Lessons")
            own_settings = [f"-Dhtml_title={site_title}", "-Dhtml_show_copyright=0"]
        if not build_html_pages(editions, Path(scratch), new_folder, sphinx_settings=own_settings):
            raise ClickException("Sphinx ended with an error; see the output above")
    return sum(len(edition.texts) for edition in editions)


def find_site_folders(own_lessons_folder: OptionalPath, language_codes: TextSequence) -> PathList:
    """Return the lesson folders for a site.

    Args:
        own_lessons_folder: The folder of a user's own notebooks, or None for the course's lessons.
        language_codes: The languages of the course's lessons. An empty list means English.

    Raises:
        click.ClickException: If there are no such lessons, or a language was chosen for a user's own notebooks.
    """
    if own_lessons_folder is None or language_codes:
        return [find_lessons_folder(code, own_lessons_folder) for code in dict.fromkeys(language_codes) or [None]]
    if not list_notebook_files(own_lessons_folder):
        raise ClickException(f"there are no notebooks in {own_lessons_folder}")
    return [own_lessons_folder]


def _write_edition_texts(edition: Edition, extra_folder: Path, is_own: bool, places: RunPlaces) -> None:
    """Add the pages of all lessons and the start page to an edition."""
    edition.texts.update(build_lesson_pages(edition.lessons_folder, extra_folder, places))
    names = sorted(page.removesuffix(".md") for page in edition.texts)
    title = build_page_translator(edition.lessons_folder)("The lessons")
    edition.texts["index.md"] = format_index_page(edition.lessons_folder, is_own) + format_toctree(title, *names)


def find_python_url(edition: Edition) -> str:
    """Return the address of the site with Python, relative to the pages of an edition's lessons.

    Args:
        edition: The edition whose pages load Python.
    """
    depth = edition.root.count("/") + choose_page_folder(edition.lessons_folder).count("/") + 1
    return "../" * depth + LITE_FOLDER


def get_extra_folder(scratch_folder: Path, edition: Edition) -> Path:
    """Return the folder for the files that an edition's pages show or link to.

    Args:
        scratch_folder: The folder that is passed to `build_html_pages`.
        edition: The edition.
    """
    return scratch_folder / "extra" / detect_language(edition.lessons_folder)


def build_html_pages(
    editions: Sequence[Edition],
    scratch_folder: Path,
    html_folder: Path,
    on_sources_written: Callable[[Edition, Path], object] = lambda edition, source: None,
    sphinx_settings: TextSequence = (),
) -> bool:
    """Build the HTML pages of all editions with Sphinx.

    Args:
        editions: The editions. `link_editions` changes their texts in place.
        scratch_folder: A temporary folder for the sources. The folder also contains each edition's extra files (see
            `get_extra_folder`).
        html_folder: The folder to write to.
        on_sources_written: A function that is called with each edition and the folder of its texts. It may add files to
            that folder.
        sphinx_settings: Additional options for Sphinx.

    Returns:
        Whether Sphinx finished without warnings or errors. Sphinx prints them itself.
    """
    from sphinx.cmd.build import build_main

    link_editions(editions)
    has_failed = False
    for number, edition in enumerate(editions):
        source_folder = scratch_folder / f"source{number}"
        extra_folder = get_extra_folder(scratch_folder, edition)
        page_folder = choose_page_folder(edition.lessons_folder)
        for page, text in edition.texts.items():
            path = source_folder / page
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, text)
        if (extra_folder / page_folder).exists():  # Sphinx looks for a lesson's pictures next to its text.
            copytree(extra_folder / page_folder, source_folder / page_folder, dirs_exist_ok=True)
        on_sources_written(edition, source_folder)
        code = detect_language(edition.lessons_folder)
        options = ["-c", str(SETTINGS_FOLDER), "-d", str(scratch_folder / f"doctrees{number}"), *SPHINX_OPTIONS]
        options += [f"-Dlanguage={SPHINX_LANGUAGES.get(code, code)}", f"-Dhtml_extra_path={extra_folder}"]
        options += [f"-Dhtml_search_language={code}", *sphinx_settings]
        options += [str(source_folder), str(html_folder / edition.root)]
        has_failed |= bool(build_main(options))
    return not has_failed
