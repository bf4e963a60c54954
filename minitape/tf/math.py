"""``tf.math``: elementwise functions, comparisons, reductions, orderings and segments.

The functions live in other modules; here is who holds which name.
"""

from .namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.math",
    {
        "ops.elementwise": "abs acos acosh add asin asinh atan atan2 atanh ceil cos cosh divide divide_no_nan "
        "equal exp expm1 floor floordiv floormod greater greater_equal "
        "less less_equal log log1p logical_and logical_not maximum minimum mod "
        "multiply negative not_equal pow reciprocal rint round rsqrt sigmoid sign sin "
        "sinh softplus sqrt square subtract tan tanh",
        "ops.casts": "conj real",
        "ops.reductions": "argmax argmin count_nonzero cumsum reduce_all reduce_any reduce_euclidean_norm reduce_max "
        "reduce_mean reduce_min reduce_prod reduce_std reduce_sum reduce_variance",
        "ops.sorting": "top_k",
        "ops.clipping": "add_n",
        "tf.linalg.products": "l2_normalize",
        "tf.nn.activations": "log_softmax softmax",
    },
    globals(),
)
