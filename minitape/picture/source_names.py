"""Name the rows that no variable of the program refers to any longer, as the program's text names them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..recording.expression_names import ExpressionNames, read_expression_names
from .truncation import shorten_name

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from ..engine.record.record import Record
    from .picture_rows import PictureRow
    from .snapshot_types import RowFields

SUBSCRIPT_DIGITS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def find_names_in_source(record: Record, rows: Sequence[PictureRow]) -> list[RowFields]:
    """Return the names that expressions such as ``self.w * x`` give to their operands and results.

    Several leaves with the same text, such as the ``self.w`` of two layers, are numbered. An operation is named only if
    its name is unique, because the turns of a loop assign the same name.

    Args:
        record: The recording.
        rows: All rows of the recording, in order. Rows with a name keep it.

    Returns:
        The names, as partial rows.
    """
    taken_names = {row.get_field("name") for row in rows}
    rows_by_operation_name: dict[str, set[int]] = {}
    leaf_names: dict[Hashable, str] = {}
    leaf_rows: dict[Hashable, list[int]] = {}
    for row in rows:
        if row.get_field("kind") != "operation" and row.get_field("name") is None and not row.form.get("literal"):
            leaf_rows.setdefault(_identify_leaf(record, row.row), []).append(row.row)
    rows_by_number = {row.row: row for row in rows}
    for number, name in _iter_named_rows(record, rows):
        named_row = rows_by_number.get(number)
        if named_row is None or named_row.get_field("name") is not None or named_row.form.get("literal"):
            continue
        if named_row.get_field("kind") == "operation":
            rows_by_operation_name.setdefault(name, set()).add(number)
        else:
            leaf_names.setdefault(_identify_leaf(record, number), name)
    parts: list[RowFields] = []
    for leaf, name in leaf_names.items():
        unique_name, count = name, 1
        while unique_name in taken_names:
            count += 1
            unique_name = f"{name}{str(count).translate(SUBSCRIPT_DIGITS)}"
        taken_names.add(unique_name)
        parts += [{"row": row, "name": shorten_name(unique_name)} for row in leaf_rows[leaf]]
    parts += [
        {"row": row, "name": shorten_name(name)}
        for name, named_rows in rows_by_operation_name.items()
        if len(named_rows) == 1 and name not in taken_names
        for row in named_rows
    ]
    return parts


def _identify_leaf(record: Record, row: int) -> Hashable:
    """Return the identity of a leaf, which is the same for all states of a variable."""
    leaf = record.leaves.get(row)
    return row if leaf is None or leaf.variable is None else ("variable", id(leaf.variable))


def _iter_named_rows(record: Record, rows: Sequence[PictureRow]) -> Iterator[tuple[int, str]]:
    """Yield (row, name) for the operands and results of operations that the program's text names."""
    names_by_place: dict[tuple[int, int], ExpressionNames | None] = {}
    last_place, last_row = None, -1

    def iter_result() -> Iterator[tuple[int, str]]:
        names = None if last_place is None else names_by_place[last_place]
        if names is not None and names.result is not None:
            yield last_row, names.result

    for row in rows:
        if row.get_field("kind") != "operation" or row.form["by"] is not None:
            continue
        site = record.find_site(row.row)
        if site is None:
            continue
        place = id(site[0]), site[1]
        if place not in names_by_place:
            names_by_place[place] = read_expression_names(*site)
        # A function such as a loss has several rows, of which the last one is the result.
        if place != last_place:
            yield from iter_result()
        last_place, last_row = place, row.row
        names = names_by_place[place]
        if names is None:
            continue
        is_operation_itself = (
            names.function == row.form["op"] if names.function else len(names.operands) == len(row.inputs)
        )
        if is_operation_itself:
            yield from ((to, name) for to, name in zip(row.inputs, names.operands, strict=False) if name is not None)
    yield from iter_result()
