"""`tf.python.framework.ops`: see `python tests/house/make_stubs.py`."""

from minitape.tf.python.framework.ops import *
