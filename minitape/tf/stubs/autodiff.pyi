"""`tf.autodiff`: see `python tests/house/make_stubs.py`."""

from minitape.tf.autodiff import *
