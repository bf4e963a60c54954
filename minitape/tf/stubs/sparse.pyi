"""`tf.sparse`: see `python tests/core/make_stubs.py`."""

from minitape.tf.sparse import *
