"""`tf.version`: see `python tests/repository/make_stubs.py`."""

from minitape.tf.version import *
