"""The primitives of sparse tensors, and products with dense ones made of them.

``sparse_pick`` takes elements by number, ``sparse_put`` adds elements up at numbers: each is the other's derivative,
and nearly everything else is made of the two.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.convert import convert_to_tensor
from ...engine.invalid import invalid
from ...engine.operands import placed
from ...engine.operation import apply
from ...engine.primitives import TABLE, declare
from ...engine.tensor import Tensor, wrap


def _put(values: Any, *, index: Any, size: int) -> Any:
    out = np.zeros((size, *values.shape[1:]), values.dtype)
    np.add.at(out, index, values)
    return out


def _fill(values: Any, default: Any, *, index: Any, size: int) -> Any:
    out = np.empty(size, values.dtype)
    out[...] = default
    out[index] = values
    return out


def _default_share(g: Any, z: Any, values: Any, default: Any, *, index: Any, size: int) -> Any:
    total = TABLE["reduce_sum"](g, axis=None, keepdims=False)
    return total - TABLE["reduce_sum"](TABLE["sparse_pick"](g, index=index), axis=None, keepdims=False)


def _matmul(values: Any, dense: Any, *, rows: Any, columns: Any, size: int) -> Any:
    out = np.zeros((size, dense.shape[1]), np.result_type(values, dense))
    np.add.at(out, rows, values[:, None] * dense[columns])
    return out


def _matmul_rules(g: Any, z: Any, values: Any, dense: Any, *, rows: Any, columns: Any, size: int) -> Any:
    values_c, dense_c = (TABLE["conj"](v) if _complex(v) else v for v in (values, dense))
    products = TABLE["sparse_pick"](g, index=rows) * TABLE["sparse_pick"](dense_c, index=columns)
    share = TABLE["reduce_sum"](products, axis=(1,), keepdims=False)
    return share, TABLE["sparse_matmul"](values_c, g, rows=columns, columns=rows, size=int(dense.shape[0]))


def _complex(v: Any) -> bool:
    return getattr(v.dtype, "kind", "") == "c"


def _example_put(rng: Any) -> Any:
    return (rng.standard_normal(4),), {"index": np.array([0, 2, 2, 3]), "size": 5}


def _example_pick(rng: Any) -> Any:
    return (rng.standard_normal(5),), {"index": np.array([3, 0, 3])}


def _example_fill(rng: Any) -> Any:
    return (rng.standard_normal(2), rng.standard_normal(())), {"index": np.array([3, 0]), "size": 5}


def _example_matmul(rng: Any) -> Any:
    places = {"rows": np.array([0, 1, 1]), "columns": np.array([2, 0, 2]), "size": 2}
    return (rng.standard_normal(3), rng.standard_normal((3, 2))), places


declare(
    "sparse_pick",
    lambda values, *, index: values[index],
    [lambda g, z, values, *, index: TABLE["sparse_put"](g, index=index, size=int(values.shape[0]))],
    op="SparsePick",
    keep="",
    example=_example_pick,
)
declare(
    "sparse_put",
    _put,
    [lambda g, z, values, *, index, size: TABLE["sparse_pick"](g, index=index)],
    op="SparsePut",
    keep="",
    example=_example_put,
)
declare(
    "sparse_fill",
    _fill,
    [lambda g, z, values, default, *, index, size: TABLE["sparse_pick"](g, index=index), _default_share],
    op="SparseToDense",
    keep="",
    example=_example_fill,
)
declare(
    "sparse_matmul", _matmul, _matmul_rules, op="SparseTensorDenseMatMul", label="@", keep="xy", example=_example_matmul
)
declare("sparse_join", lambda *values, order: np.concatenate(values)[order], None, op="SparseConcat")
declare(
    "sparse_max",
    lambda values, *, index, size: _largest(values, index, size),
    None,
    op="SparseReduceMax",
    missing="unregistered",
)


def _largest(values: Any, index: Any, size: int) -> Any:
    out = np.zeros(size, values.dtype)
    seen = np.zeros(size, bool)
    for i, v in zip(index, values, strict=True):
        out[i] = v if not seen[i] else max(out[i], v)
        seen[i] = True
    return out


def pick(values: Any, index: Any) -> Any:
    """The elements with these numbers."""
    return apply(TABLE["sparse_pick"], (values,), {"index": np.asarray(index, np.int64)})


def put(values: Any, index: Any, size: int) -> Any:
    """Elements added up at their numbers, zeros elsewhere."""
    return apply(TABLE["sparse_put"], (values,), {"index": np.asarray(index, np.int64), "size": int(size)})


def places(st: Any, sizes: tuple[int, ...] | None = None) -> Any:
    """The number of each element when the dense tensor is read row by row."""
    sizes = st.sizes() if sizes is None else sizes
    index = st.indices.array
    flat = np.zeros(len(index), np.int64)
    for axis, n in enumerate(sizes):
        flat = flat * n + index[:, axis]
    return flat


def checked(st: Any, op: str) -> None:
    """InvalidArgumentError unless the places are in order, inside the shape, and each only once."""
    index, sizes = st.indices.array, np.array(st.sizes())
    before: tuple[int, ...] | None = None
    for i, row in enumerate(index):
        shown = ",".join(map(str, row.tolist()))
        if (row < 0).any() or (row >= sizes).any():
            raise invalid(
                f"indices[{i}] = [{shown}] is out of bounds: need 0 <= index < [{','.join(map(str, sizes.tolist()))}]",
                op,
            )
        now = tuple(row.tolist())
        if before is not None and now == before:
            raise invalid(f"indices[{i}] = [{shown}] is repeated", op)
        if before is not None and now < before:
            raise invalid(
                f"indices[{i}] = [{shown}] is out of order. Many sparse ops require sorted indices.\n    Use "
                "`tf.sparse.reorder` to create a correctly ordered copy.\n\n",
                op,
            )
        before = now


@placed
def times_dense(st: Any, dense: Any, divide: bool = False) -> Any:
    """The elements times (or divided by) those of a dense tensor at their places; it may be broadcast to the shape."""
    from .tensor import SparseTensor

    op = "SparseDenseCwiseDiv" if divide else "SparseDenseCwiseMul"
    dense = dense if isinstance(dense, Tensor) else convert_to_tensor(dense, st.dtype)
    mine = tuple(int(n) for n in dense.shape)
    sizes = st.sizes() if mine else ()
    if dense.dtype != st.dtype:
        raise invalid(
            f"cannot compute {op} as input #3(zero-based) was expected to be a {st.dtype.kernel_name} tensor but is a "
            f"{dense.dtype.kernel_name} tensor",
            op,
        )
    fits = len(mine) <= len(sizes) and all(m in (1, n) for m, n in zip(reversed(mine), reversed(sizes), strict=False))
    if not fits:
        show = [",".join(map(str, s)) for s in (sizes, mine)]
        raise invalid(
            f"SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: [{show[0]}] vs. "
            f"[{show[1]}]",
            op,
        )
    if not mine:
        other = dense
    else:
        padded = (1,) * (len(sizes) - len(mine)) + mine
        index = st.indices.array * (np.array(padded) != 1)
        flat = np.zeros(len(index), np.int64)
        for axis, n in enumerate(padded):
            flat = flat * n + index[:, axis]
        other = pick(TABLE["reshape"](dense, shape=(int(np.prod(mine)),)), flat)
    values = TABLE["divide"](st.values, other) if divide else TABLE["multiply"](st.values, other)
    return SparseTensor(st.indices, values, st.dense_shape)


def sparse(index: Any, values: Any, sizes: Any) -> Any:
    """A sparse tensor of arrays of places and sizes."""
    from .tensor import SparseTensor

    return SparseTensor(wrap(np.asarray(index, np.int64)), values, wrap(np.asarray(sizes, np.int64)))
