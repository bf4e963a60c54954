"""`tf.autodiff`: see `python tests/repository/make_stubs.py`."""

from minitape.tf.autodiff import *
