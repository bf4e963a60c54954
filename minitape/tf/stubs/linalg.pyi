"""`tf.linalg`: see `python tests/house/make_stubs.py`."""

from minitape.tf.linalg import *
