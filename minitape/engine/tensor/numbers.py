"""Convert Python numbers to tensors, such as the 3 in ``x ** 3``, which becomes a leaf in the open recording."""

from functools import lru_cache

from ..record.record import Record
from ..record.row_parts import FLOAT_TYPES, get_number_leaf
from ..record.thread_state import state
from ..table.float_warnings import ignore_fp_errors
from ..types import Array, OptionalFrame, Value
from .tensor import EagerTensor, Tensor


def convert_number_operand(x: Tensor, y: float, frame: OptionalFrame = None) -> Value:
    """Convert a Python number to a tensor in the dtype of the other operand.

    While a recording is open, equal numbers of the same dtype share a tensor and a row. Zeros do not share a tensor,
    because 0.0 and -0.0 are equal.

    Args:
        x: The other operand, a tensor.
        y: The number.
        frame: The innermost frame that may belong to the user's statement. None means the caller's frame.

    Returns:
        A scalar tensor, or the number itself if the dtype of ``x`` is neither floating nor complex.

    Raises:
        ValueError: If the number is an int that is too large for the dtype.
    """
    record = state.record
    kind = x._value.dtype.type if type(x) is EagerTensor else None
    if kind not in FLOAT_TYPES:
        if not x.dtype.differentiable:
            return y
        kind = x.dtype.as_numpy_dtype
    if record is None:
        return build_number_tensor(y, kind)
    if y != 0 and (tensor := record.numbers.get((y, kind))) is not None:
        return tensor
    return build_number_tensor(y, kind, record, record.find_current_offset(frame))


def build_number_tensor(number: float, float_type: type, record: Record | None = None, offset: int = 0) -> EagerTensor:
    """Build a tensor from a Python number.

    If a recording is passed, the tensor becomes a leaf there, and later uses of the same number share it.

    Args:
        number: The value.
        float_type: The NumPy scalar type of the tensor, floating or complex.
        record: The open recording, or None.
        offset: The bytecode offset of the user's statement, as ``Record.find_current_offset`` returns it.

    Returns:
        A scalar tensor.

    Raises:
        ValueError: If the number is an int that is too large for the type.
    """
    try:
        # 0.0 and -0.0 are equal as cache keys, so zeros bypass the cache.
        value = _round_number(number, float_type) if number != 0 else float_type(number)
    except OverflowError:
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.") from None
    tensor = EagerTensor()
    tensor._value = value
    tensor._record = None
    tensor._origin = None
    if record is not None:
        tensor._record, tensor._row = record, record.append_leaf(get_number_leaf(number), offset, value)
        # 0.0 and -0.0 are equal as keys, and NaN does not equal any key, so none of them can be looked up.
        if number == number and number != 0:
            record.numbers[number, type(value)] = tensor
            record.numbers.setdefault(number, tensor)
    return tensor


@lru_cache(1024, typed=True)
def _round_number(number: float, float_type: type) -> Array:
    return ignore_fp_errors().run(float_type, number)
