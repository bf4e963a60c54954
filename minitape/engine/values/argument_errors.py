"""Build the errors for arguments that an operation cannot process."""

import numpy as np

from ..types import Array, Sizes
from .dtypes import DType
from .errors import InvalidArgumentError


def build_argument_error(message: str, op: str = "", name: str = "") -> Exception:
    """Build an operation's InvalidArgumentError, with a message in TensorFlow's format.

    Args:
        message: The reason.
        op: TensorFlow's kernel name for the operation. If it is not empty, it is appended to the message.
        name: The name of the operation, which follows the kernel name.

    Returns:
        The error, for the caller to raise.
    """
    return InvalidArgumentError(None, None, f"{message} [Op:{op}] name: {name}" if op else message)


def build_dtype_error(op: str, wanted: str, dtype: DType) -> Exception:
    """Build the error for a second operand whose dtype differs from the first operand's dtype.

    Args:
        op: TensorFlow's kernel name for the operation.
        wanted: The kernel name of the dtype that the operation requires.
        dtype: The dtype of the operand.

    Returns:
        An InvalidArgumentError, for the caller to raise.
    """
    return build_argument_error(
        f"cannot compute {op} as input #1(zero-based) was expected to be a {wanted} tensor but is a "
        f"{dtype.kernel_name} tensor",
        op,
    )


def check_indices(indices: Array, sizes: Sizes, op: str = "") -> None:
    """Raise InvalidArgumentError if an index is outside a tensor.

    Args:
        indices: Integers of shape (..., depth). Along the last axis, there is an index for each of the first ``depth``
            axes.
        sizes: The sizes of the tensor's axes.
        op: TensorFlow's kernel name for the operation, used in the message.

    Raises:
        InvalidArgumentError: If an index is negative or too large.
    """
    indices = np.asarray(indices)
    is_outside = np.any((indices < 0) | (indices >= np.array(sizes[: indices.shape[-1]], np.int64)), axis=-1)
    if is_outside.any():
        raise build_argument_error(
            f"The index {indices[is_outside][0].tolist()} is outside the shape {list(sizes)}.", op
        )
