"""`tf.errors`: see `python tests/repository/make_stubs.py`."""

from minitape.tf.errors import *
