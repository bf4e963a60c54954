"""Builds the documentation as pages that need no network: ``python docs/build.py`` writes ``build/docs/html``.

With ``--lite`` the lessons and the playground, which run in the reader's browser, are in its folder ``run``;
``--pyodide FOLDER`` says where a Pyodide distribution is, else it is fetched.

The pages are those of the repository itself, the lessons with pictures that step, and every public name of ``tf``. They
stand beside each other as in the repository, so that their links hold in both places. A broken link ends the build.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "docs"
sys.path[:0] = [str(ROOT / "docs" / "site"), str(ROOT / "docs"), str(ROOT), str(ROOT / "widgets")]

import api  # noqa: E402
import packages  # noqa: E402
import page_links  # noqa: E402

from minitape.cli.lesson_pages import FILE, say_in  # noqa: E402
from minitape.cli.lesson_pages import pages as lesson_pages  # noqa: E402
from minitape.cli.lessons import languages  # noqa: E402
from minitape.cli.lite import write_lite  # noqa: E402
from minitape.cli.playground import page_name  # noqa: E402
from minitape.cli.site import LITE, Edition, build, command_for, contents, extra, index, lesson_list  # noqa: E402
from minitape.common.texts import ENGLISH  # noqa: E402
from minitape_widgets import TapeView  # noqa: E402
from minitape_widgets.lesson_views import write_view  # noqa: E402

PAGES = """README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md deploy/TEACHERS.md deploy/jupyterhub/TEACHERS.md
    docs/tapeview.md docs/explain.md docs/explain_inside.md docs/bridges.md docs/engine.md docs/engine_speed.md
    docs/functions.md docs/names.md docs/speed.md docs/elsewhere.md docs/trust.md""".split()

# a page's link to the same in another language, which `build` writes, too
TWIN = re.compile(r"^\[[^\[\]]*\]\([\w.]+\.md\)\n\n", re.MULTILINE)
# the picture of the packages, which is drawn here and not kept: the page's text -> the same with the picture
PICTURE = (
    "## The packages\n",
    "## The packages\n\n![The packages of minitape. Each may import from those below it, and from no "
    "other.](docs/packages.svg)\n",
)
# of README.md: the picture that moves, which is a live one here, and the three things one can do, which come first
FRONT = re.compile(r"<picture>\n[^\n]*\n[^\n]*docs/sweep\.(?:zh\.)?gif[^\n]*\n</picture>\n\n((?:- .*\n(?:  .*\n)*)+)")
FIRST_PROGRAM = """
import minitape as tf
x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = x * tf.sin(x)
tape.gradient(y, x)
"""


def main() -> int:
    """Writes the sources of all pages, makes the site of them, and checks it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--lite", action="store_true", help="also the lessons and the playground in the browser")
    parser.add_argument("--pyodide", type=Path, metavar="FOLDER", help="a Pyodide distribution for them")
    options = parser.parse_args()
    began = time.monotonic()
    html = BUILD / "html"
    shutil.rmtree(BUILD, ignore_errors=True)

    codes = sorted(languages(), key=lambda code: code != ENGLISH)
    if options.lite:
        write_lite(html / LITE, codes, offline=True, pyodide=options.pyodide)
    editions = [edition_of(code, options.lite) for code in codes]
    made = build(editions, BUILD, html, copy_files)
    problems = page_links.broken(html, LITE) if made else ["Sphinx ended with an error, see above"]
    print(*problems, sep="\n", end="\n" if problems else "")
    if not problems:
        print(
            f"{html / 'index.html'}: {sum(len(edition.texts) for edition in editions)} pages in "
            f"{time.monotonic() - began:.0f} s"
        )
    return 1 if problems else 0


def edition_of(code: str, lite: bool) -> Edition:
    """All pages that there are in a language: README.md is called README.zh.md in Chinese, and so are the others.

    With `lite` they lead to the lessons that run in the browser.
    """
    folder = ROOT / "notebooks" / code
    edition = Edition(folder, {}, "" if code == ENGLISH else f"{code}/")
    up = "../" * edition.root.count("/")
    texts, suffix = edition.texts, ".md" if code == ENGLISH else f".{code}.md"
    for page in PAGES:
        if (ROOT / page).with_suffix(suffix).exists():
            text = (ROOT / page).with_suffix(suffix).read_text(encoding="utf-8")
            texts[page] = TWIN.sub("", text, count=1).replace(suffix, ".md")
    texts |= lesson_pages(folder, extra(BUILD, edition), command_for(folder, own=False), f"../../{up}{LITE}" * lite)
    course = sorted(page.removesuffix(".md") for page in texts if page.startswith("notebooks/"))
    the_lessons = say_in(folder)("The lessons")
    readme = texts.pop("README.md", index(folder, own=False))
    playground = f"{up}{LITE}/playground/{page_name(code)}" if lite else ""
    parts = with_front(readme, playground, extra(BUILD, edition)).split("\n## ")
    parts.insert(3, f"{the_lessons}\n\n{lesson_list(folder)}\n")
    texts["index.md"] = "\n## ".join(parts) + contents(the_lessons, *course)
    if code != ENGLISH:
        texts["index.md"] += contents(
            "minitape", *(page.removesuffix(".md") for page in texts if page.startswith("docs/"))
        )
        return edition
    texts["CONTRIBUTING.md"] = texts["CONTRIBUTING.md"].replace(*PICTURE)
    texts |= api.pages()
    texts["index.md"] += "".join(
        [
            contents(
                "Guides",
                "docs/tapeview",
                "docs/explain",
                "docs/explain_inside",
                "docs/bridges",
                "docs/engine",
                "docs/engine_speed",
                "docs/functions",
                "docs/names",
                "docs/elsewhere",
            ),
            contents("Teaching", "deploy/TEACHERS", "deploy/jupyterhub/TEACHERS"),
            contents("Reference", "api/index"),
            contents("The project", "CHANGELOG", "CONTRIBUTING", "SECURITY", "docs/speed", "docs/trust"),
        ]
    )
    return edition


def with_front(readme: str, playground: str, files: Path) -> str:
    """The text of README with the three things to do first, each on a card, then the live picture: the playground,
    whose address is given, else a page that is written to `files`.
    """
    found = FRONT.search(readme)
    if found is None:
        return readme
    if playground:
        picture = f'<iframe class="playground" src="{playground}" title="minitape"></iframe>'
    else:
        space: dict[str, object] = {}
        exec(FIRST_PROGRAM, space)
        write_view(TapeView(space["tape"]), files / "views" / "front.html")
        picture = '<iframe class="tapeview" src="views/front.html" title="minitape"></iframe>'
    title, rest = readme[: found.start()].split("\n", 1)
    return f'{title}\n\n<div class="cards">\n\n{found[1]}\n</div>\n\n{picture}\n{rest}{readme[found.end() :]}'


def copy_files(edition: Edition, source: Path) -> None:
    """Puts beside the pages what they show and link to."""
    for page in edition.texts.keys() & {*PAGES, "index.md"}:
        for found in FILE.finditer(edition.texts[page]):
            file = (ROOT / page).parent.joinpath(found[1] or found[2]).resolve()
            if file.is_file() and file.suffix not in (".md", ".ipynb"):
                copy = source / file.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, copy)
    (source / "docs" / "packages.svg").write_text(packages.drawn(), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
