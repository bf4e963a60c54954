"""Run the engine's backward sweep one row at a time, and return its steps for pictures."""

from __future__ import annotations

from abc import abstractmethod
from collections import ChainMap
from collections.abc import Callable
from contextlib import suppress
from types import EllipsisType
from typing import Protocol, TypeAlias

import numpy as np

from ..engine.backward.gradient import find_differentiable_rows
from ..engine.backward.reachability import mark_reachable_rows
from ..engine.backward.sweep import Sweep, run_sweep
from ..engine.backward.tape import GradientTape
from ..engine.backward.targets_and_sources import (
    GradientRequest,
    build_seed,
    flatten_with_gradient_carriers,
    list_seeds_if_also_target,
)
from ..engine.record.array_spec import ArraySpec
from ..engine.record.kept_arrays import find_positions_read_by_rules
from ..engine.table.primitives import Primitive
from ..engine.types import (
    AdjointLookup,
    Adjoints,
    AdjointsByRow,
    Array,
    ArraysByRow,
    Object,
    OptionalNumber,
    RowSequence,
    Sizes,
    Structure,
    TargetsOrSources,
)
from ..engine.values.errors import OpError
from ..recording.graph_nodes import find_operation_and_inputs
from .recomputed_values import iter_values_before
from .shown_values import leave_out_texts_if_long, to_value_fields
from .snapshot_types import EdgeFields, OptionalValue, StepFields, SweepFields, ValueFields

MAX_EAGER_ROWS = 20_000  # The steps of a longer sweep are computed on demand.
# Converts an array in a step to the form in which it is shown.
ShowArray: TypeAlias = "Callable[[Array], Object]"


def build_tape_stepper(
    tape: GradientTape,
    target: Structure = None,
    sources: Structure = None,
    kept_arrays: ArraysByRow | None = None,
    show: ShowArray = to_value_fields,
    adjoints: Adjoints | None = None,
) -> Stepper | None:
    """Return the stepper of the tape's last gradient call, or of the gradient from ``target`` to ``sources``.

    Args:
        tape: The tape whose recording the sweep visits.
        target: The target, in any nested structure, or None for the last gradient call.
        sources: The sources, in any nested structure. Ignored if ``target`` is None.
        kept_arrays: Arrays, by row, that the recording has released but the caller still has.
        show: Converts each array in a step to the form in which it is shown.
        adjoints: The seed of each target, or None for ones. Ignored if ``target`` is None.

    Returns:
        The stepper before its first step, or None if there was no gradient call, or if the sweep cannot be repeated
        because arrays were released.
    """
    record = tape.record
    if target is None and tape.last_request is not None:
        target = tape.last_request.targets
        sources = tape.last_request.sources
        adjoints = list_seeds_of_shown_sweep(tape.last_request)
    if record is None or target is None or sources is None:
        return None
    stepper = Stepper(
        tape,
        flatten_with_gradient_carriers(target)[1],
        flatten_with_gradient_carriers(sources)[1],
        adjoints,
        kept_arrays or {},
        show,
    )
    return stepper if stepper.can_rerun_sweep() else None


def list_seeds_of_shown_sweep(request: GradientRequest) -> Adjoints:
    """Return the seed of each target of a gradient call, where None means ones.

    For a Jacobian, the seed is 1 at the element of the target whose sweep is shown, and 0 elsewhere.

    Args:
        request: The gradient call.
    """
    element = find_shown_jacobian_element(request)
    if element is None:
        return request.output_gradients
    adjoint = np.zeros(request.targets[0].shape.as_list(), request.targets[0].dtype.as_numpy_dtype)
    index: tuple[int | EllipsisType, ...] = (..., *element)
    adjoint[index] = 1
    return [adjoint[()]]


def find_shown_jacobian_element(request: GradientRequest) -> Sizes | None:
    """Return the index of the Jacobian target's element whose sweep is shown, or None for other calls.

    A Jacobian runs one sweep per element, and pictures show the sweep of the first element.

    Args:
        request: The gradient call.
    """
    if request.method == "gradient":
        return None
    return (0,) * (len(request.targets[0].shape) - (request.method == "batch_jacobian"))


class SweepSteps(Protocol):
    """The steps of a sweep, which are computed on demand.

    Attributes:
        remaining_rows: The number of rows that the sweep has not visited yet.
        last_row: The highest row of the sweep, where the sweep begins, or -1 if the sweep has no rows.
    """

    remaining_rows: int
    last_row: int

    @property
    @abstractmethod
    def header(self) -> SweepFields:
        """The ``SweepFields`` without steps and gradients."""

    @abstractmethod
    def take_steps(self, limit: OptionalNumber = None) -> list[StepFields] | None:
        """Advance the sweep and return its next steps.

        Args:
            limit: The maximum number of steps, or None for all remaining steps.

        Returns:
            The steps in their order, from the target back, or None if the sweep fails.
        """

    @abstractmethod
    def list_source_gradients(self) -> list[OptionalValue]:
        """Return each source's gradient after the steps so far, or None for a source that no adjoint has reached."""

    def build_sweep_fields(self) -> SweepFields | None:
        """Return the whole sweep, or None if it fails. A sweep over more than MAX_EAGER_ROWS rows has no steps."""
        steps = self.take_steps() if self.remaining_rows <= MAX_EAGER_ROWS else []
        return None if steps is None else self.header | {"steps": steps, "gradients": self.list_source_gradients()}


class Stepper(SweepSteps):
    """A sweep of the engine, which ``take_steps`` advances.

    Attributes:
        record: The recording.
        kept_arrays: Arrays, by row, that the recording has released but the caller still has.
        show: Converts each array in a step to the form in which it is shown.
        rows_by_source: For each source, the rows of its states, or an empty list if the source is not differentiable.
        reachable: For each row, whether it is tracked and depends on a source, or None if there are no targets or
            sources.
        first_row: The lowest row of the sweep, where the sweep ends.
        last_row: The highest row of the sweep, where the sweep begins, or -1 if the sweep has no rows.
        remaining_rows: The number of rows that the sweep has not visited yet.
        function_adjoints: The adjoints of the outputs of ``tf.function`` calls, by row, after the steps so far.
    """

    def __init__(
        self,
        tape: GradientTape,
        targets: TargetsOrSources,
        sources: TargetsOrSources,
        adjoints: Adjoints | None,
        kept_arrays: ArraysByRow,
        show: ShowArray,
    ):
        """Prepare the sweep without starting it. The parameters are described in ``build_tape_stepper``."""
        assert tape.record is not None
        self.record = tape.record
        self.kept_arrays = kept_arrays
        self.show = show
        self._tape = tape
        self._targets = targets
        self._sources = sources
        self._output_gradients = adjoints or [None] * len(targets)
        seeds: AdjointsByRow = {}
        for target, adjoint in zip(targets, self._output_gradients, strict=True):
            for row in find_differentiable_rows(tape, target)[-1:]:
                seed = build_seed(target, adjoint, False)
                seeds[row] = seeds[row] + seed if row in seeds else seed
        self.rows_by_source = [find_differentiable_rows(tape, source) for source in sources]
        self._target_rows = sorted(seeds)
        source_rows = {r for rows in self.rows_by_source for r in rows}
        self._unwatched = set(self.record.leaves).difference(tape.watched)
        self.reachable = mark_reachable_rows(tape, source_rows) if seeds and source_rows else None
        if self.reachable is not None:
            source_rows = {r for r in source_rows if self.reachable[r]}
            seeds = {r: s for r, s in seeds.items() if self.reachable[r]}
        self.first_row, self.last_row = (min(source_rows), max(seeds)) if seeds and source_rows else (0, -1)
        self.remaining_rows = self.last_row - self.first_row + 1
        self.function_adjoints: ArraysByRow = {}
        self._sweep = Sweep(self.record, seeds, source_rows, self.reachable)
        if kept_arrays:
            engine_values: Object = self._sweep.values
            self._sweep.values = ChainMap(kept_arrays, engine_values)
        self._sweep_rows = self._sweep.iter_steps()
        self._get_adjoint: AdjointLookup = self._sweep.get_adjoint

    @property
    def header(self) -> SweepFields:
        """The ``SweepFields`` without steps and gradients."""
        return {
            "target": self._target_rows,
            "sources": [rows[-1] if rows else -1 for rows in self.rows_by_source],
            "rest": self.remaining_rows,
        }

    def can_rerun_sweep(self) -> bool:
        """Return whether all arrays that the sweep's rules read are in the recording or in ``kept_arrays``."""
        record = self.record
        reachable = self.reachable
        # This first pass over the values is fast, because most recordings of scalars have released no values.
        values = enumerate(iter_values_before(record, self.last_row + 1))
        if not any(type(value) is ArraySpec and row not in self.kept_arrays for row, value in values):
            return True
        for row in range(self.first_row, self.last_row + 1):
            if reachable is not None and not reachable[row]:
                continue
            primitive, inputs = find_operation_and_inputs(record, row)
            if primitive is None:
                continue
            read_rows = [inputs[position] for position in find_positions_read_by_rules(record, primitive, inputs)]
            if primitive.keeps_output:
                read_rows.append(row)
            if any(self._get_row_value(read_row) is None for read_row in read_rows):
                return False
        return True

    def take_steps(self, limit: OptionalNumber = None) -> list[StepFields] | None:
        """Advance the sweep and return its next steps.

        Args:
            limit: The maximum number of steps, or None for all remaining steps.

        Returns:
            The steps in their order, from the target back, or None if the sweep fails, in which case ``tape.gradient``
            raises an error.
        """
        steps: list[StepFields] = []
        with np.errstate(all="ignore"), leave_out_texts_if_long(self.last_row):
            try:
                for row in self._sweep_rows:
                    self.remaining_rows = row - self.first_row
                    step = self._build_step(self._sweep, row)
                    if step is not None:
                        steps.append(step)
                    if len(steps) == limit and self.remaining_rows:
                        return steps
            except (LookupError, OpError):  # An operation has no gradient, or its rule raised an error.
                self.remaining_rows = 0
                return None
        self.remaining_rows = 0
        return steps

    def finish_without_steps(self) -> bool:
        """Run the whole sweep without building its steps, which take longest, and return whether it succeeded."""
        sweep = self._sweep
        with suppress(LookupError, OpError):
            if self.kept_arrays:  # The engine's fastest sweep reads only the recording.
                sweep.run_to_end()
            else:
                self._get_adjoint = run_sweep(self.record, sweep.adjoints, sweep.sources, self.reachable, False)
            return True
        return False

    def list_source_gradients(self) -> list[OptionalValue]:
        """Return each source's gradient after the steps so far, or None for a source that no adjoint has reached."""
        gradients: list[OptionalValue] = []
        for source, parts in zip(self._sources, self.list_state_adjoints_by_source(), strict=True):
            adjoints = [adjoint for _, adjoint in parts]
            if not adjoints:  # A source without rows may still be the target itself, as in ``y = x``.
                seeds = list_seeds_if_also_target(self._tape, source, self._targets, self._output_gradients)
                adjoints = [seed.numpy() if hasattr(seed, "numpy") else seed for seed in seeds]
            gradients.append(self.show(sum(adjoints[1:], adjoints[0])) if adjoints else None)
        return gradients

    def list_state_adjoints_by_source(self) -> list[list[tuple[int, Array]]]:
        """Return, for each source, the (row, adjoint) pairs of its states that an adjoint has reached."""
        return [
            [(row, adjoint) for row in rows if (adjoint := self._get_adjoint(row)) is not None]
            for rows in self.rows_by_source
        ]

    def _build_step(self, sweep: Sweep, row: int) -> StepFields | None:
        """Return the step of a row, or None if the row sends shares only to constants, which need no adjoints."""
        if all(source in self._unwatched for _, source, _, _ in sweep.edges):
            return None
        call = self.record.get_call(row)
        primitive, inputs = find_operation_and_inputs(self.record, row)
        assert primitive is not None  # The sweep makes no step at a leaf.
        if primitive.name == "function":
            self.function_adjoints |= {
                output_row: adjoint
                for output_row in range(row, row + call.outputs)
                if (adjoint := sweep.get_adjoint(output_row)) is not None
            }
        local_derivatives = self._compute_local_derivatives(primitive, row, inputs) if primitive.texts else {}
        edges: list[EdgeFields] = [
            {
                "input": source,
                "port": port,
                "local": self.show(local_derivatives.get(port)),
                "product": self.show(share),
                "sum": self.show(total),
            }
            for port, source, share, total in sweep.edges
            if source not in self._unwatched
        ]
        step: StepFields = {"row": row, "adjoint": self._build_adjoint_fields_or_zeros(sweep, row), "edges": edges}
        if call is not None and call.outputs > 1:
            step["others"] = [
                {"row": output_row, "adjoint": self._build_adjoint_fields_or_zeros(sweep, output_row)}
                for output_row in range(row + 1, row + call.outputs)
            ]
        return step

    def _compute_local_derivatives(self, primitive: Primitive, row: int, inputs: RowSequence) -> ArraysByRow:
        """Return the local derivatives of an elementwise operation, by port.

        A local derivative is the share that the rule sends for an adjoint of one. It has the shape of the operation's
        result, even if the input was broadcast. An empty dict is returned if a value was released.
        """
        output, *values = map(self._get_row_value, (row, *inputs))
        if output is None or any(array is None for array in values):
            return {}
        rules: Object = self._sweep.find_rules_for_value(primitive, output)
        unit_adjoint = np.ones_like(output)[()]
        return {
            port: np.broadcast_to(rule(unit_adjoint, output, *values), np.shape(unit_adjoint))[()]
            for port, rule in enumerate(rules)
            if rule is not None
        }

    def _get_row_value(self, row: int) -> Array:
        return self.kept_arrays.get(row, self.record.get_value_or_none(row))

    def _build_adjoint_fields_or_zeros(self, sweep: Sweep, row: int) -> ValueFields:
        """Return the adjoint of a row, or zeros if the target does not depend on this output of a call."""
        adjoint = sweep.get_adjoint(row)
        return self.show(sweep.build_zero_adjoint(row) if adjoint is None else adjoint)
