"""`tf.nn`: see `python tests/house/make_stubs.py`."""

from minitape.tf.nn import *
