"""``tf.random``: random numbers. The functions live in other modules; here is who holds which."""

from ..namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.random",
    {
        "ops.seeds": "set_seed",
        "tf.random.functions": "categorical normal poisson shuffle truncated_normal uniform",
        "tf.random.generator": "Generator",
    },
    globals(),
)
