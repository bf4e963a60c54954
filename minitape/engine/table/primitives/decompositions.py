"""Primitives on square matrices: det, inv, solve. Batches in the first axes.

The rules follow M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...recording.state import first_run
from ...values.invalid import invalid
from . import TABLE, declare
from .linear import adjoint_of

if TYPE_CHECKING:
    from ...types import Array, Function


def _of_square(op: str, function: Function) -> Function:
    """A function of square matrices; InvalidArgumentError for others, and for those that have no inverse."""

    def forward(x: Array, *others: Array) -> Array:
        if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
            raise invalid(f"Input matrix must be square, got shape {x.shape}.", op)
        try:
            return function(x, *others)
        except np.linalg.LinAlgError:
            if (trace := first_run()) is not None and not trace.has_values:
                return (x, *others)[-1]  # zeros stand for the values of a later run: of the result the shape counts
            raise invalid("Input matrix is not invertible.", op) from None
        except ValueError as error:
            raise invalid(f"Input matrix and right side are incompatible: {error}", op) from None

    return forward


def _product(x: Array, y: Array) -> Array:
    return TABLE["matmul"](x, y)


def _det_rule(g: Array, z: Array, x: Array) -> Array:
    return TABLE["reshape"](g * z, shape=(*z.shape, 1, 1)) * adjoint_of(TABLE["inv"](x))


def _inv_rule(g: Array, z: Array, x: Array) -> Array:
    return -_product(adjoint_of(z), _product(g, adjoint_of(z)))


def _solve_rules(g: Array, z: Array, a: Array, b: Array) -> tuple[Array, Array]:
    of_b = TABLE["solve"](adjoint_of(a), g)
    return -_product(of_b, adjoint_of(z)), of_b


declare("det", _of_square("MatrixDeterminant", np.linalg.det), [_det_rule], op="MatrixDeterminant", keep="xz")
declare("inv", _of_square("MatrixInverse", np.linalg.inv), [_inv_rule], op="MatrixInverse", label="x⁻¹", keep="z")
declare("solve", _of_square("MatrixSolve", np.linalg.solve), _solve_rules, op="MatrixSolve", label="a⁻¹b", keep="xyz")
