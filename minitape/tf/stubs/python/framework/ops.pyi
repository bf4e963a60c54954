"""`tf.python.framework.ops`: see `python tests/repository/make_stubs.py`."""

from minitape.tf.python.framework.ops import *
