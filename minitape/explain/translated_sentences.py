"""Every sentence of an answer is filled in here, in the language of the lessons: ``texts/explain.po`` has the
translations.

What is given to `fill` is in English where it is used: causes and what fixes them in :mod:`cause_texts`
and :mod:`value_texts`, and what an answer says beside them in the call itself.
"""

from __future__ import annotations

from ..common.translation import join_sentences, say

LESSON = "explain"


def fill(template: str, /, **values: object) -> str:
    """A sentence, or a part of one, with its values.

    >>> fill("{file}, line {line}", file="train.py", line=3)
    'train.py, line 3'
    """
    return join_sentences(say(template, LESSON, **values))


def format_range(low: float, high: float, number_format: str) -> str:
    """A range of numbers, or the one number that it is."""
    texts = [format(low, number_format), format(high, number_format)]
    return texts[0] if texts[0] == texts[1] else fill("{low} to {high}", low=texts[0], high=texts[1])
