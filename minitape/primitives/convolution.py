"""Convolution and pooling over two spatial axes: batch, height, width, channels.

A convolution and its two adjoints are three bilinear maps that are each other's derivatives, so each rule names the
other two. All of them run as matrix products over windows (``im2col``) or, where windows would have to be added up
again, over one tap of the filter at a time. ``pads`` are the zeros added before and after height and width.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import TABLE, declare

Pair = tuple[int, int]
Pads = tuple[Pair, Pair]


def padded(x: Any, pads: Pads, value: Any = 0) -> Any:
    """x with a border around height and width."""
    if pads == ((0, 0), (0, 0)):
        return x
    return np.pad(x, ((0, 0), *pads, (0, 0)), constant_values=value)


def windows(x: Any, size: Pair, strides: Pair, dilations: Pair = (1, 1)) -> Any:
    """All windows of a padded array: batch, rows, columns, channels, window rows, window columns (a view)."""
    reach = [(n - 1) * d + 1 for n, d in zip(size, dilations, strict=True)]
    if x.shape[1] < reach[0] or x.shape[2] < reach[1]:
        count = [max(0, (x.shape[i + 1] - reach[i]) // strides[i] + 1) for i in (0, 1)]
        return np.zeros((x.shape[0], *count, x.shape[3], *size), x.dtype)
    view = np.lib.stride_tricks.sliding_window_view(x, reach, (1, 2))
    return view[:, :: strides[0], :: strides[1], :, :: dilations[0], :: dilations[1]]


def _columns(x: Any, size: Pair, strides: Pair, dilations: Pair) -> Any:
    """The windows with the channels last, which is the order in which they lie in memory."""
    return np.ascontiguousarray(windows(x, size, strides, dilations).transpose(0, 1, 2, 4, 5, 3))


def _taps(size: Pair, dilations: Pair) -> Any:
    """The position of each tap of a filter, and where its window begins."""
    for i in range(size[0]):
        for j in range(size[1]):
            yield (i, j), (i * dilations[0], j * dilations[1])


def _spots(start: Pair, count: Any, strides: Pair) -> tuple[slice, slice]:
    """Where a tap of the filter lies for every output position."""
    return tuple(slice(s, s + (n - 1) * t + 1, t) for s, n, t in zip(start, count, strides, strict=True))  # type: ignore


def _cropped(x: Any, pads: Pads) -> Any:
    (top, bottom), (left, right) = pads
    return x[:, top : x.shape[1] - bottom, left : x.shape[2] - right]


def _padded_shape(shape: Any, pads: Pads) -> tuple[int, ...]:
    return (shape[0], shape[1] + sum(pads[0]), shape[2] + sum(pads[1]), shape[3])


# -- convolution ------------------------------------------------------------------------------------------------------


def _conv2d(x: Any, k: Any, *, strides: Pair, pads: Pads, dilations: Pair) -> Any:
    columns = _columns(padded(x, pads), k.shape[:2], strides, dilations)
    return (columns.reshape(-1, math.prod(k.shape[:3])) @ k.reshape(-1, k.shape[3])).reshape(
        *columns.shape[:3], k.shape[3]
    )


def _conv2d_input(g: Any, k: Any, *, shape: Any, strides: Pair, pads: Pads, dilations: Pair) -> Any:
    out = np.zeros(_padded_shape(shape, pads), g.dtype)
    height, width, depth, outputs = k.shape
    if g.shape[1] and g.shape[2]:
        shares = g.reshape(-1, outputs) @ k.reshape(-1, outputs).T  # what each tap gives back, all taps in one product
        shares = shares.reshape(*g.shape[:3], height, width, depth)
        for (i, j), start in _taps((height, width), dilations):
            rows, columns = _spots(start, g.shape[1:3], strides)
            out[:, rows, columns] += shares[:, :, :, i, j]
    return _cropped(out, pads)


def _conv2d_filter(x: Any, g: Any, *, size: Pair, strides: Pair, pads: Pads, dilations: Pair) -> Any:
    columns = _columns(padded(x, pads), size, strides, dilations)
    flat = columns.reshape(-1, math.prod(columns.shape[3:]))
    return (flat.T @ g.reshape(-1, g.shape[3])).reshape(*size, x.shape[3], g.shape[3])


def _depthwise(x: Any, k: Any, *, strides: Pair, pads: Pads, dilations: Pair) -> Any:
    views = windows(padded(x, pads), k.shape[:2], strides, dilations)
    out = np.einsum("nhwcij,ijcm->nhwcm", views, k, optimize=True)
    return out.reshape(*out.shape[:3], -1)


def _depthwise_input(g: Any, k: Any, *, shape: Any, strides: Pair, pads: Pads, dilations: Pair) -> Any:
    g = g.reshape(*g.shape[:3], *k.shape[2:])
    out = np.zeros(_padded_shape(shape, pads), g.dtype)
    if g.shape[1] and g.shape[2]:
        for (i, j), start in _taps(k.shape[:2], dilations):
            rows, columns = _spots(start, g.shape[1:3], strides)
            out[:, rows, columns] += np.einsum("nhwcm,cm->nhwc", g, k[i, j])
    return _cropped(out, pads)


def _depthwise_filter(x: Any, g: Any, *, size: Pair, strides: Pair, pads: Pads, dilations: Pair) -> Any:
    views = windows(padded(x, pads), size, strides, dilations)
    g = g.reshape(*g.shape[:3], x.shape[3], -1)
    return np.einsum("nhwcij,nhwcm->ijcm", views, g, optimize=True)


def _declare_convolution(name: str, op: str, forward: Any, to_input: Any, to_filter: Any) -> None:
    of_input, of_filter = f"{name}_input", f"{name}_filter"

    def example(rng: Any) -> Any:
        attrs = {"strides": (2, 1), "pads": ((1, 0), (0, 1)), "dilations": (1, 1)}
        return (rng.normal(size=(2, 4, 3, 2)), rng.normal(size=(2, 2, 2, 2))), attrs

    def adjoint_example(which: str) -> Any:
        def build(rng: Any) -> Any:
            (x, k), attrs = example(rng)
            g = rng.normal(size=forward(x, k, **attrs).shape)
            return ((g, k), attrs | {"shape": x.shape}) if which == "input" else ((x, g), attrs | {"size": (2, 2)})

        return build

    declare(name, forward, [
        lambda g, z, x, k, **attrs: TABLE[of_input](g, k, shape=tuple(x.shape), **attrs),
        lambda g, z, x, k, **attrs: TABLE[of_filter](x, g, size=tuple(k.shape)[:2], **attrs),
    ], op=op, label="∗", keep="xy", example=example)  # fmt: skip
    declare(of_input, to_input, [
        lambda g, z, x, k, *, shape, **attrs: TABLE[name](g, k, **attrs),
        lambda g, z, x, k, *, shape, **attrs: TABLE[of_filter](g, x, size=tuple(k.shape)[:2], **attrs),
    ], op=f"{op}BackpropInput_", label="∗ᵀ", keep="xy", example=adjoint_example("input"))  # fmt: skip
    declare(of_filter, to_filter, [
        lambda g, z, x, y, *, size, **attrs: TABLE[of_input](y, g, shape=tuple(x.shape), **attrs),
        lambda g, z, x, y, *, size, **attrs: TABLE[name](x, g, **attrs),
    ], op=f"{op}BackpropFilter_", label="∗ᵀ", keep="xy", example=adjoint_example("filter"))  # fmt: skip


_declare_convolution("conv2d", "Conv2D", _conv2d, _conv2d_input, _conv2d_filter)
_declare_convolution("depthwise", "DepthwiseConv2dNative", _depthwise, _depthwise_input, _depthwise_filter)


# -- pooling ----------------------------------------------------------------------------------------------------------


def _lowest(x: Any) -> Any:
    return np.iinfo(x.dtype).min if x.dtype.kind in "iu" else -np.inf


def _flat_windows(x: Any, size: Pair, strides: Pair, pads: Pads) -> Any:
    views = windows(padded(x, pads, _lowest(x)), size, strides)
    return views.reshape(*views.shape[:4], -1)


def _max_pool(x: Any, *, size: Pair, strides: Pair, pads: Pads) -> Any:
    return np.fmax.reduce(_flat_windows(x, size, strides, pads), axis=-1)


def _winners(x: Any, size: Pair, strides: Pair, pads: Pads) -> tuple[Any, ...]:
    """Where in the padded array the first largest element of each window is."""
    flat = _flat_windows(x, size, strides, pads)
    best = np.argmax(np.where(np.isnan(flat), _lowest(x), flat) if x.dtype.kind == "f" else flat, axis=-1)
    n, h, w, c = np.indices(best.shape)
    return n, h * strides[0] + best // size[1], w * strides[1] + best % size[1], c


def _max_unpool(g: Any, x: Any, *, size: Pair, strides: Pair, pads: Pads) -> Any:
    out = np.zeros(_padded_shape(x.shape, pads), g.dtype)
    np.add.at(out, _winners(x, size, strides, pads), g)
    return _cropped(out, pads)


def _max_repool(g: Any, x: Any, *, size: Pair, strides: Pair, pads: Pads) -> Any:
    return padded(g, pads)[_winners(x, size, strides, pads)]


def _counts(shape: Any, size: Pair, strides: Pair, pads: Pads, dtype: Any) -> Any:
    """How many elements each window has inside the array."""
    ones = padded(np.ones((1, shape[1], shape[2], 1), dtype), pads)
    return windows(ones, size, strides).sum((4, 5))


def _avg_pool(x: Any, *, size: Pair, strides: Pair, pads: Pads) -> Any:
    total = windows(padded(x, pads), size, strides).sum((4, 5), dtype=x.dtype)
    return total / _counts(x.shape, size, strides, pads, x.dtype)


def _avg_unpool(g: Any, *, shape: Any, size: Pair, strides: Pair, pads: Pads) -> Any:
    out = np.zeros(_padded_shape(shape, pads), g.dtype)
    if g.shape[1] and g.shape[2]:
        g = g / _counts(shape, size, strides, pads, g.dtype)
        for _, start in _taps(size, (1, 1)):
            rows, columns = _spots(start, g.shape[1:3], strides)
            out[:, rows, columns] += g
    return _cropped(out, pads)


_POOLING = {"size": (2, 2), "strides": (2, 1), "pads": ((0, 1), (0, 0))}


def _spread_out(rng: Any, *shape: int) -> Any:
    return 3.0 * rng.permutation(int(np.prod(shape))).reshape(shape).astype(float)


declare("max_pool", _max_pool, [lambda g, z, x, **attrs: TABLE["max_unpool"](g, x, **attrs)], op="MaxPool", keep="x",
        example=lambda rng: ((_spread_out(rng, 1, 3, 3, 2),), _POOLING))  # fmt: skip
declare(
    "max_unpool",
    _max_unpool,
    [
        lambda g, z, y, x, **attrs: TABLE["max_repool"](g, x, **attrs),
        lambda g, z, y, x, **attrs: TABLE["zeros_like"](x),
    ],
    op="MaxPoolGrad_",
    keep="y",
    example=lambda rng: ((rng.normal(size=(1, 2, 2, 2)), _spread_out(rng, 1, 3, 3, 2)), _POOLING),
)
declare(
    "max_repool",
    _max_repool,
    [
        lambda g, z, y, x, **attrs: TABLE["max_unpool"](g, x, **attrs),
        lambda g, z, y, x, **attrs: TABLE["zeros_like"](x),
    ],
    op="MaxPoolGradGrad_",
    keep="y",
    example=lambda rng: ((rng.normal(size=(1, 3, 3, 2)), _spread_out(rng, 1, 3, 3, 2)), _POOLING),
)
declare(
    "avg_pool",
    _avg_pool,
    [lambda g, z, x, **attrs: TABLE["avg_unpool"](g, shape=tuple(x.shape), **attrs)],
    op="AvgPool",
    keep="",
    example=lambda rng: ((rng.normal(size=(1, 3, 3, 2)),), _POOLING),
)
declare(
    "avg_unpool",
    _avg_unpool,
    [lambda g, z, y, *, shape, **attrs: TABLE["avg_pool"](g, **attrs)],
    op="AvgPoolGrad_",
    keep="",
    example=lambda rng: ((rng.normal(size=(1, 2, 2, 2)),), _POOLING | {"shape": (1, 3, 3, 2)}),
)
