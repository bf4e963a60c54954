"""Fourier transforms over the last one, two or three axes: linear maps, whose adjoints are transforms again.

A gradient of complex numbers is conjugated, as in TensorFlow: the adjoint of a map is its conjugated transpose.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from . import TABLE, declare

if TYPE_CHECKING:
    from ..typed import Array, Function, NumPyType


def _axes(rank: int) -> tuple[int, ...]:
    return tuple(range(-rank, 0))


def _complex_of(dtype: NumPyType) -> type[np.complexfloating]:
    return np.complex64 if np.dtype(dtype) in (np.float32, np.complex64) else np.complex128


def _transform(function: Function) -> Function:
    return lambda x, *, rank: function(x, axes=_axes(rank)).astype(x.dtype) if x.size else x


def _rfft(x: Array, *, rank: int) -> Array:
    if not x.size:  # NumPy transforms nothing that is empty
        last = x.shape[-1] // 2 + 1 if x.shape[-1] else 0
        return np.zeros((*x.shape[:-1], last), _complex_of(x.dtype))
    return np.fft.rfftn(x, axes=_axes(rank)).astype(_complex_of(x.dtype))


def _irfft(x: Array, *, sizes: tuple[int, ...]) -> Array:
    real = np.float32 if x.dtype == np.complex64 else np.float64
    if not x.size:
        return np.zeros((*x.shape[: -len(sizes)], *sizes), real)
    return np.fft.irfftn(x, sizes, _axes(len(sizes))).astype(real)


def _number(value: float, like: Array) -> Array:
    """A number of the dtype of ``like``, which is a tensor or an array."""
    return value * TABLE["ones_like"](like)


def _count(x: Array, rank: int) -> float:
    return float(math.prod(tuple(x.shape)[-rank:]))


def _rfft_rule(g: Array, z: Array, x: Array, *, rank: int) -> Array:
    missing = x.shape[-1] - g.shape[-1]
    whole = TABLE["pad"](g, paddings=(*[(0, 0)] * (len(g.shape) - 1), (0, missing)), mode="CONSTANT")
    back = TABLE["ifft"](whole, rank=rank)
    return TABLE["real"](back * _number(_count(x, rank), back))


def _irfft_rule(g: Array, z: Array, x: Array, *, sizes: tuple[int, ...]) -> Array:
    twice = np.full(x.shape[-1], 2.0)  # what stands for two frequencies of the whole transform
    twice[0] = 1.0
    if sizes[-1] % 2 == 0:
        twice[-1] = 1.0
    found = TABLE["rfft"](g, rank=len(sizes))
    weights = (twice / math.prod(sizes)).astype(_complex_of(getattr(g.dtype, "as_numpy_dtype", g.dtype)))
    return found * weights


declare("fft", _transform(np.fft.fftn), [
    lambda g, z, x, *, rank: TABLE["ifft"](g, rank=rank) * _number(_count(g, rank), g),
], op="FFT", label="fft", keep="")  # fmt: skip
declare("ifft", _transform(np.fft.ifftn), [
    lambda g, z, x, *, rank: TABLE["fft"](g, rank=rank) * _number(1.0 / _count(g, rank), g),
], op="IFFT", label="ifft", keep="")  # fmt: skip
declare("rfft", _rfft, [_rfft_rule], op="RFFT", label="rfft", keep="x")
declare("irfft", _irfft, [_irfft_rule], op="IRFFT", label="irfft", keep="x")
declare("rfft3d", _rfft, None, op="RFFT3D", label="rfft3d", keep="", missing="unregistered")
declare("irfft3d", _irfft, None, op="IRFFT3D", label="irfft3d", keep="", missing="unregistered")
