"""Draw the static picture of a tape.

The picture is an SVG that any viewer can display (:mod:`.figure`). minitape computes the layout itself, so the picture
is the same on every machine. It shows the state at the end of the sweep. Saved notebooks contain it instead of a live
view, whose "export" menu can also draw single steps.
"""

from __future__ import annotations

import base64
import sys
from dataclasses import dataclass
from functools import cached_property
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from ..common.atomic_write import write_file
from .expressions import format_row_title
from .figure import MAX_PORTS, MIN_WIDTH, Figure
from .gradient_texts import iter_gradient_result_lines
from .graph import build_digraph, build_dot_text, render_digraph
from .layer_folds import fold_layers
from .picture_texts import translate
from .reader_base import collect_namespaces
from .snapshots import build_snapshot
from .source import get_picture_source
from .tikz import convert_to_tikz
from .truncation import join_first_items, replace_unprintable
from .value_display import format_magnitude_and_shape

if TYPE_CHECKING:
    import graphviz

    from ..engine.backward.tape import GradientTape
    from ..engine.types import OptionalFloat, OptionalText, Structure, TextsByName
    from .snapshot_types import RowFields, Snapshot

MAX_VALUE_LETTERS = 40  # Of a value in a description.
MAX_FIGURE_ROWS = 2000  # Only the first and last rows of a longer recording are read.


def draw(
    tape: GradientTape,
    target: Structure = None,
    sources: Structure = None,
    *,
    width: OptionalFloat = None,
    fold: OptionalText = None,
) -> Picture:
    """Return a static picture of the rows of ``tape``, with the adjoints of a gradient.

    A notebook displays the picture if it is the last expression in a cell.

    Args:
        tape: A ``tf.GradientTape``, a ``tf.autodiff.ForwardAccumulator``, or the recording of another framework.
        target: The target of the gradient, or None for the tape's last gradient call, if there is one.
        sources: The sources of the gradient, in any nested structure.
        width: The width of the printed picture in millimeters, such as 85 for a column of a paper. The picture then
            takes as many lines as are needed for type of at least 7 points.
        fold: "layers" draws each layer as one node; None draws each row.

    Returns:
        The picture. ``save(path)`` writes it to a file, ``svg`` is its SVG text, ``source`` is its DOT text, and
        ``graph()`` is a ``graphviz.Digraph``.

    Raises:
        TypeError: If ``tape`` is not a GradientTape.
        ValueError: If ``width`` is too small for one node, or if ``fold`` is any other text.

    >>> import minitape as tf
    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> picture = tf.draw(tape)
    >>> picture
    Picture(2 rows, 1 tape)
    >>> picture.svg.startswith("<svg")
    True
    >>> print(picture.source.splitlines()[-2])
    0 -> 1
    """
    if fold not in (None, "layers"):
        raise ValueError(f'draw() takes fold="layers" or fold=None, but received fold={fold!r}.')
    if width is not None and width < MIN_WIDTH:
        raise ValueError(
            f"draw() needs a width of at least {MIN_WIDTH} mm for nodes with type of 7 points, but received {width!r}."
        )
    recording = get_picture_source(tape, "draw() takes")
    reader = recording.build_reader(collect_namespaces(sys._getframe(1)))
    reader.recompute_into_kept_arrays()
    rows = reader.read_first_and_last_rows(MAX_FIGURE_ROWS)
    return Picture(build_snapshot(recording, target, sources, reader, rows), width, fold == "layers")


@dataclass(eq=False, repr=False)
class Picture:
    """A static picture of a snapshot, which a notebook displays as an image.

    Attributes:
        snapshot: The snapshot.
        width: The width of the printed picture in millimeters; None for the natural width.
        has_folded_layers: Whether each layer is one node.
    """

    snapshot: Snapshot
    width: OptionalFloat = None
    has_folded_layers: bool = False

    @cached_property
    def figure(self) -> Figure:
        """The layout of the picture."""
        shown = fold_layers(self.snapshot) if self.has_folded_layers else self.snapshot
        return Figure(shown, self.width)

    @property
    def svg(self) -> str:
        """The picture as SVG text."""
        return self.figure.build_svg(repr(self), self.alt)

    @property
    def source(self) -> str:
        """The graph as DOT text, for Graphviz. It needs no other package.

        An edge that no gradient passes through is dashed, and an edge in the color of derivatives names each share.
        """
        return build_dot_text(self.figure)

    def graph(self) -> graphviz.Digraph:
        """Return the graph as an object from the graphviz package, which can be changed and rendered.

        Returns:
            A ``graphviz.Digraph`` with value and adjoint in each node, and a cluster for each tape and each layer. In a
            notebook it shows itself; ``render("tape", format="pdf")`` writes it to a file.

        Raises:
            ImportError: If the graphviz package is not installed.
        """
        return build_digraph(self.figure)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the picture to a file.

        Args:
            path: The file. Its extension determines the format: ``.svg`` for SVG, ``.tex`` for a TikZ picture in LaTeX,
                ``.dot`` for a graph to be laid out by Graphviz, ``.pdf`` or ``.png`` for a picture that Graphviz draws.

        Raises:
            ValueError: If the file name has a different extension.
            ImportError: If Graphviz has to draw the picture and the graphviz package is not installed.
            RuntimeError: If Graphviz has to draw the picture and its program ``dot`` is missing or fails.
        """
        ending = Path(path).suffix.lower()
        content: str | bytes
        if ending == ".svg":
            content = self.svg
        elif ending == ".tex":
            content = convert_to_tikz(self.svg)
        elif ending == ".dot":
            content = self.source
        elif ending in (".pdf", ".png"):
            content = render_digraph(self.figure, ending[1:])
        else:
            raise ValueError(
                "save() knows the endings .svg, .tex, .dot, .pdf and .png, and TapeView(tape).save() also .html and "
                f".json, but received {str(path)!r}."
            )
        write_file(Path(path), content)

    def html(self) -> str:
        """Return an ``<img>`` element that contains the whole picture.

        The element needs no script, so it also appears in a saved notebook.
        """
        data = base64.b64encode(self.svg.encode()).decode()
        return f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(self.alt)}" style="max-width:100%">'

    @property
    def alt(self) -> str:
        """A description of the picture for screen readers.

        Each of the first 12 rows is described by its value, its adjoint, and the information in its shape and color.
        The gradients follow, and the titles of warnings, such as where a None comes from.
        """
        figure = self.figure
        rows = figure.snapshot["rows"]
        total = figure.snapshot["total"]
        descriptions = [_describe_node_row(figure, row) for row in rows[:12]]
        if total > 12:
            descriptions.append(translate("and {n} more rows", n=total - 12))
        descriptions += map(" ".join, iter_gradient_result_lines(figure.snapshot["results"], figure.expressions))
        # The texts of warnings may contain numbers of cells, which differ from one run of a notebook to the next.
        descriptions += [alarm["title"] for alarm in figure.snapshot.get("alarms", ())]
        heading = translate("Tape of {n} row: " if total == 1 else "Tape of {n} rows: ", n=total)
        return replace_unprintable(heading + translate("; ").join(descriptions)) if rows else translate("Empty tape")

    def __repr__(self) -> str:
        """Return the number of rows and tapes."""
        row_count = format_count(self.snapshot["total"], "row")
        return f"Picture({row_count}, {format_count(len(self.snapshot['tapes']), 'tape')})"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> TextsByName:
        return {"text/plain": repr(self), "text/html": self.html()}


def format_count(count: int, noun: str) -> str:
    """Return a count with its noun in the singular or plural, such as "2,000 rows".

    Args:
        count: The count.
        noun: The noun in the singular.
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _describe_node_row(figure: Figure, row: RowFields) -> str:
    assigned_source = figure.assigned_sources.get(row["row"])
    inputs = translate(" of {rows}", rows=join_first_items(row["inputs"], MAX_PORTS)) if row["inputs"] else ""
    value_text, adjoint_text, new_value_text = (
        format_magnitude_and_shape(shown_value, row["shape"], MAX_VALUE_LETTERS) if shown_value else ""
        for shown_value in (row["value"], figure.adjoints.get(row["row"]), assigned_source and assigned_source["now"])
    )
    notes = {
        translate("on no tape"): row["status"] == "ghost" and not row["tapes"],
        translate("watched"): row["kind"] in ("source", "variable") and row["watched"],
        translate("not watched"): row["kind"] == "variable" and not row["watched"],
        translate("no gradient passes"): row["cut"],
        translate("the path breaks here"): row["row"] in figure.broken_rows,
    }
    note_text = translate(", ").join(note for note, applies in notes.items() if applies)
    parts = [
        f" = {value_text}" if value_text else "",
        f" → {new_value_text}" if new_value_text else "",
        translate(", ∂ {value}", value=adjoint_text) if adjoint_text else "",
        translate(" ({notes})", notes=note_text) if note_text else "",
    ]
    return f"{row['row']} {format_row_title(row).replace(' = ', ': ')}{inputs}{''.join(parts)}"
