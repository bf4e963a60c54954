"""`tf.random`: see `python tests/repository/make_stubs.py`."""

from minitape.tf.random import *
