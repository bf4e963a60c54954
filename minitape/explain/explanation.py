"""Define the explanation, which is a finding put into words for the user."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from html import escape
from typing import Any
from warnings import warn

from ..common.translation import join_sentences
from ..engine.backward.tape import GradientTape
from ..engine.hooks import hooks
from ..engine.types import OptionalFlag, OptionalNumber, OptionalText, RowList, TextList
from ..recording.sites import NOWHERE, Site, read_line_at_site
from .caller import format_place, format_place_suffix
from .causes import CAUSES, get_kind_or_error_kind
from .translated_sentences import fill

MAX_OTHERS = 5  # The maximum number of further breaks to list in one answer.
MORE = "More: minitape explain --cause {cause}"  # The command that shows the page about a cause.
FROZEN_CAUSES = ("requires_grad", "not_trainable")  # The program itself froze the source, so nothing is wrong.


# A problem is an `Explanation`, or a bridge's object with the same attributes.
def list_report_lines_of_problem(problem: Any, blamed_file: OptionalText) -> TextList:
    """Return the lines of a report about a problem: what happened, the line to blame, and the fix.

    Args:
        problem: An `Explanation`, or a problem with the same attributes.
        blamed_file: The file that contains the line to blame.
    """
    lines = [f"{problem.cause}: {problem.message}"]
    if problem.line is not None:
        place = format_place(blamed_file, problem.line)
        lines.append("  " + (fill("{place}:  {code}", place=place, code=problem.code) if problem.code else place))
    if problem.fix:
        lines.append("  " + fill("Fix: {fix}", fix=problem.fix))
    return lines


def replace_whole_name(text: str, name: str, replacement: str) -> str:
    """Replace a name in a text, except where it is part of a longer name.

    The search does not use a regular expression, because compiling one for each parameter of a large model would take a
    second.

    >>> replace_whole_name("w reads w.T, net.w, w[0] and w.", "w", "layer.weight")
    'layer.weight reads w.T, net.w, w[0] and layer.weight.'
    """
    result, *rest = text.split(name)
    for after in rest:
        is_part = re.search(r"[\w.\[]\Z", result) or re.match(r"[\w\[]|\.\w", after)
        result += (name if is_part else replacement) + after
    return result


class Explanation:
    """The reason why one gradient is None, zero, not finite or wrong, or a statement that nothing is wrong.

    Attributes:
        connected: Whether there is a gradient, even if it is zero or NaN.
        cause: The name of the cause, such as "not_watched". See :mod:`causes`.
        kind: The group of the cause. Groups have the same names in every framework.
        message: A sentence that states what happened.
        fix: A sentence that states what to change, or "" if nothing needs to change.
        filename: The file of the statement to blame, or None if no single statement is to blame.
        line: The line of the statement to blame, or None if no single statement is to blame.
        code: The text of the blamed line, or "" if it is unknown.
        others: Explanations of the other breaks on the same path and on other paths.
        name: The program's name for the source.
        patch: The corrected line, if changing one line is enough. This line replaces `patch_line` if that is set, and
            `line` otherwise.
        patch_line: The line that `patch` replaces.
        intended: Whether the program seems to leave the source untrained on purpose.
        numbers: The gradient's norm, its proportion of zeros, and the size of the update relative to the weight, if
            this explanation is on a whole-model page, or None otherwise.
        beside: Whether this explanation belongs to the `others` of another explanation and describes a break on a
            different path.

    >>> import minitape as tf
    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x * x
    >>> why = tape.explain(y, x)
    >>> why.connected, why.cause, why.kind
    (False, 'not_watched', 'not_tracked')
    >>> print(why.fix)
    Call tape.watch(x) inside the block before x is used, or make x a tf.Variable.
    """

    def __init__(
        self,
        cause: str,
        message: str,
        fix: str,
        filename: OptionalText = None,
        line: OptionalNumber = None,
        others: list[Explanation] | None = None,
        connected: OptionalFlag = None,
    ):
        """Create an explanation. If `connected` is not given, it is derived from the kind of the cause."""
        self.connected = get_kind_or_error_kind(cause).has_gradient if connected is None else connected
        self.cause = cause
        self.message = message
        self.fix = fix
        self.filename = filename
        self.line = line
        self.others = others or []
        self.name = ""
        self.intended = cause in FROZEN_CAUSES
        # The type is the bridges' class GradientStatistics, which this package must not import.
        self.numbers: Any = None
        self.patch: OptionalText = None
        self.patch_line: OptionalNumber = None
        self._tape: GradientTape | None = None
        self._rows: RowList = []
        self.beside = False

    def add_side_breaks(self, others: Iterable[Explanation]) -> Explanation:
        """Add the breaks on other paths to `others`.

        Each line is reported once. If this explanation reports a pause in the recording, no other pauses are added.
        Operations outside the block are handled in the same way. At most `MAX_OTHERS` further breaks are kept.

        Args:
            others: The explanations of the other breaks. `beside` is set on each explanation that is added.

        Returns:
            This explanation.
        """
        known_places = {(explanation.filename, explanation.line) for explanation in (self, *self.others)}
        for other in others:
            if (
                len(self.others) < MAX_OTHERS
                and (other.filename, other.line) not in known_places
                and not other.kind == self.kind in ("paused", "outside")
            ):
                known_places.add((other.filename, other.line))
                other.beside = True
                self.others.append(other)
        return self

    @property
    def kind(self) -> str:
        """The group of the cause, one of the keys of `causes.KINDS`."""
        return CAUSES[self.cause].kind

    @property
    def code(self) -> str:
        """The text of the line to blame, or "" if no line is to blame or its text is unknown."""
        return read_line_at_site((self.filename, self.line)).strip()

    def build_group_key(self) -> Hashable:
        """Return a key that is equal for explanations that give the same reason for different variables.

        Explanations with a line get equal keys if their causes and lines are equal. For explanations without a line,
        the sentences must be identical except for the variable name.
        """
        sentences = ""
        if self.line is None:
            sentences = replace_whole_name(f"{self.message} {self.fix}", self.name, "") if self.name else self.message
        return self.cause, self.filename, self.line, sentences, tuple(other.build_group_key() for other in self.others)

    def __repr__(self) -> str:
        """Return the cause, the line number and the message as one line of text."""
        place = "" if self.line is None else f" line={self.line}"
        return f"<Explanation {self.cause}{place}: {self.message}>"

    def __str__(self) -> str:
        """Return the message, the line to blame, the fix, other breaks and the command that shows the cause's page."""
        parts = list_report_lines_of_problem(self, self.filename)
        parts += ["  " + fill("Also: {text}", text=text) for text in self._list_messages_and_fixes_of_other_breaks()]
        if self.cause != "connected":
            parts.append("  " + fill(MORE, cause=self.cause))
        return "\n".join(parts)

    def _list_messages_and_fixes_of_other_breaks(self) -> TextList:
        """Return the other breaks with their fixes. A fix that two breaks share appears only once."""
        fixes = [self.fix]
        texts = []
        for other in self.others:
            if other.message in self.message:
                continue
            texts.append(other.message if other.fix in fixes else join_sentences(other.message, other.fix))
            fixes.append(other.fix)
        return texts

    def _repr_html_(self) -> str:
        """Return the explanation as HTML for a notebook, with the tape's picture if it can be drawn."""
        color = "#2e7d32" if self.cause == "connected" else "#c62828"
        # White text on a colored background is readable in light and dark themes.
        word = f"background:{color};color:#fff;border-radius:3px;padding:0 5px"
        rows = [f'<b style="{word}">{escape(self.cause)}</b> {escape(self.message)}']
        if self.line is not None:
            rows.append(
                f'<span style="opacity:.7">{escape(format_place(self.filename, self.line))}</span> '
                f"<code>{escape(self.code)}</code>"
            )
        if self.fix:
            rows.append(f"<i>{escape(self.fix)}</i>")
        rows += [escape(fill("Also: {text}", text=text)) for text in self._list_messages_and_fixes_of_other_breaks()]
        if self.cause != "connected":
            rows.append(f'<span style="opacity:.7">{escape(fill(MORE, cause=self.cause))}</span>')
        rows.append(_draw_tape_as_html(self))
        body = "".join(f'<div style="margin:2px 0">{row}</div>' for row in rows if row)
        return f'<div style="border-left:4px solid {color};padding:4px 10px;max-width:60em">{body}</div>'


OptionalExplanation = Explanation | None  # None means that there is nothing to explain.


def explain_cause(
    framework: str, cause: str, site: Site = NOWHERE, variant: str = "", fields: Mapping[str, object] | None = None
) -> Explanation:
    """Return an explanation built from a cause's sentences.

    Args:
        framework: The name of the framework.
        cause: The cause, one of `causes.CAUSES`.
        site: The line to blame.
        variant: The variant of the cause's sentences to use.
        fields: The values of the sentences' fields, except the line.
    """
    text = CAUSES[cause].get_text_or_default_variant(framework, variant)
    values = {"line": format_place_suffix(site), **(fields or {})}
    return Explanation(cause, fill(text.message, **values), fill(text.fix, **values), *site)


def _draw_tape_as_html(explanation: Explanation) -> str:
    """Return the tape's picture with the break in red, or "" if it cannot be drawn."""
    if explanation._tape is None or explanation._tape.record is None or len(explanation._tape.record) > 200:
        return ""
    try:
        picture = hooks.draw(explanation._tape)
        picture.snapshot["broken"] = explanation._rows
        return picture.html()
    except Exception:
        return ""


def format_note_that_fix_is_not_enough(explanation: Explanation) -> str:
    """Return a sentence saying that the first fix is not enough because another line also blocks the gradient.

    Another break on the same path takes precedence over a break on a different path.

    Args:
        explanation: The explanation whose `others` are searched.

    Returns:
        The sentence, or "" if no other line is to blame.

    >>> why = Explanation("detach", "", "", "a.py", 1, [Explanation("data", "", "", "a.py", 2)])
    >>> format_note_that_fix_is_not_enough(why)
    'This fix alone is not enough. See line 2 as well.'
    >>> format_note_that_fix_is_not_enough(Explanation("detach", "", "", "a.py", 1).add_side_breaks(why.others))
    'Another path is also blocked. See line 2.'
    """
    break_by_side = {
        other.beside: other
        for other in reversed(explanation.others)
        if other.line is not None and (other.filename, other.line) != (explanation.filename, explanation.line)
    }
    shown_break = break_by_side.get(False) or break_by_side.get(True)
    if shown_break is None or shown_break.line is None:
        return ""
    filename = "" if shown_break.filename == explanation.filename else shown_break.filename
    place = format_place(filename, shown_break.line)
    if shown_break.beside:
        return fill("Another path is also blocked. See {place}.", place=place)
    return fill("This fix alone is not enough. See {place} as well.", place=place)


@contextmanager
def turn_code_patch_errors_into_warnings() -> Iterator[None]:
    """Turn an error in the block into a warning, because an explanation is useful even without a patch.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     with turn_code_patch_errors_into_warnings():
    ...         1 / 0
    >>> print(caught[0].message)
    explain() could not write a patch. This is an error in minitape itself: ZeroDivisionError('division by zero')
    """
    try:
        yield
    except Exception as error:
        warn(f"explain() could not write a patch. This is an error in minitape itself: {error!r}", stacklevel=2)
