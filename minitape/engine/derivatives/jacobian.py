"""Define ``GradientTape.jacobian`` and ``batch_jacobian``, which compute the gradient of each target element."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from sys import _getframe

import numpy as np
from numpy import ndarray

from ..backward.gradient import compute_gradients, find_differentiable_rows
from ..backward.reachability import mark_reachable_rows
from ..backward.sweep import Sweep
from ..backward.tape import GradientTape
from ..backward.targets_and_sources import (
    GradientRequest,
    find_rows_in_recording,
    should_return_zeros,
    unwrap_keras_variable,
)
from ..record.array_spec import ArraySpec
from ..record.provenance import find_user_place
from ..record.record import Record
from ..record.row_parts import Call
from ..record.thread_state import get_current_first_run, state
from ..table.primitives import TABLE
from ..table.primitives.reduce import unbroadcast
from ..tensor.tensor import wrap_array, wrap_array_with_origin
from ..types import (
    Adjoint,
    Adjoints,
    AdjointsByRow,
    Array,
    FunctionsByName,
    Object,
    OptionalNumber,
    Result,
    RowSequence,
    RowSet,
    Sizes,
    Structure,
    TargetOrSource,
    TargetsOrSources,
)
from ..values.nest import flatten, pack_sequence_as

MAX_KEPT_NUMBERS = 100_000  # For pictures, a tape keeps Jacobians with up to this many elements.


def jacobian(
    tape: GradientTape,
    target: TargetOrSource,
    sources: Structure,
    unconnected_gradients: object,
    parallel_iterations: OptionalNumber,
    use_pfor: bool,
) -> Structure:
    """Compute the derivative of each element of a target with respect to each element of the sources.

    Args:
        tape: The tape.
        target: A tensor or a variable, or an array, which no tape has recorded.
        sources: A nested structure of tensors and variables.
        unconnected_gradients: "none" or "zero", or a member of ``UnconnectedGradients``.
        parallel_iterations: Has no effect, but is checked.
        use_pfor: Has no effect, but is checked.

    Returns:
        A tensor of shape ``target.shape + source.shape`` or None for each source, in the structure of ``sources``.

    Raises:
        RuntimeError: If the tape was never entered or is used up, or if ``use_pfor`` is False and the tape is not
            persistent.
        ValueError: If ``parallel_iterations`` is too small, or ``unconnected_gradients`` is not "none" or "zero".
    """
    _begin_jacobian(tape, "jacobian", parallel_iterations, use_pfor)
    if isinstance(target, ndarray):
        target = wrap_array_with_origin(target)
    returns_zeros = should_return_zeros(unconnected_gradients)
    flat_sources = [unwrap_keras_variable(s) for s in flatten(sources)]
    shape = tuple(target.shape)
    count = prod(shape)
    sweep_count = count or 1  # An empty target also needs a sweep, to find out which sources are connected.
    seeds: ndarray = np.eye(sweep_count, dtype=target.dtype.as_numpy_dtype)[:, :count].reshape(sweep_count, *shape)
    stacked_gradients = _compute_stacked_gradients(tape, target, flat_sources, seeds)
    results: list[Result] = []
    for g, source in zip(stacked_gradients, flat_sources, strict=True):
        sizes = (*shape, *source.shape)
        if g is None and not returns_zeros:
            results.append(None)
        elif g is None or not count:
            results.append(_build_zeros(sizes, source))
        else:
            results.append(TABLE["reshape"](g, shape=sizes))
    _end_jacobian(tape, "jacobian", target, flat_sources, stacked_gradients, results)
    return pack_sequence_as(sources, results)


def batch_jacobian(
    tape: GradientTape,
    target: TargetOrSource,
    source: TargetOrSource,
    unconnected_gradients: object,
    parallel_iterations: OptionalNumber,
    use_pfor: bool,
) -> Result:
    """Compute the Jacobian of ``target[i]`` with respect to ``source[i]``, for each i.

    Args:
        tape: The tape.
        target: A tensor or a variable of shape [batch, ...] and rank 2 or more.
        source: A tensor or a variable of shape [batch, ...] and rank 2 or more.
        unconnected_gradients: "none" or "zero", or a member of ``UnconnectedGradients``. Zeros have the dtype of the
            target for "none", and the dtype of the source for "zero".
        parallel_iterations: Has no effect, but is checked.
        use_pfor: Has no effect, but is checked.

    Returns:
        A tensor of shape ``[batch] + target.shape[1:] + source.shape[1:]``. The Jacobian contains only zeros if the
        target does not depend on the source.

    Raises:
        RuntimeError: If the tape was never entered or is used up, or if ``use_pfor`` is False and the tape is not
            persistent.
        ValueError: If the batch axes differ, a rank is below 2, or another argument is invalid.
    """
    _begin_jacobian(tape, "batch_jacobian", parallel_iterations, use_pfor)
    source = unwrap_keras_variable(source)
    size, *target_sizes = tuple(target.shape) or (0,)
    if len(target.shape) < 2 or len(source.shape) < 2 or size != source.shape[0]:
        raise ValueError(
            f"Need first dimension of target shape ({target.shape}) and source shape ({source.shape}) to match; "
            "both must have rank at least 2."
        )
    count = prod(target_sizes)
    source_sizes = tuple(source.shape)[1:]
    seeds: ndarray = np.eye(count, dtype=target.dtype.as_numpy_dtype).reshape(count, 1, *target_sizes)
    (stacked_gradient,) = _compute_stacked_gradients(
        tape, target, [source], np.broadcast_to(seeds, (count, size, *target_sizes))
    )
    sizes = (size, *target_sizes, *source_sizes)
    if stacked_gradient is None:  # TensorFlow returns zeros even for "none".
        result = _build_zeros(sizes, source if should_return_zeros(unconnected_gradients) else target)
    else:
        order = (1, 0, *range(2, 2 + len(source_sizes)))
        result = TABLE["reshape"](TABLE["transpose"](stacked_gradient, perm=order), shape=sizes)
    _end_jacobian(tape, "batch_jacobian", target, [source], [stacked_gradient], [result])
    return result


def _begin_jacobian(tape: GradientTape, method_name: str, parallel_iterations: OptionalNumber, use_pfor: bool) -> None:
    if not (use_pfor or tape.is_persistent or tape.is_used):
        raise RuntimeError(
            f"GradientTape must be created with persistent=True to compute the {method_name} with "
            "experimental_use_pfor set to False."
        )
    if parallel_iterations is not None and parallel_iterations < 1 + use_pfor:
        raise ValueError(
            f"parallel_iterations={parallel_iterations!r}: expected None or an integer of at least {1 + use_pfor}."
        )
    tape._begin_gradient()


def _compute_stacked_gradients(
    tape: GradientTape, target: TargetOrSource, sources: TargetsOrSources, seeds: ndarray
) -> list[Result]:
    """Compute the gradients for a stack of seeds.

    Args:
        tape: The tape.
        target: A tensor or a variable.
        sources: The tensors and variables to differentiate with respect to.
        seeds: The adjoints that the target starts with, of shape (n, *target.shape).

    Returns:
        A tensor of shape (n, *source.shape) for each source, or None if the target does not depend on the source.
    """
    if not target.dtype.differentiable:
        return [None] * len(sources)
    if not state.tapes and get_current_first_run() is None:
        return _sweep_stacked_seeds(tape, target, sources, seeds)
    gradients_by_seed = [compute_gradients(tape, [target], sources, [wrap_array_with_origin(g[()])]) for g in seeds]
    return [
        None if not column or column[0] is None else TABLE["stack"](*column, axis=0)
        for column in ([row[k] for row in gradients_by_seed] for k in range(len(sources)))
    ]


def _sweep_stacked_seeds(
    tape: GradientTape, target: TargetOrSource, sources: TargetsOrSources, stacked_seeds: ndarray
) -> list[Result]:
    """Compute the gradients for a stack of seeds in a single sweep, without recording it.

    The arguments and the result are the same as for ``_compute_stacked_gradients``.
    """
    record = tape.record
    rows_by_source = [find_differentiable_rows(tape, source) for source in sources]
    target_rows = find_rows_in_recording(tape, target)[-1:]
    source_rows = {row for rows in rows_by_source for row in rows}
    if record is None or not (target_rows and source_rows):
        return [None] * len(sources)
    reachable = mark_reachable_rows(tape, source_rows)
    source_rows = {row for row in source_rows if reachable[row]}
    if not (source_rows and reachable[target_rows[0]] and len(stacked_seeds)):
        return [None] * len(sources)
    sweep = StackedSweep(record, {target_rows[0]: stacked_seeds}, source_rows, reachable)
    sweep.run_to_end()
    return [_add_up_adjoints(sweep, rows) for rows in rows_by_source]


def _add_up_adjoints(sweep: StackedSweep, rows: RowSequence) -> Result:
    """Add up the stacked adjoints of a source's rows.

    Args:
        sweep: A sweep that has ended.
        rows: The rows of the source.

    Returns:
        The sum as a tensor, or None if no row has an adjoint.
    """
    adjoints = [g for row in rows if (g := sweep.get_adjoint(row)) is not None]
    return wrap_array(sum(adjoints[1:], adjoints[0])) if adjoints else None


class StackedSweep(Sweep):
    """A sweep that propagates many adjoints of one target at once.

    Each row has a stack of adjoints, along an additional first axis. The rules in the table of derivatives broadcast
    over that axis. So do the rules of ``STACKABLE_PRIMITIVES``, once their attributes have been shifted by one axis.
    All other rules are called separately for each adjoint in the stack.

    Attributes:
        seed_count: The number of adjoints in each stack.
    """

    def __init__(self, record: Record, seeds: dict[int, ndarray], sources: RowSet, reachable: bytearray):
        """Prepare a sweep from one target. Its seed is a stack of adjoints, of shape (n, *target.shape)."""
        super().__init__(record, seeds, sources, reachable)
        self.seed_count = len(next(iter(seeds.values())))

    def compute_shares(
        self, call: Call, g: Adjoint, z: Adjoint, inputs: Sequence[Adjoint], positions: list[int]
    ) -> AdjointsByRow:
        """Compute stacks of shares, like :meth:`Sweep.compute_shares`.

        Args:
            call: The call whose primitive provides the rules.
            g: The stack of adjoints, of shape (n, *output.shape). If the call has several outputs, a list of stacks.
            z: The value of the output, without the additional axis. If the call has several outputs, a list of values.
            inputs: The values of the inputs, without the additional axis.
            positions: The positions of the inputs that need a share.

        Returns:
            The shares, keyed by position, with shape (n, *input.shape).
        """
        primitive = call.primitive
        count = self.seed_count
        if primitive.code:
            rules: Object = self.find_rules_for_value(primitive, g)
            wide_shares = {i: rules[i](g, z, *inputs) for i in positions if rules[i] is not None}
            return {i: _sum_stacked_shares_to_input(share, inputs[i], count) for i, share in wide_shares.items()}
        if primitive.name in STACKABLE_PRIMITIVES and len({x.ndim for x in inputs}) == 1:
            rank = inputs[0].ndim
            attrs = {
                name: _ATTRIBUTE_SHIFTS[name](value, rank) if name in _ATTRIBUTE_SHIFTS else value
                for name, value in call.attrs.items()
            }
            shifted_call = Call(call.row, primitive, call.inputs, attrs, call.outputs)
            stacked_z = z if type(z) is list else _broadcast_along_stack_axis(z, count)
            stacked_inputs = [_broadcast_along_stack_axis(x, count) for x in inputs]
            return super().compute_shares(shifted_call, g, stacked_z, stacked_inputs, positions)
        shares_by_seed = [
            super(StackedSweep, self).compute_shares(call, adjoint, z, inputs, positions)
            for adjoint in (g if call.outputs == 1 else zip(*g, strict=True))
        ]
        return {i: np.stack([shares[i] for shares in shares_by_seed]) for i in shares_by_seed[0]}

    def build_zero_adjoint(self, row: int) -> Adjoint:
        """Return a stack of zeros as the adjoint of an output that the target does not depend on.

        Args:
            row: The row of the output.
        """
        shape, dtype = self.record.get_shape_and_dtype(row)
        return np.zeros((self.seed_count, *shape), dtype)


def _broadcast_along_stack_axis(value: Array, seed_count: int) -> ndarray:
    """Return a view that repeats a value along an additional first axis, once for each adjoint."""
    array = value.zeros if type(value) is ArraySpec else value
    if not array.flags.c_contiguous:
        return np.broadcast_to(array, (seed_count, *array.shape))
    # The constructor takes only a fifth as long as broadcast_to.
    return ndarray((seed_count, *array.shape), array.dtype, array, 0, (0, *array.strides))


def _sum_stacked_shares_to_input(stacked_share: Array, input_value: Array, seed_count: int) -> Array:
    """Sum each share in a stack down to the shape of its input.

    Args:
        stacked_share: The stacked shares, of shape (seed_count, *shape), where shape is the input's shape after
            broadcasting.
        input_value: The value of the input.
        seed_count: The number of shares.

    Returns:
        An array of shape (seed_count, *input.shape), in the dtype of the input.
    """
    summed = unbroadcast(
        stacked_share, (seed_count, *(1,) * (stacked_share.ndim - 1 - input_value.ndim), *input_value.shape)
    )
    return summed.reshape(seed_count, *input_value.shape).astype(input_value.dtype, copy=False)


STACKABLE_PRIMITIVES = frozenset(
    "cast concat log_softmax matmul reduce_max reduce_mean reduce_min reduce_sum reshape select slice softmax "
    "softmax_cross_entropy split stack transpose unstack".split()
)


def _shift_axis_past_stack_axis(axis: int | Sizes | None, rank: int) -> int | Sizes:
    if isinstance(axis, int):
        return axis + 1 if axis >= 0 else axis
    axes = range(rank) if axis is None else axis
    return tuple([a + 1 if a >= 0 else a for a in axes])


# For each attribute that depends on the positions of axes, a function that adapts it to an additional first axis.
_ATTRIBUTE_SHIFTS: FunctionsByName = {
    "axis": _shift_axis_past_stack_axis,
    "perm": lambda perm, rank: (0, *[p % rank + 1 for p in perm]),
    "spec": lambda spec, rank: (slice(None), *spec),
}


def _end_jacobian(
    tape: GradientTape,
    method_name: str,
    target: TargetOrSource,
    sources: TargetsOrSources,
    gradients: Adjoints,
    results: list[Result],
) -> None:
    """Finish the call, as ``gradient`` does, and store its results for pictures unless they are very large."""
    results = [None if result is None or prod(tuple(result.shape)) > MAX_KEPT_NUMBERS else result for result in results]
    tape.last_request = GradientRequest([target], sources, [None], [g is None for g in gradients], method_name, results)
    tape._end_gradient(find_user_place(_getframe()))


def _build_zeros(shape: Sizes, like: TargetOrSource) -> Result:
    return wrap_array_with_origin(np.zeros(shape, like.dtype.as_numpy_dtype))
