"""`tf.nn`: see `python tests/repository/make_stubs.py`."""

from minitape.tf.nn import *
