"""`tf.bitwise`: see `python tests/core/make_stubs.py`."""

from minitape.tf.bitwise import *
