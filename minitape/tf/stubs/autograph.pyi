"""`tf.autograph`: see `python tests/core/make_stubs.py`."""

from minitape.tf.autograph import *
