"""Run and record an operation in a single pass over its inputs.

This is the fast form of :func:`minitape.engine.tensor.operation.run_and_record`.
"""

from sys import _getframe

from numpy import ndarray

from ..engine.record.row_parts import FLOAT_TYPES
from ..engine.record.thread_state import state
from ..engine.table.float_warnings import ignore_fp_errors
from ..engine.table.primitives import Primitive
from ..engine.table.primitives.elementwise import select_formulas_for_value_kind
from ..engine.tensor.tensor import EagerTensor, wrap_array
from ..engine.types import Function, Object


def build_fast_form(plain: Function) -> Function:
    """Build the fast form of :func:`minitape.engine.tensor.operation.run_and_record`.

    The fast form has the same parameters and returns the same results. It passes over the inputs only once, and creates
    the tensor for a single result without a function call.

    Args:
        plain: The plain form, which runs if an input is not an ``EagerTensor``.

    Returns:
        The function ``run_and_record(primitive, inputs, attrs, frame=None)``.
    """
    from ..engine.tensor import operation as home

    def run_and_record(primitive: Primitive, inputs: Object, attrs: Object, frame: Object = None) -> Object:
        record = state.record
        frame = frame or _getframe(1)
        arrays = []
        result: Object
        tensors: tuple[EagerTensor, ...]
        for tensor in inputs:
            if type(tensor) is not EagerTensor:
                return plain(primitive, inputs, attrs, frame)
            arrays.append(tensor._value)
        if primitive.code:
            forward = select_formulas_for_value_kind(primitive.code, home.find_type_deciding_operand(arrays)).forward
            out = ignore_fp_errors().run(forward, *arrays)
        else:
            out = ignore_fp_errors().run(primitive.forward, *arrays, **attrs)
        result_type = type(out)
        if (result_type is ndarray and out.shape) or result_type in FLOAT_TYPES:
            result = EagerTensor()
            result._value = out
            result._record = None
            result._origin = None
            tensors = (result,)
        elif result_type is tuple:
            result = tensors = tuple(map(wrap_array, out))
        else:
            result = wrap_array(out)
            tensors = (result,)
        if record is None:
            home.record_operation(primitive, inputs, attrs, tensors, frame)
        else:
            record.write_rows(primitive, inputs, attrs, tensors, frame)
        return result

    return run_and_record
