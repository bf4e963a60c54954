"""Which row of a recording stands for a tensor, or for a variable's present state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python import pywrap_tfe
from tensorflow.python.ops import gen_resource_variable_ops

from ...recording.sites import NOWHERE
from ..kept_values import Bound, Noted
from .operations import RunningLine, handle_of, name_of, place_of, watching
from .value import Made, TapeTimes, TensorFlowExtra, TensorFlowValue, VariableValue, unrecorded


class TensorRows:
    """Knows the row of each tensor and variable, and writes a leaf for one that has none."""

    def __init__(self, recording: Any, line: RunningLine, tapes: TapeTimes) -> None:
        self.recording, self.entries, self.line, self.tapes = recording, recording.entries, line, tapes
        self.variables: dict[int, VariableValue] = {}  # by the identity of the handle
        self.made: Noted[Made] = Noted()  # what tapes gave back, in sweeps that no other tape recorded
        # while a call of a tf.function is written: tapes hear of it, and of its variables, after it
        self.later = False
        self.unsure: list[int] = []  # rows of which a tape may hear later
        self._unheard: set[int] = set()  # leaves that were used while no tape recorded
        self._places: dict[tuple, int] = {}  # where in memory a row's value is, or was
        self._assigned: dict = {}  # and the variable that was assigned a result's
        self._stored: set[tuple[int, str]] = set()  # and where a tensor's is that was stored in a variable
        # handle -> the row of its present state, and the value, which keeps its place so
        self._current: dict[int, tuple] = {}
        self._rows: Noted[list[int]] = Noted()  # of a tensor or handle
        self._handles: list = []  # are kept: their identity stands for them
        self._bound = Bound()

    def rows_of(self, value: Any) -> list[int]:
        """All rows that stood for a tensor or a variable, in order."""
        return self._rows.get(handle_of(value), [])

    def remember(self, value: Any, row: int) -> None:
        """This row stands for a tensor or a handle."""
        rows = self._rows.setdefault(value, [])
        if not rows and value.dtype == tf.resource:
            self._handles.append(value)
        rows.append(row)

    def row_of(self, tensor: Any, is_target: bool = False) -> int:
        """The row that stands for a tensor, or for a variable's present state; a new leaf where there is none. A target
        is no value of a variable that TensorFlow read by itself: the program has it.
        """
        if tensor.dtype == tf.resource:
            return self.state_of(tensor)
        rows = self.rows_of(tensor)
        return rows[-1] if rows else self._constant(tensor, is_target)

    def state_of(self, handle: Any, value: Any = None) -> int:
        """The row of a variable's present state."""
        if id(handle) in self._current:
            return self._watched_now(self._current[id(handle)][0])
        known = self.variables.get(id(handle))
        if value is None and known is not None and known.variable is not None:
            with unrecorded():
                value = gen_resource_variable_ops.read_variable_op(handle, known.variable.dtype)
        place, watched = place_of(value), watching(handle)
        taken = self._take(handle, place, watched)
        if taken is not None:
            return self._watched_now(taken)
        name = None if known is None else name_of(known.variable)
        row = self.recording.leaf(
            None if value is None else self.keep(value),
            name=name,
            kind="variable",
            version=len(self.rows_of(handle)),
            site=self.line.here(),
            differentiable=watched,
            extra=TensorFlowExtra(handle),
            **self.form(value),
        )
        if not watched:  # a function may read it after this, and a tape hear of it then
            self.unsure.append(row)
        self.is_now(handle, row)
        self.remember(handle, row)
        if place is not None:
            self._places[place] = row
        return row

    def is_now(self, handle: Any, row: int) -> None:
        """A row is a variable's present state."""
        value = self.entries[row].value
        self._current[id(handle)] = row, None if value is None else value.known

    def _at(self, place: tuple[int, str] | None) -> int | None:
        """The row whose value is at this place in memory."""
        row = None if place is None else self._places.get(place)
        return None if row is None or self.entries[row].value.is_gone else row

    def _watched_now(self, row: int) -> int:
        """A variable may be used before a tape begins, and in its block."""
        if not self.entries[row].differentiable:
            self.unsure.append(row)
        return row

    def _constant(self, tensor: Any, is_target: bool = False) -> int:
        watched = watching(tensor)
        place = place_of(tensor)
        handle = None if is_target else self._assigned.get(place)
        if handle is not None:  # TensorFlow read a variable by itself that was assigned in the block
            state = self.state_of(handle, tensor)
            self.remember(tensor, state)
            return state
        row = self._at(place)
        alone = pywrap_tfe.TFE_Py_TapeSetIsEmpty()  # no tape is there that could have heard of it
        if (
            row is not None
            and not is_target
            and not self.later
            and (self.entries[row].differentiable == watched or (alone and self.entries[row].kind == "variable"))
        ):
            # a variable that TensorFlow read by itself: the same memory, the same state; a constant may have it, too
            self.remember(tensor, row)
            return row
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
        if alone:
            self._unheard.add(row)
        self.remember(tensor, row)
        if place is not None:
            self._places[place] = row
        return row

    def adopt(self, variables: Sequence, watched: bool = True) -> None:
        """A tape says which variables it watched: leaves that have the same memory were these."""
        for variable in variables:
            handle = handle_of(variable)
            self.variables[id(handle)] = VariableValue(handle, variable)
            if id(handle) in self._current or not isinstance(variable, tf.Variable):
                continue
            with unrecorded():
                value = gen_resource_variable_ops.read_variable_op(handle, variable.dtype)
            row = self._at(place_of(value))
            if self._take(handle, place_of(value), watched) is None and watched and row is not None:
                # variables that began with one number of Python's share its memory, and the tape heard of both
                self.is_now(handle, row)
                self.remember(handle, row)

    def _take(self, handle: Any, place: tuple[int, str] | None, watched: bool) -> int | None:
        """A leaf whose memory is that of a variable's value, at this place, is a state of this variable."""
        row = self._at(place)
        if row is not None and self.entries[row].extra.of is handle:  # it may have changed, and has not
            self.is_now(handle, row)
            return row
        if (
            row is None
            or self.entries[row].kind not in ("source", "constant")
            or (self.entries[row].differentiable != watched and row not in self._unheard)
        ):
            return None
        if place in self._stored:
            return None  # it was stored in a variable, which has its memory since then, and is a thing of its own
        entry, known = self.entries[row], self.variables.get(id(handle))
        entry.kind, entry.extra.of = "variable", handle
        entry.name = None if known is None else name_of(known.variable)
        entry.label = entry.name or entry.label
        entry.watched = "automatic" if entry.differentiable else None
        self.is_now(handle, row)
        self.remember(handle, row)
        return row

    def changed(self, handle: Any) -> int | None:
        """A variable has another value now: its next use is another state. Returns the row of the one before."""
        return self._current.pop(id(handle), (None, None))[0]

    def stores(self, handle: Any, value: Any, row: int | None) -> None:
        """A variable is assigned the value of a row, whose memory may be the variable's then."""
        self._assigned = {place: held for place, held in self._assigned.items() if held is not handle}
        place = None if row is None else place_of(self._sum_in(handle, value, self.entries[row]))
        if row is None or place is None:
            return
        if self.entries[row].kind == "operation":
            self._assigned[place] = handle
            self.variables.setdefault(id(handle), VariableValue(handle, None))
        else:
            self._stored.add(place)

    def _sum_in(self, handle: Any, value: Any, stored: Any) -> Any:
        """What a variable holds after ``value`` was stored: what was added to it gave its state other memory."""
        if not stored.differentiable:
            return value
        with unrecorded():
            return gen_resource_variable_ops.read_variable_op(handle, value.dtype)

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
