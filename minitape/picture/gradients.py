"""What a gradient gave, below a figure: `∂loss/∂w = 0.25`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .expressions import LONGEST, Expressions, title_of
from .ink import NUMBER, SERIF, text_at
from .marks import shape_text, size_of
from .short import short_name, wide
from .words import word

if TYPE_CHECKING:
    from .fields import ResultFields, SourceFields

MARGIN = 8
SOURCES = 12  # of a gradient whose results are drawn
LINE, ITALIC, LETTER = 16, 6.6, 6.7  # height of a line of results, and widths of letters there
FORMULA = f'font-size="12" font-style="italic" text-anchor="end" font-family="{SERIF}"'

Line = tuple[str, str]  # of what, and the number


def gradient_lines(calls: Iterable[ResultFields], expressions: Expressions) -> Iterator[Line]:
    """The results of the calls that are shown."""
    for call in calls:
        if not call["known"]:
            continue
        names = (short_name(end["name"] or "", LONGEST) or expressions.called(end["row"]) for end in call["target"])
        target = ", ".join(names)
        if element := call.get("element"):  # it has a sweep for each: whose adjoints these are
            yield word("{target}: the steps are those of this element", target=f"{target}{element}"), ""
        of = "" if call.get("call", "gradient") == "gradient" else f"{word(call['call'])}: "
        for source in call["sources"][:SOURCES]:
            yield _line(f"{of}∂{target}/∂", source, call, expressions)
        if (more := len(call["sources"]) + call["more"] - SOURCES) > 0:
            yield word("and {n} more", n=more), ""


def _line(before: str, source: SourceFields, call: ResultFields, expressions: Expressions) -> Line:
    """Of an array how large its numbers are, and its shape."""
    row = expressions.rows.get(source["rows"][-1] if source["rows"] else source["at"])
    name = str(source["name"] or (title_of(row) if row else word("a source")))
    value, shape = source["gradient"], list(row["shape"]) if row else []
    first = expressions.rows.get(call["target"][0]["row"]) if call["target"] else None
    if first and call.get("call") in ("jacobian", "batch_jacobian"):
        shape = [*first["shape"], *shape[call["call"] == "batch_jacobian" :]]
    text = "None" if value is None else size_of(value, 40)
    if value and shape and not text.startswith("["):
        text += f"  {shape_text(shape)}"
    return before + short_name(name, LONGEST - wide(before)), f"= {text}"


def written_gradients(lines: list[Line], width: float, foot: float) -> tuple[float, float, list[str]]:
    """Width and height of a figure with these lines below it, each sign below that of the last; and their SVG."""
    x = 2 * MARGIN + ITALIC * max((wide(name) for name, _ in lines), default=0)
    drawn, y = [], foot + 8
    for name, number in lines:
        drawn += [text_at(x - 6, y, name, FORMULA), text_at(x, y, number, NUMBER)]
        width = max(width, x + LETTER * wide(number) + MARGIN)
        y += LINE
    return width, y - 2 if lines else foot, drawn
