"""Fourier transforms of ``tf.signal``: over the last axis, the last two or the last three."""

from __future__ import annotations

from typing import Any

from ...engine import dtypes
from ...engine.invalid import invalid
from ...engine.opdefs import accept
from ...engine.operands import call, static, strict, tensor_of
from ...engine.primitives import fourier as _primitives  # noqa: F401 - it fills the table
from ...engine.tensor import Tensor
from ...ops.joining import pad
from ...ops.reversing import roll

_NAMES = {1: "", 2: "2D", 3: "3D"}


def check_rank(x: Any, rank: int) -> None:
    """ValueError for a tensor of fewer axes."""
    if x.shape.rank is not None and x.shape.rank < rank:
        raise ValueError(f"Shape {x.shape} must have rank at least {rank}")


def _complex(kind: str, input: Any, rank: int) -> Any:
    op = kind.upper() + _NAMES[rank]
    x = tensor_of(input) if hasattr(input, "dtype") else tensor_of(input, dtypes.complex64)
    accept(op, x.dtype)
    if x.shape.rank is not None and x.shape.rank < rank:
        raise invalid(f"Input must have rank of at least {rank} but got: {x.shape.as_list()}", op)
    return call(kind, x, rank=rank)


@strict
def fft(input: Any, name: str | None = None) -> Tensor:
    """The Fourier transform over the last axis: ``sum(x[n] * exp(-2j * pi * k * n / N))`` for each k.

    ``input`` is complex64 or complex128 (else InvalidArgumentError) with one axis or more; the result has its shape and
    dtype. Differentiable.

    >>> import minitape as tf
    >>> tf.signal.fft([1 + 0j, 2 + 0j, 3 + 0j, 4 + 0j]).numpy()
    array([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j], dtype=complex64)
    """
    return _complex("fft", input, 1)


@strict
def ifft(input: Any, name: str | None = None) -> Tensor:
    """The inverse of ``fft``. Differentiable.

    >>> import minitape as tf
    >>> tf.signal.ifft([10 + 0j, -2 + 2j, -2 + 0j, -2 - 2j]).numpy()
    array([1.+0.j, 2.+0.j, 3.+0.j, 4.+0.j], dtype=complex64)
    """
    return _complex("ifft", input, 1)


@strict
def fft2d(input: Any, name: str | None = None) -> Tensor:
    """The Fourier transform over the last two axes; shapes and dtypes as of ``fft``. Differentiable.

    >>> import minitape as tf
    >>> tf.signal.fft2d([[1 + 0j, 2 + 0j], [3 + 0j, 4 + 0j]]).numpy().real
    array([[10., -2.],
           [-4.,  0.]], dtype=float32)
    """
    return _complex("fft", input, 2)


@strict
def ifft2d(input: Any, name: str | None = None) -> Tensor:
    """The inverse of ``fft2d``. Differentiable.

    >>> import minitape as tf
    >>> tf.signal.ifft2d([[10 + 0j, -2 + 0j], [-4 + 0j, 0j]]).numpy().real
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    return _complex("ifft", input, 2)


@strict
def fft3d(input: Any, name: str | None = None) -> Tensor:
    """The Fourier transform over the last three axes; shapes and dtypes as of ``fft``. Differentiable.

    >>> import minitape as tf
    >>> tf.signal.fft3d(tf.ones([2, 2, 2], tf.complex64)).numpy().real.ravel()
    array([8., 0., 0., 0., 0., 0., 0., 0.], dtype=float32)
    """
    return _complex("fft", input, 3)


@strict
def ifft3d(input: Any, name: str | None = None) -> Tensor:
    """The inverse of ``fft3d``. Differentiable.

    >>> import minitape as tf
    >>> tf.signal.ifft3d(tf.ones([2, 2, 2], tf.complex64)).numpy().real.ravel()
    array([1., 0., 0., 0., 0., 0., 0., 0.], dtype=float32)
    """
    return _complex("ifft", input, 3)


def _sizes(x: Any, given: Any, op: str, rank: int, half: bool) -> tuple[int, ...]:
    """The sizes of the axes before a transform to half of the frequencies, or after one from them."""
    if given is not None:
        sizes = tuple(static(tensor_of(given, dtypes.int32)))
        if len(sizes) != rank:
            raise invalid(f"fft_length must have shape [{rank}]", op)
        for at, n in enumerate(sizes):
            if n < 0:
                raise invalid(f"fft_length[{at}] must >= 0, but got: {n}", op)
        return sizes
    sizes = [int(n) for n in tuple(x.shape)[-rank:]]
    return (*sizes[:-1], max(0, 2 * (sizes[-1] - 1)) if half else sizes[-1])


def _fitted(x: Any, sizes: tuple[int, ...]) -> Any:
    """x with zeros behind, or without its end, along the last axes."""
    outer, have = x.shape.rank - len(sizes), [int(n) for n in tuple(x.shape)[-len(sizes) :]]
    if any(n > m for n, m in zip(sizes, have, strict=True)):
        x = pad(x, [[0, 0]] * outer + [[0, max(n - m, 0)] for n, m in zip(sizes, have, strict=True)])
    if any(n < m for n, m in zip(sizes, have, strict=True)):
        x = x[(..., *[slice(0, n) for n in sizes])]
    return x


def _forward(input: Any, fft_length: Any, rank: int) -> Any:
    x = tensor_of(input) if hasattr(input, "dtype") else tensor_of(input, dtypes.float32)
    if x.dtype not in (dtypes.float32, dtypes.float64):
        raise ValueError(f"RFFT requires tf.float32 or tf.float64 inputs, got: {x!s}")
    check_rank(x, rank)
    x = _fitted(x, _sizes(x, fft_length, f"RFFT{_NAMES[rank]}", rank, False))
    return call("rfft3d" if rank == 3 else "rfft", x, rank=rank)


def _back(input: Any, fft_length: Any, rank: int) -> Any:
    x = tensor_of(input) if hasattr(input, "dtype") else tensor_of(input, dtypes.complex64)
    if x.dtype not in (dtypes.complex64, dtypes.complex128):
        raise ValueError(f"IRFFT requires tf.complex64 or tf.complex128 inputs, got: {x!s}")
    check_rank(x, rank)
    sizes = _sizes(x, fft_length, f"IRFFT{_NAMES[rank]}", rank, True)
    x = _fitted(x, (*sizes[:-1], sizes[-1] // 2 + 1))
    return call("irfft3d" if rank == 3 else "irfft", x, sizes=sizes)


@strict
def rfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The Fourier transform of real numbers over the last axis: the first half of the frequencies, ``N // 2 + 1``.

    ``input_tensor`` is float32 or float64 (else ValueError), the result complex64 or complex128. ``fft_length`` ([N])
    cuts the axis or fills it with zeros first. Differentiable.

    >>> import minitape as tf
    >>> tf.signal.rfft([1.0, 2.0, 3.0, 4.0]).numpy()
    array([10.+0.j, -2.+2.j, -2.+0.j], dtype=complex64)
    """
    return _forward(input_tensor, fft_length, 1)


@strict
def irfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The inverse of ``rfft``: real numbers, of which there are ``fft_length`` or ``2 * (frequencies - 1)``.

    ``input_tensor`` is complex64 or complex128 (else ValueError). Differentiable.

    >>> import minitape as tf
    >>> tf.signal.irfft([10 + 0j, -2 + 2j, -2 + 0j]).numpy()
    array([1., 2., 3., 4.], dtype=float32)
    """
    return _back(input_tensor, fft_length, 1)


@strict
def rfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """``rfft`` over the last two axes: all frequencies of the first and half of those of the last. Differentiable.

    >>> import minitape as tf
    >>> tf.signal.rfft2d([[1.0, 2.0], [3.0, 4.0]]).numpy().real
    array([[10., -2.],
           [-4.,  0.]], dtype=float32)
    """
    return _forward(input_tensor, fft_length, 2)


@strict
def irfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The inverse of ``rfft2d``. Differentiable.

    >>> import minitape as tf
    >>> tf.signal.irfft2d([[10 + 0j, -2 + 0j], [-4 + 0j, 0j]]).numpy()
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    return _back(input_tensor, fft_length, 2)


@strict
def rfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """``rfft`` over the last three axes. No gradient is registered for it: asking for one raises LookupError.

    >>> import minitape as tf
    >>> tf.signal.rfft3d(tf.ones([2, 2, 2])).shape
    TensorShape([2, 2, 2])
    """
    return _forward(input_tensor, fft_length, 3)


@strict
def irfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The inverse of ``rfft3d``. No gradient is registered for it: asking for one raises LookupError.

    >>> import minitape as tf
    >>> tf.signal.irfft3d(tf.ones([2, 2, 2], tf.complex64)).shape
    TensorShape([2, 2, 2])
    """
    return _back(input_tensor, fft_length, 3)


def _shifted(x: Any, axes: Any, sign: int) -> Any:
    x = tensor_of(x)
    count = x.shape.rank
    given = range(count) if axes is None else [axes] if isinstance(axes, int) else static(axes)
    axes = [int(axis) + (count if axis < 0 else 0) for axis in given]
    for axis in axes:
        if not 0 <= axis < count:
            raise invalid(f"slice index {axis} of dimension 0 out of bounds.", "StridedSlice", "strided_slice/")
    return roll(x, [sign * (int(x.shape[axis]) // 2) for axis in axes], axes)


@strict
def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """The frequencies in rising order, zero in the middle, along ``axes`` (all by default). Differentiable.

    >>> import minitape as tf
    >>> tf.signal.fftshift([0.0, 1.0, 2.0, -3.0, -2.0, -1.0]).numpy()
    array([-3., -2., -1.,  0.,  1.,  2.], dtype=float32)
    """
    return _shifted(x, axes, 1)


@strict
def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """The inverse of ``fftshift``. Differentiable.

    >>> import minitape as tf
    >>> tf.signal.ifftshift([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0]).numpy()
    array([ 0.,  1.,  2., -3., -2., -1.], dtype=float32)
    """
    return _shifted(x, axes, -1)
