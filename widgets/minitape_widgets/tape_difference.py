"""Find the first difference between two recordings, for example before and after a change of a program."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any

from minitape.picture.picture_texts import translate
from minitape.picture.truncation import elide_text

if TYPE_CHECKING:
    from minitape.picture.snapshot_types import RowFields, Snapshot, ValueFields

MAX_MARKED_ROWS = 2000  # Later rows with other values are not marked.


def find_first_difference(first: Snapshot, second: Snapshot) -> tuple[int, str, str] | None:
    """Return the first row in which two snapshots differ.

    The operations, inputs, shapes and values of rows are compared in order. If all rows are equal, the adjoints and
    shares are compared in the order of the sweep.

    Args:
        first: A snapshot.
        second: Another snapshot.

    Returns:
        (row, description of the row in ``first``, description in ``second``); None if the snapshots are equal.

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
    """Return the numbers of the rows that have the same operation but another value in the two snapshots.

    Rows after the first difference are included. At most MAX_MARKED_ROWS rows are compared.

    Args:
        first: A snapshot.
        second: Another snapshot.
    """
    fact_pairs = islice(zip(_iter_row_facts(first), _iter_row_facts(second), strict=False), MAX_MARKED_ROWS)
    return [
        first_facts[0]
        for first_facts, second_facts in fact_pairs
        if first_facts[1] == second_facts[1] and first_facts[2] != second_facts[2]
    ]


def _iter_row_facts(snapshot: Snapshot) -> Iterator[tuple[Any, ...]]:
    """Yield (row number, fields that must be equal, value, description) for each row."""
    for row in snapshot["rows"]:
        yield row["row"], _list_compared_fields(row), _format_value(row["value"]), _describe_row_with_value(row)


def _iter_sweep_facts(snapshot: Snapshot) -> Iterator[tuple[Any, ...]]:
    """Yield (row number, value that must be equal, description) for each step and for each of its edges."""
    for step in (snapshot["sweep"] or {"steps": []})["steps"]:
        row, adjoint_text = step["row"], _format_value(step["adjoint"])
        yield row, adjoint_text, translate("adjoint {value} of row {row}", value=adjoint_text, row=row)
        for edge in step["edges"]:
            share_text = _format_value(edge["product"])
            yield row, share_text, translate("{value} handed to row {row}", value=share_text, row=edge["input"])


def _list_compared_fields(row: RowFields) -> tuple[object, ...]:
    """Return the fields of a row that must be equal in both recordings, except for its value."""
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
