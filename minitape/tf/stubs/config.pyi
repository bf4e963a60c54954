"""`tf.config`: see `python tests/house/make_stubs.py`."""

from minitape.tf.config import *
