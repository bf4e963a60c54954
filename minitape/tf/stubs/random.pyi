"""`tf.random`: see `python tests/house/make_stubs.py`."""

from minitape.tf.random import *
