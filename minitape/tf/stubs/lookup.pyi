"""`tf.lookup`: see `python tests/core/make_stubs.py`."""

from minitape.tf.lookup import *
