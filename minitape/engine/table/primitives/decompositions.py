"""Declare primitives for square matrices: det, inv and solve. All axes of an array except the last two are batch axes.

The rules follow M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008).
"""

import numpy as np

from ...record.thread_state import get_current_first_run
from ...types import Array, Function
from ...values.argument_errors import build_argument_error
from . import TABLE, declare
from .linear import transpose_and_conjugate


def _wrap_to_refuse_nonsquare_or_singular(op: str, function: Function) -> Function:
    """Make a function raise InvalidArgumentError if a matrix is not square or is singular."""

    def compute_of_square(x: Array, *others: Array) -> Array:
        if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
            raise build_argument_error(f"Input matrix must be square, got shape {x.shape}.", op)
        try:
            return function(x, *others)
        except np.linalg.LinAlgError:
            if (first_run := get_current_first_run()) is not None and not first_run.has_values:
                # This first run computes with zeros in place of real values, so only the shape of the result matters.
                return others[-1] if others else x
            raise build_argument_error("Input matrix is not invertible.", op) from None
        except ValueError as error:
            raise build_argument_error(f"Input matrix and right side are incompatible: {error}", op) from None

    return compute_of_square


_multiply_matrices = TABLE["matmul"]


def _apply_inv_rule(g: Array, z: Array, x: Array) -> Array:
    return -_multiply_matrices(transpose_and_conjugate(z), _multiply_matrices(g, transpose_and_conjugate(z)))


def _apply_solve_rules(g: Array, z: Array, a: Array, b: Array) -> tuple[Array, Array]:
    share_of_b = TABLE["solve"](transpose_and_conjugate(a), g)
    return -_multiply_matrices(share_of_b, transpose_and_conjugate(z)), share_of_b


declare(
    "det",
    _wrap_to_refuse_nonsquare_or_singular("MatrixDeterminant", np.linalg.det),
    [lambda g, z, x: TABLE["reshape"](g * z, shape=(*z.shape, 1, 1)) * transpose_and_conjugate(TABLE["inv"](x))],
    op="MatrixDeterminant",
    keep="xz",
)
declare(
    "inv",
    _wrap_to_refuse_nonsquare_or_singular("MatrixInverse", np.linalg.inv),
    [_apply_inv_rule],
    op="MatrixInverse",
    label="x⁻¹",
    keep="z",
)
declare(
    "solve",
    _wrap_to_refuse_nonsquare_or_singular("MatrixSolve", np.linalg.solve),
    _apply_solve_rules,
    op="MatrixSolve",
    label="a⁻¹b",
    keep="xyz",
)
