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

from ..back.backward import gradients_of
from ..back.endpoints import NONE, Unconnected, unconnected_zeros, wants_zeros, zeros_of
from ..back.marks import ENDS_HERE
from ..back.reach import reachable_rows
from ..back.sweep import Sweep
from ..back.tape import GradientTape
from ..recording.block import InterruptSafeExit, block
from ..recording.state import state
from ..table.primitives import TABLE
from ..tensor.convert import convert_to_tensor
from ..tensor.tensor import Tensor
from ..values import nest

if TYPE_CHECKING:
    from ..types import End, Leaving, Structure


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
        self._primals: list[End] = nest.flatten(primals)
        self._tape = ForwardTape(self)
        self._outer: list[GradientTape] = []  # tapes around the block
        if len({id(p) for p in self._primals}) != len(self._primals):
            raise ValueError("A tensor was specified as a primal multiple times: give the sum of its tangents.")
        given = nest.flatten(tangents)
        if len(given) != len(self._primals):
            raise ValueError(f"Expected a tangent for each of {len(self._primals)} primals, got {len(given)}.")
        self._tangents = [
            _fit_tangent(p, convert_to_tensor(t, p.dtype)) for p, t in zip(self._primals, given, strict=True)
        ]

    def __enter__(self) -> ForwardAccumulator:
        self._tape.__enter__()
        self._outer = state.tapes[:-1]
        self._tape.watch([p for p in self._primals if p.dtype.differentiable])
        return self

    def _leave(self, *error: object) -> None:
        self._tape._leave(*error)
        self._exit_ref = None

    __exit__: Leaving = InterruptSafeExit(_leave, attrgetter("_tape._recording"))

    def jvp(self, primals: Structure, unconnected_gradients: Unconnected = NONE) -> Structure:
        """The derivative of each of ``primals`` in the direction of the tangents; None where they make no difference.

        >>> import minitape as tf
        >>> x = tf.constant([1.0, 2.0])
        >>> with tf.autodiff.ForwardAccumulator(x, tangents=tf.constant([1.0, 0.0])) as forward:
        ...     y = x * x
        >>> forward.jvp(y).numpy(), forward.jvp(tf.constant(1.0))
        (array([2., 0.], dtype=float32), None)
        """
        zero = wants_zeros(unconnected_gradients)
        values = nest.flatten(primals)
        own = {id(p): t for p, t in zip(self._primals, self._tangents, strict=True)}  # of the primals themselves
        rows = [self._tape._rows_of(v)[-1:] if id(v) not in own and v.dtype.differentiable else () for v in values]
        with self._as_inside():
            by_row = self._push({row: v for v, states in zip(values, rows, strict=True) for row in states})
        tangents = [by_row.get(states[0]) if states else own.get(id(v)) for v, states in zip(values, rows, strict=True)]
        if zero:
            tangents = [unconnected_zeros(v) if t is None else t for v, t in zip(values, tangents, strict=True)]
        return nest.pack_sequence_as(primals, tangents)

    @block
    def _as_inside(self) -> Iterator[None]:
        """Tangents belong to the block: tapes around it record them whenever they are asked for, no others do."""
        with contextlib.ExitStack() as stack:
            for tape in [t for t in reversed(state.tapes) if t not in self._outer]:
                stack.enter_context(tape.stop_recording())
            for tape in self._outer:
                if not (tape._recording or tape._used or tape._paused):
                    stack.enter_context(tape)
            yield

    def _push(self, targets: dict[int, End]) -> dict[int, Tensor]:
        """The tangents of values, by row; none for one that depends on no primal."""
        tape, record = self._tape, self._tape._record
        pairs = zip(self._primals, self._tangents, strict=True)
        tangents = {row: t for p, t in pairs for row in tape._rows_of(p)}
        if not (targets and tangents) or record is None:
            return {}
        reachable = reachable_rows(tape, set(tangents))
        for row in tangents:
            reachable[row] = ENDS_HERE if reachable[row] else 0  # nothing comes from further back
        targets = {row: value for row, value in targets.items() if reachable[row]}
        with GradientTape(watch_accessed_variables=False) as inner:
            adjoints = {row: zeros_of(value) for row, value in targets.items()}
            inner.watch([*adjoints.values()])
            sweep = Sweep(record, adjoints, set(tangents), reachable, recorded=True)
            sweep.run()
            gradients = {row: g for row in tangents if (g := sweep.adjoint(row)) is not None}
        starts = [tangents[row] for row in gradients]
        pushed = gradients_of(inner, [*gradients.values()], [*adjoints.values()], starts)
        return {row: t for row, t in zip(adjoints, pushed, strict=True) if t is not None}


def _fit_tangent(primal: End, tangent: Tensor) -> Tensor:
    """The tangent in the shape of its primal; ValueError for one that does not broadcast to it."""
    wanted = tuple(primal.shape)
    if tangent._value.shape == wanted:
        return tangent
    try:
        found: Tensor = TABLE["broadcast_to"](tangent, shape=wanted)
        return found
    except ValueError:
        raise ValueError(
            f"The tangent has the shape {tangent.shape}, which does not broadcast to its primal's, {wanted}."
        ) from None
