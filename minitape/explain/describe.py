"""A finding as what the user reads: the words, and what is to be said of a gradient that is there."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from ..common.texts import paragraph
from .fixes.tape import of_break, of_value
from .partial import added
from .replay import EAGERLY
from .sentences import fill
from .source_names import name_of
from .words import AT_SOURCE, Explanation, in_words, mistaken, not_all, say_unwatched, words_alone
from .wrong import wrong
from .zero_or_nan import arrived

if TYPE_CHECKING:
    from ..engine.back.tape import GradientTape
    from ..engine.types import End
    from .connection import Finding
    from .reasons import GradientInquiry


def describe(
    finding: Finding,
    source: End,
    tape: GradientTape | None,
    inquiry: GradientInquiry | None,
    error: BaseException | None = None,
) -> Explanation:
    """A finding in words."""
    name = name_of(source, inquiry)
    answer = in_words(finding, name, source, inquiry)
    answer.others += [in_words(other, name, source, inquiry) for other in finding.breaks]
    breaks = [] if answer.connected else [answer, *answer.others]
    answer.with_beside(in_words(other, name, source, inquiry) for other in finding.beside)
    for one in (answer, *answer.others):
        if one._asked is not None:
            with words_alone():
                of_break(one)
    unwatched = bool(say_unwatched(name, source, inquiry)) and all(
        one.cause not in (*AT_SOURCE, "wrong_object") for one in breaks
    )
    if unwatched or any(one.patch is None for one in breaks):
        for one in breaks:
            one.patch = None  # it would not be enough
    if finding.cause == "connected" and inquiry is not None:
        _of_connected(answer, finding, source, inquiry)
    elif finding.cause != "connected":
        answer.fix = paragraph(answer.fix, not_all(answer))
    if error is not None:
        answer.message += fill(
            " (explain failed with {error}; this is its best guess.)", error=f"{type(error).__name__}: {error}"
        )
    elif inquiry is not None and finding.cause == "independent" and inquiry.trace.dropped:
        answer.message += fill(
            " ({n} earlier exits to NumPy were forgotten; the path may have led through one.)", n=inquiry.trace.dropped
        )
    answer._tape = tape
    answer._rows = _broken_rows(finding, tape)
    return answer


def _of_connected(answer: Explanation, finding: Finding, source: End, inquiry: GradientInquiry) -> None:
    """The answer for a gradient that is there: zero, not finite, a sum, or without a part."""
    found = None if finding.what == "cut" else _value(inquiry, source, answer.name)
    if finding.what == "cut" or (found is not None and found.fix == fill(EAGERLY) and answer.others):
        found = _cut_to_zero(answer)  # the way through the function that was taken is one of those that are cut
    if found is not None:
        answer.cause, answer.message, answer.fix = found.cause, found.message, found.fix
        answer.filename, answer.line = found.filename, found.line
        if found._asked is not None:
            with words_alone():
                of_value(answer, found, inquiry, source)
        return
    with suppress(Exception):
        said, answer.fix = wrong(inquiry, source)
        answer.message = paragraph(answer.message, said or _sum_of(inquiry.targets))
    for other, cut in zip(answer.others, finding.breaks, strict=True):
        with suppress(Exception):
            other.message = paragraph(other.message, added(inquiry, source, cut))
    if answer.others:
        one, several = (
            "Another path is blocked, and the gradient lacks what would come along it.",
            "{n} other paths are blocked, and the gradient lacks what would come along them.",
        )
        answer.message = paragraph(
            answer.message, fill(one) if len(answer.others) == 1 else fill(several, n=len(answer.others))
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


def _broken_rows(finding: Finding, tape: GradientTape | None) -> list[int]:
    """The rows of the tape's recording where the way breaks: the operation to blame, else the last value before it."""
    for child, parent, broken in finding.path or ():
        if broken is not None or finding.cause in AT_SOURCE:
            for node in (child, parent):
                if tape is not None and node.record is not None and node.record is tape._record:
                    return [node.row]
    return []


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
