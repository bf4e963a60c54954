"""Every sentence of an answer is filled in here, in the language of the lessons: ``texts/explain.po`` has the
translations.

What is given to `fill` is in English where it is used: causes and what fixes them in :mod:`texts` and
:mod:`value_texts`, and what an answer says beside them in the call itself.
"""

from __future__ import annotations

from ..common.texts import paragraph, say

LESSON = "explain"


def fill(template: str, /, **values: object) -> str:
    """A sentence, or a part of one, with its values.

    >>> fill("{file}, line {line}", file="train.py", line=3)
    'train.py, line 3'
    """
    return paragraph(say(template, LESSON, **values))


def between(low: float, high: float, form: str) -> str:
    """A range of numbers, or the one number that it is."""
    texts = [format(low, form), format(high, form)]
    return texts[0] if texts[0] == texts[1] else fill("{low} to {high}", low=texts[0], high=texts[1])
