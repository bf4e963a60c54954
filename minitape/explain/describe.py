"""An answer where explain itself failed, or of which only a word is known."""

from __future__ import annotations

from ..common.texts import paragraph
from ..engine.back.tape import GradientTape
from .caller import asking_names
from .sentences import fill
from .texts import TEXT
from .words import Explanation, not_all


def in_short(
    cause: str, what: str, source: object, tape: GradientTape | None, error: Exception | None = None
) -> Explanation:
    """The words for a cause of which only ``what`` is known: of what is no tensor, or where explain itself failed."""
    name = next((name for name, value in asking_names().items() if value is source), "") or fill("the source")
    fields = dict.fromkeys(
        ("line", "code", "instead", "used", "function", "watched", "values", "functions", "other"), ""
    )
    message, fix = (fill(text, x=name, **{**fields, "what": what or fill("the value")}) for text in TEXT[cause])
    answer = Explanation(cause, message, fix)
    answer.name, answer._tape = name, tape
    if error is not None:
        answer.message += fill(
            " (explain failed with {error}; this is its best guess.)", error=f"{type(error).__name__}: {error}"
        )
    elif cause not in ("connected", "independent"):
        answer.fix = paragraph(answer.fix, not_all(answer))
    return answer
