"""Implement assignments to a part of a variable, such as ``v[...].assign(value)``."""

from functools import partial
from weakref import ref

from ..record.thread_state import get_current_first_run
from ..table.primitives import TABLE
from ..types import Function, Index, OptionalText, Value
from .conversion import convert_to_tensor
from .operation import run_and_record
from .tensor import VARIABLE_SLICES, Tensor
from .variable import ResourceVariable, UnreadVariable


def build_slice_assign(variable: ResourceVariable, spec: tuple[Index, ...]) -> Function:
    """Build the function that assigns to a part of a variable.

    Args:
        variable: The variable.
        spec: The NumPy index that selects the part.

    Returns:
        A function ``assign(value, name=None)`` that returns the variable. ``value`` is broadcast to the shape of the
        part.
    """

    def assign(value: Value, name: OptionalText = None) -> UnreadVariable | None:
        part = convert_to_tensor(value, variable.dtype)
        update = TABLE["slice_update"]
        if get_current_first_run() is not None:
            return variable._assign(
                run_and_record(update, (variable._read_and_watch(), part), {"spec": spec}), "assign"
            )
        return variable._update_state_with_part(partial(update.forward, spec=spec), part)

    return assign


def attach_assign_to_slice(variable_slice: Tensor, assign: Function) -> None:
    """Make ``variable_slice.assign(value)`` assign to the variable.

    Args:
        variable_slice: A tensor that was read as a slice of the variable.
        assign: The function that :func:`build_slice_assign` built for the same slice.
    """
    key = id(variable_slice)
    VARIABLE_SLICES[key] = ref(variable_slice, lambda _: VARIABLE_SLICES.pop(key, None)), assign
