"""Define the rows that a reader produces (:mod:`minitape.picture.reader`), and the fields that rows share."""

import re
from bisect import bisect_right
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from types import CodeType
from typing import Literal, NamedTuple

from ..engine.table.primitives import Primitive
from ..engine.types import (
    LIST_OR_TUPLE,
    OptionalNumber,
    OptionalText,
    Returned,
    RowList,
    RowSequence,
    Scope,
    TextsByName,
    TextSequence,
)
from .readable_formulas import format_readable_formula
from .shown_values import unpack_value
from .snapshot_types import OptionalRow, PackedValue, RowFields


@dataclass(slots=True, eq=False)
class PictureRow:
    """One row in compact form.

    A long tape has hundreds of thousands of rows. To save memory, rows of the same operation and place share their
    ``form``. Up to two inputs are stored without a tuple, because hundreds of thousands of tuples would slow down the
    garbage collector.

    Attributes:
        row: The row number.
        form: The fields that the row shares with other rows. It must not be changed.
        first_input: The row of the first input, or a sequence of all input rows.
        second_input: The row of the second input, or -1 if there is only one input, or None if ``first_input`` is a
            sequence.
        value: The packed value, or None if it was released.
        own_fields: Fields that replace or extend ``form`` for this row, or None for a row without such fields.
    """

    row: int
    form: RowFields
    first_input: int | RowSequence
    second_input: OptionalNumber
    value: PackedValue
    own_fields: OptionalRow = None

    @property
    def inputs(self) -> RowList:
        """The rows of the inputs."""
        if not isinstance(self.first_input, int):
            return list(self.first_input)
        if self.second_input is None or self.second_input < 0:
            return [self.first_input]
        return [self.first_input, self.second_input]

    def to_row_fields(self) -> RowFields:
        """Return all fields of the row in snapshot form."""
        shared_fields: RowFields = {"row": self.row, "call": self.row, **self.form}
        return {**shared_fields, "inputs": self.inputs, "value": unpack_value(self.value), **(self.own_fields or {})}

    def get_field(self, field: Literal["name", "kind"]) -> OptionalText:
        """Return the name or the kind of the row.

        Args:
            field: The field to return.
        """
        if self.own_fields is not None and field in self.own_fields:
            return self.own_fields[field]
        return self.form[field]

    def update_fields(self, part: RowFields) -> None:
        """Replace fields of this row without affecting other rows.

        Args:
            part: The fields with their new values.
        """
        self.own_fields = {**(self.own_fields or {}), **part}


PictureRows = list[PictureRow]


class RowContext(NamedTuple):
    """The facts shared by consecutive rows.

    Attributes:
        end: The first row for which the context no longer holds.
        place: The code object that creates the rows and the bytecode offset, or None if they are unknown. The offset is
            None if each row stores its own.
        writer: The number of the tape whose gradient wrote the rows, or None for the program's own rows.
        scope: The open name scopes, from the outside in.
        recording_tapes: The tapes that are recording, as bits.
        is_paused: Whether no tape is recording although one was recording earlier.
        forms: The forms of the rows read in this context, by the facts that they depend on.
    """

    end: int
    place: tuple[CodeType, OptionalNumber] | None
    writer: OptionalNumber
    scope: Scope
    recording_tapes: int
    is_paused: bool
    forms: dict[Hashable, RowFields]


get_row_number = attrgetter("row")
get_start_row = itemgetter(0)  # The first row to which a mark applies. A mark is a tuple that begins with this row.
# The operations on whole arrays that the browser can compute (widgets/frontend/evaluator/operations.ts).
ARRAY_OPERATIONS = frozenset(
    "broadcast_to cast concat equal greater greater_equal less less_equal log_softmax matmul not_equal reduce_max "
    "reduce_mean reduce_min reduce_sum reshape select slice softmax stack transpose unslice zeros_like".split()
)
# In the table, a negation has the same label as a subtraction, and a power has the same label as an exclusive or.
LABELS = {"negative": "neg", "pow": "xʸ", "identity": "copy"}


def build_formula_fields(texts: TextSequence, operand_names: TextsByName | None = None) -> RowFields:
    """Return the fields "formula", "rule" and "said" of an operation's row.

    Args:
        texts: The formula and the rules as written in the table of primitives, with "-" for a missing rule.
        operand_names: Names or numbers that replace ``x`` and ``y``.

    Returns:
        The formula and the rules, both as code for the browser to evaluate and as readable text.
    """

    def substitute_operands(text: str, number_format: str) -> str:
        def find_operand(match: re.Match[str]) -> str:
            operand = (operand_names or {}).get(match[0], match[0])
            return operand if operand.isalpha() else number_format.format(operand)

        return re.sub(r"(?<![a-z])[xy](?![a-z])", find_operand, text)

    formula, *rule = [substitute_operands(text, "({})") if text != "-" else "" for text in texts] or [""]
    readable_texts = [
        substitute_operands(format_readable_formula(text), "{}").replace("-", "−") if text != "-" else ""
        for text in texts
    ]
    return {"formula": formula, "rule": rule, "said": readable_texts}


def build_primitive_fields(primitive: Primitive) -> RowFields:
    """Return the fields of a row that depend only on its primitive.

    Args:
        primitive: The primitive.
    """
    cut = None
    if primitive.name == "stop_gradient":
        cut = "stop_gradient"
    elif primitive.rules is None:
        cut = "no_gradient_registered" if primitive.missing == "unregistered" else "nondifferentiable"
    elif primitive.is_nondifferentiable:
        cut = "nondifferentiable"
    return {
        "op": primitive.name,
        "label": LABELS.get(primitive.name, primitive.label),
        "kind": "operation",
        "name": None,
        "version": 0,
        "cut": cut,
        **build_formula_fields(primitive.texts),
    }


def list_plain_arguments(name: str, attrs: Mapping[str, object]) -> dict[str, object] | None:
    """Return the arguments of a call in JSON form, for a browser that recomputes the call.

    Args:
        name: The primitive's name.
        attrs: The arguments of the call.

    Returns:
        The arguments, or None if a browser cannot compute the operation or use an argument.

    >>> list_plain_arguments("slice", {"spec": (0, slice(1, None, 2))})
    {'spec': [0, [1, None, 2]]}
    """
    if name not in ARRAY_OPERATIONS:
        return None
    try:
        return {key: _to_plain_argument(value) for key, value in attrs.items() if key != "dtype"}
    except TypeError:
        return None


def _to_plain_argument(value: object) -> object:
    if isinstance(value, slice):
        return [_to_plain_argument(bound) for bound in (value.start, value.stop, value.step)]
    if isinstance(value, LIST_OR_TUPLE):
        return [_to_plain_argument(item) for item in value]
    if value is None or isinstance(value, (bool, int)):
        return value
    raise TypeError(f"a browser cannot receive an argument such as {value!r}")


def find_subject_at_row(
    marks: Sequence[tuple[int, Returned, *tuple[object, ...]]], row: int, default: Returned
) -> Returned:
    """Return the subject of the last mark at or before a row.

    Args:
        marks: Tuples that begin with (row, subject), sorted by row. A mark applies from its row to the next mark.
        row: The row number.
        default: The result if all marks come after ``row``.
    """
    index = bisect_right(marks, row, key=get_start_row)
    return marks[index - 1][1] if index else default
