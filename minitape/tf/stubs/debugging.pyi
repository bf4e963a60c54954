"""`tf.debugging`: see `python tests/core/make_stubs.py`."""

from minitape.tf.debugging import *
