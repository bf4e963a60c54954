"""Build the documentation as pages that need no network: ``python docs/build.py`` writes ``build/docs/html``.

With ``--lite``, the folder ``run`` contains the lessons and the playground that run in the reader's browser.
``--pyodide FOLDER`` names the folder of a Pyodide distribution. Without it, Pyodide is downloaded.

The pages are the repository's own pages, the lessons with pictures that can be stepped through, and a reference of
every public name in ``tf``. The pages have the same relative positions as in the repository, so their links work in
both places. A broken link ends the build.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "docs"
sys.path[:0] = [str(ROOT / "docs" / "site"), str(ROOT / "docs"), str(ROOT), str(ROOT / "widgets")]

import api  # noqa: E402
import explorables  # noqa: E402
import gallery  # noqa: E402
import packages  # noqa: E402
import page_links  # noqa: E402
import page_programs  # noqa: E402
import reference  # noqa: E402
import search_fields  # noqa: E402
import tabs  # noqa: E402
from search_words import get_phrasings, get_search_words  # noqa: E402

from minitape.cli.chinese_search import SearchChinese  # noqa: E402
from minitape.cli.course_map import format_lessons_with_goals  # noqa: E402
from minitape.cli.lesson_files import find_lesson_folders_by_language  # noqa: E402
from minitape.cli.lesson_pages import FILE_REFERENCE, build_lesson_pages, build_page_translator  # noqa: E402
from minitape.cli.lite import write_lite_site  # noqa: E402
from minitape.cli.playground_page import get_playground_file_name  # noqa: E402
from minitape.cli.run_places import RunPlaces  # noqa: E402
from minitape.cli.site import (  # noqa: E402
    LITE_FOLDER,
    Edition,
    build_html_pages,
    find_python_url,
    format_index_page,
    format_lab_command,
    format_toctree,
    get_extra_folder,
)
from minitape.common.translation import ENGLISH, use_language  # noqa: E402

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["minitape"]
PAGES = """
    README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md deploy/TEACHERS.md deploy/jupyterhub/TEACHERS.md
    docs/tapeview.md docs/tapeview_reading.md docs/tapeview_explore.md docs/tapeview_large.md docs/tapeview_saving.md
    docs/film.md docs/model_map.md docs/tapeview_keys.md docs/explorables.md docs/explain.md docs/explain_model.md
    docs/explain_program.md docs/explain_loop.md docs/explain_answers.md docs/causes.md docs/explain_inside.md
    docs/add_a_cause.md docs/bridges.md docs/how_often_right.md docs/write_a_bridge.md docs/engine.md
    docs/engine_gradient.md docs/engine_calls.md docs/engine_more.md docs/engine_speed.md docs/functions.md
    docs/lessons.md docs/exercises.md docs/snapshot.md docs/vocabulary.md docs/names.md docs/speed.md
    docs/elsewhere.md docs/trust.md docs/trust_tests.md docs/questions/index.md docs/gallery.md
""".split()
GALLERY_PAGE = "docs/gallery.md"
QUESTION_PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "docs" / "questions").glob("*.md")
    if "." not in path.stem and path.stem != "index"
)
CAUSE_PAGES = sorted(
    path.relative_to(ROOT).as_posix() for path in (ROOT / "docs" / "causes").glob("*.md") if "." not in path.stem
)

# a page's link to the same in another language, which `build` writes, too
TWIN_LINK = re.compile(r"^\[[^\[\]]*\]\([\w.]+\.md\)\n\n", re.MULTILINE)
# The picture of the packages, which is drawn during the build: a text of the page, and the same text with the picture.
PACKAGES_PICTURE = (
    "## The packages\n",
    "## The packages\n\n![The packages of minitape. Each may import from those below it, and from no "
    "other.](docs/packages.svg)\n",
)
# The animated picture in README.md, which is a live picture here, and the three things to do, which come first here.
FRONT_PICTURE = re.compile(
    r"<picture>\n[^\n]*\n[^\n]*docs/sweep\.(?:zh\.)?gif[^\n]*\n</picture>\n\n((?:- .*\n(?:  .*\n)*)+)"
)
FIRST_PROGRAM = """\
import minitape as tf

x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = x * tf.sin(x)
tape.gradient(y, x)
"""


def main() -> int:
    """Write the sources of all pages, build the site, and check it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--lite", action="store_true", help="also the lessons and the playground in the browser")
    parser.add_argument("--pyodide", type=Path, metavar="FOLDER", help="a Pyodide distribution for them")
    parser.add_argument("--hub", default=SETTINGS["hub"], metavar="ADDRESS", help="a JupyterHub with the lessons")
    parser.add_argument(
        "--repository", default=SETTINGS["repository"], metavar="ADDRESS", help="where Colab finds the lessons"
    )
    options = parser.parse_args()
    start_time = time.monotonic()
    html_folder = BUILD / "html"
    shutil.rmtree(BUILD, ignore_errors=True)

    codes = sorted(find_lesson_folders_by_language(), key=lambda code: code != ENGLISH)
    if options.lite:
        write_lite_site(html_folder / LITE_FOLDER, codes, offline=True, pyodide_folder=options.pyodide)
    editions = []
    for code in codes:
        with use_language(code):
            editions.append(build_edition(code, options))
    settings = ["-c", str(ROOT / "docs" / "site")]
    is_built = build_html_pages(editions, BUILD, html_folder, copy_files_beside_pages, settings)
    problems = (
        page_links.list_link_problems(html_folder, LITE_FOLDER)
        if is_built
        else ["Sphinx ended with an error; see the output above"]
    )
    print(*problems, sep="\n", end="\n" if problems else "")
    if not problems:
        print(
            f"{html_folder / 'index.html'}: {sum(len(edition.texts) for edition in editions)} pages in "
            f"{time.monotonic() - start_time:.0f} s"
        )
    return 1 if problems else 0


def build_edition(language_code: str, options: argparse.Namespace) -> Edition:
    """Build all pages that exist in a language. In Chinese, for example, README.md is called README.zh.md.

    Args:
        language_code: The language.
        options: The options of the command line: whether the lessons run in the browser, and where else they run.

    Returns:
        The pages.
    """
    folder = ROOT / "notebooks" / language_code
    edition = Edition(folder, {}, "" if language_code == ENGLISH else f"{language_code}/")
    relative_root = "../" * edition.root.count("/")
    texts, suffix = edition.texts, ".md" if language_code == ENGLISH else f".{language_code}.md"
    for page in [*PAGES, *QUESTION_PAGES, *CAUSE_PAGES]:
        if (ROOT / page).with_suffix(suffix).exists():
            texts[page] = read_page(page, language_code)
            texts[page] = page_programs.embed_search_words(texts[page], SearchChinese({}).split)
    search_fields.write_fields(find_fields_by_page(language_code), get_extra_folder(BUILD, edition) / "_static")
    embed_pictures_of_folder(edition, QUESTION_PAGES, "questions", "docs/questions/index.md")
    embed_pictures_of_folder(edition, CAUSE_PAGES, "causes", "docs/causes.md")
    for page in CAUSE_PAGES:
        texts[page] = tabs.put_frameworks_in_tabs(texts[page])
    if GALLERY_PAGE in texts:
        pictures_folder = get_extra_folder(BUILD, edition) / "gallery"
        texts[GALLERY_PAGE] = gallery.embed_gallery(texts[GALLERY_PAGE], pictures_folder, "../gallery", language_code)
    embed_explorables(edition)
    texts |= build_lesson_pages(
        folder,
        get_extra_folder(BUILD, edition),
        RunPlaces(
            lab_command=format_lab_command(folder, is_own=False),
            python_url=find_python_url(edition) if options.lite else "",
            is_in_lite=options.lite,
            hub_url=options.hub,
            repository_url=options.repository,
        ),
    )
    lesson_names = sorted(page.removesuffix(".md") for page in texts if page.startswith("notebooks/"))
    lessons_title = build_page_translator(folder)("The lessons")
    readme = texts.pop("README.md", format_index_page(folder, is_own=False))
    playground_url = (
        f"{relative_root}{LITE_FOLDER}/playground/{get_playground_file_name(language_code)}" if options.lite else ""
    )
    sections = build_front_page(readme, playground_url, get_extra_folder(BUILD, edition)).split("\n## ")
    sections.insert(
        3, f"{lessons_title}\n\n{format_lessons_with_goals(folder, f'notebooks/{language_code}/{{name}}.md')}\n"
    )
    texts["index.md"] = "\n## ".join(sections) + format_toctree(lessons_title, *lesson_names)
    if language_code != ENGLISH:
        texts["index.md"] += format_toctree(
            "minitape",
            *(
                page.removesuffix(".md")
                for page in texts
                if page.startswith(("docs/", "deploy/")) and page not in {*QUESTION_PAGES, *CAUSE_PAGES}
            ),
        )
        return edition
    texts["CONTRIBUTING.md"] = texts["CONTRIBUTING.md"].replace(*PACKAGES_PICTURE)
    texts |= api.build_api_pages() | reference.build_reference_pages()
    texts["index.md"] += "".join(
        [
            format_toctree(
                "Guides",
                "docs/questions/index",
                "docs/gallery",
                "docs/explain",
                "docs/explain_model",
                "docs/explain_program",
                "docs/explain_loop",
                "docs/tapeview",
                "docs/tapeview_reading",
                "docs/tapeview_explore",
                "docs/tapeview_large",
                "docs/tapeview_saving",
                "docs/film",
                "docs/model_map",
                "docs/explorables",
                "docs/explain_inside",
                "docs/add_a_cause",
                "docs/bridges",
                "docs/how_often_right",
                "docs/write_a_bridge",
                "docs/engine",
                "docs/engine_gradient",
                "docs/engine_calls",
                "docs/engine_more",
                "docs/engine_speed",
                "docs/functions",
                "docs/names",
                "docs/elsewhere",
            ),
            format_toctree(
                "Teaching", "deploy/TEACHERS", "docs/exercises", "docs/lessons", "deploy/jupyterhub/TEACHERS"
            ),
            format_toctree(
                "Reference",
                "api/index",
                reference.INDEX_PAGE,
                "docs/causes",
                "docs/explain_answers",
                "docs/tapeview_keys",
                "docs/snapshot",
            ),
            format_toctree(
                "The project",
                "CHANGELOG",
                "CONTRIBUTING",
                "docs/vocabulary",
                "SECURITY",
                "docs/speed",
                "docs/trust",
                "docs/trust_tests",
            ),
        ]
    )
    return edition


def find_fields_by_page(language_code: str) -> dict[str, dict[str, str]]:
    """Return the search fields of an edition's pages, and of the pages that exist in English only.

    Args:
        language_code: The language of the edition.

    Returns:
        A dict from the address of each page, seen from the edition and without ".html", to its parts.
    """
    suffix = ".md" if language_code == ENGLISH else f".{language_code}.md"
    fields_by_page = {}
    for page in [*PAGES, *QUESTION_PAGES, *CAUSE_PAGES]:
        name = "index" if page == "README.md" else page.removesuffix(".md")  # The README is the site's front page.
        phrasings = get_phrasings(page, language_code)
        if (ROOT / page).with_suffix(suffix).exists():
            fields_by_page[name] = search_fields.find_fields(read_page(page, language_code), phrasings)
        elif page.startswith(("docs/", "deploy/")):
            text = f"{read_page(page, ENGLISH)}\n<!-- search: {get_search_words(page, language_code)} -->\n"
            fields = search_fields.find_fields(text, phrasings)
            fields_by_page[f"../{name}"] = fields | {"title": f"{fields['title']} (English)"}
    return fields_by_page


def read_page(page: str, language_code: str) -> str:
    """Return the text of a page in a language, with its search terms and without the link to its translation.

    Args:
        page: The English page, such as "docs/explain.md".
        language_code: The language.
    """
    suffix = ".md" if language_code == ENGLISH else f".{language_code}.md"
    text = (ROOT / page).with_suffix(suffix).read_text(encoding="utf-8")
    text = TWIN_LINK.sub("", text, count=1).replace(suffix, ".md")
    search_words = get_search_words(page, language_code)
    return f"{text}\n<!-- search: {search_words} -->\n" if search_words else text


def embed_explorables(edition: Edition) -> None:
    """Put the explorables of an edition's pages into the texts, and the script that they share beside the pages."""
    extra_folder = get_extra_folder(BUILD, edition)
    for page, text in edition.texts.items():
        if not explorables.find_explorables(text):
            continue
        edition.texts[page] = explorables.embed_explorables(text, f"{'../' * page.count('/')}minitape.js")
        extra_folder.mkdir(parents=True, exist_ok=True)
        (extra_folder / "minitape.js").write_text(explorables.read_script(), encoding="utf-8")


def embed_pictures_of_folder(edition: Edition, pages: list[str], folder_name: str, list_page: str) -> None:
    """Run the programs of an edition's pages in a folder, and put their live pictures into the texts.

    The page that lists them gets a toctree.
    """
    own_pages = [page for page in pages if page in edition.texts]
    views_folder = get_extra_folder(BUILD, edition) / "views" / folder_name
    for page in own_pages:
        name = Path(page).stem
        edition.texts[page] = page_programs.embed_pictures(
            edition.texts[page], views_folder / name, f"../../views/{folder_name}/{name}"
        )
    title = edition.texts[list_page].partition("\n")[0].removeprefix("# ")
    list_folder = Path(list_page).parent
    names = [Path(page).relative_to(list_folder).with_suffix("").as_posix() for page in own_pages]
    edition.texts[list_page] += format_toctree(title, *names)


def build_front_page(readme_text: str, playground_url: str, extra_folder: Path) -> str:
    """Return the text of README with its tagline, the three things to do, each on a card, and the live picture first.

    The picture is the playground at `playground_url`, or without one a page that is written to `extra_folder`.
    """
    front_match = FRONT_PICTURE.search(readme_text)
    if front_match is None:
        return readme_text
    if playground_url:
        picture_html = f'<iframe class="playground" src="{playground_url}" title="minitape"></iframe>'
    else:
        namespace: dict[str, object] = {}
        page_programs.run_program(FIRST_PROGRAM, namespace)
        page_programs.write_picture("tape", namespace, extra_folder / "views" / "front.html")
        picture_html = '<iframe class="tapeview" src="views/front.html" title="minitape"></iframe>'
    title, *links, tagline = readme_text[: front_match.start()].strip().split("\n\n")
    return "\n\n".join(
        [
            title,
            tagline,
            f'<div class="cards">\n\n{front_match[1]}\n</div>',
            picture_html,
            *links,
            readme_text[front_match.end() :],
        ]
    )


def copy_files_beside_pages(edition: Edition, sphinx_folder: Path) -> None:
    """Copy what pages show and link to into `sphinx_folder`, which holds the texts of an edition."""
    for page in edition.texts.keys() & {*PAGES, *CAUSE_PAGES, "index.md"}:
        for file_reference in FILE_REFERENCE.finditer(edition.texts[page]):
            file = (ROOT / page).parent.joinpath(file_reference[1] or file_reference[2]).resolve()
            if file.is_file() and file.suffix not in (".md", ".ipynb"):
                target = sphinx_folder / file.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, target)
    (sphinx_folder / "docs" / "packages.svg").write_text(packages.draw_packages(), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
