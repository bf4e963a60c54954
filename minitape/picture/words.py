"""The words of the picture in the language of the lessons: ``texts/picture.po`` has the translations, also those of
the view's buttons.
"""

from __future__ import annotations

from ..common.texts import paragraph, say, table

LESSON = "picture"


def word(template: str, /, **values: object) -> str:
    """A text of the picture with its values; ``n`` is how many there are.

    >>> word("{n} rows", n=1003)
    '1,003 rows'
    """
    if "n" in values:
        values["n"] = f"{values['n']:,}"
    return paragraph(say(template, LESSON, **values))


def browser_texts() -> dict[str, dict[str, str]]:
    """The translated texts for the browser, as {"texts": ...}; {} in English."""
    texts = table(LESSON)
    return {"texts": texts} if texts else {}
