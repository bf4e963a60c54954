"""``tf.autodiff.ForwardAccumulator``: Jacobian-vector products, from the rules that reverse mode has.

The gradient of y with respect to x is u·J, where u is the adjoint that y starts with: it is linear in u. Its own
gradient with respect to u, with a tangent as the adjoint to start with, is J·tangent. So forward mode is two sweeps
back.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator
from operator import attrgetter
from typing import TYPE_CHECKING

from ..backward.gradient import compute_gradients
from ..backward.reachability import mark_reachable_rows
from ..backward.row_marks import ENDS_HERE
from ..backward.sweep import Sweep
from ..backward.tape import GradientTape
from ..backward.targets_and_sources import (
    NONE,
    Unconnected,
    build_recorded_zeros_like_source,
    build_zeros_like_source,
    should_return_zeros,
)
from ..record.interrupt_safe import InterruptSafeExit, make_interrupt_safe
from ..record.thread_state import state
from ..table.primitives import TABLE
from ..tensor.conversion import convert_to_tensor
from ..tensor.tensor import Tensor
from ..values import nest

if TYPE_CHECKING:
    from ..types import ExitProperty, Structure, TargetOrSource


class ForwardTape(GradientTape):
    """The tape of an accumulator: it records what the accumulator will follow."""

    _gives_gradients = False

    def __init__(self, owner: ForwardAccumulator) -> None:
        super().__init__(persistent=True, watch_accessed_variables=False)
        self.owner = weakref.ref(owner)


class ForwardAccumulator:
    """Computes Jacobian-vector products of what runs in its block: ``jvp(y)`` is the derivative in a direction.

    ``tangents`` has the structure and dtypes of ``primals``, and shapes that broadcast to theirs; raises ValueError
    when a primal is given twice, or a tangent does not fit. Accumulators nest, and work inside and around gradient
    tapes. See https://www.tensorflow.org/api_docs/python/tf/autodiff/ForwardAccumulator.

    >>> import minitape as tf
    >>> x = tf.constant([2.0, 3.0])
    >>> with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
    ...     y = tf.reduce_sum(x * x)
    >>> print(acc.jvp(y))
    tf.Tensor(4.0, shape=(), dtype=float32)
    """

    def __init__(self, primals: Structure, tangents: Structure) -> None:
        self._primals: list[TargetOrSource] = nest.flatten(primals)
        self._tape = ForwardTape(self)
        self._outer_tapes: list[GradientTape] = []  # tapes around the block
        if len({id(primal) for primal in self._primals}) != len(self._primals):
            raise ValueError("A tensor was specified as a primal multiple times: give the sum of its tangents.")
        flat_tangents = nest.flatten(tangents)
        if len(flat_tangents) != len(self._primals):
            raise ValueError(f"Expected a tangent for each of {len(self._primals)} primals, got {len(flat_tangents)}.")
        self._tangents = [
            _fit_tangent(primal, convert_to_tensor(tangent, primal.dtype))
            for primal, tangent in zip(self._primals, flat_tangents, strict=True)
        ]

    def __enter__(self) -> ForwardAccumulator:
        self._tape.__enter__()
        self._outer_tapes = state.tapes[:-1]
        self._tape.watch([p for p in self._primals if p.dtype.differentiable])
        return self

    def _leave(self, *error: object) -> None:
        self._tape._leave(*error)
        self._exit_ref = None

    __exit__: ExitProperty = InterruptSafeExit(_leave, attrgetter("_tape._recording"))

    def jvp(self, primals: Structure, unconnected_gradients: Unconnected = NONE) -> Structure:
        """The derivative of each of ``primals`` in the direction of the tangents; None where they make no difference.

        >>> import minitape as tf
        >>> x = tf.constant([1.0, 2.0])
        >>> with tf.autodiff.ForwardAccumulator(x, tangents=tf.constant([1.0, 0.0])) as forward:
        ...     y = x * x
        >>> forward.jvp(y).numpy(), forward.jvp(tf.constant(1.0))
        (array([2., 0.], dtype=float32), None)
        """
        returns_zeros = should_return_zeros(unconnected_gradients)
        values = nest.flatten(primals)
        primal_tangents = {
            id(primal): tangent for primal, tangent in zip(self._primals, self._tangents, strict=True)
        }  # of the primals themselves
        rows = [
            self._tape._find_rows_of_value(value)[-1:]
            if id(value) not in primal_tangents and value.dtype.differentiable
            else ()
            for value in values
        ]
        with self._record_on_outer_tapes():
            tangents_by_row = self._compute_tangents_by_row(
                {row: value for value, states in zip(values, rows, strict=True) for row in states}
            )
        tangents = [
            tangents_by_row.get(states[0]) if states else primal_tangents.get(id(value))
            for value, states in zip(values, rows, strict=True)
        ]
        if returns_zeros:
            tangents = [
                build_recorded_zeros_like_source(value) if tangent is None else tangent
                for value, tangent in zip(values, tangents, strict=True)
            ]
        return nest.pack_sequence_as(primals, tangents)

    @make_interrupt_safe
    def _record_on_outer_tapes(self) -> Iterator[None]:
        """Let the tapes around the accumulator's block record, whenever tangents are asked for, and no others."""
        with contextlib.ExitStack() as stack:
            for tape in [t for t in reversed(state.tapes) if t not in self._outer_tapes]:
                stack.enter_context(tape.stop_recording())
            for tape in self._outer_tapes:
                if not (tape._recording or tape._used or tape._paused):
                    stack.enter_context(tape)
            yield

    def _compute_tangents_by_row(self, values_by_row: dict[int, TargetOrSource]) -> dict[int, Tensor]:
        """Compute the tangents of values, by row; none for one that depends on no primal."""
        tape, record = self._tape, self._tape._record
        pairs = zip(self._primals, self._tangents, strict=True)
        tangents = {row: tangent for primal, tangent in pairs for row in tape._find_rows_of_value(primal)}
        if not (values_by_row and tangents) or record is None:
            return {}
        reachable = mark_reachable_rows(tape, set(tangents))
        for row in tangents:
            reachable[row] = ENDS_HERE if reachable[row] else 0  # nothing comes from further back
        values_by_row = {row: value for row, value in values_by_row.items() if reachable[row]}
        with GradientTape(watch_accessed_variables=False) as inner_tape:
            adjoints = {row: build_zeros_like_source(value) for row, value in values_by_row.items()}
            inner_tape.watch([*adjoints.values()])
            sweep = Sweep(record, adjoints, set(tangents), reachable, is_recorded=True)
            sweep.run_to_end()
            gradients = {row: g for row in tangents if (g := sweep.get_adjoint(row)) is not None}
        tangent_seeds = [tangents[row] for row in gradients]
        pushed_tangents = compute_gradients(inner_tape, [*gradients.values()], [*adjoints.values()], tangent_seeds)
        return {row: tangent for row, tangent in zip(adjoints, pushed_tangents, strict=True) if tangent is not None}


def _fit_tangent(primal: TargetOrSource, tangent: Tensor) -> Tensor:
    """Return the tangent in the shape of its primal; ValueError for one that does not broadcast to it."""
    primal_shape = tuple(primal.shape)
    if tangent._value.shape == primal_shape:
        return tangent
    try:
        broadcast_tangent: Tensor = TABLE["broadcast_to"](tangent, shape=primal_shape)
        return broadcast_tangent
    except ValueError:
        raise ValueError(
            f"The tangent has the shape {tangent.shape}, which does not broadcast to its primal's, {primal_shape}."
        ) from None
