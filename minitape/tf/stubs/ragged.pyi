"""`tf.ragged`: see `python tests/core/make_stubs.py`."""

from minitape.tf.ragged import *
