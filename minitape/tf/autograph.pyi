"""The names of `tf.tf.autograph`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.graphs.sources import (
    to_code as to_code,
)
