"""`tf.signal`: see `python tests/core/make_stubs.py`."""

from minitape.tf.signal import *
