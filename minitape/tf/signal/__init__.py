"""``tf.signal``: Fourier and cosine transforms, frames and windows. Here is which module holds which function."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.signal", {
    "tf.signal.fourier": "fft fft2d fft3d fftshift ifft ifft2d ifft3d ifftshift irfft irfft2d irfft3d rfft rfft2d rfft3d",
    "tf.signal.spectra": "dct frame hamming_window hann_window idct inverse_stft inverse_stft_window_fn "
                      "kaiser_bessel_derived_window kaiser_window mdct overlap_and_add stft vorbis_window",
}, globals())  # fmt: skip
