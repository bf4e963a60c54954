"""Matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import TABLE, declare


def adjoint_of(x: Any) -> Any:
    """The last two axes swapped; conjugated for complex numbers."""
    rank = len(x.shape)
    x = TABLE["transpose"](x, perm=(*range(rank - 2), rank - 1, rank - 2))
    return TABLE["conj"](x) if x.dtype in (np.complex64, np.complex128, "complex64", "complex128") else x


declare(
    "matmul",
    lambda x, y: np.matmul(x, y),
    [lambda g, z, x, y: TABLE["matmul"](g, adjoint_of(y)), lambda g, z, x, y: TABLE["matmul"](adjoint_of(x), g)],
    op="MatMul", label="@", keep="xy",
)  # fmt: skip
