"""The names of `tf.tf.autograph`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from typing import Any as _Any
from minitape.graphs.rewritten import (
    set_verbosity as set_verbosity,
    to_code as to_code,
    to_graph as to_graph,
)
experimental: _Any
