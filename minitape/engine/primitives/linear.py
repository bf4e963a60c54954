"""Matrix products, sums of products, and sums of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..accelerator import fast
from . import TABLE, declare

if TYPE_CHECKING:
    from ..typed import Array, Function


def swapped(x: Array) -> Array:
    """The last two axes swapped."""
    rank = len(x.shape)
    return TABLE["transpose"](x, perm=(*range(rank - 2), rank - 1, rank - 2))


def adjoint_of(x: Array) -> Array:
    """The last two axes swapped; conjugated for complex numbers."""
    x = x.swapaxes(-1, -2) if type(x) is np.ndarray else swapped(x)
    return TABLE["conj"](x) if x.dtype.kind == "c" else x


def _matmul(x: Array, y: Array) -> Array:
    dtype = x.dtype
    if x.ndim == y.ndim == 2 and dtype is y.dtype and dtype.type in (np.float32, np.float64) and x.shape[1] == y.shape[0]:
        return _way(x.shape, y.shape)(x, y)
    (m, k), n = x.shape[-2:], y.shape[-1]
    if dtype.itemsize == 2 and dtype.kind not in "iub":  # half floats are added up in float32
        return np.matmul(x.astype(np.float32), y.astype(np.float32)).astype(dtype)
    if 0 < m * k * n <= 512 and dtype.kind == "f" and k == y.shape[-2]:
        return _in_order(x, y)
    return np.matmul(x, y)


def _way(x: tuple[int, ...], y: tuple[int, ...]) -> Function:
    """How two matrices of these shapes are multiplied."""
    (m, k), n = x, y[1]
    if m * k * n > 512 and k * min(m, n) > 1:
        return np.ndarray.dot if m * n < fast.large else into_buffer  # dot begins sooner
    return _in_order if 0 < m * k * n <= 512 and (m == 1 or n == 1) else np.matmul


def into_buffer(x: Array, y: Array) -> Array:
    """The product of two matrices, in memory of the pool."""
    return np.matmul(x, y, out=fast.buffer((x.shape[0], y.shape[1]), x.dtype))


def _product(x: Array, y: Array) -> Array:
    return _matmul(x, y) if type(x) is type(y) is np.ndarray else TABLE["matmul"](x, y)


def _in_order(x: Array, y: Array) -> Array:
    """The product of small matrices, each element added up from its first term to its last.

    TensorFlow does so for vectors and small batches; NumPy's library does not, and the last digit differs.
    """
    terms = np.swapaxes(x, -1, -2)[..., :, :, None] * y[..., :, None, :]
    if terms.shape[-1] * terms.shape[-2] == 1:  # NumPy would add these in pairs
        return np.add.accumulate(terms, axis=-3)[..., -1, :, :]
    return np.add.reduce(terms, axis=-3)


declare(
    "matmul",
    _matmul,
    [lambda g, z, x, y: _product(g, adjoint_of(y)), lambda g, z, x, y: _product(adjoint_of(x), g)],
    op="MatMul", label="@", keep="xy",
    example=lambda rng: ((rng.normal(size=(2, 3)), rng.normal(size=(3, 2))), {}),
)  # fmt: skip


# -- einsum -----------------------------------------------------------------------------------------------------------


def _check_sizes(xs: Array, left: tuple[str, ...]) -> None:
    """Raises InvalidArgumentError when a label stands for axes of unlike sizes."""
    from ..invalid import invalid

    sizes: dict[str, int] = {}
    for x, labels in zip(xs, left, strict=True):
        for axis, (label, n) in enumerate(zip(labels, x.shape, strict=True)):
            known = sizes.setdefault(label, n)
            if label >= "α":  # axes of an ellipsis broadcast
                sizes[label] = max(known, n)
            elif known != n:
                shape = ",".join(map(str, x.shape))
                raise invalid(f"Expected dimension {known} at axis {axis} of the input shaped [{shape}] but got "
                              f"dimension {n}",
                              "Einsum")  # fmt: skip


def _einsum(*xs: Array, left: tuple[str, ...], right: str) -> Array:
    _check_sizes(xs, left)
    numbers = {label: i for i, label in enumerate(sorted(set("".join(left))))}
    narrow = xs[0].dtype.itemsize == 2 and xs[0].dtype.kind not in "iub"
    operands: list[Array] = []
    for x, labels in zip(xs, left, strict=True):
        operands += [x.astype(np.float32) if narrow else x, [numbers[c] for c in labels]]
    out = np.einsum(*operands, [numbers[c] for c in right], optimize=len(xs) > 1)
    return np.asarray(out).astype(xs[0].dtype) if narrow else np.array(out)


def _einsum_rule(g: Array, z: Array, *xs: Array, left: tuple[str, ...], right: str) -> list[Array]:
    return [_einsum_share(k, g, xs, left, right) for k in range(len(xs))]


def _einsum_share(k: int, g: Array, xs: Array, left: tuple[str, ...], right: str) -> Array:
    """The share of input k: g times the other inputs, with its axes restored.

    A label that only k has was summed: its adjoint is spread by a vector of ones. A label that k repeats took a
    diagonal: the adjoint is put back onto it by a unit matrix.
    """
    labels, x = left[k], xs[k]
    terms = [right, *[left[i] for i in range(len(xs)) if i != k]]
    factors = [g, *[_conjugate(xs[i]) for i in range(len(xs)) if i != k]]
    known, out, fresh = set("".join(terms)), "", iter("ΑΒΓΔΕΖΗΘ")
    for axis, label in enumerate(labels):
        n = x.shape[axis]
        if label in out:
            twin = next(fresh)
            terms.append(label + twin)
            factors.append(_constant(np.eye(n), x, g))
            label = twin
        elif label not in known:
            terms.append(label)
            factors.append(_constant(np.ones(n), x, g))
        out += label
    return TABLE["einsum"](*factors, left=tuple(terms), right=out)


def _conjugate(x: Array) -> Array:
    return TABLE["conj"](x) if x.dtype.kind == "c" else x


def _constant(array: Array, x: Array, g: Array) -> Array:
    """A constant array in the dtype of x; a tensor when the sweep works on tensors."""
    from ..elements import dtype_of_any
    from ..tensor import Tensor, wrap

    array = array.astype(dtype_of_any(x).as_numpy_dtype)
    return wrap(array) if isinstance(g, Tensor) else array


declare(
    "einsum",
    _einsum,
    _einsum_rule,
    op="Einsum",
    keep="all",
    example=lambda rng: ((rng.normal(size=(2, 3)), rng.normal(size=(3, 4))), {"left": ("ij", "jk"), "right": "i"}),
)


# -- sums of tensors --------------------------------------------------------------------------------------------------


def _add_n(*xs: Array) -> Array:
    from ..invalid import invalid

    total = xs[0]
    for i, x in enumerate(xs[1:], 1):
        if x.shape != xs[0].shape:
            shapes = [f"[{','.join(map(str, s.shape))}]" for s in (xs[0], x)]
            raise invalid("Inputs to operation AddN of type AddN must have the same size and shape.  Input 0: "
                          f"{shapes[0]} != input {i}: {shapes[1]}", "AddN")  # fmt: skip
        total = total + x
    return total


declare("add_n", _add_n, lambda g, z, *xs: [g] * len(xs), op="AddN", label="Σ", keep="",
        example=lambda rng: ((rng.normal(size=3), rng.normal(size=3)), {}))  # fmt: skip
declare(
    "l2_loss",
    lambda x: (np.sum(np.square(x.astype(np.float32) if x.dtype.itemsize == 2 else x)) / 2).astype(x.dtype),
    [lambda g, z, x: x * g],
    op="L2Loss",
    label="½Σx²",
    keep="x",
    example=lambda rng: ((rng.normal(size=3),), {}),
)
