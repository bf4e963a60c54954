"""`tf.math`: see `python tests/repository/make_stubs.py`."""

from minitape.tf.math import *
