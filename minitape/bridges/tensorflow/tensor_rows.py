"""Which row of a recording stands for a tensor, or for a variable's present state."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python import pywrap_tfe
from tensorflow.python.ops import gen_resource_variable_ops

from ...recording.sites import NOWHERE
from ..kept_values import Bound, Noted
from .operations import RunningLine, handle_of, name_of, watching
from .value import Made, TapeTimes, TensorFlowExtra, TensorFlowValue, unrecorded


class TensorRows:
    """Knows the row of each tensor and variable, and writes a leaf for one that has none."""

    def __init__(self, recording: Any, line: RunningLine, tapes: TapeTimes) -> None:
        self.recording, self.entries, self.line, self.tapes = recording, recording.entries, line, tapes
        self.variables: dict[int, tf.Variable] = {}  # by the identity of the handle
        self.made: Noted[Made] = Noted()  # what tapes gave back, in sweeps that no other tape recorded
        # while a call of a tf.function is written: tapes hear of it, and of its variables, after it
        self.later = False
        self.unsure: list[int] = []  # rows of which a tape may hear later
        self.current: dict[int, int] = {}  # by the identity of a handle, the row of its present state
        self._rows: Noted[list[int]] = Noted()  # of a tensor or handle
        self._handles: list = []  # are kept: their identity stands for them
        self._bound = Bound()

    def rows_of(self, value: Any) -> list[int]:
        """All rows that stood for a tensor or a variable, in order."""
        return self._rows.get(handle_of(value), [])

    def know(self, variable: Any) -> None:
        """The program has this variable."""
        self.variables.setdefault(id(variable.handle), variable)

    def remember(self, value: Any, row: int) -> None:
        """This row stands for a tensor or a handle."""
        rows = self._rows.setdefault(value, [])
        if not rows and value.dtype == tf.resource:
            self._handles.append(value)
        rows.append(row)

    def row_of(self, tensor: Any) -> int:
        """The row that stands for a tensor, or for a variable's present state; a new leaf where there is none."""
        if tensor.dtype == tf.resource:
            return self.state_of(tensor)
        rows = self.rows_of(tensor)
        return rows[-1] if rows else self._constant(tensor)

    def state_of(self, handle: Any, value: Any = None) -> int:
        """The row of a variable's present state."""
        row = self.current.get(id(handle))
        if row is not None:
            if not self.entries[row].differentiable:  # it may be used before a tape begins, and in its block
                self.unsure.append(row)
            return row
        known = self.variables.get(id(handle))
        if value is None and known is not None:
            with unrecorded():
                value = gen_resource_variable_ops.read_variable_op(handle, known.dtype)
        watched = watching(handle)
        row = self.recording.leaf(
            None if value is None else self.keep(value),
            name=None if known is None else name_of(known),
            kind="variable",
            version=len(self.rows_of(handle)),
            site=self.line.here(),
            differentiable=watched,
            extra=TensorFlowExtra(handle),
            **self.form(value),
        )
        if not watched:  # a function may read it after this, and a tape hear of it then
            self.unsure.append(row)
        self.current[id(handle)] = row
        self.remember(handle, row)
        return row

    def _constant(self, tensor: Any) -> int:
        watched = watching(tensor)
        value = self.keep_for_tapes(tensor)
        extra = TensorFlowExtra(value)
        row = self.recording.leaf(
            value,
            kind="source" if watched else "constant",
            site=self.line.here(),
            differentiable=watched,
            extra=extra,
            **self.form(tensor),
        )
        made = self.made.get(tensor)
        if made is not None and not watched:
            extra.why, extra.came, extra.at = "not_recorded", made.targets, made.before
            extra.way = made.way
            self.entries[row].site = made.way[-1] if made.way else NOWHERE
        if self.later:
            self.unsure.append(row)
        self.remember(tensor, row)
        return row

    def settle(self) -> None:
        """Tapes hear of some results (those of a ``tf.function``, most of all) only after the operation was seen."""
        # no tape is asked here, such as while a layer of Keras makes its variables
        if pywrap_tfe.TFE_Py_TapeSetIsEmpty():
            return
        for row in self.unsure:
            entry = self.entries[row]
            asked = entry.extra.asked
            if not isinstance(asked, tf.TensorSpec) and watching(asked):
                entry.differentiable, entry.cut, entry.extra.why = True, None, ""
                if entry.kind == "variable":
                    entry.watched = "automatic"
        self.unsure = []

    def keep(self, tensor: Any) -> TensorFlowValue:
        """A tensor to be shown later."""
        value = TensorFlowValue(tensor)
        dense = tensor.values if isinstance(tensor, tf.IndexedSlices) else tensor
        if dense.dtype not in (tf.resource, tf.variant, tf.string):
            count = dense.shape.num_elements() or 0
            self._bound.add(value, count, count * dense.dtype.size)
        return value

    def keep_for_tapes(self, tensor: Any) -> TensorFlowValue:
        """The same; the tensor itself is held as long as a tape that records it."""
        if not pywrap_tfe.TFE_Py_TapeSetIsEmpty():
            self.tapes.hold(tensor)
        return self.keep(tensor)

    def form(self, tensor: Any) -> dict:
        """Its dtype and shape."""
        if tensor is None:
            return {}
        return {"dtype": tensor.dtype.name, "shape": tuple(tensor.shape) if tensor.shape.rank is not None else ()}
