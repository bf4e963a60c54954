"""Translate minitape's texts into the language of the user.

The English texts are in the code that uses them. A lesson's answer key contains its hints, and its calls of ``predict``
contain its questions. The other texts belong to ``check``, ``explain``, the picture and the command line.

The lessons in another language have a folder ``texts`` with gettext files. There is a file for each lesson, such as
``texts/01.po``, and a file each for ``check``, ``explain``, the picture and the command line. The files are read
directly, without compiling, so a translator's change takes effect at once. A text that a file lacks, or marks as fuzzy,
stays English.

The language is the first of these:

* the language in the environment variable ``MINITAPE_LANGUAGE``,
* the language of the lessons in the current folder, which the metadata of their notebooks names,
* the language of the system.

``python -m tests.translate de`` starts a language in a copy of the repository, and keeps it up to date.
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
# To find the language of a folder, only this many of its notebooks are read.
MAX_NOTEBOOKS = 20
LANGUAGE_CODE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]+)*")

# These environment variables name the user's language. The first one that is set counts.
LANGUAGE_VARIABLES = ("MINITAPE_LANGUAGE", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
PACKAGE = Path(__file__).parent.parent
# An installed package has the lessons in the first folder, and the repository has them in the second one.
LESSON_FOLDERS = (PACKAGE / "lessons", PACKAGE.parent / "notebooks")


def say(text: str, domain: str = CHECK, code: str | None = None, /, **values: object) -> str:
    """Return a text in the user's language, with values filled in.

    Args:
        text: The English text, with the names of the values in braces.
        domain: The file that contains the translation, without its suffix.
        code: The code of another language; None means the user's language.
        **values: The values.

    Returns:
        The translation, or the English text if the file does not contain one.

    >>> say("right: {right} of {of}", right=2, of=3)
    'right: 2 of 3'
    """
    template = load_translations(domain, code).get(text, text)
    return template.format(**values) if values else template


def load_translations(domain: str, language_code: str | None = None) -> dict[str, str]:
    """Return the translations in one file.

    Args:
        domain: The name of the file, without its suffix.
        language_code: The code of the language; None means the user's language.

    Returns:
        The translations by their English texts. Empty if the language does not have the file.
    """
    for course in LESSON_FOLDERS:
        file = course / (language_code or detect_language()) / TEXTS_FOLDER / f"{domain}.po"
        # The language may not have this file.
        with suppress(OSError, ValueError):
            return _read_translations(file, file.stat().st_mtime_ns)
    return {}


_ENTRY = re.compile(r"^msgid (.*?)^msgstr (.*)", re.MULTILINE | re.DOTALL)


@functools.lru_cache(32)
def _read_translations(file: Path, modified_at: int) -> dict[str, str]:
    """Return the translations in a file, which is read again if its time `modified_at` changes."""
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
    """Return the code of the user's language, or of the language of the lessons in a folder.

    Args:
        folder: A folder of lessons; None means the user's language.

    Returns:
        The code. It is "en" for a folder without lessons that name a language.

    >>> detect_language()
    'en'
    """
    if folder is not None:
        return find_lessons_language(folder) or ENGLISH
    # The current folder may have been deleted.
    with suppress(OSError):
        if not os.environ.get(LANGUAGE_VARIABLES[0]) and (lessons_code := find_lessons_language(Path.cwd())):
            return lessons_code
    return find_user_language()


def find_lessons_language(folder: Path) -> str | None:
    """Find the language of the lessons in a folder, which the metadata of a notebook names.

    Args:
        folder: The folder.

    Returns:
        The code of the language, or None if no notebook names one.
    """
    return _read_notebook_language(folder, folder.stat().st_mtime_ns) if folder.is_dir() else None


@functools.lru_cache(8)
def _read_notebook_language(folder: Path, modified_at: int) -> str | None:
    for path in sorted(folder.glob("*.ipynb"))[:MAX_NOTEBOOKS]:
        # The file may not be a notebook, or it may not name its language.
        with suppress(OSError, ValueError, LookupError, TypeError):
            if LANGUAGE_CODE.fullmatch(code := read_json(path, MAX_NOTEBOOK_SIZE)["metadata"]["language"]):
                return str(code)
    return None


def find_user_language() -> str:
    """Return the code of the language that the user's environment names, such as "fr_FR:zh_CN.UTF-8".

    Languages without lessons are skipped. The default is English.
    """
    setting = next(filter(None, map(os.environ.get, LANGUAGE_VARIABLES)), "") or _find_windows_language()
    codes = [re.split("[.@]", code)[0].replace("_", "-") for code in setting.split(":")]
    candidates = (
        code
        for full_code in codes
        for code in (full_code, full_code.partition("-")[0])
        if LANGUAGE_CODE.fullmatch(code)
    )
    for code in candidates:
        if any((folder / code).is_dir() for folder in LESSON_FOLDERS):
            return code
    return ENGLISH


def _find_windows_language() -> str:
    """Return the language of the Windows user interface, such as "zh_CN"; "" on other systems."""
    if sys.platform != "win32":
        return ""
    import ctypes
    import locale

    return locale.windows_locale.get(ctypes.windll.kernel32.GetUserDefaultUILanguage(), "")


# Full-width punctuation contains its own space, so no space is needed next to it.
_FULL_WIDTH_SIGNS = "，。：；？！、（）"
_SUPERFLUOUS_SPACE = re.compile(
    rf"(?<=[{_FULL_WIDTH_SIGNS}]) | (?=[{_FULL_WIDTH_SIGNS}])|(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])"
)


def join_sentences(*sentences: str) -> str:
    """Join sentences with spaces, but without spaces next to full-width punctuation.

    Args:
        *sentences: The sentences. Empty ones are left out.

    >>> join_sentences("No gradient passes.", "", "Leave it out.")
    'No gradient passes. Leave it out.'
    >>> join_sentences("梯度过不去。", "去掉 x （第 3 行）。")
    '梯度过不去。去掉 x（第 3 行）。'
    """
    return _SUPERFLUOUS_SPACE.sub("", " ".join(filter(None, sentences)))


def truncate_text(text: str, limit: int) -> str:
    """Shorten a long text to ``limit`` characters, followed by " ...".

    Args:
        text: The text.
        limit: The largest number of characters to keep.

    >>> truncate_text("abcdef", 3)
    'abc ...'
    """
    return text if len(text) <= limit else text[:limit] + " ..."
