"""Elements in another order along an axis: reverse, reverse_sequence, roll."""

from __future__ import annotations

from typing import Any

from ..engine.invalid import at_run, invalid
from ..engine.operands import generated, integers, static, strict, tensor_of
from ..engine.operation import apply
from ..engine.primitives import TABLE
from ..engine.tensor import Tensor
from .arrays import identity


@generated("reverse_v2")
def reverse(tensor: Any, axis: Any, name: str | None = None) -> Tensor:
    """The order of the elements reversed along each of the axes in a list. Differentiable.

    The result has the shape and dtype of the tensor. InvalidArgumentError for an axis that is not there or comes twice.

    >>> import minitape as tf
    >>> tf.reverse([1, 2, 3], [0]).numpy()
    array([3, 2, 1], dtype=int32)
    """
    if isinstance(axis, float):
        raise TypeError(f"Cannot convert {axis!r} to EagerTensor of dtype int32")
    x, axes = tensor_of(tensor), integers(axis, "ReverseV2", "Tidx")
    if x.ndim == 0 or x.shape.num_elements() == 0:
        return identity(x)
    if axes.ndim != 1:
        raise invalid(f"'dims' must be 1-dimension, not {axes.ndim}", "ReverseV2")
    places: list[int] = []
    for i, a in enumerate(axes.tolist()):
        if not -x.ndim <= a < x.ndim:
            raise invalid(f"'axis'[{i}] = {a} is out of valid range [0, {x.ndim - 1}", "ReverseV2")
        if a % x.ndim in places:
            raise invalid(f"axis {a % x.ndim} specified more than once.", "ReverseV2")
        places.append(a % x.ndim)
    return apply(TABLE["reverse"], (x,), {"axis": tuple(places)})


@strict
def reverse_sequence(
    input: Any, seq_lengths: Any, seq_axis: Any = None, batch_axis: Any = None, name: str | None = None
) -> Tensor:
    """Reverses the first ``seq_lengths[i]`` elements along ``seq_axis`` of batch element i. Differentiable.

    >>> import minitape as tf
    >>> tf.reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1).numpy()
    array([[2, 1, 3],
           [6, 5, 4]], dtype=int32)
    """
    x, lengths = tensor_of(input), integers(seq_lengths, "ReverseSequence", "Tlen")
    if seq_axis is None:
        raise TypeError("Expected int for argument 'seq_dim' not None.")
    seq, batch = (0 if a is None else int(static(a)) for a in (seq_axis, batch_axis))
    if seq == batch:
        raise invalid(f"batch_dim == seq_dim == {seq}", "ReverseSequence")
    if lengths.ndim != 1:
        raise invalid(f"seq_lengths must be 1-dim, not {lengths.ndim}", "ReverseSequence")
    for label, axis in (("seq_dim", seq), ("batch_dim", batch)):
        if axis >= x.ndim:
            raise invalid(f"{label} must be < input rank ( {axis} vs. {x.ndim})", "ReverseSequence")
        if axis < 0:
            raise invalid(f"Invalid {label} {axis}", "ReverseSequence")
    if x.shape[batch] not in (None, len(lengths)):
        raise invalid(
            f"Length of seq_lengths != input.dims({batch}), ({len(lengths)} vs. {x.shape[batch]})", "ReverseSequence"
        )
    for n in lengths.tolist():
        if n < 0 or (x.shape[seq] is not None and n > x.shape[seq]):
            raise invalid(f"seq_lens({lengths.tolist().index(n)}) < 0" if n < 0 else
                          f"seq_lens({lengths.tolist().index(n)}) > input.dims({seq})", "ReverseSequence")  # fmt: skip
    return apply(
        TABLE["reverse_sequence"], (x,), {"lengths": tuple(lengths.tolist()), "seq_axis": seq, "batch_axis": batch}
    )


@strict
def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Tensor:
    """The elements moved on by ``shift`` places along an axis (or several); what leaves at the end enters at the front.

    Differentiable.

    >>> import minitape as tf
    >>> tf.roll([1, 2, 3, 4], 1, 0).numpy()
    array([4, 1, 2, 3], dtype=int32)
    """
    x, shifts, axes = tensor_of(input), integers(shift, "Roll", "Tshift"), integers(axis, "Roll", "Taxis")
    if x.ndim == 0:
        raise invalid("input must be 1-D or higher", "Roll")
    if shifts.shape != axes.shape:
        raise invalid("shift and axis must have the same size", "Roll")
    for a in axes.reshape(-1):
        if not -x.ndim <= a < x.ndim:
            raise at_run(f"axis {a} is out of range", "Roll")
    return apply(TABLE["roll"], (x,), {"shift": tuple(int(s) for s in shifts.reshape(-1)),
                                       "axis": tuple(int(a) % x.ndim for a in axes.reshape(-1))})  # fmt: skip
