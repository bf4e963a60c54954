"""`tf.math`: see `python tests/house/make_stubs.py`."""

from minitape.tf.math import *
