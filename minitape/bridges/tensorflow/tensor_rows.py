"""Find the row for a tensor or for the current state of a variable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.python import pywrap_tfe
from tensorflow.python.ops import gen_resource_variable_ops

from ...recording.sites import find_innermost_site
from ..kept_values import IdentityMap, MemoryBudget
from .kept_tensors import ReturnedGradient, TapeHistory, TensorFlowExtra, TensorFlowValue, pause_recording
from .operation_log import RunningLine, find_given_variable_name, is_watched_by_open_tape, to_handle_or_value

if TYPE_CHECKING:
    from ...engine.types import RowByRow, RowList
    from .recording import TensorFlowRecording


@dataclass(eq=False)
class TensorRows:
    """Maps tensors and variables to their rows, and adds a leaf for each value that has no row yet.

    Attributes:
        recording: The recording that contains the rows.
        rows: The rows of the recording.
        running_line: Finds the line that is running.
        tape_history: The tape events in the block.
        variables_by_handle: The program's variables, keyed by the identity of their handles.
        returned_gradients: The gradients that sweeps returned while no other tape was open to record them.
        is_recorded_later: Whether TensorFlow notifies tapes of the current operation only after the callback, as for a
            ``tf.function`` call.
        unsettled_rows: Rows that a tape may begin to watch after they are written.
        current_rows: The row of the current state of each variable, keyed by the identity of the variable's handle.
    """

    recording: TensorFlowRecording
    running_line: RunningLine
    tape_history: TapeHistory

    def __post_init__(self) -> None:
        """Create the map for an empty recording."""
        self.rows = self.recording.rows
        self.variables_by_handle: dict[int, tf.Variable] = {}
        self.returned_gradients = IdentityMap()
        self.is_recorded_later = False
        self.unsettled_rows: RowList = []
        self.current_rows: RowByRow = {}
        self._rows_by_tensor = IdentityMap()  # The values are lists of rows.
        self._kept_handles: list = []  # The handles are kept alive because their identities are used as keys.
        self._memory_budget = MemoryBudget()

    def list_rows_of_tensor_or_variable(self, value: Any) -> RowList:
        """Return all rows that have stood for a tensor or a variable, in order.

        Args:
            value: A tensor, a TensorFlow or Keras variable, or a handle.

        Returns:
            The row numbers, or an empty list if no row stands for the value.
        """
        return self._rows_by_tensor.get(to_handle_or_value(value), [])

    def list_last_row(self, value: Any) -> RowList:
        """Return the last row that stands for a tensor or a variable, in a list that is empty if no row does."""
        return self.list_rows_of_tensor_or_variable(value)[-1:]

    def register_variable(self, variable: Any) -> None:
        """Remember one of the program's variables by the identity of its handle."""
        self.variables_by_handle.setdefault(id(variable.handle), variable)

    def append_row_of_tensor(self, value: Any, row: int) -> None:
        """Remember that a row stands for a tensor or a handle.

        Args:
            value: The tensor or handle.
            row: The row number.
        """
        rows = self._rows_by_tensor.setdefault(value, [])
        if not rows and value.dtype == tf.resource:
            self._kept_handles.append(value)
        rows.append(row)

    def find_or_add_row(self, tensor: Any) -> int:
        """Return the row of a tensor, or of the current state of a variable, adding a leaf if no row exists.

        Args:
            tensor: A tensor or a variable's handle.
        """
        if tensor.dtype == tf.resource:
            return self.find_or_add_state_row(tensor)
        rows = self.list_rows_of_tensor_or_variable(tensor)
        return rows[-1] if rows else self._add_leaf_row(tensor)

    def find_or_add_state_row(self, handle: Any, value: Any = None) -> int:
        """Return the row of the current state of a variable, adding a leaf if no row exists.

        Args:
            handle: The variable's handle.
            value: The value that the program read, or None to read the variable here.
        """
        row = self.current_rows.get(id(handle))
        if row is not None:
            # A state may be used before a tape begins and then again in the tape's block.
            if not self.rows[row].tracked:
                self.unsettled_rows.append(row)
            return row
        variable = self.variables_by_handle.get(id(handle))
        if value is None and variable is not None:
            with pause_recording():
                value = gen_resource_variable_ops.read_variable_op(handle, variable.dtype)
        is_watched = is_watched_by_open_tape(handle)
        row = self.recording.add_leaf(
            None if value is None else self.keep_value(value),
            name=None if variable is None else find_given_variable_name(variable),
            kind="variable",
            version=len(self.list_rows_of_tensor_or_variable(handle)),
            site=self.running_line.find_site(),
            tracked=is_watched,
            extra=TensorFlowExtra(handle),
            **self.read_dtype_and_shape(value),
        )
        if not is_watched:  # A tape may begin to watch the variable later, when a function reads it.
            self.unsettled_rows.append(row)
        self.current_rows[id(handle)] = row
        self.append_row_of_tensor(handle, row)
        return row

    def _add_leaf_row(self, tensor: Any) -> int:
        is_watched = is_watched_by_open_tape(tensor)
        value = self.keep_value_and_keep_tensor_for_open_tapes(tensor)
        extra = TensorFlowExtra(value)
        site = self.running_line.find_site()
        gradient: ReturnedGradient | None = None if is_watched else self.returned_gradients.get(tensor)
        if gradient is not None:
            extra.row_count = gradient.row_count
            extra.call_stack = gradient.call_stack
            site = find_innermost_site(gradient.call_stack)
        row = self.recording.add_leaf(
            value,
            kind="source" if is_watched else "constant",
            site=site,
            tracked=is_watched,
            inputs=() if gradient is None else gradient.target_rows,
            cause="" if gradient is None else "not_recorded",
            extra=extra,
            **self.read_dtype_and_shape(tensor),
        )
        if self.is_recorded_later:
            self.unsettled_rows.append(row)
        self.append_row_of_tensor(tensor, row)
        return row

    def mark_rows_watched_by_now(self) -> None:
        """Mark unsettled rows as tracked if tapes now watch them.

        TensorFlow notifies tapes of some results, such as the results of a ``tf.function``, only after the callback
        for the operation.
        """
        # No tape is open. This happens, for example, while a Keras layer creates its variables.
        if pywrap_tfe.TFE_Py_TapeSetIsEmpty():
            return
        for row in self.unsettled_rows:
            recorded_row = self.rows[row]
            tensor = recorded_row.find_object()
            if not isinstance(tensor, tf.TensorSpec) and is_watched_by_open_tape(tensor):
                recorded_row.mark_as_tracked()
                if recorded_row.kind == "variable":
                    recorded_row.watched = "automatic"
        self.unsettled_rows = []

    def keep_value(self, tensor: Any) -> TensorFlowValue:
        """Keep a tensor so that it can be shown later, and return its `TensorFlowValue`.

        Large values are reduced to summaries when the memory budget is exceeded.
        """
        value = TensorFlowValue(tensor)
        dense = tensor.values if isinstance(tensor, tf.IndexedSlices) else tensor
        if dense.dtype not in (tf.resource, tf.variant, tf.string):
            size = dense.shape.num_elements() or 0
            self._memory_budget.add_value_and_enforce_limit(value, size, size * dense.dtype.size)
        return value

    def keep_value_and_keep_tensor_for_open_tapes(self, tensor: Any) -> TensorFlowValue:
        """Keep the value of a tensor for later display, and the tensor itself for as long as a tape may record it."""
        if not pywrap_tfe.TFE_Py_TapeSetIsEmpty():
            self.tape_history.keep_tensor_for_open_tapes(tensor)
        return self.keep_value(tensor)

    def read_dtype_and_shape(self, tensor: Any) -> dict:
        """Return a tensor's dtype and shape as row fields, or an empty dictionary for None."""
        if tensor is None:
            return {}
        return {"dtype": tensor.dtype.name, "shape": tuple(tensor.shape) if tensor.shape.rank is not None else ()}
