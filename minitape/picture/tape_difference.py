"""Find the first difference between two recordings, such as a learner's and the solution's.

The operations of both tapes are aligned by what they compute, not by row number. Additional constants, a different
order of leaves and different names do not count as differences.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import takewhile, zip_longest
from math import isclose, isnan
from typing import TypeAlias

from ..engine.types import NumberPair, OptionalText, RowByRow, RowList, TextPair
from .expressions import Expressions
from .picture_texts import translate
from .snapshot_types import OptionalRow, OptionalValue, RowFields, Snapshot, StepFields
from .truncation import elide_text
from .value_display import format_magnitude, format_shape

MAX_ALIGNED_ROWS = 2000
"""The maximum number of operations after the first difference that are aligned."""
MAX_VALUE_LETTERS = 60
RTOL = 1e-5
# The inputs of a traced function are not in the order of its arguments, because a variable comes last.
UNORDERED_OPERATIONS = {"add", "multiply", "maximum", "minimum", "function"}

RowPair: TypeAlias = "tuple[OptionalRow, OptionalRow]"


@dataclass(frozen=True)
class TapeDifference:
    """The first difference between two tapes.

    Attributes:
        kind: "operation" if the rows compute different things or only one of them exists, "start" if the values of a
            leaf differ, "recording" if only one of the rows is recorded, "value" if the results differ, "adjoint" if
            the adjoints differ, or "share" if the shares that a row sends to one of its inputs differ.
        rows: The row of each tape, or None if a tape has no such row.
        places: The number of each row, or for a missing row, the number of the next row.
        texts: A description of each tape's row, or "" at the end of a tape.
        changed_rows: For each tape, the rows that have the same operation as their partners in the other tape but a
            different value.
        next_rows: The rows that come next if one of the rows is missing.
        values: The adjoints or shares that differ.
    """

    kind: str
    rows: RowPair
    places: NumberPair
    texts: TextPair
    changed_rows: tuple[RowList, RowList]
    next_rows: RowPair = (None, None)
    values: TextPair = ("", "")


def find_first_difference(first: Snapshot, second: Snapshot, compares_sweeps: bool = True) -> TapeDifference | None:
    """Find the first row in which two tapes differ.

    A row that only the second recording has counts only if the second tape recorded it. A step of its sweep, for
    example, may be recorded by an outer tape alone. If all rows agree, the adjoints and shares are compared in the
    order of the sweep.

    Args:
        first: A snapshot.
        second: The other snapshot.
        compares_sweeps: Whether to compare the sweeps, which are comparable only if both answer the same question.

    Returns:
        The difference, or None if the tapes agree.

    >>> import minitape as tf
    >>> def made(f):
    ...     x = tf.Variable(2.0, name="x")
    ...     with tf.GradientTape() as tape:
    ...         y = f(x) * x
    ...     return tf.snapshot(tape, y, x)
    >>> find_first_difference(made(tf.sin), made(tf.cos)).texts
    ('sin(x) = 0.9092974', 'cos(x) = -0.41614684')
    >>> find_first_difference(made(tf.sin), made(tf.sin)) is None
    True
    """
    alignment = Alignment(first, second)
    for own_row, other_row, next_rows in alignment.iter_pairs():
        alignment.compare_rows_and_record_difference(own_row, other_row, next_rows)
    if alignment.difference is None and compares_sweeps:
        alignment.compare_sweeps()
    return alignment.difference


class Alignment:
    """The state of a comparison.

    Attributes:
        rows: The rows of each tape, by number.
        partners: The rows of the first tape that have a partner, with the number of that row in the second tape.
        difference: The first difference found so far, or None.
    """

    def __init__(self, first: Snapshot, second: Snapshot):
        """Start without partners and without a difference."""
        self.snapshots = first, second
        self.rows = tuple({row["row"]: row for row in snapshot["rows"]} for snapshot in self.snapshots)
        self.partners: RowByRow = {}
        self.changed_rows: tuple[RowList, RowList] = [], []
        self.difference: TapeDifference | None = None

    def iter_pairs(self) -> Iterator[tuple[OptionalRow, OptionalRow, RowPair]]:
        """Yield pairs of matching operations from both tapes, in order, and operations that only one tape has.

        Yields:
            The row of each tape, or None if it has no such row, and the next row of each tape, which may be the same.
        """
        own_rows, other_rows = ([row for row in snapshot["rows"] if row["inputs"]] for snapshot in self.snapshots)
        own_keys, other_keys = ([_get_operation(row) for row in rows] for rows in (own_rows, other_rows))
        equal_keys = takewhile(lambda keys: keys[0] == keys[1], zip(own_keys, other_keys, strict=False))
        start = len([*equal_keys])
        for pair in zip(own_rows[:start], other_rows[:start], strict=True):
            yield *pair, pair
        own_rows, other_rows = (rows[start : start + MAX_ALIGNED_ROWS] for rows in (own_rows, other_rows))
        own_keys, other_keys = (keys[start : start + MAX_ALIGNED_ROWS] for keys in (own_keys, other_keys))
        matcher = SequenceMatcher(None, own_keys, other_keys, autojunk=False)
        for _, begin, end, other_begin, other_end in matcher.get_opcodes():
            next_rows = (
                own_rows[begin] if begin < len(own_rows) else None,
                other_rows[other_begin] if other_begin < len(other_rows) else None,
            )
            for pair in zip_longest(own_rows[begin:end], other_rows[other_begin:other_end]):
                yield *pair, next_rows

    def compare_rows_and_record_difference(
        self, own_row: OptionalRow, other_row: OptionalRow, next_rows: RowPair
    ) -> None:
        """Compare two matching operations, and record a difference if one is missing or if they are not alike."""
        if own_row is None or other_row is None or _get_operation(own_row) != _get_operation(other_row):
            # A row that the second tape did not record itself, such as a step of its sweep, does not count as missing.
            if own_row or not other_row or other_row["status"] == "recorded":
                self.record_first_difference("operation", own_row, other_row, next_rows)
            return
        self.partners[own_row["row"]] = other_row["row"]
        has_same_inputs = self._compare_inputs(own_row, other_row)
        if not has_same_inputs or own_row["cut"] != other_row["cut"]:
            self.record_first_difference("operation", own_row, other_row)
        elif own_row["status"] != other_row["status"]:
            self.record_first_difference("recording", own_row, other_row)
        self._compare_values(own_row, other_row, "value")

    def _compare_inputs(self, own_row: RowFields, other_row: RowFields) -> bool:
        """Return whether the inputs of two rows match, and compare the leaves among them."""
        own_inputs = own_row["inputs"]
        other_inputs = other_row["inputs"]
        if len(own_inputs) != len(other_inputs):
            return False
        if own_row["op"] in UNORDERED_OPERATIONS and self._count_matching_inputs(own_inputs, other_inputs[::-1]) > (
            self._count_matching_inputs(own_inputs, other_inputs)
        ):
            other_inputs = other_inputs[::-1]
        for own_input, other_input in zip(own_inputs, other_inputs, strict=True):
            leaves = self.rows[0].get(own_input), self.rows[1].get(other_input)
            if leaves[0] is None or leaves[1] is None:
                continue
            if own_input in self.partners:
                if self.partners[own_input] != other_input and not self._has_same_value(*leaves):
                    return False
            elif leaves[0]["inputs"] or leaves[1]["inputs"]:
                # An operation without a counterpart has already been recorded as a difference.
                continue
            elif not self._has_same_value(*leaves) and _get_role(leaves[0]) != _get_role(leaves[1]):
                return False  # The second leaf is not the counterpart of the first.
            else:
                self.partners[own_input] = other_input
                self._compare_values(leaves[0], leaves[1], "start")
        return True

    def _count_matching_inputs(self, own_inputs: RowList, other_inputs: RowList) -> int:
        """Count the inputs that match or are leaves with the same value."""
        return sum(
            self.partners[own_input] == other_input
            if own_input in self.partners
            else self._has_same_value(self.rows[0].get(own_input), self.rows[1].get(other_input))
            for own_input, other_input in zip(own_inputs, other_inputs, strict=True)
        )

    def _has_same_value(self, own_row: OptionalRow, other_row: OptionalRow) -> bool:
        if own_row is None or other_row is None or bool(own_row["inputs"]) != bool(other_row["inputs"]):
            return False
        return is_same_value(own_row["value"], other_row["value"])

    def _compare_values(self, own_row: RowFields, other_row: RowFields, kind: str) -> None:
        if self._has_same_value(own_row, other_row):
            return
        if self.difference is not None or kind == "start" or own_row["inputs"]:
            for changed, row in zip(self.changed_rows, (own_row, other_row), strict=True):
                changed.append(row["row"])
        self.record_first_difference(kind, own_row, other_row)

    def record_first_difference(
        self, kind: str, own_row: OptionalRow, other_row: OptionalRow, next_rows: RowPair | None = None
    ) -> None:
        """Record a difference, unless an earlier one is already recorded.

        Args:
            kind: The kind of the difference.
            own_row: The row of the first tape, or None if it has none.
            other_row: The row of the second tape, or None if it has none.
            next_rows: The rows that come next if one is missing.
        """
        if self.difference is not None:
            return
        own_next, other_next = next_rows or (own_row, other_row)
        is_told_without_digits = kind == "operation" or _format_size(own_next) != _format_size(other_next)
        self.difference = TapeDifference(
            kind,
            (own_row, other_row),
            (
                own_next["row"] if own_next else max(self.rows[0], default=-1) + 1,
                other_next["row"] if other_next else max(self.rows[1], default=-1) + 1,
            ),
            (
                _describe_row_with_value(own_next, self.rows[0], is_told_without_digits),
                _describe_row_with_value(other_next, self.rows[1], is_told_without_digits),
            ),
            self.changed_rows,
            (own_next, other_next),
        )

    def compare_sweeps(self) -> None:
        """Compare the adjoints and shares of both sweeps, if the sweeps visit the same rows."""
        own_sweep, other_sweep = (snapshot["sweep"] for snapshot in self.snapshots)
        if own_sweep is None or other_sweep is None:
            return
        pairs = [*zip(own_sweep["steps"], other_sweep["steps"], strict=False)]
        if len(own_sweep["steps"]) != len(other_sweep["steps"]) or any(
            self.partners.get(own["row"], own["row"]) != other["row"] or len(own["edges"]) != len(other["edges"])
            for own, other in pairs
        ):
            return
        for own, other in pairs:
            if difference := self._find_difference_in_step(own, other):
                self.difference = difference
                return

    def _find_difference_in_step(self, own: StepFields, other: StepFields) -> TapeDifference | None:
        """Find the first difference in one step of the sweep, in its adjoint or else in one of its shares."""
        numbers = own["row"], other["row"]
        rows = self.rows[0].get(numbers[0]), self.rows[1].get(numbers[1])
        comparisons = [("adjoint", numbers, own["adjoint"], other["adjoint"])]
        comparisons += [
            ("share", (edge["input"], other_edge["input"]), edge["product"], other_edge["product"])
            for edge, other_edge in zip(own["edges"], other["edges"], strict=True)
        ]
        for kind, (own_row, other_row), own_value, other_value in comparisons:
            if is_same_value(own_value, other_value):
                continue
            here, there = _format_value(own_value), _format_value(other_value)
            pattern = "adjoint {value} of row {row}" if kind == "adjoint" else "{value} sent to row {row}"
            texts = translate(pattern, value=here, row=own_row), translate(pattern, value=there, row=other_row)
            return TapeDifference(kind, rows, numbers, texts, ([own_row], [other_row]), values=(here, there))
        return None


def _get_operation(row: RowFields) -> TextPair:
    """Return the operation of a row, without its inputs."""
    return row["op"], row["label"]


def _get_role(leaf: RowFields) -> tuple[str, OptionalText]:
    """Return the properties of a leaf that distinguish it from other leaves, except its value."""
    return leaf["kind"], leaf["name"]


def is_same_value(own_value: OptionalValue, other_value: OptionalValue) -> bool:
    """Return whether two values agree, up to rounding."""
    if own_value is None or other_value is None:
        return own_value is other_value
    number = own_value.get("data")
    other_number = other_value.get("data")
    if isinstance(number, (int, float)) and isinstance(other_number, (int, float)):
        is_nan = isnan(number) and isnan(other_number)
        return is_nan or isclose(number, other_number, rel_tol=RTOL, abs_tol=RTOL * RTOL)
    return _format_value(own_value) == _format_value(other_value)


def _format_value(value: OptionalValue) -> str:
    if value is None:
        return ""
    return " ".join((value["text"] or str(value["data"])).split())  # The arrays of a long tape have no texts.


def _format_size(row: OptionalRow) -> str:
    if row is None or row["value"] is None:
        return ""
    return f"{format_shape(row['shape'])} {format_magnitude(row['value'], MAX_VALUE_LETTERS)}"


def _describe_row_with_value(row: OptionalRow, rows: dict[int, RowFields], is_told_without_digits: bool) -> str:
    if row is None:
        return ""
    value = _format_value(row["value"]) or translate("released")
    if is_told_without_digits and len(value) > MAX_VALUE_LETTERS:
        # The operations' names, or the sizes, tell the rows apart, so the digits of a large array say nothing more.
        value = _format_size(row)
    value = elide_text(value, MAX_VALUE_LETTERS)
    name = f"{row['name']} = " if row["name"] and row["inputs"] else ""
    text = Expressions(rows.values()).list_texts_longest_first(row)[0]
    return f"{name}{elide_text(text, 40)} = {value}"
