"""`tf.python`: see `python tests/repository/make_stubs.py`."""

from minitape.tf.python import *
