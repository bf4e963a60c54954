"""`tf.test`: see `python tests/core/make_stubs.py`."""

from minitape.tf.test import *
