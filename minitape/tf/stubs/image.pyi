"""`tf.image`: see `python tests/house/make_stubs.py`."""

from minitape.tf.image import *
