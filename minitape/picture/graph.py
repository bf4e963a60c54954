"""Write a snapshot as a graph for Graphviz, in the DOT language.

A node holds what a row computes, its value and its adjoint. An edge runs from an input to its consumer. If the sweep
has sent a share along it, its arrowhead is at the input, and it has the color of derivatives and names the share. A
cluster surrounds the rows of each tape and of each gradient, if there are several tapes, and of each layer.
``build_dot_text`` needs no other package; ``build_digraph`` returns the same graph as an object from the graphviz
package, which calls the program ``dot``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from .expressions import format_row_title
from .figure import ESCAPE_PORT, OMITTED_ROW, VALUE_PORT, Figure, choose_first_fitting_text, is_within_tape
from .gradient_texts import iter_gradient_result_lines
from .path_breaks import is_zero
from .picture_texts import translate
from .svg_elements import (
    ADJOINT_COLOR,
    CUT_COLOR,
    EDGE_COLOR,
    MUTED_COLOR,
    NODE_COLORS,
    SWEPT_EDGE_COLOR,
    TAPE_COLORS,
    choose_border_and_fill_colors,
    choose_text_color,
)
from .truncation import replace_unprintable, shorten_name
from .value_display import format_magnitude, format_magnitude_and_shape

if TYPE_CHECKING:
    import graphviz

    from ..engine.types import TextList, TextsByName
    from .snapshot_types import OptionalValue, RowFields, RowFieldsSequence

MAX_TEXT_LETTERS = 30  # A node has room for this many letters of an expression.
MAX_NUMBER_LETTERS = 15
# Graphviz places the rows of different clusters side by side only with "newrank".
TEXT_ATTRIBUTES = {"fontname": "Helvetica", "fontsize": "11"}
GRAPH_ATTRIBUTES = TEXT_ATTRIBUTES | {"rankdir": "LR", "newrank": "true", "nodesep": "0.2", "ranksep": "0.35"}
NODE_ATTRIBUTES = TEXT_ATTRIBUTES | {"shape": "box", "margin": "0.09,0.06", "height": "0", "width": "0"}
EDGE_ATTRIBUTES = {"color": EDGE_COLOR, "fontname": "Courier", "fontsize": "10", "arrowsize": "0.6"}
RESOLUTION = "192"  # Of a .png file, in pixels per inch.
# The sum of what omitted rows send back has no number.
SWEPT_GAP_ATTRIBUTES = f' [label=" Σ " dir=back color="{SWEPT_EDGE_COLOR}" fontcolor="{ADJOINT_COLOR}"]'
GAP_NODE = "gap"  # The node that stands for rows that are left out.


@dataclass
class Cluster:
    """A tape or a layer: the nodes in it, and the clusters inside.

    Attributes:
        label: The text above the cluster.
        color: The color of its border and its text.
        statements: The DOT statements of its nodes.
        inner_clusters: The clusters inside, by label.
    """

    label: str = ""
    color: str = MUTED_COLOR
    statements: TextList = field(default_factory=list)
    inner_clusters: dict[str, Cluster] = field(default_factory=dict)

    def iter_statements(self, path: str = "cluster") -> Iterator[str]:
        """Yield the statements of the cluster and of all clusters inside.

        Args:
            path: The name of this cluster, from which the names of the inner clusters are made.
        """
        yield from self.statements
        for number, inner in enumerate(self.inner_clusters.values()):
            name = f"{path}_{number}"
            yield f"subgraph {name} {{"
            attributes = {"label": inner.label, "color": inner.color, "fontcolor": inner.color, "style": "rounded"}
            yield f"graph [{format_attributes(attributes)}]"
            yield from inner.iter_statements(name)
            yield "}"


def build_dot_text(figure: Figure) -> str:
    """Return a figure's snapshot as the text of a DOT file.

    Args:
        figure: The figure, for its adjoints, shares and texts.
    """
    subjects = {"graph": GRAPH_ATTRIBUTES, "node": NODE_ATTRIBUTES, "edge": EDGE_ATTRIBUTES}
    defaults = (f"{subject} [{format_attributes(attributes)}]" for subject, attributes in subjects.items())
    return "\n".join(["digraph tape {", *defaults, *iter_graph_statements(figure), "}", ""])


def build_digraph(figure: Figure) -> graphviz.Digraph:
    """Return a figure's snapshot as a ``graphviz.Digraph``, which the caller can change and render.

    Args:
        figure: The figure, for its adjoints, shares and texts.

    Raises:
        ImportError: If the graphviz package is not installed.
    """
    try:
        import graphviz
    except ImportError as error:
        raise ImportError(
            'graph() needs the package graphviz, but it is not installed. Type: pip install "minitape[graphviz]".'
        ) from error
    body = [f"\t{statement}\n" for statement in iter_graph_statements(figure)]
    return graphviz.Digraph(
        "tape", body=body, graph_attr=GRAPH_ATTRIBUTES, node_attr=NODE_ATTRIBUTES, edge_attr=EDGE_ATTRIBUTES
    )


def render_digraph(figure: Figure, output_format: str) -> bytes:
    """Return the picture that Graphviz draws of a figure's snapshot.

    Args:
        figure: The figure, for its adjoints, shares and texts.
        output_format: The format of the picture, such as "pdf".

    Raises:
        ImportError: If the package graphviz is not installed.
        RuntimeError: If the program ``dot`` is missing or fails.
    """
    digraph = build_digraph(figure)
    digraph.graph_attr["dpi"] = RESOLUTION
    import graphviz

    try:
        return bytes(digraph.pipe(format=output_format))
    except graphviz.ExecutableNotFound as error:
        raise RuntimeError(
            f"A .{output_format} file needs the program dot from Graphviz, but it was not found. Install Graphviz "
            "from https://graphviz.org/download, for example with apt install graphviz or brew install graphviz, or "
            "save the picture as .svg without Graphviz."
        ) from error
    except graphviz.CalledProcessError as error:
        message = error.stderr.decode("utf-8", "replace").strip()
        raise RuntimeError(f"The Graphviz program dot failed: {message}") from error


def iter_graph_statements(figure: Figure) -> Iterator[str]:
    """Yield the DOT statements of a figure's snapshot, without the attributes that hold for the whole graph.

    Args:
        figure: The figure, for its adjoints, shares and texts.
    """
    shown_rows = [node.row for node in figure.nodes if node.row["row"] >= 0]
    root = Cluster()
    if any(node.line or node.tier for node in figure.nodes):  # A single row of columns would be too small to read.
        yield "graph [rankdir=TB]"
    for row in move_weights_into_layers(shown_rows):
        cluster = find_or_create_cluster(root, figure, row)
        cluster.statements.append(f"{row['row']} [{format_attributes(build_dot_node_attributes(figure, row))}]")
    lines = [" ".join(line) for line in iter_gradient_result_lines(figure.snapshot["results"], figure.expressions)]
    if not shown_rows:
        yield f"graph [label={quote_text(translate('nothing recorded'))}]"
    if lines:
        # "\l" ends a line that is aligned on the left. Graphviz understands it only in a quoted string.
        label = "".join(f"{quote_text(line)[1:-1]}\\l" for line in lines)
        yield f'graph [label="{label}" labeljust=l]'
    yield from root.iter_statements()
    yield from iter_gap_statements(figure)
    for row in shown_rows:
        yield from iter_edge_statements(figure, row)
    yield from iter_dashed_edge_statements(figure)


def move_weights_into_layers(rows: RowFieldsSequence) -> Iterator[RowFields]:
    """Yield rows in which each weight is in the layer that first reads it, where its name needs no layer.

    Args:
        rows: The rows, which stay unchanged.
    """
    scope_by_input = {input_row: row["scope"] for row in reversed(rows) for input_row in row["inputs"]}
    for row in rows:
        name = row["name"] or ""
        scope = scope_by_input.get(row["row"], [])
        if row["kind"] == "variable" and scope and scope[-1] in name:
            row = {**row, "scope": scope, "name": name.replace("/", ".").rpartition(".")[2]}
        yield row


def find_or_create_cluster(root: Cluster, figure: Figure, row: RowFields) -> Cluster:
    """Return the cluster of a row, and create it if it is new.

    Its tapes surround it, the outermost first, then the gradient that wrote it, and its layers.

    Args:
        root: The cluster around the whole graph.
        figure: The figure that is drawn.
        row: The row.
    """
    path = []
    tapes = figure.snapshot["tapes"]
    if len(tapes) > 1:
        # No tape follows a constant, but it belongs where it was made.
        inside = [index for index, tape in enumerate(tapes) if is_within_tape(row, tape)]
        for index in inside if row["kind"] == "constant" or row["by"] is not None else row["tapes"]:
            name = shorten_name(tapes[index]["name"], MAX_TEXT_LETTERS)
            label = name if f"{name} ".startswith("tape ") else translate("tape {name}", name=name)
            path.append((label, TAPE_COLORS[index % len(TAPE_COLORS)]))
        if row["by"] is not None:
            path.append((f"{shorten_name(tapes[row['by']]['name'], MAX_TEXT_LETTERS)}.gradient", MUTED_COLOR))
    cluster = root
    for label, color in [*path, *((part, MUTED_COLOR) for part in row["scope"])]:
        cluster = cluster.inner_clusters.setdefault(label, Cluster(label, color))
    return cluster


def build_dot_node_attributes(figure: Figure, row: RowFields) -> TextsByName:
    """Return the DOT attributes of a row's node.

    Args:
        figure: The figure, for its adjoints and texts.
        row: The row.
    """
    color, fill = choose_border_and_fill_colors(row, row["row"] in figure.broken_rows)
    styles = {
        "filled": True,
        "rounded": row["kind"] in ("source", "operation"),
        "dashed": row["status"] == "ghost",
        "bold": row["row"] in figure.target_rows,
    }
    return {
        "label": build_node_label(figure, row),
        "color": color,
        "fillcolor": fill,
        "style": ",".join(style for style, applies in styles.items() if applies),
        "tooltip": f"{row['row']} {format_row_title(row)}" + (f" line {row['line']}" if row["line"] else ""),
        "peripheries": "2" if row["kind"] == "variable" else "1",
    }


def build_node_label(figure: Figure, row: RowFields) -> str:
    """Return the label of a node in Graphviz's HTML: the operation and the row's number, the value, the adjoint.

    Args:
        figure: The figure, for its adjoints and texts.
        row: The row.
    """
    name, texts = figure.expressions.list_name_and_texts(row)
    title = f"<b>{escape_label(shorten_name(name, MAX_TEXT_LETTERS))}</b> " if name else ""
    title = (title + escape_label(choose_first_fitting_text(texts, MAX_TEXT_LETTERS))).rstrip()
    table_rows = [
        f'<td align="left">{title}</td><td align="right">  <font color="{MUTED_COLOR}">{row["row"]}</font></td>'
    ]
    update = figure.assigned_sources.get(row["row"])
    value = format_node_value(row["value"], row) if not row["released"] else translate("released")
    if update is not None:
        value += f" → {format_node_value(update['now'], row)}"
    for text, color in (
        (value, choose_text_color(row["value"])),
        figure.choose_adjoint_text_and_color(row, MAX_NUMBER_LETTERS),
    ):
        if text:
            table_rows.append(
                f'<td align="left" colspan="2"><font face="Courier" color="{color}">{escape_label(text)}</font></td>'
            )
    cells = "".join(f"<tr>{table_row}</tr>" for table_row in table_rows)
    return f'<<table border="0" cellborder="0" cellspacing="0" cellpadding="1">{cells}</table>>'


def format_node_value(value: OptionalValue, row: RowFields) -> str:
    """Return a value as a node shows it: the number, or the magnitude and the shape of a larger array.

    Integers, such as the numbers of tokens, seldom have both signs, so their largest magnitude is written as "≤ 30".

    Args:
        value: The value; None for a value that was not kept.
        row: The row of the value.
    """
    text = format_magnitude_and_shape(value, row["shape"], MAX_NUMBER_LETTERS) if value else ""
    return text.replace("±", "≤ ") if "int" in row["dtype"] else text


def iter_edge_statements(figure: Figure, row: RowFields) -> Iterator[str]:
    """Yield the edges into a row, each with the share that the sweep has sent back along it.

    Args:
        figure: The figure, for its shares.
        row: The row at which the edges end.
    """
    for port, number in enumerate(row["inputs"]):
        input_row = figure.expressions.rows_by_number.get(number, {})
        if input_row.get("literal"):  # A number of the program is part of the text of its consumer.
            continue
        start = number if number in figure.node_by_row else GAP_NODE
        attributes = {"style": "dashed"} if row["cut"] or row["status"] == "ghost" else {}
        if row["cut"]:
            attributes |= {"color": CUT_COLOR} | build_cause_attributes(figure, number, row["row"])
        if row["scope"] and input_row.get("kind") == "variable":
            attributes["minlen"] = "0"  # A weight may be beside the operation that reads it.
        if share := figure.shares_by_edge.get((row["row"], port)):
            attributes |= {
                "label": f" {format_magnitude(share, MAX_NUMBER_LETTERS)} ",
                "dir": "back",
                "color": SWEPT_EDGE_COLOR,
                "fontcolor": choose_text_color(share, ADJOINT_COLOR),
            } | ({"style": "dotted"} if is_zero(share) else {})
        yield f"{start} -> {row['row']}" + (f" [{format_attributes(attributes)}]" if attributes else "")


def build_cause_attributes(figure: Figure, start: int, end: int) -> TextsByName:
    """Return the DOT attributes of an edge that names what breaks a path, or none if no path breaks there.

    Args:
        figure: The figure.
        start: The row of the edge's input.
        end: The row at which the edge ends.
    """
    cause = figure.causes.get((figure.node_by_row.get(start, -1), figure.node_by_row[end]))
    return {"label": f"✕ {cause}", "fontcolor": CUT_COLOR} if cause else {}


def iter_dashed_edge_statements(figure: Figure) -> Iterator[str]:
    """Yield the edges that no gradient passes: to assigned states of variables, and of values that escaped.

    Args:
        figure: The figure, for its assignments and escapes.
    """
    for end, (port, start) in figure.iter_dashed_edges():
        if figure.node_by_row.keys() >= {start, end}:
            attributes = {
                "style": "dashed",
                "color": CUT_COLOR if port == ESCAPE_PORT else NODE_COLORS["variable"][0],
                "label": "✕" if port == VALUE_PORT else "",
                "fontcolor": CUT_COLOR,
            } | build_cause_attributes(figure, start, end)
            # A number literal has no node, so the edge ends at the operation that reads it.
            end_row = figure.nodes[figure.node_by_row[end]].row["row"]
            yield f"{start} -> {end_row} [{format_attributes(attributes)}]"


def iter_gap_statements(figure: Figure) -> Iterator[str]:
    """Yield the node that stands for the rows that the figure leaves out, or nothing if it contains all rows.

    Args:
        figure: The figure that is drawn.
    """
    if figure.gap_index < 0:
        return
    lines = [
        translate("{n} rows are left out", n=figure.omitted_count),
        figure.describe_omitted_rows(),
        translate('To see them, use TapeView(tape), or fold="layers" for a model.'),
    ]
    cells = "".join(f"<tr><td>{escape_label(line)}</td></tr>" for line in lines if line)
    label = f'<<table border="0" cellborder="0" cellspacing="0">{cells}</table>>'
    yield f'{GAP_NODE} [label={label} style=dashed color="{NODE_COLORS["gap"][0]}" fontcolor="{MUTED_COLOR}"]'
    for start, port in figure.nodes[figure.gap_index].inputs:
        attributes = SWEPT_GAP_ATTRIBUTES if (OMITTED_ROW["row"], port) in figure.shares_by_edge else ""
        yield f"{figure.nodes[start].row['row']} -> {GAP_NODE}{attributes}"


def format_attributes(attributes: TextsByName) -> str:
    """Return the attributes of a DOT statement, without the brackets.

    Args:
        attributes: The values by name. A value that begins with ``<<`` is Graphviz's HTML.
    """
    return " ".join(
        f"{name}={value if value.startswith('<<table') else quote_text(value)}" for name, value in attributes.items()
    )


def quote_text(text: str) -> str:
    r"""Return a text in quotation marks, so that Graphviz prints exactly this text.

    In a string, Graphviz interprets backslashes and the beginning of an HTML entity, but not ``\u``.

    Args:
        text: The text; unprintable characters become spaces.

    >>> print(quote_text('温度 "×" \\N &lt;'))
    "温度 \"×\" \\N &amp;lt;"
    """
    clean = replace_unprintable(text).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    return f'"{clean}"'


def escape_label(text: str) -> str:
    """Escape a text for Graphviz's HTML, so that markup, backslashes and unprintable characters have no effect.

    Args:
        text: The text.

    >>> escape_label("a < b")
    'a &lt; b'
    """
    # Graphviz replaces a backslash and a letter, such as "\\N", even in HTML, unless a joiner separates them.
    return escape(replace_unprintable(text)).replace("\\", "&#92;&#8288;")
