"""`tf.sets`: see `python tests/core/make_stubs.py`."""

from minitape.tf.sets import *
