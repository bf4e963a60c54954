"""Translate minitape's messages into the user's language.

The English messages are written in the code that uses them. A lesson's hints are in its answer key, and its questions
are in its calls to ``predict``. All other messages belong to ``check``, ``explain``, the picture and the command line.

Lessons in other languages have a ``texts`` folder with gettext files: one for each lesson, such as
``texts/01.po``, and one each for ``check``, ``explain``, the picture and the command line. The files are not compiled,
so a translator's changes take effect immediately. Messages whose translation is missing or marked as fuzzy are shown in
English.

The first available source determines the language:

* the environment variable ``MINITAPE_LANGUAGE``,
* the metadata of the lessons in the current folder,
* the system's language.

In a checkout of the repository, ``python -m tests.translate de`` adds a language and keeps its files up to date.
"""

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from os import environ
from pathlib import Path

from .read_data import MAX_NOTEBOOK_SIZE, read_json, read_text
from .shared_results import get_or_build_shared_result

TEXTS_FOLDER = "texts"
CHECK = "check"
CLI = "cli"
ENGLISH = "en"
# At most this many notebooks are read to determine a folder's language.
MAX_NOTEBOOKS = 20
LANGUAGE_CODE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]+)*")

# These environment variables may name the user's language. The first variable that is set takes precedence.
LANGUAGE_VARIABLES = ("MINITAPE_LANGUAGE", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
PACKAGE = Path(__file__).parent.parent
# The lessons are in the first folder in an installed package, and in the second folder in the repository.
LESSON_FOLDERS = (PACKAGE / "lessons", PACKAGE.parent / "notebooks")


def say(text: str, domain: str = CHECK, code: str | None = None, /, **values: object) -> str:
    """Translate a message into the user's language and insert values.

    Args:
        text: The English text, with the names of values in braces.
        domain: The name of the translation file, without its suffix.
        code: The code of a language, or None for the user's language.
        **values: The values to insert.

    Returns:
        The translation, or the English text if the file has no translation or the terminal cannot show the user's
        language.

    >>> say("right: {right} of {of}", right=2, of=3)
    'right: 2 of 3'
    """
    template = load_translations(domain, code).get(text, text)
    if code is None and not template.isascii() and _replace_unprintable_characters(template) != template:
        template = text
    return template.format(**values) if values else template


def print_text(text: object) -> None:
    """Print text on any terminal. Characters that the terminal cannot show are replaced with escapes.

    Args:
        text: The text, or an object that is shown as text.
    """
    print(_replace_unprintable_characters(str(text)))


def _replace_unprintable_characters(text: str) -> str:
    """Replace the characters that standard output cannot encode with escapes."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def load_translations(domain: str, language_code: str | None = None) -> dict[str, str]:
    """Return all translations in a file.

    Args:
        domain: The name of the file, without its suffix.
        language_code: The code of a language, or None for the user's language.

    Returns:
        A dictionary that maps English messages to translations. It is empty if the language has no such file.
    """
    return get_or_build_shared_result(
        ("translations", domain, language_code), lambda: _find_translations(domain, language_code)
    )


def _find_translations(domain: str, language_code: str | None) -> dict[str, str]:
    code = language_code or detect_language()
    for course in LESSON_FOLDERS:
        file = course / code / TEXTS_FOLDER / f"{domain}.po"
        # The language may not have this file.
        with suppress(OSError, ValueError):
            return _read_translations(file, file.stat().st_mtime_ns)
    return {}


_ENTRY = re.compile(r"^msgid (.*?)^msgstr (.*)", re.MULTILINE | re.DOTALL)


@lru_cache(32)
def _read_translations(file: Path, modified_at: int) -> dict[str, str]:
    """Return the translations in a file. The file is reread when its modification time changes."""
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
    """Return the code of the user's language, or the language of the lessons in a folder.

    Args:
        folder: A folder with lessons, or None for the user's language.

    Returns:
        The language code. If the lessons in the folder do not specify a language, the code is "en".

    >>> detect_language()
    'en'
    """
    if folder is not None:
        return find_lessons_language(folder) or ENGLISH
    # The current folder may have been deleted.
    with suppress(OSError):
        if not environ.get(LANGUAGE_VARIABLES[0]) and (lessons_code := find_lessons_language(Path.cwd())):
            return lessons_code
    return find_user_language()


def find_lessons_language(folder: Path) -> str | None:
    """Find the language of the lessons in a folder from their notebooks' metadata.

    Args:
        folder: The folder.

    Returns:
        The language code, or None if no notebook specifies a language.
    """
    return _read_notebook_language(folder, folder.stat().st_mtime_ns) if folder.is_dir() else None


@lru_cache(8)
def _read_notebook_language(folder: Path, modified_at: int) -> str | None:
    for path in sorted(folder.glob("*.ipynb"))[:MAX_NOTEBOOKS]:
        # The file may not be a notebook or may not specify its language.
        with suppress(OSError, ValueError, LookupError, TypeError):
            if LANGUAGE_CODE.fullmatch(code := read_json(path, MAX_NOTEBOOK_SIZE)["metadata"]["language"]):
                return str(code)
    return None


def find_user_language() -> str:
    """Return the language code from the user's environment, such as "fr_FR:zh_CN.UTF-8".

    Languages without lessons are skipped. The default is English.
    """
    setting = next(filter(None, map(environ.get, LANGUAGE_VARIABLES)), "") or _find_windows_language()
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
    """Return the language of the Windows user interface, such as "zh_CN", or "" on other systems."""
    if sys.platform != "win32":
        return ""
    import ctypes
    import locale

    return locale.windows_locale.get(ctypes.windll.kernel32.GetUserDefaultUILanguage(), "")


# Full-width punctuation includes spacing, so no space is needed next to it.
_FULL_WIDTH_SIGNS = "，。：；？！、（）"
_SUPERFLUOUS_SPACE = re.compile(
    rf"(?<=[{_FULL_WIDTH_SIGNS}]) | (?=[{_FULL_WIDTH_SIGNS}])|(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])"
)


@contextmanager
def use_language(language_code: str) -> Iterator[None]:
    """Set the language of all messages while the block runs.

    Args:
        language_code: The code, such as "zh".
    """
    previous_code = environ.get(LANGUAGE_VARIABLES[0], "")
    environ[LANGUAGE_VARIABLES[0]] = language_code
    try:
        yield
    finally:
        environ[LANGUAGE_VARIABLES[0]] = previous_code


def join_sentences(*sentences: str) -> str:
    """Join sentences with spaces, except next to full-width punctuation.

    Args:
        *sentences: The sentences. Empty sentences are skipped.

    Returns:
        The sentences as one text.

    >>> join_sentences("No gradient passes.", "", "Leave it out.")
    'No gradient passes. Leave it out.'
    >>> join_sentences("梯度过不去。", "去掉 x （第 3 行）。")
    '梯度过不去。去掉 x（第 3 行）。'
    """
    return _SUPERFLUOUS_SPACE.sub("", " ".join(filter(None, sentences)))


def truncate_text(text: str, limit: int) -> str:
    """Shorten long text to ``limit`` characters and append " ...".

    Args:
        text: The text.
        limit: The maximum number of characters to keep.

    Returns:
        The shortened text, or the whole text if it is short enough.

    >>> truncate_text("abcdef", 3)
    'abc ...'
    """
    return text if len(text) <= limit else text[:limit] + " ..."


def format_error(error: BaseException) -> str:
    """Return the class and the message of an error, as Python prints them.

    >>> format_error(ValueError("no rows"))
    'ValueError: no rows'
    """
    return f"{type(error).__name__}: {error}"
