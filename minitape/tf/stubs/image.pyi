"""`tf.image`: see `python tests/core/make_stubs.py`."""

from minitape.tf.image import *
