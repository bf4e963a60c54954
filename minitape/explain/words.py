"""A finding in words, and the explanation that a user holds."""

from __future__ import annotations

import ast
import html
import warnings
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from ..engine.above import above
from ..engine.frames import lines_of
from ..engine.tensor import Tensor
from .asking import asking_frame, where
from .statement import last_name
from .texts import TEXT

if TYPE_CHECKING:
    from ..engine.tape import GradientTape
    from ..engine.typed import End, Object
    from .advice import Advice
    from .connection import Finding
    from .nodes import Break, Place
    from .reasons import Inquiry
    from .statement import Statement

_PLACES = (ModuleType, type)
_MANY = 1000  # objects whose attributes are looked through at once
_MAKES = ("Variable", "add_weight", "get_variable", "deepcopy", "copy")  # what makes a variable in the user's text


class Explanation:
    """Why one gradient is None, or that it is not.

    ``connected`` says whether there is a gradient; ``cause`` is one word; ``filename`` and ``line`` are the statement
    to blame (None when there is no single one); ``message`` and ``fix`` are sentences; ``others`` are further breaks on
    the way, and those of ways beside it, each an Explanation of its own. ``name`` is what the source is called, and
    ``patch`` the line as it should be, where one line is enough: the line to blame, or the one that ``patch_line`` names.

    >>> import minitape as tf
    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x * x
    >>> why = tape.explain(y, x)
    >>> why.connected, why.cause
    (False, 'not_watched')
    >>> print(why.fix)
    Call tape.watch(x) inside the block before x is used, or make it a tf.Variable.
    """

    def __init__(self, cause: str, message: str, fix: str, filename: str | None = None, line: int | None = None,
                 others: list[Explanation] | None = None) -> None:  # fmt: skip
        self.connected = cause == "connected"
        self.cause, self.message, self.fix = cause, message, fix
        self.filename, self.line = filename, line
        self.others = others or []
        self.name = ""
        self.patch: str | None = None
        self.patch_line: int | None = None
        self._steps: list[Any] | None = None  # what a bridge found to change, see minitape/bridges/patches.py
        self._tape: GradientTape | None = None
        self._rows: list[int] = []

    @property
    def code(self) -> str:
        """The source line to blame, empty when there is none."""
        lines = lines_of(self.filename or "")
        return "" if self.line is None or self.line > len(lines) else lines[self.line - 1].strip()

    def key(self) -> Hashable:
        """What two explanations have in common that say the same of different variables."""
        said = (f"{self.message} {self.fix}".replace(self.name, "") if self.name else self.message) if self.line is None else ""
        return self.cause, self.filename, self.line, said, tuple(other.key() for other in self.others)

    def __repr__(self) -> str:
        where = "" if self.line is None else f" line={self.line}"
        return f"<Explanation {self.cause}{where}: {self.message}>"

    def __str__(self) -> str:
        parts = [f"{self.cause}: {self.message}"]
        if self.line is not None:
            parts.append(f"  {where(self.filename, self.line)}" + (f":  {self.code}" if self.code else ""))
        if self.fix:
            parts.append(f"  Fix: {self.fix}")
        parts += [f"  Also: {text}" for text in self._further()]
        return "\n".join(parts)

    def _further(self) -> list[str]:
        """The further breaks, each with what mends it; what mends two of them is said once."""
        fixes = [self.fix]
        texts = []
        for other in self.others:
            if other.message in self.message:
                continue
            texts.append(other.message if other.fix in fixes else f"{other.message} {other.fix}")
            fixes.append(other.fix)
        return texts

    def _repr_html_(self) -> str:
        color = "#2e7d32" if self.connected else "#c62828"
        # white on a colour of its own, so that it can be read on light and dark themes alike
        word = f"background:{color};color:#fff;border-radius:3px;padding:0 5px"
        rows = [f'<b style="{word}">{html.escape(self.cause)}</b> {html.escape(self.message)}']
        if self.line is not None:
            rows.append(f'<span style="opacity:.7">{html.escape(where(self.filename, self.line))}</span> '
                        f"<code>{html.escape(self.code)}</code>")  # fmt: skip
        if self.fix:
            rows.append(f"<i>{html.escape(self.fix)}</i>")
        rows += [f"Also: {html.escape(text)}" for text in self._further()]
        rows.append(_picture(self))
        body = "".join(f'<div style="margin:2px 0">{row}</div>' for row in rows if row)
        return f'<div style="border-left:4px solid {color};padding:4px 10px;max-width:60em">{body}</div>'


def _picture(explanation: Explanation) -> str:
    """The tape's picture with the break in red; empty where it cannot be drawn."""
    if explanation._tape is None or explanation._tape._record is None or len(explanation._tape._record) > 200:
        return ""
    try:
        picture = above.draw(explanation._tape)
        picture.snapshot["broken"] = explanation._rows
        return picture.html()
    except Exception:
        return ""


def describe(finding: Finding, source: End, tape: GradientTape | None, inquiry: Inquiry | None, error: BaseException | None = None) -> Explanation:
    """A finding in words."""
    name = name_of(source, inquiry)
    answer = _say(finding, name, source, inquiry)
    answer.others += [_say(other, name, source, inquiry) for other in finding.breaks]
    breaks = [] if answer.connected else [answer, *answer.others]
    unwatched = bool(_unwatched(name, source, inquiry)) and all(one.cause not in (*_AT_SOURCE, "wrong_object") for one in breaks)
    if unwatched or any(one.patch is None for one in breaks):
        for one in breaks:
            one.patch = None  # it would not be enough
    if finding.cause == "connected" and inquiry is not None:
        _of_connected(answer, finding, source, inquiry)
    if error is not None:
        answer.message += f" (explain failed with {type(error).__name__}: {error}; this is its best guess.)"
    elif inquiry is not None and finding.cause == "independent" and inquiry.trace.dropped:
        answer.message += (
            f" ({inquiry.trace.dropped} earlier exits to NumPy were forgotten; the way may have led through one.)"
        )
    answer._tape = tape
    answer._rows = _broken_rows(finding, tape)
    return answer


def _of_connected(answer: Explanation, finding: Finding, source: End, inquiry: Inquiry) -> None:
    """What is to be said of a gradient that is there: that it is zero, not finite, a sum, or that a part is missing."""
    from .missing import added
    from .replay import EAGERLY
    from .wrong import wrong

    if finding.what == "cut":
        answer.message += f" Its gradient is zero, though: {answer.others[0].message}"
        answer.fix = answer.others[0].fix
        return
    zero, answer.fix = _zero(inquiry, source)
    if answer.fix == EAGERLY and answer.others:  # the way through the function that was taken is one of those that are cut
        answer.message += f" Its gradient is zero, though: {answer.others[0].message}"
        answer.fix = answer.others[0].fix
        return
    if not zero:
        with suppress(Exception):
            zero, answer.fix = wrong(inquiry, source)
    answer.message += " " + zero if zero else _sum_of(inquiry.targets)
    for other, cut in zip(answer.others, finding.breaks, strict=True):
        with suppress(Exception):
            other.message = f"{other.message} {added(inquiry, source, cut)}".rstrip()
    if answer.others:
        ways = "One way is cut" if len(answer.others) == 1 else f"{len(answer.others)} ways are cut"
        answer.message += f" {ways} beside it, and the gradient lacks what comes along {'it' if len(answer.others) == 1 else 'them'}."


_AT_SOURCE = ("not_watched", "watched_late", "not_trainable", "not_accessed_watched", "integer_dtype")


def _broken_rows(finding: Finding, tape: GradientTape | None) -> list[int]:
    """The rows of the tape's recording where the way breaks: the operation to blame, else the last value before it."""
    for child, parent, broken in finding.path or ():
        if broken is not None or finding.cause in _AT_SOURCE:
            for node in (child, parent):
                if tape is not None and node.record is not None and node.record is tape._record:
                    return [node.row]
    return []


def _sum_of(targets: list[End]) -> str:
    """Says of a target with several elements whose gradient is asked for."""
    sizes = [t.shape.num_elements() for t in targets]
    if None in sizes or sum(sizes) < 2:
        return ""
    if len(sizes) > 1:
        return f" There are {len(sizes)} targets: this is the gradient of the sum of all their elements."
    return f" The target has {sizes[0]} elements: this is the gradient of their sum; tape.jacobian keeps them apart."


def _zero(inquiry: Inquiry, source: End) -> tuple[str, str]:
    """Says when the gradient of a connected source is zero for a structural reason or not finite, and what mends it."""
    try:
        from .zeros import structural_zero

        return structural_zero(inquiry, source)
    except Exception:
        return "", ""


def say(found: Finding | Break, source: End, inquiry: Inquiry | None) -> Explanation:
    """The words for a finding or a break, of a source that has no name yet."""
    return _say(found, name_of(source, inquiry), source, inquiry)


def _say(found: Finding | Break, name: str, source: End, inquiry: Inquiry | None) -> Explanation:
    """The words for a finding or a break."""
    from .advice import Advice
    from .patches import changed_in_place, helper_in_numpy, patch_of

    cause, place = found.cause, found.place
    if cause in ("connected", "independent"):
        place = None
    advice: Advice | None
    try:
        advice = Advice(cause, place, found.what, found.subject, source, inquiry, found.until)
        kind, fields, place = advice.kind, advice.fields, advice.place
    except Exception:  # the words are less exact then
        advice, kind, fields = None, "", dict.fromkeys(("what", "code", "instead", "used", "function"), found.what)
    at = "" if place is None else f" ({where(place.filename, place.line)})"
    message, fix = TEXT.get(f"{cause} {kind}") or TEXT[cause]
    fields = {**fields, "x": name, "line": at, "what": fields["what"] or "the value", "watched": _unwatched(name, source, inquiry)}
    message, fix = message.format(**fields), fix.format(**fields)
    filename, line = (None, None) if place is None else (place.filename, place.line)
    answer = Explanation(cause, message, fix, filename, line)
    answer.name = name
    if advice is not None and inquiry is not None and cause not in ("connected", "independent"):
        with words_alone():
            answer.patch = patch_of(advice, cause, name)
            answer.patch_line = line if answer.patch else None
            if cause == "left_through_numpy":
                answer.fix += changed_in_place(advice) + helper_in_numpy(advice)
    return answer


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


def _unwatched(name: str, source: End, inquiry: Inquiry | None) -> str:
    """For a tensor that the tape does not watch, that this is wanted as well."""
    if inquiry is None or not isinstance(source, Tensor) or inquiry.watched(inquiry.trace.of_tensor(source)):
        return ""
    return f", after tape.watch({name})"


def name_of(source: End, inquiry: Inquiry | None) -> str:
    """What the user calls a source: the name that its creating statement binds, or the variable's own."""
    frame = asking_frame()
    with suppress(Exception):  # no text: then it goes by what holds it
        for statement, place in () if inquiry is None else inquiry.statements(inquiry.born(source, used=False)):
            name = statement.name_at(place.line, place.column)
            if name and (isinstance(source, Tensor) or _makes_variable(statement, place)):
                return _as_reached(name, source, frame, inquiry)
    for space in () if frame is None else (frame.f_locals, frame.f_globals):
        for text, value in list(space.items()):
            if value is source and not text.startswith("_"):
                return text
    name = getattr(source, "name", "")
    return name.split(":")[0] if isinstance(name, str) and name and "Variable" not in name else "the source"


def _makes_variable(statement: Statement, place: Place) -> bool:
    """Whether the name that a statement binds is that of the variable: of several values the one at this place makes it."""
    made = statement.expression(place.span)
    if isinstance(statement.value(), ast.Tuple) and isinstance(made, ast.Call):
        return last_name(made.func) in _MAKES
    return statement.calls(*_MAKES)


def _as_reached(name: str, source: End, frame: FrameType | None, inquiry: Inquiry | None) -> str:
    """What the code that asks calls a source: ``cell.h`` for ``self.h``, ``weights["b"]`` for one of ``weights``."""
    if frame is None:
        return name
    names = {**frame.f_globals, **frame.f_locals}
    items = names.get(name)
    if isinstance(items, (dict, list, tuple)):
        keys = {} if inquiry is None else inquiry.keys
        if name not in keys:
            keys[name] = _keys(items)
        found = keys[name].get(id(source))
        return name if found is None else f"{name}[{found[0]!r}]"
    attribute = name.removeprefix("self.")
    if attribute == name or not attribute.isidentifier() or "self" in frame.f_locals:
        return name
    if inquiry is None:
        return name
    if inquiry.paths is None:
        inquiry.paths = _paths(names)
    return str(inquiry.paths.get((id(source), attribute), name))


def _paths(names: dict[str, Object]) -> dict[tuple[int, str], str]:
    """How these names lead to the attributes of objects, ``agent.net.w``: by the identity of a value and its attribute."""
    found: dict[tuple[int, str], str] = {}
    level = [(text, thing) for text, thing in names.items() if not text.startswith("_")]
    seen: set[int] = set()
    for _ in range(3):
        inner = []
        for text, thing in level[:_MANY]:
            space = {} if isinstance(thing, _PLACES) else getattr(thing, "__dict__", {})
            if id(space) in seen:
                continue
            seen.add(id(space))
            for attribute, value in list(space.items()):
                leaf = value._gradient_leaf() if hasattr(value, "_gradient_leaf") else value
                found.setdefault((id(leaf), attribute), f"{text}.{attribute}")
                if not attribute.startswith("_"):
                    inner.append((f"{text}.{attribute}", value))
        level = inner
    return found


def _keys(items: dict[Object, Object] | list[Object] | tuple[Object, ...]) -> dict[int, tuple[object, object]]:
    """Under which key each thing stands first: by its identity, with the thing itself, which must live meanwhile."""
    found: dict[int, tuple[object, object]] = {}
    for key, value in items.items() if isinstance(items, dict) else enumerate(items):
        leaf = value._gradient_leaf() if hasattr(value, "_gradient_leaf") else value
        found.setdefault(id(value), (key, value))
        found.setdefault(id(leaf), (key, leaf))
    return found
