"""Errors for arguments that an operation cannot compute with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .errors import InvalidArgumentError

if TYPE_CHECKING:
    from ..types import Array
    from .dtypes import DType


def invalid(message: str, op: str = "", name: str = "") -> Exception:
    """The InvalidArgumentError that operation ``op`` raises, worded as in TensorFlow."""
    return InvalidArgumentError(None, None, f"{message} [Op:{op}] name: {name}" if op else message)


def mismatch(op: str, position: int, wanted: str, got: DType) -> Exception:
    """The error for an operand whose dtype is not the wanted one."""
    return invalid(
        f"cannot compute {op} as input #{position}(zero-based) was expected to be a {wanted} tensor but is a "
        f"{got.kernel_name} tensor",
        op,
    )


def check_inside(places: Array, sizes: tuple[int, ...], op: str = "") -> None:
    """Raises InvalidArgumentError for one of the places (..., depth) outside of a tensor of these sizes."""
    places = np.asarray(places)
    wrong = np.any((places < 0) | (places >= np.array(sizes[: places.shape[-1]], np.int64)), axis=-1)
    if wrong.any():
        raise invalid(f"The index {places[wrong][0].tolist()} is outside of the shape {list(sizes)}.", op)
