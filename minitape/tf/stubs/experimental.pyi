"""`tf.experimental`: see `python tests/house/make_stubs.py`."""

from minitape.tf.experimental import *
