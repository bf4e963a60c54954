"""``tf.math``: elementwise functions, comparisons, reductions, orderings and segments.

The functions live in other modules; here is who holds which name.
"""

from ..engine.namespace import Namespace as _Namespace
from ..engine.namespace import lazy as _lazy

special = _Namespace("tf.math.special", {
    "ops.elementwise": "bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1 "
                       "bessel_k1e bessel_y0 bessel_y1 dawsn expint fresnel_cos fresnel_sin spence",
})  # fmt: skip

__getattr__, __dir__ = _lazy("tf.math", {
    "ops.elementwise": "abs acos acosh add asin asinh atan atan2 atanh bessel_i0 bessel_i0e bessel_i1 bessel_i1e "
                       "betainc ceil cos cosh digamma divide divide_no_nan equal erf erfc erfcinv erfinv exp expm1 "
                       "floor floordiv floormod greater greater_equal igamma igammac is_finite is_inf is_nan lbeta "
                       "less less_equal lgamma log log1p log_sigmoid logical_and logical_not logical_or logical_xor "
                       "maximum minimum mod multiply multiply_no_nan ndtri negative nextafter not_equal polygamma "
                       "polyval pow reciprocal reciprocal_no_nan rint round rsqrt scalar_mul sigmoid sign sin sinh "
                       "softplus softsign sqrt square squared_difference subtract tan tanh truediv xdivy xlog1py xlogy "
                       "zeta",
    "ops.complexes": "angle conj imag real",
    "ops.reductions": "argmax argmin count_nonzero cumprod cumsum cumulative_logsumexp reduce_all reduce_any "
                      "reduce_euclidean_norm reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_std "
                      "reduce_sum reduce_variance zero_fraction",
    "ops.counting": "bincount confusion_matrix",
    "ops.sorting": "approx_max_k approx_min_k in_top_k invert_permutation is_non_decreasing is_strictly_increasing "
                   "segment_max segment_mean segment_min segment_prod segment_sum top_k unsorted_segment_max "
                   "unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n "
                   "unsorted_segment_sum",
    "ops.clipping": "accumulate_n add_n",
    "tf.linalg.products": "l2_normalize",
    "tf.nn.activations": "log_softmax softmax",
}, globals())  # fmt: skip
