"""Operations that are one row of a trace, whatever they compute it with: ``tf.print``, random numbers, functions that
look at values, and what Python branched on.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..engine.back.tape import GradientTape
from ..engine.recording.block import no_tapes
from ..engine.table.primitives import TABLE, Primitive
from ..engine.tensor.operation import finish
from ..engine.tensor.tensor import EagerTensor, Tensor, from_array
from ..engine.values import nest
from ..engine.values.dtypes import as_dtype
from .trace import DONE, Again, OperatorNotAllowedInGraphError, Unrecorded, tracing


class Log:
    """What the effects of a call gave so far: where Python runs again, or another recording is tried, none is repeated."""

    def __init__(self) -> None:
        self.done: list = []
        self.next = 0

    def once(self, run: Callable, *given: Any) -> Any:
        """What an effect gives, or gave at this place before."""
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

    ``run(arrays, noted)`` gives arrays, and, where the row has ``notes``, what its gradient reads, or None unless
    ``noted``. ``sweep(flows, inputs, gs, notes)`` gives the shares of the inputs ``flows``, of arrays or of tensors.
    """

    gives_tuple = True
    checks = False  # whether it runs in any case because it may find that a call is not like the recorded one
    bodies: Sequence = ()  # recordings that it holds, of a branch or a loop
    replay: Callable | None = None  # its results as operations that are recorded, for who looks inside

    def __init__(
        self,
        name: str,
        run: Callable,
        sweep: Callable | None = None,
        op: str = "",
        stateful: bool = False,
        notes: bool = False,
    ) -> None:
        super().__init__(name, self._plain, None if sweep is None else self._shares, op=op)
        self.run, self.sweep, self.stateful, self.notes = run, sweep, stateful, notes
        self.cut: set[int] = set()  # inputs to which nothing passes
        self.outlines: list[tuple] = []  # shape and dtype of each result of the first run

    def _plain(self, *arrays: Any) -> tuple:
        return self._ran(arrays, False)

    def noted(self, *arrays: Any) -> tuple:
        """The results as arrays, with notes for the gradient as the last one."""
        *found, notes = self._ran(arrays, True)
        return *found, box(notes)

    def _ran(self, arrays: Sequence, noted: bool) -> tuple:
        log = effects.log if self.stateful and not self.checks and not self.bodies else None
        return tuple(self.run(arrays, noted) if log is None else log.once(self.run, arrays, noted))

    def _shares(self, g: Any, z: Any, *inputs: Any) -> list:
        gs = list(g) if isinstance(g, (list, tuple)) else [g]
        notes = None
        if self.notes:
            gs.pop()
            notes = z[-1]
        flows = [i for i, t in enumerate(inputs) if _continuous(t) and i not in self.cut]
        found: Any = []
        if flows and isinstance(gs[0], Tensor) and tracing() is not None:
            found = self._shares_as_row(flows, inputs, gs, notes)
        elif flows:
            found = self.sweep(flows, inputs, gs, unbox(notes))  # type: ignore[misc]
        shares: list = [None] * len(inputs)
        for i, share in zip(flows, found, strict=True):
            shares[i] = share
        return shares

    def _shares_as_row(self, flows: list[int], inputs: Sequence, gs: list, notes: Any) -> list[EagerTensor]:
        """The shares as one more row of the trace."""
        count, end = len(gs), len(gs) + len(inputs)

        def shares(given: Sequence) -> list:
            found = self.sweep(flows, given[count:end], given[:count], unbox(given[end]) if self.notes else None)  # type: ignore[misc]
            zeros = _zeros if isinstance(given[0], Tensor) else np.zeros_like
            return [zeros(given[count + i]) if s is None else s for i, s in zip(flows, found, strict=True)]

        row = Row(self.name + "_gradient", lambda given, _: shares(given), through_tape(shares), op=self.op)
        like = [(inputs[i]._value.shape, inputs[i]._value.dtype) for i in flows]
        trace: Any = tracing()
        return write(row, [*gs, *inputs, *([notes] * self.notes)], None if trace.first else like)


def _continuous(value: Any) -> bool:
    dtype = value.dtype
    return dtype.kind in "fc" if isinstance(value, (np.ndarray, np.generic)) else dtype.differentiable


def _zeros(like: Tensor) -> Tensor:
    return TABLE["zeros_like"](like)


def through_tape(function: Callable) -> Callable:
    """The sweep of a function of tensors, which runs it once more under a tape."""

    def sweep(flows: Sequence[int], inputs: Sequence, gs: Sequence, notes: Any) -> list:
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


def write(row: Row, tensors: Sequence[Tensor], outlines: Sequence[tuple] | None = None) -> list[EagerTensor]:
    """Adds a row to the trace and returns its results, which are zeros where ``outlines`` has their shapes and dtypes."""
    if outlines is None:
        with no_tapes():
            arrays = [t._value for t in tensors]
            outputs = [*map(_as_tensor, row.noted(*arrays) if row.notes else row._plain(*arrays))]
    else:
        outputs = [from_array(np.broadcast_to(np.zeros((), dtype), shape)[()]) for shape, dtype in outlines]
    row.outlines = [(t._value.shape, t._value.dtype) for t in outputs]
    finish(row, tuple(tensors), {}, tuple(outputs))
    return outputs


def box(value: Any) -> np.ndarray:
    """Any object of Python as an array, so that it can be an output."""
    array = np.empty((), object)
    array[()] = value
    return array


def unbox(value: Any) -> Any:
    """The object in a box; None for none."""
    return None if value is None else getattr(value, "_value", value)[()]


def _as_tensor(value: Any) -> EagerTensor:
    if value.dtype != object or value.ndim or isinstance(value[()], bytes):
        return from_array(value)
    made = EagerTensor()
    made._value, made._record, made._origin = value, None, None
    return made


# -- what Python branches on -----------------------------------------------------------------------


def guard(tensor: EagerTensor) -> None:
    """Notes how Python decided: another answer in a later call is another recording."""
    answer = bool(tensor._value)

    def run(arrays: Sequence, noted: bool) -> list:
        if bool(arrays[0]) is not answer:
            raise Again
        return [DONE]

    _write_check(Row("guard", run, op="Assert"), [tensor])


def _write_check(row: Row, tensors: Sequence[Tensor]) -> list[EagerTensor]:
    row.stateful = row.checks = True
    return write(row, tensors)


# -- functions of minitape -------------------------------------------------------------------------


def by_values(function: Callable, args: tuple, kwargs: dict) -> Any:
    """A call of a function that looks at values as one row: later calls compute it anew, where sizes stay the same."""
    leaves, pack = _opened(args, kwargs)
    result: list = []

    def call(given: Sequence[EagerTensor]) -> list[EagerTensor]:
        own, named = pack(given)
        result[:] = [function(*own, **named)]
        return [t for t in nest.flatten(result[0]) if isinstance(t, Tensor)]

    def run(arrays: Sequence, noted: bool) -> list:
        with no_tapes():
            found = [t._value for t in call([*map(from_array, arrays)])]
        if row.outlines and [(v.shape, v.dtype) for v in found] != row.outlines:
            raise Again
        return found

    row = Row(function.__name__, run, through_tape(call))
    with no_tapes():
        own = [from_array(t._value) for t in leaves]
        with GradientTape(persistent=True) as tape:
            tape.watch([t for t in own if t.dtype.differentiable])
            outs = call(own)
        flowing = [o for o in outs if o.dtype.differentiable]
        row.cut = {i for i, t in enumerate(own) if not flowing or tape.gradient(flowing, t) is None}
    found = iter(_write_check(row, leaves))
    return nest.map_structure(lambda t: next(found) if isinstance(t, Tensor) else t, result[0])


def _opened(args: tuple, kwargs: dict) -> tuple[list[Tensor], Callable]:
    """The tensors among arguments, and what puts others in their place."""
    leaves = [v._read() if hasattr(v, "_read") else v for v in nest.flatten([list(args), kwargs])]

    def pack(given: Sequence) -> Any:
        waiting = iter(given)
        flat = [next(waiting) if isinstance(v, Tensor) else v for v in leaves]
        return nest.pack_sequence_as([list(args), kwargs], flat)

    return [v for v in leaves if isinstance(v, Tensor)], pack


def effect(function: Callable, args: tuple, kwargs: dict) -> None:
    """A call for its effect, such as tf.print: in each run."""
    tensors, pack = _opened(args, kwargs)

    def run(arrays: Sequence, noted: bool) -> list:
        with no_tapes():
            own, named = pack([*map(from_array, arrays)])
            function(*own, **named)
        return [DONE]

    trace: Any = tracing()
    write(Row(function.__name__, run, stateful=True), tensors, [((), np.dtype(bool))] if trace.quiet else None)


def draw(function: Callable, args: tuple, kwargs: dict) -> Tensor:
    """Random numbers: others in each run."""
    tensors, pack = _opened(args, kwargs)

    def run(arrays: Sequence, noted: bool) -> list:
        with no_tapes():
            own, named = pack([*map(from_array, arrays)])
            return [function(*own, **named)._value]

    outlines = None
    trace: Any = tracing()
    if trace.quiet:
        bound = inspect.signature(function).bind(*args, **kwargs)
        bound.apply_defaults()
        outlines = [(tuple(bound.arguments["shape"]), np.dtype(as_dtype(bound.arguments["dtype"]).as_numpy_dtype))]
    return write(Row("random_" + function.__name__, run, op="Random", stateful=True), tensors, outlines)[0]


def looks(function: Callable, args: tuple, kwargs: dict) -> Any:
    """A call of a function that may look at values: where it does and they hang on the arguments it is one row."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, OperatorNotAllowedInGraphError):
            cause = cause.__cause__ or cause.__context__
        if cause is None:
            raise
    return by_values(function, args, kwargs)


def python_row(function: Callable, args: tuple, kwargs: dict) -> Any:
    """See :func:`minitape.functions.python.python_row`; a branch that is only tried does not run Python."""
    trace: Any = tracing()
    if not trace.first:
        trace.raise_refusal(function.__name__)
    if trace.quiet:
        raise Unrecorded
    from . import python

    given = inspect.signature(function).bind(*args, **kwargs).arguments
    made = python.python_row if function.__name__ == "py_function" else python.numpy_row
    return made(given["func"], given["inp"], given["Tout"], given.get("stateful", True))
