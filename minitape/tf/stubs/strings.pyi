"""`tf.strings`: see `python tests/core/make_stubs.py`."""

from minitape.tf.strings import *
