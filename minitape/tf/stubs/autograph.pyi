"""`tf.autograph`: see `python tests/repository/make_stubs.py`."""

from minitape.tf.autograph import *
