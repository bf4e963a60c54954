"""The words of minitape in another language.

The English texts are written where they are used: hints in a lesson's answer key, questions in its calls of
``predict``, the words of ``check``, of ``explain``, of the picture and of the command line. The lessons in another
language have a folder ``texts`` with gettext's files: one for each lesson, ``texts/01.po``, and one each for what
`check`, `explain`, the picture and the command line say. They are read as they are, nothing is compiled: what a
translator saves is said at once. What such a file does not have, or has marked as fuzzy, stays English.

Which language is spoken: that of the environment's ``MINITAPE_LANGUAGE``; else that of the lessons in the current
folder, which the metadata of their notebooks name; else that of the system.

``python -m tests.translate de`` begins a language in a copy of the repository, and keeps it in step.
"""

from __future__ import annotations

import functools
import json
import os
import re
import sys
from contextlib import suppress
from pathlib import Path

from .read_data import MAX_NOTEBOOK_SIZE, read_json, read_text

TEXTS_FOLDER = "texts"
CHECK = "check"
CLI = "cli"
ENGLISH = "en"
MAX_NOTEBOOKS = 20  # notebooks of a folder that are read for their language
LANGUAGE_CODE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]+)*")  # of a language


LANGUAGE_VARIABLES = ("MINITAPE_LANGUAGE", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
"""Of the environment: which language a user reads, the first one first."""
PACKAGE = Path(__file__).parent.parent
LESSON_FOLDERS = (PACKAGE / "lessons", PACKAGE.parent / "notebooks")  # in an installed package; in the repository


def say(text: str, domain: str = CHECK, code: str | None = None, /, **values: object) -> str:
    """`text` in the language that is spoken here, or in that of a `code`, with `values` put in where it names them in
    braces.

    >>> say("right: {right} of {of}", right=2, of=3)
    'right: 2 of 3'
    """
    template = load_translations(domain, code).get(text, text)
    return template.format(**values) if values else template


def load_translations(domain: str, language_code: str | None = None) -> dict[str, str]:
    """English -> translation of one file, in the language that is spoken here or in that of a code; empty where there
    is no such file.
    """
    for course in LESSON_FOLDERS:
        file = course / (language_code or detect_language()) / TEXTS_FOLDER / f"{domain}.po"
        with suppress(OSError, ValueError):  # there is none of this name
            return _read_translations(file, file.stat().st_mtime_ns)
    return {}


_ENTRY = re.compile(r"^msgid (.*?)^msgstr (.*)", re.MULTILINE | re.DOTALL)


@functools.lru_cache(32)
def _read_translations(file: Path, modified_at: int) -> dict[str, str]:
    """Return the translations in a file, read once for each time of change, `modified_at`."""
    entries = (
        _ENTRY.search(entry)
        for entry in read_text(file).replace("\r", "").split("\n\n")
        if not re.search("^#,.*fuzzy", entry, re.MULTILINE)
    )
    pairs = (map(_join_lines, entry.groups()) for entry in entries if entry is not None)
    return {text: translation for text, translation in pairs if text and translation}


def _join_lines(lines: str) -> str:
    return "".join(json.loads(line, strict=False) for line in lines.split("\n") if line.startswith('"'))


def detect_language(folder: Path | None = None) -> str:
    """The language that is spoken here, or that of the lessons in a folder, by its code.

    >>> detect_language()
    'en'
    """
    if folder is not None:
        return find_lessons_language(folder) or ENGLISH
    with suppress(OSError):  # the current folder may be gone
        if not os.environ.get(LANGUAGE_VARIABLES[0]) and (lessons_code := find_lessons_language(Path.cwd())):
            return lessons_code
    return find_user_language()


def find_lessons_language(folder: Path) -> str | None:
    """The language of the lessons in a folder, which the metadata of a notebook name; None where there are none."""
    return _read_notebook_language(folder, folder.stat().st_mtime_ns) if folder.is_dir() else None


@functools.lru_cache(8)
def _read_notebook_language(folder: Path, modified_at: int) -> str | None:
    for path in sorted(folder.glob("*.ipynb"))[:MAX_NOTEBOOKS]:
        with suppress(OSError, ValueError, LookupError, TypeError):  # it is no notebook, or names none
            if LANGUAGE_CODE.fullmatch(code := read_json(path, MAX_NOTEBOOK_SIZE)["metadata"]["language"]):
                return str(code)
    return None


def find_user_language() -> str:
    """The language among the course's own that the environment says its user reads, such as "fr_FR:zh_CN.UTF-8"; else
    English.
    """
    setting = next(filter(None, map(os.environ.get, LANGUAGE_VARIABLES)), "") or _find_windows_language()
    codes = [re.split("[.@]", code)[0].replace("_", "-") for code in setting.split(":")]
    candidates = (
        code
        for full_code in codes
        for code in (full_code, full_code.partition("-")[0])
        if LANGUAGE_CODE.fullmatch(code)
    )
    return next((code for code in candidates if any((folder / code).is_dir() for folder in LESSON_FOLDERS)), ENGLISH)


def _find_windows_language() -> str:
    """The language in which Windows itself speaks, such as "zh_CN"; "" elsewhere."""
    if sys.platform != "win32":
        return ""
    import ctypes
    import locale

    return locale.windows_locale.get(ctypes.windll.kernel32.GetUserDefaultUILanguage(), "")


_FULL_WIDTH_SIGNS = "，。：；？！、（）"  # of full width: they bring their space with them
_SUPERFLUOUS_SPACE = re.compile(
    rf"(?<=[{_FULL_WIDTH_SIGNS}]) | (?=[{_FULL_WIDTH_SIGNS}])|(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])"
)


def join_sentences(*sentences: str) -> str:
    """Join sentences, one after the other, without the spaces that no text has beside signs of full width.

    >>> join_sentences("No gradient passes.", "", "Leave it out.")
    'No gradient passes. Leave it out.'
    >>> join_sentences("梯度过不去。", "去掉 x （第 3 行）。")
    '梯度过不去。去掉 x（第 3 行）。'
    """
    return _SUPERFLUOUS_SPACE.sub("", " ".join(filter(None, sentences)))


def truncate_text(text: str, limit: int) -> str:
    """Cut a long text off after ``limit`` characters.

    >>> truncate_text("abcdef", 3)
    'abc ...'
    """
    return text if len(text) <= limit else text[:limit] + " ..."
