"""The versions of functions of ``tf`` for sparse tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dispatch, dtypes
from ..tensor import wrap
from .tensor import SparseTensor

UNARY = "abs asin asinh atan atanh bessel_i0e bessel_i1e erf negative sign sin sqrt square tan tanh".split()


def install() -> None:
    """Puts the versions for sparse tensors around the functions of ``tf``."""

    def on_values(plain: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        return x.with_values(plain(x.values, *args, **kwargs))

    def whole(answer: Any) -> Any:
        return lambda plain, input, out_type=dtypes.int32, name=None: wrap(
            np.asarray(answer(input), dtypes.as_dtype(out_type or dtypes.int32).as_numpy_dtype)
        )

    versions: dict[str, Any] = {n: on_values for name in UNARY for n in (name, f"math.{name}")}
    versions |= dict.fromkeys(("cast", "identity", "stop_gradient", "nn.tanh"), on_values)
    versions |= {
        "size": whole(lambda st: int(np.prod(st.sizes()))),
        "shape": whole(lambda st: np.array(st.sizes())),
        "rank": lambda plain, input, name=None: wrap(np.int32(len(input.sizes()))),
        "is_tensor": lambda plain, x: True,
        "add": lambda plain, x, y, name=None: (x if isinstance(x, SparseTensor) else y)._to_tensor(),
    }
    dispatch.install(SparseTensor, versions)
