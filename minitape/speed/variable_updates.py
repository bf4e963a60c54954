"""Update all small variables of an optimizer's step together.

This is the fast form of :func:`minitape.tf.keras.update_variables`.
"""

from collections.abc import Sequence
from sys import _getframe
from weakref import ref

import numpy as np

from ..engine.record.provenance import ASSIGNMENT_GENERATIONS, build_origin, find_user_place
from ..engine.record.row_parts import FLOAT_TYPES
from ..engine.record.thread_state import state
from ..engine.table.float_warnings import ignore_fp_errors
from ..engine.tensor.tensor import EagerTensor, wrap_array
from ..engine.tensor.variable import ResourceVariable
from ..engine.types import Array, Function, Object

MAX_ELEMENTS = 50_000  # Copying larger variables to one buffer would take longer than the calls that it saves.


def build_fast_form(plain: Function) -> Function:
    """Build the fast form of :func:`minitape.tf.keras.update_variables`.

    Each operation of an optimizer's rule runs once, on a buffer with the elements of all variables. The results are
    bit-for-bit identical because the rules are elementwise.

    Args:
        plain: The plain form, which runs while operations are being recorded and for unusual or large variables.

    Returns:
        The function ``update_variables(optimizer, gradients_and_variables)``.
    """

    def update_variables(optimizer: Object, gradients_and_variables: Sequence[tuple]) -> None:
        if not _can_update_together(gradients_and_variables):
            plain(optimizer, gradients_and_variables)
            return
        slots = [optimizer.find_or_create_slots(variable) for _, variable in gradients_and_variables]
        gradient = _join_arrays([gradient._value for gradient, _ in gradients_and_variables])
        values = _join_arrays([variable._state._value for _, variable in gradients_and_variables])
        slot_buffers = [_join_arrays([slot._state._value for slot in column]) for column in zip(*slots, strict=True)]

        def compute_step() -> tuple:
            decrement, new_slots = optimizer.compute_decrement_and_new_slots(gradient, slot_buffers)
            return values - decrement, *new_slots

        new_values, *new_slots = ignore_fp_errors().run(compute_step)
        place = find_user_place(_getframe(2))
        start = 0
        for (gradient_tensor, variable), variable_slots in zip(gradients_and_variables, slots, strict=True):
            old_state = variable._state
            shape = old_state._value.shape
            end = start + old_state._value.size
            origin = build_origin(
                "assign_sub", (gradient_tensor, old_state), ref(variable), place, ASSIGNMENT_GENERATIONS
            )
            variable._store_state(wrap_array(new_values[start:end].reshape(shape)), origin)
            for slot, buffer in zip(variable_slots, new_slots, strict=True):
                slot._store_state(wrap_array(buffer[start:end].reshape(shape)), slot._state._origin)
            start = end

    return update_variables


def _can_update_together(gradients_and_variables: Sequence[tuple]) -> bool:
    """Return whether nothing is being recorded and all variables are small, distinct and of the same float dtype."""
    if state.record is not None or state.read_variables or len(gradients_and_variables) < 2:
        return False
    dtype = gradients_and_variables[0][0].dtype
    if dtype.as_numpy_dtype not in FLOAT_TYPES:
        return False
    size = 0
    variables = set()
    for gradient, variable in gradients_and_variables:
        if type(variable) is not ResourceVariable or type(gradient) is not EagerTensor:
            return False
        old_state = variable._state
        if type(old_state) is not EagerTensor:
            return False
        x = gradient._value
        y = old_state._value
        if x.shape != y.shape or x.dtype is not y.dtype or x.dtype != dtype.as_numpy_dtype:
            return False
        size += x.size
        variables.add(id(variable))
    return size <= MAX_ELEMENTS and len(variables) == len(gradients_and_variables)


def _join_arrays(arrays: Sequence[Array]) -> Array:
    return np.concatenate([array.ravel() for array in arrays])
