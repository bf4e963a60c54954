"""`tf.dtypes`: see `python tests/core/make_stubs.py`."""

from minitape.tf.dtypes import *
