"""``tf.random``: random numbers. The functions live in other modules; here is who holds which."""

from ...engine.namespace import Namespace as _Namespace
from ...engine.namespace import lazy as _lazy

_GENERATOR = "Algorithm Generator create_rng_state get_global_generator set_global_generator"

experimental = _Namespace("tf.random.experimental", {
    "tf.random.stateless": "stateless_fold_in stateless_shuffle stateless_split",
    "tf.random.generator": _GENERATOR,
    "tf.random.permuted": "index_shuffle",
})  # fmt: skip

__getattr__, __dir__ = _lazy("tf.random", {
    "tf.random.candidates": "all_candidate_sampler log_uniform_candidate_sampler uniform_candidate_sampler",
    "ops.seeds": "set_seed",
    "tf.random.stateful": "categorical gamma normal poisson shuffle truncated_normal uniform",
    "tf.random.stateless": "fold_in split stateless_categorical stateless_gamma stateless_normal stateless_poisson "
                        "stateless_truncated_normal stateless_uniform",
    "tf.random.generator": _GENERATOR,
}, globals())  # fmt: skip
