"""Record functions with custom gradients while a ``tf.function`` is traced."""

from collections.abc import Callable, Sequence

from ..engine.derivatives.custom_gradient import (
    CustomCall,
    call_with_custom_gradient,
    wrap_rule_to_receive_adjoint_list,
)
from ..engine.table.primitives import Primitive
from ..engine.tensor.operation import record_operation
from ..engine.tensor.tensor import wrap_array
from ..engine.types import Adjoint, Structure


@wrap_rule_to_receive_adjoint_list
def _compute_custom_shares(adjoints: Adjoint, z: Adjoint, *inputs: Adjoint, call: CustomCall, results: int) -> list:
    """Return None for each result of the function, followed by the user's gradients of the arguments."""
    return [None] * results + call.compute_shares(adjoints)


class CustomGradientPrimitive(Primitive):
    """The operation of a function with a custom gradient.

    The inputs are the results that the function computed, followed by the arguments. The outputs are the results.

    Attributes:
        has_tuple_output: True, because `forward` returns a tuple even for a single result.
    """

    has_tuple_output = True


CUSTOM_GRADIENT = CustomGradientPrimitive(
    "custom_gradient",
    lambda *arrays, call, results: tuple(arrays[:results]),
    _compute_custom_shares,
    op="IdentityN",
    label="custom",
)


def write_custom_gradient_row(f: Callable, args: Sequence, kwargs: dict) -> Structure:
    """Call a function with a custom gradient in a first run, and record the call as one row.

    Args:
        f: The user's function, which returns its result and a gradient function.
        args: The positional arguments.
        kwargs: The keyword arguments.

    Returns:
        The result. Its tensors are the outputs of the row.
    """

    def record_results_row(call: CustomCall, results: list, inputs: list) -> list:
        outputs = [wrap_array(result._value) for result in results]
        record_operation(CUSTOM_GRADIENT, (*results, *inputs), {"call": call, "results": len(results)}, tuple(outputs))
        return outputs

    return call_with_custom_gradient(f, args, kwargs, record_results_row)
