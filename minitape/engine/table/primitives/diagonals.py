"""Declare primitives for matrix diagonals. The last two axes of an array are the rows and columns."""

import numpy as np

from ...types import Array
from ...values.argument_errors import build_argument_error
from . import TABLE, declare


def _compute_diag_part(x: Array) -> Array:
    if x.ndim < 2:
        raise build_argument_error(
            f"An array of shape {x.shape} has no diagonal, because a diagonal needs two axes.", "MatrixDiagPartV3"
        )
    return np.diagonal(x, 0, -2, -1).copy()


def _compute_diag(x: Array, *, rows: int, columns: int) -> Array:
    matrix = np.zeros((*x.shape[:-1], rows, columns), x.dtype)
    positions = np.arange(x.shape[-1])
    matrix[..., positions, positions] = x
    return matrix


declare("diag_part", _compute_diag_part, [lambda g, z, x: TABLE["diag"](g, rows=x.shape[-2], columns=x.shape[-1])],
        op="MatrixDiagPartV3", label="diag", keep="")  # fmt: skip
declare("diag", _compute_diag, [lambda g, z, x, *, rows, columns: TABLE["diag_part"](g)], op="MatrixDiagV3", keep="")
