"""Where two recordings begin to differ: before and after a change, say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .short import elide
from .words import word

if TYPE_CHECKING:
    from .fields import Fields, Shown, Snapshot


def first_difference(first: Snapshot, second: Snapshot) -> tuple[int, str, str] | None:
    """The first row in which two snapshots differ, and what it is in each; None where they are alike.

    Rows are compared in order: operations, shapes and values. Where all are alike, so are the adjoints, in the order in
    which the sweep comes to them.

    >>> import minitape as tf
    >>> def made(f):
    ...     x = tf.Variable(2.0, name="x")
    ...     with tf.GradientTape() as tape:
    ...         y = f(x) * x
    ...     return tf.snapshot(tape, y, x)
    >>> first_difference(made(tf.sin), made(tf.cos))
    (1, 'sin of row 0 = 0.9092974', 'cos of row 0 = -0.41614684')
    >>> first_difference(made(tf.sin), made(tf.sin)) is None
    True
    """
    one, other = first["rows"], second["rows"]
    for a, b in zip(one, other, strict=False):
        if _same_of(a) != _same_of(b) or _text(a["value"]) != _text(b["value"]):
            return a["row"], _words(a), _words(b)
    if len(one) != len(other):
        row = min(len(one), len(other))
        left, right = (_words(rows[row]) if row < len(rows) else word("no more rows") for rows in (one, other))
        return row, left, right
    steps = zip(*((snapshot["sweep"] or {"steps": []})["steps"] for snapshot in (first, second)), strict=False)
    for a, b in steps:
        if a["row"] != b["row"] or _text(a["adjoint"]) != _text(b["adjoint"]):
            left, right = (
                word("adjoint {value} of row {row}", value=_text(step["adjoint"]), row=step["row"]) for step in (a, b)
            )
            return a["row"], left, right
        for one_edge, other_edge in zip(a["edges"], b["edges"], strict=False):
            if _text(one_edge["product"]) != _text(other_edge["product"]):
                left, right = (
                    word("{value} handed to row {row}", value=_text(edge["product"]), row=edge["input"])
                    for edge in (one_edge, other_edge)
                )
                return a["row"], left, right
    return None


def _same_of(row: Fields) -> tuple[object, ...]:
    """The fields of a row that must be equal, without its value."""
    return row["op"], row["label"], row["inputs"], row["dtype"], row["shape"], row["cut"]


def _text(value: Shown | None) -> str:
    return "" if value is None else " ".join(value["text"].split())


def _words(row: Fields) -> str:
    value = elide(_text(row["value"]) or word("released"), 60)
    if not row["inputs"]:
        return f"{row['label'] or row['op']} = {value}"
    return word(
        "{operation} of row {rows} = {value}",
        operation=row["label"] or row["op"],
        rows=word(", ").join(map(str, row["inputs"])),
        value=value,
    )
