"""The primitives of sparse tensors: a dense tensor filled with elements, and the product with a dense matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.primitives import TABLE, declare
from ...engine.tensor import Tensor, wrap


def _fill(values: Any, default: Any, *, index: Any, size: int) -> Any:
    out = np.empty(size, values.dtype)
    out[...] = default
    out[index] = values
    return out


def _rows(x: Any, index: Any) -> Any:
    """The rows of an array, or in a recorded sweep of a tensor, with these numbers."""
    return TABLE["gather"](x, wrap(index) if isinstance(x, Tensor) else index, axis=0)


def _default_share(g: Any, z: Any, values: Any, default: Any, *, index: Any, size: int) -> Any:
    total = TABLE["reduce_sum"](g, axis=None, keepdims=False)
    return total - TABLE["reduce_sum"](_rows(g, index), axis=None, keepdims=False)


def _matmul(values: Any, dense: Any, *, rows: Any, columns: Any, size: int) -> Any:
    out = np.zeros((size, dense.shape[1]), np.result_type(values, dense))
    np.add.at(out, rows, values[:, None] * dense[columns])
    return out


def _matmul_rules(g: Any, z: Any, values: Any, dense: Any, *, rows: Any, columns: Any, size: int) -> Any:
    values_c, dense_c = (TABLE["conj"](v) if getattr(v.dtype, "kind", "") == "c" else v for v in (values, dense))
    share = TABLE["reduce_sum"](_rows(g, rows) * _rows(dense_c, columns), axis=(1,), keepdims=False)
    return share, TABLE["sparse_matmul"](values_c, g, rows=columns, columns=rows, size=int(dense.shape[0]))


def _example_fill(rng: Any) -> Any:
    return (rng.standard_normal(2), rng.standard_normal(())), {"index": np.array([3, 0]), "size": 5}


def _example_matmul(rng: Any) -> Any:
    places = {"rows": np.array([0, 1, 1]), "columns": np.array([2, 0, 2]), "size": 2}
    return (rng.standard_normal(3), rng.standard_normal((3, 2))), places


declare(
    "sparse_fill",
    _fill,
    [lambda g, z, values, default, *, index, size: _rows(g, index), _default_share],
    op="SparseToDense",
    keep="",
    example=_example_fill,
)
declare(
    "sparse_matmul", _matmul, _matmul_rules, op="SparseTensorDenseMatMul", label="@", keep="xy", example=_example_matmul
)
