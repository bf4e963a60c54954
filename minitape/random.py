"""``tf.random``: random numbers. The functions live in other modules; here is who holds which."""

from __future__ import annotations

from .namespace import Namespace, lazy

HOMES = {
    "randomness": "categorical fold_in gamma normal poisson set_seed shuffle split stateless_categorical "
                  "stateless_normal stateless_truncated_normal stateless_uniform truncated_normal uniform",
    "generator": "Algorithm Generator create_rng_state get_global_generator set_global_generator",
}  # fmt: skip

__getattr__, __dir__ = lazy("tf.random", HOMES, globals())

experimental = Namespace("tf.random.experimental", {
    "randomness": "stateless_fold_in stateless_shuffle stateless_split",
    "generator": "Algorithm Generator create_rng_state get_global_generator set_global_generator",
})  # fmt: skip
