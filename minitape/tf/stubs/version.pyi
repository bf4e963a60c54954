"""`tf.version`: see `python tests/house/make_stubs.py`."""

from minitape.tf.version import *
