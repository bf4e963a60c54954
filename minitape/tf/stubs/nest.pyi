"""`tf.nest`: see `python tests/core/make_stubs.py`."""

from minitape.tf.nest import *
