"""`tf.ragged`: see `python tests/house/make_stubs.py`."""

from minitape.tf.ragged import *
