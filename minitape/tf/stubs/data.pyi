"""`tf.data`: see `python tests/house/make_stubs.py`."""

from minitape.tf.data import *
