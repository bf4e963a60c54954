"""`tf.errors`: see `python tests/house/make_stubs.py`."""

from minitape.tf.errors import *
