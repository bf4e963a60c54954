"""``draw``: the static picture of a tape, laid out here, so that it is the same on every machine.

The picture is an SVG that any viewer shows (:mod:`.figure`). It is what notebooks keep of a view, and shows the end of
the sweep; a picture of one of its steps is in the menu "export" of a view.
"""

from __future__ import annotations

import base64
import json
import sys
from functools import cached_property
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from ..common.write_beside import write
from .expressions import title_of
from .figure import PORTS, Figure
from .reading import followed, reader_of, spaces
from .short import printable, some
from .snapshots import snapshot_of
from .tikz import tikz
from .words import word

if TYPE_CHECKING:
    from ..engine.back.tape import GradientTape
    from ..engine.types import Structure
    from .fields import Fields, Shown, Snapshot, SourceFields

WHOLE = 2000  # rows that are read: of a longer recording the first and the last ones


def draw(tape: GradientTape, target: Structure = None, sources: Structure = None) -> Picture:
    """The static picture of what ``tape`` recorded, with the adjoints of its last gradient or of ``target``.

    As the last expression of a cell it is shown; ``save(path)`` writes it, ``source`` is its DOT text. Raises TypeError
    when ``tape`` is no GradientTape.

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
    tape = followed(tape)
    reader = reader_of(tape, spaces(sys._getframe(1)), "draw() takes")
    reader.recompute()
    return Picture(snapshot_of(tape, target, sources, reader, reader.read_ends(WHOLE)))


class Picture:
    """A static picture of a snapshot: ``svg``, ``source`` (DOT), ``save(path)``; a notebook shows it."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    @cached_property
    def figure(self) -> Figure:
        """The nodes, and where they are."""
        return Figure(self.snapshot)

    @property
    def svg(self) -> str:
        """The picture as SVG text."""
        return self.figure.svg(repr(self), self.alt)

    @property
    def source(self) -> str:
        """The graph as DOT text, for Graphviz: no gradient passes an edge that is dashed."""
        lines = ["digraph tape {", "rankdir=LR", 'node [shape=box style=rounded fontname="Helvetica"]']
        for row in self.snapshot["rows"]:
            text, dashed = json.dumps(_words(row, None, None, False)), " [style=dashed]" * bool(row["cut"])
            lines += [f"{row['row']} [label={text}]", *(f"{one} -> {row['row']}{dashed}" for one in row["inputs"])]
        return "\n".join([*lines, "}", ""])

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the picture as SVG, to a ``.tex`` as a TikZ picture for LaTeX, to a ``.dot`` as the text for Graphviz.
        ValueError for another ending.
        """
        svg = self.svg
        text = {".svg": svg, ".tex": tikz(svg), ".dot": self.source}.get(Path(path).suffix.lower())
        if text is None:
            raise ValueError(
                "save() knows the endings .svg, .tex and .dot, and that of a TapeView also .html, but received "
                f'{str(path)!r}. The menu "export" of a TapeView makes a .png.'
            )
        write(Path(path), text)

    def html(self) -> str:
        """An ``<img>`` that holds the whole picture; it needs no script and stays in a saved notebook."""
        data = base64.b64encode(self.svg.encode()).decode()
        return f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(self.alt)}" style="max-width:100%">'

    @property
    def alt(self) -> str:
        """The picture in words: of each of the first rows its value, its adjoint, and what its shape and colour say."""
        rows, total = self.snapshot["rows"], self.snapshot["total"]
        figure, broken = self.figure, self.snapshot.get("broken", ())
        words = [
            _words(row, figure.adjoints.get(row["row"]), figure.updates.get(row["row"]), row["row"] in broken)
            for row in rows[:12]
        ]
        if total > 12:
            words.append(word("and {n} more rows", n=total - 12))
        heading = word("Tape of {n} row: " if total == 1 else "Tape of {n} rows: ", n=total)
        return printable(heading + word("; ").join(words)) if rows else word("Empty tape")

    def __repr__(self) -> str:
        return f"Picture({how_many(self.snapshot['total'], 'row')}, {how_many(len(self.snapshot['tapes']), 'tape')})"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.html()}


def how_many(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _words(row: Fields, adjoint: Shown | None, update: SourceFields | None, broken: bool) -> str:
    inputs = word(" of {rows}", rows=some(row["inputs"], PORTS)) if row["inputs"] else ""
    value, arrived, now = (
        " ".join(v["text"].split())[:40] if v else "" for v in (row["value"], adjoint, update and update["now"])
    )
    notes = {
        word("on no tape"): row["status"] == "ghost" and not row["tapes"],
        word("watched"): row["kind"] in ("source", "variable") and row["watched"],
        word("not watched"): row["kind"] == "variable" and not row["watched"],
        word("no gradient passes"): row["cut"],
        word("here the way breaks"): broken,
    }
    said = word(", ").join(note for note, holds in notes.items() if holds)
    parts = [
        f" = {value}" if value else "",
        f" → {now}" if now else "",
        word(", ∂ {value}", value=arrived) if arrived else "",
        word(" ({notes})", notes=said) if said else "",
    ]
    return f"{row['row']} {title_of(row).replace(' = ', ': ')}{inputs}{''.join(parts)}"
