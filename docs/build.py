"""Builds the documentation as pages that need no network: ``python docs/build.py`` writes ``build/docs/html``.

The pages are those of the repository itself, the lessons with pictures that step, and every public name of ``tf``. They
stand beside each other as in the repository, so that their links hold in both places. A broken link ends the build.
"""

from __future__ import annotations

import re
import shutil
import sys
import time
from pathlib import Path

from sphinx.cmd.build import build_main

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "docs"
sys.path[:0] = [str(ROOT / "docs" / "site"), str(ROOT), str(ROOT / "widgets")]

import api  # noqa: E402
import lessons  # noqa: E402
import links  # noqa: E402

PAGES = """README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md deploy/TEACHERS.md
    docs/tapeview.md docs/explain.md docs/bridges.md docs/engine.md docs/trust.md""".split()
# a link to a lesson, and to a cell of it: a cell of the glossary is its heading
LESSON = re.compile(r"(\]\((?!\w+:)[^()\s]+)\.ipynb(?:(#)cell-id=)?(?=[^()\s]*\))")
CONTENTS = """
```{{toctree}}
:hidden:
:caption: {title}

{pages}
```
"""


def contents(title: str, *pages: str) -> str:
    """A part of the list of pages at the left."""
    return CONTENTS.format(title=title, pages="\n".join(pages))


def main() -> int:
    """Writes the sources of all pages, makes the site of them, and checks it."""
    began = time.monotonic()
    source, html = BUILD / "source", BUILD / "html"
    shutil.rmtree(BUILD, ignore_errors=True)

    texts = {page: (ROOT / page).read_text(encoding="utf-8") for page in PAGES}
    texts |= lessons.pages(ROOT / "notebooks" / "en", BUILD / "extra" / "views")
    texts |= api.pages()
    course = sorted(page.removesuffix(".md") for page in texts if page.startswith("notebooks/"))
    texts["index.md"] = texts.pop("README.md") + "".join(
        [
            contents("The course", *course),
            contents("Guides", "docs/tapeview", "docs/explain", "docs/engine", "deploy/TEACHERS"),
            contents("Reference", "api/index"),
            contents("The project", "CHANGELOG", "CONTRIBUTING", "SECURITY", "docs/trust"),
        ]
    )
    for page, text in texts.items():
        path = source / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(LESSON.sub(r"\1.md\2", text) if page.endswith(".md") else text, encoding="utf-8")
    for pattern in ("docs/*.png", "docs/*.svg", "benchmarks/peers/floor.py"):  # what the pages show and link to
        for file in ROOT.glob(pattern):
            copy = source / file.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy)

    code = build_main(["-b", "html", "-c", str(ROOT / "docs" / "site"), "-W", "--keep-going", "-q", "-j", "2", str(source), str(html)])
    broken = links.broken(html)
    print(*broken, sep="\n", end="\n" if broken else "")
    if code == 0 and not broken:
        print(f"{html / 'index.html'}: {len(texts)} pages in {time.monotonic() - began:.0f} s")
    return 1 if code or broken else 0


if __name__ == "__main__":
    sys.exit(main())
