"""Errors for arguments that an operation cannot compute with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .errors import InvalidArgumentError

if TYPE_CHECKING:
    from ..types import Array
    from .dtypes import DType


def build_argument_error(message: str, op: str = "", name: str = "") -> Exception:
    """The InvalidArgumentError that operation ``op`` raises, worded as in TensorFlow."""
    return InvalidArgumentError(None, None, f"{message} [Op:{op}] name: {name}" if op else message)


def build_dtype_error(op: str, position: int, wanted: str, dtype: DType) -> Exception:
    """The error for an operand whose dtype is not the wanted one."""
    return build_argument_error(
        f"cannot compute {op} as input #{position}(zero-based) was expected to be a {wanted} tensor but is a "
        f"{dtype.kernel_name} tensor",
        op,
    )


def check_indices(indices: Array, sizes: tuple[int, ...], op: str = "") -> None:
    """Raises InvalidArgumentError for one of the places (..., depth) outside of a tensor of these sizes."""
    indices = np.asarray(indices)
    is_outside = np.any((indices < 0) | (indices >= np.array(sizes[: indices.shape[-1]], np.int64)), axis=-1)
    if is_outside.any():
        raise build_argument_error(
            f"The index {indices[is_outside][0].tolist()} is outside of the shape {list(sizes)}.", op
        )
