"""A finding in words, and the explanation that a user holds."""

from __future__ import annotations

import html
import warnings
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..common.translation import join_sentences
from ..engine.hooks import hooks
from ..recording.sites import read_source_lines
from .caller import format_place
from .causes import KIND_NAMES, find_kind_of_cause
from .translated_sentences import fill

if TYPE_CHECKING:
    from ..engine.backward.tape import GradientTape


MAX_OTHERS = 5  # the most further breaks in one answer
FROZEN_CAUSES = ("requires_grad", "not_trainable")  # as the program has set it, and no finding


class Explanation:
    """Why one gradient is None, or that it is not.

    ``connected`` says whether there is a gradient, be it zero or NaN; ``cause`` is one word, and ``kind`` the sort of
    it, which is said in the same words in every framework; ``filename`` and ``line`` are the statement to blame (None
    when there is no single one); ``message`` and ``fix`` are sentences; ``others`` are further breaks of the path, and
    those of other paths, each an Explanation of its own. ``name`` is what the source is called, and ``patch`` the
    line as it should be, where one line is enough: the line to blame, or the one that ``patch_line`` names.

    >>> import minitape as tf
    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x * x
    >>> why = tape.explain(y, x)
    >>> why.connected, why.cause, why.kind
    (False, 'not_watched', 'not_tracked')
    >>> print(why.fix)
    Call tape.watch(x) inside the block before x is used, or make it a tf.Variable.
    """

    def __init__(
        self,
        cause: str,
        message: str,
        fix: str,
        filename: str | None = None,
        line: int | None = None,
        others: list[Explanation] | None = None,
        connected: bool | None = None,
    ) -> None:
        self.connected = find_kind_of_cause(cause).has_gradient if connected is None else connected
        self.cause, self.message, self.fix = cause, message, fix
        self.filename, self.line = filename, line
        self.others = others or []
        self.name = ""
        self.intended = cause in FROZEN_CAUSES  # the program does not train it, and means that, as far as it shows
        self.numbers: Any = None  # of a model's page: the norm, the share of zeros, the update beside the weight
        self.patch: str | None = None
        self.patch_line: int | None = None
        self._tape: GradientTape | None = None
        self._rows: list[int] = []
        self.beside = False  # of one of ``others`` that it breaks another path, and not this one once more

    def add_side_breaks(self, others: Iterable[Explanation]) -> Explanation:
        """Add the breaks of other paths, and return this explanation.

        A line is named once; so is what a pause blocks, or what ran before the tape.
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
        """Which sort of cause it is: one of the words of :mod:`causes`."""
        return KIND_NAMES[self.cause]

    @property
    def code(self) -> str:
        """The source line to blame, empty when there is none."""
        lines = read_source_lines(self.filename or "")
        return "" if self.line is None or self.line > len(lines) else lines[self.line - 1].strip()

    def build_group_key(self) -> Hashable:
        """Build a key that is equal for two explanations that say the same of different variables."""
        sentences = (
            (f"{self.message} {self.fix}".replace(self.name, "") if self.name else self.message)
            if self.line is None
            else ""
        )
        return self.cause, self.filename, self.line, sentences, tuple(other.build_group_key() for other in self.others)

    def __repr__(self) -> str:
        place = "" if self.line is None else f" line={self.line}"
        return f"<Explanation {self.cause}{place}: {self.message}>"

    def __str__(self) -> str:
        parts = [f"{self.cause}: {self.message}"]
        if self.line is not None:
            place = format_place(self.filename, self.line)
            parts.append("  " + (fill("{place}:  {code}", place=place, code=self.code) if self.code else place))
        if self.fix:
            parts.append("  " + fill("Fix: {fix}", fix=self.fix))
        parts += ["  " + fill("Also: {text}", text=text) for text in self._list_further_texts()]
        return "\n".join(parts)

    def _list_further_texts(self) -> list[str]:
        """The further breaks, each with what fixes it; what fixes two of them is said once."""
        fixes = [self.fix]
        texts = []
        for other in self.others:
            if other.message in self.message:
                continue
            texts.append(other.message if other.fix in fixes else join_sentences(other.message, other.fix))
            fixes.append(other.fix)
        return texts

    def _repr_html_(self) -> str:
        color = "#2e7d32" if self.cause == "connected" else "#c62828"
        # white on a colour of its own, so that it can be read on light and dark themes alike
        word = f"background:{color};color:#fff;border-radius:3px;padding:0 5px"
        rows = [f'<b style="{word}">{html.escape(self.cause)}</b> {html.escape(self.message)}']
        if self.line is not None:
            rows.append(
                f'<span style="opacity:.7">{html.escape(format_place(self.filename, self.line))}</span> '
                f"<code>{html.escape(self.code)}</code>"
            )
        if self.fix:
            rows.append(f"<i>{html.escape(self.fix)}</i>")
        rows += [html.escape(fill("Also: {text}", text=text)) for text in self._list_further_texts()]
        rows.append(_render_picture(self))
        body = "".join(f'<div style="margin:2px 0">{row}</div>' for row in rows if row)
        return f'<div style="border-left:4px solid {color};padding:4px 10px;max-width:60em">{body}</div>'


def _render_picture(explanation: Explanation) -> str:
    """The tape's picture with the break in red; empty where it cannot be drawn."""
    if explanation._tape is None or explanation._tape.record is None or len(explanation._tape.record) > 200:
        return ""
    try:
        picture = hooks.draw(explanation._tape)
        picture.snapshot["broken"] = explanation._rows
        return picture.html()
    except Exception:
        return ""


def describe_remaining_breaks(answer: Explanation) -> str:
    """Describe the line that breaks the path, too, or another path, so that the fix is not enough; "" if there is none.

    >>> why = Explanation("detach", "", "", "a.py", 1, [Explanation("data", "", "", "a.py", 2)])
    >>> describe_remaining_breaks(why)
    'That alone is not enough: see line 2, too.'
    >>> describe_remaining_breaks(Explanation("detach", "", "", "a.py", 1).add_side_breaks(why.others))
    'Another path is blocked, too: see line 2.'
    """
    break_by_side = {
        other.beside: other
        for other in reversed(answer.others)
        if other.line is not None and (other.filename, other.line) != (answer.filename, answer.line)
    }
    shown_break = break_by_side.get(False) or break_by_side.get(True)
    if shown_break is None or shown_break.line is None:
        return ""
    place = format_place("" if shown_break.filename == answer.filename else shown_break.filename, shown_break.line)
    return fill(
        "Another path is blocked, too: see {place}."
        if shown_break.beside
        else "That alone is not enough: see {place}, too.",
        place=place,
    )


@contextmanager
def warn_of_patch_errors() -> Iterator[None]:
    """Warn of an error in the block instead of raising it: an explanation is worth giving without its patch.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     with warn_of_patch_errors():
    ...         1 / 0
    >>> print(caught[0].message)
    explain() could not write a patch, which is a mistake of minitape's own: ZeroDivisionError('division by zero')
    """
    try:
        yield
    except Exception as error:
        warn_of_internal_error("explain() could not write a patch", error)


def warn_of_internal_error(description: str, error: Exception) -> None:
    """Warn of a mistake of minitape's own that costs a part of an answer only."""
    warnings.warn(f"{description}, which is a mistake of minitape's own: {error!r}", stacklevel=3)
