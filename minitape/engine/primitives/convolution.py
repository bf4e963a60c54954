"""Convolution and pooling of images: batch, height, width, channels.

A convolution and its two adjoints are three bilinear maps that are each other's derivatives, so each rule names the
other two. All of them run as matrix products over windows (``im2col``) or, where windows would have to be added up
again, over one tap of the filter at a time. ``pads`` are the zeros added before and after each spatial axis.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..accelerator import fast
from . import TABLE, declare
from .linear import into_buffer
from .selecting import select

if TYPE_CHECKING:
    from ..typed import Array, Attributes, NumPyType, Object
    from . import Example

Sizes = tuple[int, ...]
Pads = tuple[tuple[int, int], ...]
_ALL = slice(None)


def padded(x: Array, pads: Pads, value: Array = 0) -> Array:
    """x with a border around the spatial axes."""
    if not any(map(any, pads)):
        return x
    return np.pad(x, ((0, 0), *pads, (0, 0)), constant_values=value)


def windows(x: Array, size: Sizes, strides: Sizes, dilations: Sizes | None = None) -> Array:
    """All windows of a padded array: batch, their places, channels, and what is in them (a view)."""
    n = len(size)
    holes = dilations or (1,) * n
    reach = [(k - 1) * d + 1 for k, d in zip(size, holes, strict=True)]
    if any(have < need for have, need in zip(x.shape[1:], reach, strict=False)):
        count = [max(0, (x.shape[i + 1] - reach[i]) // strides[i] + 1) for i in range(n)]
        return np.zeros((x.shape[0], *count, x.shape[-1], *size), x.dtype)
    view = np.lib.stride_tricks.sliding_window_view(x, reach, tuple(range(1, n + 1)))
    return view[(_ALL, *(slice(None, None, s) for s in strides), _ALL, *(slice(None, None, d) for d in holes))]


def _columns(x: Array, size: Sizes, strides: Sizes, dilations: Sizes) -> Array:
    """The windows with the channels last, which is the order in which they lie in memory."""
    n = len(size)
    order = (*range(n + 1), *range(n + 2, 2 * n + 2), n + 1)
    view = windows(x, size, strides, dilations).transpose(order)
    if view.size < fast.large:
        return np.ascontiguousarray(view)
    out = fast.buffer(view.shape, view.dtype)
    out[...] = view
    return out


def _taps(size: Sizes, dilations: Sizes) -> Iterator[tuple[Sizes, list[int]]]:
    """The position of each tap of a filter, and where its window begins."""
    for tap in np.ndindex(size):
        yield tap, [i * d for i, d in zip(tap, dilations, strict=True)]


def _spots(start: Array, count: Array, strides: Sizes) -> tuple[Array, ...]:
    """Where a tap of the filter lies for every output position."""
    return (_ALL, *(slice(s, s + (n - 1) * t + 1, t) for s, n, t in zip(start, count, strides, strict=True)))


def _cropped(x: Array, pads: Pads) -> Array:
    return x[(_ALL, *(slice(before, n - after) for (before, after), n in zip(pads, x.shape[1:], strict=False)))]


def _padded_shape(shape: Sizes, pads: Pads) -> tuple[int, ...]:
    return (shape[0], *(n + sum(pad) for n, pad in zip(shape[1:-1], pads, strict=True)), shape[-1])


# -- convolution ------------------------------------------------------------------------------------------------------


def _conv(x: Array, k: Array, *, strides: Sizes, pads: Pads, dilations: Sizes) -> Array:
    columns = _columns(padded(x, pads), k.shape[:-2], strides, dilations)
    out = _times(columns.reshape(-1, math.prod(k.shape[:-1])), k.reshape(-1, k.shape[-1]))
    return out.reshape(*columns.shape[: k.ndim - 1], k.shape[-1])


def _times(a: Array, b: Array) -> Array:
    return into_buffer(a, b) if len(a) * b.shape[1] >= fast.large else a @ b


def _conv_input(g: Array, k: Array, *, shape: Sizes, strides: Sizes, pads: Pads, dilations: Sizes) -> Array:
    out = np.zeros(_padded_shape(shape, pads), g.dtype)
    if all(g.shape[1:-1]):
        flat = g.reshape(-1, k.shape[-1])
        for tap, start in _taps(k.shape[:-2], dilations):
            out[_spots(start, g.shape[1:-1], strides)] += _times(flat, k[tap].T).reshape(*g.shape[:-1], -1)
    return _cropped(out, pads)


def _conv_filter(x: Array, g: Array, *, size: Sizes, strides: Sizes, pads: Pads, dilations: Sizes) -> Array:
    columns = _columns(padded(x, pads), size, strides, dilations)
    flat = columns.reshape(-1, math.prod(size) * x.shape[-1])
    return (flat.T @ g.reshape(-1, g.shape[-1])).reshape(*size, x.shape[-1], g.shape[-1])


def _convolved(rng: np.random.Generator) -> tuple[tuple[Array, Array], Attributes]:
    attrs: Attributes = {"strides": (2, 1), "pads": ((1, 0), (0, 1)), "dilations": (1, 1)}
    return (rng.normal(size=(2, 4, 3, 2)), rng.normal(size=(2, 2, 2, 2))), attrs


def _convolved_back(rng: np.random.Generator, to_input: bool) -> Example:
    """An adjoint in the place of the input, or of the filter."""
    (x, k), attrs = _convolved(rng)
    g = rng.normal(size=_conv(x, k, **attrs).shape)
    return ((g, k), attrs | {"shape": x.shape}) if to_input else ((x, g), attrs | {"size": k.shape[:-2]})


declare("conv2d", _conv, [
    lambda g, z, x, k, **attrs: TABLE["conv2d_input"](g, k, shape=tuple(x.shape), **attrs),
    lambda g, z, x, k, **attrs: TABLE["conv2d_filter"](x, g, size=tuple(k.shape)[:-2], **attrs),
], op="Conv2D", label="∗", keep="xy", example=_convolved)  # fmt: skip
declare("conv2d_input", _conv_input, [
    lambda g, z, x, k, *, shape, **attrs: TABLE["conv2d"](g, k, **attrs),
    lambda g, z, x, k, *, shape, **attrs: TABLE["conv2d_filter"](g, x, size=tuple(k.shape)[:-2], **attrs),
], op="Conv2DBackpropInput_", label="∗ᵀ", keep="xy", example=lambda rng: _convolved_back(rng, True))  # fmt: skip
declare("conv2d_filter", _conv_filter, [
    lambda g, z, x, y, *, size, **attrs: TABLE["conv2d_input"](y, g, shape=tuple(x.shape), **attrs),
    lambda g, z, x, y, *, size, **attrs: TABLE["conv2d"](x, g, **attrs),
], op="Conv2DBackpropFilter_", label="∗ᵀ", keep="xy", example=lambda rng: _convolved_back(rng, False))  # fmt: skip


# -- pooling ----------------------------------------------------------------------------------------------------------


def _lowest(x: Array) -> Array:
    return np.iinfo(x.dtype).min if x.dtype.kind in "iu" else -np.inf


def _count(shape: Sizes, size: Sizes, strides: Sizes, pads: Pads) -> tuple[int, ...]:
    """How many windows there are along each spatial axis."""
    return tuple(max(0, (n + sum(pad) - k) // s + 1) for n, pad, k, s in zip(shape[1:], pads, size, strides, strict=False))


def _views(x: Array, size: Sizes, strides: Sizes, pads: Pads, border: Array) -> Iterator[tuple[tuple[Array, ...], Array]]:
    """For each place in a window, in order: where it lies for all windows of the padded array, and what is there."""
    count, full = _count(x.shape, size, strides, pads), padded(x, pads, border)
    if all(count):
        for _, start in _taps(size, (1,) * len(size)):
            spot = _spots(start, count, strides)
            yield spot, full[spot]


def _max_pool(x: Array, *, size: Sizes, strides: Sizes, pads: Pads) -> Array:
    out = np.empty((x.shape[0], *_count(x.shape, size, strides, pads), x.shape[-1]), x.dtype)
    for number, (_, view) in enumerate(_views(x, size, strides, pads, _lowest(x))):
        np.fmax(out if number else view, view, out=out)
    return out


def _winners(x: Array, size: Sizes, strides: Sizes, pads: Pads) -> Iterator[tuple[tuple[Array, ...], Array]]:
    """For each place in a window: where it lies in the padded array, and which windows have their first largest there."""
    if x.dtype.kind == "f" and np.isnan(x).any():
        x = np.where(np.isnan(x), _lowest(x), x)
    best = _max_pool(x, size=size, strides=strides, pads=pads)
    waiting = np.ones(best.shape, bool)
    for spot, view in _views(x, size, strides, pads, _lowest(x)):
        won = (view == best) & waiting
        waiting &= ~won
        yield spot, won


def _max_unpool(g: Array, x: Array, *, size: Sizes, strides: Sizes, pads: Pads) -> Array:
    out = np.zeros(_padded_shape(x.shape, pads), g.dtype)
    for spot, won in _winners(x, size, strides, pads):
        out[spot] += select(won, g, 0)
    return _cropped(out, pads)


def _max_repool(g: Array, x: Array, *, size: Sizes, strides: Sizes, pads: Pads) -> Array:
    out = np.zeros((g.shape[0], *_count(g.shape, size, strides, pads), g.shape[-1]), g.dtype)
    full = padded(g, pads)
    for spot, won in _winners(x, size, strides, pads):
        np.copyto(out, full[spot], where=won)
    return out


def _counts(shape: Sizes, size: Sizes, strides: Sizes, pads: Pads, dtype: NumPyType) -> Array:
    """How many elements each window has inside the array."""
    return _total(np.ones((1, *shape[1:-1], 1), dtype), size, strides, pads)


def _total(x: Array, size: Sizes, strides: Sizes, pads: Pads) -> Array:
    """The sum of each window."""
    total = np.zeros((x.shape[0], *_count(x.shape, size, strides, pads), x.shape[-1]), x.dtype)
    for _, view in _views(x, size, strides, pads, 0):
        total += view
    return total


def _avg_pool(x: Array, *, size: Sizes, strides: Sizes, pads: Pads) -> Array:
    return _total(x, size, strides, pads) / _counts(x.shape, size, strides, pads, x.dtype)


def _avg_unpool(g: Array, *, shape: Sizes, size: Sizes, strides: Sizes, pads: Pads) -> Array:
    out = np.zeros(_padded_shape(shape, pads), g.dtype)
    if all(g.shape[1:-1]):
        g = g / _counts(shape, size, strides, pads, g.dtype)
        for _, start in _taps(size, (1,) * len(size)):
            out[_spots(start, g.shape[1:-1], strides)] += g
    return _cropped(out, pads)


def _spread_out(rng: np.random.Generator, *shape: int) -> Array:
    return 3.0 * rng.permutation(int(np.prod(shape))).reshape(shape).astype(float)


def _no_share(g: Array, z: Array, y: Array, x: Array, **attrs: Object) -> Array:
    return TABLE["zeros_like"](x)


_WINDOW: Attributes = {"size": (2, 2), "strides": (2, 1), "pads": ((0, 1), (0, 0))}
_LARGE, _SMALL = (1, 3, 3, 2), (1, 2, 2, 2)

declare("max_pool", _max_pool, [lambda g, z, x, **attrs: TABLE["max_unpool"](g, x, **attrs)], op="MaxPool", keep="x",
        example=lambda rng: ((_spread_out(rng, *_LARGE),), _WINDOW))  # fmt: skip
declare("max_unpool", _max_unpool, [lambda g, z, y, x, **attrs: TABLE["max_repool"](g, x, **attrs), _no_share],
        op="MaxPoolGrad_", keep="y",
        example=lambda rng: ((rng.normal(size=_SMALL), _spread_out(rng, *_LARGE)), _WINDOW))  # fmt: skip
declare("max_repool", _max_repool, [lambda g, z, y, x, **attrs: TABLE["max_unpool"](g, x, **attrs), _no_share],
        op="MaxPoolGradGrad_", keep="y",
        example=lambda rng: ((rng.normal(size=_LARGE), _spread_out(rng, *_LARGE)), _WINDOW))  # fmt: skip
declare("avg_pool", _avg_pool, [lambda g, z, x, **attrs: TABLE["avg_unpool"](g, shape=tuple(x.shape), **attrs)],
        op="AvgPool", keep="", example=lambda rng: ((rng.normal(size=_LARGE),), _WINDOW))  # fmt: skip
declare("avg_unpool", _avg_unpool, [lambda g, z, y, *, shape, **attrs: TABLE["avg_pool"](g, **attrs)],
        op="AvgPoolGrad_", keep="",
        example=lambda rng: ((rng.normal(size=_SMALL),), _WINDOW | {"shape": _LARGE}))  # fmt: skip
