"""``tf.autodiff.ForwardAccumulator``: Jacobian-vector products, from the rules that reverse mode has.

The gradient of y with respect to x is u·J, where u is the adjoint that y starts with: it is linear in u. Its own
gradient with respect to u, with a tangent as the adjoint to start with, is J·tangent. So forward mode is two sweeps
back.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from ..back.backward import gradients_of
from ..back.endpoints import UnconnectedGradients, unconnected_zeros, zeros_of
from ..back.reach import TERMINAL, on_tape, reachable_rows
from ..back.sweep import Sweep
from ..back.tape import GradientTape
from ..recording.block import InterruptSafeExit, block
from ..recording.logs import log_first_n
from ..recording.record import Record
from ..recording.state import state
from ..table.primitives import TABLE
from ..tensor.convert import convert_to_tensor
from ..tensor.tensor import Tensor, new_tensor
from ..values import nest

if TYPE_CHECKING:
    from ..types import End, Leaving, Object, Structure, Value


class ForwardTape(GradientTape):
    """The tape of an accumulator: it records what the accumulator will follow."""

    backward = False

    def __init__(self, owner: ForwardAccumulator) -> None:
        super().__init__(persistent=True, watch_accessed_variables=False)
        self.owner = weakref.ref(owner)


def follow_custom(results: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
    """Tells the accumulators of this thread that a custom gradient is between ``results`` and ``outputs``.

    What TensorFlow does, we do: the tangents of the operations inside win, and the custom gradient, which is asked at
    once, counts only where those have none.
    """
    for tape in [t for t in state.tapes if isinstance(t, ForwardTape)]:
        accumulator = tape.owner()
        if accumulator is not None:
            accumulator._follow(results, outputs)


class ForwardAccumulator:
    """Computes Jacobian-vector products of what runs in its block: ``jvp(y)`` is the derivative in a direction.

    ``tangents`` has the structure, shapes and dtypes of ``primals``; raises ValueError when a primal is given twice.
    Accumulators nest, and work inside and around gradient tapes.
    See https://www.tensorflow.org/api_docs/python/tf/autodiff/ForwardAccumulator.

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
            raise ValueError(
                "Tensor {} was specified as a primal multiple times. This may indicate an error. If it was intended, "
                "please sum the corresponding tangents."
            )
        nest.assert_same_structure(primals, tangents)
        self._tangents = [_tangent(p, t) for p, t in zip(self._primals, nest.flatten(tangents), strict=True)]

    def __enter__(self) -> ForwardAccumulator:
        if self._tape._recording:
            raise ValueError("Accumulator is already recording.")
        self._outer = list(state.tapes)
        try:
            self._tape.__enter__()
            self._tape.watch([p for p in self._primals if p.dtype.differentiable])
            return self
        except BaseException:  # Ctrl-C, say
            self._tape._leave(None, None, None)
            raise

    def _leave(self, *error: object) -> None:
        self._tape._leave(*error)
        self._held = None

    __exit__: Leaving = InterruptSafeExit(_leave, attrgetter("_tape._entered"))

    @block
    def _as_inside(self) -> Iterator[None]:
        """Tangents belong to the block: tapes around it record them whenever they are asked for, no others do."""
        with contextlib.ExitStack() as stack:
            for tape in [t for t in reversed(state.tapes) if t not in self._outer]:
                stack.enter_context(tape.stop_recording())
            for tape in self._outer:
                if not tape._recording and not tape._used:
                    stack.enter_context(tape)
            yield

    def jvp(self, primals: Structure, unconnected_gradients: object = UnconnectedGradients.NONE) -> Structure:
        """The derivative of each of ``primals`` in the direction of the tangents; None where they make no difference.

        >>> import minitape as tf
        >>> x = tf.constant([1.0, 2.0])
        >>> with tf.autodiff.ForwardAccumulator(x, tangents=tf.constant([1.0, 0.0])) as forward:
        ...     y = x * x
        >>> forward.jvp(y).numpy(), forward.jvp(tf.constant(1.0))
        (array([2., 0.], dtype=float32), None)
        """
        zero = UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
        leaves = nest.flatten(primals)
        for value in leaves:
            if not isinstance(value, Tensor) and not hasattr(value, "_tape_rows"):
                raise AttributeError(f"{type(value).__name__!r} object has no attribute '_id'")
        found = self._tangents_of(leaves)
        if zero:
            found = [unconnected_zeros(v) if t is None else t for v, t in zip(leaves, found, strict=True)]
        return nest.pack_sequence_as(primals, found)

    def _tangents_of(self, values: Sequence[End]) -> list[Tensor | None]:
        """The tangents of tensors and variables; None where there is none."""
        given = {id(p): t for p, t in zip(self._primals, self._tangents, strict=True)}
        rows = [self._tape._rows_of(v)[-1:] if id(v) not in given and v.dtype.differentiable else () for v in values]
        asked = {row: v for v, states in zip(values, rows, strict=True) for row in states}
        pushed: dict[int, Tensor] = {}
        if asked:
            from .pyfunction import look_only

            with self._as_inside(), look_only():  # a Python function may be asked for its gradient again
                pushed = self._push(asked)
                for row in pushed:
                    pushed[row] = self._known_outside(asked[row], pushed[row])
        return [pushed.get(states[0]) if states else given.get(id(v)) for v, states in zip(values, rows, strict=True)]

    def _known_outside(self, value: End, tangent: Tensor) -> Tensor:
        """The tangent of a value, as the accumulators around this one know it: TensorFlow computes it from the value's
        inputs, too, so that where those have a tangent this one has, if only zeros.
        """
        for tape in self._outer:
            accumulator = tape.owner() if isinstance(tape, ForwardTape) else None
            record = tape._record
            if accumulator is None or type(record) is not Record:
                continue
            on = on_tape(tape)
            if any(on[row] for row in tape._rows_of(value)) and accumulator._tangents_of([tangent]) == [None]:
                if any(tangent is given for given in self._tangents):
                    tangent = TABLE["identity"](tangent)
                accumulator._primals.append(tangent)
                accumulator._tangents.append(zeros_of(tangent))
                tape._watch_row(record.row_or_new_leaf(tangent))
        return tangent

    def _push(self, asked: dict[int, End]) -> dict[int, Tensor]:
        """The tangents of values, by row; none for one that depends on no primal."""
        tape, record = self._tape, self._tape._record
        assert record is not None
        given = zip(self._primals, self._tangents, strict=True)
        tangents = {row: _fit_tangent(p, t) for p, t in given for row in tape._rows_of(p)}
        if not tangents:
            return {}
        reachable = reachable_rows(tape, set(tangents))
        if reachable is not None:
            asked = {row: value for row, value in asked.items() if reachable[row]}
            for row in tangents:
                reachable[row] = TERMINAL if reachable[row] else 0  # nothing comes from further back
        tangents = _hidden_zeros(record, tangents, reachable) | tangents
        with GradientTape(watch_accessed_variables=False) as inner:
            adjoints = {row: zeros_of(value) for row, value in asked.items()}
            inner.watch(list(adjoints.values()))
            sweep = Sweep(record, adjoints, set(tangents), reachable, recorded=True)
            sweep.run()
            ends = {row: g for row in tangents if (g := sweep.adjoint(row)) is not None}
        starts = [tangents[row] for row in ends]
        found = gradients_of(inner, list(ends.values()), list(adjoints.values()), starts)
        return {row: t for row, t in zip(adjoints, found, strict=True) if t is not None}

    def _follow(self, results: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        """Takes over the tangents of a function with a custom gradient, see :func:`follow_custom`."""
        inside, by_gradient = self._tangents_of(results), self._tangents_of(outputs)
        for output, tangent, other in zip(outputs, inside, by_gradient, strict=True):
            if tangent is None and other is not None:
                tangent = other
            if tangent is not None:
                self._primals.append(output)
                self._tangents.append(tangent)
                assert self._tape._record is not None
                self._tape._watch_row(self._tape._record.row_or_new_leaf(output))


def _tangent(primal: End, tangent: Value) -> Tensor:
    if not primal.dtype.is_floating:
        log_first_n(
            f"primal {primal.dtype!r}",
            f"The dtype of the watched primal must be floating (e.g. tf.float32), got {primal.dtype!r}",
        )
    return convert_to_tensor(tangent, primal.dtype)


def _fit_tangent(primal: End, tangent: Tensor) -> Tensor:
    """The tangent in the shape of its primal; ValueError for one that cannot be broadcast, as TensorFlow raises for
    most of them.
    """
    have, wanted = tangent.shape, primal.shape
    if have == wanted or not (have.is_fully_defined() and wanted.is_fully_defined()):
        return tangent
    a, b = have.as_list(), wanted.as_list()
    if len(a) > len(b) or any(m not in (1, n) for m, n in zip(reversed(a), reversed(b), strict=False)):
        raise ValueError(
            f"The tangent has the shape {have}, which does not broadcast to the shape {wanted} of its primal."
        )
    return TABLE["broadcast_to"](tangent, shape=tuple(b))


def _hidden_zeros(record: Record, tangents: dict[int, Tensor], reachable: bytearray | None) -> dict[int, Tensor]:
    """Zeros for outputs of functions of which TensorFlow cannot see that they do not depend on the primals."""
    zeros: dict[int, Tensor] = {}
    for call in record.calls:
        custom = call.primitive.name == "custom_gradient"
        recording: Object = call.attrs.get("recording")
        if custom or recording is not None:
            pushed = any(row in tangents if reachable is None else reachable[row] for row in call.inputs)
            for at in range(call.outputs if pushed else 0):
                if custom or recording.trace.varies(recording.results[at]):
                    zeros[call.row + at] = new_tensor(np.zeros(*record.shape_dtype(call.row + at)))
    return zeros
