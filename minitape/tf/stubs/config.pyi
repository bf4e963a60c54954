"""`tf.config`: see `python tests/repository/make_stubs.py`."""

from minitape.tf.config import *
