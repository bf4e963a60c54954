"""Write the playground page, an editor next to the live picture, with Python running in the reader's browser."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..common.atomic_write import write_file
from ..common.read_data import read_json, read_text
from ..common.script_json import format_script_json
from ..common.translation import ENGLISH, load_translations, use_language
from ..engine.hooks import hooks
from ..engine.types import JsonObject
from .browser_python import LOCK_FILE, PLAYGROUND_PACKAGES, list_core_file_urls

PAGE_FOLDER = Path(__file__).with_name("playground_page")
EXAMPLES_FOLDER = PAGE_FOLDER / "examples"
BUNDLE_FILE = "tapeview.js"
PAGE_DOMAIN = "playground"
"""The translation domain of the page's own messages. The page also shows the messages of the picture."""
PICTURE_DOMAIN = "picture"


def write_playground_pages(
    target_folder: Path, relative_python_folder: str, loader_url: str, language_codes: Iterable[str] = ()
) -> None:
    """Write the playground, with one page per language.

    Args:
        target_folder: The folder to write to.
        relative_python_folder: The folder that contains the lock file of the site's Python, relative to the page.
        loader_url: The URL of ``pyodide.mjs``.
        language_codes: The languages of the pages.
    """
    target_folder.mkdir(parents=True, exist_ok=True)
    available_packages = read_json(target_folder / relative_python_folder / LOCK_FILE)["packages"]
    packages = [name for name in PLAYGROUND_PACKAGES if name in available_packages]
    pages = {code: get_playground_file_name(code) for code in dict.fromkeys([ENGLISH, *language_codes])}
    base_config: JsonObject = {
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
            "config": format_script_json(config),
            "examples": format_script_json(examples),
        }
        page = read_text(PAGE_FOLDER / "index.html")
        for placeholder, text in texts.items():
            page = page.replace("{{" + placeholder + "}}", text)
        write_file(target_folder / name, page)
    write_file(target_folder / "playground.js", read_text(PAGE_FOLDER / "playground.js"))
    bundle: Any = hooks.front_end_bundle  # Most hooks are functions, but this hook is a path.
    write_file(target_folder / BUNDLE_FILE, read_text(bundle))


def get_playground_file_name(language_code: str) -> str:
    """Return the file name of the playground page in the given language.

    >>> get_playground_file_name("en"), get_playground_file_name("zh")
    ('index.html', 'zh.html')

    Args:
        language_code: The language. The English page is the index.
    """
    return f"{'index' if language_code == ENGLISH else language_code}.html"


def build_content_security_policy(loader_url: str) -> str:
    """Build the page's content security policy.

    A link may contain a program, and the reader can run this program. This policy restricts the program's network
    access to this site and Pyodide's server.

    >>> "connect-src 'self' blob: data: https://cdn.example;" in build_content_security_policy("https://cdn.example/pyodide.mjs")
    True
    >>> "connect-src 'self' blob: data:;" in build_content_security_policy("../pyodide/pyodide.mjs")
    True

    Args:
        loader_url: The URL of ``pyodide.mjs``.

    Returns:
        The policy, for a ``Content-Security-Policy`` element.
    """
    url_parts = urlsplit(loader_url)
    other_origin = f" {url_parts.scheme}://{url_parts.netloc}" if url_parts.netloc else ""
    connections = f"'self' blob: data:{other_origin}"
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' blob: data:; worker-src blob:; "
        "form-action 'none'; "
        f"script-src 'self' blob: 'unsafe-eval' 'wasm-unsafe-eval'{other_origin}; connect-src {connections};"
    )


def build_playground_example(program_path: Path, language_code: str = ENGLISH) -> JsonObject:
    """Build a playground example in a language.

    Args:
        program_path: The program file, whose first line is a comment with the title.
        language_code: The language of the comments and the picture.

    Returns:
        The title, the program, and the snapshot of the picture to show until Python has loaded.
    """
    program = read_text(program_path)
    for english, translated in load_translations(PAGE_DOMAIN, language_code).items():
        program = program.replace(f"# {english}\n", f"# {translated}\n")
    with use_language(language_code):
        snapshot = hooks.snapshot_program(program)
    return {"title": program.partition("\n")[0].lstrip("# "), "program": program, "snapshot": snapshot}
