"""An answer where explain itself failed, or of which only a word is known."""

from __future__ import annotations

from ..engine.back.tape import GradientTape
from .caller import asking_names
from .sentences import fill
from .texts import TEXT
from .words import Explanation


def in_short(
    key: str, source: object, tape: GradientTape | None, what: str = "", error: Exception | None = None
) -> Explanation:
    """The sentences of a cause, or of a kind of it, where nothing is known but a name."""
    known = (name for name, value in asking_names().items() if value is source and name.isidentifier())
    given = getattr(source, "name", "")
    name = next(known, "") or (given if isinstance(given, str) else "") or fill("the source")
    message, fix = (fill(text, x=name, what=what, watched="") for text in TEXT[key])
    answer = Explanation(key.partition(" ")[0], message, fix)
    answer.name, answer._tape = name, tape
    if error is not None:
        answer.message += fill(
            " (explain failed with {error}; this is its best guess.)", error=f"{type(error).__name__}: {error}"
        )
    return answer


def no_tensor(source: object, tape: GradientTape | None) -> Explanation:
    """The words about a source that is neither a tensor nor a variable."""
    layer = hasattr(source, "trainable") and hasattr(source, "value")
    kind = "layer" if layer else "model" if hasattr(source, "trainable_variables") else "plain"
    return in_short(f"wrong_object {kind}", source, tape, type(source).__name__)
