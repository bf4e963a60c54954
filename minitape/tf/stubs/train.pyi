"""`tf.train`: see `python tests/house/make_stubs.py`."""

from minitape.tf.train import *
