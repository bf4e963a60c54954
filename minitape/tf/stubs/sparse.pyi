"""`tf.sparse`: see `python tests/house/make_stubs.py`."""

from minitape.tf.sparse import *
