"""`tf.data`: see `python tests/repository/make_stubs.py`."""

from minitape.tf.data import *
