"""An answer where explain itself failed, or of which only a word is known."""

from __future__ import annotations

from ..engine.backward.tape import GradientTape
from .caller import collect_asking_variables
from .cause_texts import TEXT
from .explanation import Explanation
from .translated_sentences import fill


def build_fallback_explanation(
    sentence_key: str, source: object, tape: GradientTape | None, detail: str = "", error: Exception | None = None
) -> Explanation:
    """Build an explanation from the sentences of a key, where nothing is known of the source but its name."""
    bound_names = (
        name for name, value in collect_asking_variables().items() if value is source and name.isidentifier()
    )
    own_name = getattr(source, "name", "")
    name = next(bound_names, "") or (own_name if isinstance(own_name, str) else "") or fill("the source")
    message, fix = (fill(text, x=name, what=detail, watched="") for text in TEXT[sentence_key])
    answer = Explanation(sentence_key.partition(" ")[0], message, fix)
    answer.name, answer._tape = name, tape
    if error is not None:
        answer.message += fill(
            " (explain failed with {error}; this is its best guess.)", error=f"{type(error).__name__}: {error}"
        )
    return answer


def explain_non_tensor_source(source: object, tape: GradientTape | None) -> Explanation:
    """Explain a source that is neither a tensor nor a variable."""
    is_layer = hasattr(source, "trainable") and hasattr(source, "value")
    kind = "layer" if is_layer else "model" if hasattr(source, "trainable_variables") else "plain"
    return build_fallback_explanation(f"wrong_object {kind}", source, tape, type(source).__name__)
