"""Translate the texts of pictures and of the view's buttons into the language of the lessons.

``texts/picture.po`` contains the translations.
"""

from ..common.translation import join_sentences, load_translations, say
from ..engine.types import TextsByName

LESSON = "picture"


def translate(template: str, /, **values: object) -> str:
    """Translate a text of the picture into the language of the lessons.

    Args:
        template: The English text, with a placeholder in braces for each value.
        values: The values by placeholder. The value of ``n`` is a count, which is written with thousands separators.

    >>> translate("{n} rows", n=1003)
    '1,003 rows'
    """
    if "n" in values:
        values["n"] = f"{values['n']:,}"
    return join_sentences(say(template, LESSON, **values))


def build_browser_texts() -> dict[str, TextsByName]:
    """Return the translations of the browser's texts, as {"texts": {English: translation}}; {} in English."""
    texts = load_translations(LESSON)
    return {"texts": texts} if texts else {}
