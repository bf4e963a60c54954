"""`tf.summary`: see `python tests/house/make_stubs.py`."""

from minitape.tf.summary import *
