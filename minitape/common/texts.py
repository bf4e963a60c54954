"""The words of a lesson in another language: one file per lesson, and no change in code.

The English texts stand where they are used: hints in a lesson's answer key, questions in its calls of ``predict``, the
words of ``check``, of ``explain`` and of the picture. A folder of lessons in another language has a folder ``texts``
with a file for each lesson, ``texts/01.json``, one for what all lessons say, ``texts/feedback.json``, one for the words
in their plots, ``texts/labels.json``, and one for the pages of a site, ``texts/pages.json``. Each maps an English text
to its translation. What such a file does not have stays English. A key with names in braces stands for the finished
texts, too: where a lesson draws ``f"step {n}"``, the key "step {n}" is found for "step 3".

Which language is spoken: that of the environment's ``MINITAPE_LANGUAGE``; else that of the lessons in the current
folder; else, where there are none, that of the system, in the words of the course's own lessons.

``minitape new-language de`` makes such a folder with empty translations, and keeps it in step.
"""

from __future__ import annotations

import functools
import os
import re
import sys
import warnings
from pathlib import Path
from string import Formatter

from .read_data import read_json

LONGEST = 200  # of a text in a warning
FOLDER = "texts"
FEEDBACK = "feedback"
LABELS = "labels"
PAGES = "pages"
ENGLISH = "en"
CODE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]+)*")  # of a language


VARIABLES = ("MINITAPE_LANGUAGE", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
"""Of the environment: which language a user reads, the first one first."""
PACKAGE = Path(__file__).parent.parent
COURSE = (PACKAGE / "lessons", PACKAGE.parent / "notebooks")  # in an installed package; in the repository


def say(text: str, lesson: str = FEEDBACK, folder: Path | None = None, /, **values: object) -> str:
    """`text` in the language that is spoken here, or in that of the lessons in a `folder`, with `values` put in where
    it names them in braces.

    >>> say("right: {right} of {of}", right=2, of=3)
    'right: 2 of 3'
    """
    texts = table(lesson, folder)
    found = texts.get(text) or text if values else look_up(text, texts)
    if values and found is not text and not _fields(found) <= _fields(text):
        warnings.warn(
            f"A translation names other values than the English text, which is shown: {found[:LONGEST]!r}", stacklevel=2
        )
        found = text
    return found.format(**values) if values else found


def language(folder: Path | None = None) -> str:
    """The language that is spoken here, or that of the lessons in a folder, by its code: what their table has for "en".

    >>> language()
    'en'
    """
    told = table(FEEDBACK, folder).get(ENGLISH, "")
    return told if CODE.fullmatch(told) else ENGLISH


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


def _spoken() -> Path:
    """The folder of lessons whose language is spoken in the current folder."""
    asked = os.environ.get(VARIABLES[0])
    if not asked and (Path(FOLDER).is_dir() or users_language() == ENGLISH or _has_lessons(Path.cwd())):
        return Path()
    return next((folder for folder in COURSE if folder.is_dir()), Path()) / users_language()


@functools.lru_cache(8)
def _has_lessons(folder: Path) -> bool:
    """Whether the course's lessons were copied to a folder."""
    return any((folder / path.name).exists() for course in COURSE for path in (course / ENGLISH).glob("*.ipynb"))


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


def _fields(text: str) -> set[tuple[str, str | None, str | None]]:
    """The values that a text names in braces, and how it shows them: an attribute, or another width, is another one.

    >>> _fields("right: {right} of {of}") == _fields("{of}, davon richtig: {right}")
    True
    >>> _fields("{right.__class__}") == _fields("{right:>9999999}") == _fields("{right}")
    False
    """
    try:
        return {(name, form, how) for _, name, form, how in Formatter().parse(text) if name is not None}
    except ValueError:  # braces that do not fit
        return {("", None, None)}


def look_up(text: str, texts: dict[str, str]) -> str:
    """The translation of a text in a table; the text itself where it has none."""
    return texts.get(text) or _match(text, texts) or text


def _match(text: str, texts: dict[str, str]) -> str | None:
    """The translation of a finished text, by the key with braces that it was made from. A value may have a translation,
    too.

    >>> _match("step 3 of 10", {"step {n} of {all}": "{all} 步中的第 {n} 步"})
    '10 步中的第 3 步'
    >>> _match("new: apple", {"new: {kind}": "新的：{kind}", "apple": "苹果"})
    '新的：苹果'
    """
    for key, translation in texts.items():
        match = (
            _pattern(key).fullmatch(text)
            if "{" in key and translation and any(before for before, _ in _parts(key))
            else None
        )
        if match is not None:
            values = {name: look_up(match[group], texts) for name, group in _groups(key).items()}
            if all(name is None or name in values for _, name in _parts(translation)):
                return "".join(before + (values[name] if name else "") for before, name in _parts(translation))
    return None


@functools.cache
def _pattern(key: str) -> re.Pattern[str]:
    """What a text looks like that is made from a key: each name in braces is some text, the same wherever it stands
    again.
    """
    pattern, groups, met = "", _groups(key), set[str]()
    for before, name in _parts(key):
        pattern += re.escape(before)
        if name is not None:
            pattern += f"(?P={groups[name]})" if name in met else f"(?P<{groups[name]}>.+?)"
            met.add(name)
    return re.compile(pattern, re.DOTALL)


def _groups(key: str) -> dict[str, str]:
    """The names in braces, which may be expressions, each with a name that a pattern can have."""
    return {name: f"v{i}" for i, name in enumerate(dict.fromkeys(name for _, name in _parts(key) if name is not None))}


@functools.cache
def _parts(text: str) -> list[tuple[str, str | None]]:
    """A text as what comes before each name in braces and the name; how it is shown is left out. One part where braces
    do not fit.
    """
    try:
        return [(before, name) for before, name, _, _ in Formatter().parse(text)]
    except ValueError:
        return [(text, None)]


def table(lesson: str, folder: Path | None = None) -> dict[str, str]:
    """English -> translation for one lesson, in the language that is spoken here or in that of a folder; empty if
    there is no such file. Warns of a file that cannot be read.
    """
    if Path(lesson).name != lesson:  # it leads to another folder
        return {}
    file = (_spoken() if folder is None else folder) / FOLDER / f"{lesson}.json"
    try:
        return _read(file.absolute(), file.stat().st_mtime_ns)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        warnings.warn(f"{file} cannot be read, so its texts stay English: {error}", stacklevel=3)
        return {}


@functools.lru_cache(32)
def _read(file: Path, changed: int) -> dict[str, str]:
    """The texts of a file, read once as long as it is not `changed`."""
    texts = read_json(file)
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise ValueError("it maps no texts to texts")
    return texts
