"""`tf.io`: see `python tests/house/make_stubs.py`."""

from minitape.tf.io import *
