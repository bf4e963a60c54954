"""`tf.python.framework`: see `python tests/house/make_stubs.py`."""

from minitape.tf.python.framework import *
