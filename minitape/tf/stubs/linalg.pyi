"""`tf.linalg`: see `python tests/core/make_stubs.py`."""

from minitape.tf.linalg import *
