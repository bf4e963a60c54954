"""`tf.types`: see `python tests/house/make_stubs.py`."""

from minitape.tf.types import *
