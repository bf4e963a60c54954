"""Images in another size: each row of the result is a weighted sum of rows of the image, and so each column.

The weights depend on the sizes alone. As a resize is linear, its derivative is the adjoint: the same weights, transposed.
TensorFlow has no derivative of the adjoints, so second derivatives end here.
Axes are batch, height, width, channels.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from . import TABLE, declare

if TYPE_CHECKING:
    from ..typed import Array, Attributes, Function, Object

F = np.float32


def _ends(n: int, size: int) -> tuple[Array, Array, Array]:
    """For each of ``size`` places on an axis of length ``n``: the pixels on both sides, and how near the second one is."""
    place = (np.arange(size, dtype=F) + F(0.5)) * F(n / size) - F(0.5)
    below = np.floor(place)
    first = np.maximum(below.astype(int), 0)
    return first, np.minimum(np.ceil(place).astype(int), n - 1), place - below


def _bilinear_weights(n: int, size: int) -> Array:
    first, second, near = _ends(n, size)
    weights = np.zeros((size, n), F)
    np.add.at(weights, (np.arange(size), first), 1 - near)
    np.add.at(weights, (np.arange(size), second), near)
    return weights


def _bilinear(x: Array, *, size: tuple[int, int]) -> Array:
    first, second, near = _ends(x.shape[2], size[1])
    left, near = x[:, :, first], near[:, None].astype(x.dtype)
    x = left + (x[:, :, second] - left) * near
    first, second, near = _ends(x.shape[1], size[0])
    top, near = x[:, first], near[:, None, None].astype(x.dtype)
    return top + (x[:, second] - top) * near


def _nearest(n: int, size: int) -> Array:
    """The pixel of an axis of length ``n`` that each of ``size`` places takes."""
    place = np.floor((np.arange(size, dtype=F) + F(0.5)) * F(n / size)).astype(int)
    return np.minimum(place, n - 1)


def _nearest_weights(n: int, size: int) -> Array:
    return (_nearest(n, size)[:, None] == np.arange(n)).astype(F)


def _take_nearest(x: Array, *, size: tuple[int, int]) -> Array:
    return x[:, _nearest(x.shape[1], size[0])][:, :, _nearest(x.shape[2], size[1])]


def _cubic(distance: Array, a: float) -> Array:
    """Keys's kernel: 1 at distance 0, 0 from distance 2 on."""
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return np.where(distance < 1, near, np.where(distance < 2, far, 0))


def _bicubic_weights(n: int, size: int) -> Array:
    """Weights of four pixels; TensorFlow looks them up in a table of 1,024 steps."""
    place = (np.arange(size, dtype=F) + F(0.5)) * F(n / size) - F(0.5)
    below = np.floor(place)
    step = np.rint((place - below) * 1024) / 1024
    weights = np.zeros((size, n))
    for offset in range(-1, 3):
        pixel = below.astype(int) + offset
        inside = (pixel >= 0) & (pixel < n)
        np.add.at(weights, (np.flatnonzero(inside), pixel[inside]), _cubic(np.abs(offset - step), -0.5)[inside])
    return _of_sum_one(weights)


def _mitchell(x: Array) -> Array:
    near = (7 * x - 12) * x * x / 6 + 16 / 18
    far = (((-7 / 18) * x + 2) * x - 10 / 3) * x + 16 / 9
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def _lanczos(radius: float) -> Callable[[Array], Array]:
    return lambda x: np.where(x < radius, np.sinc(x) * np.sinc(x / radius), 0)


# how far each kernel reaches, and its weight at a distance
KERNELS: dict[str, tuple[float, Callable[[Array], Array]]] = {
    "lanczos3": (3.0, _lanczos(3.0)),
    "lanczos5": (5.0, _lanczos(5.0)),
    "gaussian": (1.5, lambda x: np.where(x < 1.5, np.exp(-x * x / (2 * 0.5 * 0.5)), 0)),
    "triangle": (1.0, lambda x: np.maximum(1 - x, 0)),
    "keyscubic": (2.0, lambda x: _cubic(x, -0.5)),
    "mitchellcubic": (2.0, _mitchell),
}


def _kernel_weights(n: int, size: int, kernel: str, antialias: bool) -> Array:
    """Weights by distance under a kernel, which is as wide as a pixel of the result when that is the larger one."""
    radius, weigh = KERNELS[kernel]
    scale = F(1) / (F(size) / F(n))
    wide = max(scale, F(1)) if antialias else F(1)
    centre = ((np.arange(size, dtype=F) + F(0.5)) * scale)[:, None]
    pixel = np.arange(n, dtype=F)
    reach = F(radius) * wide
    reached = (pixel >= np.ceil(centre - reach - F(0.5))) & (pixel <= np.floor(centre + reach - F(0.5)))
    weights = np.where(reached, weigh(np.abs((pixel + F(0.5) - centre) * (F(1) / wide))), 0)
    return _of_sum_one(weights)


def _of_sum_one(weights: Array) -> Array:
    """Weights that add up to 1 for each place, unless they vanish."""
    total = weights.sum(1, keepdims=True)
    return (weights / np.where(np.abs(total) < 1000 * np.finfo(F).tiny, 1, total)).astype(F)


def _area_weights(n: int, size: int) -> Array:
    """What part of each place a pixel covers."""
    scale = F(n) / F(size)
    start = (np.arange(size, dtype=F) * scale)[:, None]
    stop = (np.arange(1, size + 1, dtype=F) * scale)[:, None]
    pixel = np.arange(n, dtype=F)
    return (np.clip(np.minimum(stop, pixel + 1) - np.maximum(start, pixel), 0, None) / scale).astype(F)


def _weighed(x: Array, rows: Array, columns: Array) -> Array:
    """The weighted sums over height, then over width."""
    n, height, width, depth = x.shape
    x = (rows.astype(x.dtype) @ x.reshape(n, height, width * depth)).reshape(n, len(rows), width, depth)
    return columns.astype(x.dtype) @ x


def _declare_resize(
    name: str, op: str, weights: Function, attrs: Attributes, forward: Function | None = None,
    missing: str = "unregistered",
) -> None:  # fmt: skip
    """A resize and its adjoint, which has no derivative: in TensorFlow none is registered."""
    weights = functools.lru_cache(32)(weights)
    back = f"{name}_adjoint"

    def resized(x: Array, *, size: tuple[int, int], **more: Object) -> Array:
        rows, columns = (weights(n, s, **more) for n, s in zip(x.shape[1:3], size, strict=True))
        return _weighed(x, rows, columns)

    def gathered(g: Array, *, shape: tuple[int, ...], **more: Object) -> Array:
        rows, columns = (weights(n, s, **more) for n, s in zip(shape[1:3], g.shape[1:3], strict=True))
        return _weighed(g, rows.T, columns.T)

    declare(
        name,
        forward or resized,
        [lambda g, z, x, *, size, **more: TABLE[back](g, shape=tuple(x.shape), **more)],
        op=op,
        keep="",
        example=lambda rng: (
            (rng.normal(size=(2, 4, 3, 2)),), {"size": (3, 5), **attrs}, {"order": 1, "modes": ("rev",)},
        ),
    )  # fmt: skip
    declare(back, gathered, None, op=f"{op}Grad", missing=missing, keep="")


_declare_resize("resize_bilinear", "ResizeBilinear", _bilinear_weights, {}, _bilinear, missing="none")
_declare_resize("resize_nearest", "ResizeNearestNeighbor", _nearest_weights, {}, _take_nearest)
_declare_resize("resize_bicubic", "ResizeBicubic", _bicubic_weights, {})
_declare_resize("scale_and_translate", "ScaleAndTranslate", _kernel_weights, {"kernel": "lanczos3", "antialias": True})


def _area(x: Array, *, size: tuple[int, int]) -> Array:
    return _weighed(x, *(_area_weights(n, s) for n, s in zip(x.shape[1:3], size, strict=True)))


declare("resize_area", _area, None, op="ResizeArea", missing="unregistered", keep="")
