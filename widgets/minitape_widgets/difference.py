"""Where two recordings begin to differ: before and after a change, say."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any

from minitape.picture.short import elide
from minitape.picture.words import word

if TYPE_CHECKING:
    from minitape.picture.fields import Fields, Shown, Snapshot

MOST = 2000  # rows that are marked


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
    for facts, beyond in ((_of_rows, zip_longest), (_of_sweep, zip)):
        for pair in beyond(facts(first), facts(second)):
            (row, *_), *_ = filter(None, pair)
            if None in pair or pair[0][:-1] != pair[1][:-1]:
                left, right = (word("no more rows") if one is None else one[-1] for one in pair)
                return row, left, right
    return None


def other_values(first: Snapshot, second: Snapshot) -> list[int]:
    """The rows that compute the same from other values, also behind those that compute something else."""
    both = islice(zip(_of_rows(first), _of_rows(second), strict=False), MOST)
    return [one[0] for one, other in both if one[1] == other[1] and one[2] != other[2]]


def _of_rows(snapshot: Snapshot) -> Iterator[tuple[Any, ...]]:
    """Of each row its number, what must be equal, and its words."""
    for row in snapshot["rows"]:
        yield row["row"], _same_of(row), _text(row["value"]), _words(row)


def _of_sweep(snapshot: Snapshot) -> Iterator[tuple[Any, ...]]:
    """The same of each step, and of each of its edges."""
    for step in (snapshot["sweep"] or {"steps": []})["steps"]:
        row, arrived = step["row"], _text(step["adjoint"])
        yield row, arrived, word("adjoint {value} of row {row}", value=arrived, row=row)
        for edge in step["edges"]:
            sent = _text(edge["product"])
            yield row, sent, word("{value} handed to row {row}", value=sent, row=edge["input"])


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
