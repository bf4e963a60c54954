"""``tf.math``: elementwise functions, comparisons, reductions, orderings and segments.

The functions live in other modules; here is who holds which name.
"""

from .namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.math",
    {
        "ops.elementwise": "abs acos acosh add asin asinh atan atan2 atanh ceil cos cosh digamma divide divide_no_nan "
        "equal erf erfc erfinv exp expm1 floor floordiv floormod greater greater_equal is_finite "
        "is_inf is_nan less less_equal lgamma log log1p logical_and logical_not maximum minimum mod "
        "multiply negative not_equal polygamma pow reciprocal rint round rsqrt sigmoid sign sin "
        "sinh softplus softsign sqrt square subtract tan tanh xdivy xlog1py xlogy zeta",
        "ops.casts": "conj real",
        "ops.reductions": "argmax argmin count_nonzero cumsum reduce_all reduce_any reduce_euclidean_norm reduce_max "
        "reduce_mean reduce_min reduce_prod reduce_std reduce_sum reduce_variance",
        "ops.sorting": "bincount confusion_matrix segment_max segment_mean segment_min segment_prod segment_sum "
        "top_k unsorted_segment_max unsorted_segment_min unsorted_segment_prod unsorted_segment_sum",
        "ops.clipping": "add_n",
        "tf.linalg.products": "l2_normalize",
        "tf.nn.activations": "log_softmax softmax",
    },
    globals(),
)
