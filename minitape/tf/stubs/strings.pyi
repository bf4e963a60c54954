"""`tf.strings`: see `python tests/repository/make_stubs.py`."""

from minitape.tf.strings import *
