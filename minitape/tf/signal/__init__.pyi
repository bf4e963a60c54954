"""The names of `tf.tf.signal`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.tf.signal.fourier import (
    fft as fft,
    fft2d as fft2d,
    fft3d as fft3d,
    fftshift as fftshift,
    ifft as ifft,
    ifft2d as ifft2d,
    ifft3d as ifft3d,
    ifftshift as ifftshift,
    irfft as irfft,
    irfft2d as irfft2d,
    irfft3d as irfft3d,
    rfft as rfft,
    rfft2d as rfft2d,
    rfft3d as rfft3d,
)
from minitape.tf.signal.spectra import (
    dct as dct,
    frame as frame,
    hamming_window as hamming_window,
    hann_window as hann_window,
    idct as idct,
    inverse_stft as inverse_stft,
    inverse_stft_window_fn as inverse_stft_window_fn,
    kaiser_bessel_derived_window as kaiser_bessel_derived_window,
    kaiser_window as kaiser_window,
    mdct as mdct,
    overlap_and_add as overlap_and_add,
    stft as stft,
    vorbis_window as vorbis_window,
)
