"""The backward sweep one step at a time, for pictures: the engine's own sweep, advanced row by row."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import EllipsisType
from typing import TYPE_CHECKING

import numpy as np

from ..engine.back.endpoints import ends_of, first_adjoint, rows_of
from ..engine.back.reach import reachable_rows
from ..engine.back.sweep import Sweep
from ..engine.recording.array_spec import ArraySpec
from ..engine.recording.arrays import read_inputs
from ..engine.recording.record import Record
from ..engine.table.primitives.elementwise import FIRST_CODE, form_of
from ..engine.values.errors import OpError
from ..recording.nodes import operation_of
from .replay import values_of
from .values import show_value

if TYPE_CHECKING:
    from ..engine.back.endpoints import GradientQuestion
    from ..engine.back.tape import GradientTape
    from ..engine.table.primitives import Rule, Rules
    from ..engine.types import Adjoint, Array, End, Object, Structure
    from .fields import Share, Shown, SnapshotStep, SweepFields

MOST = 20_000  # rows: the steps of a longer sweep are made on demand


def stepper_of(
    tape: GradientTape,
    target: Structure = None,
    sources: Structure = None,
    held: dict[int, Array] | None = None,
    show: Callable[[Array], Object] = show_value,
    adjoints: list[Adjoint] | None = None,
) -> Stepper | None:
    """The stepper of the tape's last gradient, or of the one from ``target`` to ``sources``; None where there is none.

    ``show`` makes the VALUEs of its steps; ``adjoints`` are the output gradients. The recording of another framework
    has its sweeps already.
    """
    if hasattr(tape, "picture_steps"):
        return tape.picture_steps(target, sources)
    record: Record | None = tape._record
    if target is None and tape.last is not None:
        target, sources, adjoints = tape.last.targets, tape.last.sources, adjoints_of(tape.last)
    if record is None or target is None or sources is None:
        return None
    stepper = Stepper(tape, ends_of(target)[1], ends_of(sources)[1], adjoints, held or {}, show)
    return stepper if stepper.can_be_repeated() else None


def adjoints_of(call: GradientQuestion) -> list[Adjoint]:
    """The output gradients with which a call began; of a Jacobian those of the one element whose sweep is shown."""
    element = element_of(call)
    if element is None:
        return call.output_gradients
    adjoint = np.zeros(call.targets[0].shape.as_list(), call.targets[0].dtype.as_numpy_dtype)
    where: tuple[int | EllipsisType, ...] = (..., *element)
    adjoint[where] = 1
    return [adjoint[()]]


def element_of(call: GradientQuestion) -> tuple[int, ...] | None:
    """The element of a Jacobian's target whose sweep is shown, the first: each has one. None for other calls."""
    if call.call == "gradient":
        return None
    return (0,) * (len(call.targets[0].shape) - (call.call == "batch_jacobian"))


class Stepper:
    """One sweep; ``take`` advances it. ``rest`` is the number of rows that it still has to visit."""

    def __init__(
        self,
        tape: GradientTape,
        targets: list[End],
        sources: list[End],
        adjoints: list[Adjoint] | None,
        held: dict[int, Array],
        show: Callable[[Array], Object],
    ) -> None:
        assert tape._record is not None
        self.record = tape._record
        self.held = held
        self.show = show
        starts: dict[int, Adjoint] = {}
        for t, adjoint in zip(targets, adjoints or [None] * len(targets), strict=True):
            for row in tape._rows_of(t)[-1:]:
                if t.dtype.differentiable:
                    one = first_adjoint(t, adjoint, False)
                    starts[row] = starts[row] + one if row in starts else one
        found = [rows_of(tape, source) for source in sources]
        self.sources = [rows if s.dtype.differentiable else () for s, rows in zip(sources, found, strict=True)]
        self._target = sorted(starts)
        wanted = {r for rows in self.sources for r in rows}
        self._unwatched = {row for row in list(self.record.leaves) if row not in tape.watched}
        self.reachable = reachable_rows(tape, wanted) if starts and wanted else None
        if self.reachable is not None:
            wanted = {r for r in wanted if self.reachable[r]}
            starts = {r: s for r, s in starts.items() if self.reachable[r]}
        self._starts, self._wanted = starts, wanted
        self.low, self.high = (min(wanted), max(starts)) if starts and wanted else (0, -1)
        self.rest = self.high - self.low + 1
        self.into_functions: dict[int, Array] = {}  # the adjoints that came to the outputs of functions
        self._sweep: Sweep | None = None
        self._rows: Iterator[int] = iter(())

    @property
    def head(self) -> SweepFields:
        """The SWEEP but for its steps and gradients."""
        return {"target": self._target, "sources": [r[-1] if r else -1 for r in self.sources], "rest": self.rest}

    def whole(self) -> SweepFields | None:
        """The SWEEP; None where it fails. A very long one has no steps."""
        steps = self.take() if self.rest <= MOST else []
        return None if steps is None else self.head | {"steps": steps, "gradients": self.gradients()}

    def can_be_repeated(self) -> bool:
        """False when an array that a rule on the way reads was released."""
        record, reachable = self.record, self.reachable
        values = enumerate(values_of(record, self.high + 1))  # of millions of numbers, each has one
        if not any(type(value) is ArraySpec and row not in self.held for row, value in values):
            return True
        for row in range(self.low, self.high + 1):
            if reachable is not None and not reachable[row]:
                continue
            primitive, inputs = operation_of(record, row)
            if primitive is None:
                continue
            read = [inputs[i] for i in read_inputs(record, primitive, inputs)]
            if primitive.keeps_output:
                read.append(row)
            if any(r not in self.held and record.value(r) is None for r in read):
                return False
        return True

    def take(self, most: int | None = None) -> list[SnapshotStep] | None:
        """The next steps, at most ``most``; None where the sweep fails: ``gradient`` raises there, nothing is shown."""
        steps: list[SnapshotStep] = []
        if not self.rest:
            return steps
        with np.errstate(all="ignore"):
            if self._sweep is None:
                self._sweep = Sweep(self.record, self._starts, self._wanted, self.reachable)
                if self.held:
                    known: Object = self._sweep.values
                    self._sweep.values = ChainMap(self.held, known)  # looks into the first one first
                self._rows = self._sweep.steps()
            try:
                for row in self._rows:
                    self.rest = row - self.low
                    step = self._step(self._sweep, row)
                    if step is not None:
                        steps.append(step)
                    if most is not None and len(steps) >= most and self.rest:
                        return steps
            except (LookupError, OpError):  # an operation without a gradient, or one that refuses to give it
                self.rest = 0
                return None
        self.rest = 0
        return steps

    def gradients(self) -> list[Shown | None]:
        """What has arrived at the sources."""
        values = [[value for _, value in parts] for parts in self.parts()]
        return [self.show(sum(parts[1:], parts[0])) if parts else None for parts in values]

    def parts(self) -> list[list[tuple[int, Array]]]:
        """The same by state: for each source the rows that something has arrived at, and what."""
        sweep = self._sweep
        arrived = [[(r, sweep.adjoint(r)) for r in rows if sweep is not None] for rows in self.sources]
        return [[one for one in parts if one[1] is not None] for parts in arrived]

    def _step(self, sweep: Sweep, row: int) -> SnapshotStep | None:
        """The STEP of a row; None where it hands nothing on but to constants, which have no adjoint."""
        if all(source in self._unwatched for source, _, _ in sweep.edges):
            return None
        op, call = self.record.cell(row)[0], self.record.call_at(row)
        primitive, inputs = operation_of(self.record, row)
        assert primitive is not None  # leaves hand nothing on
        if primitive.name == "function":
            arrived = {r: sweep.adjoint(r) for r in range(row, row + call.outputs)}
            self.into_functions |= {r: adjoint for r, adjoint in arrived.items() if adjoint is not None}
        rules = primitive.rules  # one for each input, or one function for all
        local = (
            {}
            if not primitive.texts or rules is None or callable(rules)
            else _locals(self._value, row, op, inputs, rules, primitive.code)
        )
        edges: list[Share] = [
            {
                "input": source,
                "port": port,
                "local": self.show(local.get(port)),
                "product": self.show(share),
                "sum": self.show(total),
            }
            for port, (source, share, total) in zip(_ports(inputs, rules, sweep.edges), sweep.edges, strict=True)
            if source not in self._unwatched
        ]
        step: SnapshotStep = {"row": row, "adjoint": self._incoming(sweep, row), "edges": edges}
        if call is not None and call.outputs > 1:
            others = range(row + 1, row + call.outputs)
            step["others"] = [{"row": r, "adjoint": self._incoming(sweep, r)} for r in others]
        return step

    def _value(self, row: int) -> Array:
        return self.held[row] if row in self.held else self.record.value(row)

    def _incoming(self, sweep: Sweep, row: int) -> Shown | None:
        """The adjoint that came in; zeros for one of several outputs that the target does not depend on."""
        adjoint = sweep.adjoint(row)
        if adjoint is None:
            adjoint = np.zeros(*self.record.shape_dtype(row))[()]
        return self.show(adjoint)


def _ports(inputs: Sequence[int], rules: Rules, edges: list[tuple[int, Adjoint, Adjoint]]) -> list[int]:
    """Which input of the operation each edge of a step belongs to: they come in the order of the inputs."""
    free = (k for k in range(len(inputs)) if rules is not None and (callable(rules) or rules[k] is not None))
    return [next(k for k in free if inputs[k] == source) for source, _, _ in edges]


def _locals(
    value: Callable[[int], Array], row: int, op: int, inputs: Sequence[int], rules: Iterable[Rule | None], code: int
) -> dict[int, Array]:
    """Local derivatives of an elementwise operation by input: what its rules give for an incoming adjoint of one.

    They have the shape of the result, also for an input that was broadcast.
    """
    out, values = value(row), [value(r) for r in inputs]
    if out is None or any(v is None for v in values):
        return {}
    if op >= FIRST_CODE:
        rules, arguments = form_of(op, out).rules, [out, values[0], values[-1]]
    else:
        arguments = [out, *values]
    one = np.ones_like(out)[()]
    if code and np.iscomplexobj(one):  # as in the sweep
        arguments = [np.conj(v) for v in arguments]
    found = {}
    for port, rule in enumerate(rules):
        if rule is not None:
            local = rule(one, *arguments)
            found[port] = local if np.shape(local) == np.shape(one) else np.broadcast_to(local, np.shape(one))
    return found
