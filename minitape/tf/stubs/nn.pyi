"""`tf.nn`: see `python tests/core/make_stubs.py`."""

from minitape.tf.nn import *
