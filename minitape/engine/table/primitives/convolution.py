"""Convolution and pooling of images: batch, height, width, channels.

A convolution and its two adjoints are three bilinear maps that are each other's derivatives, so each rule names the
other two. All of them run as matrix products over windows (``im2col``) or, where windows would have to be added up
again, over one tap of the filter at a time. ``pads`` are the zeros added before and after each spatial axis.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from ..accelerator import fast
from . import TABLE, declare
from .linear import into_buffer
from .numerics import in_single, lowest
from .selecting import select

if TYPE_CHECKING:
    from ...types import Array, NumPyType, Object

Sizes = tuple[int, ...]
Pads = tuple[tuple[int, int], ...]
_ALL = slice(None)


def _pad(x: Array, pads: Pads, value: Array = 0) -> Array:
    """x with a border around the spatial axes."""
    return np.pad(x, ((0, 0), *pads, (0, 0)), constant_values=value) if any(map(any, pads)) else x


def _columns(x: Array, size: Sizes, strides: Sizes, dilations: Sizes) -> Array:
    """All windows of a padded array: batch, their places, what is in them, channels. So they lie in memory."""
    n = len(size)
    reach = [(k - 1) * d + 1 for k, d in zip(size, dilations, strict=True)]
    if any(have < need for have, need in zip(x.shape[1:], reach, strict=False)):
        count = [max(0, (x.shape[i + 1] - reach[i]) // strides[i] + 1) for i in range(n)]
        return np.zeros((x.shape[0], *count, *size, x.shape[-1]), x.dtype)
    view = np.lib.stride_tricks.sliding_window_view(x, reach, tuple(range(1, n + 1)))
    view = view[(_ALL, *(slice(None, None, s) for s in strides), _ALL, *(slice(None, None, d) for d in dilations))]
    view = view.transpose((*range(n + 1), *range(n + 2, 2 * n + 2), n + 1))
    out = fast.buffer(view.shape, view.dtype) if view.size >= fast.large else np.empty(view.shape, view.dtype)
    out[...] = view
    return out


def _spots(tap: Sizes, count: Sizes, strides: Sizes, dilations: Sizes) -> tuple[slice, ...]:
    """Where a tap of the filter lies in a padded array, for every output position."""
    places = zip(tap, count, strides, dilations, strict=True)
    return (_ALL, *[slice(i * d, i * d + (n - 1) * s + 1, s) for i, n, s, d in places])


def _overlay(
    parts: Iterable[Array], g: Array, shape: Sizes, size: Sizes, strides: Sizes, pads: Pads, dilations: Sizes = (1, 1)
) -> Array:
    """The opposite of windows: an array of this shape to which, for each tap in order, its part of the adjoint g is
    added.
    """
    out = np.zeros((shape[0], *[n + sum(pad) for n, pad in zip(shape[1:-1], pads, strict=True)], shape[-1]), g.dtype)
    if all(g.shape[1:-1]):
        for tap, part in zip(np.ndindex(size), parts, strict=False):
            out[_spots(tap, g.shape[1:-1], strides, dilations)] += part
    return out[(_ALL, *[slice(before, n - after) for (before, after), n in zip(pads, out.shape[1:], strict=False)])]


# -- convolution -----------------------------------------------------------------------------------


@in_single
def _conv(x: Array, k: Array, *, strides: Sizes, pads: Pads, dilations: Sizes) -> Array:
    columns = _columns(_pad(x, pads), k.shape[:-2], strides, dilations)
    out = _times(columns.reshape(-1, math.prod(k.shape[:-1])), k.reshape(-1, k.shape[-1]))
    return out.reshape(*columns.shape[: k.ndim - 1], k.shape[-1])


def _times(a: Array, b: Array) -> Array:
    return into_buffer(a, b) if len(a) * b.shape[1] >= fast.large else a @ b


@in_single
def _conv_input(g: Array, k: Array, *, shape: Sizes, strides: Sizes, pads: Pads, dilations: Sizes) -> Array:
    flat, size = g.reshape(-1, k.shape[-1]), k.shape[:-2]
    parts = (_times(flat, k[tap].T).reshape(*g.shape[:-1], k.shape[-2]) for tap in np.ndindex(size))
    return _overlay(parts, g, shape, size, strides, pads, dilations)


@in_single
def _conv_filter(x: Array, g: Array, *, size: Sizes, strides: Sizes, pads: Pads, dilations: Sizes) -> Array:
    columns = _columns(_pad(x, pads), size, strides, dilations)
    flat = columns.reshape(-1, math.prod(size) * x.shape[-1])
    return (flat.T @ g.reshape(-1, g.shape[-1])).reshape(*size, x.shape[-1], g.shape[-1])


declare("conv2d", _conv, [
    lambda g, z, x, k, **attrs: TABLE["conv2d_input"](g, k, shape=tuple(x.shape), **attrs),
    lambda g, z, x, k, **attrs: TABLE["conv2d_filter"](x, g, size=tuple(k.shape)[:-2], **attrs),
], op="Conv2D", label="∗", keep="xy")  # fmt: skip
declare("conv2d_input", _conv_input, [
    lambda g, z, x, k, *, shape, **attrs: TABLE["conv2d"](g, k, **attrs),
    lambda g, z, x, k, *, shape, **attrs: TABLE["conv2d_filter"](g, x, size=tuple(k.shape)[:-2], **attrs),
], op="Conv2DBackpropInput_", label="∗ᵀ", keep="xy")  # fmt: skip
declare("conv2d_filter", _conv_filter, [
    lambda g, z, x, y, *, size, **attrs: TABLE["conv2d_input"](y, g, shape=tuple(x.shape), **attrs),
    lambda g, z, x, y, *, size, **attrs: TABLE["conv2d"](x, g, **attrs),
], op="Conv2DBackpropFilter_", label="∗ᵀ", keep="xy")  # fmt: skip


# -- pooling ---------------------------------------------------------------------------------------


def _pooled_shape(shape: Sizes, size: Sizes, strides: Sizes, pads: Pads) -> Sizes:
    """The shape of one number for each window."""
    axes = zip(shape[1:-1], pads, size, strides, strict=True)
    return (shape[0], *[max(0, (n + sum(pad) - k) // s + 1) for n, pad, k, s in axes], shape[-1])


def _views(x: Array, size: Sizes, strides: Sizes, pads: Pads, border: Array) -> Iterator[Array]:
    """What is at each place in a window, in order: of all windows of the padded array."""
    count, full = _pooled_shape(x.shape, size, strides, pads)[1:-1], _pad(x, pads, border)
    return (full[_spots(tap, count, strides, (1, 1))] for tap in np.ndindex(size) if all(count))


def _max_pool(x: Array, *, size: Sizes, strides: Sizes, pads: Pads) -> Array:
    out = np.empty(_pooled_shape(x.shape, size, strides, pads), x.dtype)
    for number, view in enumerate(_views(x, size, strides, pads, lowest(x.dtype))):
        np.fmax(out if number else view, view, out=out)
    return out


def _winners(x: Array, size: Sizes, strides: Sizes, pads: Pads) -> Iterator[Array]:
    """For each place in a window, in order: which windows have their first largest element there."""
    if x.dtype.kind == "f" and np.isnan(x).any():
        x = np.where(np.isnan(x), lowest(x.dtype), x)
    best = _max_pool(x, size=size, strides=strides, pads=pads)
    waiting = np.ones(best.shape, bool)
    for view in _views(x, size, strides, pads, lowest(x.dtype)):
        won = (view == best) & waiting
        waiting &= ~won
        yield won


def _max_unpool(g: Array, x: Array, *, size: Sizes, strides: Sizes, pads: Pads) -> Array:
    """Adds each window's adjoint to its largest element."""
    parts = (select(won, g, 0) for won in _winners(x, size, strides, pads))
    return _overlay(parts, g, x.shape, size, strides, pads)


def _max_repool(g: Array, x: Array, *, size: Sizes, strides: Sizes, pads: Pads) -> Array:
    """What g has where x has the largest element of each window."""
    out = np.zeros(_pooled_shape(g.shape, size, strides, pads), g.dtype)
    for won, view in zip(_winners(x, size, strides, pads), _views(g, size, strides, pads, 0), strict=True):
        np.copyto(out, view, where=won)
    return out


def _total(x: Array, size: Sizes, strides: Sizes, pads: Pads) -> Array:
    """The sum of each window."""
    total = np.zeros(_pooled_shape(x.shape, size, strides, pads), x.dtype)
    for view in _views(x, size, strides, pads, 0):
        total += view
    return total


def _counts(shape: Sizes, size: Sizes, strides: Sizes, pads: Pads, dtype: NumPyType) -> Array:
    """How many elements each window has inside the array."""
    return _total(np.ones((1, *shape[1:-1], 1), dtype), size, strides, pads)


def _avg_pool(x: Array, *, size: Sizes, strides: Sizes, pads: Pads) -> Array:
    return _total(x, size, strides, pads) / _counts(x.shape, size, strides, pads, x.dtype)


def _avg_unpool(g: Array, *, shape: Sizes, size: Sizes, strides: Sizes, pads: Pads) -> Array:
    g = g / _counts(shape, size, strides, pads, g.dtype)
    return _overlay(repeat(g), g, shape, size, strides, pads)


def _no_share(g: Array, z: Array, y: Array, x: Array, **attrs: Object) -> Array:
    return TABLE["zeros_like"](x)


declare("max_pool", _max_pool, [lambda g, z, x, **attrs: TABLE["max_unpool"](g, x, **attrs)], op="MaxPool", keep="x")
declare("max_unpool", _max_unpool, [lambda g, z, y, x, **attrs: TABLE["max_repool"](g, x, **attrs), _no_share],
        op="MaxPoolGrad_", keep="y")  # fmt: skip
declare("max_repool", _max_repool, [lambda g, z, y, x, **attrs: TABLE["max_unpool"](g, x, **attrs), _no_share],
        op="MaxPoolGradGrad_", keep="y")  # fmt: skip
declare("avg_pool", _avg_pool, [lambda g, z, x, **attrs: TABLE["avg_unpool"](g, shape=tuple(x.shape), **attrs)],
        op="AvgPool", keep="")  # fmt: skip
declare(
    "avg_unpool",
    _avg_unpool,
    [lambda g, z, y, *, shape, **attrs: TABLE["avg_pool"](g, **attrs)],
    op="AvgPoolGrad_",
    keep="",
)
