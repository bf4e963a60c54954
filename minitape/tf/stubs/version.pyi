"""`tf.version`: see `python tests/core/make_stubs.py`."""

from minitape.tf.version import *
