"""`tf.autodiff`: see `python tests/core/make_stubs.py`."""

from minitape.tf.autodiff import *
