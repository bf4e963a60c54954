"""Targets, sources and output gradients as they may be given, and the structure in which gradients come back."""

from __future__ import annotations

import math
from enum import Enum
from operator import is_
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ..hooks import hooks
from ..recording.state import state
from ..table.accelerator import full
from ..table.primitives import TABLE
from ..table.primitives.reduce import unbroadcast
from ..tensor.convert import convert_to_tensor
from ..tensor.operation import check_broadcast
from ..tensor.tensor import EagerTensor, Tensor, new_tensor
from ..tensor.variable import ResourceVariable
from ..values import nest
from ..values.invalid import invalid, mismatch

if TYPE_CHECKING:
    from ..types import Adjoint, End, Object, Result, Structure
    from .tape import GradientTape

END_TYPES = {EagerTensor, ResourceVariable}  # sources that are no structure
ONE: dict[Object, Adjoint] = {kind: kind(1) for kind in (np.float32, np.float64)}


class UnconnectedGradients(Enum):
    """The gradient of a source that the target does not depend on: None or zeros.

    >>> import minitape as tf
    >>> tf.UnconnectedGradients.ZERO.value
    'zero'
    """

    NONE = "none"
    ZERO = "zero"


NONE = UnconnectedGradients.NONE  # an enumeration looks its members up slowly
Unconnected: TypeAlias = UnconnectedGradients | str


class GradientQuestion(NamedTuple):
    """One call for gradients: targets, sources, and what the call returned."""

    targets: list[End]
    sources: list[End]
    output_gradients: list[Adjoint]
    nones: list[bool]  # which gradients were None
    call: str  # the method's name
    results: list[Result]  # what a Jacobian's call returned


def no_tensor(value: Object) -> Exception:
    """The error for a target or a source that is no tensor."""
    kind = TypeError if isinstance(value, str) else AttributeError
    return hooks.why_no_tensor(kind(f"{type(value).__name__!r} object has no attribute '_id'"), value)


def wants_zeros(unconnected_gradients: object) -> bool:
    """True for "zero", False for "none"; ValueError otherwise."""
    try:
        return UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {unconnected_gradients!r}") from None


def output_adjoints(output_gradients: Structure, count: int) -> list[Adjoint]:
    """The adjoints that the user gives to the targets; missing ones are ones, superfluous ones are left over."""
    given = nest.flatten(output_gradients)[:count]
    made = [g if hasattr(g, "_gradient_end") else convert_to_tensor(g) for g in given]  # ValueError for None
    return [*map(gradient_end, made)] + [None] * (count - len(given))


def rows_of(tape: GradientTape, value: End) -> tuple[int, ...]:
    """The rows that hold a tensor, or the states of a variable, in a recording; TensorFlow's error for others."""
    if type(value) is EagerTensor:
        if (record := tape._record) is None or (row := record.find(value)) is None:
            return ()
        leaf = record.leaf_rows.get(id(value), row)  # also where it was used before the tape that made it came here
        return (row,) if leaf == row or record.leaves[leaf].tensor is not value else (leaf, row)
    if not hasattr(value, "_tape_rows"):
        raise no_tensor(value)
    found: tuple[int, ...] = value._tape_rows(tape)
    return found


def gradient_end(value: End) -> End:
    """The variable inside of a variable of Keras; else ``value``."""
    return value if type(value) is EagerTensor or not hasattr(value, "_gradient_end") else value._gradient_end()


def ends_of(structure: Structure) -> tuple[list[End], list[End]]:
    """The values in a structure of targets or sources, and those that carry their gradients: mostly one list."""
    values = nest.flatten(structure)
    for value in values:
        if type(value) not in END_TYPES and hasattr(value, "_gradient_end"):
            return values, [gradient_end(v) for v in values]
    return values, values


def targets_of(structure: Structure) -> list[End]:
    """The values that carry the gradients of a structure of targets; TypeError for None."""
    if structure is None:
        raise hooks.why_none(
            TypeError(
                "Argument `target` should be a list or nested structure of Tensors, Variables or CompositeTensors to "
                "be differentiated, but received None."
            )
        )
    return ends_of(structure)[1]


def pack_like(structure: Structure, values: list[End], gradients: list[Result]) -> Structure:
    """The gradients of ``values``, which are what is in the structure, in the same structure."""
    if type(structure) is list:
        if len(structure) == len(values) and all(map(is_, structure, values)):
            return gradients
    elif values and structure is values[0]:
        return gradients[0]
    return nest.pack_sequence_as(structure, gradients)


# -- what targets start with, and sources without a path ------------------------------------------------


def first_adjoint(target: End, given: Adjoint, recorded: bool) -> Adjoint:
    """The adjoint that a target starts with: ones, or what the user gave."""
    if given is None:
        if type(target) is EagerTensor:
            value = target._value
            one = full(value.shape, value.dtype, 1) if value.shape else ONE.get(value.dtype.type) or value.dtype.type(1)
        else:
            one = full(tuple(target.shape), target.dtype.as_numpy_dtype, 1)[()]
        return new_tensor(one) if recorded else one
    if not isinstance(given, Tensor):  # an array of a picture's, in the shape of the target
        return given
    if given.dtype is not target.dtype:
        raise mismatch("Mul", 1, given.dtype.kernel_name, target.dtype)
    if given.shape != target.shape:
        check_broadcast("Mul", given, target)
        have, wanted = given.shape, target.shape
        if math.prod(np.broadcast_shapes(*map(tuple, (have, wanted)))) != wanted.num_elements():
            raise invalid(f"An output gradient of the shape {have} is larger than its target, {wanted}.")
    return given if recorded else unbroadcast(given.array, tuple(target.shape))


def adjoint_as_target(source: End, targets: list[End], output_gradients: list[Adjoint]) -> Result:
    """The gradient of a source at whose rows nothing has arrived: None, but where it is itself a target."""
    base = getattr(source, "_base", source)
    parts = [
        first_adjoint(target, None, True) if given is None else given
        for target, given in zip(targets, output_gradients, strict=True)
        if (target is source or getattr(target, "_base", target) is base) and source.dtype.kind != "s"
    ]
    return (parts[0] if len(parts) == 1 else TABLE["add_n"](*map(convert_to_tensor, parts))) if parts else None


def unconnected_zeros(source: End) -> Tensor:
    """The zeros for a source without a gradient (``unconnected_gradients``); open tapes record them."""
    value = source._read() if hasattr(source, "_read") else source  # which tapes count as an access
    if state.tapes and type(value) is EagerTensor:
        return TABLE["zeros_like"](value)
    return zeros_of(source)


def results_of(gradients: list[Result], ends: list[End], values: list[End], zero: bool) -> list[Result]:
    """The gradients as the user gets them: with zeros for None where that is asked, composite as their sources are."""
    found = [unconnected_zeros(s) if g is None and zero else g for g, s in zip(gradients, ends, strict=True)]
    return [g if e is v or g is None else v._like_gradient(g) for g, e, v in zip(found, ends, values, strict=True)]


def zeros_of(source: End) -> Tensor:
    """Zeros in the shape and dtype of a source, which no tape knows."""
    value: Object = getattr(source, "_state", source)  # whose shape is known, also where the variable's is not
    return new_tensor(np.zeros(tuple(value.shape), source.dtype.as_numpy_dtype))
