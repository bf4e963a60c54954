"""`tf.python.framework`: see `python tests/repository/make_stubs.py`."""

from minitape.tf.python.framework import *
