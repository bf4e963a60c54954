"""Primitives for diagonals and bands of matrices, which are the last two axes.

A band is the range ``k = (low, high)`` of diagonals: 0 is the main one, positive ones lie above it. Several diagonals
are the rows of a matrix, the highest first, padded to one length: ``align`` says at which end ("RIGHT_LEFT":
diagonals above the main one end at the right, those below begin at the left).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..invalid import invalid, shown
from . import TABLE, declare

if TYPE_CHECKING:
    from ..typed import Array, Attributes, Object

Band = tuple[int, int]


def _length(d: int, rows: int, columns: int) -> int:
    return max(0, min(rows + min(d, 0), columns - max(d, 0)))


def _places(k: Band, rows: int, columns: int, align: str) -> tuple[Array, Array, Array, Array]:
    """For each element of the band: its row and column in the matrix, its row and column among the diagonals."""
    longest = max(_length(d, rows, columns) for d in range(k[0], k[1] + 1))
    out: list[list[int]] = [[], [], [], []]
    above, below = align.split("_")
    for at, d in enumerate(range(k[1], k[0] - 1, -1)):
        n = _length(d, rows, columns)
        start = longest - n if (above if d >= 0 else below) == "RIGHT" else 0
        for i in range(n):
            for part, value in zip(out, (i + max(-d, 0), i + max(d, 0), at, start + i), strict=True):
                part.append(value)
    row, column, diagonal, place = (np.array(part, int) for part in out)
    return row, column, diagonal, place


def _check_band(k: Band, rows: int, columns: int, op: str) -> None:
    for name, d in (("lower", k[0]), ("upper", k[1])):
        if not (-rows < d < columns) and d != 0:
            raise invalid(f"{name}_diag_index is out of bound: {d}. It must be between {-rows} and {columns}", op)
    if k[0] > k[1]:
        raise invalid(f"lower_diag_index must not be larger than upper_diag_index: {k[0]} > {k[1]}", op)


def _diag_part(x: Array, *, k: Band, align: str, padding: Array) -> Array:
    if x.ndim < 2:
        raise invalid(f"input must be at least 2-dim, received shape: {list(x.shape)}", "MatrixDiagPartV3")
    rows, columns = x.shape[-2:]
    _check_band(k, rows, columns, "MatrixDiagPartV3")
    i, j, at, position = _places(k, rows, columns, align)
    longest = max(_length(d, rows, columns) for d in range(k[0], k[1] + 1))
    out = np.full((*x.shape[:-2], k[1] - k[0] + 1, longest), padding, x.dtype)
    out[..., at, position] = x[..., i, j]
    return out[..., 0, :] if k[0] == k[1] else out


def _diag(x: Array, *, k: Band, rows: int, columns: int, align: str, padding: Array) -> Array:
    op = "MatrixDiagV3"
    if x.ndim < 1 or (k[0] != k[1] and x.ndim < 2):
        raise invalid(f"diagonal must be at least {1 if k[0] == k[1] else 2}-dim, received shape: {list(x.shape)}", op)
    rows, columns = _size(x.shape[-1], k, rows, columns)
    longest = max(_length(d, rows, columns) for d in range(k[0], k[1] + 1))
    if longest != x.shape[-1]:
        raise invalid(
            "The number of rows or columns is not consistent with the specified d_lower, d_upper, and diagonal.", op
        )
    band = x[..., None, :] if k[0] == k[1] else x
    i, j, at, position = _places(k, rows, columns, align)
    out = np.full((*band.shape[:-2], rows, columns), padding, x.dtype)
    out[..., i, j] = band[..., at, position]
    return out


def _size(longest: int, k: Band, rows: int, columns: int) -> tuple[int, int]:
    """The size of the smallest matrix that has the band, where it is not given (-1)."""
    least_rows, least_columns = longest - min(k[1], 0), longest + max(k[0], 0)
    if rows == -1 and columns == -1:
        rows = columns = max(least_rows, least_columns)
    return least_rows if rows == -1 else rows, least_columns if columns == -1 else columns


def _set_diag(x: Array, d: Array, *, k: Band, align: str) -> Array:
    op = "MatrixSetDiagV3"
    if x.ndim < 2:
        raise invalid(f"input must be at least 2-dim, received shape: {list(x.shape)}", op)
    rows, columns = x.shape[-2:]
    _check_band(k, rows, columns, op)
    longest = max(_length(n, rows, columns) for n in range(k[0], k[1] + 1))
    expected = [*x.shape[:-2], *([] if k[0] == k[1] else [k[1] - k[0] + 1]), longest]
    if list(d.shape) != expected:
        shapes = [shown(s) for s in (x.shape, d.shape, expected)]
        raise invalid("Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is not "
                      "equal to the longests diagonal in range [lower_diag_index:upper_diag_index].\n"
                      f"Input shape: {shapes[0]}\n"
                      f"Diagonal shape: {shapes[1]}\nExpected diagonal shape: {shapes[2]}", op)  # fmt: skip
    i, j, at, position = _places(k, rows, columns, align)
    out = np.array(x)
    out[..., i, j] = (d[..., None, :] if k[0] == k[1] else d)[..., at, position]
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


def _diag_part_rule(g: Array, z: Array, x: Array, *, k: Band, align: str, padding: Array) -> Array:
    rows, columns = x.shape[-2:]
    return TABLE["diag"](g, k=k, rows=rows, columns=columns, align=align, padding=0)


def _diag_rule(g: Array, z: Array, x: Array, *, k: Band, align: str, **sizes: Object) -> Array:
    return TABLE["diag_part"](g, k=k, align=align, padding=0)


def _set_diag_rule(g: Array, z: Array, x: Array, d: Array, *, k: Band, align: str) -> Array:
    part = TABLE["diag_part"](g, k=k, align=align, padding=0)
    return TABLE["set_diag"](g, TABLE["zeros_like"](part), k=k, align=align), part


def _band_of(rng: np.random.Generator) -> Attributes:
    return {"k": (-1, 1), "align": "RIGHT_LEFT"}


declare("diag_part", _diag_part, [_diag_part_rule], op="MatrixDiagPartV3", label="diag", keep="",
        example=lambda rng: ((rng.normal(size=(2, 3, 4)),), _band_of(rng) | {"padding": 0}))  # fmt: skip
declare("diag", _diag, [_diag_rule], op="MatrixDiagV3", keep="",
        example=lambda rng: ((rng.normal(size=(2, 3)),), {"k": (1, 1), "rows": -1, "columns": -1, "align": "RIGHT_LEFT",
                                                          "padding": 0}))  # fmt: skip
declare("set_diag", _set_diag, _set_diag_rule, op="MatrixSetDiagV3", keep="",
        example=lambda rng: ((rng.normal(size=(3, 3)), rng.normal(size=(3, 3))), _band_of(rng)))  # fmt: skip
declare(
    "band_part",
    _band_part,
    [lambda g, z, x, *, lower, upper: TABLE["band_part"](g, lower=lower, upper=upper)],
    op="MatrixBandPart",
    label="band",
    keep="",
    example=lambda rng: ((rng.normal(size=(3, 4)),), {"lower": 1, "upper": 0}),
)
