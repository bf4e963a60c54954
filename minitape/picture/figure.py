"""Draw a static picture of a snapshot as SVG, with the final adjoints of the sweep.

:mod:`.placement` computes the column of each node, :mod:`.svg_elements` draws the nodes, and :mod:`.gradient_texts`
writes the results below them. A figure with many columns continues on the next line, like text. An edge from another
line or across many columns is drawn as the name of its input row. A figure always has a light background, and any SVG
viewer can display the figure.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html import escape
from itertools import chain, groupby
from math import ceil, inf

from numpy import ndarray

from ..common.grouping import group_values_by_key
from ..engine.types import NumberPair, Object, OptionalFloat, TextList, TextPair, TextSequence
from .edge_labels import (
    CROSS_SHIFTS,
    LETTER_HEIGHT,
    LETTER_WIDTH,
    NARROW_MIN_LENGTH,
    NARROW_SHIFTS,
    REFERENCE_SHIFTS,
    SHIFTS,
    Box,
    EdgeLabel,
    Point,
    compute_plate,
    place_edge_labels,
)
from .expressions import Expressions
from .figure_edges import (
    build_edge_path,
    draw_abbreviated_edge,
    format_reference,
    measure_reference,
)
from .gradient_texts import draw_gradient_result_lines, iter_gradient_result_lines
from .path_breaks import is_zero
from .picture_texts import translate
from .placement import Placement, PlacementItem
from .snapshot_types import RowFields, Snapshot, StepFields, TapeFields, ValueFields
from .svg_elements import (
    ADJOINT_COLOR,
    BOLD_STYLE,
    CROSS,
    CUT_COLOR,
    EDGE_COLOR,
    MUTED_COLOR,
    NODE_COLORS,
    NODE_HEIGHT,
    NODE_WIDTH,
    NUMBER_STYLE,
    SANS_FONT,
    SCISSORS,
    SMALL_STYLE,
    SWEPT_EDGE_COLOR,
    TAPE_COLORS,
    TITLE_STYLE,
    choose_border_and_fill_colors,
    choose_text_color,
    draw_mark,
    draw_node_box,
    draw_path,
    draw_plate,
    draw_text,
    draw_text_with_thumbnail,
    draw_value_in_node,
)
from .truncation import elide_text, measure_width, shorten_name
from .value_display import format_magnitude

# Lengths are in pixels.
MARGIN = 8  # The margin around the figure.
FRAME, NARROW_FRAME = 14, 10  # The space for the frames of several tapes, and the same in a figure of a given width.
HEADING = 12  # The height of a frame's name.
COLUMN_PITCH = 182  # The distance between the left edges of adjacent columns.
MIN_COLUMN_PITCH = 171  # The same where another column would have no room otherwise.
GUTTER = 34  # The space between two lines, and between nodes above each other if edges run down the page.
DETOUR = 10  # The distance between a column and the bends of an edge that passes it.
HALF_SLOT = 35  # The height of a half-slot.
TURNED_HALF_SLOT = 66  # The width of a half-slot in a figure whose edges run down the page.
LANE = 40  # The same where only edges pass.
# Edges run in the middle of a half-slot where only edges pass. These are fractions of a node's extent.
LANE_SHARE, TURNED_LANE_SHARE = HALF_SLOT / 2 / NODE_HEIGHT, LANE / 2 / NODE_WIDTH
MAX_TURNED_COLUMNS = 7  # Edges across more columns have no slots, and the figure would be too high.
MAX_INDENT = 56  # The space to the left of the lines if there are several lines.
# The distance between scissors and the node at which a value came back. If it did not come back, the scissors are half
# as far below the node that it left.
SCISSORS_DISTANCE = 18
# An assigned state has edges from the state before and from the assigned value, and a value that left and came back
# has an edge from where it left.
ESCAPE_PORT, STATE_PORT, VALUE_PORT = -3, -2, -1
MAX_SINGLE_LINE, COLUMNS_PER_LINE = 6, 5  # A figure with more columns is split into lines.
LEAST_TYPE = 11.0  # No text of a figure has smaller type, in pixels.
POINTS_PER_MILLIMETER = 72 / 25.4
MIN_PRINTED_TYPE, MAX_PRINTED_TYPE = 7.001, 9.0  # The size of that type in print, in points. Rounding may take 0.001.
MAX_PIXELS_PER_MILLIMETER = POINTS_PER_MILLIMETER * LEAST_TYPE / MIN_PRINTED_TYPE  # With more, the type is too small.
MIN_WIDTH = 65  # A column of nodes fits within this many millimeters in any figure.
# If there are more than four times as many nodes, only these at each end are drawn, or two turns with no more nodes.
END_NODES = 15
MILLIMETERS_PER_END_NODE = 10  # A narrow figure draws fewer nodes at each end, so that it fits on a page.
MIN_REPEATED_TURNS = 7  # A loop with fewer turns is not folded.
MIN_TURNS_IN_HIGH_FIGURE = 3  # The same if the recording is long, or if the figure would be too high.
MAX_TURN = 20  # A loop whose turns have at least so many operations is not folded, because whole turns remain.
MAX_HEIGHT = 220  # A figure that would be higher, in millimeters, is too high for a page.
MIN_CUT_LETTERS = 6  # The beginning of a text says nothing in less room.
MAX_REPEATED_LETTERS = 20  # The gap has room for this many letters of such a turn.
MAX_PORTS = 50  # Further inputs of an operation are omitted from the picture and its description.
MAX_TITLE_LETTERS = 24  # A node has no room for a longer name, whatever its letters.
BOLD_LETTER_WIDTH = 7.0  # The width of most letters in the bold type of names, in pixels.
WIDE_LETTERS, NARROW_LETTERS = "mwMW…", "fijlrtI.,:;'|-()[]/ "
MAX_REFERENCES = 3  # If more inputs of a node are drawn as names, their number replaces them.
REFERENCE_SPACING = 1 / 3  # The distance between the centers of such names, as a fraction of the node's height.
CROSS_WIDTH = 10  # The space for a cross between a node and such a name. The cross is in its middle.
MAX_SHARE_LETTERS = 7  # The number of characters for which an edge has room in a share, in a figure of any width.
SHARE_MARGIN = 1.5  # The distance between a share and a node.
# The same, in a figure of a given width, for a share next to a name, and less if frames of tapes need room as well.
SHARE_INDENT, FRAMED_SHARE_INDENT = 56, 51
MAX_NUMBERED_EDGES = 5  # If there are more inputs, the edges have no room for numbers.
# The box that represents omitted rows has these fields. Its inputs are the inputs of the omitted rows.
OMITTED_ROW: Object = {"row": -2, "kind": "operation", "cut": None, "status": "", "by": None, "name": "…"}


DrawnFrame = tuple[set[int], dict[int, float]]  # The ids of the nodes inside, and the top on each line.


@dataclass
class Node:
    """A box in the figure.

    Attributes:
        row: The row, or OMITTED_ROW with inputs for the box that represents omitted rows.
        inputs: A pair for each edge into the node: the index of the input's node, and the port of the edge.
        tier: 0 for rows of the program. Rows written by a gradient may be in a lower tier, which has a higher number
            and runs from right to left.
        line: The line of the figure that contains the node, counted from 0.
        x: The left edge in pixels.
        y: The top edge in pixels.
        is_turned: Whether the edges of the figure run down the page instead of to the right.
    """

    row: RowFields
    inputs: list[NumberPair]
    tier: int = 0
    line: int = 0
    x: float = 0.0
    y: float = 0.0
    is_turned: bool = False

    @property
    def direction(self) -> int:
        """1 if edges run to the right, or -1 if they run to the left."""
        return -1 if self.tier else 1

    @property
    def box(self) -> Box:
        """The left, top, right and bottom of the node."""
        return self.x, self.y, self.x + NODE_WIDTH, self.y + NODE_HEIGHT

    def compute_point(self, share_along: float, share_across: float = 0.5, offset: float = 0) -> Point:
        """Return a point at the given fractions of the node's extent along the edges and across them.

        Args:
            share_along: The fraction of the width, or of the height if the figure is turned.
            share_across: The fraction of the other extent.
            offset: How far the point is moved along the edges, in pixels.
        """
        if self.is_turned:
            return self.x + NODE_WIDTH * share_across, self.y + NODE_HEIGHT * share_along + offset
        return self.x + NODE_WIDTH * share_along + offset, self.y + NODE_HEIGHT * share_across

    def compute_entry_point(self, port: int, distance: float = 2) -> Point:
        """Return the end point of an edge, which is just in front of the node.

        Args:
            port: The index of the edge in ``inputs``.
            distance: The distance of the point from the node.
        """
        share_across = (port + 1) / (len(self.inputs) + 1)
        return self.compute_point((1 - self.direction) / 2, share_across, -distance * self.direction)

    def compute_detour_points(self) -> tuple[Point, Point]:
        """Return the points, in the edges' direction, between which an edge passes if it takes this node's place."""
        share = TURNED_LANE_SHARE if self.is_turned else LANE_SHARE
        step = self.direction
        before = self.compute_point((1 - step) / 2, share, -DETOUR * step)
        return before, self.compute_point((1 + step) / 2, share, DETOUR * step)


class Figure:
    """The nodes of a snapshot with their positions and adjoints, which ``build_svg`` draws.

    Attributes:
        snapshot: The snapshot.
        target_rows: The rows at which the sweep begins.
        adjoints: The adjoint of each row at the end of the sweep, by row.
        shares_by_edge: The share of each edge, by (row, port).
        sources: The sources of the gradient call that ran the snapshot's sweep.
        assigned_sources: The sources assigned after the gradient was computed, by their last row.
        broken_rows: The rows at which the path to the target breaks.
        none_rows: The rows of sources whose gradient is None.
        source_rows: The last rows of all sources.
        expressions: The texts of the rows.
        node_by_row: The index of each row's node. A number literal belongs to the node of its first consumer.
        nodes: The nodes in the order of their rows.
        gap_index: The index of the node that represents omitted rows, or -1.
        omitted_rows: These rows, as far as the snapshot contains them and without number literals.
        omitted_count: The number of these rows with number literals.
        omitted_turns: The number of turns of a loop that consist of these rows, or 0.
        bottom: The height of the figure without the result lines, in pixels.
        width: The width of the figure without the result lines, in pixels.
        printed_width: The width of the printed figure in millimeters; None for the natural width.
        max_width: The width in pixels at which the smallest type is printed at MIN_PRINTED_TYPE, or None for any width.
        causes: What breaks a path and where, such as "stop, line 8", by the indices of the nodes at the edge's ends.
            The second index is -1 if the value did not come back, or to an omitted row.
        marks: The center of the cross or scissors on each edge that no gradient passes, by the same indices.
        pitch: The distance between the left edges of adjacent columns, in pixels.
        is_turned: Whether the edges run down the page, because the page is too narrow for all columns.
        lanes: The half-slots of such a figure in which only edges pass.
        curves: The points of each edge that is drawn as a curve. A key consists of the indices of the start and end
            nodes, and the index of the edge among the inputs of the end node. Other edges are drawn as names.
    """

    def __init__(self, snapshot: Snapshot, printed_width: OptionalFloat = None):
        """Choose the nodes and compute the layout."""
        self.snapshot = snapshot
        self.printed_width = printed_width
        self.max_width = printed_width and printed_width * MAX_PIXELS_PER_MILLIMETER
        sweep = snapshot["sweep"]
        steps = sweep["steps"] if sweep else []
        self.target_rows = sweep["target"] if sweep else []
        self.adjoints = collect_final_adjoints(steps)
        self.shares_by_edge = {(step["row"], edge["port"]): edge["product"] for step in steps for edge in step["edges"]}
        self.sources = [source for result in snapshot["results"] if result.get("shown") for source in result["sources"]]
        self.assigned_sources = {source["rows"][-1]: source for source in self.sources if source["now"]}
        self.broken_rows = snapshot.get("broken", ())
        self.none_rows = {source["at"] for source in self.sources if source["none"]}
        self.source_rows = {source["at"] for source in self.sources}
        self.expressions = Expressions(snapshot["rows"])
        for min_turns in (MIN_REPEATED_TURNS, MIN_TURNS_IN_HIGH_FIGURE):
            self._select_nodes(min_turns)
            self._place_nodes()
            if not self.max_width or self.bottom < MAX_HEIGHT * MAX_PIXELS_PER_MILLIMETER:
                break
        self._add_sums_and_causes()

    def _select_nodes(self, min_turns: int) -> None:
        """Create a node for each row, except for number literals, which are part of their consumers' texts.

        In a long recording, one box replaces all rows between the first and last nodes.

        Args:
            min_turns: A loop with fewer turns is not folded.
        """
        rows = self.snapshot["rows"]
        visible_rows = [row for row in rows if not row.get("literal")] or rows
        end_nodes = int(min(END_NODES, (self.printed_width or inf) / MILLIMETERS_PER_END_NODE))
        self.gap_index = -1
        self.omitted_rows = visible_rows[:0]
        selected_rows = [*visible_rows]
        # The turns of a scan read different elements, such as [0] and [1]. Two sines in one line are not two turns.
        labels = [
            re.sub(r"\[.*\]", "[ ]", f"{row['label']} {row['site']}") if row["kind"] == "operation" else ""
            for row in visible_rows
        ]
        if len(labels) - labels.count("") <= 2 * end_nodes:  # Only among leaves is there anything to omit.
            labels = [row["label"] for row in visible_rows]
        is_long = len(visible_rows) > 4 * end_nodes
        if is_long:
            min_turns = MIN_TURNS_IN_HIGH_FIGURE
        # A narrow figure also folds blocks of a model that repeat, because each takes half a line.
        shorter_ends = range(1, end_nodes + 1) if self.printed_width else ()
        max_turn = end_nodes // 2
        gap = next((gap for ends in shorter_ends if (gap := choose_gap(labels, ends, min_turns, max_turn))[2]), None)
        if gap or is_long:
            first, end, self.omitted_turns = gap or choose_gap(labels, end_nodes, min_turns, max_turn)
            omitted = visible_rows[first:end]
            # The results name the sources, so a few of them are not omitted.
            kept_rows = [row for row in omitted if row["row"] in self.source_rows]
            if len(kept_rows) > end_nodes:
                kept_rows = []
            self.omitted_rows = [row for row in omitted if row not in kept_rows]
            self.omitted_count = omitted[-1]["row"] - visible_rows[first - 1]["row"] - len(kept_rows)
            self.gap_index = first + len(kept_rows)
            gap_inputs = [*dict.fromkeys(chain(*(row["inputs"] for row in self.omitted_rows)))]
            selected_rows[first:end] = [*kept_rows, {**OMITTED_ROW, "inputs": gap_inputs}]
        self.node_by_row = {row["row"]: index for index, row in enumerate(selected_rows)}
        literal_rows = {row["row"] for row in rows if row.get("literal")} - self.node_by_row.keys()
        self.nodes: list[Node] = []
        dashed_edges = group_values_by_key(self.iter_dashed_edges())
        for index, row in enumerate(selected_rows):
            unplaced_literals = literal_rows.intersection(row["inputs"]) - self.node_by_row.keys()
            self.node_by_row |= dict.fromkeys(unplaced_literals, index)
            dashed = chain(*(dashed_edges.get(end, ()) for end in (row["row"], *unplaced_literals)))
            inputs = [
                (self.node_by_row.get(input_row, self.gap_index), port)
                for port, input_row in chain(enumerate(row["inputs"]), dashed)
                if input_row not in literal_rows
            ]
            self.nodes.append(Node(row, [edge for edge in inputs if 0 <= edge[0] < index][:MAX_PORTS]))

    def iter_dashed_edges(self) -> Iterator[tuple[int, NumberPair]]:
        """Yield the row of each assigned state or returned value, with a pair for each row from which it was made.

        Yields:
            The row and its pair: STATE_PORT, VALUE_PORT or ESCAPE_PORT, and the other row.
        """
        for event in self.snapshot["events"]:
            for port, row in ((STATE_PORT, event.get("from")), (VALUE_PORT, event.get("row"))):
                if row is not None and "to" in event:
                    yield event["to"], (port, row)
        for path_break in self.snapshot.get("torn", ()):
            if path_break["kind"] == "left" and path_break["to"] >= 0:
                yield path_break["to"], (ESCAPE_PORT, path_break["from"])

    def _add_sums_and_causes(self) -> None:
        """Add the shares of omitted rows, and collect what breaks a path."""
        for row in self.omitted_rows:  # What they send back is one number, which no step of the sweep contains.
            for port, input_row in enumerate(row["inputs"]):
                if (row["row"], port) in self.shares_by_edge:
                    gap_port = self.nodes[self.gap_index].row["inputs"].index(input_row)
                    self.shares_by_edge[OMITTED_ROW["row"], gap_port] = {"text": "Σ"}
        find_node = self.node_by_row.get
        self.causes = {
            (find_node(path_break["from"], -1), find_node(path_break["to"], -1)): path_break["text"]
            + translate(", line {0}").format(path_break["line"])
            for path_break in self.snapshot.get("torn", ())
            if path_break["kind"] != "zero"
        }

    def describe_omitted_rows(self) -> str:
        """Return what a loop repeats in the omitted rows, such as "84 × (×, tanh)", or ""."""
        labels = [row["label"] for row in self.omitted_rows if row["kind"] == "operation"]
        labels = labels or [row["label"] for row in self.omitted_rows]
        count, turns = self.omitted_count, self.omitted_turns
        if not turns or len(self.snapshot["rows"]) < self.snapshot["total"]:  # Nobody has seen all turns.
            return ""
        texts = [translate("{n} turns", n=turns)]
        if count % turns == 0:
            texts.insert(0, f"{turns} × ({translate('{n} rows', n=count // turns)})")
        if count == len(labels):
            texts.insert(0, f"{turns} × ({', '.join(labels[: count // turns])})")
        return choose_first_fitting_text(texts, MAX_REPEATED_LETTERS)

    # -- layout --------------------------------------------------------------------------------------------------

    def _place_nodes(self) -> None:
        """Compute the position of each node, the curve of each edge, and the size of the figure."""
        for writer, nodes in groupby(self.nodes, lambda node: node.row["by"]):
            if writer is not None:
                self._move_gradient_rows_to_lower_tier([*nodes])
        tapes = len(self.snapshot["tapes"])
        frame, headings = (NARROW_FRAME if self.max_width else FRAME, HEADING * tapes) if tapes > 1 else (0, 0)
        placed, columns, columns_per_line = self._place_in_columns(frame)
        if columns_per_line == 1 and any(node.tier for node in self.nodes):  # A tier of one column shows no order.
            for node in self.nodes:
                node.tier = 0
            placed, columns, columns_per_line = self._place_in_columns(frame)
        slots: dict[NumberPair, set[int]] = {}  # The half-slots in use in each (line, tier).
        for node, column, slot in zip(self.nodes, placed.column, placed.slot, strict=True):
            node.line = column // columns_per_line
            slots.setdefault((node.line, node.tier), set()).update((slot, slot + 1))
        for (start, end), points in placed.passed_points.items():
            node = self.nodes[end]
            if self.nodes[start].line == node.line:
                slots[node.line, node.tier].update(slot for _, slot in points)
        indent = self._compute_indent() if columns_per_line < columns else 0
        # Positions and sizes along the edges, and across them.
        along, across = self._turn(MARGIN + frame + indent, MARGIN + frame + headings)
        node_along, node_across = self._turn(NODE_WIDTH, NODE_HEIGHT)
        half_slot = TURNED_HALF_SLOT if self.is_turned else HALF_SLOT
        levels: dict[NumberPair, dict[int, float]] = {}  # The start of each half-slot in use. Others have no extent.
        for part, used_slots in sorted(slots.items()):
            levels[part] = {}
            for slot in sorted(used_slots):
                levels[part][slot] = across
                across += LANE if slot in self.lanes else half_slot
            across += node_across - 2 * half_slot + GUTTER + frame
        # Edges of a lower tier enter from the right, so that side needs an indent as well.
        right_indent = indent if any(node.tier for node in self.nodes) else 0
        line_end = along + (columns_per_line - 1) * self.pitch + node_along + frame + MARGIN + right_indent
        self.width, self.bottom = self._turn(line_end, across - GUTTER + MARGIN)

        def compute_position(column: int, slot: int, tier: int) -> Point:
            line, column_in_line = divmod(column, columns_per_line)
            return self._turn(along + column_in_line * self.pitch, levels[line, tier][slot])

        for node, column, slot in zip(self.nodes, placed.column, placed.slot, strict=True):
            node.x, node.y = compute_position(column, slot, node.tier)
            node.is_turned = self.is_turned
        self._compute_curves(placed, compute_position)

    def _compute_curves(self, placed: Placement, compute_position: Callable[[int, int, int], Point]) -> None:
        """Compute the curve of each edge within a line.

        Args:
            placed: The columns and slots of the nodes, and of the places that edges pass.
            compute_position: A function that returns the left and the top of a column, slot and tier.
        """
        self.curves: dict[tuple[int, int, int], list[Point]] = {}
        self.marks: dict[NumberPair, Point] = {}
        for index, node in enumerate(self.nodes):
            if self.is_turned:  # Side by side, edges need not enter in the order of the operands, and cross less often.
                last_slots = [placed.find_slot_before_end(start, index) for start, _ in node.inputs]
                node.inputs = [edge for _, edge in sorted(zip(last_slots, node.inputs, strict=True))]
            for port, (start, _) in enumerate(node.inputs):
                input_node = self.nodes[start]
                if (input_node.line, input_node.tier) == (node.line, node.tier):
                    curve = [input_node.compute_point((1 + node.direction) / 2)]
                    for column, slot in placed.passed_points.get((start, index), ()):
                        position = compute_position(column, slot, node.tier)
                        curve += Node(OMITTED_ROW, [], node.tier, 0, *position, self.is_turned).compute_detour_points()
                    self.curves[start, index, port] = [*curve, node.compute_entry_point(port)]

    def _turn(self, along: float, across: float) -> Point:
        """Return the horizontal and the vertical part of a distance along the edges and across them."""
        return (across, along) if self.is_turned else (along, across)

    def _place_in_columns(self, frame: float) -> tuple[Placement, int, int]:
        """Return the nodes' columns, their number, and how many fit into a line if all lines are about equally full.

        Args:
            frame: The space for the frames of tapes on each side.
        """
        self.pitch: float = COLUMN_PITCH
        placed = Placement([*map(self._build_placement_item, self.nodes)])
        columns = 1 + max(placed.column, default=0)
        has_lower_tier = any(node.tier for node in self.nodes)
        most = columns if columns <= MAX_SINGLE_LINE else COLUMNS_PER_LINE
        if self.max_width:
            space = self.max_width - 2 * MARGIN - 2 * frame - NODE_WIDTH
            if columns > 1 + space // COLUMN_PITCH:  # Then there are several lines, which begin with an indent.
                # Edges enter a lower tier from the right, where they need an indent as well.
                space -= self._compute_indent() * (1 + has_lower_tier)
                most = min(most, max(1, 1 + int(space // MIN_COLUMN_PITCH)))
                self.pitch = min(COLUMN_PITCH, space / max(1, most - 1))
        node_slots = {*placed.slot, *(slot + 1 for slot in placed.slot)}
        lanes = {slot for _, slot in chain(*placed.passed_points.values())} - node_slots
        needed_width = 2 * (MARGIN + frame) + len(node_slots) * TURNED_HALF_SLOT + len(lanes) * LANE
        self.is_turned = bool(
            self.max_width
            and most < columns <= MAX_TURNED_COLUMNS
            and needed_width <= self.max_width
            and not has_lower_tier
        )
        self.lanes = lanes if self.is_turned else ()
        if self.is_turned:
            most = columns
            self.pitch = NODE_HEIGHT + GUTTER
        return placed, columns, ceil(columns / ceil(columns / most))

    def _compute_indent(self) -> float:
        """Return the space that the names of inputs from other lines, and their shares, need beside a line."""
        widths = [
            MAX_INDENT
            if len(node.inputs) > MAX_REFERENCES
            else min(MAX_INDENT, measure_reference(format_reference(self.nodes[start].row, self.pitch)))
            + CROSS_WIDTH * bool(node.row["cut"])
            for node in self.nodes
            for start, _ in node.inputs
        ]
        if self.max_width and self.shares_by_edge:
            widths.append(FRAMED_SHARE_INDENT if len(self.snapshot["tapes"]) > 1 else SHARE_INDENT)
        return max(widths, default=0)

    def _move_gradient_rows_to_lower_tier(self, nodes: list[Node]) -> None:
        """Move one gradient's rows to a lower tier, if each of its operations belongs below a row of the program."""
        rows = [self.expressions.rows_by_number.get(node.row.get("below", -1)) for node in nodes if node.inputs]
        if rows and all(row is not None and row["by"] is None for row in rows):
            for node in nodes:
                node.tier = 1 + self.nodes.index(nodes[0])

    def _build_placement_item(self, node: Node) -> PlacementItem:
        """Return the item that `Placement` places for a node.

        A new section begins when a tape ends, when a gradient starts writing rows, and at omitted rows.
        """
        row = node.row
        node_below = self.node_by_row.get(row.get("below", -1), -1) if node.tier else -1
        ended_spans = sum(
            end <= row["row"] for tape in self.snapshot["tapes"] for span in tape["spans"] for end in span
        )
        is_leaf = row["kind"] != "operation" and not node.inputs
        section = row["by"], row["row"] < 0, ended_spans
        return PlacementItem([start for start, _ in node.inputs], is_leaf, section, node.tier, node_below)

    # -- drawing -------------------------------------------------------------------------------------------------

    def build_svg(self, title: str = "", description: str = "") -> str:
        """Return the figure as the text of an SVG file.

        Args:
            title: The title of the picture, in one line.
            description: A description of the picture for screen readers.
        """
        lines = [*iter_gradient_result_lines(self.snapshot["results"], self.expressions, self.max_width)]
        width, height, gradient_parts = draw_gradient_result_lines(lines, self.width, self.bottom)
        total_height = max(height, 40)
        size = f'width="{width}" height="{total_height}"'
        left = 0.0
        if self.printed_width and self.max_width:
            # A small figure stands in the middle.
            left = min(0, width - self.max_width * MIN_PRINTED_TYPE / MAX_PRINTED_TYPE) / 2
            width -= 2 * left
            size = f'width="{self.printed_width}mm" height="{self.printed_width * total_height / width}mm"'
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
            f'viewBox="{left} 0 {width} {total_height}" font-family="{SANS_FONT}" role="img">'
            f"<title>{escape(title)}</title><desc>{escape(description)}</desc>"
            f'<rect x="{left}" y="0" width="{width}" height="{total_height}" rx="6" fill="#ffffff"/>',
        ]
        if not self.nodes:
            parts.append(draw_text(MARGIN, 25, translate("nothing recorded"), TITLE_STYLE, MUTED_COLOR))
        edges = [*self._draw_edges()]  # They come before the labels, because they place the marks that causes label.
        plates, labels = self._draw_labels()
        for layer in (
            self._draw_frames(),
            edges,
            plates,
            map(self._draw_node, self.nodes),
            labels,
            gradient_parts,
        ):
            parts += layer
        # Five digits are enough for coordinates. Numbers in texts outside tags are not changed.
        return re.sub(r"\d+\.\d+(e-?\d+)?(?=[^<]*>)", lambda match: f"{float(match[0]):.5g}", "".join(parts)) + "</svg>"

    def _draw_frames(self) -> Iterator[str]:
        """Yield a frame around each gradient's rows and around the rows of each tape, if there are several tapes."""
        tapes = self.snapshot["tapes"]
        if len(tapes) < 2:
            return
        names = [shorten_name(tape["name"], 12) for tape in tapes]
        drawn: list[DrawnFrame] = []
        for writer, nodes in groupby(self.nodes, lambda node: node.row["by"]):
            if writer is not None:
                yield from draw_frame([*nodes], f"{names[writer]}.gradient", 1, MUTED_COLOR, drawn, "5 2")
        for index in reversed(range(len(tapes))):
            inner_nodes = [node for node in self.nodes if is_within_tape(node.row, tapes[index])]
            color = TAPE_COLORS[index % len(TAPE_COLORS)]
            yield from draw_frame(inner_nodes, names[index], len(tapes) - index, color, drawn)

    def _draw_node(self, node: Node) -> str:
        row = node.row
        x = node.x
        y = node.y
        if row["row"] < 0:
            return (
                draw_node_box(x, y, "gap", *NODE_COLORS["gap"], "2 3")
                + draw_text(x + 10, y + 21, translate("{n} rows", n=self.omitted_count), TITLE_STYLE)
                + draw_text(x + 10, y + 39, self.describe_omitted_rows(), SMALL_STYLE, MUTED_COLOR)
            )
        padding = 16 if row["kind"] == "source" else 10
        number = str(row["row"])
        adjoint_text, color = self.choose_adjoint_text_and_color(row, 12)
        return (
            self._draw_node_border(row, x, y)
            + self._draw_node_title(row, x + padding, y + 17, x + NODE_WIDTH - padding - 4 - 7 * len(number))
            + draw_text(x + NODE_WIDTH - padding + 2, y + 16, number, f'{SMALL_STYLE} text-anchor="end"', MUTED_COLOR)
            + self._draw_node_value(node, row, padding)
            + draw_text_with_thumbnail(x, y + 45.5, padding, adjoint_text, self.adjoints.get(row["row"]), color, True)
        )

    def _draw_node_border(self, row: RowFields, x: float, y: float) -> str:
        """Return the box of a node, whose color, line width and dashes depend on the kind and status of the row."""
        is_broken = row["row"] in self.broken_rows
        color, fill = choose_border_and_fill_colors(row, is_broken)
        dash_pattern = ""
        if row["status"] == "ghost":
            dash_pattern = "2 3"
        elif row["by"] is not None:
            dash_pattern = "5 2"
        if row["kind"] == "variable":  # A thin line inside a thick one looks like a double border.
            return draw_node_box(x, y, row["kind"], color, fill, dash_pattern, 4.6) + draw_node_box(
                x, y, row["kind"], fill, "none", "", 2.2
            )
        is_emphasized = is_broken or row["row"] in self.target_rows
        return draw_node_box(x, y, row["kind"], color, fill, dash_pattern, 2.4 if is_emphasized else 1.3)

    def _draw_node_title(self, row: RowFields, x: float, y: float, right: float) -> str:
        """Return the name of a row, followed in small type by its operation or, for a weight, by its layer."""
        name, texts = self.expressions.list_name_and_texts(row)
        if not name:
            return draw_text(x, y, choose_first_fitting_text(texts, (right - x) / 6.8), TITLE_STYLE)
        if row["kind"] == "variable":  # Names that are written in the same way show which variables share a layer.
            layer, _, name = name.removeprefix("self.").replace("/", ".").rpartition(".")
            texts = [layer.rpartition(".")[2]]
        max_letters = MAX_TITLE_LETTERS
        while BOLD_LETTER_WIDTH * measure_letters(title := shorten_name(name, max_letters)) > right - x:
            max_letters -= 1
        text_left = x + BOLD_LETTER_WIDTH * measure_letters(title) + 6
        operation_text = draw_text(
            text_left, y, choose_first_fitting_text(texts, (right - text_left) / 6.0), SMALL_STYLE, MUTED_COLOR
        )
        title_style = TITLE_STYLE + BOLD_STYLE if row["name"] else TITLE_STYLE
        return draw_text(x, y, title, title_style) + operation_text

    def _draw_node_value(self, node: Node, row: RowFields, padding: int) -> str:
        """Return the value of a row. For a variable assigned after the gradient call, show the old and new values."""
        x = node.x
        y = node.y + 32
        update = self.assigned_sources.get(row["row"])
        if row["released"] and not update:
            return draw_text(x + padding, y, translate("released"), NUMBER_STYLE)
        if update is None:
            return draw_value_in_node(x, y, padding, "", row["value"], row)
        prefix = "" if row["shape"] else f"{format_magnitude(row['value'] or {}, 6)} "
        return draw_value_in_node(x, y, padding, f"{prefix}→ ", update["now"], row)

    def choose_adjoint_text_and_color(self, row: RowFields, max_letters: int) -> TextPair:
        """Return the text of a row's adjoint and its color, or "" if the sweep has not reached the row.

        Without a sweep, a row that a ``ForwardAccumulator`` followed has its tangent instead.

        Args:
            row: The row.
            max_letters: The maximum number of characters of the adjoint.
        """
        adjoint = self.adjoints.get(row["row"])
        if row["row"] in self.none_rows:
            return "∂ None", CUT_COLOR
        if row["status"] == "ghost":
            return translate("not recorded"), MUTED_COLOR
        mark, derivative = ("∂", adjoint) if self.adjoints else ("→", row.get("tangent"))
        text = f"{mark} {format_magnitude(derivative, max_letters)}" if derivative else ""
        return text, choose_text_color(derivative, ADJOINT_COLOR)

    # -- edges ---------------------------------------------------------------------------------------------------

    def _draw_edges(self) -> Iterator[str]:
        """Yield the edges into each node, with a cross on edges that no gradient passes, and the abbreviated edges."""
        for (start, end, port), curve in self.curves.items():
            node = self.nodes[end]
            row = node.row
            row_port = node.inputs[port][1]
            share = self.shares_by_edge.get((row["row"], row_port))
            color = SWEPT_EDGE_COLOR if share else EDGE_COLOR
            dash_pattern = "3 4" if row["cut"] or row["status"] == "ghost" else ""
            if row_port < 0:
                color, dash_pattern = NODE_COLORS["variable"][0], "4 4"
            elif is_zero(share):
                dash_pattern = "1 4"
            if row["cut"] or row_port == ESCAPE_PORT:
                color = CUT_COLOR
            yield draw_path(build_edge_path(curve, share is not None, self.is_turned), color, dash_pattern)
            if row["cut"] or row_port in (VALUE_PORT, ESCAPE_PORT):
                shape, distance = (SCISSORS, SCISSORS_DISTANCE) if row_port == ESCAPE_PORT else (CROSS, 7)
                mark = node.compute_entry_point(port, distance)
                self.marks[start, end] = mark
                yield draw_mark(*mark, shape)
        for end, node in enumerate(self.nodes):
            for text, (x, y), shares, start in self._iter_references(end):
                yield draw_abbreviated_edge(text, x, y, node.direction, bool(shares))
                if start >= 0:
                    mark = x + CROSS_WIDTH / 2 * node.direction, y
                    self.marks[start, end] = mark
                    yield draw_mark(*mark, CROSS)
        for start, end in self.causes:
            if start > end:  # The value did not come back, or to an omitted row.
                *_, right, bottom = self.nodes[start].box
                mark = right - SCISSORS_DISTANCE, bottom + SCISSORS_DISTANCE / 2
                self.marks[start, end] = mark
                yield draw_mark(*mark, SCISSORS)

    def _iter_references(self, index: int) -> Iterator[tuple[str, Point, list[ValueFields], int]]:
        """Yield the edges into a node that are drawn as the names of their inputs, each input once.

        Args:
            index: The index of the node.

        Yields:
            The name, the end of the edge, the shares that the sweep has sent to this input, and the index of its node
            if the edge is crossed, because no gradient passes. Otherwise the index is -1.
        """
        node = self.nodes[index]
        row = node.row
        ports_by_start = group_values_by_key(
            (start, port) for port, (start, _) in enumerate(node.inputs) if (start, index, port) not in self.curves
        )
        room = self.pitch - NODE_WIDTH - CROSS_WIDTH * bool(row["cut"])
        references = [(format_reference(self.nodes[start].row, room), ports) for start, ports in ports_by_start.items()]
        center = 0.5
        if len(references) > MAX_REFERENCES:
            ports = [*chain(*ports_by_start.values())]
            references = [(translate("{n} rows", n=len(references)), ports)]
            if len(ports) < len(node.inputs):  # The other edges enter at the middle, or next to it.
                center += REFERENCE_SPACING
        for number, (text, ports) in enumerate(references, 1):
            x, y = node.compute_entry_point(ports[0])
            if len(ports_by_start) > 1:
                y = node.compute_point(0, center + (number - (len(references) + 1) / 2) * REFERENCE_SPACING)[1]
            shares = (self.shares_by_edge.get((row["row"], node.inputs[port][1])) for port in ports)
            start, row_port = node.inputs[ports[0]]
            is_crossed = bool(row["cut"]) or row_port in (VALUE_PORT, ESCAPE_PORT)
            x -= CROSS_WIDTH * node.direction * is_crossed
            yield text, (x, y), [*filter(None, shares)], start if is_crossed else -1

    def _draw_labels(self) -> tuple[TextList, TextList]:
        """Return white plates, and the labels above them: the shares that the sweep has sent along edges, and escapes.

        All plates are drawn before all labels, so that nothing covers a digit.
        """
        labels = []
        curves = [*self.curves.values()]
        boxes = [node.box for node in self.nodes]
        max_letters, shifts, min_length = self._get_room_for_shares()
        for number, (_, end, port) in enumerate(self.curves):
            node = self.nodes[end]
            if len(node.inputs) > MAX_NUMBERED_EDGES:
                continue
            if share := self.shares_by_edge.get((node.row["row"], node.inputs[port][1])):
                labels.append(
                    EdgeLabel(
                        number,
                        format_magnitude(share, max_letters),
                        choose_text_color(share, ADJOINT_COLOR),
                        NUMBER_STYLE,
                        shifts,
                        min_length=min_length,
                    )
                )
        for index, node in enumerate(self.nodes):
            references = [*self._iter_references(index)]
            for name, (x, y), shares, _ in references:
                width = measure_reference(name)
                boxes.append((x - width, y - 8, x + width, y + 8))
                # The numbers of more than two inputs would meet, and the number of omitted names has none of its own.
                if not self.max_width or len(references) > 2 or len(node.inputs) > MAX_REFERENCES:
                    continue
                for share in shares[:2]:
                    text = format_magnitude(share, max_letters)
                    center = x - node.direction * (compute_plate((0, 0), text)[2] + SHARE_MARGIN), y
                    color = choose_text_color(share, ADJOINT_COLOR)
                    labels.append(EdgeLabel(len(curves), text, color, NUMBER_STYLE, REFERENCE_SHIFTS, LETTER_HEIGHT))
                    curves.append([center, center])
        texts = []
        for ends, cause in self.causes.items():
            if mark := self.marks.get(ends):
                labels.append(
                    EdgeLabel(
                        len(curves), cause, CUT_COLOR, SMALL_STYLE + BOLD_STYLE, CROSS_SHIFTS, LETTER_HEIGHT, -inf
                    )
                )
                curves.append([mark, mark])
                boxes.append(compute_plate(mark, "×"))
        plates = []
        for (x, y), label in zip(
            place_edge_labels(curves, labels, boxes, (self.width, self.bottom), self.is_turned), labels, strict=True
        ):
            plates.append(draw_plate(compute_plate((x, y), label.text)))
            texts.append(draw_text(x, y + 4, label.text, f'{label.style} text-anchor="middle"', label.color))
        return plates, texts

    def _get_room_for_shares(self) -> tuple[int, ndarray, float]:
        """Return the number of characters of a share, where it may lie, and how much of its edge remains visible."""
        if not self.max_width or self.is_turned:
            return MAX_SHARE_LETTERS, SHIFTS, 0.0
        room = self.pitch - NODE_WIDTH - 2 * SHARE_MARGIN
        return int(room / LETTER_WIDTH), NARROW_SHIFTS, NARROW_MIN_LENGTH


def choose_gap(labels: TextSequence, end_nodes: int, min_turns: int, max_turn: int) -> tuple[int, int, int]:
    """Return which rows of a long recording to omit: the first, the end, and how many turns of a loop they are, or 0.

    Of a loop, two turns remain at each end, or one if it is long. The leaves between two turns belong to the later one.

    Args:
        labels: The operations of all rows, or "" for leaves.
        end_nodes: The number of rows at each end that may remain.
        min_turns: The least number of turns of a loop.
        max_turn: The number of operations up to which two turns remain at each end.

    >>> choose_gap(["", "", *"×+" * 20, "y"], 6, 7, 3)
    (6, 38, 16)
    """
    operations = [index for index, label in enumerate(labels) if label]
    names = [*filter(None, labels)]
    begin, stop = end_nodes, len(names) - end_nodes
    omitted = names[begin:stop]
    period = next((turn for turn in range(1, min(MAX_TURN, len(omitted) // 2)) if omitted[turn:] == omitted[:-turn]), 0)
    if period:
        while begin and names[begin - 1] == names[begin - 1 + period]:
            begin -= 1
        while stop < len(names) and names[stop] == names[stop - period]:
            stop += 1
        turns = (stop - begin) // period
        kept = 1 + (period <= max_turn and turns >= MIN_REPEATED_TURNS)
        if turns >= min_turns:
            first, last = (operations[begin + turn * period - 1] for turn in (kept, turns - kept))
            return first + 1, last + 1, turns - 2 * kept
    return end_nodes, len(labels) - end_nodes, 0


def is_within_tape(row: RowFields, tape: TapeFields) -> bool:
    """Return whether a row was written while a tape was recording.

    Args:
        row: The row.
        tape: The tape.
    """
    return any(first <= row["row"] < last for first, last in tape["spans"])


def draw_frame(
    nodes: list[Node], name: str, nesting_depth: int, color: str, drawn: list[DrawnFrame], dash_pattern: str = ""
) -> Iterator[str]:
    """Yield a frame around the given nodes, with one rectangle per line of the figure.

    Args:
        nodes: The nodes inside the frame.
        name: The name of the frame, which is written on its first rectangle.
        nesting_depth: One plus the number of frames that must fit inside this frame.
        color: The color of the line and the name.
        drawn: The frames that have been drawn, which must fit inside this frame if their nodes do. It is added.
        dash_pattern: The dashes of the line, as SVG's ``stroke-dasharray``, or "" for a solid line.
    """
    padding = 4 + 4 * nesting_depth
    heading_height = HEADING
    inside = {*map(id, nodes)}
    inner_tops = [tops for members, tops in drawn if members <= inside]
    own_tops: dict[int, float] = {}
    drawn.append((inside, own_tops))
    for line in sorted({node.line for node in nodes}):
        xs, ys = zip(*((node.x, node.y) for node in nodes if node.line == line), strict=True)
        x = min(xs) - padding
        y = min([min(ys) - padding, *(tops.get(line, inf) - 4 for tops in inner_tops)]) - heading_height
        own_tops[line] = y
        width = max(xs) + NODE_WIDTH + padding - x
        height = max(ys) + NODE_HEIGHT + padding - y
        yield draw_path(f"M{x} {y}h{width}v{height}h{-width}z", color, dash_pattern, 1)
        yield draw_text(x + 8, y + 12, name if heading_height else "", SMALL_STYLE + BOLD_STYLE, color)
        heading_height = 0


def measure_letters(text: str) -> float:
    """Return about how wide a text is in proportional type, in letters of the usual width.

    Args:
        text: The text.

    >>> measure_letters("encoder"), measure_letters("lift"), measure_letters("norm")
    (6.6, 2.4, 4.1)
    """
    wide, narrow = (sum(letter in letters for letter in text) for letters in (WIDE_LETTERS, NARROW_LETTERS))
    return measure_width(text) + 0.5 * wide - 0.4 * narrow


def choose_first_fitting_text(texts: TextList, max_letters: float) -> str:
    """Return the first text that fits into ``max_letters``, or the beginning of the last text if none fits.

    Args:
        texts: The texts, from the most to the least detailed.
        max_letters: The number of letters for which there is room.
    """
    return next(
        (text for text in texts if measure_letters(text) <= max_letters),
        elide_text(texts[-1], int(max_letters)) if max_letters > MIN_CUT_LETTERS else "",
    )


def collect_final_adjoints(steps: Iterable[StepFields]) -> dict[int, ValueFields]:
    """Return the adjoint of each row after the given steps of a sweep, by row.

    Args:
        steps: The steps of the sweep, in order.
    """
    adjoints: dict[int, ValueFields] = {}
    for step in steps:
        adjoints |= {step["row"]: step["adjoint"]} | {edge["input"]: edge["sum"] for edge in step["edges"]}
    return adjoints
