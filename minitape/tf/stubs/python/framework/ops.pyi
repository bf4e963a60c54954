"""`tf.python.framework.ops`: see `python tests/core/make_stubs.py`."""

from minitape.tf.python.framework.ops import *
