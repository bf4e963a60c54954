"""`tf.sets`: see `python tests/house/make_stubs.py`."""

from minitape.tf.sets import *
