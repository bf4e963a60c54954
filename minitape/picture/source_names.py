"""Find names in the program's text for the rows that no variable of the program refers to any longer."""

from collections import Counter
from collections.abc import Container, Hashable, Iterator, Sequence
from itertools import groupby

from ..engine.record.record import Record
from ..engine.tensor.tensor import Reference
from ..engine.types import NamesByRow, NumberPair, OptionalText, RowList, RowSet
from ..recording.access_paths import AccessPaths, NamesAndValues
from ..recording.expression_names import ExpressionNames, read_expression_names
from .picture_rows import PictureRow
from .snapshot_types import RowFieldsList
from .truncation import shorten_name

MAX_ASSIGNMENTS = 100  # The results of a longer loop have no names, because such a loop is folded.
SUBSCRIPT_DIGITS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def find_names_in_source(
    record: Record, rows: Sequence[PictureRow], named_values: NamesAndValues = ()
) -> RowFieldsList:
    """Return the names that expressions such as ``self.w * x`` give to their operands and results.

    Several variables with the same text, such as the ``self.w`` of two layers, have the names with which the program
    accesses them, such as ``layers[0].w``. If it cannot access them, they are numbered, and so are the ``x[0]`` of
    several ``x``. The start value of a name that an operation has, as after ``x = x * 2``, has the number 0. Operations
    that assign the same name, as in the turns of a loop, are numbered from 1.

    Args:
        record: The recording.
        rows: All rows of the recording, in order. Rows with a name keep it.
        named_values: The names and values of the program, without the variables of its loops.

    Returns:
        The names, as partial rows.
    """
    unnamed_rows = {row.row: row for row in rows if row.get_field("name") is None and not row.form.get("literal")}
    taken_names = {row.get_field("name") for row in rows}
    leaf_names: dict[Hashable, str] = {}
    rows_by_operation_name: dict[str, RowSet] = {}
    first_names: NamesByRow = {}  # A statement that assigns a result comes before those that read it.
    for number, name in _iter_named_rows(record, rows):
        row = unnamed_rows.get(number)
        if row is None:
            continue
        if row.get_field("kind") == "operation" and name[-1] != "]":
            rows_by_operation_name.setdefault(first_names.setdefault(number, name), set()).add(number)
        else:
            leaf_names.setdefault(_identify_leaf(record, row), name)
    operation_names = {row.get_field("name") for row in rows if row.get_field("kind") == "operation"}
    names: dict[int, OptionalText] = {}
    for name, named_rows in rows_by_operation_name.items():
        if numbered_names := number_rows_with_same_name(name, sorted(named_rows), taken_names):
            operation_names.add(name)
            names |= numbered_names
    taken_names.update(names.values())
    counts = Counter(leaf_names.values())
    access_paths = AccessPaths(named_values)
    unique_names = {
        leaf: _find_path_of_variable(leaf, counts[name], access_paths)
        or _choose_and_add_unique_name(name, taken_names, operation_names)
        for leaf, name in leaf_names.items()
    }
    names = {number: unique_names.get(_identify_leaf(record, row)) for number, row in unnamed_rows.items()} | names
    return [{"row": number, "name": shorten_name(name)} for number, name in names.items() if name is not None]


def _find_path_of_variable(leaf: Hashable, name_count: int, access_paths: AccessPaths) -> str:
    """Return the expression for a variable that shares its name, or "" for any other leaf or without an expression."""
    is_name_shared = name_count > 1
    return access_paths.find_path(leaf.deref()) if is_name_shared and isinstance(leaf, Reference) else ""


def _choose_and_add_unique_name(name: str, taken_names: set[OptionalText], operation_names: set[OptionalText]) -> str:
    """Return a name that is not taken, with a number if necessary, and add it to the taken names."""
    unique_name = _add_number(name, 0) if name in operation_names else name
    count = 1
    while unique_name in taken_names:
        count += 1
        unique_name = _add_number(name, count)
    taken_names.add(unique_name)
    return unique_name


def number_rows_with_same_name(name: str, rows: RowList, taken_names: Container[OptionalText]) -> NamesByRow:
    """Return the names of the rows to which the program gave the same name, one after the other.

    Args:
        name: The name. A single row has it without a number, unless the name is taken.
        rows: The rows, in order.
        taken_names: The names of other rows.

    Returns:
        The names, or no names for the rows of a long loop.

    >>> number_rows_with_same_name("h", [3, 5], {"x"}), number_rows_with_same_name("h", [3], {"x"})
    ({3: 'h₁', 5: 'h₂'}, {3: 'h'})
    """
    if len(rows) > MAX_ASSIGNMENTS:
        return {}
    if len(rows) == 1 and name not in taken_names:
        return dict.fromkeys(rows, name)
    return {row: _add_number(name, count) for count, row in enumerate(rows, 1)}


def _add_number(name: str, number: int) -> str:
    return name + str(number).translate(SUBSCRIPT_DIGITS)


def _identify_leaf(record: Record, row: PictureRow) -> Hashable:
    """Return a leaf's identity, which is the same for all states of a variable, and for all rows of an element."""
    leaf = record.leaves.get(row.row)
    if leaf is None:
        return row.form["label"], *row.inputs
    return row.row if leaf.variable is None else leaf.variable.ref()


def _iter_named_rows(record: Record, rows: Sequence[PictureRow]) -> Iterator[tuple[int, str]]:
    """Yield (row, name) for the operands and results of operations that the program's text names."""
    names_by_place: dict[NumberPair | None, ExpressionNames | None] = {}

    def find_place(row: PictureRow) -> NumberPair | None:
        site = record.find_site(row.row)
        if site is None:
            return None
        place = id(site[0]), site[1]
        if place not in names_by_place:
            names_by_place[place] = read_expression_names(*site)
        return place

    own_operations = (row for row in rows if row.get_field("kind") == "operation" and row.form["by"] is None)
    for place, group in groupby(own_operations, find_place):
        names = names_by_place.get(place)
        if names is None:
            continue
        operations = [*group]
        for row in operations:
            if names.has_operands_of_operation_itself(row.form["op"], len(row.inputs)):
                yield from ((to, name) for to, name in zip(row.inputs, names.operands, strict=False) if name)
        # If a function such as a loss has several rows, its result is the last row.
        if names.result is not None:
            yield operations[-1].row, names.result
