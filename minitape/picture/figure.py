"""The static picture of a snapshot as SVG: its nodes and edges, with what has arrived at the end of the sweep.

:mod:`.placement` gives each node its column, :mod:`.svg_elements` says how it looks, :mod:`.gradient_texts` what stands
below. Many columns continue in the next line, like text; an edge from another line, or from far away, is the name of
where it begins. A figure is always light; any viewer shows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from itertools import chain, groupby, product
from math import ceil
from typing import TYPE_CHECKING

from .expressions import Expressions, format_circled_row_number, format_row_title
from .gradient_texts import draw_gradient_result_lines, iter_gradient_result_lines
from .path_breaks import is_zero
from .picture_texts import translate
from .placement import Placement, PlacementItem
from .svg_elements import (
    ADJOINT_COLOR,
    BOLD_STYLE,
    BROKEN_COLOR,
    CUT_COLOR,
    EDGE_COLOR,
    MUTED_COLOR,
    NODE_COLORS,
    NODE_HEIGHT,
    NODE_WIDTH,
    NUMBER_STYLE,
    OUTLINE_STYLE,
    SANS_FONT,
    SMALL_STYLE,
    SWEPT_EDGE_COLOR,
    TITLE_STYLE,
    choose_border_and_fill_colors,
    choose_text_color,
    draw_cross,
    draw_node_box,
    draw_path,
    draw_text,
    draw_text_with_thumbnail,
    draw_value_in_node,
)
from .truncation import elide_text, measure_width, shorten_name
from .value_display import format_magnitude

if TYPE_CHECKING:
    from ..engine.types import Object
    from .snapshot_types import RowFields, Snapshot, StepFields, ValueFields

MARGIN, FRAME, HEADING = 8, 16, 12  # around a figure and around the frames of several tapes, and of a frame's name
COLUMN_PITCH, HALF_SLOT = 182, 35  # of a column, and of a half-slot
GUTTER, INDENT, DETOUR = 34, 56, 10  # between two lines, left of them, and from a node that an edge passes
CURVE_DEPTH = 16  # below nodes, of ways to states of variables
MAX_SINGLE_LINE, COLUMNS_PER_LINE = 6, 5  # columns: in one line, and in each of several
MAX_NODES, END_NODES = 60, 15  # nodes that are drawn; of a longer tape so many of the first and of the last ones
MAX_PORTS = 50  # inputs of an operation that are drawn, and told in words
MAX_NUMBERED_EDGES = 5  # inputs whose edges have room for numbers
TAPE_COLORS = ("#0072b2", "#a34a7e", "#00805c", "#8a5c00")  # the frames of tapes

Point = tuple[float, float]


@dataclass
class Node:
    """A box of the figure."""

    row: RowFields | None  # None for the rows that are left out
    inputs: list[tuple[int, int]]  # nodes, each with the port of the row
    tier: int = 0  # a lower one runs from right to left
    line: int = 0
    x: float = 0.0
    y: float = 0.0

    @property
    def direction(self) -> int:
        """1 where edges run to the right, -1 where to the left."""
        return -1 if self.tier else 1

    def compute_point(self, x_share: float, y_share: float = 0.5) -> Point:
        """Return a point of it, at these shares of its width and height."""
        return self.x + NODE_WIDTH * x_share, self.y + NODE_HEIGHT * y_share

    def compute_entry_point(self, port: int) -> Point:
        """Return the place before it at which an edge enters."""
        x, y = self.compute_point((1 - self.direction) / 2, (port + 1) / (len(self.inputs) + 1))
        return x - 2 * self.direction, y


class Figure:
    """The figure of a snapshot: its nodes, where they are, and what has arrived at them."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        steps = snapshot["sweep"]["steps"] if snapshot["sweep"] else []
        self.adjoints = collect_final_adjoints(steps)
        self.shares_by_edge = {(step["row"], edge["port"]): edge["product"] for step in steps for edge in step["edges"]}
        self.shown_results = [result for result in snapshot["results"] if result.get("shown")]
        sources = [(result["known"], source) for result in self.shown_results for source in result["sources"]]
        self.assigned_sources = {source["rows"][-1]: source for _, source in sources if source["now"]}
        self.none_rows = {
            source_fields["at"] for is_known, source_fields in sources if is_known and source_fields["gradient"] is None
        }
        self.expressions = Expressions(snapshot["rows"])
        self._select_nodes()
        self._place_nodes()

    def _select_nodes(self) -> None:
        """Choose the rows that are nodes: numbers of the program are part of the text of their consumer."""
        rows = self.snapshot["rows"]
        visible_rows = [row for row in rows if not row.get("literal")] or rows
        gap_index = END_NODES if len(visible_rows) > MAX_NODES else -1
        selected_rows = [*visible_rows[:END_NODES], None, *visible_rows[-END_NODES:]] if gap_index > 0 else visible_rows
        self.node_by_row = {row["row"]: index for index, row in enumerate(selected_rows) if row}  # row -> node
        literal_rows = {row["row"] for row in rows if row.get("literal")} - self.node_by_row.keys()
        self.nodes: list[Node] = []
        for index, row in enumerate(selected_rows):
            input_rows = row["inputs"] if row else []
            inputs = [
                (self.node_by_row.get(input_row, gap_index), port)
                for port, input_row in enumerate(input_rows)
                if input_row not in literal_rows
            ]
            self.nodes.append(Node(row, [edge for edge in inputs if 0 <= edge[0] < index][:MAX_PORTS]))
            self.node_by_row |= dict.fromkeys(
                literal_rows.intersection(input_rows) - self.node_by_row.keys(), index
            )  # a number is in its first consumer

    # -- where everything is -------------------------------------------------------------------------------------

    def _place_nodes(self) -> None:
        """Give each node its place, each edge its curve, and the figure its size."""
        for writer, nodes in groupby(self.nodes, lambda node: node.row and node.row["by"]):
            self._move_gradient_rows_to_lower_tier([*nodes] if writer is not None else [])
        placed = Placement([*map(self._build_placement_item, self.nodes)])
        columns = 1 + max(placed.column, default=0)
        columns_per_line = columns if columns <= MAX_SINGLE_LINE else ceil(columns / ceil(columns / COLUMNS_PER_LINE))
        for node, column in zip(self.nodes, placed.column, strict=True):
            node.line = column // columns_per_line
        near_edges = {
            edge_points
            for edge_points in placed.passed_points
            if self.nodes[edge_points[0]].line == self.nodes[edge_points[1]].line
        }
        used_slots = [
            (slot_node, node_column, node_slot + index)
            for slot_node, node_column, node_slot in zip(self.nodes, placed.column, placed.slot, strict=True)
            for index in (0, 1)
        ]
        used_slots += [
            (self.nodes[edge_points[1]], *point)
            for edge_points in near_edges
            for point in placed.passed_points[edge_points]
        ]
        tapes, tiers = len(self.snapshot["tapes"]), sorted({node.tier for node in self.nodes})
        frame, indent = FRAME * (tapes > 1), INDENT * (columns_per_line < columns)
        left_edge, top = MARGIN + frame + indent, MARGIN + frame + HEADING * tapes * (tapes > 1)
        tops: dict[tuple[int, int], float] = {}  # of each part of a line that has a tier
        for part in product(range(ceil(columns / columns_per_line)), tiers):
            if part_slots := [
                slot for node, column, slot in used_slots if (column // columns_per_line, node.tier) == part
            ]:
                tops[part] = top - min(part_slots) * HALF_SLOT
                top += (max(part_slots) - min(part_slots) - 1) * HALF_SLOT + NODE_HEIGHT + GUTTER + frame
        self.bottom = top - GUTTER + MARGIN
        self.width = (
            left_edge + (columns_per_line - 1) * COLUMN_PITCH + NODE_WIDTH + frame + MARGIN + indent * any(tiers)
        )  # of a lower one, too

        def compute_position(column: int, slot: float, tier: int) -> Point:
            return left_edge + column % columns_per_line * COLUMN_PITCH, tops[
                column // columns_per_line, tier
            ] + slot * HALF_SLOT

        for node, column, slot in zip(self.nodes, placed.column, placed.slot, strict=True):
            node.x, node.y = compute_position(column, slot, node.tier)
        self.curves: dict[tuple[int, int, int], list[Point]] = {}  # start, end and place among its edges -> points
        for index, node in enumerate(self.nodes):
            for port, (start, _) in enumerate(node.inputs):
                input_node = self.nodes[start]
                if (input_node.line, input_node.tier) == (node.line, node.tier):
                    passed_points = (
                        compute_position(column, slot + 0.5, node.tier)
                        for column, slot in placed.passed_points.get((start, index), ())
                    )
                    edge_points = (
                        ((x - DETOUR, y), (x + NODE_WIDTH + DETOUR, y))[:: node.direction] for x, y in passed_points
                    )
                    self.curves[start, index, port] = [
                        input_node.compute_point((1 + node.direction) / 2),
                        *chain(*edge_points),
                        node.compute_entry_point(port),
                    ]

    def _move_gradient_rows_to_lower_tier(self, nodes: list[Node]) -> None:
        """Put what a gradient wrote into a tier of its own, if each of its operations is below one that none wrote."""
        rows = [
            self.expressions.rows_by_number.get(node.row.get("below", -1)) for node in nodes if node.row and node.inputs
        ]
        if rows and all(row is not None and row["by"] is None for row in rows):
            for node in nodes:
                node.tier = 1 + self.nodes.index(nodes[0])

    def _build_placement_item(self, node: Node) -> PlacementItem:
        """Return what is placed; its section changes where a tape ends, and where its gradient begins to write."""
        row = node.row
        if row is None:
            return PlacementItem([], True, "left out")
        node_below = self.node_by_row.get(row.get("below", -1), -1) if node.tier else -1
        ended_spans = sum(
            end <= row["row"] for tape in self.snapshot["tapes"] for span in tape["spans"] for end in span
        )
        is_leaf = row["kind"] != "operation" and not node.inputs
        return PlacementItem(
            [start for start, _ in node.inputs], is_leaf, (row["by"], ended_spans), node.tier, node_below
        )

    # -- drawing -------------------------------------------------------------------------------------------------

    def build_svg(self, title: str = "", description: str = "") -> str:
        """Return the text; ``title`` and ``description`` are the picture in a line, and in words."""
        lines, assignment_curves = (
            [*iter_gradient_result_lines(self.shown_results, self.expressions)],
            [*self._draw_assignment_curves()],
        )
        width, height, gradient_parts = draw_gradient_result_lines(
            lines, self.width, self.bottom + CURVE_DEPTH * bool(assignment_curves)
        )
        total_height = max(height, 40)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{total_height}" '
            f'viewBox="0 0 {width} {total_height}" font-family="{SANS_FONT}" role="img">'
            f"<title>{escape(title)}</title><desc>{escape(description)}</desc>"
            f'<rect width="{width}" height="{total_height}" rx="6" fill="#ffffff"/>',
        ]
        if not self.nodes:
            parts.append(draw_text(MARGIN, 25, translate("nothing recorded"), TITLE_STYLE, MUTED_COLOR))
        path_breaks, nodes = [*self._draw_escapes()], map(self._draw_node, self.nodes)
        for layer in (
            self._draw_frames(),
            path_breaks[::2],
            self._draw_edges(),
            assignment_curves,
            nodes,
            path_breaks[1::2],
            gradient_parts,
        ):
            parts += layer
        # with five digits in tags
        return re.sub(r"\d+\.\d+(e-?\d+)?(?=[^<]*>)", lambda match: f"{float(match[0]):.5g}", "".join(parts)) + "</svg>"

    def _draw_frames(self) -> Iterator[str]:
        """Yield a frame around what each tape recorded, if there are several, and around each lower tier."""
        tapes = self.snapshot["tapes"]
        names = [shorten_name(tape["name"], 12) for tape in tapes]
        rows = [(node, node.row) for node in self.nodes if node.row]
        for index, tape in enumerate(tapes if len(tapes) > 1 else []):
            inner_nodes = [
                node for node, row in rows if any(first <= row["row"] < last for first, last in tape["spans"])
            ]
            yield from draw_frame(inner_nodes, names[index], len(tapes) - index, TAPE_COLORS[index % len(TAPE_COLORS)])
        writer_by_tier = {node.tier: row["by"] or 0 for node, row in rows if node.tier}
        for tier, writer in writer_by_tier.items():
            yield from draw_frame(
                [node for node in self.nodes if node.tier == tier], f"{names[writer]}.gradient", 1, MUTED_COLOR, "5 2"
            )

    def _draw_node(self, node: Node) -> str:
        row, x, y = node.row, node.x, node.y
        if row is None:
            row_before, row_after = (self.nodes[END_NODES + offset].row or {"row": 0} for offset in (-1, 1))
            text = translate("{n} rows", n=row_after["row"] - row_before["row"] - 1)
            return draw_node_box(x, y, "gap", *NODE_COLORS["gap"], "2 3") + draw_text(x + 10, y + 30, text, TITLE_STYLE)
        padding = 16 if row["kind"] == "source" else 10
        number_text = draw_text(
            x + NODE_WIDTH - padding + 2, y + 16, str(row["row"]), f'{SMALL_STYLE} text-anchor="end"', MUTED_COLOR
        )
        title = self._draw_node_title(row, x + padding, y + 17, x + NODE_WIDTH - padding - 4 - 7 * len(str(row["row"])))
        return (
            self._draw_node_border(row, x, y)
            + title
            + number_text
            + self._draw_node_value(node, row, padding)
            + self._draw_node_adjoint(node, row, padding)
        )

    def _draw_node_border(self, row: RowFields, x: float, y: float) -> str:
        """Return the box of a node; its colour, width and dashes say what the row is."""
        sweep = self.snapshot["sweep"]
        color, fill = choose_border_and_fill_colors(row)
        is_broken = row["row"] in self.snapshot.get("broken", ())  # where `explain` puts the blame
        color = BROKEN_COLOR if is_broken else CUT_COLOR if row["cut"] else choose_text_color(row["value"], color)
        dash_pattern = "2 3" if row["status"] == "ghost" else "5 2" if row["by"] is not None else ""
        has_two_lines = row["kind"] == "variable"  # it has two lines
        width = 4.6 if has_two_lines else 2.4 if is_broken or (sweep and row["row"] in sweep["target"]) else 1.3
        box = draw_node_box(x, y, row["kind"], color, fill, dash_pattern, width)
        return box + draw_node_box(x, y, row["kind"], fill, "none", "", 2.2) * has_two_lines

    def _draw_node_title(self, row: RowFields, x: float, y: float, right: float) -> str:
        """Return the name, and small beside it the operation; beside that of a weight its layer."""
        is_operation, max_letters = row["kind"] == "operation", max(3, int((right - x) / 7.4))
        name, texts = (
            (row["name"], self.expressions.list_texts_longest_first(row))
            if is_operation
            else (format_row_title(row), [""])
        )
        if not name:
            return draw_text(x, y, choose_first_fitting_text(texts, (right - x) / 7.0), TITLE_STYLE)
        if row["kind"] == "variable" and measure_width(name) > max_letters:
            layer, _, name = name.replace("/", ".").rpartition(".")
            texts = [layer.rpartition(".")[2]]
        title = shorten_name(name, max_letters)
        text_left = x + 7.4 * measure_width(title) + 6
        operation_text = draw_text(
            text_left, y, choose_first_fitting_text(texts, (right - text_left) / 6.4), SMALL_STYLE, MUTED_COLOR
        )
        return draw_text(x, y, title, TITLE_STYLE + BOLD_STYLE * bool(row["name"])) + operation_text

    def _draw_node_value(self, node: Node, row: RowFields, padding: int) -> str:
        """Return the value; of a variable that was assigned after the gradient what it held, and what it holds now."""
        x, y, update = node.x, node.y + 32, self.assigned_sources.get(row["row"])
        if row["released"] and not update:
            return draw_text(x + padding, y, translate("released"), NUMBER_STYLE)
        if update is None:
            return draw_value_in_node(x, y, padding, "", row["value"], row)
        prefix = "" if row["shape"] else f"{format_magnitude(row['value'] or {}, 6)} "
        return draw_value_in_node(x, y, padding, f"{prefix}→ ", update["now"], row)

    def _draw_node_adjoint(self, node: Node, row: RowFields, padding: int) -> str:
        """Return the adjoint: how large an array is, with its picture."""
        adjoint, is_none = self.adjoints.get(row["row"]), row["row"] in self.none_rows
        text = "None" if is_none else format_magnitude(adjoint, 12) if adjoint else ""
        color = CUT_COLOR if is_none else choose_text_color(adjoint, ADJOINT_COLOR)
        return (
            draw_text_with_thumbnail(node.x, node.y + 45.5, padding, f"∂ {text}", adjoint, color, True) if text else ""
        )

    # -- edges ---------------------------------------------------------------------------------------------------

    def _draw_edges(self) -> Iterator[str]:
        """Yield the edges into each node, and behind them the number that the sweep has sent over each."""
        number_texts = []
        for index, node in enumerate(self.nodes):
            row = node.row
            if row is None or not node.inputs:
                continue
            for port, (start, row_port) in enumerate(node.inputs):
                curve, product = self.curves.get((start, index, port)), self.shares_by_edge.get((row["row"], row_port))
                if curve is None:
                    yield draw_abbreviated_edge(
                        self.nodes[start].row, *node.compute_entry_point(port), node.direction, product is not None
                    )
                    continue
                dash_pattern = "3 4" if row["cut"] or row["status"] == "ghost" else ""
                dash_pattern = "1 4" if product and is_zero(product) else dash_pattern
                yield draw_path(
                    build_edge_path(curve, product is not None),
                    CUT_COLOR if row["cut"] else SWEPT_EDGE_COLOR if product else EDGE_COLOR,
                    dash_pattern,
                )
                if product and len(node.inputs) <= MAX_NUMBERED_EDGES:
                    has_lane = len(curve) > 2  # where no other edge crosses it
                    x, y = curve[-1 - has_lane]
                    x -= (4 + 46 * port * has_lane) * node.direction
                    number_texts.append(
                        draw_text(
                            x,
                            y + 4,
                            format_magnitude(product, 7),
                            f'{NUMBER_STYLE} text-anchor="{"end" if node.direction > 0 else "start"}"{OUTLINE_STYLE}',
                            choose_text_color(product, ADJOINT_COLOR),
                        )
                    )
            if row["cut"]:
                x, y = node.compute_entry_point(0)
                yield draw_cross(x - 5 * node.direction, y)
        yield from number_texts

    def _draw_assignment_curves(self) -> Iterator[str]:
        """Yield dashed curves to states of variables, below the nodes; crossed if they come from an assigned value."""
        events: Object = self.snapshot["events"]
        for event in events:
            end = self.node_by_row.get(event.get("to"))
            for field in ("from", "row"):
                start = self.node_by_row.get(event.get(field))
                if start is None or end is None or start == end:
                    continue
                (x0, y0), (x1, y1) = (self.nodes[index].compute_point(0.5, 1) for index in (start, end))
                lowest = max(y0, y1) + 1.6 * CURVE_DEPTH
                path = f"M{x0} {y0}C{x0} {lowest} {x1} {lowest} {x1} {y1 + 2}m-3.5 5.5l3.5 -5.5l3.5 5.5"
                yield draw_path(path, NODE_COLORS["variable"][0], "4 4", 1.2)
                if field == "row":
                    yield draw_cross((x0 + x1) / 2, (y0 + y1) / 8 + 0.75 * lowest)

    def _draw_escapes(self) -> Iterator[str]:
        """Yield a torn edge where a value escaped, to the node as which it came back; and what took it, and where."""
        for path_break in self.snapshot.get("torn", []):
            start, end = self.node_by_row.get(path_break["from"]), self.node_by_row.get(path_break["to"])
            if path_break["kind"] != "left" or start is None:
                continue
            x, y = self.nodes[start].compute_point(0.5)
            to_x, to_y = (x, y + NODE_HEIGHT) if end is None else self.nodes[end].compute_point(0.5)
            middle, level = (x + to_x) / 2, (y + to_y) / 2
            text = f"{path_break['text']}, {translate('line {0}').replace('{0}', str(path_break['line']))}"
            yield draw_path(f"M{x} {y}L{to_x} {to_y}", CUT_COLOR, "4 4", 1.4)
            yield draw_cross(middle, level) + draw_text(
                middle + 10, level + 4, text, f"{SMALL_STYLE}{BOLD_STYLE}{OUTLINE_STYLE}", CUT_COLOR
            )


def draw_frame(nodes: list[Node], name: str, nesting_depth: int, color: str, dash_pattern: str = "") -> Iterator[str]:
    """Yield a frame around nodes and ``nesting_depth`` - 1 others; in each line a part, the name on the first."""
    padding, heading_height = 4 + 4 * nesting_depth, HEADING * nesting_depth
    for line in sorted({node.line for node in nodes}):
        xs, ys = zip(*((node.x, node.y) for node in nodes if node.line == line), strict=True)
        x, y = min(xs) - padding, min(ys) - padding - heading_height
        width, height = max(xs) + NODE_WIDTH + padding - x, max(ys) + NODE_HEIGHT + padding - y
        yield draw_path(f"M{x} {y}h{width}v{height}h{-width}z", color, dash_pattern, 1)
        yield draw_text(x + 8, y + 12, name if heading_height else "", SMALL_STYLE + BOLD_STYLE, color)
        heading_height = 0


def draw_abbreviated_edge(input_row: RowFields | None, x: float, y: float, direction: int, is_swept: bool) -> str:
    """Return an edge from another line or tier, or from far away: the name of its row, or the number."""
    text = (
        "…"
        if input_row is None
        else shorten_name((input_row["name"] or format_circled_row_number(input_row["row"])).removesuffix(":0"), 6)
    )
    width = 6.2 * measure_width(text) + 8
    middle = x - direction * (width / 2 + 9)
    box_colors = 'fill="#f2f3f5" stroke="#b3bac2"'
    box = f'<rect x="{middle - width / 2}" y="{y - 8}" width="{width}" height="16" rx="8" {box_colors}/>'
    line = draw_path(
        build_edge_path([(x - 9 * direction, y), (x, y)], is_swept),
        SWEPT_EDGE_COLOR if is_swept else EDGE_COLOR,
        width=1.2,
    )
    return line + box + draw_text(middle, y + 4, text, f'{SMALL_STYLE} text-anchor="middle"', MUTED_COLOR)


def build_arrowhead_path(direction: int) -> str:
    """Return the head of an arrow that ends here, and came to the right or to the left."""
    return f"m{-5.5 * direction} -3.5l{5.5 * direction} 3.5l{-5.5 * direction} 3.5"


def build_edge_path(points: list[Point], is_swept: bool) -> str:
    """Return the SVG path through these points, level at each, with an arrowhead at its end.

    The arrowhead is at its beginning if the sweep went over it (``is_swept``).

    >>> build_edge_path([(0, 0), (60, 20)], is_swept=False)
    'M0 0C30.0 0 30.0 20 60 20m-5.5 -3.5l5.5 3.5l-5.5 3.5'
    """
    (x, y), *other_points = points
    direction = 1 if other_points[-1][0] > x else -1
    start, path = f"M{x + 2 * direction} {y}{build_arrowhead_path(-direction)}", f"M{x} {y}"
    for to_x, to_y in other_points:
        middle = (x + to_x) / 2
        path += f"C{middle} {y} {middle} {to_y} {to_x} {to_y}"
        x, y = to_x, to_y
    return start + path if is_swept else path + build_arrowhead_path(direction)


def choose_first_fitting_text(texts: list[str], max_letters: float) -> str:
    """Return the first of these that has so many letters; of the last one what fits."""
    return next(
        (text for text in texts if measure_width(text) <= max_letters),
        elide_text(texts[-1], int(max_letters)) if max_letters > 2 else "",
    )


def collect_final_adjoints(steps: Iterable[StepFields]) -> dict[int, ValueFields | None]:
    """Return by row the adjoint that has arrived after these steps of a sweep."""
    adjoints: dict[int, ValueFields | None] = {}
    for step in steps:
        adjoints |= {step["row"]: step["adjoint"]} | {edge["input"]: edge["sum"] for edge in step["edges"]}
    return adjoints
