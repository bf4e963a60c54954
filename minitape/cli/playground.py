"""The page of the playground: an editor beside the live picture, and Python in the reader's browser."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit

from ..common.read_data import read_json, read_text
from ..common.texts import ENGLISH, VARIABLES, table
from ..common.write_beside import write
from .browser_python import LOCK, PLAYGROUND, core_files

HERE = Path(__file__).with_name("playground_page")
EXAMPLES = HERE / "examples"
BUNDLE = "tapeview.js"
TEXTS = "playground"  # and those of the picture are what the page says
PICTURE = "picture"
Fields: TypeAlias = dict[str, object]


def write_playground(out: Path, python: str, loader: str, codes: Iterable[str] = ()) -> None:
    """Write the playground to the folder `out`: a page in English, and one in each language of these codes.

    `python` is where the lock file of the site's Python lies, seen from the page, and `loader` the address of
    ``pyodide.mjs``.
    """
    out.mkdir(parents=True, exist_ok=True)
    there = read_json(out / python / LOCK)["packages"]
    packages = [name for name in PLAYGROUND if name in there]
    pages = {code: page_name(code) for code in dict.fromkeys([ENGLISH, *codes])}
    given: Fields = {
        "pyodide": loader,
        "files": core_files(loader),
        "lock": f"{python}/{LOCK}",
        "packages": packages,
        "bundle": BUNDLE,
    }
    for code, name in pages.items():
        others = {other: there for other, there in pages.items() if other != code}
        config = given | {
            "language": code,
            "others": others,
            "texts": table(TEXTS, code),
            "picture": table(PICTURE, code),
        }
        examples = [example(path, code) for path in sorted(EXAMPLES.glob("*.txt"))]
        texts = {"language": code, "policy": policy(loader), "config": _inert(config), "examples": _inert(examples)}
        page = read_text(HERE / "index.html")
        for place, text in texts.items():
            page = page.replace("{{" + place + "}}", text)
        write(out / name, page)
    write(out / "playground.js", read_text(HERE / "playground.js"))
    write(out / BUNDLE, read_text(import_module("minitape_widgets.engine").BUNDLE))


def page_name(code: str) -> str:
    """The file of the playground's page in the language of a code.

    >>> page_name("en"), page_name("zh")
    ('index.html', 'zh.html')
    """
    return f"{'index' if code == ENGLISH else code}.html"


def policy(loader: str) -> str:
    """What the page may do: a program of a link that someone runs reaches the site itself and Pyodide's, nothing else.

    >>> "connect-src 'self' blob: data: https://cdn.example;" in policy("https://cdn.example/pyodide.mjs")
    True
    >>> "connect-src 'self' blob: data:;" in policy("../pyodide/pyodide.mjs")
    True
    """
    parts = urlsplit(loader)
    other = f" {parts.scheme}://{parts.netloc}" if parts.netloc else ""
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' blob: data:; worker-src blob:; "
        "form-action 'none'; "
        f"script-src 'self' blob: 'unsafe-eval' 'wasm-unsafe-eval'{other}; connect-src 'self' blob: data:{other};"
    )


def example(path: Path, code: str = ENGLISH) -> Fields:
    """A program of the playground in the language of a code, with its title and the picture that is shown before Python
    has come.
    """
    program = read_text(path)
    for words, translated in table(TEXTS, code).items():
        program = program.replace(f"# {words}\n", f"# {translated}\n")
    with _speaking(code):
        picture = import_module("minitape_widgets.playground").picture(program)
    return {"title": program.partition("\n")[0].lstrip("# "), "program": program, "snapshot": picture}


@contextmanager
def _speaking(code: str) -> Iterator[None]:
    """What is said inside is said in the language of a code."""
    before = os.environ.get(VARIABLES[0], "")
    os.environ[VARIABLES[0]] = code
    try:
        yield
    finally:
        os.environ[VARIABLES[0]] = before


def _inert(value: object) -> str:
    """JSON in which nothing can end a script element."""
    return json.dumps(value, allow_nan=False).replace("<", "\\u003c")
