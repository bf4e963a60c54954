"""Fourier transforms against NumPy, and their derivatives against finite differences."""

from __future__ import annotations

import numpy as np
import pytest

import minitape as tf
from minitape.check import check_grads

X = np.sin(np.arange(30.0)).reshape(2, 3, 5)
Z = X[:, :, :4] + 1j * np.cos(np.arange(24.0)).reshape(2, 3, 4)


@pytest.mark.parametrize("name", ["fft", "ifft", "fft2d", "ifft2d", "fft3d", "ifft3d"])
def test_complex_transforms(name):
    axes = tuple(range(-int(name[-2]) if name.endswith("d") else -1, 0))
    reference = np.fft.ifftn if name.startswith("i") else np.fft.fftn
    transform = getattr(tf.signal, name)
    assert np.allclose(transform(tf.constant(Z)).numpy(), reference(Z, axes=axes))
    check_grads(lambda x, y: tf.math.real(transform(tf.complex(x, y))), [Z.real, Z.imag])
    check_grads(lambda x, y: tf.math.imag(transform(tf.complex(x, y))), [Z.real, Z.imag])


@pytest.mark.parametrize("length", [None, [3], [4], [5], [6], [7]], ids=str)
def test_real_transforms(length):
    n = length and length[0]
    assert np.allclose(tf.signal.rfft(tf.constant(X), length).numpy(), np.fft.rfft(X, n))
    assert np.allclose(tf.signal.irfft(tf.constant(Z), length).numpy(), np.fft.irfft(Z, n))
    check_grads(lambda x: tf.math.real(tf.signal.rfft(x, length)), [X])
    check_grads(lambda x: tf.math.imag(tf.signal.rfft(x, length)), [X])
    check_grads(lambda x, y: tf.signal.irfft(tf.complex(x, y), length), [Z.real, Z.imag])


@pytest.mark.parametrize("lengths", [None, [3, 5], [2, 4], [4, 8]], ids=str)
def test_real_transforms_of_planes(lengths):
    assert np.allclose(tf.signal.rfft2d(tf.constant(X), lengths).numpy(), np.fft.rfft2(X, lengths))
    assert np.allclose(tf.signal.irfft2d(tf.constant(Z), lengths).numpy(), np.fft.irfft2(Z, lengths))
    check_grads(lambda x: tf.math.real(tf.signal.rfft2d(x, lengths)), [X])
    check_grads(lambda x, y: tf.signal.irfft2d(tf.complex(x, y), lengths), [Z.real, Z.imag])


def test_a_signal_comes_back_from_its_frames():
    x = tf.constant(np.sin(np.arange(32.0)))
    there = tf.signal.stft(x, 8, 4)
    back = tf.signal.inverse_stft(there, 8, 4, window_fn=tf.signal.inverse_stft_window_fn(4))
    assert np.allclose(back.numpy()[4:-4], x.numpy()[4:28])
    check_grads(lambda v: tf.abs(tf.signal.stft(v, 8, 4)), [x.numpy()], order=1)


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_cosine_transforms(kind):
    check_grads(lambda x: tf.signal.dct(x, type=kind), [X])
    norm = None if kind == 1 else "ortho"
    back = tf.signal.idct(tf.signal.dct(tf.constant(X), kind, norm=norm), kind, norm=norm).numpy()
    assert np.allclose(back if norm else back / (2 * (X.shape[-1] - 1)), X)
