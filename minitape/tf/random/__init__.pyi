"""The names of `tf.tf.random`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.ops.seeds import (
    set_seed as set_seed,
)
from minitape.tf.random.functions import (
    categorical as categorical,
    normal as normal,
    poisson as poisson,
    shuffle as shuffle,
    truncated_normal as truncated_normal,
    uniform as uniform,
)
from minitape.tf.random.generator import (
    Generator as Generator,
)
