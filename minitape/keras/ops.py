"""``tf.keras.ops``: functions of NumPy's style on tensors, also on symbolic ones (``tf.keras.Input``).

Most are a function of ``tf`` under another name, with Keras's promotion: operands of two dtypes meet in one that holds
both, and where NumPy computes with floats, whole numbers become floats first. Here is who holds which name.

>>> import minitape as tf
>>> tf.keras.ops.mean([1, 2])
<tf.Tensor: shape=(), dtype=float32, numpy=1.5>
>>> tf.keras.ops.exp(tf.keras.Input((3,))).shape
(None, 3)
"""

from typing import Any as _Any

from ..engine.namespace import lazy as _lazy

_concrete, __dir__ = _lazy("tf.keras.ops", {
    "keras.operations.making":
        "arange array cast convert_to_numpy convert_to_tensor eye full identity is_tensor linspace ndim ones shape "
        "zeros",
    "keras.operations.control": "cond custom_gradient fori_loop vectorized_map while_loop",
    "keras.operations.elementwise":
        "abs absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh ceil clip conj cos cosh divide equal "
        "erf erfinv exp expm1 floor floor_divide greater greater_equal imag isfinite isinf isnan less less_equal log "
        "log1p logaddexp logical_and logical_not logical_or logical_xor maximum minimum mod multiply nan_to_num "
        "negative not_equal power real reciprocal round rsqrt sign sin sinh sqrt square stop_gradient subtract tan "
        "tanh true_divide where",
    "keras.operations.reductions":
        "all amax amin any argmax argmin average bincount count_nonzero cumprod cumsum logsumexp max mean min prod "
        "std sum var",
    "keras.operations.shaping":
        "broadcast_to concatenate expand_dims flip hstack meshgrid moveaxis ones_like pad ravel repeat reshape roll "
        "size split squeeze stack swapaxes tile transpose unstack vstack zeros_like",
    "keras.operations.picking":
        "argsort diag diagonal diff in_top_k nonzero scatter scatter_update slice sort take take_along_axis "
        "top_k tril triu",
    "keras.operations.products":
        "cholesky cross det dot einsum inner inv matmul norm normalize outer qr solve tensordot trace vdot",
    "keras.operations.neural":
        "binary_crossentropy categorical_crossentropy gelu one_hot relu sparse_categorical_crossentropy",
    "keras.operations.activations":
        "celu elu hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu log_sigmoid log_softmax relu6 selu sigmoid "
        "silu softmax softplus softsign squareplus swish tanh_shrink threshold",
    "keras.operations.formulas":
        "allclose angle append array_split average_pool bartlett batch_normalization bitwise_and bitwise_invert "
        "bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor blackman cbrt cholesky_inverse "
        "conjugate conv copy ctc_loss deg2rad depth_to_space diagflat digitize divide_no_nan dsplit dstack eig eigh "
        "empty empty_like erfc exp2 extract_sequences fabs fft fft2 fliplr flipud fmax fmin fmod full_like gcd "
        "geomspace get_item glu hamming hanning hard_shrink heaviside hsplit hypot i0 ifft2 irfft isclose isin "
        "isneginf isposinf isreal kaiser kron layer_normalization lcm ldexp left_shift log10 log2 logaddexp2 logdet "
        "logspace lu_factor map matrix_rank max_pool median moments multi_hot nanargmax nanargmin nancumprod nancumsum "
        "nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar nextafter percentile "
        "pinv polar psnr ptp quantile rad2deg rfft right_shift rms_normalization rot90 saturate_cast searchsorted "
        "segment_max segment_min segment_prod segment_sum select signbit sinc slice_update slogdet soft_shrink "
        "solve_triangular space_to_depth sparse_plus sparse_sigmoid sparsemax svd switch trapezoid tri trunc "
        "unravel_index vander view_as_complex view_as_real vsplit",
}, globals())  # fmt: skip


def __getattr__(name: str) -> _Any:
    found = _concrete(name)
    from .operations.common import symbolic

    globals()[name] = found = symbolic(found)
    return found


__getattr__.homes = _concrete.homes
