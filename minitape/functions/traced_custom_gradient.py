"""``custom_gradient`` in a traced function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..engine.derivatives.custom_gradient import (
    CustomCall,
    call_with_custom_gradient,
    convert_adjoint_to_tensor,
    convert_share_to_array,
    pass_adjoints_as_list,
)
from ..engine.table.primitives import Primitive
from ..engine.tensor.operation import record_operation
from ..engine.tensor.tensor import Tensor, from_array


@pass_adjoints_as_list
def _compute_custom_shares(adjoints: Any, z: Any, *inputs: Any, call: CustomCall, results: int) -> list:
    shares = [None] * results + call.compute_shares([*map(convert_adjoint_to_tensor, adjoints)])
    return (
        shares if any(isinstance(adjoint, Tensor) for adjoint in adjoints) else [*map(convert_share_to_array, shares)]
    )


class CustomGradientPrimitive(Primitive):
    """Its inputs are what a function returned and then its arguments; its outputs are what the function returned."""

    has_tuple_output = True


CUSTOM_GRADIENT = CustomGradientPrimitive(
    "custom_gradient",
    lambda *arrays, call, results: tuple(arrays[:results]),
    _compute_custom_shares,
    op="IdentityN",
    label="custom",
)


def write_custom_gradient_row(f: Callable, args: Sequence, kwargs: dict) -> Any:
    """Call a function that has its own gradient in a trace, as one row, and return its result."""

    def record_results_row(call: CustomCall, results: list, inputs: list) -> list:
        outputs = [from_array(result._value) for result in results]
        record_operation(CUSTOM_GRADIENT, (*results, *inputs), {"call": call, "results": len(results)}, tuple(outputs))
        return outputs

    return call_with_custom_gradient(f, args, kwargs, record_results_row)
