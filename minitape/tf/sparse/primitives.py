"""The primitive of sparse tensors: the product with a dense matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.table.primitives import TABLE, declare
from ...engine.tensor.tensor import Tensor, wrap


def _rows(x: Any, index: Any) -> Any:
    """The rows of an array, or in a recorded sweep of a tensor, with these numbers."""
    return TABLE["gather"](x, wrap(index) if isinstance(x, Tensor) else index, axis=0)


def _matmul(values: Any, dense: Any, *, rows: Any, columns: Any, size: int) -> Any:
    out = np.zeros((size, dense.shape[1]), np.result_type(values, dense))
    np.add.at(out, rows, values[:, None] * dense[columns])
    return out


def _matmul_rules(g: Any, z: Any, values: Any, dense: Any, *, rows: Any, columns: Any, size: int) -> Any:
    values_c, dense_c = (TABLE["conj"](v) if getattr(v.dtype, "kind", "") == "c" else v for v in (values, dense))
    share = TABLE["reduce_sum"](_rows(g, rows) * _rows(dense_c, columns), axis=(1,), keepdims=False)
    return share, TABLE["sparse_matmul"](values_c, g, rows=columns, columns=rows, size=int(dense.shape[0]))


declare("sparse_matmul", _matmul, _matmul_rules, op="SparseTensorDenseMatMul", label="@", keep="xy")
