"""Fill in every sentence of an answer, in the language of the lessons.

The templates are in English: the sentences of causes are in their records (:mod:`causes`), and all others in the call
of `fill`. Their translations are in ``texts/explain.po``.
"""

from __future__ import annotations

from ..common.translation import join_sentences, say

LESSON = "explain"
UNNAMED_TENSOR, UNNAMED_ARRAY = "the tensor", "the array"  # They stand for objects that have no name.


def fill(template: str, /, **values: object) -> str:
    """Translate a template and fill in its values.

    Args:
        template: A sentence or a part of a sentence, in English, with fields in braces.
        **values: The values of the fields.

    >>> fill("{file}, line {line}", file="train.py", line=3)
    'train.py, line 3'
    """
    return join_sentences(say(template, LESSON, **values))


def format_range(low: float, high: float, number_format: str) -> str:
    """Return a range of numbers as text; a single number if both ends look the same.

    Args:
        low: The lower end.
        high: The upper end.
        number_format: The format of both numbers, such as ".4g".
    """
    texts = [format(low, number_format), format(high, number_format)]
    return texts[0] if texts[0] == texts[1] else fill("{low} to {high}", low=texts[0], high=texts[1])
