"""`tf.io`: see `python tests/core/make_stubs.py`."""

from minitape.tf.io import *
