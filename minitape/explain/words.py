"""A finding in words, and the explanation that a user holds."""

from __future__ import annotations

import html
import warnings
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..common.texts import paragraph
from ..engine.hooks import hooks
from ..recording.sites import lines_of
from .caller import where
from .causes import KIND_NAMES, find_kind
from .sentences import fill

if TYPE_CHECKING:
    from ..engine.back.tape import GradientTape


MOST = 5  # the most further breaks in one answer
FROZEN = ("requires_grad", "not_trainable")  # as the program has set it, and no finding


class Explanation:
    """Why one gradient is None, or that it is not.

    ``connected`` says whether there is a gradient, be it zero or NaN; ``cause`` is one word, and ``kind`` the sort of
    it, which is said in the same words in every framework; ``filename`` and ``line`` are the statement to blame (None
    when there is no single one); ``message`` and ``fix`` are sentences; ``others`` are further breaks on the way, and
    those of ways beside it, each an Explanation of its own. ``name`` is what the source is called, and ``patch`` the
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
        self.connected = find_kind(cause).has_gradient if connected is None else connected
        self.cause, self.message, self.fix = cause, message, fix
        self.filename, self.line = filename, line
        self.others = others or []
        self.name = ""
        self.intended = cause in FROZEN  # the program does not train it, and means that, as far as it shows
        self.numbers: Any = None  # of a model's page: the norm, the share of zeros, the update beside the weight
        self.patch: str | None = None
        self.patch_line: int | None = None
        self._tape: GradientTape | None = None
        self._rows: list[int] = []
        self.beside = False  # of one of ``others`` that it cuts another way, and not this one once more

    def with_beside(self, others: Iterable[Explanation]) -> Explanation:
        """The same, with the breaks of other paths. A line is named once; so is what a pause blocks, or what ran before
        the tape.
        """
        said = {(one.filename, one.line) for one in (self, *self.others)}
        for other in others:
            if (
                len(self.others) < MOST
                and (other.filename, other.line) not in said
                and not other.kind == self.kind in ("paused", "outside")
            ):
                said.add((other.filename, other.line))
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
        lines = lines_of(self.filename or "")
        return "" if self.line is None or self.line > len(lines) else lines[self.line - 1].strip()

    def key(self) -> Hashable:
        """What two explanations have in common that say the same of different variables."""
        said = (
            (f"{self.message} {self.fix}".replace(self.name, "") if self.name else self.message)
            if self.line is None
            else ""
        )
        return self.cause, self.filename, self.line, said, tuple(other.key() for other in self.others)

    def __repr__(self) -> str:
        where = "" if self.line is None else f" line={self.line}"
        return f"<Explanation {self.cause}{where}: {self.message}>"

    def __str__(self) -> str:
        parts = [f"{self.cause}: {self.message}"]
        if self.line is not None:
            place = where(self.filename, self.line)
            parts.append("  " + (fill("{place}:  {code}", place=place, code=self.code) if self.code else place))
        if self.fix:
            parts.append("  " + fill("Fix: {fix}", fix=self.fix))
        parts += ["  " + fill("Also: {text}", text=text) for text in self._further()]
        return "\n".join(parts)

    def _further(self) -> list[str]:
        """The further breaks, each with what fixes it; what fixes two of them is said once."""
        fixes = [self.fix]
        texts = []
        for other in self.others:
            if other.message in self.message:
                continue
            texts.append(other.message if other.fix in fixes else paragraph(other.message, other.fix))
            fixes.append(other.fix)
        return texts

    def _repr_html_(self) -> str:
        color = "#2e7d32" if self.cause == "connected" else "#c62828"
        # white on a colour of its own, so that it can be read on light and dark themes alike
        word = f"background:{color};color:#fff;border-radius:3px;padding:0 5px"
        rows = [f'<b style="{word}">{html.escape(self.cause)}</b> {html.escape(self.message)}']
        if self.line is not None:
            rows.append(
                f'<span style="opacity:.7">{html.escape(where(self.filename, self.line))}</span> '
                f"<code>{html.escape(self.code)}</code>"
            )
        if self.fix:
            rows.append(f"<i>{html.escape(self.fix)}</i>")
        rows += [html.escape(fill("Also: {text}", text=text)) for text in self._further()]
        rows.append(_picture(self))
        body = "".join(f'<div style="margin:2px 0">{row}</div>' for row in rows if row)
        return f'<div style="border-left:4px solid {color};padding:4px 10px;max-width:60em">{body}</div>'


def _picture(explanation: Explanation) -> str:
    """The tape's picture with the break in red; empty where it cannot be drawn."""
    if explanation._tape is None or explanation._tape._record is None or len(explanation._tape._record) > 200:
        return ""
    try:
        picture = hooks.draw(explanation._tape)
        picture.snapshot["broken"] = explanation._rows
        return picture.html()
    except Exception:
        return ""


def not_all(answer: Explanation) -> str:
    """That the fix is not enough where other lines broke the path, too, or cut other ways; empty where it is.

    >>> why = Explanation("detach", "", "", "a.py", 1, [Explanation("data", "", "", "a.py", 2)])
    >>> not_all(why)
    'That alone is not enough: see line 2, too.'
    >>> not_all(Explanation("detach", "", "", "a.py", 1).with_beside(why.others))
    'Another path is blocked, too: see line 2.'
    """
    found = {
        other.beside: other
        for other in reversed(answer.others)
        if other.line is not None and (other.filename, other.line) != (answer.filename, answer.line)
    }
    first = found.get(False) or found.get(True)
    if first is None or first.line is None:
        return ""
    place = where("" if first.filename == answer.filename else first.filename, first.line)
    return fill(
        "Another path is blocked, too: see {place}." if first.beside else "That alone is not enough: see {place}, too.",
        place=place,
    )


@contextmanager
def words_alone() -> Iterator[None]:
    """An explanation is worth giving where its patch cannot be made, and the mistake worth knowing.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     with words_alone():
    ...         1 / 0
    >>> print(caught[0].message)
    explain() could not write a patch, which is a mistake of minitape's own: ZeroDivisionError('division by zero')
    """
    try:
        yield
    except Exception as error:
        mistaken("explain() could not write a patch", error)


def mistaken(what: str, error: Exception) -> None:
    """Warns of a mistake that costs a part of an answer only."""
    warnings.warn(f"{what}, which is a mistake of minitape's own: {error!r}", stacklevel=3)
