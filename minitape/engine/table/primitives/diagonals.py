"""Primitives for diagonals and bands of matrices, which are the last two axes.

Diagonal 0 is the main one, positive ones lie above it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...values.invalid import invalid
from . import TABLE, declare

if TYPE_CHECKING:
    from ...types import Array


def _places(k: int, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows and the columns of the elements of a diagonal."""
    steps = np.arange(max(0, min(rows + min(k, 0), columns - max(k, 0))))
    return steps + max(-k, 0), steps + max(k, 0)


def _check(x: Array, k: int, op: str) -> tuple[np.ndarray, np.ndarray]:
    """The places of a diagonal, which the matrices must have."""
    rows, columns = x.shape[-2:] if x.ndim > 1 else (0, 0)
    if not (-rows < k < columns) and (k != 0 or x.ndim < 2):
        raise invalid(f"Matrices of the shape {x.shape} have no diagonal {k}.", op)
    return _places(k, rows, columns)


def _diag_part(x: Array, *, k: int) -> Array:
    i, j = _check(x, k, "MatrixDiagPartV3")
    return np.array(x[..., i, j])


def _diag(x: Array, *, k: int, rows: int, columns: int) -> Array:
    """Matrices with the diagonal, as small and square as can be where no size is given (-1)."""
    if x.ndim < 1:
        raise invalid("diagonal must be at least 1-dim, got a number", "MatrixDiagV3")
    least = x.shape[-1] + abs(k)
    out = np.zeros((*x.shape[:-1], least if rows == -1 else rows, least if columns == -1 else columns), x.dtype)
    i, j = _places(k, *out.shape[-2:])
    out[..., i, j] = x
    return out


declare("diag_part", _diag_part,
        [lambda g, z, x, *, k: TABLE["diag"](g, k=k, rows=x.shape[-2], columns=x.shape[-1])],
        op="MatrixDiagPartV3", label="diag", keep="")  # fmt: skip
declare("diag", _diag, [lambda g, z, x, *, k, rows, columns: TABLE["diag_part"](g, k=k)], op="MatrixDiagV3", keep="")
