"""Define what all readers of recordings share, whether a tape or another framework recorded the rows.

A reader converts each row once, in order, to the fields of a snapshot (:mod:`.snapshot_types`). The reader may run in a
different thread than the program, because it reads only complete rows. It never changes the recording.
"""

import sys
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterable
from itertools import count
from typing import Any

from ..engine.types import (
    ArraysByRow,
    NamesByRow,
    NamespaceList,
    Namespaces,
    Object,
    OptionalFrame,
    OptionalNumber,
    Structure,
    TextList,
)
from ..recording.sites import read_source_lines
from ..recording.variable_names import iter_public_names_and_values
from .picture_rows import PictureRows, get_row_number
from .snapshot_types import EventFields, InsideFields, RowFields, RowFieldsList, Snapshot, TapeFields
from .truncation import join_and_truncate_lines

EMPTY_RECORD_NAME = "r0"  # The name of a recording without rows.
_record_numbers = count(1)


def collect_namespaces(frame: OptionalFrame = None) -> NamespaceList:
    """Return the dictionaries in which the Python names of tensors are looked up.

    Args:
        frame: The frame of the user's program, or None to use no frame.

    Returns:
        The local and global variables of the frame, followed by the variables of the script (``__main__``).
    """
    namespaces = []
    if frame is not None:
        local_names = frame.f_locals
        # Since Python 3.13, a function's `f_locals` is a view that keeps the frames of all callers alive.
        namespaces = [local_names if isinstance(local_names, dict) else dict(local_names), frame.f_globals]
        if frame.f_code.co_name.endswith("comp>"):  # Before Python 3.12, a comprehension has its own frame.
            namespaces += collect_namespaces(frame.f_back)
    main = sys.modules.get("__main__")
    return namespaces if main is None else [*namespaces, vars(main)]


def unwrap_accumulator(tape: Object) -> Object:
    """Return the tape inside a ``ForwardAccumulator``, or any other object unchanged.

    Args:
        tape: A ``ForwardAccumulator``, a tape, or any other object.
    """
    inner_tape = getattr(tape, "_tape", None)
    return inner_tape if hasattr(inner_tape, "owner") and hasattr(inner_tape, "spans") else tape


class Reader(ABC):
    """Reads the rows of a recording once, in order.

    Attributes:
        namespaces: The dictionaries in which the Python names of tensors are looked up.
        record: The object that holds the rows, or None before the first row is read.
        kept_arrays: Arrays, by row, that the recording has released but the caller has kept or recomputed.
        record_name: A name that identifies the recording in a snapshot, or "" before the first row is read.
        row_count: The number of rows read so far.
        tapes: All tapes of the recording, in the order of entry. Other frameworks have none.
        files: The files of the rows, in the order of their first rows. The dictionary serves as an ordered set.
    """

    def __init__(self, namespaces: Namespaces = ()):
        """Prepare to read a recording, without reading any row yet."""
        self.namespaces = list(namespaces)
        # Each kind of reader has its own class of records, hence Any.
        self.record: Any = None
        self.tapes: list[Object] = []
        self.kept_arrays: ArraysByRow = {}
        self.record_name = ""
        self.row_count = 0
        self.files: dict[str, None] = {}

    def begin_recording(self, record: object) -> None:
        """Start at row 0 of a recording that has not been read before.

        Args:
            record: The object that holds the rows.
        """
        self.record = record
        self.row_count = 0
        self.record_name = f"r{next(_record_numbers)}"

    # -- what each kind of reader does -----------------------------------------------------------------

    @abstractmethod
    def read_new_rows(self, limit: OptionalNumber = None) -> PictureRows:
        """Return the rows written since the last call.

        Args:
            limit: The maximum number of rows, or None to read all rows.
        """

    @abstractmethod
    def read_first_and_last_rows(self, limit: int) -> PictureRows:
        """Return at most ``limit`` rows, half of them from each end of a longer recording.

        Args:
            limit: The maximum number of rows.
        """

    @abstractmethod
    def map_rows_to_python_names(self) -> NamesByRow:
        """Return the Python names of tensors and variables in the namespaces, by row."""

    @abstractmethod
    def list_function_insides(
        self, target: Structure = None, sources: Structure = None, row: OptionalNumber = None
    ) -> list[InsideFields]:
        """Return the rows inside calls of functions, with the last sweep through them.

        Args:
            target: The target of the sweep, or None for the last sweep.
            sources: The sources of that sweep.
            row: The row of the only call to open, or None to open the first calls of the recording.
        """

    @abstractmethod
    def list_tape_fields(self) -> list[TapeFields]:
        """Return the ``TapeFields`` of each tape of the recording."""

    @abstractmethod
    def list_event_fields(self) -> list[EventFields]:
        """Return the ``EventFields`` of each assignment and escape."""

    def list_changed_leaves(self) -> RowFieldsList:
        """Return the changed fields of leaves that were read before. By default, leaves do not change."""
        return []

    # The method is not abstract, because a reader without released arrays has nothing to do.
    def recompute_into_kept_arrays(self, is_requested: bool = False) -> None:  # noqa: B027
        """Recompute arrays that the recording has released. By default, a recording keeps its values itself.

        Args:
            is_requested: Whether to recompute arrays of any size. If False, only small arrays are recomputed.
        """

    def update_rows_after_recording(self, rows: PictureRows) -> RowFieldsList:
        """Update rows in place after the recording has ended. By default, rows do not change.

        Args:
            rows: All rows of the recording, in order.

        Returns:
            The changed fields, as partial rows.
        """
        return []

    def read_source_lines(self, file: str) -> TextList:
        """Return the lines of a source file, with their line endings.

        Args:
            file: The name of the file.
        """
        return read_source_lines(file)

    # -- what all readers share --------------------------------------------------------------------

    def update_names_and_leaf_states(self, rows: PictureRows) -> RowFieldsList:
        """Update rows in place with Python names and late watches.

        Args:
            rows: The rows read so far, in order. Rows keep their existing names.

        Returns:
            The changed fields, as partial rows.
        """
        name_parts: RowFieldsList = [
            {"row": row, "name": name} for row, name in self.map_rows_to_python_names().items()
        ]
        return merge_parts_and_return_merged(rows, self.list_changed_leaves() + name_parts)

    def build_snapshot_without_sweep(self, rows: list[Object], first: int) -> Snapshot:
        """Return a snapshot of the given rows with their events, tapes and source texts, but without a sweep.

        Args:
            rows: The rows, as ``RowFields`` or as ``PictureRow``.
            first: The number of the first row.
        """
        return {
            "version": 1,
            "record": self.record_name or EMPTY_RECORD_NAME,
            "first": first,
            "total": len(self.record or ()),
            "rows": rows,
            "events": self.list_event_fields(),
            "tapes": self.list_tape_fields(),
            "sources_text": {
                file: text for file in self.files if (text := join_and_truncate_lines(self.read_source_lines(file)))
            },
            "sweep": None,
            "results": [],
        }

    def find_name_of_tape(self, tape: object, default_name: str) -> str:
        """Return the program's name for a tape or recording, or else the default name.

        Args:
            tape: The tape or recording.
            default_name: The name for an object without a name.
        """
        names = (
            name for name, value in iter_public_names_and_values(self.namespaces) if unwrap_accumulator(value) is tape
        )
        return next(names, default_name)


def merge_parts_and_return_merged(rows: PictureRows, parts: Iterable[RowFields]) -> RowFieldsList:
    """Merge parts into their rows, and return only the merged parts. Set a name only if the row has none.

    Args:
        rows: The rows, in order.
        parts: The changed fields, each with the number of its row.
    """
    applied_parts = []
    for part in parts:
        index = bisect_left(rows, part["row"], key=get_row_number)
        is_read = index < len(rows) and rows[index].row == part["row"]
        if is_read and ("name" not in part or rows[index].get_field("name") is None):
            rows[index].update_fields(part)
            applied_parts.append(part)
    return applied_parts
