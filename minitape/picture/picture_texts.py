"""The words of the picture in the language of the lessons: ``texts/picture.po`` has the translations, also those of
the view's buttons.
"""

from __future__ import annotations

from ..common.translation import join_sentences, load_translations, say

LESSON = "picture"


def translate(template: str, /, **values: object) -> str:
    """Return a text of the picture with its values; ``n`` is how many there are.

    >>> translate("{n} rows", n=1003)
    '1,003 rows'
    """
    if "n" in values:
        values["n"] = f"{values['n']:,}"
    return join_sentences(say(template, LESSON, **values))


def build_browser_texts() -> dict[str, dict[str, str]]:
    """Return the translated texts for the browser, as {"texts": ...}; {} in English."""
    texts = load_translations(LESSON)
    return {"texts": texts} if texts else {}
