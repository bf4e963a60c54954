"""Draw two tapes in one layout, with matching rows on one line and the first difference marked.

The picture is an SVG that needs no script. The picture plays once. Both tapes run forward line by line, then the
adjoints come back, and finally the two results appear.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, TypeAlias

from minitape.picture.expressions import Expressions, format_row_reference, format_row_title
from minitape.picture.picture_texts import translate
from minitape.picture.svg_elements import (
    ADJOINT_COLOR,
    BROKEN_COLOR,
    CUT_COLOR,
    EDGE_COLOR,
    MUTED_COLOR,
    NUMBER_STYLE,
    SANS_FONT,
    SMALL_STYLE,
    TEXT_COLOR,
    TITLE_STYLE,
    choose_border_and_fill_colors,
    choose_text_color,
    draw_text,
)
from minitape.picture.tape_difference import RTOL, Alignment, RowPair
from minitape.picture.truncation import elide_text
from minitape.picture.value_display import compute_largest_magnitude, format_magnitude

if TYPE_CHECKING:
    from minitape.picture.snapshot_types import RowFields, Snapshot, ValueFields
    from minitape.picture.tape_difference import TapeDifference

# Lengths are in pixels.
BOX_WIDTH, BOX_HEIGHT = 250, 38
LINE_PITCH = 48
ARC_SPACE = 46  # The space for the arcs on the outer side of each tape.
MIDDLE = 46  # The space between the tapes, for the signs.
HEADING = 30
BOX_LEFTS = ARC_SPACE, ARC_SPACE + BOX_WIDTH + MIDDLE
FIGURE_WIDTH = 2 * (ARC_SPACE + BOX_WIDTH) + MIDDLE
EXPRESSION_LETTERS, VALUE_LETTERS = 21, 11
MAX_LINES, LINES_BEFORE, LINES_AFTER = 14, 4, 7  # A longer comparison is drawn only around the first difference.
MIN_DIGITS, MAX_DIGITS = 4, 8  # The digits of a number in the live picture.
PLAYING_SECONDS, MAX_STEP_SECONDS = 7.0, 0.5
FILL_OF_CHANGED, FILL_OF_DIFFERENCE = "#fff4e5", "#fdecea"

Scales: TypeAlias = dict[int, list[float]]  # By row, the largest magnitude of a value and of an adjoint.

STYLE = (
    "@keyframes mt-appear{from{opacity:0}}"
    "@keyframes mt-flash{0%,40%{transform:scale(1.6)}}"
    ".mt-step{animation:mt-appear .35s both}.mt-unequal{transform-box:fill-box;transform-origin:center;"
    "animation:mt-flash .8s both}"
    "@media (prefers-reduced-motion:reduce){.mt-step,.mt-unequal{animation:none}}"
)


def draw_comparison(
    titles: Sequence[str], snapshots: tuple[Snapshot, Snapshot], results: Sequence[str], difference: TapeDifference
) -> str:
    """Draw two tapes side by side in one layout, and return the SVG text.

    Args:
        titles: The title above each tape.
        snapshots: The snapshots. The picture uses the names in the snapshots.
        results: The return value of each tape's program as text, or "" to draw no such line.
        difference: The first difference, as ``find_first_difference`` returns it.
    """
    return _ComparisonFigure(titles, snapshots, results, difference).build_svg()


class _ComparisonFigure:
    """The lines of a comparison, and the time at which each appears."""

    def __init__(
        self,
        titles: Sequence[str],
        snapshots: tuple[Snapshot, Snapshot],
        results: Sequence[str],
        difference: TapeDifference,
    ) -> None:
        self.titles, self.results, self.difference = titles, results, difference
        pairs = [pair for pair in align_rows(*snapshots) if self._is_drawn(pair)]
        self.lines = _select_lines(pairs, self._is_difference)
        self.expressions = [Expressions(snapshot["rows"]) for snapshot in snapshots]
        self.adjoints = [_collect_adjoints(snapshot) for snapshot in snapshots]
        # Forward, back, and the results.
        self.step = min(MAX_STEP_SECONDS, PLAYING_SECONDS / (2 * len(self.lines) + 1))

    def _is_drawn(self, pair: RowPair) -> bool:
        """Return whether a pair has its own line. Number literals do not, because they appear in expressions."""
        is_number = all(row is None or (row["kind"] == "constant" and not row["name"]) for row in pair)
        return self._is_difference(pair) or not is_number

    def _is_difference(self, pair: RowPair) -> bool:
        """Return whether the two tapes first differ in these rows."""
        numbers = [None if row is None else row["row"] for row in self.difference.rows]
        return [None if row is None else row["row"] for row in pair] == numbers

    def build_svg(self) -> str:
        """Build the SVG."""
        tops = [HEADING + number * LINE_PITCH for number in range(len(self.lines))]
        parts = [
            draw_text(left, 16, title, TITLE_STYLE, is_bold=True)
            for left, title in zip(BOX_LEFTS, self.titles, strict=True)
        ]
        parts += [self._draw_arcs(tops)]
        for number, (pair, top) in enumerate(zip(self.lines, tops, strict=True)):
            seconds = number * self.step
            if pair is None:
                dots = draw_text(FIGURE_WIDTH / 2, top + 24, "⋮", f'{TITLE_STYLE} text-anchor="middle"', MUTED_COLOR)
                parts += [_delay_element(dots, seconds)]
                continue
            boxes = "".join(self._draw_row(side, row, pair, top) for side, row in enumerate(pair) if row is not None)
            parts += [_delay_element(boxes, seconds), self._draw_sign(pair, top, seconds)]
            parts += [self._draw_adjoint(side, row, top, number) for side, row in enumerate(pair) if row is not None]
        bottom = HEADING + len(self.lines) * LINE_PITCH
        parts += [_delay_element(self._draw_results(bottom + 14), 2 * len(self.lines) * self.step)]
        height = bottom + 30
        label = escape("; ".join(self.titles))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {FIGURE_WIDTH} {height}" role="img" '
            f'aria-label="{label}" font-family="{SANS_FONT}" style="max-width:{FIGURE_WIDTH}px;width:100%;'
            f'background:#fff"><style>{STYLE}</style>{"".join(parts)}</svg>'
        )

    def _draw_row(self, side: int, row: RowFields, pair: RowPair, top: float) -> str:
        """Draw the box of a row: its name and expression, and its value.

        Args:
            side: 0 for the left tape, or 1 for the right one.
            row: The row.
            pair: The row with its partner.
            top: The upper edge.
        """
        left, (color, fill) = BOX_LEFTS[side], choose_border_and_fill_colors(row)
        if self._is_difference(pair):
            color, fill = BROKEN_COLOR, FILL_OF_DIFFERENCE
        elif row["row"] in self.difference.changed_rows[side]:
            fill = FILL_OF_CHANGED
        dashes = "" if row["status"] == "recorded" else ' stroke-dasharray="4 3"'
        box = (
            f'<rect x="{left}" y="{top}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="8" fill="{fill}" '
            f'stroke="{color}" stroke-width="1.3"{dashes}/>'
        )
        number = "" if row["name"] or row["kind"] != "operation" else format_row_reference(row["row"])
        text_left = left + 10 + (7 * len(number) + 9 if number else 0)
        text = draw_text(left + 10, top + 16, number, TITLE_STYLE, MUTED_COLOR)
        text += draw_text(text_left, top + 16, self._format_row(side, row), TITLE_STYLE, TEXT_COLOR)
        value = _format_number(row["value"])
        end = f'{NUMBER_STYLE} text-anchor="end"'
        text += draw_text(left + BOX_WIDTH - 10, top + 16, value, end, choose_text_color(row["value"]), True)
        notes = {
            translate("not recorded"): row["status"] != "recorded" and row["kind"] == "operation",
            translate("not watched"): row["kind"] == "variable" and not row["watched"],
            translate("watched"): row["kind"] in ("source", "variable") and bool(row["watched"]),
            translate("no gradient passes"): row["cut"],
        }
        note = translate(", ").join(note for note, applies in notes.items() if applies)
        return box + text + draw_text(text_left, top + 31, note, SMALL_STYLE, CUT_COLOR if row["cut"] else MUTED_COLOR)

    def _format_row(self, side: int, row: RowFields) -> str:
        """Return the name and the expression of a row, shortened to the width of the box.

        Args:
            side: 0 for the left tape, or 1 for the right one.
            row: The row.
        """
        if row["kind"] != "operation":
            return elide_text(format_row_title(row), EXPRESSION_LETTERS)
        name = f"{row['name']} = " if row["name"] else ""
        texts = [f"{name}{text}" for text in self.expressions[side].list_texts_longest_first(row)]
        return next((text for text in texts if len(text) <= EXPRESSION_LETTERS), elide_text(texts[-1], 21))

    def _draw_sign(self, pair: RowPair, top: float, seconds: float) -> str:
        """Draw the sign between two rows: = or ≠.

        Args:
            pair: The rows.
            top: The upper edge of their boxes.
            seconds: The time at which the sign appears.
        """
        is_changed = any(
            row is not None and row["row"] in self.difference.changed_rows[side] for side, row in enumerate(pair)
        )
        differs = self._is_difference(pair)
        sign, color = ("≠", BROKEN_COLOR) if differs or is_changed or None in pair else ("=", MUTED_COLOR)
        style = f'font-size="{20 if differs else 14}" text-anchor="middle"'
        text = draw_text(FIGURE_WIDTH / 2, top + 25, sign, style, color, differs)
        return _delay_element(text, seconds, "mt-step mt-unequal" if differs else "mt-step")

    def _draw_adjoint(self, side: int, row: RowFields, top: float, number: int) -> str:
        """Draw the adjoint of a row, which appears on the way back.

        Args:
            side: 0 for the left tape, or 1 for the right one.
            row: The row.
            top: The upper edge of its box.
            number: The number of its line.
        """
        adjoint = self.adjoints[side].get(row["row"])
        if adjoint is None:
            return ""
        text = f"∂ {_format_number(adjoint)}"
        style = f'{NUMBER_STYLE} text-anchor="end"'
        seconds = (2 * len(self.lines) - 1 - number) * self.step
        return _delay_element(
            draw_text(BOX_LEFTS[side] + BOX_WIDTH - 10, top + 31, text, style, ADJOINT_COLOR, True), seconds
        )

    def _draw_arcs(self, tops: Sequence[float]) -> str:
        """Draw the edges as arcs on the outer side of each tape."""
        arcs = []
        for side in (0, 1):
            places = {
                row["row"]: top + BOX_HEIGHT / 2
                for pair, top in zip(self.lines, tops, strict=True)
                if pair is not None and (row := pair[side]) is not None
            }
            edge, outward = (BOX_LEFTS[0], -1) if side == 0 else (BOX_LEFTS[1] + BOX_WIDTH, 1)
            for number, (pair, _) in enumerate(zip(self.lines, tops, strict=True)):
                row = None if pair is None else pair[side]
                inputs = [] if row is None else [place for place in dict.fromkeys(row["inputs"]) if place in places]
                for input_number in inputs:
                    assert row is not None
                    start, end = places[input_number], places[row["row"]] - 5
                    depth = outward * min(ARC_SPACE - 8, 10 + abs(end - start) / 7)
                    color, dashes = (CUT_COLOR, ' stroke-dasharray="4 3"') if row["cut"] else (EDGE_COLOR, "")
                    arc = (
                        f'<path d="M{edge} {start}C{edge + depth} {start} {edge + depth} {end} {edge} {end}" '
                        f'fill="none" stroke="{color}" stroke-width="1.2"{dashes}/>'
                    )
                    arcs.append(_delay_element(arc, number * self.step))
        return "".join(arcs)

    def _draw_results(self, baseline: float) -> str:
        """Draw the return values of the two programs below the tapes.

        Args:
            baseline: The baseline of the texts.
        """
        results = self.results
        if not all(results):
            return ""
        colors = [TEXT_COLOR, TEXT_COLOR] if results[0] == results[1] else [BROKEN_COLOR, TEXT_COLOR]
        texts = [translate("result: {value}", value=elide_text(result, 36)) for result in results]
        drawn = [
            draw_text(left + 10, baseline, text, TITLE_STYLE, color, True)
            for left, text, color in zip(BOX_LEFTS, texts, colors, strict=True)
        ]
        return "".join(drawn)


def align_rows(first: Snapshot, second: Snapshot) -> list[RowPair]:
    """Return the rows of two tapes as pairs of rows that belong together, in order.

    Args:
        first: A snapshot.
        second: Another snapshot.

    Returns:
        The pairs, with None for a row that only the other tape has.

    >>> import minitape as tf
    >>> def made(f):
    ...     x = tf.Variable(2.0, name="x")
    ...     with tf.GradientTape() as tape:
    ...         y = f(x)
    ...     return tf.snapshot(tape, y, x)
    >>> pairs = align_rows(made(lambda x: 3.0 * x), made(lambda x: x * x))
    >>> [[row and row["label"].removesuffix(":0") for row in pair] for pair in pairs]
    [['x', 'x'], ['const', None], ['×', '×']]
    """
    alignment = Alignment(first, second)
    for own_row, other_row, next_rows in alignment.iter_pairs():
        alignment.compare_rows_and_record_difference(own_row, other_row, next_rows)
        if own_row is not None and other_row is not None:
            alignment.partners.setdefault(own_row["row"], other_row["row"])
    own_rows, other_rows = alignment.rows
    own_leaves, other_leaves = (
        [number for number, row in rows.items() if row["watched"] and number not in taken]
        for rows, taken in zip(alignment.rows, (alignment.partners, [*alignment.partners.values()]), strict=True)
    )
    # Watched leaves that have not been paired through their rows are paired in order.
    alignment.partners.update(zip(own_leaves, other_leaves, strict=False))
    partners, pairs = alignment.partners, list[RowPair]()
    partnered = {number: row for number, row in other_rows.items() if number in partners.values()}
    unplaced = {number: row for number, row in other_rows.items() if number not in partnered}
    for number, own_row in own_rows.items():
        other_row = partnered.pop(partners.get(number, -1), None)
        place = -1 if other_row is None else other_row["row"]
        pairs += [(None, unplaced.pop(earlier)) for earlier in [*unplaced] if earlier < place]
        pairs.append((own_row, other_row))
    return [*pairs, *((None, row) for row in unplaced.values())]


def list_unpaired_operations(pairs: Sequence[RowPair]) -> tuple[list[int], list[int]]:
    """List the operations that only one of two tapes has.

    Args:
        pairs: The pairs of their rows, as from `align_rows`.

    Returns:
        The rows of the first tape, and those of the second.

    >>> import minitape as tf
    >>> def made(f):
    ...     x = tf.Variable(2.0, name="x")
    ...     with tf.GradientTape() as tape:
    ...         y = f(tf.sin(x))
    ...     return tf.snapshot(tape, y, x)
    >>> list_unpaired_operations(align_rows(made(lambda u: u), made(lambda u: u + 1.0)))
    ([], [3])
    """
    own_alone = [own["row"] for own, other in pairs if own is not None and other is None and own["inputs"]]
    other_alone = [other["row"] for own, other in pairs if other is not None and own is None and other["inputs"]]
    return own_alone, other_alone


def _select_lines(pairs: list[RowPair], is_difference: Callable[[RowPair], bool]) -> list[RowPair | None]:
    """Select the lines to draw.

    Args:
        pairs: The pairs of rows.
        is_difference: Returns whether a pair is the first difference.

    Returns:
        All pairs of a short comparison, or else the pairs around the difference, with None for a gap.
    """
    if len(pairs) <= MAX_LINES:
        return [*pairs]
    place = next((number for number, pair in enumerate(pairs) if is_difference(pair)), len(pairs) - 1)
    begin, end = max(0, place - LINES_BEFORE), min(len(pairs), place + LINES_AFTER)
    head: list[RowPair | None] = [pairs[0], None] if begin > 1 else [*pairs[:begin]]
    tail: list[RowPair | None] = [None, pairs[-1]] if end < len(pairs) - 1 else [*pairs[end:]]
    return [*head, *pairs[begin:end], *tail]


def find_common_scales(pairs: Sequence[RowPair], first: Snapshot, second: Snapshot) -> tuple[Scales, Scales]:
    """Find the scales in which two arrays that belong together can be compared by their colors.

    Args:
        pairs: The pairs of rows of two snapshots, as from `align_rows`.
        first: A snapshot.
        second: Another snapshot.

    Returns:
        For each snapshot, by row, the largest magnitude in both values, and in both adjoints or 0 without adjoints.
        Rows without arrays and rows whose largest magnitudes agree are left out.

    >>> import minitape as tf
    >>> def made(factor):
    ...     x = tf.Variable([1.0, 2.0], name="x")
    ...     with tf.GradientTape() as tape:
    ...         y = x * factor
    ...     return tf.snapshot(tape, y, x)
    >>> snapshots = made(1.0), made(3.0)
    >>> find_common_scales(align_rows(*snapshots), *snapshots)
    ({0: [2.0, 3.0], 2: [6.0, 1.0]}, {0: [2.0, 3.0], 2: [6.0, 1.0]})
    """
    adjoints, other_adjoints = _collect_adjoints(first), _collect_adjoints(second)
    scales: tuple[Scales, Scales] = {}, {}
    for row, other_row in pairs:
        if row is None or other_row is None or not row["shape"]:
            continue
        sizes = [
            [compute_largest_magnitude(value) for value in both if value is not None]
            for both in (
                (row["value"], other_row["value"]),
                (adjoints.get(row["row"]), other_adjoints.get(other_row["row"])),
            )
        ]
        if any(len({*both}) > 1 for both in sizes):
            common = [max(filter(math.isfinite, both), default=0.0) for both in sizes]
            scales[0][row["row"]] = scales[1][other_row["row"]] = common
    return scales


def count_distinct_digits(pairs: Sequence[RowPair], first: Snapshot, second: Snapshot) -> int:
    """Count the digits that every two numbers need to look different if they belong together and differ.

    Args:
        pairs: The pairs of rows of two snapshots, as from `align_rows`.
        first: A snapshot.
        second: Another snapshot.

    Returns:
        The number of significant digits, at least 4 and at most 8.

    >>> import minitape as tf
    >>> def made(factor):
    ...     x = tf.Variable(2.0, name="x")
    ...     with tf.GradientTape() as tape:
    ...         y = x * factor
    ...     return tf.snapshot(tape, y, x)
    >>> for snapshots in [(made(1.0), made(3.0)), (made(1.0), made(1.0001))]:
    ...     print(count_distinct_digits(align_rows(*snapshots), *snapshots))
    4
    5
    """
    adjoints, other_adjoints = _collect_adjoints(first), _collect_adjoints(second)
    values = []
    for row, other_row in pairs:
        if row is not None and other_row is not None:
            values += [
                (row["value"], other_row["value"]),
                (adjoints.get(row["row"]), other_adjoints.get(other_row["row"])),
            ]
    numbers = [
        numbers
        for value, other_value in values
        for numbers in zip(_list_numbers(value), _list_numbers(other_value), strict=False)
        if not math.isclose(*numbers, rel_tol=RTOL, abs_tol=RTOL * RTOL)
    ]
    for digits in range(MIN_DIGITS, MAX_DIGITS):
        if all(f"{number:.{digits}g}" != f"{other:.{digits}g}" for number, other in numbers):
            return digits
    return MAX_DIGITS


def _list_numbers(value: ValueFields | None) -> list[float]:
    """List the finite numbers of a value, or none if only its statistics are known."""
    data = None if value is None else value.get("data")
    parts = [data]
    numbers: list[float] = []
    while parts:
        part = parts.pop()
        if isinstance(part, list):
            parts += reversed(part)
        elif isinstance(part, (int, float)):
            numbers.append(float(part))
    return numbers


def _collect_adjoints(snapshot: Snapshot) -> dict[int, ValueFields]:
    """Collect the adjoint of each row at the end of the sweep."""
    sweep = snapshot["sweep"]
    if sweep is None:
        return {}
    adjoints = {edge["input"]: edge["sum"] for step in sweep["steps"] for edge in step["edges"]}
    return adjoints | {step["row"]: step["adjoint"] for step in sweep["steps"]}


def _format_number(value: ValueFields | None) -> str:
    return "" if value is None else format_magnitude(value, VALUE_LETTERS)


def _delay_element(element: str, seconds: float, names: str = "mt-step") -> str:
    """Return an element that appears after some seconds.

    Args:
        element: The SVG of the element.
        seconds: The time.
        names: The names of its classes.
    """
    return f'<g class="{names}" style="animation-delay:{seconds:.2f}s">{element}</g>' if element else ""
