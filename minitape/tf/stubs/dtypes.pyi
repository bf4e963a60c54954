"""`tf.dtypes`: see `python tests/house/make_stubs.py`."""

from minitape.tf.dtypes import *
