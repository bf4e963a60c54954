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
    known = (name for name, value in asking_names().items() if value is source and name.isidentifier())
    given = getattr(source, "name", "")
    name = next(known, "") or (given if isinstance(given, str) else "") or fill("the source")
    fields = dict.fromkeys(
        ("line", "code", "instead", "used", "function", "watched", "values", "functions", "other"), ""
    )
    kind, plain = _kind(cause, what, source)
    sentences = TEXT.get(f"{cause} {kind}") or TEXT[cause]
    message, fix = (fill(text, x=name, **{**fields, "what": plain or fill("the value")}) for text in sentences)
    answer = Explanation(cause, message, fix)
    answer.name, answer._tape = name, tape
    if error is not None:
        answer.message += fill(
            " (explain failed with {error}; this is its best guess.)", error=f"{type(error).__name__}: {error}"
        )
    elif cause not in ("connected", "independent"):
        answer.fix = paragraph(answer.fix, not_all(answer))
    return answer


def _kind(cause: str, what: str, source: object) -> tuple[str, str]:
    """The kind of what is neither a tensor nor a variable, and what it is."""
    if what.startswith("the target is"):
        return "target", fill("a plain {kind}", kind=what.rpartition(" ")[2])
    if cause == "wrong_object":
        if hasattr(source, "trainable") and hasattr(source, "value"):
            return "layer", what
        return "model" if hasattr(source, "trainable_variables") else "plain", what
    return "None" if what == "None" else "", what
