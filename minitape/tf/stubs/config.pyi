"""`tf.config`: see `python tests/core/make_stubs.py`."""

from minitape.tf.config import *
