"""Narrow hints like "A: ... B: ..." to the part of an answer that is wrong."""

import re
from contextlib import suppress

from ..common.translation import join_sentences
from .exercise import Answer, Exercise

LABEL = r"[^.?。？:：]{1,20}[:：]"
PIECE = re.compile(rf"(?:^|(?<=[.?] )|(?<=[。？])){LABEL}.*?[.?。？](?= ?{LABEL}|$)")


def narrow_hint_to_wrong_part(hint: str, exercise: Exercise, answer: Answer) -> str:
    """Shorten a hint that covers all parts of an answer to the first wrong part.

    Args:
        hint: The hint. It may contain one labeled piece for each part, in order.
        exercise: The exercise.
        answer: The wrong answer.

    Returns:
        The text before the pieces, and the piece about the wrong part. Any other hint is returned unchanged.
    """
    pieces = PIECE.findall(hint)
    expected = exercise.expect
    # The hint may have more or fewer pieces than parts, and the answer may lack these parts.
    with suppress(LookupError, TypeError, ValueError):
        places = expected if isinstance(expected, dict) else range(len(expected))
        # The dictionary counts all pieces before the first part is compared.
        for place, piece in dict(zip(places, pieces, strict=True)).items():
            if not exercise.is_same(answer[place], expected[place]):
                return join_sentences(hint[: hint.index(pieces[0])].strip(), piece)
    return hint
