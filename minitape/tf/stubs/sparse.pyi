"""`tf.sparse`: see `python tests/repository/make_stubs.py`."""

from minitape.tf.sparse import *
