"""Targets, sources and output gradients as they may be given, and the structure in which gradients come back."""

from __future__ import annotations

import math
from enum import Enum
from operator import is_
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ..hooks import hooks
from ..record.thread_state import state
from ..table.accelerator import create_filled_array
from ..table.primitives import TABLE
from ..table.primitives.reduce import unbroadcast
from ..tensor.conversion import convert_to_tensor
from ..tensor.operation import check_broadcast
from ..tensor.tensor import EagerTensor, Tensor, create_tensor
from ..tensor.variable import ResourceVariable
from ..values import nest
from ..values.argument_errors import build_argument_error, build_dtype_error

if TYPE_CHECKING:
    from ..types import Adjoint, Object, Result, Structure, TargetOrSource
    from .tape import GradientTape

PLAIN_SOURCE_TYPES = {EagerTensor, ResourceVariable}  # sources that are no structure
ONE_BY_TYPE: dict[Object, Adjoint] = {kind: kind(1) for kind in (np.float32, np.float64)}


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


class GradientRequest(NamedTuple):
    """One call for gradients: targets, sources, and what the call returned."""

    targets: list[TargetOrSource]
    sources: list[TargetOrSource]
    output_gradients: list[Adjoint]
    is_none: list[bool]  # which gradients were None
    method: str  # the method's name
    results: list[Result]  # what a Jacobian's call returned


def build_no_tensor_error(value: Object) -> Exception:
    """Build the error for a target or a source that is no tensor."""
    error_class = TypeError if isinstance(value, str) else AttributeError
    return hooks.add_non_tensor_note(error_class(f"{type(value).__name__!r} object has no attribute '_id'"), value)


def should_return_zeros(unconnected_gradients: object) -> bool:
    """Return True for "zero", False for "none"; ValueError otherwise."""
    try:
        return UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {unconnected_gradients!r}") from None


def convert_output_gradients(output_gradients: Structure, target_count: int) -> list[Adjoint]:
    """Return the adjoint that the user gives to each target: None for missing ones, without superfluous ones."""
    flat_gradients = nest.flatten(output_gradients)[:target_count]
    tensors = [
        g if hasattr(g, "_gradient_end") else convert_to_tensor(g) for g in flat_gradients
    ]  # ValueError for None
    return [*map(unwrap_keras_variable, tensors)] + [None] * (target_count - len(flat_gradients))


def find_rows_of_value(tape: GradientTape, value: TargetOrSource) -> tuple[int, ...]:
    """Find the rows that hold a tensor, or the states of a variable, in a tape's recording; TensorFlow's error for
    others.
    """
    if type(value) is EagerTensor:
        if (record := tape._record) is None or (row := record.find_row(value)) is None:
            return ()
        leaf_row = record.leaf_rows.get(id(value), row)  # also where it was used before the tape that made it came here
        return (row,) if leaf_row == row or record.leaves[leaf_row].tensor is not value else (leaf_row, row)
    if not hasattr(value, "_find_tape_rows"):
        raise build_no_tensor_error(value)
    rows: tuple[int, ...] = value._find_tape_rows(tape)
    return rows


def unwrap_keras_variable(value: TargetOrSource) -> TargetOrSource:
    """Return the variable inside of a variable of Keras; else ``value``."""
    return value if type(value) is EagerTensor or not hasattr(value, "_gradient_end") else value._gradient_end()


def flatten_with_gradient_carriers(structure: Structure) -> tuple[list[TargetOrSource], list[TargetOrSource]]:
    """Return the values in a structure of targets or sources, and those that carry their gradients: mostly one list."""
    values = nest.flatten(structure)
    for value in values:
        if type(value) not in PLAIN_SOURCE_TYPES and hasattr(value, "_gradient_end"):
            return values, [unwrap_keras_variable(item) for item in values]
    return values, values


def flatten_targets(structure: Structure) -> list[TargetOrSource]:
    """Return the values that carry the gradients of a structure of targets; TypeError for None."""
    if structure is None:
        raise hooks.add_none_reasons(
            TypeError(
                "Argument `target` should be a list or nested structure of Tensors, Variables or CompositeTensors to "
                "be differentiated, but received None."
            )
        )
    return flatten_with_gradient_carriers(structure)[1]


def pack_gradients_like(structure: Structure, values: list[TargetOrSource], gradients: list[Result]) -> Structure:
    """Pack the gradients of ``values``, which are what is in the structure, into the same structure."""
    if type(structure) is list:
        if len(structure) == len(values) and all(map(is_, structure, values)):
            return gradients
    elif values and structure is values[0]:
        return gradients[0]
    return nest.pack_sequence_as(structure, gradients)


# -- what targets start with, and sources without a path ------------------------------------------------


def build_seed(target: TargetOrSource, output_gradient: Adjoint, is_recorded: bool) -> Adjoint:
    """Build the adjoint that a target starts with: ones, or what the user gave."""
    if output_gradient is None:
        if type(target) is EagerTensor:
            value = target._value
            ones = (
                create_filled_array(value.shape, value.dtype, 1)
                if value.shape
                else ONE_BY_TYPE.get(value.dtype.type) or value.dtype.type(1)
            )
        else:
            ones = create_filled_array(tuple(target.shape), target.dtype.as_numpy_dtype, 1)[()]
        return create_tensor(ones) if is_recorded else ones
    if not isinstance(output_gradient, Tensor):  # an array of a picture's, in the shape of the target
        return output_gradient
    if output_gradient.dtype is not target.dtype:
        raise build_dtype_error("Mul", 1, output_gradient.dtype.kernel_name, target.dtype)
    if output_gradient.shape != target.shape:
        check_broadcast("Mul", output_gradient, target)
        gradient_shape, target_shape = output_gradient.shape, target.shape
        if math.prod(np.broadcast_shapes(*map(tuple, (gradient_shape, target_shape)))) != target_shape.num_elements():
            raise build_argument_error(
                f"An output gradient of the shape {gradient_shape} is larger than its target, {target_shape}."
            )
    return output_gradient if is_recorded else unbroadcast(output_gradient.array, tuple(target.shape))


def compute_gradient_if_also_target(
    source: TargetOrSource, targets: list[TargetOrSource], output_gradients: list[Adjoint]
) -> Result:
    """Compute the gradient of a source at whose rows nothing has arrived: None, but where it is itself a target."""
    base = getattr(source, "_base", source)
    seeds = [
        build_seed(target, None, True) if output_gradient is None else output_gradient
        for target, output_gradient in zip(targets, output_gradients, strict=True)
        if (target is source or getattr(target, "_base", target) is base) and source.dtype.kind != "s"
    ]
    return (seeds[0] if len(seeds) == 1 else TABLE["add_n"](*map(convert_to_tensor, seeds))) if seeds else None


def build_recorded_zeros_like_source(source: TargetOrSource) -> Tensor:
    """Build the zeros for a source without a gradient (``unconnected_gradients``); open tapes record them."""
    value = source._read_state() if hasattr(source, "_read_state") else source  # which tapes count as an access
    if state.tapes and type(value) is EagerTensor:
        return TABLE["zeros_like"](value)
    return build_zeros_like_source(source)


def convert_gradients_for_user(
    gradients: list[Result], carriers: list[TargetOrSource], values: list[TargetOrSource], returns_zeros: bool
) -> list[Result]:
    """Return the gradients as the user gets them: with zeros for None if asked, composite as their sources are."""
    filled_gradients = [
        build_recorded_zeros_like_source(source) if gradient is None and returns_zeros else gradient
        for gradient, source in zip(gradients, carriers, strict=True)
    ]
    return [
        gradient if carrier is value or gradient is None else value._like_gradient(gradient)
        for gradient, carrier, value in zip(filled_gradients, carriers, values, strict=True)
    ]


def build_zeros_like_source(source: TargetOrSource) -> Tensor:
    """Build zeros in the shape and dtype of a source, which no tape knows."""
    value: Object = getattr(source, "_state", source)  # whose shape is known, also where the variable's is not
    return create_tensor(np.zeros(tuple(value.shape), source.dtype.as_numpy_dtype))
