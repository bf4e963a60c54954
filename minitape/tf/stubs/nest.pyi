"""`tf.nest`: see `python tests/repository/make_stubs.py`."""

from minitape.tf.nest import *
