"""The words of a lesson in another language: one file per lesson, and no change in code.

The English texts stand where they are used: hints in a lesson's answer key, questions in its calls of ``predict``, the words of
``check`` in this package. A folder of lessons in another language has a folder ``texts`` with a file for each lesson,
``texts/01.json``, and ``texts/feedback.json`` for what all lessons say. Each maps an English text to its translation. What
such a file does not have stays English, and so do the words by which ``minitape check`` and ``minitape class`` read a saved
notebook: "Exercise 01.1: correct.", "given:", "Hint:".

``python -m minitape.course.translation 01_the_first_tape.ipynb`` prints such a file with empty translations.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from string import Formatter

from ..engine.read_data import read_json

LONGEST = 200  # of a text in a warning
FOLDER = "texts"
FEEDBACK = "feedback"


def say(text: str, /, lesson: str = FEEDBACK, **values: object) -> str:
    """`text` in the language of the lessons in the current folder, with `values` put in where it names them in braces.

    >>> say("right: {right} of {of}", right=2, of=3)
    'right: 2 of 3'
    """
    found = _translations(lesson).get(text) or text
    if values and found is not text and not _fields(found) <= _fields(text):
        warnings.warn(f"A translation names other values than the English text, which is shown: {found[:LONGEST]!r}", stacklevel=2)
        found = text
    return found.format(**values) if values else found


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


def _translations(lesson: str) -> dict[str, str]:
    """English -> translation, for one lesson; nothing where there is no such file. A file that cannot be read is warned of."""
    if Path(lesson).name != lesson:  # it leads to another folder
        return {}
    file = Path(FOLDER, f"{lesson}.json")
    try:
        texts = read_json(file)
        if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
            raise ValueError("it maps no texts to texts")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        warnings.warn(f"{file} cannot be read, so its texts stay English: {error}", stacklevel=3)
        return {}
    return texts
