"""`tf.lookup`: see `python tests/house/make_stubs.py`."""

from minitape.tf.lookup import *
