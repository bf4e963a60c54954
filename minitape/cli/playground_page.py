"""The page of the playground: an editor beside the live picture, and Python in the reader's browser."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from ..common.atomic_write import write_file
from ..common.read_data import read_json, read_text
from ..common.translation import ENGLISH, LANGUAGE_VARIABLES, load_translations
from ..engine.hooks import hooks
from .browser_python import LOCK_FILE, PLAYGROUND_PACKAGES, list_core_file_urls

PAGE_FOLDER = Path(__file__).with_name("playground_page")
EXAMPLES_FOLDER = PAGE_FOLDER / "examples"
BUNDLE_FILE = "tapeview.js"
PAGE_DOMAIN = "playground"  # and those of the picture are what the page says
PICTURE_DOMAIN = "picture"
Fields: TypeAlias = dict[str, object]


def write_playground_pages(
    target_folder: Path, relative_python_folder: str, loader_url: str, language_codes: Iterable[str] = ()
) -> None:
    """Write the playground to the folder `target_folder`: a page in English, and one in each language of these codes.

    `relative_python_folder` is where the lock file of the site's Python lies, seen from the page, and `loader_url` the
    address of ``pyodide.mjs``.
    """
    target_folder.mkdir(parents=True, exist_ok=True)
    available_packages = read_json(target_folder / relative_python_folder / LOCK_FILE)["packages"]
    packages = [name for name in PLAYGROUND_PACKAGES if name in available_packages]
    pages = {code: get_playground_file_name(code) for code in dict.fromkeys([ENGLISH, *language_codes])}
    base_config: Fields = {
        "pyodide": loader_url,
        "files": list_core_file_urls(loader_url),
        "lock": f"{relative_python_folder}/{LOCK_FILE}",
        "packages": packages,
        "bundle": BUNDLE_FILE,
    }
    for code, name in pages.items():
        other_pages = {other_code: page_file for other_code, page_file in pages.items() if other_code != code}
        config = base_config | {
            "language": code,
            "others": other_pages,
            "texts": load_translations(PAGE_DOMAIN, code),
            "picture": load_translations(PICTURE_DOMAIN, code),
        }
        examples = [build_playground_example(path, code) for path in sorted(EXAMPLES_FOLDER.glob("*.txt"))]
        texts = {
            "language": code,
            "policy": build_content_security_policy(loader_url),
            "config": _dump_inert_json(config),
            "examples": _dump_inert_json(examples),
        }
        page = read_text(PAGE_FOLDER / "index.html")
        for placeholder, text in texts.items():
            page = page.replace("{{" + placeholder + "}}", text)
        write_file(target_folder / name, page)
    write_file(target_folder / "playground.js", read_text(PAGE_FOLDER / "playground.js"))
    bundle: Any = hooks.front_end_bundle  # a path, although most hooks are functions
    write_file(target_folder / BUNDLE_FILE, read_text(bundle))


def get_playground_file_name(language_code: str) -> str:
    """Return the name of the playground's file in a language.

    >>> get_playground_file_name("en"), get_playground_file_name("zh")
    ('index.html', 'zh.html')
    """
    return f"{'index' if language_code == ENGLISH else language_code}.html"


def build_content_security_policy(loader_url: str) -> str:
    """Build the policy of the page: a program of a link that someone runs reaches this site and Pyodide's alone.

    >>> "connect-src 'self' blob: data: https://cdn.example;" in build_content_security_policy("https://cdn.example/pyodide.mjs")
    True
    >>> "connect-src 'self' blob: data:;" in build_content_security_policy("../pyodide/pyodide.mjs")
    True
    """
    url_parts = urlsplit(loader_url)
    other_origin = f" {url_parts.scheme}://{url_parts.netloc}" if url_parts.netloc else ""
    connections = f"'self' blob: data:{other_origin}"
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' blob: data:; worker-src blob:; "
        "form-action 'none'; "
        f"script-src 'self' blob: 'unsafe-eval' 'wasm-unsafe-eval'{other_origin}; connect-src {connections};"
    )


def build_playground_example(program_path: Path, language_code: str = ENGLISH) -> Fields:
    """Build an example in a language: its program, its title, and the picture that is shown before Python has come."""
    program = read_text(program_path)
    for english, translated in load_translations(PAGE_DOMAIN, language_code).items():
        program = program.replace(f"# {english}\n", f"# {translated}\n")
    with _use_language(language_code):
        snapshot = hooks.snapshot_program(program)
    return {"title": program.partition("\n")[0].lstrip("# "), "program": program, "snapshot": snapshot}


@contextmanager
def _use_language(language_code: str) -> Iterator[None]:
    """Have what is said in the block said in a language."""
    previous_language = os.environ.get(LANGUAGE_VARIABLES[0], "")
    os.environ[LANGUAGE_VARIABLES[0]] = language_code
    try:
        yield
    finally:
        os.environ[LANGUAGE_VARIABLES[0]] = previous_language


def _dump_inert_json(value: object) -> str:
    """Return JSON in which nothing can end a script element."""
    return json.dumps(value, allow_nan=False).replace("<", "\\u003c")
