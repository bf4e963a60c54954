"""`tf.nest`: see `python tests/house/make_stubs.py`."""

from minitape.tf.nest import *
