"""`tf.saved_model`: see `python tests/house/make_stubs.py`."""

from minitape.tf.saved_model import *
