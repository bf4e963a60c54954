"""The page of the playground: an editor beside the live picture, and Python in the reader's browser."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit

from ..common.read_data import read_json, read_text
from ..common.write_beside import write
from .browser_python import LOCK, PLAYGROUND

HERE = Path(__file__).with_name("playground_page")
EXAMPLES = HERE / "examples"
BUNDLE = "tapeview.js"
Fields: TypeAlias = dict[str, object]


def write_playground(out: Path, python: str, loader: str) -> int:
    """Write the playground to the folder `out`; give back how many examples it has.

    `python` is where the lock file of the site's Python lies, seen from the page, and `loader` the address of
    ``pyodide.mjs``.
    """
    out.mkdir(parents=True, exist_ok=True)
    there = read_json(out / python / LOCK)["packages"]
    packages = [name for name in PLAYGROUND if name in there]
    config: Fields = {"pyodide": loader, "lock": f"{python}/{LOCK}", "packages": packages, "bundle": BUNDLE}
    examples = [example(path) for path in sorted(EXAMPLES.glob("*.txt"))]
    page = read_text(HERE / "index.html")
    for name, text in (("policy", policy(loader)), ("config", _inert(config)), ("examples", _inert(examples))):
        page = page.replace("{{" + name + "}}", text)
    write(out / "index.html", page)
    write(out / "playground.js", read_text(HERE / "playground.js"))
    write(out / BUNDLE, read_text(import_module("minitape_widgets.engine").BUNDLE))
    return len(examples)


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


def example(path: Path) -> Fields:
    """A program of the playground, with its title and the picture that is shown before Python has come."""
    program = read_text(path)
    title = program.partition("\n")[0].lstrip("# ")
    return {
        "title": title,
        "program": program,
        "snapshot": import_module("minitape_widgets.playground").picture(program),
    }


def _inert(value: object) -> str:
    """JSON in which nothing can end a script element."""
    return json.dumps(value, allow_nan=False).replace("<", "\\u003c")
