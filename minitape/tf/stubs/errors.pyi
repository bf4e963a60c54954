"""`tf.errors`: see `python tests/core/make_stubs.py`."""

from minitape.tf.errors import *
