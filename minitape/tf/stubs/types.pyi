"""`tf.types`: see `python tests/core/make_stubs.py`."""

from minitape.tf.types import *
