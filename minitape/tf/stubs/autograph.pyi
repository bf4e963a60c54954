"""`tf.autograph`: see `python tests/house/make_stubs.py`."""

from minitape.tf.autograph import *
