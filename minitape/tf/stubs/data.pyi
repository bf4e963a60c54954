"""`tf.data`: see `python tests/core/make_stubs.py`."""

from minitape.tf.data import *
