"""Build an answer when explain itself has failed, or when only the source's name and type are known."""

from ..common.translation import format_error
from ..engine.backward.tape import GradientTape
from .caller import collect_asking_variables
from .causes import CAUSES
from .explanation import Explanation
from .translated_sentences import fill


def build_fallback_explanation(
    cause: str,
    source: object,
    tape: GradientTape | None,
    variant: str = "",
    detail: str = "",
    error: Exception | None = None,
) -> Explanation:
    """Build an explanation when nothing but the name of the source is known.

    Args:
        cause: The cause.
        source: The source of the gradient.
        tape: The tape, or None.
        variant: The variant of the cause's sentences to use.
        detail: The value to insert into the field ``what`` of the sentence, such as the name of a type.
        error: The error that made explain fail, if it failed. The message mentions this error.
    """
    bound_names = (
        name for name, value in collect_asking_variables().items() if value is source and name.isidentifier()
    )
    own_name = getattr(source, "name", "")
    if not isinstance(own_name, str):
        own_name = ""
    name = next(bound_names, "") or own_name or fill("the source")
    text = CAUSES[cause].get_text_or_default_variant("tape", variant)
    message, fix = (fill(template, x=name, what=detail, watched="") for template in (text.message, text.fix))
    answer = Explanation(cause, message, fix)
    answer.name = name
    answer._tape = tape
    if error is not None:
        answer.message += fill(
            " (This is only a guess, because explain failed with {error}.)", error=format_error(error)
        )
    return answer


def explain_non_tensor_source(source: object, tape: GradientTape | None) -> Explanation:
    """Build an explanation for a source that is neither a tensor nor a variable.

    Args:
        source: The source, such as a Keras variable or a model.
        tape: The tape, or None.
    """
    if hasattr(source, "trainable") and hasattr(source, "value"):
        variant = "layer"
    elif hasattr(source, "trainable_variables"):
        variant = "model"
    else:
        variant = "plain"
    return build_fallback_explanation("wrong_object", source, tape, variant, type(source).__name__)
