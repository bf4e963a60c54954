"""`tf.strings`: see `python tests/house/make_stubs.py`."""

from minitape.tf.strings import *
