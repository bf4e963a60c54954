"""Operations that are one row of a trace, whatever they compute it with: ``tf.print``, random numbers, functions that
look at values, and what Python branched on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from typing import Any
from weakref import ref

import numpy as np

from ..engine.back.tape import GradientTape
from ..engine.derivatives.custom import with_list
from ..engine.derivatives.pyfunction import run_python, types_of_results
from ..engine.recording.block import TemporaryAttributes, no_tapes
from ..engine.table.primitives import TABLE, Primitive
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.operation import finish
from ..engine.tensor.tensor import EagerTensor, Tensor, from_array
from ..engine.values import nest
from .trace import DONE, FirstRun, OperatorNotAllowedInGraphError, OtherWay, Unrecorded, tracing


class Log:
    """The effects of a call so far, and what they gave: where Python runs again, or another recording is tried, none is
    repeated.
    """

    def __init__(self) -> None:
        self.done: list = []
        self.next = 0

    def once(self, run: Callable, *given: Any) -> Any:
        """The result of an effect, or that of this place before."""
        if self.next == len(self.done):
            found = run(*given)
            self.done.insert(self.next, found)
        self.next += 1
        return self.done[self.next - 1]


class Effects(threading.local):
    """The log of the call that runs in this thread."""

    log: Log | None = None


effects = Effects()


class Row(Primitive):
    """One row that calls Python in each run.

    ``run(arrays, noted)`` gives arrays, and, where the row has ``notes``, what its gradient reads, unless that need not
    be ``noted``. ``sweep(flows, inputs, gs, notes)`` gives the shares of the inputs ``flows``, of arrays or tensors. A
    ``stateful`` row runs in any case: for its effect, or as it ``checks`` whether a call is like the recorded one.
    """

    gives_tuple = True
    bodies: Sequence = ()  # recordings that it holds, of a branch or a loop
    replay: Callable | None = None  # its results as operations that are recorded, for who looks inside

    def __init__(
        self,
        name: str,
        run: Callable,
        sweep: Callable | None = None,
        op: str = "",
        notes: bool = False,
        stateful: bool = False,
        checks: bool = False,
    ) -> None:
        super().__init__(name, self.plain, None if sweep is None else with_list(self._shares), op=op)
        self.run, self.sweep, self.notes, self.stateful, self.checks = run, sweep, notes, stateful or checks, checks
        self.cut: set[int] = set()  # inputs to which nothing passes

    def plain(self, *arrays: Any) -> tuple:
        """The results as arrays."""
        return tuple(self._ran(arrays, False))

    def noted(self, *arrays: Any) -> tuple:
        """The results, and notes for the gradient in a box as the last one."""
        *found, notes = self._ran(arrays, True)
        box = np.empty((), object)
        box[()] = notes
        return *found, box

    def _ran(self, arrays: Sequence, noted: bool) -> Sequence:
        log = effects.log if self.stateful and not self.checks else None
        found: Sequence = self.run(arrays, noted) if log is None else log.once(self.run, arrays, noted)
        return found

    def _shares(self, gs: list, z: Any, *inputs: Any) -> list:
        count, end = len(gs) - self.notes, len(gs) - self.notes + len(inputs)
        flows = [i for i, t in enumerate(inputs) if i not in self.cut and _continuous(t)]

        def sweep(given: Sequence) -> list:
            notes = getattr(given[end], "_value", given[end])[()] if self.notes else None
            return self.sweep(flows, given[count:end], given[:count], notes)  # type: ignore[misc]

        def dense(given: Sequence) -> list:
            zeros = TABLE["zeros_like"] if isinstance(given[0], Tensor) else np.zeros_like
            return [zeros(given[count + i]) if s is None else s for i, s in zip(flows, sweep(given), strict=True)]

        found, trace, given = [], tracing(), [*gs[:count], *inputs, *(z[-1:] if self.notes else ())]
        if flows and trace is not None and isinstance(gs[0], Tensor):  # one more row
            row = Row(self.name + "_gradient", lambda given, _: dense(given), through_tape(dense), self.op)
            like = [(inputs[i]._value.shape, inputs[i]._value.dtype) for i in flows]
            found = write(row, given, None if trace.has_values else like)
        elif flows:
            found = sweep(given)
        shares = dict(zip(flows, found, strict=True))
        return [shares.get(i) for i in range(len(inputs))]


def _continuous(value: Any) -> bool:
    return value.dtype.differentiable if isinstance(value, Tensor) else value.dtype.kind in "fc"


def through_tape(function: Callable) -> Callable:
    """The sweep of a function of tensors, which runs it once more under a tape."""

    def sweep(flows: Sequence, inputs: Sequence, gs: Sequence, notes: Any) -> list:
        as_arrays = not isinstance(gs[0], Tensor)
        with no_tapes() if as_arrays else nullcontext():
            tensors, adjoints = ([x if isinstance(x, Tensor) else from_array(x) for x in part] for part in (inputs, gs))
            own = [TABLE["identity"](t) for t in tensors]
            with GradientTape() as tape:
                tape.watch([own[i] for i in flows])
                outs = function(own)
            pairs = [(o, g) for o, g in zip(outs, adjoints, strict=False) if o.dtype.differentiable]
            found = tape.gradient([o for o, _ in pairs], [own[i] for i in flows], [g for _, g in pairs])
        return [None if s is None else s._value for s in found] if as_arrays else found

    return sweep


def write(row: Row, tensors: Sequence, outlines: Sequence | None = None) -> list:
    """Adds a row to the trace and returns its results, zeros where ``outlines`` has their shapes and dtypes."""
    if outlines is None:
        with no_tapes():
            found = (row.noted if row.notes else row.plain)(*[t._value for t in tensors])
    else:
        found = tuple([np.broadcast_to(np.zeros((), dtype), shape)[()] for shape, dtype in outlines])
    outputs = [*map(from_array, found)]
    finish(row, tuple(tensors), {}, tuple(outputs))
    return outputs


def guard(tensor: EagerTensor) -> None:
    """Notes how Python decided by a tensor: another answer in a later call is another recording."""
    answer = bool(tensor._value)

    def run(arrays: Sequence, noted: bool) -> list:
        if bool(arrays[0]) is not answer:
            raise OtherWay
        return [DONE]

    write(Row("guard", run, op="Assert", checks=True), [tensor])


# -- functions of minitape, see :mod:`.calls` ------------------------------------------------------


class _Call:
    """A call of a function, for other tensors in the place of those among its arguments."""

    def __init__(self, function: Callable, args: tuple, kwargs: dict) -> None:
        self.function, self.given, self.result = function, [list(args), kwargs], None
        self.leaves = [v._read() if hasattr(v, "_read") else v for v in nest.flatten(self.given)]
        self.tensors = [v for v in self.leaves if isinstance(v, Tensor)]

    def __call__(self, tensors: Sequence) -> list:
        """The tensors of the result."""
        waiting = iter(tensors)
        flat = [next(waiting) if isinstance(v, Tensor) else v for v in self.leaves]
        args, kwargs = nest.pack_sequence_as(self.given, flat)
        self.result = self.function(*args, **kwargs)
        return [t for t in nest.flatten(self.result) if isinstance(t, Tensor)]

    def run(self, arrays: Sequence, noted: bool) -> list:
        """Its arrays."""
        with no_tapes():
            return [t._value for t in self([*map(from_array, arrays)])] or [DONE]


def looks(function: Callable, *args: Any, **kwargs: Any) -> Any:
    """A call of a function that may look at values: where they hang on the arguments, one row that computes it anew."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, OperatorNotAllowedInGraphError):
            cause = cause.__cause__ or cause.__context__
        if cause is None:
            raise
    call = _Call(function, args, kwargs)
    first: list = []  # shapes and dtypes in the first run

    def run(arrays: Sequence, noted: bool) -> list:
        found = call.run(arrays, noted)
        outlines = [(v.shape, v.dtype) for v in found]
        first[:] = first or outlines
        if first != outlines:
            raise OtherWay
        return found

    results = iter(write(Row(function.__name__, run, through_tape(call), checks=True), call.tensors))
    return nest.map_structure(lambda t: next(results) if isinstance(t, Tensor) else t, call.result)


def effect(function: Callable, *args: Any, **kwargs: Any) -> None:
    """A call for its effect, such as tf.print: in each run."""
    trace = _tracing(function, quietly=True)
    call = _Call(function, args, kwargs)
    write(
        Row(function.__name__, call.run, stateful=True), call.tensors, [((), DONE.dtype)] if trace.tentative else None
    )


def draw(function: Callable, *args: Any, **kwargs: Any) -> Tensor:
    """Random numbers: others in each run."""
    _tracing(function)
    call = _Call(function, args, kwargs)
    return write(Row("random_" + function.__name__, call.run, op="Random", stateful=True), call.tensors)[0]


def python_row(function: Callable, func: Callable, inp: Any, Tout: Any, *_: Any, **__: Any) -> Any:
    """A py_function or numpy_function: its notes are the run, whose tape the gradient of the former asks."""
    trace = _tracing(function)
    dtypes, several = types_of_results(Tout)
    inputs, differentiate = [*map(convert_to_tensor, inp)], function.__name__ == "py_function"
    changed = [(v, trace.states[key]) for key, v in trace.assigned_variables.items()]  # which func may look at
    count = len(inputs)

    def on_arrays(*tensors: EagerTensor) -> list:
        found = func(*map(np.array, tensors))
        if not isinstance(found, (list, tuple)):
            return [convert_to_tensor(np.asarray(found))]  # whose dtype must be the promised one
        return [convert_to_tensor(v, d) for v, d in zip(found, dtypes, strict=True)]

    def run(arrays: Sequence, noted: bool) -> list:
        tensors = [*map(from_array, arrays)]
        with no_tapes(), ExitStack() as blocks:
            for (variable, _), now in zip(changed, tensors[count:], strict=True):
                blocks.enter_context(TemporaryAttributes(variable, _state=now, _tape_set=None))
            call = run_python(func if differentiate else on_arrays, tensors[:count], dtypes, differentiate)
        row.ran = ref(call)  # type: ignore[attr-defined]
        return [*(o._value for o in call.outputs), call]

    def sweep(flows: Sequence, inputs: Sequence, gs: Sequence, call: Any) -> list:
        found = call.run_gradient([g if isinstance(g, Tensor) else from_array(g) for g in gs])
        shares = [np.broadcast_to(s._value, inputs[i].shape)[()] for i, s in zip(flows, found, strict=True)]
        return [*map(from_array, shares)] if isinstance(gs[0], Tensor) else shares

    op = "EagerPyFunc" if differentiate else "PyFunc"
    row = Row(function.__name__, run, sweep if differentiate else None, op, notes=True, stateful=True)
    row.cut = set(range(count, count + len(changed)))
    found = write(row, [*inputs, *(now for _, now in changed)])[:-1]
    return found if several else found[0]


def _tracing(function: Callable, quietly: bool = False) -> FirstRun:
    """The trace that a call with an effect is written into. One that only tries cannot have what Python, or chance,
    gives; what is done ``quietly``, it can leave out, but for a branch or loop, which is Python's then.
    """
    trace = tracing()
    assert trace is not None
    if not trace.has_values and not quietly:
        trace.raise_refusal(function.__name__)
    if trace.has_values and trace.note_branch is None and (trace.outer is not None or not quietly):
        raise Unrecorded
    return trace
