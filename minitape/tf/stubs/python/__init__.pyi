"""`tf.python`: see `python tests/house/make_stubs.py`."""

from minitape.tf.python import *
