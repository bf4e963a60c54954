"""The rows of a recording of TensorFlow: which row stands for which tensor or variable, and a new one for what was
computed.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import tensorflow as tf
from tensorflow.python.ops import gen_resource_variable_ops, resource_variable_ops

from ...engine.recording.block import TemporaryAttributes
from ...recording.sites import Site
from ..changes import Changes
from ..kept_values import Noted
from ..recording import MOST
from .graphs import changes_in, has_tapes
from .operations import (
    CUTS,
    HOW,
    LABELS,
    SHAPES,
    RunningLine,
    changes_variable,
    handle_of,
    is_dataset,
    name_of,
    plain,
    reason_of,
    variable_of,
    watching,
)
from .tensor_rows import TensorRows
from .value import (
    FunctionCall,
    Made,
    OptimizerStep,
    TapeTimes,
    TensorFlowExtra,
    TooLong,
    some,
    unrecorded,
)


class TensorFlowLog:
    """Writes the rows of a recording."""

    def __init__(self, recording: Any) -> None:
        self.recording, self.entries = recording, recording.entries
        self.line, self.tapes = RunningLine(), TapeTimes()
        self.tensors = TensorRows(recording, self.line, self.tapes)
        # of a variable's handle: as which of the block's it was made, and where
        self.born: Noted[tuple] = Noted()
        self.rules: dict = {}  # the gradient function of each call of a tf.custom_gradient
        # (a variable's handle, the row that was stored in it, where, at which row)
        self.stores: list[tuple] = []
        self.copied: Noted[tuple[Any, Site]] = Noted()  # tensors that were used for nothing but to fill a variable
        self.calls: list[FunctionCall] = []  # of tf.functions
        self.reruns: dict[FunctionCall, Any] = {}  # what the compiled steps among them computed when they ran again
        self.before: dict[int, tuple] = {}  # in a call that runs again, variables before they change, by their handles
        self.failed: tuple[int, int] | None = None  # (after how many backward passes, from which row) one was refused
        self.seen = Changes()  # asleep while explain computes something
        self.optimizer_steps: list[OptimizerStep] = []
        self.applied: dict[int, int] = {}  # a variable's handle -> the gradient that an optimizer changes it with

    def spanned(self, word: str, tape: Any) -> None:
        """A tape begins, ends, pauses, goes on, or is reset."""
        self.tapes.note(word, tape, len(self.entries), self.line.way())

    def gave(self, gradients: Sequence, targets: list[int]) -> None:
        """A tape gave these gradients back."""
        way = self.line.way()
        for gradient in gradients:
            if isinstance(gradient, tf.Tensor):
                self.tensors.made[gradient] = Made(targets, way, len(self.entries))

    def wrote(self, op: str, inputs: Sequence, outputs: Sequence, function: Any = None) -> None:
        """An operation ran eagerly; ``function`` where it is the call of a ``tf.function``."""
        if op == "VarHandleOp":
            self.born[outputs[0]] = len(self.born), self.line.way()
        if op == "ReadVariableOp":
            self.tensors.remember(outputs[0], self.tensors.state_of(inputs[0], outputs[0]))
            return
        if changes_variable(op):
            self.stored(inputs)
            return
        if op in SHAPES or is_dataset(op) or not inputs or not outputs or all(t.dtype == tf.resource for t in outputs):
            return  # constants enter when they are used
        if len(self.entries) >= MOST:
            self.recording.left_out += 1
            if self.recording.is_rerun:
                raise TooLong
            return
        with TemporaryAttributes(self.tensors, later=op.startswith("__")):
            how = [
                k > 0 and op in HOW and t.dtype in (tf.int32, tf.int64) and not self.tensors.rows_of(t)
                for k, t in enumerate(inputs)
            ]
            rows = [self.tensors.row_of(t) for t, says_how in zip(inputs, how, strict=True) if not says_how]
            self._write(op, rows, outputs, function)

    def _write(self, op: str, rows: list[int], outputs: Sequence, function: Any = None) -> None:
        on_way = any(self.entries[row].differentiable for row in rows)
        site = self.line.here()
        scope = [*self.line.scopes()]
        first: int | None = None
        name = label = plain(op)
        if function is not None:
            name = "function"  # which pictures open
        # of the operation alone, such as strided_slice
        if scope and scope[-1].replace("_", "").lower() == label.lower():
            scope.pop()
        for number, tensor in enumerate(outputs):
            watched = watching(tensor)
            why = reason_of(op, tensor) or ("not_recorded" if on_way and not watched else "")
            value = self.tensors.keep_for_tapes(tensor)
            extra = TensorFlowExtra(value, why, op)
            extra.function = function
            extra.way = () if watched else self.line.way()
            row = self.recording.operation(
                name,
                rows,
                value,
                label=LABELS.get(op, label),
                call=first,
                output=number,
                site=site,
                scope=scope,
                cut=CUTS.get(why) if on_way else None,
                differentiable=watched and not why,
                extra=extra,
                **self.tensors.form(tensor),
            )
            if why == "not_recorded" or self.tensors.later:
                self.tensors.unsure.append(row)
            self.tensors.remember(tensor, row)
            first = row if first is None else first

    def jacobian(self, name: str, target: Any, sources: Sequence, results: Sequence) -> None:
        """A ``jacobian``, which TensorFlow computes in one piece: one row for each source, and no backward pass."""
        rows = [self.tensors.row_of(target), *(row for source in sources for row in self.tensors.rows_of(source)[-1:])]
        self._write(name, rows, [result for result in results if result is not None])

    def iterates(self, iterator: Any, given: Sequence) -> None:
        """The elements of a dataset are asked for, which are computed of these tensors and variables."""
        self._write("Dataset", [self.tensors.row_of(one) for one in given], [iterator])
        self.tensors.current[id(iterator)] = self.tensors.rows_of(iterator)[-1]

    def custom(self, op: str, inputs: Sequence, outputs: Sequence) -> None:
        """A call of a function with a gradient of the program's own."""
        rows = [self.tensors.row_of(one) for one in inputs]
        with TemporaryAttributes(self.tensors, later=True):  # the tape hears of it at its end
            self._write(op, rows, outputs)

    def called(self, function: Any, given: tuple) -> FunctionCall:
        """The program calls a ``tf.function``."""
        kept = tf.nest.map_structure(lambda one: self.tensors.keep(one) if isinstance(one, tf.Tensor) else one, given)
        self.calls.append(FunctionCall(function, kept, self.line.way(), len(self.recording.sweeps)))
        return self.calls[-1]

    def enters(self, variables: Sequence, inputs: Sequence) -> list[tuple[Any, int]]:
        """A ``tf.function`` is about to run: its variables, which may have changed when it has, and their rows."""
        for variable in variables:
            self.tensors.know(variable)
        self.tensors.later = True
        for handle in inputs:
            if handle.dtype == tf.resource and id(handle) in self.tensors.variables:
                self.tensors.state_of(handle)
        self.tensors.later = False
        return [(one, row) for one in variables for row in self.tensors.rows_of(one)[-1:]]

    def fill(self, variable: Any) -> None:
        """A variable of a call that runs again may have no value yet: it was made while the call was traced, and that
        raised.
        """
        with unrecorded():
            value = gen_resource_variable_ops.read_variable_op(variable.handle, variable.dtype)
            if value.shape != variable.shape:
                variable.assign(some(variable))
                self.recording.made_up = True

    def changes(self, handle: Any) -> None:
        """A variable is about to change, in a call that runs again."""
        data = resource_variable_ops.get_eager_safe_handle_data(handle)
        if id(handle) not in self.before:
            with suppress(tf.errors.OpError), unrecorded():  # it may be new
                dtype = tf.as_dtype(data.shape_and_type[0].dtype)
                self.before[id(handle)] = handle, gen_resource_variable_ops.read_variable_op(handle, dtype)

    def applies(self, pairs: Sequence[tuple]) -> None:
        """An optimizer is about to change variables with gradients."""
        found = [(handle_of(variable), self.tensors.rows_of(gradient)[-1:]) for gradient, variable in pairs]
        given = {id(handle_of(variable)) for gradient, variable in pairs if gradient is not None}
        self.optimizer_steps.append(OptimizerStep(self.line.here(), given, len(self.entries)))
        self.applied = {id(handle): rows[0] for handle, rows in found if rows}

    def ran(self, inputs: Sequence, graph: Any) -> None:
        """A ``tf.function`` ran, and may have changed some of its variables. In a training step they are no way of a
        gradient, and what is not trainable there an optimizer keeps for itself.
        """
        changed, trains, site = changes_in(graph), has_tapes(graph), self.line.here()
        rows = [row for at, given in enumerate(inputs) if at not in changed for row in self.tensors.rows_of(given)[-1:]]
        for handle in (inputs[place] for place in changed):
            known = self.tensors.variables.get(id(handle))
            if trains and known is not None and not known.trainable:
                continue
            self.tensors.current.pop(id(handle), None)
            self.stores += [(id(handle), row, site, len(self.entries)) for row in rows if not trains]

    def stored(self, inputs: Sequence) -> None:
        """A variable has a new value: its next use is another state."""
        handle = inputs[0]
        value = inputs[-1] if len(inputs) > 1 else None
        stored = self.tensors.rows_of(value)[-1:] if value is not None and value.dtype != tf.resource else []
        known = self.tensors.variables.get(id(handle))
        row = self.tensors.current.pop(id(handle), None)
        site = self.line.here()
        self.stores.append((id(handle), stored[0] if stored else self.applied.get(id(handle)), site, len(self.entries)))
        if not stored and isinstance(value, tf.Tensor):
            self.copied[value] = handle, site
        name = None if known is None else name_of(known)
        self.recording.events.append(
            {"kind": "assign", "name": name or "variable", "line": site[1]} | ({} if row is None else {"from": row})
        )

    def leave(self, tensor: Any, how: str) -> None:
        """A value leaves TensorFlow."""
        if tensor.dtype not in (tf.resource, tf.variant):
            self.recording.leave(self.tensors.row_of(tensor), how, self.line.here())

    def born_at(self, handle: Any) -> tuple[int, list[Site]]:
        """As which of the block's variables one was made, and by which lines; -1 and none before the block."""
        return self.born.get(handle, (-1, []))

    def watched(self, value: Any, tape: Any) -> None:
        """``tape.watch`` was called."""
        variable, value = variable_of(value), handle_of(value)
        if not isinstance(value, tf.Tensor):
            return
        if isinstance(variable, tf.Variable):
            self.tensors.know(variable)
        for row in self.tensors.rows_of(value):
            entry = self.entries[row]
            if entry.kind == "operation":  # from now on it counts as a source
                entry.extra.late = not entry.differentiable and any(
                    row in later.inputs for later in self.entries[row + 1 :]
                )
                entry.watched, entry.differentiable, entry.extra.why, entry.cut = "explicit", True, "", None
            else:
                entry.extra.late = not entry.differentiable
        if not self.tensors.rows_of(value):
            self.tensors.row_of(value)
        self.tapes.watches.append((weakref.ref(value), self.tapes.of(tape)))
