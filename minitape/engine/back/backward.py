"""The gradients of a tape's targets: what may be asked for, where a sweep starts, and what has arrived at the
sources.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from sys import _getframe
from typing import TYPE_CHECKING, Any

import numpy as np

from ..recording.columns import CONTINUOUS
from ..recording.frames import user_frame
from ..recording.record import Record
from ..recording.rows import operation_of
from ..recording.state import more, state
from ..table.accelerator import fast, full
from ..table.primitives import BATCHES, PLAIN, TABLE
from ..tensor.convert import convert_to_tensor
from ..tensor.slices import IndexedSlices
from ..tensor.tensor import EagerTensor, Tensor, from_array, new_tensor
from . import sweep as plain
from .endpoints import NO_ADJOINT, first_adjoint, no_tensor, reads_target
from .reach import differentiable, on_tape, reachable_rows
from .sweep import Sweep

if TYPE_CHECKING:
    from ..types import Adjoint, End, Function, Object, Result
    from .tape import GradientTape

ONE = {np.dtype(real): real(1) for real in (np.float32, np.float64)}
run_sweep = fast.instead(plain.run_sweep)
NOTHING: Any = {}.get, None  # of a sweep that gets nowhere


def gradients_of(
    tape: GradientTape, targets: list[End], sources: list[End], output_gradients: list[Adjoint]
) -> list[Result]:
    """The gradients of targets that start with these adjoints (None: ones) with respect to each source; None for
    some.
    """
    recorded = state.record is not None and (bool(state.tapes) or not state.record.eager)
    record = tape._record
    assert record is not None
    rows: Sequence[int]
    starts: dict[int, Adjoint] = {}
    passed: list[int] = []  # the targets whose output gradients no operation receives
    for at, target in enumerate(targets):
        one: Adjoint = None
        if output_gradients[at] is None and type(target) is EagerTensor and record is target._record:
            row, value = target._row, target._value
            one = ONE.get(value.dtype)
            if one is not None and (shape := value.shape):
                one = full(shape, value.dtype, 1)
        if one is None:
            rows = rows_of(tape, target)
            if not rows or target.dtype.kind == "s":  # integers pass: the operation that made them says what passes
                continue
            row = rows[-1]
            if _passes(tape, target, row, output_gradients, at):
                passed.append(at)
                continue
            one = first_adjoint(target, output_gradients[at], recorded)
        if recorded and type(one) in PLAIN:
            one = new_tensor(one)
        starts[row] = starts[row] + one if row in starts else one
    ends: list[Sequence[int]] = []
    wanted: set[int] = set()
    for source in sources:
        if type(source) is EagerTensor and record is source._record:
            rows = (source._row,) if source._value.dtype.kind in CONTINUOUS else ()
        elif (known := record.variables.get(id(source))) is not None and known[0] is source:
            rows = known[1] if source._state._value.dtype.kind in CONTINUOUS else ()
        else:
            rows = rows_of(tape, source)
            if not source.dtype.differentiable:
                rows = ()
        wanted.update(rows)
        ends.append(rows)
    adjoint, found = sweep(tape, starts, wanted, recorded) if starts else NOTHING
    gradients: list[Result] = []
    for source, rows in zip(sources, ends):  # noqa: B905 - slow
        g: Result = adjoint(rows[0]) if len(rows) == 1 else None
        kind = type(g)
        if kind in PLAIN and not passed:
            made = EagerTensor()
            made._value, made._record, made._origin = g if kind is not np.ndarray or g.shape else g[()], None, None
            gradients.append(made)
            continue
        if kind is EagerTensor and not passed:
            gradients.append(g)
            continue
        if (len(rows) > 1 and starts) or kind is IndexedSlices or kind in BATCHES:
            g = _total(adjoint, found, rows)
        if g is None:
            g = _same(tape, source, targets, output_gradients)
            if g is not None and rows and starts and _is_read(tape, source, rows, starts):
                g = None
        elif passed and (parts := [output_gradients[i] for i in passed if targets[i] is source]):
            g = _add_n([*parts, g])
        gradients.append(g if g is None or type(g) is IndexedSlices or isinstance(g, Tensor) else from_array(g))
    return gradients


def _passes(tape: GradientTape, target: End, row: int, output_gradients: list[Adjoint], at: int) -> bool:
    """Whether an output gradient unlike its target meets no operation that minds, so that it is the gradient.

    ValueError for None among the output gradients, where an operation would receive it.
    """
    record, given = tape._record, output_gradients[at]
    if given is NO_ADJOINT:
        if on_tape(tape)[row]:
            raise ValueError(
                "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor."
            )
        given = output_gradients[at] = None
    if type(record) is not Record or not isinstance(given, Tensor):
        return False
    if given.dtype is target.dtype and given.shape == target.shape:
        return False
    return row in record.leaves or not on_tape(tape)[row]


def _same(tape: GradientTape, source: End, targets: list[End], output_gradients: list[Adjoint]) -> Result:
    """A source that no row knows has a gradient only where it is itself a target."""
    if source.dtype.kind == "s":
        return None
    parts: list[Result] = []
    for target, given in zip(targets, output_gradients, strict=True):
        given = None if given is NO_ADJOINT else given
        if target is source or getattr(target, "_base", target) is getattr(source, "_base", source):
            if given is not None and not isinstance(given, Tensor):
                return new_tensor(given.data) if reads_target(tape, target) else None  # a Jacobian's
            parts.append(first_adjoint(target, None, True) if given is None else given)
    return _add_n(parts) if parts else None


def _is_read(tape: GradientTape, source: End, rows: Sequence[int], starts: Iterable[int]) -> bool:
    """Whether an operation of the tape that leads to a target reads a tensor that is not watched: TensorFlow drops what
    has arrived there, also where it is a target itself.
    """
    record = tape._record
    if type(record) is not Record or not isinstance(source, Tensor):
        return False
    on, stack = on_tape(tape), list(starts)
    while stack:
        row = stack.pop()
        if on[row]:
            on[row] = 0  # once is enough
            inputs = operation_of(record, row)[1]
            if rows[0] in inputs:
                return True
            stack += inputs
    return False


def _add_n(gradients: list[Result]) -> Result:
    """The sum of gradients; InvalidArgumentError for unlike dtypes or shapes."""
    return gradients[0] if len(gradients) == 1 else TABLE["add_n"](*map(convert_to_tensor, gradients))


def rows_of(tape: GradientTape, value: End) -> tuple[int, ...]:
    """The rows that hold a tensor, or the states of a variable, in a tape's recording. Raises what TensorFlow raises
    for anything else.
    """
    if type(value) is EagerTensor:
        row = None if tape._record is None else tape._record.find(value)
        return () if row is None else (row,)
    if not hasattr(value, "_tape_rows"):
        raise no_tensor(value)
    found: tuple[int, ...] = value._tape_rows(tape)
    return found


def sweep(
    tape: GradientTape, starts: dict[int, Adjoint], wanted: set[int], recorded: bool
) -> tuple[Function, Sweep | None]:
    """Brings these starts (adjoints by row) to the rows ``wanted``. Returns what gives the adjoint of a row, and the
    sweep where it was more than a plain one.

    ``recorded`` when an outer tape, or the graph that is being built, is to know how they were computed.
    """
    record = tape._record
    assert record is not None
    mandatory = _mandatory_inputs(record) if record.mandatory else None
    if not wanted and not mandatory:
        return NOTHING
    high = max(starts)
    reachable = reachable_rows(tape, wanted | mandatory if mandatory else wanted, high, recorded)
    if reachable is not None and not (
        all(map(reachable.__getitem__, wanted)) and all(map(reachable.__getitem__, starts))
    ):
        wanted = {row for row in wanted if reachable[row]}
        starts = {row: given for row, given in starts.items() if reachable[row]}
        if not starts or not (wanted or mandatory):
            return NOTHING
        high = max(starts)
    given = record, starts, wanted, reachable, recorded, mandatory
    return _record_sweep(tape, *given) if recorded and state.record is not None else run_sweep(*given)


def _record_sweep(tape: GradientTape, *given: Object) -> tuple[Function, Sweep | None]:
    """Runs a sweep that writes rows: they all belong to the statement that asked for it, and to its tape."""
    outer, site, by = state.record, state.site, state.by
    assert outer is not None
    fixed = outer.fixed
    try:
        state.by = tape
        if site is None:
            frame = user_frame(_getframe(1))
            state.site = None if frame is None else (frame.f_code, frame.f_lasti)
        outer.writers = more(outer.writers, (len(outer), outer.member(tape)))
        outer.pin(state.site)
        return run_sweep(*given)
    finally:
        state.by, state.site, outer.fixed = by, site, fixed
        outer.writers = more(outer.writers, (len(outer), None if by is None else outer.member(by)))


def _mandatory_inputs(record: Record) -> set[int]:
    """The inputs of calls whose gradient does more than give shares, which TensorFlow asks whether they lead to a
    source or not.

    These are functions of the user, and operations without a gradient, which are refused.
    """
    return {row for call in record.mandatory for row in call.inputs if differentiable(record, row)}


def _total(adjoint: Function, found: Sweep | None, rows: Sequence[int]) -> Result:
    """What has arrived at the rows of a source, together."""
    parts = [(row, a) for row in rows if (a := adjoint(row)) is not None]
    if len(parts) != 1 or type(parts[0][1]) is not IndexedSlices:
        dense = [a.dense() if type(a) is IndexedSlices else a for _, a in parts]
        total: Adjoint = sum(dense[1:], dense[0]) if dense else None
    elif type(parts[0][1].values) in BATCHES:
        total = parts[0][1].dense()
    else:
        assert found is not None
        slices = found.slices_at(parts[0][0])
        return slices if isinstance(slices.values, Tensor) else IndexedSlices(*map(new_tensor, slices._components()))
    return new_tensor(total.data) if type(total) in BATCHES else total
