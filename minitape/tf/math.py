"""``tf.math``: elementwise functions, comparisons, reductions, orderings and segments.

The functions live in other modules; here is who holds which name.
"""

from .namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.math",
    {
        "ops.elementwise": "abs acos acosh add asin asinh atan atan2 atanh ceil cos cosh digamma divide divide_no_nan "
        "equal erf erfc erfinv exp expm1 floor floordiv floormod greater greater_equal is_finite "
        "is_inf is_nan less less_equal lgamma log log1p log_sigmoid logical_and logical_not "
        "logical_or maximum minimum mod multiply multiply_no_nan negative not_equal "
        "polygamma pow reciprocal reciprocal_no_nan rint round rsqrt sigmoid "
        "sign sin sinh softplus softsign sqrt square squared_difference subtract tan tanh truediv "
        "xdivy xlog1py xlogy zeta",
        "ops.casts": "angle conj imag real",
        "ops.reductions": "argmax argmin count_nonzero cumprod cumsum reduce_all reduce_any reduce_euclidean_norm "
        "reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_std reduce_sum "
        "reduce_variance zero_fraction",
        "ops.sorting": "bincount confusion_matrix in_top_k invert_permutation segment_max segment_mean segment_min "
        "segment_prod segment_sum top_k unsorted_segment_max unsorted_segment_mean unsorted_segment_min "
        "unsorted_segment_prod unsorted_segment_sum",
        "ops.clipping": "add_n",
        "tf.linalg.products": "l2_normalize",
        "tf.nn.activations": "log_softmax softmax",
    },
    globals(),
)
