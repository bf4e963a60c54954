"""`minitape site`: the lessons as pages with pictures that step, which need neither a kernel nor a network."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import click

from . import page_links
from .lesson_pages import linked, pages
from .lessons import lessons_folder

SETTINGS = Path(__file__).with_name("site_settings")
CONTENTS = """
```{{toctree}}
:hidden:
:caption: {title}

{pages}
```
"""
INDEX = """\
# minitape

A course on automatic differentiation. Each lesson is shown as it is saved, with pictures that step: click into one, and use the
arrow keys. To run the lessons, and to have the exercises checked, install minitape and type `minitape lab`.

{lessons}
"""


def contents(title: str, *names: str) -> str:
    """A part of the list of pages at the left."""
    return CONTENTS.format(title=title, pages="\n".join(names))


def write_site(out: Path) -> int:
    """Write the site of the course's lessons to the folder `out`; give back how many pages it has.

    Raises click.ClickException where `out` holds something else, a lesson cannot be run, or a link is broken.
    """
    if out.exists() and any(out.iterdir()) and not (out / ".buildinfo").exists():
        raise click.ClickException(f"{out} holds files that are no site; name another folder")
    with tempfile.TemporaryDirectory(prefix="minitape-site-") as scratch:
        texts = pages(lessons_folder(), Path(scratch) / "extra" / "views")
        names = sorted(page.removesuffix(".md") for page in texts)
        titles = {page: text.lstrip("# ").partition("\n")[0] for page, text in texts.items()}
        rows = "\n".join(f"- [{titles[f'{name}.md']}]({name}.md)" for name in names)
        texts["index.md"] = INDEX.format(lessons=rows) + contents("The course", *names)
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
        path.write_text(linked(text) if page.endswith(".md") else text, encoding="utf-8")
    prepare(source)
    options = [
        "-b",
        "html",
        "-c",
        str(SETTINGS),
        "-D",
        f"html_extra_path={scratch / 'extra'}",
        "-d",
        str(scratch / "doctrees"),
    ]
    code = build_main([*options, "-W", "--keep-going", "-q", "-j", "2", str(source), str(html)])
    return [*(["Sphinx ended with an error, see above"] if code else []), *page_links.broken(html)]
