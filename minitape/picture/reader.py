"""Read the rows of a tape for a picture."""

import re
from bisect import bisect_right
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import chain, starmap
from types import CodeType
from typing import TypeAlias

from ..engine.backward.reachability import mark_rows_on_tape
from ..engine.backward.row_marks import has_differentiable_dtype
from ..engine.backward.tape import GradientTape
from ..engine.derivatives.custom_gradient import CUSTOM
from ..engine.derivatives.forward_mode import ForwardTape
from ..engine.record.array_spec import ArraySpec
from ..engine.record.record import Record
from ..engine.record.row_parts import CALL, FLOAT_TYPES, LEAF, Leaf
from ..engine.table.primitives.elementwise import BY_CODE, FIRST_CODE
from ..engine.types import (
    LIST_OR_TUPLE,
    Array,
    Columns,
    NamesByRow,
    Namespaces,
    Object,
    OptionalNumber,
    OptionalText,
    RowByRow,
    RowList,
    RowSet,
    Spans,
    Structure,
)
from ..engine.values.dtypes import as_dtype
from ..recording.access_paths import NamesAndValues
from ..recording.graph_nodes import find_operation_and_inputs
from ..recording.memory_use import count_kept_bytes_of_row_spans
from ..recording.sites import find_site_of_bytecode
from ..recording.variable_names import iter_public_names_and_values
from .events import list_escapes_and_assignments
from .picture_rows import (
    PictureRow,
    PictureRows,
    RowContext,
    build_primitive_fields,
    find_subject_at_row,
    get_start_row,
    list_plain_arguments,
)
from .readable_formulas import format_index, list_array_operation_formulas
from .reader_base import Reader, merge_parts_and_return_merged
from .recomputed_values import are_released_values_small, recompute_released_values
from .shown_values import leave_out_texts_if_long, pack_value, to_value_fields
from .snapshot_types import EventFields, InsideFields, Kind, RowFields, RowFieldsList, TapeFields
from .truncation import shorten_name

MAX_LIST_ITEMS = 64  # Longer lists are not searched for named variables.
match_default_name = re.compile(r"(.*/)?Variable(_\d+)?:0").fullmatch  # Matches the name of an unnamed variable.
_ENDLESS = 1 << 62  # No row has a number as large as this.


@dataclass(eq=False)
class _ReleasedTape:
    """The facts that remain in a recording after a tape has ceased to exist.

    Attributes:
        spans: The ranges of rows during which the tape recorded, as (first, end) pairs.
        watched: For each watched row, the row at which the watch began.
    """

    is_recording, is_used, is_persistent, watches_variables, span_start, record = False, True, False, True, 0, None

    spans: Spans
    watched: RowByRow


_AnyTape: TypeAlias = "GradientTape | _ReleasedTape"


def list_rows_with_replaced_gradient(record: Record) -> RowList:
    """Return the rows inside functions with a custom gradient, which replaces the gradients of these rows.

    A row that is also read outside the function is omitted, because its own gradient is used.
    """
    inner_rows: RowSet = set()
    for call in record.calls:
        if call.primitive is CUSTOM and (scope := find_subject_at_row(record.scopes, call.row, ())):
            later_scopes = [
                index
                for index, (row, open_scope) in enumerate(record.scopes)
                if row <= call.row and open_scope[: len(scope)] != scope
            ]
            first_row = record.scopes[later_scopes[-1] + 1 if later_scopes else 0][0]
            inner_rows.update(row for row in range(first_row, call.row) if record.read_integer_cells(row)[0] != LEAF)
    for row in range(len(record) - 1 if inner_rows else -1, -1, -1):
        if row not in inner_rows:
            inner_rows.difference_update(find_operation_and_inputs(record, row)[1])
    return sorted(inner_rows)


class TapeReader(Reader):
    """Reads the recording of one tape, starting at row 0.

    Attributes:
        tape: The tape, or the inner tape of a ``ForwardAccumulator``.
        tapes_by_row: For each row read, the tapes that follow it, as bits: bit i represents ``tapes[i]``.
    """

    record: Record | None

    def __init__(self, tape: Object, namespaces: Namespaces = ()):
        """Prepare to read the recording of ``tape``, without reading any row yet."""
        super().__init__(namespaces)
        self.tape: GradientTape = tape
        self._watchers_by_row: RowByRow = {}  # The tapes that watch a row, as bits.
        self._pending_watches: list[tuple[int, int, int]] = []  # Each is (first row, watched row, bit of the tape).
        self._context_borders: RowList = []
        self._forget_rows()

    def _forget_rows(self) -> None:
        self.tapes_by_row: RowList = []
        self.tapes: list[_AnyTape] = []
        self._forms_by_context: dict[Hashable, dict[Hashable, RowFields]] = {}
        self._first_versions: dict[int, int] = {}  # The version of each variable when first recorded.
        self._seen_events = 0  # The number of events already searched for first versions.
        self._leaf_states: dict[int, RowFields] = {}  # The fields that may still change, for each leaf.

    # -- rows --------------------------------------------------------------------------------------

    def read_new_rows(self, limit: OptionalNumber = None) -> PictureRows:
        """Return the rows written since the last call.

        Args:
            limit: The maximum number of rows, or None to read all rows.
        """
        record = self._switch_to_current_record()
        if record is None:
            return []
        cells = record.read_columns(self.row_count, None if limit is None else self.row_count + limit)
        # The recording notes the tapes and scopes of a row before it writes the row, so read the rows first.
        self._update_tapes_and_borders()
        with leave_out_texts_if_long(len(record)):
            return self._build_rows_from_columns(record, cells)

    def _build_rows_from_columns(self, record: Record, columns: Columns) -> PictureRows:
        """Return the rows in the given columns of the recording, which begin at row ``row_count``."""
        rows = []
        tapes_by_row = self.tapes_by_row
        watchers_by_row = self._watchers_by_row
        context = None
        end = self.row_count
        for row, op, a, b, _, site, value in zip(range(end, end + len(columns[0])), *columns, strict=True):
            if context is None or row >= end:
                context = self._apply_watches_and_build_row_context(row)
                end = context.end
                forms = context.forms
                recording_tapes = context.recording_tapes
            if op < FIRST_CODE or row in watchers_by_row or type(value) not in FLOAT_TYPES:
                if record.is_opened_by_tape and op == LEAF and row not in record.leaves:
                    break  # The recording has written the row but not yet its leaf.
                rows.append(self._build_general_row(row, op, site, value, context))
            else:
                tapes = (tapes_by_row[a] | tapes_by_row[b]) & recording_tapes
                tapes_by_row.append(tapes)
                form = forms.get((op, site, tapes, type(value)))
                if form is None:
                    form = forms[op, site, tapes, type(value)] = self._build_shared_form(row, op, site, context, tapes)
                rows.append(PictureRow(row, form, a, b if len(form["rule"]) > 1 else -1, pack_value(value)))
            self.row_count += 1
        return rows

    def read_first_and_last_rows(self, limit: int) -> PictureRows:
        """Return at most ``limit`` rows, half of them from each end of a longer recording.

        Call this only from the thread that records.

        Args:
            limit: The maximum number of rows.
        """
        record = self._switch_to_current_record()
        if record is None or len(record) <= limit:
            return self.read_new_rows()
        rows = self.read_new_rows(limit // 2)
        self.row_count = first = len(record) - limit // 2
        self.tapes_by_row = [0] * first
        for bit, tape in enumerate(self.tapes):
            if tape.record is record:
                self.tapes_by_row = [
                    earlier_tapes | (is_member << bit)
                    for earlier_tapes, is_member in zip(self.tapes_by_row, mark_rows_on_tape(tape), strict=False)
                ]
        return rows + self._build_rows_from_columns(record, record.read_columns(first))

    def recompute_into_kept_arrays(self, is_requested: bool = False) -> None:
        """Recompute arrays that the recording has released, and add them to ``kept_arrays``.

        Rows that were read before the call do not change, so the caller must read them again.

        Args:
            is_requested: Whether to recompute arrays of any size. If False, only small arrays are recomputed.
        """
        record = self.tape.record
        if record is None or record.is_opened_by_tape or not (is_requested or are_released_values_small(record)):
            return
        for row, value in recompute_released_values(record).items():
            self.kept_arrays.setdefault(row, value)

    def _switch_to_current_record(self) -> Record | None:
        """Return the tape's recording, or None before the first row. For a new recording, start again from row 0."""
        record = self.tape.record
        if record is None:
            return None
        if record is not self.record:
            self.begin_recording(record)
            self._forget_rows()
        return record

    @property
    def required_recording(self) -> Record:
        """The recording, for code that runs only after a row has been read."""
        assert self.record is not None
        return self.record

    def _build_general_row(self, row: int, op: int, site: int, value: Array, context: RowContext) -> PictureRow:
        """Return a row of any kind. Scalar operations are handled by `_build_rows_from_columns` itself."""
        record = self.required_recording
        primitive, inputs = find_operation_and_inputs(record, row)
        call = record.get_call(row)
        input_tapes = 0
        for input_row in inputs:
            input_tapes |= self.tapes_by_row[input_row] if input_row < row else 0
        tapes = input_tapes & context.recording_tapes
        # The rows that follow see a watch only once it has begun: `_apply_watches_and_build_row_context` adds its bit.
        self.tapes_by_row.append(tapes if has_differentiable_dtype(record, row) else 0)
        tapes |= self._watchers_by_row.get(row, 0)
        if type(value) is ArraySpec:
            value = self.kept_arrays.get(row, value)
        packed_value = None if type(value) is ArraySpec else pack_value(value)
        is_released = packed_value is None
        if primitive is None:
            form = self._build_shared_form(row, op, site, context, tapes, is_released)
            self._leaf_states[row] = self._build_leaf_state_fields(row)
            return PictureRow(row, form, inputs, None, packed_value)
        own_fields: RowFields = (
            {"call": call.row, "output": row - call.row} if call is not None and call.outputs > 1 else {}
        )
        arguments = None if call is None else list_plain_arguments(primitive.name, call.attrs)
        key = (
            primitive,
            None if arguments is None else repr(arguments),
            site,
            tapes,
            value.shape,
            value.dtype,
            is_released,
            row in self._watchers_by_row,
        )
        shared_form = context.forms.get(key)
        # The label of such a row is the name of a function, so these rows cannot share a form.
        if shared_form is None or primitive is CUSTOM or primitive.name == "function":
            shared_form = context.forms[key] = self._build_shared_form(row, op, site, context, tapes, is_released)
        if (
            inputs
            and tapes
            and shared_form["cut"] is None
            and not any(has_differentiable_dtype(record, input_row) for input_row in inputs)
        ):
            own_fields["cut"] = "integer"
        return PictureRow(row, shared_form, inputs, None, packed_value, own_fields or None)

    def _build_shared_form(
        self, row: int, op: int, site: int, context: RowContext, tapes: int, is_released: bool = False
    ) -> RowFields:
        """Return the fields that a row shares with rows that have the same operation, location and tapes."""
        record = self.required_recording
        file, line = self._note_file_and_find_line(context.place, site)
        shape, dtype = record.get_shape_and_dtype(row)
        form: RowFields = {
            "line": line,
            "file": file,
            "site": max(site, 0),
            "dtype": as_dtype(dtype).name,
            "shape": list(shape),
            "output": 0,
        }
        if op == LEAF:
            form |= self._build_leaf_fields(row)
        elif op == CALL:
            form |= self._build_call_fields(row)
        else:
            form |= build_primitive_fields(BY_CODE[op - FIRST_CODE])
        is_operation = form["kind"] == "operation"
        is_ghost = is_operation and not tapes
        if is_ghost and context.is_paused and record.is_opened_by_tape:
            form["cut"] = "paused"
        return {
            **form,
            "released": is_released,
            "scope": [shorten_name(part) for part in context.scope] if is_operation else [],
            "by": context.writer,
            "tapes": [tape_number for tape_number in range(len(self.tapes)) if tapes >> tape_number & 1],
            "watched": self._find_watch_kind(row, form["kind"]),
            "status": "ghost" if is_ghost else "recorded",
        }

    def _build_call_fields(self, row: int) -> RowFields:
        """Return the fields of a row that depend on its primitive and its call's arguments."""
        record = self.required_recording
        call = record.get_call(row)
        attrs = call.attrs
        primitive_name = call.primitive.name
        shape, dtype = record.get_shape_and_dtype(row)
        fields = build_primitive_fields(call.primitive)
        if fields["cut"] is None and dtype.kind in "biu":
            fields["cut"] = "integer"
        fields["said"] = fields["said"] or list_array_operation_formulas(primitive_name, attrs, len(shape))
        if (arguments := list_plain_arguments(primitive_name, attrs)) is not None:
            fields["arguments"] = arguments
        if call.primitive is CUSTOM:
            fields["label"] = shorten_name(attrs["call"].name)
        elif primitive_name == "function" and "concrete_function" in attrs:
            fields["label"] = shorten_name(attrs["concrete_function"].name)
        elif primitive_name == "slice":
            fields["label"] = format_index(attrs["spec"])
        elif primitive_name == "matmul":
            left_mark = "ᵀ" if attrs.get("transpose_a") else ""
            right_mark = "ᵀ" if attrs.get("transpose_b") else ""
            fields["label"] = f"{left_mark}@{right_mark}"
        return fields

    def _build_leaf_fields(self, row: int) -> RowFields:
        """Return the fields of a leaf: a variable's state, a watched source, or a constant."""
        leaf = self.required_recording.leaves.get(row)
        fields: RowFields = {"op": "leaf", "formula": "", "rule": [], "cut": None, "version": 0, "name": None}
        constant_fields: RowFields = {**fields, "kind": "constant", "label": "const"}
        if leaf is None:
            return constant_fields
        if leaf.variable is not None:
            label = shorten_name(leaf.variable.name)
            name = None if match_default_name(label) else label
            version = leaf.version - self._find_first_version(leaf)
            return {**fields, "kind": "variable", "label": label, "name": name, "version": version}
        if leaf.number is not None:
            return {**constant_fields, "literal": True}
        if any(row in tape.watched for tape in self.tapes):
            return {**fields, "kind": "source", "label": "x"}
        return constant_fields

    def _find_first_version(self, leaf: Leaf) -> int:
        """Return the version of a variable when the recording first read or assigned it."""
        events = self.required_recording.events
        for event in events[self._seen_events :]:
            if event.kind.startswith("assign"):
                self._first_versions.setdefault(id(event.subject[0]), event.subject[1])
        self._seen_events = len(events)
        return self._first_versions.setdefault(id(leaf.variable), leaf.version)

    # -- what holds around a row -------------------------------------------------------------------

    def _update_tapes_and_borders(self) -> None:
        """Update the list of tapes, and the rows at which the row context changes.

        The context changes when a tape begins or ends, watches a row or writes its gradient, and when a name scope
        opens or closes.
        """
        record = self.required_recording
        for tape_ref, spans, watched in record.tape_entries[len(self.tapes) :]:
            self.tapes.append(tape_ref() or _ReleasedTape(spans, watched))
        if not self.tapes:
            self.tapes = [self.tape]
        borders = {get_start_row(writer) for writer in record.sweep_boundaries} | {first for first, _ in record.scopes}
        self._watchers_by_row = {}
        watches = []
        for bit, tape in enumerate(self.tapes):
            borders.update(end for span in tape.spans for end in span)
            borders.add(tape.span_start)
            for row, since in list(tape.watched.items()):
                self._watchers_by_row[row] = self._watchers_by_row.get(row, 0) | (1 << bit)
                watches.append((since, row, 1 << bit))
        self._pending_watches = sorted(watches, reverse=True)
        self._context_borders = sorted(borders.union(since for since, _, _ in watches))

    def _apply_watches_and_build_row_context(self, row: int) -> RowContext:
        """Return the context of a row: its code location, its scope, and the tapes that record it.

        Rows must be entered in order, because watches that begin at or before ``row`` are applied now.

        Args:
            row: The row number.
        """
        record = self.required_recording
        segments = record.segments
        index = bisect_right(segments, row, key=get_start_row)
        next_segment = segments[index][0] if index < len(segments) else _ENDLESS
        border = bisect_right(self._context_borders, row)
        end = min(next_segment, self._context_borders[border] if border < len(self._context_borders) else _ENDLESS)
        recording_tapes = 0
        has_recorded = False
        for bit, tape in enumerate(self.tapes):
            spans = [*tape.spans, (tape.span_start, _ENDLESS)] if tape.is_recording else tape.spans
            recording_tapes |= any(first <= row < last for first, last in spans) << bit
            has_recorded |= any(first < row for first, _ in tape.spans)
        while self._pending_watches and self._pending_watches[-1][0] <= row:
            _, watched_row, bits = self._pending_watches.pop()
            self.tapes_by_row[watched_row] |= bits
        place = segments[index - 1][1:] if index else None
        writer = find_subject_at_row(record.sweep_boundaries, row, None)
        scope = find_subject_at_row(record.scopes, row, ())
        is_paused = has_recorded and not recording_tapes
        forms = self._forms_by_context.setdefault((place, writer, scope, recording_tapes, is_paused), {})
        return RowContext(end, place, writer, scope, recording_tapes, is_paused, forms)

    def _build_leaf_state_fields(self, row: int) -> RowFields:
        """Return the leaf fields that may change after the leaf was read."""
        kind = self._build_leaf_fields(row)["kind"]
        tapes = [tape_number for tape_number, tape in enumerate(self.tapes) if row in tape.watched]
        return {"row": row, "kind": kind, "tapes": tapes, "watched": self._find_watch_kind(row, kind)}

    def _find_watch_kind(self, row: int, kind: Kind) -> OptionalText:
        tapes = [tape for tape in self.tapes if row in tape.watched]
        if kind == "variable" and any(tape.watches_variables for tape in tapes):
            return "automatic"
        return "explicit" if tapes else None

    def _note_file_and_find_line(
        self, place: tuple[CodeType, OptionalNumber] | None, site: int
    ) -> tuple[OptionalText, OptionalNumber]:
        """Return the file and line of the statement that created a row, and add the file to `files`."""
        if place is None:
            return None, None
        code, fixed = place
        file, line = find_site_of_bytecode(code, site if fixed is None else fixed)
        self.files[file] = None
        return file, line

    # -- what may change after a row was read ------------------------------------------------------

    def list_changed_leaves(self) -> RowFieldsList:
        """Return the changed fields of leaves that a tape started to watch after they were read."""
        changes = []
        for row, old_state in list(self._leaf_states.items()):
            if (new_state := self._build_leaf_state_fields(row)) != old_state:
                self._leaf_states[row] = new_state
                changes.append(new_state)
        return changes

    def map_rows_to_python_names(self) -> NamesByRow:
        """Return the Python names of tensors and variables in the namespaces, by row."""
        record = self.record
        if record is None:
            return {}
        state_rows = {key: rows for key, (_, rows) in list(record.variables.items())}
        named_values = [*self._iter_names_and_values(of_loop_variables=False)]
        items = (
            (f"{name}[{index}]", item)
            for name, value in named_values
            if type(value) in LIST_OR_TUPLE and len(value) <= MAX_LIST_ITEMS and name != "In"
            for index, item in enumerate(value)
            if id(item) in state_rows
        )
        names: NamesByRow = {}
        # After a loop, its variable is one of many items, so it names an object only if nothing else does.
        for name, value in chain(named_values, items, self._iter_names_and_values(of_loop_variables=True)):
            # User objects may have attributes with these names, but only a tensor's class declares `_row`.
            is_tensor = hasattr(type(value), "_row") and hasattr(value, "_record")
            row = record.find_row(value) if is_tensor else None
            for named_row in state_rows.get(id(value), ()) if row is None else (row,):
                names.setdefault(named_row, name)
        return names

    def _iter_names_and_values(self, *, of_loop_variables: bool) -> NamesAndValues:
        """Yield the names and values of the variables of ``for`` statements, or all other names and values."""
        text = "".join(line for file in self.files for line in self.read_source_lines(file))
        loop_names = re.findall(r"\w+", " ".join(re.findall(r"(?m)^\s*for\b(.+?)\bin\b", text)))
        named_values = iter_public_names_and_values(self.namespaces)
        return ((name, value) for name, value in named_values if (name in loop_names) == of_loop_variables)

    def update_rows_after_recording(self, rows: PictureRows) -> RowFieldsList:
        """Update rows in place with fields that can be computed only after the recording has ended.

        These fields are the tangents of a ForwardAccumulator, and the status "ghost" of rows whose gradients are
        replaced by a custom gradient. Rows without a name receive the name in the program's text. Rows written by a
        gradient also receive their position in the picture and their names.

        Args:
            rows: All rows of the recording, in order.

        Returns:
            The changed fields, as partial rows, or an empty list while a tape is recording.
        """
        from .nested_gradient_layout import locate_and_name_gradient_rows
        from .source_names import find_names_in_source
        from .tangents import compute_last_accumulator_tangents

        if self.record is None or self.record.is_opened_by_tape:
            return []
        parts = find_names_in_source(self.record, rows, self._iter_names_and_values(of_loop_variables=False))
        parts += [
            {"row": row, "tangent": to_value_fields(value)}
            for row, value in compute_last_accumulator_tangents(self.record, self.tapes).items()
        ]
        parts += [{"row": row, "status": "ghost"} for row in list_rows_with_replaced_gradient(self.record)]
        merged = merge_parts_and_return_merged(rows, parts)
        # The names of these rows contain the names that were found above.
        return merged + merge_parts_and_return_merged(rows, locate_and_name_gradient_rows(self.record, rows))

    def list_function_insides(
        self, target: Structure = None, sources: Structure = None, row: OptionalNumber = None
    ) -> list[InsideFields]:
        """Return the rows inside ``tf.function`` calls, with the last sweep through them.

        Args:
            target: The target of the sweep, or None for the tape's last gradient call.
            sources: The sources of that sweep.
            row: The row of the only call to open, or None to open the first calls of the recording.
        """
        from .function_insides import list_function_insides

        return list_function_insides(self, target, sources, row)

    # -- around the rows ---------------------------------------------------------------------------

    def list_tape_fields(self) -> list[TapeFields]:
        """Return the ``TapeFields`` of each tape of the recording."""
        return list(starmap(self._build_tape_fields, enumerate(self.tapes or [self.tape])))

    def _build_tape_fields(self, number: int, tape: _AnyTape) -> TapeFields:
        spans = [list(span) for span in tape.spans]
        state = "used" if tape.is_used else "closed"
        if tape.is_recording:
            spans.append([tape.span_start, max(tape.span_start, len(self.record or ()))])
            state = "recording"
        byte_count = 0 if self.record is None else count_kept_bytes_of_row_spans(self.record, spans)
        if type(tape) is _ReleasedTape or (state == "used" and not byte_count):
            state = "released"
            byte_count = 0
        return {
            "id": number,
            "name": self.find_name_of_tape(tape, "tape" if len(self.tapes) < 2 else f"tape {number + 1}"),
            "persistent": tape.is_persistent and not isinstance(tape, ForwardTape),
            "state": state,
            "spans": spans,
            "bytes": byte_count,
        }

    def list_event_fields(self) -> list[EventFields]:
        """Return the ``EventFields`` of each assignment and escape."""
        return [] if self.record is None else list_escapes_and_assignments(self.record)
