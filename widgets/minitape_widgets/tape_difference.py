"""Where two recordings begin to differ: before and after a change, say."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any

from minitape.picture.picture_texts import translate
from minitape.picture.truncation import elide_text

if TYPE_CHECKING:
    from minitape.picture.snapshot_types import RowFields, Snapshot, ValueFields

MAX_MARKED_ROWS = 2000  # rows that are marked


def find_first_difference(first: Snapshot, second: Snapshot) -> tuple[int, str, str] | None:
    """Return the first row in which two snapshots differ, and what it is in each; None where they are alike.

    Rows are compared in order: operations, shapes and values. Where all are alike, so are the adjoints, in the order in
    which the sweep comes to them.

    >>> import minitape as tf
    >>> def made(f):
    ...     x = tf.Variable(2.0, name="x")
    ...     with tf.GradientTape() as tape:
    ...         y = f(x) * x
    ...     return tf.snapshot(tape, y, x)
    >>> find_first_difference(made(tf.sin), made(tf.cos))
    (1, 'sin of row 0 = 0.9092974', 'cos of row 0 = -0.41614684')
    >>> find_first_difference(made(tf.sin), made(tf.sin)) is None
    True
    """
    for iter_facts, pair_up in ((_iter_row_facts, zip_longest), (_iter_sweep_facts, zip)):
        for pair in pair_up(iter_facts(first), iter_facts(second)):
            (row, *_), *_ = filter(None, pair)
            if None in pair or pair[0][:-1] != pair[1][:-1]:
                first_text, second_text = (translate("no more rows") if facts is None else facts[-1] for facts in pair)
                return row, first_text, second_text
    return None


def list_rows_with_changed_values(first: Snapshot, second: Snapshot) -> list[int]:
    """Return the rows that compute the same from other values, also behind those that compute something else."""
    fact_pairs = islice(zip(_iter_row_facts(first), _iter_row_facts(second), strict=False), MAX_MARKED_ROWS)
    return [
        first_facts[0]
        for first_facts, second_facts in fact_pairs
        if first_facts[1] == second_facts[1] and first_facts[2] != second_facts[2]
    ]


def _iter_row_facts(snapshot: Snapshot) -> Iterator[tuple[Any, ...]]:
    """Yield for each row its number, what must be equal, its value, and its words."""
    for row in snapshot["rows"]:
        yield row["row"], _list_compared_fields(row), _format_value(row["value"]), _describe_row_with_value(row)


def _iter_sweep_facts(snapshot: Snapshot) -> Iterator[tuple[Any, ...]]:
    """Yield for each step, and for each of its edges, its row, what must be equal, and its words."""
    for step in (snapshot["sweep"] or {"steps": []})["steps"]:
        row, adjoint_text = step["row"], _format_value(step["adjoint"])
        yield row, adjoint_text, translate("adjoint {value} of row {row}", value=adjoint_text, row=row)
        for edge in step["edges"]:
            share_text = _format_value(edge["product"])
            yield row, share_text, translate("{value} handed to row {row}", value=share_text, row=edge["input"])


def _list_compared_fields(row: RowFields) -> tuple[object, ...]:
    """Return the fields of a row that must be equal, without its value."""
    return row["op"], row["label"], row["inputs"], row["dtype"], row["shape"], row["cut"]


def _format_value(value: ValueFields | None) -> str:
    return "" if value is None else " ".join(value["text"].split())


def _describe_row_with_value(row: RowFields) -> str:
    value = elide_text(_format_value(row["value"]) or translate("released"), 60)
    if not row["inputs"]:
        return f"{row['label'] or row['op']} = {value}"
    return translate(
        "{operation} of row {rows} = {value}",
        operation=row["label"] or row["op"],
        rows=translate(", ").join(map(str, row["inputs"])),
        value=value,
    )
