"""A finding as what the user reads: the words, and what is to be said of a gradient that is there."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from ..common.texts import paragraph
from ..recording.bodies import INTO
from ..recording.nodes import Break
from .causes import row_of
from .fixes.tape import of_break, of_value
from .inquiry import merge
from .replay import EAGERLY
from .sentences import fill
from .source_names import name_of
from .tape_why import TapeQuestion
from .words import AT_SOURCE, Explanation, in_words, mistaken, not_all, say_unwatched, words_alone
from .wrong import wrong
from .zero_or_nan import arrived

if TYPE_CHECKING:
    from ..engine.back.tape import GradientTape
    from ..engine.types import End
    from .inquiry import GradientInquiry


def describe(source: End, tape: GradientTape, inquiry: GradientInquiry) -> Explanation:
    """Why a source has no gradient, or what is to be said of one that is there."""
    from ..why.tape import answer

    return answer(source, tape, inquiry)


def in_short(
    cause: str, what: str, source: object, tape: GradientTape | None, error: Exception | None = None
) -> Explanation:
    """The words for a cause of which only ``what`` is known: of what is no tensor, or where explain itself failed."""
    answer = in_words(Break(cause, None, what), name_of(source, None), source, None)
    if error is not None:
        answer.message += fill(
            " (explain failed with {error}; this is its best guess.)", error=f"{type(error).__name__}: {error}"
        )
    elif cause not in ("connected", "independent"):
        answer.fix = paragraph(answer.fix, not_all(answer))
    answer._tape = tape
    return answer


def _keep_enough(breaks: list[Explanation], unwatched: bool) -> None:
    """Takes patches away where none of them would be enough."""
    late = unwatched and all(one.cause not in (*AT_SOURCE, "rebound", "wrong_object") for one in breaks)
    if late or any(one.patch is None for one in breaks):
        for one in breaks:
            one.patch = one.patch_line = None  # it would not be enough


def _connected(source: End, name: str, inquiry: GradientInquiry) -> Explanation:
    """A gradient that is there, with the breaks of other ways. Where no way holds, as in the bodies of loops and
    branches, it is zero.
    """
    breaks = inquiry.parts().of(source)
    bodies = any(call.primitive.name in INTO for call in inquiry.record.calls)
    path = inquiry.path(source) if breaks or bodies else None
    broken = [b for _, _, b in path or () if b is not None]
    known = [(b.cause, b.at) for b in breaks]
    breaks += [b for b in merge(broken) if (b.cause, b.at) not in known]
    answer = in_words(Break("connected", None), name, source, inquiry)
    answer.others += [in_words(other, name, source, inquiry) for other in breaks]
    answer._cuts = breaks, bool(broken)
    return answer


def _of_connected(answer: Explanation, source: End, inquiry: GradientInquiry) -> None:
    """The answer for a gradient that is there: zero, not finite, a sum, or without a part."""
    breaks, cut = answer._cuts
    found = None if cut else _value(inquiry, source, answer.name)
    if cut or (found is not None and found.fix == fill(EAGERLY) and answer.others):
        found = _cut_to_zero(answer)  # the way through the function that was taken is one of those that are cut
    if found is None:
        with suppress(Exception):
            found = wrong(inquiry, source, answer.name, breaks)
    if found is None:
        answer.message = paragraph(answer.message, _sum_of(inquiry.targets))
    else:
        answer.cause, answer.message, answer.fix = found.cause, found.message, found.fix
        answer.filename, answer.line = found.filename, found.line
        if found._asked is not None:
            with words_alone():
                of_value(answer, found)
        nodes = ((found._asked or inquiry.recording(False)).entries[row].node for row in found._rows)
        answer._rows = [node.row for node in nodes if node.record is inquiry.record]
        if found.kind != "suspect":
            return
        for same in [one for one in answer.others if (one.filename, one.line) == (answer.filename, answer.line)]:
            answer.others.remove(same)  # it is said, and what fixes it here is known better
            answer.fix, answer.patch, answer.patch_line = same.fix, same.patch, same.patch_line
    if answer.others:
        single, several = (
            "Another path is blocked, and the gradient lacks what would come along it.",
            "{n} other paths are blocked, and the gradient lacks what would come along them.",
        )
        answer.message = paragraph(
            answer.message, fill(single) if len(answer.others) == 1 else fill(several, n=len(answer.others))
        )


def _cut_to_zero(answer: Explanation) -> Explanation:
    """The break that makes a gradient zero where TensorFlow gives no None: in the bodies of loops and branches."""
    first = answer.others[0]
    answer.patch, answer.patch_line = first.patch, first.patch_line
    return Explanation(
        first.cause,
        paragraph(fill("The gradient of {x} is zero.", x=answer.name), first.message),
        first.fix,
        first.filename,
        first.line,
    )


def _value(inquiry: GradientInquiry, source: End, name: str) -> Explanation | None:
    """Why the gradient is zero or not finite; None where it is neither."""
    try:
        return arrived(inquiry, source, name)
    except Exception as error:
        mistaken("explain() could not look at the values of a gradient", error)
        return None


def _sum_of(targets: list[End]) -> str:
    """The sentence about a target with several elements."""
    sizes = [t.shape.num_elements() for t in targets]
    if None in sizes or sum(sizes) < 2:
        return ""
    if len(sizes) > 1:
        return fill("There are {n} targets: this is the gradient of the sum of all their elements.", n=len(sizes))
    return fill(
        "The target has {n} elements: this is the gradient of their sum; tape.jacobian keeps them apart.", n=sizes[0]
    )
