"""`tf.train`: see `python tests/core/make_stubs.py`."""

from minitape.tf.train import *
