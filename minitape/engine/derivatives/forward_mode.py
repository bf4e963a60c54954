"""Define ``tf.autodiff.ForwardAccumulator``, which computes Jacobian-vector products with the rules of reverse mode.

The gradient of y with respect to x is u·J, where u is the seed of y and J is the Jacobian. This gradient is linear in
u. Its own gradient with respect to u, with a tangent as the seed, is J·tangent. Forward mode therefore takes two
sweeps.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from operator import attrgetter
from weakref import ref

from ..backward.gradient import compute_gradients
from ..backward.reachability import mark_reachable_rows
from ..backward.row_marks import ENDS_HERE
from ..backward.sweep import Sweep
from ..backward.tape import GradientTape
from ..backward.targets_and_sources import (
    NONE,
    Unconnected,
    build_zeros_like_source,
    find_rows_in_recording,
    replace_none_by_zeros,
    should_return_zeros,
)
from ..record.interrupt_safe import InterruptSafeExit, make_interrupt_safe_context_manager
from ..record.thread_state import state
from ..table.primitives import TABLE
from ..tensor.conversion import convert_to_tensor
from ..tensor.tensor import Tensor
from ..types import ExitProperty, Structure, TargetOrSource
from ..values.nest import flatten, pack_sequence_as


class ForwardTape(GradientTape):
    """The tape of an accumulator. This tape records the operations through which tangents are pushed forward.

    Attributes:
        owner: A weak reference to the accumulator.
    """

    _gives_gradients = False

    def __init__(self, owner: ForwardAccumulator):
        """Create a persistent tape that watches only the primals.

        Args:
            owner: The accumulator that the tape belongs to. The tape does not keep it alive.
        """
        super().__init__(persistent=True, watch_accessed_variables=False)
        self.owner = ref(owner)


class ForwardAccumulator:
    """Compute Jacobian-vector products of the operations in its block.

    ``jvp(y)`` is the derivative of ``y`` in the direction of the tangents. Accumulators can be nested, and can be used
    inside and around gradient tapes. See https://www.tensorflow.org/api_docs/python/tf/autodiff/ForwardAccumulator.

    Args:
        primals: A tensor, a variable, or a nested structure of them. Each may occur only once.
        tangents: A direction for each primal, in the structure of ``primals``. A tangent has the dtype of its primal
            and a shape that broadcasts to the primal's shape.

    Raises:
        ValueError: If a primal occurs twice, or the tangents do not match the primals.

    >>> import minitape as tf
    >>> x = tf.constant([2.0, 3.0])
    >>> with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
    ...     y = tf.reduce_sum(x * x)
    >>> print(acc.jvp(y))
    tf.Tensor(4.0, shape=(), dtype=float32)
    """

    def __init__(self, primals: Structure, tangents: Structure):
        """Create an accumulator for the operations in its ``with`` block.

        Args:
            primals: A tensor, a variable, or a nested structure of them.
            tangents: A direction for each primal, in the structure of ``primals``.

        Raises:
            ValueError: If a primal occurs twice, or the tangents do not match the primals.
        """
        self._primals = flatten(primals)
        self._tape = ForwardTape(self)
        self._outer_tapes: list[GradientTape] = []  # The tapes that were open when the block began.
        if len({id(primal) for primal in self._primals}) != len(self._primals):
            raise ValueError(
                "A tensor was specified as a primal multiple times. Pass it once, with the sum of its tangents."
            )
        flat_tangents = flatten(tangents)
        if len(flat_tangents) != len(self._primals):
            raise ValueError(
                f"Expected one tangent for each of the {len(self._primals)} primals, but got {len(flat_tangents)} "
                "tangents."
            )
        self._tangents = [
            _broadcast_tangent_to_primal(primal, convert_to_tensor(tangent, primal.dtype))
            for primal, tangent in zip(self._primals, flat_tangents, strict=True)
        ]

    def __enter__(self) -> ForwardAccumulator:
        """Start recording, and watch the primals.

        Returns:
            The accumulator itself.
        """
        self._tape.__enter__()
        self._outer_tapes = state.tapes[:-1]
        self._tape.watch([p for p in self._primals if p.dtype.differentiable])
        return self

    def _leave(self, *error: object) -> None:
        self._tape._leave(*error)
        self._exit_ref = None

    __exit__: ExitProperty = InterruptSafeExit(_leave, attrgetter("_tape.is_recording"))

    def jvp(self, primals: Structure, unconnected_gradients: Unconnected = NONE) -> Structure:
        """Compute the derivative of values in the direction of the tangents.

        Args:
            primals: The values to differentiate: a tensor, a variable, or a nested structure of them.
            unconnected_gradients: The result for a value that does not depend on any primal: "none" for None, or "zero"
                for zeros.

        Returns:
            A tensor or None for each value, in the structure of ``primals``. Each tensor has the shape and dtype of its
            value.

        Raises:
            ValueError: If ``unconnected_gradients`` is neither "none" nor "zero".

        >>> import minitape as tf
        >>> x = tf.constant([1.0, 2.0])
        >>> with tf.autodiff.ForwardAccumulator(x, tangents=tf.constant([1.0, 0.0])) as forward:
        ...     y = x * x
        >>> forward.jvp(y).numpy(), forward.jvp(tf.constant(1.0))
        (array([2., 0.], dtype=float32), None)
        """
        returns_zeros = should_return_zeros(unconnected_gradients)
        values = flatten(primals)
        primal_tangents = {id(primal): tangent for primal, tangent in zip(self._primals, self._tangents, strict=True)}
        # A primal has its own tangent, and a value without gradients has no tangent, so neither of them needs a row.
        rows = [
            find_rows_in_recording(self._tape, value)[-1:]
            if id(value) not in primal_tangents and value.dtype.differentiable
            else ()
            for value in values
        ]
        with self._record_only_on_outer_tapes():
            tangents_by_row = self._compute_tangents_by_row(
                {row: value for value, states in zip(values, rows, strict=True) for row in states}
            )
        tangents = [
            tangents_by_row.get(states[0]) if states else primal_tangents.get(id(value))
            for value, states in zip(values, rows, strict=True)
        ]
        if returns_zeros:
            tangents = replace_none_by_zeros(tangents, values)
        return pack_sequence_as(primals, tangents)

    @make_interrupt_safe_context_manager
    def _record_only_on_outer_tapes(self) -> Iterator[None]:
        """Let only the tapes that were opened outside the accumulator's block record the computation of tangents."""
        with ExitStack() as stack:
            for tape in [t for t in reversed(state.tapes) if t not in self._outer_tapes]:
                stack.enter_context(tape.stop_recording())
            for tape in self._outer_tapes:
                if not (tape.is_recording or tape.is_used or tape._is_paused):
                    stack.enter_context(tape)
            yield

    def _compute_tangents_by_row(self, values_by_row: dict[int, TargetOrSource]) -> dict[int, Tensor]:
        """Compute the tangents of values.

        Args:
            values_by_row: The values, keyed by row in the accumulator's recording.

        Returns:
            The tangents, keyed by row, each with the shape and dtype of its value. Rows that do not depend on any
            primal are missing.
        """
        tape = self._tape
        record = tape.record
        pairs = zip(self._primals, self._tangents, strict=True)
        tangents = {row: tangent for primal, tangent in pairs for row in find_rows_in_recording(tape, primal)}
        if not (values_by_row and tangents) or record is None:
            return {}
        reachable = mark_reachable_rows(tape, set(tangents))
        for row in tangents:
            # A primal is a source here, so no gradient passes through it.
            reachable[row] = ENDS_HERE if reachable[row] else 0
        values_by_row = {row: value for row, value in values_by_row.items() if reachable[row]}
        # The first sweep computes u·J. Its seeds u are zeros, because only the derivative with respect to u is needed.
        with GradientTape(watch_accessed_variables=False) as inner_tape:
            adjoints = {row: build_zeros_like_source(value) for row, value in values_by_row.items()}
            inner_tape.watch([*adjoints.values()])
            sweep = Sweep(record, adjoints, set(tangents), reachable, is_recorded=True)
            sweep.run_to_end()
            gradients = {row: g for row in tangents if (g := sweep.get_adjoint(row)) is not None}
        # The second sweep, with the tangents as seeds, computes J·tangent.
        tangent_seeds = [tangents[row] for row in gradients]
        pushed_tangents = compute_gradients(inner_tape, [*gradients.values()], [*adjoints.values()], tangent_seeds)
        return {row: tangent for row, tangent in zip(adjoints, pushed_tangents, strict=True) if tangent is not None}


def _broadcast_tangent_to_primal(primal: TargetOrSource, tangent: Tensor) -> Tensor:
    """Broadcast a tangent to the shape of its primal.

    Raises:
        ValueError: If the tangent cannot be broadcast to that shape.
    """
    primal_shape = tuple(primal.shape)
    if tangent.dims == primal_shape:
        return tangent
    try:
        broadcast_tangent: Tensor = TABLE["broadcast_to"](tangent, shape=primal_shape)
        return broadcast_tangent
    except ValueError:
        raise ValueError(
            f"The tangent has the shape {tangent.shape}, but it must broadcast to the shape {primal_shape} of its "
            "primal."
        ) from None
