"""The names of `tf.random`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.tf.random import (
    normal as normal,
    set_seed as set_seed,
    uniform as uniform,
)
