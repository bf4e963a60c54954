"""`tf.python`: see `python tests/core/make_stubs.py`."""

from minitape.tf.python import *
