"""``tf.signal`` over pieces of signals: frames, windows, transforms of frames, and the cosine transforms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.invalid import invalid
from ...engine.operands import mismatch, static, strict, tensor_of
from ...engine.primitives import TABLE
from ...engine.tensor import Tensor, wrap
from ...ops.arrays import reshape
from ...ops.casts import cast
from ...ops.complexes import complex as complex_
from ...ops.complexes import real
from ...ops.elementwise import rsqrt
from ...ops.elementwise import sqrt as root
from ...ops.filling import range as range_
from ...ops.joining import concat, pad
from ...ops.picking import gather
from ...ops.reductions import cumsum, reduce_sum
from .fourier import check_rank, irfft, rfft


def _whole(value: Any) -> int:
    """A whole number; ValueError for a vector, InvalidArgumentError for floats, as where lengths are divided."""
    given = tensor_of(value)
    if given.shape.rank:
        raise ValueError(f"Shape {given.shape} must have rank 0")
    if not given.dtype.is_integer:
        raise mismatch("FloorDiv", 1, given.dtype, dtypes.int32)
    return int(static(given))


def _length(value: Any) -> int:
    """The length of a window: a whole number (else TypeError), not below 0 (else InvalidArgumentError)."""
    count = _whole(tensor_of(value, dtypes.int32))
    _check_count(count)
    return count


def _check_count(count: int) -> None:
    if count < 0:
        raise invalid(f"Requires start <= limit when delta > 0: 0/{count}", "Range")


def _step(value: Any) -> int:
    step = _whole(value)
    if step == 0:
        raise invalid("Integer division by zero", "FloorDiv")
    return step


# -- frames -----------------------------------------------------------------------------------------------------------


@strict
def frame(
    signal: Any,
    frame_length: Any,
    frame_step: Any,
    pad_end: bool = False,
    pad_value: Any = 0,
    axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """Pieces of ``frame_length`` elements along ``axis``, each ``frame_step`` behind the one before.

    The axis becomes two: frames and what is in one. With ``pad_end`` the last frames are filled with ``pad_value``, else
    what is too short for a frame is left out. Differentiable. Raises InvalidArgumentError for a length below 0, a step
    of 0, and floats.

    >>> import minitape as tf
    >>> tf.signal.frame([1, 2, 3, 4, 5], frame_length=3, frame_step=2).numpy()
    array([[1, 2, 3],
           [3, 4, 5]], dtype=int32)
    """
    x, length, step = tensor_of(signal), _whole(frame_length), _step(frame_step)
    check_rank(x, 1)
    at = range(x.shape.rank)[_whole(axis)]
    samples = int(x.shape[at])
    if pad_end:
        count = -(-samples // step)
        missing = max(0, length + step * (count - 1) - samples)
        x = pad(x, [[0, missing if i == at else 0] for i in range(x.shape.rank)], constant_values=pad_value)
    else:
        count = max(0, 1 + (samples - length) // step)
    _check_count(count)
    _check_count(length)
    places = np.arange(count)[:, None] * step + np.arange(length)[None]
    if at or not x.shape.is_fully_defined():
        return gather(x, wrap(places.astype(np.int32)), axis=at)
    row = TABLE["reshape"](x, shape=(1, *x.shape))  # along the first axis the gradient would be slices
    return TABLE["slice"](gather(row, wrap(places.astype(np.int32)), axis=1), spec=(0,))


@strict
def overlap_and_add(signal: Any, frame_step: Any, name: str | None = None) -> Tensor:
    """The sum of frames (..., frames, length) where each lies ``frame_step`` behind the one before. Differentiable.

    Raises ValueError for a step that is no whole number and for fewer than two axes, InvalidArgumentError for a step
    below 1.

    >>> import minitape as tf
    >>> tf.signal.overlap_and_add([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]], frame_step=2).numpy()
    array([ 1.,  2., 13., 20., 30.], dtype=float32)
    """
    x, given = tensor_of(signal), tensor_of(frame_step)
    if not given.dtype.is_integer:
        raise ValueError(f"frame_step must be an integer. Got <dtype: '{given.dtype.name}'>")
    step = _whole(given)
    check_rank(x, 2)
    *outer, count, length = [int(n) for n in x.shape]
    if step <= 0:
        raise invalid(f"Paddings must be non-negative: 0 {-length}", "Pad")
    parts = -(-length // step)  # of a frame, each one step long
    x = pad(x, [*[[0, 0]] * len(outer), [0, parts], [0, parts * step - length]])
    x = reshape(x, [*outer, count + parts, parts, step])
    x = TABLE["transpose"](x, perm=(*range(len(outer)), len(outer) + 1, len(outer), len(outer) + 2))
    x = reshape(x, [*outer, (count + parts) * parts, step])[..., : (count + parts - 1) * parts, :]
    x = reduce_sum(reshape(x, [*outer, parts, count + parts - 1, step]), -3)
    return reshape(x, [*outer, (count + parts - 1) * step])[..., : length + step * (count - 1)]


# -- windows ----------------------------------------------------------------------------------------------------------


def _float(dtype: Any) -> Any:
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found <dtype: '{dtype.name}'>")
    return dtype


def _cosine_window(window_length: Any, periodic: Any, dtype: Any, a: float, b: float) -> Any:
    dtype, count, periodic = _float(dtype), _length(window_length), tensor_of(periodic, dtypes.bool)
    kind = dtype.as_numpy_dtype
    if count == 1:
        return wrap(np.ones(1, kind))
    last = kind(count + (count % 2 == 0 and bool(static(periodic))) - 1)
    angles = tensor_of((kind(2 * np.pi) * np.arange(count, dtype=kind) / last).astype(kind))
    return a - b * TABLE["cos"](angles)


@strict
def hann_window(window_length: Any, periodic: Any = True, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """``0.5 - 0.5 * cos(...)`` over one turn: a window of ``window_length`` numbers that begins at 0.

    A ``periodic`` one of even length does not end at 0. Raises ValueError unless ``dtype`` is a float.

    >>> import minitape as tf
    >>> tf.signal.hann_window(4).numpy().round(4)
    array([0. , 0.5, 1. , 0.5], dtype=float32)
    """
    return _cosine_window(window_length, periodic, dtype, 0.5, 0.5)


@strict
def hamming_window(
    window_length: Any, periodic: Any = True, dtype: Any = dtypes.float32, name: str | None = None
) -> Tensor:
    """``0.54 - 0.46 * cos(...)`` over one turn; else as ``hann_window``.

    >>> import minitape as tf
    >>> tf.signal.hamming_window(4).numpy().round(4)
    array([0.08, 0.54, 1.  , 0.54], dtype=float32)
    """
    return _cosine_window(window_length, periodic, dtype, 0.54, 0.46)


@strict
def kaiser_window(window_length: Any, beta: Any = 12.0, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Kaiser's window of ``window_length`` numbers, the narrower the larger ``beta``. Differentiable in ``beta``.

    Raises ValueError unless ``dtype`` is a float.

    >>> import minitape as tf
    >>> tf.signal.kaiser_window(5, beta=2.0).numpy().round(4)
    array([0.4387, 0.8348, 1.    , 0.8348, 0.4387], dtype=float32)
    """
    from ...ops.elementwise import bessel_i0e

    dtype, count = _float(dtype), _whole(tensor_of(window_length, dtypes.int32))
    if count < 1:
        start = 0.5 - count / 2
        raise invalid(f"Requires start <= limit when delta > 0: {start:g}/{count - 0.9 + start:g}", "Range")
    kind = dtype.as_numpy_dtype
    if count == 1:
        return wrap(np.ones(1, kind))
    half = (np.float32(count) - 1) / 2
    places = (np.arange(count, dtype=np.float32) - half).astype(kind) / kind(half)
    beta = cast(tensor_of(beta), dtype)
    heights = beta * tensor_of(np.sqrt(np.maximum(kind(1) - places * places, 0)).astype(kind))
    return TABLE["exp"](heights - beta) * (bessel_i0e(heights) / bessel_i0e(beta))


@strict
def kaiser_bessel_derived_window(
    window_length: Any, beta: Any = 12.0, dtype: Any = dtypes.float32, name: str | None = None
) -> Tensor:
    """The window of sums of Kaiser's window, whose squares add up to 1 where two of them overlap by half.

    >>> import minitape as tf
    >>> tf.signal.kaiser_bessel_derived_window(4).numpy().round(4)
    array([0.0073, 1.    , 1.    , 0.0073], dtype=float32)
    """
    sums = cumsum(kaiser_window(_length(window_length) // 2 + 1, beta, _float(dtype)))
    half = root(sums[:-1] / sums[-1])
    return concat([half, half[::-1]], 0)


@strict
def vorbis_window(window_length: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """``sin(pi / 2 * sin(...) ** 2)`` over half a turn. Raises ValueError unless ``dtype`` is a float.

    >>> import minitape as tf
    >>> tf.signal.vorbis_window(4).numpy().round(4)
    array([0.228 , 0.9737, 0.9737, 0.228 ], dtype=float32)
    """
    kind, count = _float(dtype).as_numpy_dtype, _length(window_length)
    if count == 0:
        return wrap(np.zeros(0, kind))
    inner = np.sin(kind(np.pi / count) * (np.arange(count, dtype=kind) + kind(0.5)))
    return wrap(np.sin(kind(np.pi / 2.0) * inner * inner).astype(kind))


# -- transforms of frames ---------------------------------------------------------------------------------------------


def _power_of_two(n: int) -> int:
    return 1 << max(n - 1, 0).bit_length()


@strict
def stft(
    signals: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Any] | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Tensor:
    """The Fourier transform of each frame of signals (..., samples): (..., frames, fft_length // 2 + 1).

    Each frame is weighed by ``window_fn(frame_length, dtype=...)`` and filled with zeros up to ``fft_length``, by default
    the next power of two. Differentiable.

    >>> import minitape as tf
    >>> tf.signal.stft(tf.ones([8]), frame_length=4, frame_step=2).shape
    TensorShape([3, 3])
    """
    length = _whole(frame_length)
    size = _power_of_two(length) if fft_length is None else _whole(fft_length)
    frames = frame(signals, length, frame_step, pad_end)
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=frames.dtype)
    return rfft(frames, [size])


@strict
def inverse_stft(
    stfts: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Any] | None = hann_window,
    name: str | None = None,
) -> Tensor:
    """The sum of the frames that ``stft`` was made of, each weighed by ``window_fn`` once more. Differentiable.

    With ``inverse_stft_window_fn(frame_step)`` for it, the middle of the signal comes back as it was.

    >>> import minitape as tf
    >>> window = tf.signal.inverse_stft_window_fn(2)
    >>> there = tf.signal.stft(tf.range(8.0), 4, 2)
    >>> tf.signal.inverse_stft(there, 4, 2, window_fn=window).numpy().round(3)[2:6]
    array([2., 3., 4., 5.], dtype=float32)
    """
    x, length = tensor_of(stfts), _whole(frame_length)
    size = _power_of_two(length) if fft_length is None else _whole(fft_length)
    frames = irfft(x, [size])
    if size > length:
        frames = frames[..., :length]
    elif size < length:
        frames = pad(frames, [[0, 0]] * (frames.shape.rank - 1) + [[0, length - size]])
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=frames.dtype)
    return overlap_and_add(frames, frame_step)


@strict
def inverse_stft_window_fn(
    frame_step: Any, forward_window_fn: Callable[..., Any] = hann_window, name: str | None = None
) -> Callable[..., Any]:
    """The window for ``inverse_stft`` that undoes ``forward_window_fn``: a function of the length and the dtype.

    >>> import minitape as tf
    >>> tf.signal.inverse_stft_window_fn(2)(4, tf.float32).numpy().round(4)
    array([0., 1., 1., 1.], dtype=float32)
    """
    step = _step(frame_step)

    def window(frame_length: Any, dtype: Any) -> Any:
        from ...ops.picking import where

        length = _whole(frame_length)
        forward = forward_window_fn(length, dtype=dtype)
        count = -(-length // step)
        squares = reshape(pad(forward * forward, [[0, count * step - length]]), [count, step])
        below = reshape(TABLE["tile"](reduce_sum(squares, 0, keepdims=True), multiples=(count, 1)), [-1])[:length]
        return where(below == 0.0, TABLE["zeros_like"](forward), forward / below)

    return window


@strict
def mdct(
    signals: Any,
    frame_length: Any,
    window_fn: Callable[..., Any] | None = vorbis_window,
    pad_end: bool = False,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The modified cosine transform of frames that overlap by half: (..., frames, frame_length / 2). Differentiable.

    Raises ValueError unless ``frame_length`` is a multiple of 4.

    >>> import minitape as tf
    >>> tf.signal.mdct(tf.ones([8]), 4).shape
    TensorShape([3, 2])
    """
    length = _whole(frame_length)
    if length % 4:
        raise ValueError("The frame length must be a multiple of 4.")
    frames = frame(signals, length, length // 2, pad_end)
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=frames.dtype)
    else:
        frames = frames * tensor_of(1.0 / math.sqrt(2), frames.dtype)
    a, b, c, d = (frames[..., i * length // 4 : (i + 1) * length // 4] for i in range(4))
    folded = concat([-c[..., ::-1] - d, a - b[..., ::-1]], -1)
    return dct(folded, 4, norm=norm)


# -- cosine transforms ------------------------------------------------------------------------------------------------


def _check_dct(x: Any, kind: int, n: Any, axis: int, norm: Any) -> None:
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise ValueError("n should be a positive integer or None")
    if kind not in (1, 2, 3, 4):
        raise ValueError("Types I, II, III and IV (I)DCT are supported.")
    if kind == 1:
        if norm == "ortho":
            raise ValueError("Normalization is not supported for the Type-I DCT.")
        if x.shape[-1] is not None and x.shape[-1] < 2:
            raise ValueError("Type-I DCT requires the dimension to be greater than one.")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")


def _with_length(x: Any, n: int | None) -> Any:
    check_rank(x, 1)
    have = int(x.shape[-1])
    if n is None or n == have:
        return x
    return x[..., :n] if n < have else pad(x, [[0, 0]] * (x.shape.rank - 1) + [[0, n - have]])


def _scales(count: int, sign: int, dtype: Any) -> Any:
    """``2 * exp(sign * 1j * pi * k / (2 * count))`` for each k."""
    angles = range_(cast(tensor_of(float(count)), dtype)) * (sign * math.pi * 0.5 / count)
    return 2.0 * TABLE["exp"](complex_(TABLE["zeros_like"](angles), angles))


def _ends(first: Any, others: Any, count: int) -> Any:
    return concat([reshape(first, [1]), reshape(others, [1]) * np.ones(count - 1, others.dtype.as_numpy_dtype)], 0)


def _dct(x: Any, kind: int, n: int | None, norm: str | None) -> Any:
    x = _with_length(x, n)
    count = int(x.shape[-1])
    size = tensor_of(float(count), x.dtype)
    if kind == 1:
        return real(rfft(concat([x, x[..., -2:0:-1]], -1)))
    if kind == 2:
        found = real(rfft(x, [2 * count])[..., :count] * _scales(count, -1, x.dtype))
        small = 0.5 * rsqrt(size)
        return found if norm is None else found * _ends(small, small * math.sqrt(2.0), count)
    if kind == 3:
        large = root(size)
        x = x * size if norm is None else x * _ends(large, large * math.sqrt(0.5), count)
        turned = _scales(count, 1, x.dtype) * complex_(x, TABLE["zeros_like"](x))
        return irfft(turned, [2 * count])[..., :count]
    found = _dct(x, 2, 2 * count, None)[..., 1::2]
    return found if norm is None else found * (math.sqrt(0.5) * rsqrt(size))


@strict
def dct(
    input: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None, name: str | None = None
) -> Tensor:
    """The cosine transform of type 1, 2, 3 or 4 of floats over the last axis, which ``n`` cuts or fills with zeros.

    ``norm="ortho"`` makes it orthonormal. Differentiable. Raises ValueError for another type or norm, NotImplementedError
    for another ``axis``.

    >>> import minitape as tf
    >>> tf.signal.dct([1.0, 2.0, 3.0], norm="ortho").numpy().round(4)
    array([ 3.4641, -1.4142,  0.    ], dtype=float32)
    """
    x = tensor_of(input)
    _check_dct(x, type, n, axis, norm)
    return _dct(x, type, n, norm)


@strict
def idct(
    input: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None, name: str | None = None
) -> Tensor:
    """The inverse of ``dct``, without ``norm="ortho"`` up to a factor of ``2 * n`` (of ``2 * (n - 1)`` for type 1).

    >>> import minitape as tf
    >>> tf.signal.idct(tf.signal.dct([1.0, 2.0, 3.0], norm="ortho"), norm="ortho").numpy().round(4)
    array([1., 2., 3.], dtype=float32)
    """
    x = tensor_of(input)
    _check_dct(x, type, n, axis, norm)
    return _dct(x, {1: 1, 2: 3, 3: 2, 4: 4}[type], n, norm)
