"""Builds the documentation as pages that need no network: ``python docs/build.py`` writes ``build/docs/html``.

The pages are those of the repository itself, the lessons with pictures that step, and every public name of ``tf``. They
stand beside each other as in the repository, so that their links hold in both places. A broken link ends the build.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "docs"
sys.path[:0] = [str(ROOT / "docs" / "site"), str(ROOT / "docs"), str(ROOT), str(ROOT / "widgets")]

import api  # noqa: E402
import house  # noqa: E402

from minitape.cli.lesson_pages import FILE  # noqa: E402
from minitape.cli.lesson_pages import pages as lesson_pages  # noqa: E402
from minitape.cli.site import build, contents, lesson_list  # noqa: E402

PAGES = """README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md deploy/TEACHERS.md deploy/jupyterhub/TEACHERS.md
    docs/tapeview.md docs/explain.md docs/bridges.md docs/engine.md docs/speed.md docs/elsewhere.md docs/trust.md""".split()

# the picture of the house, which is drawn here and not kept: the page's text -> the same with the picture
PICTURE = ("## The house\n", "## The house\n\n![The rooms of minitape. Each may import from those on which it stands, and from no other.](docs/house.svg)\n")


def main() -> int:
    """Writes the sources of all pages, makes the site of them, and checks it."""
    began = time.monotonic()
    html = BUILD / "html"
    shutil.rmtree(BUILD, ignore_errors=True)

    texts = {page: (ROOT / page).read_text(encoding="utf-8") for page in PAGES}
    texts["CONTRIBUTING.md"] = texts["CONTRIBUTING.md"].replace(*PICTURE)
    texts |= lesson_pages(ROOT / "notebooks" / "en", BUILD / "extra")
    texts |= api.pages()
    course = sorted(page.removesuffix(".md") for page in texts if page.startswith("notebooks/"))
    lessons = f"## The lessons\n\n{lesson_list(ROOT / 'notebooks' / 'en')}\n\n"
    texts["index.md"] = texts.pop("README.md").replace("## How small it is", f"{lessons}## How small it is") + "".join(
        [
            contents("The course", *course),
            contents("Guides", "docs/tapeview", "docs/explain", "docs/bridges", "docs/engine", "docs/elsewhere"),
            contents("Teaching", "deploy/TEACHERS", "deploy/jupyterhub/TEACHERS"),
            contents("Reference", "api/index"),
            contents("The project", "CHANGELOG", "CONTRIBUTING", "SECURITY", "docs/speed", "docs/trust"),
        ]
    )
    problems = build(texts, BUILD, html, copy_files)
    print(*problems, sep="\n", end="\n" if problems else "")
    if not problems:
        print(f"{html / 'index.html'}: {len(texts)} pages in {time.monotonic() - began:.0f} s")
    return 1 if problems else 0


def copy_files(source: Path) -> None:
    """Puts beside the pages what they show and link to."""
    for page in PAGES:
        for found in FILE.finditer((ROOT / page).read_text(encoding="utf-8")):
            file = (ROOT / page).parent.joinpath(found[1] or found[2]).resolve()
            if file.is_file() and file.suffix not in (".md", ".ipynb"):
                copy = source / file.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, copy)
    (source / "docs" / "house.svg").write_text(house.drawn(), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
