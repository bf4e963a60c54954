"""`tf.linalg`: see `python tests/repository/make_stubs.py`."""

from minitape.tf.linalg import *
