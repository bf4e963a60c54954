"""`tf.dtypes`: see `python tests/repository/make_stubs.py`."""

from minitape.tf.dtypes import *
