"""`tf.signal`: see `python tests/house/make_stubs.py`."""

from minitape.tf.signal import *
