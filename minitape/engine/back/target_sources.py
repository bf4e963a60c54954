"""Targets that are sources themselves, and output gradients that no operation receives: what TensorFlow answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..recording.record import Record
from ..recording.rows import operation_of
from ..table.primitives import TABLE
from ..tensor.convert import convert_to_tensor
from ..tensor.tensor import Tensor, new_tensor
from .endpoints import NO_ADJOINT, first_adjoint, reads_target
from .reach import on_tape

if TYPE_CHECKING:
    from ..types import Adjoint, End, Result
    from .tape import GradientTape


def passes(tape: GradientTape, target: End, row: int, output_gradients: list[Adjoint], at: int) -> bool:
    """Whether an output gradient that is None, or unlike its target, meets no operation, so that it is the gradient.

    ValueError for None where an operation would receive it.
    """
    record, given = tape._record, output_gradients[at]
    if given is not NO_ADJOINT and (
        type(record) is not Record
        or not isinstance(given, Tensor)
        or (given.dtype is target.dtype and given.shape == target.shape)
    ):
        return False
    assert record is not None
    received = row not in record.leaves and on_tape(tape)[row]
    if received and given is NO_ADJOINT:
        raise ValueError("Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor.")
    return not received


def as_target(
    tape: GradientTape,
    source: End,
    targets: list[End],
    output_gradients: list[Adjoint],
    rows: Sequence[int],
    starts: dict[int, Adjoint],
) -> Result:
    """A source at whose ``rows`` nothing has arrived has a gradient only where it is itself a target."""
    if source.dtype.kind == "s":
        return None
    parts: list[Result] = []
    for target, given in zip(targets, output_gradients, strict=True):
        if given is not NO_ADJOINT and (
            target is source or getattr(target, "_base", target) is getattr(source, "_base", source)
        ):
            if given is not None and not isinstance(given, Tensor):
                parts = [new_tensor(given.data)] if reads_target(tape, target) else []  # a Jacobian's
                break
            parts.append(first_adjoint(target, None, True) if given is None else given)
    return None if not parts or _is_read(tape, source, rows, starts) else add_n(parts)


def _is_read(tape: GradientTape, source: End, rows: Sequence[int], starts: dict[int, Adjoint]) -> bool:
    """Whether an operation of the tape that leads to a target reads a tensor that is not watched: TensorFlow drops what
    has arrived there, also where it is a target itself.
    """
    record = tape._record
    if not rows or not starts or type(record) is not Record or not isinstance(source, Tensor):
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


def add_n(gradients: list[Result]) -> Result:
    """The sum of gradients; InvalidArgumentError for unlike dtypes or shapes."""
    return gradients[0] if len(gradients) == 1 else TABLE["add_n"](*map(convert_to_tensor, gradients))
