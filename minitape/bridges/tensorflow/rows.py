"""The rows of a recording of TensorFlow: which row stands for which tensor or variable, and a new one for what was
computed.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python import pywrap_tfe
from tensorflow.python.ops import gen_resource_variable_ops

from ...engine.recording.block import TemporaryAttributes
from ...recording.rows import BackwardPass, TapeSpan
from ...recording.sites import NOWHERE, Site, here, way_here
from ..changes import Changes
from ..kept_values import Bound, Noted
from ..recording import MOST
from .operations import (
    CUTS,
    HOW,
    LABELS,
    SHAPES,
    changes_variable,
    handle_of,
    name_of,
    place_of,
    plain,
    reason_of,
    scopes,
    watching,
    written,
)
from .value import (
    Made,
    OptimizerStep,
    Tape,
    TensorFlowExtra,
    TensorFlowValue,
    TracedValue,
    VariableValue,
    unrecorded,
)


class TensorFlowLog:
    """Writes the rows of a recording."""

    def __init__(self, recording: Any) -> None:
        self.recording, self.entries = recording, recording.entries
        self.spans: list[TapeSpan] = []
        self.watches: list[tuple] = []  # (what was watched, by which tape)
        # of a variable's handle: as which of the block's it was made, and where
        self.born: Noted[tuple] = Noted()
        self.rules: dict = {}  # the gradient function of each call of a tf.custom_gradient
        # (a variable's handle, the row that was stored in it, where, at which row)
        self.stores: list[tuple] = []
        self.copied: Noted[tuple[Any, Site]] = Noted()  # tensors that were used for nothing but to fill a variable
        self.tapes: list[Tape] = []
        self._open_tapes: list[Tape] = []
        self._early: list = []  # what a tape may have recorded that began before the block
        self.variables: dict[int, VariableValue] = {}  # by the identity of the handle
        self.made: Noted[Made] = Noted()  # what tapes gave back, in sweeps that no other tape recorded
        self.steps: dict[Any, list] = {}  # by graph: what Python did while it was made
        self.traced: list[TracedValue] = []
        self.given: dict[Any, Sequence[TensorFlowValue]] = {}  # to the last call of each graph
        self.reruns: dict = {}  # what those computed when they ran again, by the identity of their step
        self.failed: tuple[int, int] | None = None  # (after how many backward passes, from which row) one was refused
        self.captured: list = []  # the variables that the functions of a dataset read, while its iterator is made
        self.place: tuple[Site, list[str]] | None = None  # where the program is, when a graph runs again
        self.changes = Changes()  # asleep while explain computes something
        self.idle: list[tuple[Any, Site]] = []  # what a branch that did not run would have used, and where
        self.optimizer_steps: list[OptimizerStep] = []
        self.applied: dict[int, int] = {}  # a variable's handle -> the gradient that an optimizer changes it with
        self.opened: list[str] = []  # the tf.functions that run, where they are opened
        self._unsure: list[int] = []  # rows of which a tape may hear later
        self._unheard: set[int] = set()  # leaves that were used while no tape recorded
        # while a call of a tf.function is written: tapes hear of it, and of its variables, after it
        self._later = False
        self._places: dict[tuple, int] = {}  # where in memory a row's value is, or was
        self._assigned: dict = {}  # and the variable that was assigned a result's
        self._stored: set[tuple[int, str]] = set()  # and where a tensor's is that was stored in a variable
        # handle -> the row of its present state, and the value, which keeps its place so
        self._current: dict[int, tuple] = {}
        self._rows: Noted[list[int]] = Noted()  # of a tensor or handle
        self._handles: list = []  # are kept: their identity stands for them
        self._bound = Bound()

    def here(self) -> Site:
        """The line of the program that runs."""
        if self.place is not None:
            return self.place[0]
        site = written(here(3))
        return site if site != NOWHERE else next(reversed(self.way()), NOWHERE)

    def way(self) -> list[Site]:
        """The same, with the calls that led there."""
        return [site for site in map(written, way_here()) if site != NOWHERE] if self.place is None else [self.place[0]]

    # -- which row ---------------------------------------------------------------------------------

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
            site=self.here(),
            differentiable=watched,
            extra=TensorFlowExtra(handle),
            **self._form(value),
        )
        if not watched:  # a function may read it after this, and a tape hear of it then
            self._unsure.append(row)
        self._is_now(handle, row)
        self.remember(handle, row)
        if place is not None:
            self._places[place] = row
        return row

    def _is_now(self, handle: Any, row: int) -> None:
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
            self._unsure.append(row)
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
            and not self._later
            and (self.entries[row].differentiable == watched or (alone and self.entries[row].kind == "variable"))
        ):
            # a variable that TensorFlow read by itself: the same memory, the same state; a constant may have it, too
            self.remember(tensor, row)
            return row
        value = self._keep_for_tapes(tensor)
        extra = TensorFlowExtra(value)
        row = self.recording.leaf(
            value,
            kind="source" if watched else "constant",
            site=self.here(),
            differentiable=watched,
            extra=extra,
            **self._form(tensor),
        )
        made = self.made.get(tensor)
        if made is not None and not watched:
            extra.why, extra.came, extra.at = "not_recorded", made.targets, made.before
            extra.way = made.way
            self.entries[row].site = made.way[-1] if made.way else NOWHERE
        if self._later:
            self._unsure.append(row)
        if alone:
            self._unheard.add(row)
        self.remember(tensor, row)
        if place is not None:
            self._places[place] = row
        return row

    def gave(self, gradients: Sequence, targets: list[int]) -> None:
        """A tape gave these gradients back."""
        way = self.way()
        for gradient in gradients:
            if isinstance(gradient, tf.Tensor):
                self.made[gradient] = Made(targets, way, len(self.entries))

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
                self._is_now(handle, row)
                self.remember(handle, row)

    def _take(self, handle: Any, place: tuple[int, str] | None, watched: bool) -> int | None:
        """A leaf whose memory is that of a variable's value, at this place, is a state of this variable."""
        row = self._at(place)
        if row is not None and self.entries[row].extra.of is handle:  # it may have changed, and has not
            self._is_now(handle, row)
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
        self._is_now(handle, row)
        self.remember(handle, row)
        return row

    @property
    def full(self) -> bool:
        """True when no more rows are written."""
        return len(self.entries) >= MOST

    # -- new rows ----------------------------------------------------------------------------------

    def wrote(self, op: str, inputs: Sequence, outputs: Sequence, function: Any = None) -> None:
        """An operation ran eagerly; ``function`` where it is the call of a ``tf.function``."""
        if op in ("ReadVariableOp", "ResourceGather") and id(inputs[0]) not in self.variables:
            self.variables[id(inputs[0])] = VariableValue(inputs[0], None)
        if op == "VarHandleOp":
            self.born[outputs[0]] = len(self.born), self.way()
        if op == "ReadVariableOp":
            self.remember(outputs[0], self.state_of(inputs[0], outputs[0]))
            return
        if op == "MakeIterator":
            row = self.row_of(inputs[0])
            if self.captured and not self.entries[row].inputs:  # it was made before the block
                entry = self.entries[row]
                entry.extra.came, entry.extra.why, entry.op = (
                    [self.state_of(handle) for handle in self.captured],
                    "nondifferentiable",
                    "MapDataset",
                )
            self._is_now(inputs[1], row)
            self.remember(inputs[1], row)
            return
        if changes_variable(op):
            self.stored(inputs)
            return
        if op in SHAPES or not inputs or not outputs or all(t.dtype == tf.resource for t in outputs):
            return  # constants enter when they are used
        if self.full:
            self.recording.left_out += 1
            return
        with TemporaryAttributes(self, _later=op.startswith("__")):
            how = [
                k > 0 and op in HOW and t.dtype in (tf.int32, tf.int64) and not self.rows_of(t)
                for k, t in enumerate(inputs)
            ]
            rows = [self.row_of(t) for t, says_how in zip(inputs, how, strict=True) if not says_how]
            self._write(op, rows, outputs, function)

    def _write(self, op: str, rows: list[int], outputs: Sequence, function: Any = None) -> None:
        on_way = any(self.entries[row].differentiable for row in rows)
        site = self.here()
        scope = [*self.opened, *scopes()] if self.place is None else self.place[1]
        first: int | None = None
        name = label = plain(op)
        if function is not None:
            name = "function"  # which pictures open
        # of the operation alone, such as strided_slice
        if scope and scope[-1].replace("_", "").lower() == label.lower():
            scope.pop()
        for number, tensor in enumerate(outputs):
            watched = watching(tensor)
            why = self._reason(op, tensor, watched, on_way)
            value = self._keep_for_tapes(tensor)
            extra = TensorFlowExtra(value, why, op)
            extra.function = function
            extra.way = () if watched else self.way()
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
                **self._form(tensor),
            )
            if why == "not_recorded" or self._later:
                self._unsure.append(row)
            self.remember(tensor, row)
            first = row if first is None else first

    def settle(self) -> None:
        """Tapes hear of some results (those of a ``tf.function``, most of all) only after the operation was seen."""
        # no tape is asked here, such as while a layer of Keras makes its variables
        if pywrap_tfe.TFE_Py_TapeSetIsEmpty():
            return
        for row in self._unsure:
            entry = self.entries[row]
            asked = entry.extra.asked
            if not isinstance(asked, tf.TensorSpec) and watching(asked):
                entry.differentiable, entry.cut, entry.extra.why = True, None, ""
                if entry.kind == "variable":
                    entry.watched = "automatic"
        self._unsure = []

    def _reason(self, op: str, tensor: Any, watched: bool, on_way: bool) -> str:
        """Why no gradient passes an operation; empty where one does."""
        return reason_of(op, tensor) or ("not_recorded" if on_way and not watched else "")

    def jacobian(self, name: str, target: Any, sources: Sequence, results: Sequence) -> None:
        """A ``jacobian``, which TensorFlow computes in one piece: one row for each source, and no backward pass."""
        rows = [self.row_of(target), *(row for source in sources for row in self.rows_of(source)[-1:])]
        self._write(name, rows, [result for result in results if result is not None])

    def custom(self, op: str, rows: list[int], outputs: Sequence) -> None:
        """A call of a function with a gradient of the program's own."""
        with TemporaryAttributes(self, _later=True):  # the tape hears of it at its end
            self._write(op, rows, outputs)

    def enters(self, variables: Sequence, inputs: Sequence) -> None:
        """A ``tf.function`` is about to run: its variables may have changed when it has."""
        for variable in variables:
            self.variables.setdefault(id(variable.handle), VariableValue(variable.handle, variable))
        self._later = True
        for handle in inputs:
            if handle.dtype == tf.resource and id(handle) in self.variables:
                self.state_of(handle)
        self._later = False

    def applies(self, pairs: Sequence[tuple]) -> None:
        """An optimizer is about to change variables with gradients."""
        found = [(handle_of(variable), self.rows_of(gradient)[-1:]) for gradient, variable in pairs]
        given = {id(handle_of(variable)) for gradient, variable in pairs if gradient is not None}
        self.optimizer_steps.append(OptimizerStep(self.here(), given, len(self.entries)))
        self.applied = {id(handle): rows[0] for handle, rows in found if rows}

    def ran(self, inputs: Sequence, changed: Mapping[int, Site]) -> None:
        """A ``tf.function`` ran, and changed some of its variables: by their place among the inputs, and on which
        line.
        """
        rows = [row for at, given in enumerate(inputs) if at not in changed for row in self.rows_of(given)[-1:]]
        for place, site in changed.items():
            known = self.variables.get(id(inputs[place]))
            if site[1] is None and known is not None and not getattr(known.variable, "trainable", True):
                continue  # what an optimizer keeps for itself
            self._current.pop(id(inputs[place]), None)
            if site[1] is not None:
                self.stores += [(id(inputs[place]), row, site, len(self.entries)) for row in rows]

    def stored(self, inputs: Sequence) -> None:
        """A variable has a new value: its next use is another state."""
        handle = inputs[0]
        value = inputs[-1] if len(inputs) > 1 else None
        stored = self.rows_of(value)[-1:] if value is not None and value.dtype != tf.resource else []
        self._assigned = {place: held for place, held in self._assigned.items() if held is not handle}
        if stored and (place := place_of(self._sum_in(handle, value, self.entries[stored[0]]))) is not None:
            if self.entries[stored[0]].kind == "operation":
                self._assigned[place] = handle
                self.variables.setdefault(id(handle), VariableValue(handle, None))
            else:
                self._stored.add(place)
        known = self.variables.get(id(handle))
        row, _ = self._current.pop(id(handle), (None, None))
        site = self.here()
        self.stores.append((id(handle), stored[0] if stored else self.applied.get(id(handle)), site, len(self.entries)))
        if not stored and isinstance(value, tf.Tensor):
            self.copied[value] = handle, site
        name = None if known is None else name_of(known.variable)
        self.recording.events.append(
            {"kind": "assign", "name": name or "variable", "line": site[1]} | ({} if row is None else {"from": row})
        )

    def _sum_in(self, handle: Any, value: Any, stored: Any) -> Any:
        """What a variable holds after ``value`` was stored: what was added to it gave its state other memory."""
        if not stored.differentiable:
            return value
        with unrecorded():
            return gen_resource_variable_ops.read_variable_op(handle, value.dtype)

    def leave(self, tensor: Any, how: str) -> None:
        """A value leaves TensorFlow."""
        if tensor.dtype not in (tf.resource, tf.variant):
            self.recording.leave(self.row_of(tensor), how, self.here())

    def born_at(self, handle: Any) -> tuple[int, list[Site]]:
        """As which of the block's variables one was made, and by which lines; -1 and none before the block."""
        return self.born.get(handle, (-1, []))

    def spanned(self, word: str, tape: Any) -> None:
        """A tape begins, ends, pauses, goes on, or is reset."""
        known = self._known(tape)
        if word == "begins":
            self.tapes.append(known)
            self._open_tapes.append(known)
        elif word == "ends":
            self._open_tapes = [other for other in self._open_tapes if other is not known]
        self.spans.append(TapeSpan(word, len(self.entries), self.way(), known))

    def _known(self, tape: Any) -> Tape:
        return next((known for known in reversed(self.tapes) if known.ref() is tape), None) or Tape(tape)

    def forget_tapes(self) -> None:
        """The block is over: no sweep is asked for anything more."""
        for held in (self._early, *(tape.held for tape in self.tapes)):
            held.clear()

    def watched(self, value: Any, tape: Any) -> None:
        """``tape.watch`` was called."""
        value = handle_of(value)
        if not isinstance(value, tf.Tensor):
            return
        for row in self.rows_of(value):
            entry = self.entries[row]
            if entry.kind == "operation":  # from now on it counts as a source
                entry.extra.late = not entry.differentiable and any(
                    row in later.inputs for later in self.entries[row + 1 :]
                )
                entry.watched, entry.differentiable, entry.extra.why, entry.cut = "explicit", True, "", None
            else:
                entry.extra.late = not entry.differentiable
        if not self.rows_of(value):
            self.row_of(value)
        self.watches.append((weakref.ref(value), self._known(tape)))

    # -- values ------------------------------------------------------------------------------------

    def keep(self, tensor: Any) -> TensorFlowValue:
        """A tensor to be shown later."""
        value = TensorFlowValue(tensor)
        dense = tensor.values if isinstance(tensor, tf.IndexedSlices) else tensor
        if dense.dtype not in (tf.resource, tf.variant, tf.string):
            count = dense.shape.num_elements() or 0
            self._bound.add(value, count, count * dense.dtype.size)
        return value

    def _keep_for_tapes(self, tensor: Any) -> TensorFlowValue:
        """The same; the tensor itself is held as long as a tape that records it."""
        if not pywrap_tfe.TFE_Py_TapeSetIsEmpty():
            for held in [tape.held for tape in self._open_tapes] or [self._early]:
                held.append(tensor)
        return self.keep(tensor)

    def _form(self, tensor: Any) -> dict:
        if tensor is None:
            return {}
        return {"dtype": tensor.dtype.name, "shape": tuple(tensor.shape) if tensor.shape.rank is not None else ()}


class Sent:
    """What operations sent to their inputs in a sweep: TensorFlow names an operation and its adjoints, here is which
    row it is.
    """

    def __init__(self, log: TensorFlowLog, sweep: BackwardPass, adjoints: dict) -> None:
        self.log, self.sweep, self.adjoints = log, sweep, adjoints
        self.waiting: dict[str, list[int]] = {}
        for row in sorted(adjoints):
            entry = log.entries[row]
            if entry.kind == "operation" and entry.output == 0:
                self.waiting.setdefault(entry.extra.op, []).append(row)
        self.sums: dict = {}
        self.last: dict[int, tuple] = {}  # where the last contribution to a row is

    def write(self, passed: list[tuple]) -> None:
        """The steps, in TensorFlow's order."""
        for op, inputs, came, gives in passed:
            call = self._call(op, inputs, came)
            if call is not None:
                self._step(call, gives)
        for row, (call, at) in self.last.items():  # the last sum is the adjoint itself
            edges = self.sweep.edges[call]
            if row in self.sweep.adjoints:
                given, port, product, _ = edges[at]
                edges[at] = given, port, product, self.sweep.adjoints[row]

    def _call(self, op: str, inputs: Any, came: list) -> int | None:
        """The row of an operation: the last one with its inputs, and with what came to it."""
        waiting = self.waiting.get(op, [])
        for row in reversed(waiting):
            if self._matches(row, inputs, came):
                waiting.remove(row)
                return row
        return None

    def _matches(self, row: int, inputs: Any, came: list) -> bool:
        if len(came) == 1 and self.adjoints.get(row) is not came[0]:
            return False
        given = self._given(row)
        if inputs is None:
            return len(came) > 1 or self.adjoints.get(row) is came[0]
        return all(
            tensor is None or tensor.dtype == tf.resource or self.log.rows_of(tensor)[-1:] in ([], [number])
            for tensor, number in zip(inputs, given, strict=False)
        )

    def _given(self, row: int) -> list[int]:
        return self.log.entries[row].inputs

    def _step(self, call: int, gives: list) -> None:
        for port, (row, product) in enumerate(zip(self._given(call), gives, strict=False)):
            if product is None or row not in self.sweep.adjoints:
                continue
            before = self.sums.get(row)
            if before is None:
                total = product
            else:
                with unrecorded():
                    total = tf.convert_to_tensor(before) + tf.convert_to_tensor(product)
            self.sums[row] = total
            kept = self.log.keep(product)
            self.sweep.send(call, row, port, kept, kept if before is None else self.log.keep(total))
            self.last[row] = call, len(self.sweep.edges[call]) - 1
