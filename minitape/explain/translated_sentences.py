"""Translate the sentences of answers into the language of the lessons, and fill in their values.

The templates are in English. The records of causes (:mod:`causes`) contain their own sentences, and all other templates
are in calls to `fill`. Their translations are in ``texts/explain.po``.
"""

from ..common.translation import join_sentences, say

LESSON = "explain"
UNNAMED_TENSOR, UNNAMED_ARRAY = "the tensor", "the array"  # Texts for objects without a name.


def fill(template: str, /, **values: object) -> str:
    """Translate a template and fill in its values.

    Args:
        template: An English sentence or phrase, with fields in braces.
        **values: The values of the fields.

    >>> fill("{file}, line {line}", file="train.py", line=3)
    'train.py, line 3'
    """
    return join_sentences(say(template, LESSON, **values))


def format_range(low: float, high: float, number_format: str) -> str:
    """Format a range of numbers, or a single number if both ends look the same.

    Args:
        low: The lower end.
        high: The upper end.
        number_format: The format of both numbers, such as ".4g".
    """
    texts = [format(low, number_format), format(high, number_format)]
    return texts[0] if texts[0] == texts[1] else fill("{low} to {high}", low=texts[0], high=texts[1])
