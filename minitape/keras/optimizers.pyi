"""The names of `tf.keras.optimizers`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.tf.keras import (
    Adam as Adam,
    SGD as SGD,
)
