"""`tf.experimental`: see `python tests/core/make_stubs.py`."""

from minitape.tf.experimental import *
