"""`tf.debugging`: see `python tests/house/make_stubs.py`."""

from minitape.tf.debugging import *
