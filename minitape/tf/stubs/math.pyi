"""`tf.math`: see `python tests/core/make_stubs.py`."""

from minitape.tf.math import *
