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

from .read_data import NOTEBOOK, read_json, read_text

FOLDER = "texts"
CHECK = "check"
CLI = "cli"
ENGLISH = "en"
MOST = 20  # notebooks of a folder that are read for their language
CODE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]+)*")  # of a language


VARIABLES = ("MINITAPE_LANGUAGE", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
"""Of the environment: which language a user reads, the first one first."""
PACKAGE = Path(__file__).parent.parent
COURSE = (PACKAGE / "lessons", PACKAGE.parent / "notebooks")  # in an installed package; in the repository


def say(text: str, domain: str = CHECK, code: str | None = None, /, **values: object) -> str:
    """`text` in the language that is spoken here, or in that of a `code`, with `values` put in where it names them in
    braces.

    >>> say("right: {right} of {of}", right=2, of=3)
    'right: 2 of 3'
    """
    found = table(domain, code).get(text, text)
    return found.format(**values) if values else found


def table(domain: str, code: str | None = None) -> dict[str, str]:
    """English -> translation of one file, in the language that is spoken here or in that of a code; empty where there
    is no such file.
    """
    for course in COURSE:
        file = course / (code or language()) / FOLDER / f"{domain}.po"
        with suppress(OSError, ValueError):  # there is none of this name
            return _read(file, file.stat().st_mtime_ns)
    return {}


_ENTRY = re.compile(r"^msgid (.*?)^msgstr (.*)", re.MULTILINE | re.DOTALL)


@functools.lru_cache(32)
def _read(file: Path, changed: int) -> dict[str, str]:
    """The translations in a file, read once as long as it is not `changed`."""
    entries = (
        _ENTRY.search(entry)
        for entry in read_text(file).replace("\r", "").split("\n\n")
        if not re.search("^#,.*fuzzy", entry, re.MULTILINE)
    )
    pairs = (map(_joined, entry.groups()) for entry in entries if entry is not None)
    return {text: translation for text, translation in pairs if text and translation}


def _joined(lines: str) -> str:
    return "".join(json.loads(line, strict=False) for line in lines.split("\n") if line.startswith('"'))


def language(folder: Path | None = None) -> str:
    """The language that is spoken here, or that of the lessons in a folder, by its code.

    >>> language()
    'en'
    """
    if folder is not None:
        return lessons_language(folder) or ENGLISH
    with suppress(OSError):  # the current folder may be gone
        if not os.environ.get(VARIABLES[0]) and (found := lessons_language(Path.cwd())):
            return found
    return users_language()


def lessons_language(folder: Path) -> str | None:
    """The language of the lessons in a folder, which the metadata of a notebook name; None where there are none."""
    return _named_in(folder, folder.stat().st_mtime_ns) if folder.is_dir() else None


@functools.lru_cache(8)
def _named_in(folder: Path, changed: int) -> str | None:
    for path in sorted(folder.glob("*.ipynb"))[:MOST]:
        with suppress(OSError, ValueError, LookupError, TypeError):  # it is no notebook, or names none
            if CODE.fullmatch(code := read_json(path, NOTEBOOK)["metadata"]["language"]):
                return str(code)
    return None


def users_language() -> str:
    """The language among the course's own that the environment says its user reads, such as "fr_FR:zh_CN.UTF-8"; else
    English.
    """
    told = next(filter(None, map(os.environ.get, VARIABLES)), "") or _of_windows()
    codes = [re.split("[.@]", code)[0].replace("_", "-") for code in told.split(":")]
    known = (code for whole in codes for code in (whole, whole.partition("-")[0]) if CODE.fullmatch(code))
    return next((code for code in known if any((folder / code).is_dir() for folder in COURSE)), ENGLISH)


def _of_windows() -> str:
    """The language in which Windows itself speaks, such as "zh_CN"; "" elsewhere."""
    if sys.platform != "win32":
        return ""
    import ctypes
    import locale

    return locale.windows_locale.get(ctypes.windll.kernel32.GetUserDefaultUILanguage(), "")


_WIDE = "，。：；？！、（）"  # of full width: they bring their space with them
_SPARE = re.compile(rf"(?<=[{_WIDE}]) | (?=[{_WIDE}])|(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])")


def paragraph(*sentences: str) -> str:
    """Sentences one after the other, without the spaces that no text has beside signs of full width.

    >>> paragraph("No gradient passes.", "", "Leave it out."), paragraph("梯度过不去。", "去掉 x （第 3 行）。")
    ('No gradient passes. Leave it out.', '梯度过不去。去掉 x（第 3 行）。')
    """
    return _SPARE.sub("", " ".join(filter(None, sentences)))


def cut(text: str, most: int) -> str:
    """The beginning of a long text.

    >>> cut("abcdef", 3)
    'abc ...'
    """
    return text if len(text) <= most else text[:most] + " ..."
