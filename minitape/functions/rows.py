"""Operations that are one row of a trace, whatever they compute it with: ``tf.print``, random numbers, Python functions,
and functions of minitape that look at values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..engine.back.tape import GradientTape
from ..engine.recording.block import no_tapes
from ..engine.recording.state import state
from ..engine.table.primitives import TABLE, Primitive
from ..engine.tensor.operation import finish
from ..engine.tensor.tensor import EagerTensor, Tensor, from_array, new_tensor
from ..engine.values import nest
from .trace import Again, NeedsValue, OperatorNotAllowedInGraphError


class Row(Primitive):
    """One row that calls a function of tensors again in each run. Its gradient runs the function under a tape."""

    gives_tuple = True

    def __init__(self, name: str, function: Callable, op: str = "", stateful: bool = False) -> None:
        super().__init__(name, self.run, self.shares, op=op)
        self.function, self.stateful = function, stateful
        self.sized = False  # whether sizes of its results may hang on values: it runs in any case
        self.bodies: Sequence = ()  # recordings that it holds, of a branch or loop
        self.arrays: Callable | None = None  # the function on arrays, where that is faster
        self.noting: Callable | None = None  # the same, with notes as a last result: what its gradient reads
        self.sweep: Callable | None = None  # the shares of arrays, of adjoints, inputs and notes
        self.cut: set[int] = set()  # inputs to which nothing passes
        self.outlines: list[tuple] = []  # shape and dtype of each result of the first run

    def run(self, *arrays: Any) -> tuple:
        """The results as arrays."""
        if self.arrays is not None and self.noting is None:
            return self.arrays(*arrays)
        if self.noting is not None:
            return *self.arrays(*arrays), None
        with no_tapes():
            found = tuple([t._value for t in self.function(*map(from_array, arrays))])
        for value, (shape, _) in zip(found, self.outlines, strict=True):
            if value.shape != shape:
                raise Again(self.name)
        return found

    def noted(self, *arrays: Any) -> tuple:
        """The same with notes for the gradient as the last output."""
        *found, notes = self.noting(*arrays)
        return *found, boxed(notes)._value

    def shares(self, g: Any, z: Any, *inputs: Any) -> list:
        """The shares of the inputs: in a trace one more row, which computes them under a tape, or from the notes."""
        gs, noted = [g] if len(self.outlines) == 1 else list(g), self.noting is not None
        gs = gs[:-1] if noted else gs
        tensors = [t if isinstance(t, Tensor) else new_tensor(t) for t in (*gs, *inputs)]
        count, end = len(gs), len(tensors)
        flows = [i for i, t in enumerate(tensors[count:]) if t.dtype.differentiable and i not in self.cut]
        if not flows:
            return [None] * len(inputs)

        def sweep(*given: EagerTensor) -> list[EagerTensor]:
            own = [TABLE["identity"](t) for t in given[count:end]]
            with GradientTape() as tape:
                tape.watch([own[i] for i in flows])
                outs = self.function(*own)
            pairs = [(o, one) for o, one in zip(outs, given, strict=False) if o.dtype.differentiable]
            found = tape.gradient([o for o, _ in pairs], [own[i] for i in flows], [one for _, one in pairs])
            return [TABLE["zeros_like"](own[i]) if s is None else s for i, s in zip(flows, found, strict=True)]

        outlines = [(tuple(tensors[count + i].shape), tensors[count + i]._value.dtype) for i in flows]

        def by_notes(*given: Any) -> tuple:
            return self.sweep(flows, given[:count], given[count:end], given[-1].item())

        if _traces():
            more = {"tensors": [*tensors, z[-1]], "arrays": by_notes} if noted else {"tensors": tensors}
            found = row_in_sweep(self.name + "_gradient", sweep, outlines=outlines, **more)
        else:
            found = sweep(*tensors)
        shares: list = [None] * len(inputs)
        for i, share in zip(flows, found, strict=True):
            shares[i] = share if isinstance(g, Tensor) or type(g) is list else share._value
        return shares

    def look(self, tensors: Sequence[EagerTensor]) -> list[EagerTensor]:
        """The results of the first run, which also tells to which inputs nothing passes."""
        with GradientTape(persistent=True) as tape:
            tape.watch([t for t in tensors if t.dtype.differentiable])
            outputs = self.function(*tensors)
        try:
            found = tape.gradient([o for o in outputs if o.dtype.differentiable], list(tensors))
            self.cut = {i for i, g in enumerate(found) if g is None}
        except LookupError as error:
            refused = error

            def refuse(*given: Any) -> Any:
                raise refused

            self.rules = refuse
        return outputs


def _traces() -> bool:
    return state.record is not None and state.record.traces


def row(
    name: str,
    function: Callable,
    tensors: Sequence[Tensor],
    op: str = "",
    stateful: bool = False,
    outlines: Sequence[tuple] | None = None,
    bodies: Sequence = (),
    kind: Any = None,
    rules: bool = True,
    sized: bool = False,
    arrays: Callable | None = None,
    noting: Callable | None = None,
    swept: Callable | None = None,
) -> list[EagerTensor]:
    """The results of a function as one row of the trace. With ``outlines`` it does not run now: they are zeros of these
    shapes and dtypes.
    """
    made = (kind or Row)(name, function, op, stateful or any(body.own.effects for body in bodies))
    made.sized = sized
    made.bodies, made.arrays, made.noting, made.sweep = bodies, arrays, noting, swept
    if not rules:
        made.rules = None
    if outlines is None:
        with no_tapes():
            own = [from_array(t._value) for t in tensors]
            looks = rules and not (stateful or kind or bodies) and any(t.dtype.differentiable for t in own)
            if arrays is not None:
                values = (made.noted if noting else arrays)(*[t._value for t in own])
                outputs = [boxed(v.item()) if _is_box(v) else from_array(v) for v in values]
            else:
                outputs = [from_array(t._value) for t in (made.look(own) if looks else function(*own))]
        made.outlines = [(t._value.shape, t._value.dtype) for t in outputs]
    else:
        made.outlines = list(outlines)
        outputs = [from_array(np.broadcast_to(np.zeros((), d), s)[()]) for s, d in outlines]
    finish(made, tuple(tensors), {}, tuple(outputs))
    return outputs


def row_in_sweep(name: str, function: Callable, tensors: Sequence[Tensor], outlines: list, **how: Any) -> list:
    """A row of a sweep: it runs where values are those of the first run, else they are zeros."""
    return row(name, function, tensors, outlines=None if state.record.first else outlines, **how)


def _is_box(value: Any) -> bool:
    return value.dtype == object and not value.ndim and not isinstance(value.item(), bytes)


def boxed(value: Any) -> EagerTensor:
    """Any object of Python as a tensor, so that it can be an output."""
    array = np.empty((), object)
    array[()] = value
    made = EagerTensor()
    made._value, made._record, made._origin = array, None, None
    return made


def call_as_row(function: Callable, args: Any, kwargs: Any, stateful: bool = False) -> Any:
    """A call of one of minitape's functions as one row: it looks at values, which each run has anew."""
    leaves = nest.flatten([list(args), kwargs], expand_composites=True)
    tensors = [v._read() if hasattr(v, "_read") else v for v in leaves if isinstance(v, Tensor) or hasattr(v, "_read")]
    result: list = []

    def run(*given: EagerTensor) -> list[EagerTensor]:
        waiting = iter(given)
        flat = [next(waiting) if isinstance(v, Tensor) or hasattr(v, "_read") else v for v in leaves]
        own, named = nest.pack_sequence_as([list(args), kwargs], flat, expand_composites=True)
        result[:] = [function(*own, **named)]
        return [t for t in nest.flatten(result[0], expand_composites=True) if isinstance(t, Tensor)] or [_done()]

    name = getattr(function, "__name__", "call")
    found = iter(
        row(name, run, tensors, sized=True, stateful=stateful or name.lower().startswith(("assert", "check_")))
    )
    flat = [next(found) if isinstance(t, Tensor) else t for t in nest.flatten(result[0], expand_composites=True)]
    return nest.pack_sequence_as(result[0], flat, expand_composites=True)


def _done() -> EagerTensor:
    """The output of what has none."""
    return from_array(np.bool_(True))


def effect_row(effect: Callable, tensors: Sequence[Tensor]) -> None:
    """Does something with the values of tensors, in each run."""

    def run(*given: EagerTensor) -> list[EagerTensor]:
        effect(*given)
        return [_done()]

    quiet = [((), np.dtype(bool))] if state.record.quiet else None
    row(getattr(effect, "__name__", "effect"), run, tensors, stateful=True, outlines=quiet)


def postpone(function: Callable, args: Any, kwargs: Any, error: Exception) -> Any:
    """What a function of minitape gives that asked for a value while it was traced."""
    if not _traces() or not _is_of_values(error):
        raise error
    return call_as_row(function, args, kwargs)


def _is_of_values(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, (NeedsValue, OperatorNotAllowedInGraphError)):
            return True
        error = error.__cause__ or error.__context__
    return False
