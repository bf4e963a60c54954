"""`tf.test`: see `python tests/house/make_stubs.py`."""

from minitape.tf.test import *
