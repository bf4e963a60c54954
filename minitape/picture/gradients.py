"""What a gradient gave, below a figure: `∂loss/∂w = 0.25`, and the variables that were assigned after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from .expressions import LONGEST, Expressions, title_of
from .ink import MUTED, NUMBER, SERIF, text_at
from .marks import shape_text, small_map, written
from .short import short_name, wide
from .words import word

if TYPE_CHECKING:
    from .fields import ResultFields, Shown, SourceFields

MARGIN = 8
SOURCES = 12  # of a gradient whose results are drawn
LINE, ITALIC, LETTER = 16, 6.6, 6.7  # height of a line of results, and widths of letters there
FORMULA = f'font-size="12" font-style="italic" text-anchor="end" font-family="{SERIF}"'

Line = tuple[str, str, "Shown | None"]  # of what, the number or the shape, and the array


def gradient_lines(
    calls: Iterable[ResultFields], updates: Mapping[int, SourceFields], expressions: Expressions
) -> Iterator[Line]:
    """The results of the calls that are shown, and the new values of variables."""
    for call in calls:
        if not call["known"]:
            continue
        names = (short_name(end["name"] or "", LONGEST) or expressions.called(end["row"]) for end in call["target"])
        target = ", ".join(names)
        if element := call.get("element"):  # it has a sweep for each: whose adjoints these are
            yield word("{target}: the steps are those of this element", target=f"{target}{element}"), "", None
        of = "" if call.get("call", "gradient") == "gradient" else f"{word(call['call'])}: "
        for source in call["sources"][:SOURCES]:
            yield _line(f"{of}∂{target}/∂", source, source["gradient"], expressions, call)
        if (more := len(call["sources"]) + call["more"] - SOURCES) > 0:
            yield word("and {n} more", n=more), "", None
    for source in [*updates.values()][:SOURCES]:
        yield _line(f"{word('new value')}: ", source, source["now"], expressions)


def _line(
    before: str, source: SourceFields, value: Shown | None, expressions: Expressions, call: ResultFields | None = None
) -> Line:
    row = expressions.rows.get(source["rows"][-1] if source["rows"] else source["at"])
    shape = list(row["shape"]) if row else []
    first = expressions.rows.get(call["target"][0]["row"]) if call and call["target"] else None
    if call and first and call.get("call") in ("jacobian", "batch_jacobian"):
        shape = [*first["shape"], *shape[call["call"] == "batch_jacobian" :]]
    name = str(source["name"] or (title_of(row) if row else word("a source")))
    text = "None" if value is None else written(value, 40)
    number = text or (shape_text(shape) if row else "")
    return before + short_name(name, LONGEST - wide(before)), number, None if text else value


def written_gradients(lines: list[Line], width: float, foot: float) -> tuple[float, float, list[str]]:
    """Width and height of a figure with these lines below it, each sign below that of the last; and their SVG."""
    x = 2 * MARGIN + ITALIC * max((wide(name) for name, _, _ in lines), default=0)
    drawn, y = [], foot + 8
    for name, number, value in lines:
        drawn.append(text_at(x - 6, y, name, FORMULA))
        if value:
            drawn += [small_map(value, x + 14, y - 10, 40, 13), text_at(x + 58, y, number, NUMBER, MUTED)]
        drawn.append(text_at(x, y, "=" if value else f"= {number}" if number else "", NUMBER))
        width = max(width, x + 14 + 44 * bool(value) + LETTER * wide(number) + MARGIN)
        y += LINE
    return width, y - 2 if lines else foot, drawn
