"""`tf.debugging`: see `python tests/repository/make_stubs.py`."""

from minitape.tf.debugging import *
