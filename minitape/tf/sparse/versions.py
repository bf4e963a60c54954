"""The versions of functions of ``tf`` for sparse tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.tensor import wrap
from ...ops.arrays import size as plain_size
from ...ops.casts import cast
from ...ops.filling import range as numbers
from ...ops.picking import gather
from ...ops.reductions import reduce_prod
from .. import dispatch
from .tensor import SparseTensor, SparseTensorSpec

UNARY = "abs asin asinh atan atanh bessel_i0e bessel_i1e erf negative sign sin sqrt square tan tanh".split()


def _map_rows(plain: Any, fn: Any, elems: Any, *args: Any, **kwargs: Any) -> Any:
    """``tf.map_fn`` over the slices along the first axis."""
    places, values, shape = elems.indices, elems.values, elems.dense_shape

    def row(number: Any) -> SparseTensor:
        at = wrap(np.flatnonzero(places.array[:, 0] == number.array))
        return SparseTensor(gather(places, at)[:, 1:], gather(values, at), shape[1:])

    like = kwargs.get("fn_output_signature", kwargs.get("dtype", args[0] if args else None))
    if like is None:
        kwargs["fn_output_signature"] = SparseTensorSpec(elems.shape[1:], elems.dtype)
    return plain(lambda number: fn(row(number)), numbers(elems.sizes()[0]), *args, **kwargs)


def _assert_type(plain: Any, tensor: Any, tf_type: Any, message: Any = None, name: Any = None) -> Any:
    return plain(tensor.values, tf_type, message, name)


def install() -> None:
    """Puts the versions for sparse tensors around the functions of ``tf``."""

    def on_values(plain: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        return x.with_values(plain(x.values, *args, **kwargs))

    def whole(answer: Any) -> Any:
        return lambda plain, input, out_type=dtypes.int32, name=None: cast(answer(input.dense_shape), out_type or dtypes.int32)

    versions: dict[str, Any] = dict.fromkeys((*UNARY, "cast", "identity", "stop_gradient", "nn.tanh"), on_values)
    versions |= {
        "size": whole(reduce_prod),
        "shape": whole(lambda sizes: sizes),
        "rank": lambda plain, input, name=None: plain_size(input.dense_shape),
        "is_tensor": lambda plain, x: True,
        "map_fn": _map_rows,
        "debugging.assert_type": _assert_type,
        "add": lambda plain, x, y, name=None: (x if isinstance(x, SparseTensor) else y)._to_tensor(),
    }
    dispatch.install(SparseTensor, versions)
