"""`tf.ragged`: see `python tests/repository/make_stubs.py`."""

from minitape.tf.ragged import *
