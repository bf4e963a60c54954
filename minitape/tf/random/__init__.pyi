"""The names of `tf.tf.random`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from typing import Any as _Any
from minitape.ops.seeds import (
    set_seed as set_seed,
)
from minitape.tf.random.candidates import (
    all_candidate_sampler as all_candidate_sampler,
    log_uniform_candidate_sampler as log_uniform_candidate_sampler,
    uniform_candidate_sampler as uniform_candidate_sampler,
)
from minitape.tf.random.generator import (
    Algorithm as Algorithm,
    Generator as Generator,
    create_rng_state as create_rng_state,
    get_global_generator as get_global_generator,
    set_global_generator as set_global_generator,
)
from minitape.tf.random.stateful import (
    categorical as categorical,
    gamma as gamma,
    normal as normal,
    poisson as poisson,
    shuffle as shuffle,
    truncated_normal as truncated_normal,
    uniform as uniform,
)
from minitape.tf.random.stateless import (
    fold_in as fold_in,
    split as split,
    stateless_categorical as stateless_categorical,
    stateless_gamma as stateless_gamma,
    stateless_normal as stateless_normal,
    stateless_poisson as stateless_poisson,
    stateless_truncated_normal as stateless_truncated_normal,
    stateless_uniform as stateless_uniform,
)
experimental: _Any
