"""`tf.test`: see `python tests/repository/make_stubs.py`."""

from minitape.tf.test import *
