"""Primitives for diagonals and bands of matrices, which are the last two axes.

Diagonal 0 is the main one, positive ones lie above it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..invalid import invalid, shown
from . import TABLE, declare

if TYPE_CHECKING:
    from ..typed import Array


def _length(d: int, rows: int, columns: int) -> int:
    return max(0, min(rows + min(d, 0), columns - max(d, 0)))


def _places(k: int, rows: int, columns: int) -> tuple[Array, Array]:
    """The rows and the columns of the elements of a diagonal."""
    steps = np.arange(_length(k, rows, columns))
    return steps + max(-k, 0), steps + max(k, 0)


def _check(x: Array, k: int, op: str) -> tuple[int, int]:
    """The size of the matrices, which must have the diagonal."""
    if x.ndim < 2:
        raise invalid(f"input must be at least 2-dim, received shape: {list(x.shape)}", op)
    rows, columns = x.shape[-2:]
    if not (-rows < k < columns) and k != 0:
        raise invalid(f"lower_diag_index is out of bound: {k}. It must be between {-rows} and {columns}", op)
    return rows, columns


def _diag_part(x: Array, *, k: int) -> Array:
    i, j = _places(k, *_check(x, k, "MatrixDiagPartV3"))
    return np.array(x[..., i, j])


def _diag(x: Array, *, k: int, rows: int, columns: int) -> Array:
    """Matrices with the diagonal, as small and square as can be where no size is given (-1)."""
    if x.ndim < 1:
        raise invalid(f"diagonal must be at least 1-dim, received shape: {list(x.shape)}", "MatrixDiagV3")
    least = x.shape[-1] + abs(k)
    rows, columns = least if rows == -1 else rows, least if columns == -1 else columns
    i, j = _places(k, rows, columns)
    out = np.zeros((*x.shape[:-1], rows, columns), x.dtype)
    out[..., i, j] = x
    return out


def _set_diag(x: Array, d: Array, *, k: int) -> Array:
    op = "MatrixSetDiagV3"
    rows, columns = _check(x, k, op)
    expected = [*x.shape[:-2], _length(k, rows, columns)]
    if list(d.shape) != expected:
        shapes = [shown(s) for s in (x.shape, d.shape, expected)]
        raise invalid("Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is not "
                      "equal to the longests diagonal in range [lower_diag_index:upper_diag_index].\n"
                      f"Input shape: {shapes[0]}\n"
                      f"Diagonal shape: {shapes[1]}\nExpected diagonal shape: {shapes[2]}", op)  # fmt: skip
    i, j = _places(k, rows, columns)
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
    away = np.arange(columns)[None, :] - np.arange(rows)[:, None]
    inside = (away >= -lower if lower >= 0 else True) & (away <= upper if upper >= 0 else True)
    return np.where(inside, x, np.zeros((), x.dtype))


def _diag_part_rule(g: Array, z: Array, x: Array, *, k: int) -> Array:
    rows, columns = x.shape[-2:]
    return TABLE["diag"](g, k=k, rows=rows, columns=columns)


def _diag_rule(g: Array, z: Array, x: Array, *, k: int, rows: int, columns: int) -> Array:
    return TABLE["diag_part"](g, k=k)


def _set_diag_rule(g: Array, z: Array, x: Array, d: Array, *, k: int) -> Array:
    part = TABLE["diag_part"](g, k=k)
    return TABLE["set_diag"](g, TABLE["zeros_like"](part), k=k), part


declare("diag_part", _diag_part, [_diag_part_rule], op="MatrixDiagPartV3", label="diag", keep="",
        example=lambda rng: ((rng.normal(size=(2, 3, 4)),), {"k": -1}))  # fmt: skip
declare("diag", _diag, [_diag_rule], op="MatrixDiagV3", keep="",
        example=lambda rng: ((rng.normal(size=(2, 3)),), {"k": 1, "rows": -1, "columns": -1}))  # fmt: skip
declare("set_diag", _set_diag, _set_diag_rule, op="MatrixSetDiagV3", keep="",
        example=lambda rng: ((rng.normal(size=(3, 3)), rng.normal(size=2)), {"k": 1}))  # fmt: skip
declare(
    "band_part",
    _band_part,
    [lambda g, z, x, *, lower, upper: TABLE["band_part"](g, lower=lower, upper=upper)],
    op="MatrixBandPart",
    label="band",
    keep="",
    example=lambda rng: ((rng.normal(size=(3, 4)),), {"lower": 1, "upper": 0}),
)
