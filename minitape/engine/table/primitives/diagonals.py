"""Primitives for diagonals and bands of matrices, which are the last two axes.

Diagonal 0 is the main one, positive ones lie above it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...values.invalid import invalid, shape_text
from . import TABLE, declare

if TYPE_CHECKING:
    from ...types import Array


def _places(k: int, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows and the columns of the elements of a diagonal."""
    steps = np.arange(max(0, min(rows + min(k, 0), columns - max(k, 0))))
    return steps + max(-k, 0), steps + max(k, 0)


def _check(x: Array, k: int, op: str) -> tuple[np.ndarray, np.ndarray]:
    """The places of a diagonal, which the matrices must have."""
    if x.ndim < 2:
        raise invalid(f"input must be at least 2-dim, received shape: {list(x.shape)}", op)
    rows, columns = x.shape[-2:]
    if not (-rows < k < columns) and k != 0:
        raise invalid(f"lower_diag_index is out of bound: {k}. It must be between {-rows} and {columns}", op)
    return _places(k, rows, columns)


def _diag_part(x: Array, *, k: int) -> Array:
    i, j = _check(x, k, "MatrixDiagPartV3")
    return np.array(x[..., i, j])


def _diag(x: Array, *, k: int, rows: int, columns: int) -> Array:
    """Matrices with the diagonal, as small and square as can be where no size is given (-1)."""
    if x.ndim < 1:
        raise invalid(f"diagonal must be at least 1-dim, received shape: {list(x.shape)}", "MatrixDiagV3")
    least = x.shape[-1] + abs(k)
    out = np.zeros((*x.shape[:-1], least if rows == -1 else rows, least if columns == -1 else columns), x.dtype)
    i, j = _places(k, *out.shape[-2:])
    out[..., i, j] = x
    return out


def _set_diag(x: Array, d: Array, *, k: int) -> Array:
    i, j = _check(x, k, "MatrixSetDiagV3")
    expected = (*x.shape[:-2], len(i))
    if d.shape != expected:
        raise invalid("Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is not "
                      "equal to the longests diagonal in range [lower_diag_index:upper_diag_index].\n"
                      f"Input shape: {shape_text(x.shape)}\nDiagonal shape: {shape_text(d.shape)}\n"
                      f"Expected diagonal shape: {shape_text(expected)}", "MatrixSetDiagV3")  # fmt: skip
    out = np.array(x)
    out[..., i, j] = d
    return out


def _band_part(x: Array, *, lower: int, upper: int) -> Array:
    op = "MatrixBandPart"
    if x.ndim < 2:
        raise invalid(f"input must be at least 2-dim, received shape: {list(x.shape)}", op)
    rows, columns = x.shape[-2:]
    if lower > rows:
        raise invalid(f"num_lower must be negative or less or equal to number of rows ({rows}) got: {lower}", op)
    if upper > columns:
        raise invalid(f"num_upper must be negative or less or equal to number of columns ({columns}) got: {upper}", op)
    return np.triu(np.tril(x, upper if upper >= 0 else columns), -lower if lower >= 0 else -rows)


def _set_diag_rule(g: Array, z: Array, x: Array, d: Array, *, k: int) -> tuple[Array, Array]:
    part = TABLE["diag_part"](g, k=k)
    return TABLE["set_diag"](g, TABLE["zeros_like"](part), k=k), part


declare("diag_part", _diag_part,
        [lambda g, z, x, *, k: TABLE["diag"](g, k=k, rows=x.shape[-2], columns=x.shape[-1])],
        op="MatrixDiagPartV3", label="diag", keep="")  # fmt: skip
declare("diag", _diag, [lambda g, z, x, *, k, rows, columns: TABLE["diag_part"](g, k=k)], op="MatrixDiagV3", keep="")
declare("set_diag", _set_diag, _set_diag_rule, op="MatrixSetDiagV3", keep="")
declare("band_part", _band_part, [lambda g, z, x, *, lower, upper: TABLE["band_part"](g, lower=lower, upper=upper)],
        op="MatrixBandPart", label="band", keep="")  # fmt: skip
