"""Read the targets, sources and output gradients of a gradient call, and pack its results."""

from __future__ import annotations

from enum import Enum
from math import prod
from numbers import Number
from operator import is_
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..hooks import hooks
from ..record.thread_state import state
from ..table.accelerator import create_filled_array
from ..table.primitives import TABLE
from ..table.primitives.reduce import unbroadcast
from ..tensor.conversion import convert_to_tensor
from ..tensor.operation import check_broadcast
from ..tensor.tensor import EagerTensor, Tensor, wrap_array_with_origin
from ..tensor.variable import ResourceVariable
from ..values.argument_errors import build_argument_error, build_dtype_error
from ..values.dtypes import DType
from ..values.nest import flatten, pack_sequence_as
from .reachability import mark_rows_on_tape
from .row_values import iter_operations_backward

if TYPE_CHECKING:
    from ..types import Adjoint, Adjoints, Object, Result, RowNumbers, Structure, TargetOrSource, TargetsOrSources
    from .tape import GradientTape

PLAIN_SOURCE_TYPES = {EagerTensor, ResourceVariable}  # Sources of these types are not nested structures.
ONE_BY_TYPE: dict[Object, Adjoint] = {kind: kind(1) for kind in (np.float32, np.float64)}


class UnconnectedGradients(Enum):
    """The gradient of a source that the target does not depend on.

    See https://www.tensorflow.org/api_docs/python/tf/UnconnectedGradients.

    Attributes:
        NONE: The gradient is None.
        ZERO: The gradient consists of zeros, with the shape and dtype of the source.

    >>> import minitape as tf
    >>> tf.UnconnectedGradients.ZERO.value
    'zero'
    """

    NONE = "none"
    ZERO = "zero"


NONE = UnconnectedGradients.NONE  # A global name is faster to look up than an enumeration member.
Unconnected = UnconnectedGradients | str


class GradientRequest(NamedTuple):
    """A gradient call and its results.

    Attributes:
        targets: The targets, without their structure.
        sources: The sources, without their structure.
        output_gradients: The adjoint that each target started with. None means all ones.
        is_none: Whether the gradient of each source was None, before zeros took the place of None.
        method: The name of the method that was called, such as "gradient".
        results: The Jacobians that the call returned, or the gradients if zeros took the place of None. Empty for other
            calls of ``gradient``.
    """

    targets: TargetsOrSources
    sources: TargetsOrSources
    output_gradients: Adjoints
    is_none: list[bool]
    method: str
    results: list[Result]


def build_no_tensor_error(value: Object) -> Exception:
    """Build TensorFlow's error for a target or source that is not a tensor.

    Args:
        value: The object. For a number, an array or a dtype, the error is an AttributeError; otherwise, it is a
            TypeError.
    """
    error_class = AttributeError if isinstance(value, (Number, DType)) or hasattr(value, "dtype") else TypeError
    return hooks.add_non_tensor_note(error_class(f"{type(value).__name__!r} object has no attribute '_id'"), value)


def should_return_zeros(unconnected_gradients: object) -> bool:
    """Return whether unconnected sources receive zeros instead of None.

    Args:
        unconnected_gradients: A member of ``UnconnectedGradients`` or its value.

    Raises:
        ValueError: If the argument is neither a member nor a value of ``UnconnectedGradients``.
    """
    try:
        return UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {unconnected_gradients!r}") from None


def convert_output_gradients(output_gradients: Structure, target_count: int) -> Adjoints:
    """Convert the ``output_gradients`` of a call to a list with the adjoint of each target.

    Args:
        output_gradients: A nested structure of tensors, or of values that can be converted to tensors.
        target_count: The number of targets.

    Returns:
        A tensor for each target, or None for the last targets if there are too few adjoints. Superfluous adjoints are
        ignored.

    Raises:
        ValueError: If an adjoint is None.
    """
    flat_gradients = flatten(output_gradients)[:target_count]
    tensors = [g if hasattr(g, "_get_gradient_carrier") else convert_to_tensor(g) for g in flat_gradients]
    return [*map(unwrap_keras_variable, tensors)] + [None] * (target_count - len(flat_gradients))


def find_rows_in_recording(tape: GradientTape, value: TargetOrSource) -> RowNumbers:
    """Find the rows of a value in a tape's recording.

    Args:
        tape: The tape.
        value: A tensor or a variable.

    Returns:
        The rows, ordered so that the sweep of a target starts at the last one. A tensor has one row, or two rows in
        ascending order if it was a leaf before it became a result. A variable has a row for each of its states in the
        recording. The oldest state comes first, except that watched rows come after all others
        (``ResourceVariable._find_rows_in_recording``). Other values have no rows.

    Raises:
        AttributeError: If the value is a number or an array.
        TypeError: If the value is any other object that is neither a tensor nor a variable.
    """
    if type(value) is EagerTensor:
        if (record := tape._record) is None or (row := record.find_row(value)) is None:
            return ()
        # The tensor may also have been a leaf here, if its own tape joined this recording later.
        leaf_row = record.leaf_rows.get(id(value), row)
        return (row,) if leaf_row == row or record.leaves[leaf_row].tensor is not value else (leaf_row, row)
    if not hasattr(value, "_find_rows_in_recording"):
        raise build_no_tensor_error(value)
    rows: RowNumbers = value._find_rows_in_recording(tape)
    return rows


def unwrap_keras_variable(value: TargetOrSource) -> TargetOrSource:
    """Return the variable that a Keras variable wraps, or any other value unchanged.

    Args:
        value: A target or a source.
    """
    if type(value) is EagerTensor or not hasattr(value, "_get_gradient_carrier"):
        return value
    return value._get_gradient_carrier()


def flatten_with_gradient_carriers(structure: Structure) -> tuple[TargetsOrSources, TargetsOrSources]:
    """Flatten a structure of targets or sources, and find the values that carry their gradients.

    The gradient of a Keras variable belongs to the variable that it wraps. All other values carry their own gradients.

    Args:
        structure: A tensor, a variable, or a nested structure of them.

    Returns:
        A list of the values, and a list with the carrier of each value. The two lists are the same object if each value
        carries its own gradient.
    """
    values = flatten(structure)
    for value in values:
        if type(value) not in PLAIN_SOURCE_TYPES and hasattr(value, "_get_gradient_carrier"):
            return values, [unwrap_keras_variable(item) for item in values]
    return values, values


def flatten_targets(structure: Structure) -> TargetsOrSources:
    """Flatten a structure of targets to the values that carry their gradients.

    Args:
        structure: A tensor, a variable, or a nested structure of them.

    Returns:
        The carrier of each target, which is the target itself unless it is a Keras variable.

    Raises:
        TypeError: If ``structure`` is None.
    """
    if structure is None:
        raise hooks.add_notes_why_gradients_are_none(
            TypeError(
                "Argument `target` should be a list or nested structure of Tensors, Variables or CompositeTensors to "
                "be differentiated, but received None."
            )
        )
    return flatten_with_gradient_carriers(structure)[1]


def pack_gradients_like(structure: Structure, values: TargetsOrSources, gradients: list[Result]) -> Structure:
    """Pack gradients into the structure of their sources.

    Args:
        structure: The structure of the sources.
        values: The flattened sources.
        gradients: The gradient of each source.

    Returns:
        The gradients in the same structure. For a flat list of sources, this is the list ``gradients`` itself.
    """
    if type(structure) is list:
        if len(structure) == len(values) and all(map(is_, structure, values)):
            return gradients
    elif values and structure is values[0]:
        return gradients[0]
    return pack_sequence_as(structure, gradients)


# -- seeds of targets, and sources without a path ------------------------------------------------------


def build_seed(target: TargetOrSource, output_gradient: Adjoint, is_recorded: bool) -> Adjoint:
    """Build the adjoint that a target starts with.

    Args:
        target: A tensor or a variable.
        output_gradient: The adjoint that the user passed, as a tensor, or the adjoint that a picture passed, as an
            array with the shape of the target. None means all ones.
        is_recorded: Whether the sweep is recorded, so that the adjoint must be a tensor.

    Returns:
        An array or NumPy scalar with the shape and dtype of the target, or a tensor if the sweep is recorded.

    Raises:
        InvalidArgumentError: If the dtype or shape of ``output_gradient`` does not match the target.
    """
    if output_gradient is None:
        if type(target) is not EagerTensor:
            ones = create_filled_array(tuple(target.shape), target.dtype.as_numpy_dtype, 1)[()]
        elif target._value.shape:
            ones = create_filled_array(target._value.shape, target._value.dtype, 1)
        else:
            scalar_type = target._value.dtype.type
            ones = ONE_BY_TYPE.get(scalar_type) or scalar_type(1)
        return wrap_array_with_origin(ones) if is_recorded else ones
    if not isinstance(output_gradient, Tensor):
        return output_gradient
    if output_gradient.dtype is not target.dtype:
        raise build_dtype_error("Mul", output_gradient.dtype.kernel_name, target.dtype)
    if output_gradient.shape != target.shape:
        check_broadcast("Mul", output_gradient, target)
        gradient_shape = output_gradient.shape
        target_shape = target.shape
        product_shape = np.broadcast_shapes(*map(tuple, (gradient_shape, target_shape)))
        if prod(product_shape) != target_shape.num_elements():
            raise build_argument_error(
                f"An output gradient of shape {gradient_shape} is too large for its target of shape {target_shape}."
            )
    return output_gradient if is_recorded else unbroadcast(output_gradient.array, tuple(target.shape))


def is_read_off_tape_by_targets(tape: GradientTape, source: TargetOrSource, targets: TargetsOrSources) -> bool:
    """Return whether any operation that the targets depend on reads a source that is not on the tape.

    TensorFlow then returns None for the source, even if the source is also a target. For a variable, only calls of a
    ``tf.function`` count, because all other operations read the variable's state.

    Args:
        tape: The tape.
        source: The source.
        targets: The targets of the gradient call.
    """
    rows = {*find_rows_in_recording(tape, source)}
    record = tape.record
    watched_results = set[int]()
    if record is None or not rows:
        return False
    marks = mark_rows_on_tape(tape, watched_results)
    if any(marks[row] for row in rows):
        return False
    rows_to_visit = {row for target in targets for row in find_rows_in_recording(tape, target)[-1:]} - watched_results
    is_variable = not isinstance(source, Tensor)
    # Go back from the targets over all rows that they depend on.
    for row, _, a, b, call in iter_operations_backward(record, min(rows), max(rows_to_visit, default=-1)):
        if row in rows_to_visit and marks[row]:
            inputs = {*call.inputs} if call else {a, b}
            is_read = not rows.isdisjoint(inputs)
            if is_read and (not is_variable or (call and call.primitive.name == "function")):
                return True
            rows_to_visit |= inputs - watched_results
    return False


def list_seeds_if_also_target(
    tape: GradientTape, source: TargetOrSource, targets: TargetsOrSources, output_gradients: Adjoints
) -> Adjoints:
    """Return the seeds that add up to the gradient of a source whose rows have no adjoint.

    Args:
        tape: The tape whose recording contains the rows.
        source: The source.
        targets: The targets of the call.
        output_gradients: The adjoint that each target starts with. None means all ones.

    Returns:
        The seed of each target that is the source itself. Empty if the source is not a target, or if
        ``is_read_off_tape_by_targets`` is true.
    """
    base = getattr(source, "_base", source)
    # The seeds become gradients, so `build_seed` must return tensors, as for a recorded sweep.
    seeds = [
        build_seed(target, None, True) if output_gradient is None else output_gradient
        for target, output_gradient in zip(targets, output_gradients, strict=True)
        if (target is source or getattr(target, "_base", target) is base) and source.dtype.kind != "s"
    ]
    return [] if not seeds or is_read_off_tape_by_targets(tape, source, targets) else seeds


def compute_gradient_if_also_target(
    tape: GradientTape, source: TargetOrSource, targets: TargetsOrSources, output_gradients: Adjoints
) -> Result:
    """Compute the gradient of a source whose rows have no adjoint.

    Args:
        tape: The tape whose recording contains the rows.
        source: The source.
        targets: The targets of the call.
        output_gradients: The adjoint that each target starts with. None means all ones.

    Returns:
        The sum of the seeds of all targets that are the source itself, or None if the source is not a target, or if
        ``is_read_off_tape_by_targets`` is true.
    """
    seeds = list_seeds_if_also_target(tape, source, targets, output_gradients)
    if not seeds:
        return None
    if len(seeds) == 1:
        return seeds[0]
    return TABLE["add_n"](*map(convert_to_tensor, seeds))


def build_recorded_zeros_like_source(source: TargetOrSource) -> Tensor:
    """Create zeros for an unconnected source with an operation that open tapes record.

    Args:
        source: A tensor or a variable. Open tapes start to watch a variable, because this function reads the variable.
    """
    value = source._read_and_watch() if hasattr(source, "_read_and_watch") else source
    if state.tapes and type(value) is EagerTensor:
        return TABLE["zeros_like"](value)
    return build_zeros_like_source(source)


def replace_none_by_zeros(gradients: list[Result], carriers: TargetsOrSources) -> list[Result]:
    """Return gradients or tangents with zeros in place of None.

    Args:
        gradients: The gradient of each carrier, or the tangent of each value: a tensor or None.
        carriers: The carrier of each source, as ``flatten_with_gradient_carriers`` returns it, or the values.
    """
    return [
        build_recorded_zeros_like_source(source) if gradient is None else gradient
        for gradient, source in zip(gradients, carriers, strict=True)
    ]


def build_zeros_like_source(source: TargetOrSource) -> Tensor:
    """Build zeros with the shape and dtype of a source, without recording them.

    Args:
        source: A tensor or a variable.
    """
    # The shape of a variable may be unknown, but the shape of its state is known.
    value: Object = getattr(source, "_state", source)
    return wrap_array_with_origin(np.zeros(tuple(value.shape), source.dtype.as_numpy_dtype))
