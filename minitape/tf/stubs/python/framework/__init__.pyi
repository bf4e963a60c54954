"""`tf.python.framework`: see `python tests/core/make_stubs.py`."""

from minitape.tf.python.framework import *
