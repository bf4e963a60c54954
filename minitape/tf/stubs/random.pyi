"""`tf.random`: see `python tests/core/make_stubs.py`."""

from minitape.tf.random import *
