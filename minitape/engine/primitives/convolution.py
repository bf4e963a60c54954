"""Convolution and pooling over any number of spatial axes: batch, height, width, ..., channels.

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
    from ..typed import Array, Attributes, Function, NumPyType, Object
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


def _depthwise(x: Array, k: Array, *, strides: Sizes, pads: Pads, dilations: Sizes) -> Array:
    views = windows(padded(x, pads), k.shape[:2], strides, dilations)
    out = np.einsum("nhwcij,ijcm->nhwcm", views, k, optimize=True)
    return out.reshape(*out.shape[:3], -1)


def _depthwise_input(g: Array, k: Array, *, shape: Sizes, strides: Sizes, pads: Pads, dilations: Sizes) -> Array:
    g = g.reshape(*g.shape[:3], *k.shape[2:])
    out = np.zeros(_padded_shape(shape, pads), g.dtype)
    if g.shape[1] and g.shape[2]:
        for tap, start in _taps(k.shape[:2], dilations):
            out[_spots(start, g.shape[1:3], strides)] += np.einsum("nhwcm,cm->nhwc", g, k[tap])
    return _cropped(out, pads)


def _depthwise_filter(x: Array, g: Array, *, size: Sizes, strides: Sizes, pads: Pads, dilations: Sizes) -> Array:
    x, g = padded(x, pads), g.reshape(*g.shape[:3], x.shape[3], -1)
    if g.shape[-1] > 1:
        return np.einsum("nhwcij,nhwcm->ijcm", windows(x, size, strides, dilations), g, optimize=True)
    out = np.empty((*size, *g.shape[3:]), x.dtype)
    for tap, start in _taps(size, dilations):  # with one filter for each channel NumPy is faster tap by tap
        out[tap] = np.einsum("nhwc,nhwcm->cm", x[_spots(start, g.shape[1:3], strides)], g)
    return out


def _declare_convolution(name: str, op: str, axes: int, forward: Function, to_input: Function, to_filter: Function) -> None:
    of_input, of_filter = f"{name}_input", f"{name}_filter"

    def example(rng: np.random.Generator) -> tuple[tuple[Array, Array], Attributes]:
        attrs = {"strides": (2, 1, 1)[:axes], "pads": ((1, 0), (0, 1), (0, 0))[:axes], "dilations": (1,) * axes}
        return (rng.normal(size=(2, *(4, 3, 2)[:axes], 2)), rng.normal(size=(2,) * (axes + 2))), attrs

    def adjoint_example(which: str) -> Function:
        def build(rng: np.random.Generator) -> Example:
            (x, k), attrs = example(rng)
            g = rng.normal(size=forward(x, k, **attrs).shape)
            if which == "input":
                return (g, k), attrs | {"shape": x.shape}
            return (x, g), attrs | {"size": k.shape[:-2]}

        return build

    declare(name, forward, [
        lambda g, z, x, k, **attrs: TABLE[of_input](g, k, shape=tuple(x.shape), **attrs),
        lambda g, z, x, k, **attrs: TABLE[of_filter](x, g, size=tuple(k.shape)[:-2], **attrs),
    ], op=op, label="∗", keep="xy", example=example)  # fmt: skip
    declare(of_input, to_input, [
        lambda g, z, x, k, *, shape, **attrs: TABLE[name](g, k, **attrs),
        lambda g, z, x, k, *, shape, **attrs: TABLE[of_filter](g, x, size=tuple(k.shape)[:-2], **attrs),
    ], op=f"{op}BackpropInput_", label="∗ᵀ", keep="xy", example=adjoint_example("input"))  # fmt: skip
    declare(of_filter, to_filter, [
        lambda g, z, x, y, *, size, **attrs: TABLE[of_input](y, g, shape=tuple(x.shape), **attrs),
        lambda g, z, x, y, *, size, **attrs: TABLE[name](x, g, **attrs),
    ], op=f"{op}BackpropFilter_", label="∗ᵀ", keep="xy", example=adjoint_example("filter"))  # fmt: skip


_declare_convolution("conv2d", "Conv2D", 2, _conv, _conv_input, _conv_filter)
_declare_convolution("conv3d", "Conv3D", 3, _conv, _conv_input, _conv_filter)
_declare_convolution("depthwise", "DepthwiseConv2dNative", 2, _depthwise, _depthwise_input, _depthwise_filter)


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


def _declare_pooling(suffix: str, axes: int) -> None:
    """The largest and the mean of windows over so many axes; ``suffix`` ends the names of primitives and kernels."""
    attrs = {"size": (2, 2, 1)[:axes], "strides": (2, 1, 1)[:axes], "pads": ((0, 1), (0, 0), (0, 0))[:axes]}
    large, small = (1, *(3, 3, 2)[:axes], 2), (1, *(2, 2, 2)[:axes], 2)
    largest, unpool, repool, mean, spread = (
        f"{name}{suffix}" for name in ("max_pool", "max_unpool", "max_repool", "avg_pool", "avg_unpool")
    )
    op = suffix.upper()

    def no_share(g: Array, z: Array, y: Array, x: Array, **attrs: Object) -> Array:
        return TABLE["zeros_like"](x)

    declare(largest, _max_pool, [lambda g, z, x, **attrs: TABLE[unpool](g, x, **attrs)], op=f"MaxPool{op}", keep="x",
            example=lambda rng: ((_spread_out(rng, *large),), attrs))  # fmt: skip
    declare(unpool, _max_unpool, [lambda g, z, y, x, **attrs: TABLE[repool](g, x, **attrs), no_share],
            op=f"MaxPool{op}Grad_", keep="y",
            example=lambda rng: ((rng.normal(size=small), _spread_out(rng, *large)), attrs))  # fmt: skip
    declare(repool, _max_repool, [lambda g, z, y, x, **attrs: TABLE[unpool](g, x, **attrs), no_share],
            op=f"MaxPool{op}GradGrad_", keep="y",
            example=lambda rng: ((rng.normal(size=large), _spread_out(rng, *large)), attrs))  # fmt: skip
    declare(mean, _avg_pool, [lambda g, z, x, **attrs: TABLE[spread](g, shape=tuple(x.shape), **attrs)],
            op=f"AvgPool{op}", keep="", example=lambda rng: ((rng.normal(size=large),), attrs))  # fmt: skip
    declare(spread, _avg_unpool, [lambda g, z, y, *, shape, **attrs: TABLE[mean](g, **attrs)],
            op=f"AvgPool{op}Grad_", keep="",
            example=lambda rng: ((rng.normal(size=small),), attrs | {"shape": large}))  # fmt: skip


_declare_pooling("", 2)
_declare_pooling("3d", 3)


# -- windows as they are ----------------------------------------------------------------------------------------------


def _patches(x: Array, *, size: Sizes, strides: Sizes, pads: Pads, dilations: Sizes) -> Array:
    columns = _columns(padded(x, pads), size, strides, dilations)
    return columns.reshape(*columns.shape[: len(size) + 1], -1)


def _unpatched(g: Array, *, shape: Sizes, size: Sizes, strides: Sizes, pads: Pads, dilations: Sizes) -> Array:
    out = np.zeros(_padded_shape(shape, pads), g.dtype)
    count = g.shape[1:-1]
    taps = g.reshape(*g.shape[:-1], *size, shape[-1])
    if all(count):
        for tap, start in _taps(size, dilations):
            out[_spots(start, count, strides)] += taps[(..., *tap, _ALL)]
    return _cropped(out, pads)


_EXAMPLE = {"size": (2, 2), "strides": (1, 2), "pads": ((0, 1), (1, 0)), "dilations": (2, 1)}

declare("patches", _patches, [lambda g, z, x, **attrs: TABLE["unpatched"](g, shape=tuple(x.shape), **attrs)],
        op="ExtractImagePatches", keep="", example=lambda rng: ((rng.normal(size=(2, 3, 4, 2)),), _EXAMPLE))  # fmt: skip
declare("unpatched", _unpatched, [lambda g, z, y, *, shape, **attrs: TABLE["patches"](g, **attrs)],
        op="ExtractImagePatchesGrad_", keep="",
        example=lambda rng: ((rng.normal(size=(2, 2, 2, 8)),), _EXAMPLE | {"shape": (2, 3, 4, 2)}))  # fmt: skip


def _places_of_max(x: Array, *, batched: bool, dtype: NumPyType, **window: Object) -> Array:
    """The flat number of the element that is the first largest of each window, within its image or (batched) in x."""
    shape = x.shape if batched else (1, *x.shape[1:])
    numbers = padded(np.broadcast_to(np.arange(math.prod(shape), dtype=dtype).reshape(shape), x.shape), window["pads"])
    out = np.zeros((x.shape[0], *_count(x.shape, **window), x.shape[-1]), dtype)
    for spot, won in _winners(x, **window):
        np.copyto(out, numbers[spot], where=won)
    return out


def _all_places(places: Array, shape: Sizes, batched: bool) -> Array:
    """Those numbers as numbers in the whole batch."""
    first = 0 if batched else np.arange(shape[0]).reshape(-1, *(1,) * (len(shape) - 1)) * math.prod(shape[1:])
    return places + first


def _taken(x: Array, places: Array, *, batched: bool) -> Array:
    return x.reshape(-1)[_all_places(places, x.shape, batched)]


def _given_back(g: Array, places: Array, *, shape: Sizes, batched: bool) -> Array:
    out = np.zeros(math.prod(shape), g.dtype)
    np.add.at(out, _all_places(places, shape, batched).reshape(-1), g.reshape(-1))
    return out.reshape(shape)


declare("places_of_max", _places_of_max, op="MaxPoolWithArgmax", keep="")
declare("max_at", _taken, [
    lambda g, z, x, places, *, batched: TABLE["given_back"](g, places, shape=tuple(x.shape), batched=batched), None,
], op="MaxPoolWithArgmax_", keep="y")  # fmt: skip
declare("given_back", _given_back, op="MaxPoolGradWithArgmax", missing="unregistered", keep="")
