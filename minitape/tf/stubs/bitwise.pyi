"""`tf.bitwise`: see `python tests/house/make_stubs.py`."""

from minitape.tf.bitwise import *
